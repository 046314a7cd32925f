"""What an owner can gain by splitting up, copying, stealing or adding noise; before and after.

Run: python benchmarks/adversary.py [rows that validate], or python benchmarks/adversary.py noise
Credit-card clients, three owners of 200 rows each, 100,000 to divide, nearest neighbours. "Before"
has groups of rows and columns as players, counts every copy, uses baseline="zero", and its intervals
include sampling alone. "After" are the defaults. Prints the table of docs/blocks.md and draws
docs/figures/adversary.png.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

from shapley2d import value_blocks, value_cells
from shapley2d.datasets import load_credit

AMOUNT = 100_000
BEFORE = {"players": "groups", "method": "knn", "copies": "each", "baseline": "zero"}
AFTER = {"n_subsets": 256}
THREE = {"A": range(200), "B": range(200, 400), "C": range(400, 600)}
FIGURE = Path(__file__).parents[1] / "docs" / "figures" / "adversary.png"


def tables(n_valid, seed=0):
    X, y = load_credit("pandas")
    rows = np.random.default_rng(seed).permutation(len(X))[: 600 + n_valid]
    X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    return X[:600], y[:600], X[600:], y[600:]


def shuffled(X, y, seed=1):
    """As many rows, of which no two cells belong together."""
    random = np.random.default_rng(seed)
    return X.apply(
        lambda column: column.to_numpy()[random.permutation(len(X))]
    ), random.permutation(y)


def scenarios(X, y, X_valid, y_valid):
    """Case, watched owner (a prefix of its names), tables, owners, other settings of "after"."""
    a, labels = X[:200], y[:200]

    def owners(parts):
        return [{"owner": name, "row": list(rows)} for name, rows in parts.items()]

    def with_rows(name, more, more_labels):
        parts = {**THREE, name: range(600, 600 + len(more))}
        return (
            pd.concat([X, more], ignore_index=True),
            np.append(y, more_labels),
            X_valid,
            owners(parts),
        )

    honest, others = owners(THREE), {"B": THREE["B"], "C": THREE["C"]}
    yield "A, B and C are honest", "A", X, y, X_valid, honest, {}
    shells = {f"A{k}": range(k, 200, 4) for k in range(4)}
    yield "A splits into four shells", "A", X, y, X_valid, owners({**shells, **others}), {}
    worst = worst_rows(X, y, X_valid, y_valid)
    hidden = {"A": np.setdiff1d(np.arange(200), worst).tolist(), "A2": worst.tolist(), **others}
    yield "A hides its worst tenth in a shell", "A", X, y, X_valid, owners(hidden), {}
    yield (
        "the same, negative values paid nothing",
        "A",
        X,
        y,
        X_valid,
        owners(hidden),
        {"negative": "zero"},
    )
    again = pd.concat([X, a, a, a], ignore_index=True)
    copies = {f"A{k}": range(400 + 200 * k, 600 + 200 * k) for k in range(1, 4)}
    four = np.concatenate([y, labels, labels, labels])
    yield (
        "A lists its rows under four names",
        "A",
        again,
        four,
        X_valid,
        owners({**THREE, **copies}),
        {},
    )
    twice = [*honest, {"owner": "A", "row": "600-799"}]
    yield "A lists its rows twice", "A", again[:800], four[:800], X_valid, twice, {}
    yield "a thief copies A's rows: A", "A", *with_rows("Thief", a, labels), {}
    yield "a thief copies A's rows: the thief", "Thief", *with_rows("Thief", a, labels), {}
    noise = with_rows("Noise", *shuffled(a, labels))
    yield "200 rows of shuffled noise", "Noise", *noise, {}
    yield "the same, by accuracy", "Noise", *noise, {"scoring": "accuracy"}
    random = np.random.default_rng(2)
    odd = [
        part.assign(
            dice=random.integers(1, 7, len(part)), horoscope=random.integers(1, 13, len(part))
        )
        for part in (X, X_valid)
    ]
    lines = [{**line, "column": list(X)} for line in honest]
    seer = [*lines, {"owner": "Seer", "column": "dice;horoscope"}]
    yield "columns of dice and horoscopes", "Seer", odd[0], y, odd[1], seer, {}
    yield "an accidental line Nobody,,", "Nobody", X, y, X_valid, [*honest, {"owner": "Nobody"}], {}


def worst_rows(X, y, X_valid, y_valid):
    """The tenth of A's rows that is worth least."""
    cells = value_cells(
        X, y, X_valid, y_valid, scoring="balanced_accuracy", progress=False, **AFTER
    )
    return np.sort(np.argsort(cells.rows[:200], kind="stable")[:20])


