"""Twenty attacks on a data pool: what each gains, and what an audit sees of it.

Run: python benchmarks/adversary.py [--quick] [wine] [breast] [credit] [census]

Three owners, A, B and C, have a third of the rows each and share 100,000, by balanced accuracy and
``votes="share"``, under which rows of noise are worth nothing. Every attack prints what
the attacker is paid for honest and for attacking, and what the look at sellers says of it; at the end
comes what gains without an alarm. The table of docs/evidence/payments.md is its output. ``honest_owners.py``
counts the alarms that honest owners raise.
"""

from __future__ import annotations

import copy
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from shapley2d import KNN, InputError, Receipt, value_blocks
from shapley2d._market.audit import look_at_owners
from shapley2d._market.blocks import make_valuation, prepare_blocks
from shapley2d.datasets import (
    load_breast_cancer_original,
    load_census,
    load_credit,
    load_wine,
)

AMOUNT = 100_000
METHOD = KNN(votes="share")
NOTHING = 1_000  # gains below this are what other rows of the same kind would change
# by fewer validation rows of credit nobody can be paid: what the table is worth may be 0
SIZES = {"wine": (90, 88), "breast": (300, 200), "credit": (450, 1000), "census": (300, 200)}
QUICK = {"wine": (90, 88), "breast": (150, 100), "credit": (300, 800), "census": (150, 100)}


@dataclass(frozen=True)
class Pool:
    """Tables and owners; ``attacker`` are the names of one attacker, who may have several."""

    X: pd.DataFrame
    y: np.ndarray
    X_valid: pd.DataFrame | None
    y_valid: np.ndarray | None
    owners: list[dict[str, Any]]
    attacker: tuple[str, ...] = ("A",)
    unpaid: tuple[str, ...] = ()  # names whose debts are never paid
    method: KNN = METHOD

    @property
    def asked(self) -> dict[str, Any]:
        """All arguments of ``value_blocks``."""
        given = {name: one.default for name, one in signature(value_blocks).parameters.items()}
        tables = {"X": self.X, "y": self.y, "X_valid": self.X_valid, "y_valid": self.y_valid}
        asked = {"owners": self.owners, "method": self.method, "scoring": "balanced_accuracy"}
        return {**given, **tables, **asked, "progress": False}

    @property
    def third(self) -> int:
        return len(self.X) // 3

    @property
    def numbers(self) -> list[str]:
        return [name for name in self.X if self.X[name].dtype.kind in "iuf"]

    def with_rows(self, rows: pd.DataFrame, labels: Any, name: str = "T") -> Pool:
        """A newcomer's rows, or more rows of an owner."""
        n = len(self.X)
        more = {"owner": name, "row": list(range(n, n + len(rows)))}
        return replace(
            self,
            X=pd.concat([self.X, rows], ignore_index=True),
            y=np.append(self.y, labels),
            owners=[*self.owners, more],
            attacker=(name,),
        )

    def of_columns(self) -> Pool:
        """The same table, owned by columns: A has every other column."""
        names = list(self.X)
        owners = [
            {"owner": "A", "column": names[::2]},
            {"owner": "B", "column": names[1::2]},
        ]
        return replace(self, owners=owners)

    def with_column(self, make: Any) -> Pool:
        """One more column of a newcomer, made from the others in both tables."""
        parts = [part.assign(copied=make(part)) for part in (self.X, self.X_valid)]
        owners = [*self.owners, {"owner": "T", "column": "copied"}]
        return replace(self, X=parts[0], X_valid=parts[1], owners=owners, attacker=("T",))


def load(name: str, sizes: tuple[int, int], seed: int = 0) -> Pool:
    if name == "census":
        X, y = load_census("train", "pandas")
    else:
        loader = {"wine": load_wine, "breast": load_breast_cancer_original, "credit": load_credit}
        X, y = loader[name]("pandas")
    n, n_valid = sizes
    rows = np.random.default_rng(seed).permutation(len(X))[: n + n_valid]
    X, y = X.iloc[rows].reset_index(drop=True), np.asarray(y)[rows]
    for column in X:
        if X[column].dtype.kind in "iuf":
            X[column] = X[column].astype(float)
    third = n // 3
    owners = [
        {"owner": owner, "row": list(range(k * third, (k + 1) * third))}
        for k, owner in enumerate("ABC")
    ]
    pool = Pool(X[:n], y[:n], X[n:].reset_index(drop=True), y[n:], owners)
    if name in ("wine", "breast"):
        return pool
    return replace(pool, method=pool.method.but(subsets="sampled", n_subsets=64))


