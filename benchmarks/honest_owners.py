"""How many honest owners raise an alarm when an audit looks at them, by kind and size of table.

Run: python benchmarks/honest_owners.py [--draws 100] [--jobs N]

Every table is drawn at random and shared out at random, so every alarm is a false one. The unusual
kinds are honest too: owners of other patients, of one class, of rounded numbers, of a drift, of
siblings; these may be told as information, not as an alarm.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from shapley2d._market.owners import read_claims
from shapley2d._market.regions import find_regions
from shapley2d._market.sellers.look import look_at_sellers
from shapley2d._tables.problem import read_tables

SIZES = ((50, 50), (300, 150))  # rows, validation rows
USUAL = (
    "numbers", "coarse", "categories", "gaps", "skewed", "rare class", "regression", "20 columns",
    "columns",
)  # fmt: skip
UNUSUAL = ("other patients", "one class", "rounded", "drift", "siblings", "small owners")


def honest_tables(kind: str, n: int, n_valid: int, seed: int) -> tuple[Any, ...]:
    """Three honest owners of a table of some kind, two of its columns, or many of a few rows."""
    random = np.random.default_rng((seed, n, n_valid))
    size = n + n_valid
    X = pd.DataFrame(random.normal(size=(size, 4)).round(4), columns=list("abcd"))
    X["d"] = 0.6 * X["a"] + 0.8 * X["d"]
    mine, cuts = np.arange(size) < n // 2, [0, n // 2, n // 2 + n // 3, n]
    if kind == "other patients":
        X.loc[mine, ["a", "b"]] = 0.5 * X.loc[mine, ["a", "b"]] + [1.5, -1.0]
    elif kind == "drift":
        X["c"] += np.where(np.arange(size) < n, 2.0 * np.arange(size) / n, 2.0)
    elif kind == "siblings":  # of two or three, in one hand
        parent = np.append(
            np.sort(random.integers(0, n // 2, n)),
            np.sort(random.integers(n, n + n_valid // 2, n_valid)),
        )
        centre = random.normal(size=(2 * size, 4))
        X[:] = centre[parent] + 0.1 * random.normal(size=(size, 4))
    y: Any = (X["a"] + 0.7 * random.normal(size=size) > 0).to_numpy().astype(int)
    if kind == "coarse":
        X = X.round()
    elif kind == "categories":
        X = X.apply(lambda entries: pd.cut(entries, [-9, -1, 0, 1, 9]).astype(str))
    elif kind == "gaps":
        X = X.mask(random.random(X.shape) < 0.3)
    elif kind == "skewed":
        X = np.exp(2 * X).round(1)
    elif kind == "rare class":
        y = (random.random(size) < 0.05).astype(int)
        y[:2] = [0, 1]
    elif kind == "regression":
        y = X["a"].to_numpy() + 0.3 * random.normal(size=size)
    elif kind == "20 columns":
        names = list("abcdefghijklmnopqrst")
        X = pd.DataFrame(random.standard_t(2, size=(size, 20)), columns=names)
    elif kind == "rounded":
        X[mine] = X[mine].round(int(seed % 2))
    elif kind == "one class":
        order = np.concatenate([np.argsort(-y[:n], kind="stable"), np.arange(n, size)])
        X, y = X.iloc[order].reset_index(drop=True), y[order]
    owners = [{"owner": "ABC"[k], "row": list(range(cuts[k], cuts[k + 1]))} for k in range(3)]
    if kind == "columns":
        owners = [{"owner": "A", "column": ["a", "b"]}, {"owner": "B", "column": ["c", "d"]}]
    elif kind == "small owners":
        owners = [{"owner": f"A{k}", "row": list(range(k, n, n // 6))} for k in range(n // 6)]
    rest = X[n:].reset_index(drop=True)
    return X[:n], y[:n], rest, y[n:], owners


def looked(kind: str, n: int, n_valid: int, seed: int) -> tuple[bool, bool]:
    """Whether there is an alarm, and whether there is information."""
    X, y, X_valid, y_valid, owners = honest_tables(kind, n, n_valid, seed)
    with warnings.catch_warnings(action="ignore"):
        tables = read_tables(X, y, X_valid, y_valid)
        rows, columns = tables.table.row_names.tolist(), tables.table.column_names
        look = look_at_sellers(tables, find_regions(read_claims(owners), rows, columns), seed)
    return any(one.alarm for one in look.alarms), any(not one.alarm for one in look.alarms)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=-1)
    given = parser.parse_args()
    start, draws = time.time(), given.draws
    kinds = [(kind, *size) for size in SIZES for kind in (*USUAL, *UNUSUAL)]
    looks = Parallel(n_jobs=given.jobs)(
        delayed(looked)(*kind, seed) for kind in kinds for seed in range(draws)
    )
    counts = np.array(looks).reshape(len(kinds), draws, 2).sum(axis=1)
    print("| table | rows | validation rows | with an alarm | with information |")
    print("|---|--:|--:|--:|--:|")
    for (kind, n, n_valid), (alarms, notes) in zip(kinds, counts, strict=True):
        print(f"| {kind} | {n} | {n_valid} | {alarms} | {notes} |")
    print(f"\nOf {draws} draws each; {counts[:, 0].sum()} of {len(looks):,} have an alarm.")
    print(f"{time.time() - start:.0f} s")


if __name__ == "__main__":
    main()