def paid(watched, v, negative=None):
    """Payment of the watched owner over all its names, and its interval where it has one name."""
    payments = v.payments(AMOUNT, negative=negative)
    mine = payments[payments["owner"].str.startswith(watched)]
    alone = mine.iloc[0] if len(mine) == 1 else None
    return mine["amount"].sum(), None if alone is None else (alone["low"], alone["high"])


def measure(n_valid):
    X, y, X_valid, y_valid = tables(n_valid)
    found = []
    for words, watched, table, labels, held, owners, more in scenarios(X, y, X_valid, y_valid):
        negative = more.pop("negative", None)
        line = [words]
        for options, rule in ((BEFORE, "zero"), ({**AFTER, **more}, negative)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                v = value_blocks(
                    table, labels, held, y_valid, owners=owners, progress=False, **options
                )
                line += [*paid(watched, v, rule)]
        line.append("; ".join(str(one.message).split(":")[0] for one in caught))
        found.append(line)
        print(
            f"| {line[0]} | {line[1]:,.0f} | {line[3]:,.0f} | {interval(line[4])} | {line[5]} |",
            flush=True,
        )
    return found


def several_noises(n_valid, seeds=(1, 2, 3, 4)):
    """Other shuffles of the same rows, by both scores: one shuffle says little about noise."""
    X, y, X_valid, y_valid = tables(n_valid)
    owners = [
        {"owner": name, "row": list(rows)}
        for name, rows in {**THREE, "Noise": range(600, 800)}.items()
    ]
    for scoring in ("accuracy", "balanced_accuracy"):
        for seed in seeds:
            more, labels = shuffled(X[:200], y[:200], seed)
            with warnings.catch_warnings(action="ignore"):
                v = value_blocks(
                    pd.concat([X, more], ignore_index=True),
                    np.append(y, labels),
                    X_valid,
                    y_valid,
                    owners=owners,
                    progress=False,
                    scoring=scoring,
                    n_subsets=128,
                )
                amount, ends = paid("Noise", v)
            print(f"| {scoring} | {seed} | {amount:,.0f} | {interval(ends)} |", flush=True)


def interval(ends):
    return "" if ends is None else f"{ends[0]:,.0f} to {ends[1]:,.0f}"


def draw(found, path):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7.2, 4.6))
    place = np.arange(len(found))
    ax.barh(place - 0.2, [line[1] for line in found], 0.38, color="#b2182b", label="before")
    ax.barh(place + 0.2, [line[3] for line in found], 0.38, color="#2166ac", label="after")
    for k, line in enumerate(found):
        if line[4] is not None:
            ax.plot(line[4], [k + 0.2] * 2, color="#333333", linewidth=1.2)
    ax.set_yticks(place, [line[0] for line in found])
    ax.invert_yaxis()
    ax.axvline(found[0][3], color="#888888", linewidth=0.8, linestyle=":")
    ax.set_xlabel("paid out of 100,000, with 95 % intervals of the defaults")
    ax.legend(frameon=False, loc="lower right")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=120, bbox_inches="tight")


if __name__ == "__main__":
    mpl.use("Agg")
    if sys.argv[1:] == ["noise"]:
        print("| score | shuffle | paid | 95 % interval |\n|---|---|---|---|")
        several_noises(500)
    else:
        print(
            "| what | before | after | 95 % interval | what the run says |\n|---|---|---|---|---|"
        )
        draw(measure(int(sys.argv[1]) if len(sys.argv) > 1 else 600), FIGURE)