def jittered(pool: Pool, rows: pd.DataFrame, size: float, random: Any) -> pd.DataFrame:
    rows = rows.copy()
    for name in pool.numbers:
        rows[name] = rows[name] + size * pool.X[name].std() * random.normal(size=len(rows))
    return rows


def between(pool: Pool, one: Any, two: Any, share: Any) -> pd.DataFrame:
    """Rows between pairs of rows: numbers on the line, categories of the first."""
    rows = pool.X.iloc[one].reset_index(drop=True)
    for name in pool.numbers:
        entries = pool.X[name].to_numpy()
        rows[name] = share * entries[one] + (1 - share) * entries[two]
    return rows


def other_of_class(pool: Pool, rows: Any, random: Any) -> np.ndarray:
    return np.array([random.choice(np.flatnonzero(pool.y == pool.y[row])) for row in rows])


def best_column(pool: Pool) -> str:
    """The column of numbers that tells two classes apart best."""
    codes = pd.factorize(pool.y)[0] == 0
    gaps = {
        name: abs(pool.X[name][codes].mean() - pool.X[name][~codes].mean()) / pool.X[name].std()
        for name in pool.numbers
    }
    return max(gaps, key=lambda name: gaps[name])


def attacks(pool: Pool, seed: int = 1) -> Any:
    """The words of an attack, the honest pool and the attacked one."""
    n, third = len(pool.X), pool.third
    a, labels = pool.X[:third], pool.y[:third]
    classes = np.unique(pool.y)

    def random(k: int) -> np.random.Generator:
        return np.random.default_rng((seed, k))

    for size in (0.001, 0.1):
        own = pool.with_rows(jittered(pool, a, size, random(1)), labels, "A")
        yield f"A lists its rows again with a jitter of {size} standard deviations", pool, own
    everyone = jittered(pool, pool.X, 0.001, random(2))
    yield "a newcomer jitters everyone's rows by 0.001", pool, pool.with_rows(everyone, pool.y)
    yield "a newcomer copies A's rows to the bit", pool, pool.with_rows(a, labels)
    stolen = jittered(pool, a, 0.1, random(3))
    yield "a newcomer jitters A's rows by 0.1", pool, pool.with_rows(stolen, labels)
    odd = jittered(pool, a, 0.001, random(4))
    narrow = min(pool.numbers, key=lambda name: pool.X[name].value_counts(normalize=True).iloc[0])
    odd.loc[odd.index[0], narrow] = pool.X[narrow].max() * 1e6
    yield (
        "the same by 0.001, with one absurd number that widens a column",
        pool,
        pool.with_rows(odd, labels),
    )

    column, by_columns = best_column(pool), pool.of_columns()
    second = next(name for name in pool.numbers if name != column)
    low, high = pool.X[column].min(), pool.X[column].max()
    made = {
        "a copy of the best column": lambda part: part[column],
        "the best column in other units": lambda part: 32 + 1.8 * part[column],
        "the best column in 50 bins": lambda part: np.floor(
            50 * (part[column] - low) / (high - low)
        ),
        "the best column with a little of another": lambda part: (
            part[column] / pool.X[column].std() + 0.05 * part[second] / pool.X[second].std()
        ),
    }
    for words, make in made.items():
        yield f"a newcomer sells {words}", by_columns, by_columns.with_column(make)

    dice = by_columns.with_column(lambda part: random(4).integers(1, 7, len(part)).astype(float))
    yield "a newcomer sells a column of dice", by_columns, dice

    drawn = random(5).integers(0, n, third)
    means = pool.X.iloc[drawn].reset_index(drop=True)
    for name in pool.numbers:
        centre = pool.X[name].groupby(pool.y).mean()
        means[name] = centre[pool.y[drawn]].to_numpy()
    means = jittered(pool, means, 0.1, random(6))
    yield "rows at class means", pool, pool.with_rows(means, pool.y[drawn])
    pairs = other_of_class(pool, drawn, random(7))
    smote = between(pool, drawn, pairs, random(8).random(third))
    yield "rows between two rows of others (SMOTE)", pool, pool.with_rows(smote, pool.y[drawn])
    blank = pd.DataFrame({name: [None] * third for name in pool.X})
    for name in pool.numbers:
        blank[name] = np.nan
    random_labels = random(9).choice(classes, third)
    yield "blank rows with random labels", pool, pool.with_rows(blank, random_labels)
    noise = a.apply(lambda entries: random(10).permutation(entries.to_numpy()))
    for k, name in enumerate(noise):
        noise[name] = random((11, k)[1] + 100).permutation(noise[name].to_numpy())
    yield "rows of shuffled noise", pool, pool.with_rows(noise, random(12).permutation(labels))

    points = pool.X.apply(lambda entries: random(13).choice(entries.to_numpy(), 10))
    twins = pd.concat([jittered(pool, points, 0.001, random(20 + k)) for k in range(10)])
    alone = replace(pool, X_valid=None, y_valid=None)
    twin_labels = np.tile(random(14).choice(classes, 10), 10)
    yield (
        "random points with ten twins each, no validation table",
        alone,
        alone.with_rows(twins, twin_labels),
    )
    flip = dict(zip(classes, np.roll(classes, 1), strict=True))
    rivals = pool.X[third:]
    flipped = np.array([flip[label] for label in pool.y[third:]])
    shell = pool.with_rows(rivals, flipped, "S")
    yield (
        "a shell of A flips its rivals' labels and never pays",
        pool,
        replace(shell, attacker=("A", "S"), unpaid=("S",)),
    )

    few = pool.numbers[:2]
    coarse = replace(
        pool,
        X=coarsened(pool.X[few], pool),
        X_valid=coarsened(pool.X_valid[few], pool),
        method=METHOD,
    )
    names = min(20, third)
    shells = [{"owner": f"A{k}", "row": list(range(k, third, names))} for k in range(names)]
    split = replace(
        coarse,
        owners=[*shells, *pool.owners[1:]],
        attacker=tuple(f"A{k}" for k in range(names)),
    )
    yield "A splits into 20 where rows coincide by chance (2 coarse columns)", coarse, split
    b = np.arange(third, 2 * third)
    ordered = b[np.lexsort((pool.X[column].to_numpy()[b], pool.y[b]))]
    steps = np.repeat(np.arange(ordered.size - 1), 3)
    share = np.tile([0.25, 0.5, 0.75], ordered.size - 1)
    bridge = between(pool, ordered[steps], ordered[steps + 1], share)
    yield (
        "A adds rows that bridge those of B",
        pool,
        pool.with_rows(bridge, pool.y[ordered[steps]], "A"),
    )
    known = jittered(pool, pool.X_valid[:third], 0.001, random(15))
    yield (
        "rows of the validation table, jittered",
        pool,
        pool.with_rows(known, pool.y_valid[:third]),
    )
    claim = {"owner": "N", "row": list(range(third + 1, 2 * third))}
    yield (
        "N claims all rows of B but one",
        pool,
        replace(pool, owners=[*pool.owners, claim], attacker=("N",)),
    )
    text = pool.X.astype({column: object})
    text.loc[: third - 1, column] = [f"about {entry:g}" for entry in pool.X[column][:third]]
    yield (
        "A writes text into the best column, which then is text for all",
        pool,
        replace(pool, X=text),
    )
    names = min(280, third)  # above 256 names, intervals were once left out
    many = [{"owner": f"A{k}", "row": list(range(k, third, names))} for k in range(names)]
    yield (
        "A splits into up to 280, one row to a name",
        pool,
        replace(
            pool,
            owners=[*many, *pool.owners[1:]],
            attacker=tuple(f"A{k}" for k in range(names)),
        ),
    )


