"""Attacks on a data pool, by principle: what each gains, whom it damages, and whether it is seen.

Run: python benchmarks/adversary.py [--parties known|anonymous] [--seeds N] [--jobs N] [wine]
[breast] [credit] [census]

Owners A, B and C have a third of the rows each, or of the columns, and share 100,000 by balanced
accuracy. A line is an attack; a number is what the attacker, all its names together, gains over
being honest, or over staying away if it is a newcomer, the most of all seeds; *seen* means that the
look at sellers raises an alarm that names it. At the end come the most that was gained without an
alarm, more names aside, which the contract must prevent; the most that was taken from a victim
where nothing was seen; and alarms about honest pools. ``honest_owners.py`` counts the alarms of
other honest owners. Everything is as by default, a forest of 50 trees with ten seeds as judge
included; ``--jobs`` processes share the attacks.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from dataclasses import dataclass, replace
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.ensemble import RandomForestClassifier

from shapley2d import KNN, InputError, value_blocks
from shapley2d._market.blocks import look_at_owners, make_valuation, prepare_blocks
from shapley2d.datasets import load_breast_cancer_original, load_census, load_credit, load_wine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

AMOUNT = 100_000
SIZES = {"wine": (90, 88), "breast": (150, 100), "credit": (300, 800), "census": (150, 100)}
LOADERS: dict[str, Callable[..., Any]] = {
    "wine": lambda: load_wine("pandas"),
    "breast": lambda: load_breast_cancer_original("pandas"),
    "credit": lambda: load_credit("pandas"),
    "census": lambda: load_census("train", "pandas"),
}


def setting(parties: str, pool: Pool) -> dict[str, Any]:
    """The arguments of ``value_blocks`` that make parties known or anonymous."""
    if parties == "known":
        return {"parties": parties}
    few = len(pool.X.columns) <= 13
    more = {} if few else {"subsets": "sampled", "n_subsets": 64}
    return {"parties": parties, "method": KNN(votes="share", **more)}


@dataclass(frozen=True)
class Pool:
    """Tables and owners; ``attacker`` are the names of one attacker, ``victim`` whom it aims at."""

    X: pd.DataFrame
    y: np.ndarray
    X_valid: pd.DataFrame
    y_valid: np.ndarray
    owners: list[dict[str, Any]]
    attacker: tuple[str, ...] = ("A",)
    victim: str = ""

    @property
    def numbers(self) -> list[str]:
        return [name for name in self.X if self.X[name].dtype.kind in "iuf"]

    def with_rows(self, rows: pd.DataFrame, labels: Any, claims: Any = "A") -> Pool:
        """More rows; ``claims`` is a name, or makes lines of owners from the new rows."""
        new = list(range(len(self.X), len(self.X) + len(rows)))
        lines = [{"owner": claims, "row": new}] if isinstance(claims, str) else claims(new)
        names = {line["owner"] for line in lines}
        mine = {"A"} if not names or any(name.startswith("A") for name in names) else set()
        return replace(
            self,
            X=pd.concat([self.X, rows], ignore_index=True),
            y=np.append(self.y, labels),
            owners=[*self.owners, *lines],
            attacker=tuple(sorted(names | mine)),
        )

    def with_columns(self, made: dict[str, Any]) -> Pool:
        """More columns of a newcomer, made from the others in both tables."""
        parts = [
            part.assign(**{name: make(part) for name, make in made.items()})
            for part in (self.X, self.X_valid)
        ]
        owners = [*self.owners, {"owner": "T", "column": list(made)}]
        return replace(self, X=parts[0], X_valid=parts[1], owners=owners, attacker=("T",))


def load(name: str, seed: int) -> Pool:
    X, y = LOADERS[name]()
    n, n_valid = SIZES[name]
    rows = np.random.default_rng(seed).permutation(len(X))[: n + n_valid]
    X, y = X.iloc[rows].reset_index(drop=True), np.asarray(y)[rows]
    numbers = [column for column in X if X[column].dtype.kind in "iuf"]
    X = X.astype(dict.fromkeys(numbers, float))
    owners = [
        {"owner": owner, "row": list(range(k * n // 3, (k + 1) * n // 3))}
        for k, owner in enumerate("ABC")
    ]
    return Pool(X[:n], y[:n], X[n:].reset_index(drop=True), y[n:], owners)


def jittered(pool: Pool, rows: pd.DataFrame, size: float, random: Any) -> pd.DataFrame:
    rows = rows.copy()
    for name in pool.numbers:
        rows[name] = rows[name] + size * pool.X[name].std() * random.normal(size=len(rows))
    return rows


def class_means(pool: Pool, rows: np.ndarray, random: Any) -> pd.DataFrame:
    means = pool.X.iloc[rows].reset_index(drop=True)
    for name in pool.numbers:
        centre = pool.X[name].groupby(pool.y).mean()
        means[name] = centre[pool.y[rows]].to_numpy()
    return jittered(pool, means, 0.1, random)


def between(pool: Pool, rows: np.ndarray, random: Any) -> pd.DataFrame:
    """Rows between two of one class: numbers on the line, categories of the first."""
    same = np.array([random.choice(rows[pool.y[rows] == pool.y[row]]) for row in rows])
    found, share = pool.X.iloc[rows].reset_index(drop=True), random.random(rows.size)
    for name in pool.numbers:
        entries = pool.X[name].to_numpy()
        found[name] = share * entries[rows] + (1 - share) * entries[same]
    return found


def row_attacks(pool: Pool, seed: int) -> Iterator[tuple[str, str, Pool]]:
    """A principle, an attack and the pool after it; A is the attacker."""
    random = np.random.default_rng((seed, 1))
    third = len(pool.X) // 3
    a, b = np.arange(third), np.arange(third, 2 * third)
    three, labels = np.tile(a, 3), np.tile(pool.y[a], 3)
    own = pool.X.iloc[three].reset_index(drop=True)

    def shells(rows: list[int]) -> list[dict[str, Any]]:
        """Names of seven rows each, at most five: exact values are of few players."""
        return [{"owner": f"A{k}", "row": rows[7 * k : 7 * k + 7]} for k in range(5)]

    def patterns(rows: list[int]) -> list[dict[str, Any]]:
        """One of the first two columns left out in turn: more make too many sets of rows."""
        names = list(pool.X)
        return [
            {"owner": "A", "row": rows[k::2], "column": names[:k] + names[k + 1 :]}
            for k in range(2)
        ]

    yield "more rows", "A lists its rows again, to the bit", pool.with_rows(own, labels)
    for size in (0.01, 0.15):
        yield (
            "more rows", f"A adds its rows three times, jittered by {size}",
            pool.with_rows(jittered(pool, own, size, random), labels),
        )  # fmt: skip
    means = class_means(pool, three, random)
    yield "more rows", "A adds three times its rows at class means", pool.with_rows(means, labels)
    mixed = between(pool, three, random)
    yield "more rows", "A adds three times its rows between its own", pool.with_rows(mixed, labels)
    noise = own.apply(lambda entries: random.permutation(entries.to_numpy()))
    yield (
        "more rows", "A adds three times its rows, shuffled",
        pool.with_rows(noise, random.permutation(labels)),
    )  # fmt: skip
    everyone = jittered(pool, pool.X, 0.01, random)
    yield "more rows", "T sells everyone's rows, jittered", pool.with_rows(everyone, pool.y, "T")
    stolen = jittered(pool, pool.X.iloc[a].reset_index(drop=True), 0.15, random)
    yield (
        "more rows", "T sells A's rows, jittered by 0.15", pool.with_rows(stolen, pool.y[a], "T")
    )  # fmt: skip
    known = jittered(pool, pool.X_valid[:third], 0.01, random)
    yield (
        "more rows", "T sells validation rows, jittered",
        pool.with_rows(known, pool.y_valid[:third], "T"),
    )  # fmt: skip
    for parts in (2, 5):
        names = tuple(f"A{k}" for k in range(parts))
        lines = [{"owner": name, "row": a[k::parts].tolist()} for k, name in enumerate(names)]
        split = replace(pool, owners=[*lines, *pool.owners[1:]], attacker=names)
        yield "more names", f"A poses as {parts}", split
    few = slice(0, 35)
    for words, rows in (("its rows jittered by 0.15", jittered(pool, own, 0.15, random)),
                        ("class means", means)):  # fmt: skip
        yield (
            "more names", f"shells of A with seven rows each sell {words}",
            pool.with_rows(rows[few], labels[few], shells),
        )  # fmt: skip
        yield (
            "other patterns", f"A claims {words}, each without a column",
            pool.with_rows(rows, labels, patterns),
        )  # fmt: skip
    claim = {"owner": "N", "row": b[1:].tolist()}
    yield (
        "other patterns", "N claims all rows of B but one",
        replace(pool, owners=[*pool.owners, claim], attacker=("N",), victim="B"),
    )  # fmt: skip
    of_b = pool.X.iloc[b].reset_index(drop=True)
    copies = jittered(pool, of_b, 0.01, random)
    yield (
        "unclaimed", "A adds near copies of B's rows that nobody claims",
        replace(pool.with_rows(copies, pool.y[b], lambda _: []), victim="B"),
    )  # fmt: skip
    yield (
        "framing", "a shell of A lists near copies of B's rows",
        replace(pool.with_rows(copies, pool.y[b], "A1"), victim="B"),
    )  # fmt: skip
    classes = np.unique(pool.y)
    flip = dict(zip(classes, np.roll(classes, 1), strict=True))
    flipped = np.array([flip[label] for label in pool.y[b]])
    yield (
        "framing", "the same with other labels",
        replace(pool.with_rows(copies, flipped, "A1"), victim="B"),
    )  # fmt: skip
    tuned = jittered(pool, own, 0.35, random)
    yield "tuned", "A adds its rows three times, jittered by 0.35", pool.with_rows(tuned, labels)
    half = between(pool, three, random)
    half[:third] = jittered(pool, own[:third], 0.35, random).to_numpy()
    yield "tuned", "A mixes jittered and interpolated rows", pool.with_rows(half, labels)


def column_attacks(pool: Pool, seed: int) -> Iterator[tuple[str, str, Pool]]:
    """Attacks by a newcomer on a pool that is owned by columns."""
    random = np.random.default_rng((seed, 2))
    codes = pd.factorize(pool.y)[0] == 0
    gaps = {
        name: abs(pool.X[name][codes].mean() - pool.X[name][~codes].mean()) / pool.X[name].std()
        for name in pool.numbers
    }
    best = max(gaps, key=lambda name: gaps[name])
    numbers, names = pool.numbers, pool.owners[0]["column"]

    def score(part: pd.DataFrame, trees: int = 100, noise: float = 0.0) -> np.ndarray:
        """What a forest says of the label by the columns of the others."""
        forest = RandomForestClassifier(trees, min_samples_leaf=3, random_state=0)
        forest.fit(pool.X[numbers].fillna(0), codes)
        found = forest.predict_proba(part[numbers].fillna(0))[:, 1]
        return np.asarray(found + noise * random.normal(size=len(part)))

    made: dict[str, dict[str, Any]] = {
        "a copy of the best column": {"copied": lambda part: part[best]},
        "the best column in bins, other units": {"copied": lambda part: np.floor(9 * part[best])},
        "the best column with noise of 0.15": {
            "copied": lambda part: (
                part[best] + 0.15 * pool.X[best].std() * random.normal(size=len(part))
            )
        },
        "a forest's score of the label": {"copied": score},
        "four such scores with noise": {
            f"copied {k}": lambda part, k=k: score(part, 20 + k, 0.05) for k in range(4)
        },
        "dice": {"copied": lambda part: random.integers(1, 7, len(part)).astype(float)},
    }
    for words, columns in made.items():
        yield "derived columns", f"T sells {words}", pool.with_columns(columns)
    (mine, rest), thirds = (names[:1], names[1:]), list(range(0, len(pool.X), 3))
    lines = [{"owner": "A", "row": thirds, "column": mine}, {"owner": "A", "column": rest}]
    some = replace(pool, owners=[*lines, *pool.owners[1:]])
    yield "other patterns", "A claims one of its columns in every third row only", some
    hidden = pool.with_columns({"copied": lambda part: score(part, noise=0.15)})
    yield "tuned", "T sells a forest's score with noise of 0.15", hidden


def ask(pool: Pool, parties: str) -> tuple[dict[str, float], list[Any], str]:
    """Payments, alarms, and why the run was refused; without payments nobody gains."""
    given = {name: one.default for name, one in signature(value_blocks).parameters.items()}
    tables = {"X": pool.X, "y": pool.y, "X_valid": pool.X_valid, "y_valid": pool.y_valid}
    asked = {"owners": pool.owners, "scoring": "balanced_accuracy", "progress": False}
    asked = {**given, **tables, **asked, **setting(parties, pool)}
    with warnings.catch_warnings(action="ignore"):
        try:
            job = prepare_blocks(asked)
            found = job.answer()
            alarms = [one for one in look_at_owners(job).alarms if one.alarm]
            frame = make_valuation(job, found, asked).payments(AMOUNT)
            return dict(zip(frame["owner"], frame["amount"], strict=True)), alarms, ""
        except InputError as error:
            if not str(error).startswith("nobody claims"):  # else nobody would have been refused
                raise
            return {}, [], str(error)


def measure(honest: dict[str, float], after: Pool, parties: str) -> dict[str, Any]:
    paid, alarms, refused = ask(after, parties)
    newcomer = not any(name.startswith("A") for name in after.attacker)
    before = 0.0 if newcomer else honest["A"]
    gain = 0.0 if refused else sum(paid.get(name, 0.0) for name in after.attacker) - before
    named = [f"{one.owner} {one.victim}" for one in alarms]
    seen = any(name in words for words in named for name in after.attacker)
    damage = 0.0 if refused or not after.victim else honest[after.victim] - paid[after.victim]
    accused = any(after.victim in words for words in named) and not seen if after.victim else False
    return {"gain": gain, "seen": seen, "refused": bool(refused), "damage": damage,
            "framed": accused}  # fmt: skip


NOTHING = {"gain": 0.0, "seen": False, "refused": False, "damage": 0.0, "framed": False}


def pools(name: str, seed: int) -> Iterator[tuple[Pool, list[tuple[str, str, Pool]]]]:
    """An honest pool owned by rows, then one owned by columns, each with the attacks on it."""
    rows = load(name, seed)
    columns = list(rows.X)
    by_columns = replace(
        rows, owners=[{"owner": owner, "column": columns[k::3]} for k, owner in enumerate("ABC")]
    )
    for pool, attacks in ((rows, row_attacks), (by_columns, column_attacks)):
        yield pool, list(attacks(pool, seed))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--parties", choices=("known", "anonymous"), default="known")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("tables", nargs="*", default=list(SIZES))
    given = parser.parse_args()
    start = time.time()
    every = [
        (name, seed, *one)
        for name in given.tables
        for seed in range(given.seeds)
        for one in pools(name, seed)
    ]
    spread = Parallel(n_jobs=given.jobs)
    honest = spread(delayed(ask)(pool, given.parties) for _, _, pool, _ in every)
    asked = [
        ({"principle": principle, "attack": words, "table": name, "seed": seed}, paid, after)
        for (name, seed, _, attacks), (paid, _, _) in zip(every, honest, strict=True)
        for principle, words, after in attacks
    ]
    # names are players: those of many take longest, and begin first
    asked.sort(key=lambda one: -len(one[2].owners))
    results = []
    ordered = Parallel(n_jobs=given.jobs, return_as="generator")
    for (line, _, _), result in zip(
        asked,
        ordered(delayed(measure)(paid, after, given.parties) for _, paid, after in asked),
        strict=True,
    ):
        print(line["table"], line["seed"], line["attack"], result, file=sys.stderr, flush=True)
        results.append(result)
    lines = [
        {"principle": "none", "attack": "honest", "table": name, "seed": seed, **NOTHING,
         "seen": bool(alarms)}
        for (name, seed, _, _), (_, alarms, _) in zip(every, honest, strict=True)
    ]  # fmt: skip
    lines += [{**line, **result} for (line, _, _), result in zip(asked, results, strict=True)]
    order = [words for _, _, _, attacks in every for _, words, _ in attacks]
    lines.sort(key=lambda line: order.index(line["attack"]) if line["attack"] in order else -1)
    found = pd.DataFrame(lines)
    print(
        f"| principle | attack | {' | '.join(given.tables)} |\n|---|---|{'--:|' * len(given.tables)}"
    )
    for (principle, attack), part in found.groupby(["principle", "attack"], sort=False):
        cells = []
        for name in given.tables:
            here = part[part["table"] == name]
            seen = f" seen {here['seen'].sum()}/{len(here)}" if given.seeds > 1 else " seen"
            seen = seen if here["seen"].any() else ""
            cells.append(
                "refused" if here["refused"].all() else f"{here['gain'].max():+,.0f}{seen}"
            )
        print(f"| {principle} | {attack} | {' | '.join(cells)} |")
    attacks = found[found["principle"] != "none"]
    posed = attacks["principle"] == "more names"
    quiet = attacks[~attacks["seen"] & ~posed].sort_values("gain", ascending=False)
    print(f"\nGained without an alarm, parties {given.parties}:")
    for line in quiet.head(8).to_dict("records"):
        print(f"- {line['gain']:+,.0f} {line['attack']} ({line['table']})")
    print(
        f"By more names, which the contract must prevent: at most {attacks[posed]['gain'].max():+,.0f}"
    )
    framed = attacks[attacks["framed"]]
    print(f"Alarms that name a victim and not its attacker: {len(framed)}; most damage where nothing "
          f"is seen: {attacks[~attacks['seen']]['damage'].max():,.0f}")  # fmt: skip
    honest = found[found["principle"] == "none"]
    print(f"Honest pools with an alarm: {honest['seen'].sum()} of {len(honest)}")
    print(f"{time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