def on_paper(pool: Pool, honest: float) -> Any:
    """A's amount doubled on a receipt and on a report: the words, and why it is refused."""
    v = value_blocks(**pool.asked)
    body = copy.deepcopy(v.receipt(AMOUNT).body)
    body["payments"]["amounts"][0]["amount"] = f"{2 * honest:.2f}"
    payments = v.payments(AMOUNT)
    payments.loc[0, "amount"] *= 2
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        Receipt(body).save(place / "receipt.json")
        tries = {
            "A doubles its amount on a receipt, which is then loaded": lambda: Receipt.load(
                place / "receipt.json"
            ),
            "A doubles its amount on the report page": lambda: v.to_html(
                place / "report.html", payments=payments
            ),
        }
        for words, attempt in tries.items():
            try:
                attempt()
            except InputError as error:
                yield words, str(error).replace(folder, "").split(":")[-1].strip()
            else:
                yield words, ""


def coarsened(X: pd.DataFrame, pool: Pool) -> pd.DataFrame:
    """Numbers in steps of a standard deviation."""
    return X.apply(lambda entries: (entries / pool.X[entries.name].std()).round())


def ask(pool: Pool) -> tuple[dict[str, float], list[Any], list[str]]:
    """Payments, alarms, and what the run warns of; no payments where they are refused."""
    paid: dict[str, float] = {}
    alarms: list[Any] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            job = prepare_blocks(**pool.asked)
            found = job.answer()
            alarms = look_at_owners(job, found).alarms
            payments = make_valuation(job, found, pool.asked).payments(AMOUNT)
            left = pool.unpaid and "if_unpaid" in payments
            amounts = payments["if_unpaid" if left else "amount"]
            paid = dict(zip(payments["owner"], amounts, strict=True))
        except InputError as error:
            return paid, alarms, [f"refused: {error}"]
    return paid, alarms, [str(one.message) for one in caught]


def measure(words: str, honest: dict[str, float], after: Pool) -> dict[str, Any]:
    paid, alarms, said = ask(after)
    base = [name for name in ("A", "B", "C") if name in honest]
    mine = "A" if any(name[0] == "A" for name in after.attacker) else ""
    before = honest.get(mine, 0.0) if base else 0.0
    then = sum(paid.get(name, 0.0) for name in after.attacker if name not in after.unpaid)
    seen = {}
    for alarm in alarms:
        if alarm.owner in after.attacker and alarm.what not in seen:
            whose = f" ({alarm.victim})" if alarm.victim else ""
            seen[alarm.what] = f"{alarm.what}{whose}"
    wrong = sorted(
        {
            alarm.owner
            for alarm in alarms
            if alarm.owner not in after.attacker and alarm.victim not in after.attacker
        }
    )
    warned = [
        message.split(":")[0]
        for message in said
        if message.startswith("refused") or any(repr(name) in message for name in after.attacker)
    ]
    return {
        "attack": words,
        "honest": before,
        "after": then,
        "gain": then - before,
        "seen": list(seen.values()),
        "said": warned[:1],
        "evidence": [alarm.sentence for alarm in alarms if alarm.owner in after.attacker],
        "wrong": wrong,
    }


def run(name: str, sizes: tuple[int, int]) -> list[dict[str, Any]]:
    pool, found = load(name, sizes), []
    honest: dict[int, dict[str, float]] = {}
    print(f"\n{name}, {sizes[0]} rows, {sizes[1]} validation rows\n")
    print("| attack | honest | after | gain | alarm | the run says |\n|---|---|---|---|---|---|")
    for words, before, after in attacks(pool):
        key = id(before)
        if key not in honest:
            honest[key], alarms, _ = ask(before)
            honest_alarms = [f"{alarm.owner}: {alarm.what}" for alarm in alarms]
            if honest_alarms:
                print(f"| honest owners alarmed | | | | {'; '.join(honest_alarms)} | |")
        line = measure(words, honest[key], after)
        found.append({**line, "table": name})
        wrong = f" (and {', '.join(line['wrong'])})" if line["wrong"] else ""
        print(
            f"| {words} | {line['honest']:,.0f} | {line['after']:,.0f} | {line['gain']:+,.0f} | "
            f"{', '.join(line['seen']) or 'none'}{wrong} | {'; '.join(line['said'])} |",
            flush=True,
        )
    paid = next(iter(honest.values()))["A"]
    for words, refused in on_paper(pool, paid):
        line = {
            "attack": words, "honest": paid, "after": paid if refused else 2 * paid,
            "gain": 0.0 if refused else paid, "seen": [], "said": [f"refused: {refused}"],
            "evidence": [], "table": name,
        }  # fmt: skip
        found.append(line)
        print(f"| {words} | {paid:,.0f} | {line['after']:,.0f} | | | {refused} |", flush=True)
    return found


def in_one_table(found: list[dict[str, Any]]) -> None:
    """Attacks by tables: gain, with a mark where it is alarmed; and what was seen."""
    names = list(dict.fromkeys(line["table"] for line in found))
    print(f"\n| attack | {' | '.join(names)} | seen as |\n|---|{'---|' * len(names)}---|")
    for words in dict.fromkeys(line["attack"] for line in found):
        lines = {line["table"]: line for line in found if line["attack"] == words}
        cells = [
            f"{lines[name]['gain']:+,.0f}{' seen' if lines[name]['seen'] else ''}" for name in names
        ]
        seen = dict.fromkeys(one for line in lines.values() for one in line["seen"])
        said = dict.fromkeys(one for line in lines.values() for one in line["said"])
        print(f"| {words} | {' | '.join(cells)} | {', '.join(seen) or '; '.join(list(said)[:1])} |")
    left = [
        f"{line['attack']} ({line['table']}): {line['gain']:+,.0f}"
        for line in found
        if line["gain"] > NOTHING and not line["seen"]
    ]
    print(f"\nMore than {NOTHING:,} gained without an alarm: {'; '.join(left) or 'none'}.")
    for line in found[: len(found) // len(names)]:
        for sentence in line["evidence"][:1]:
            print(f"- {line['attack']}: {sentence}")


def main(given: list[str]) -> None:
    sizes = QUICK if "--quick" in given else SIZES
    chosen = [name for name in given if name in SIZES] or list(SIZES)
    start, found = time.time(), []
    for name in chosen:
        found += run(name, sizes[name])
    in_one_table(found)
    print(f"\n{time.time() - start:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
