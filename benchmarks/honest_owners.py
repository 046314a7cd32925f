"""How many honest owners raise an alarm when an audit looks at them, by kind and size of table.

Run: python benchmarks/honest_owners.py [draws]

Every table is drawn at random and shared out at random, so every alarm is a false one.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from shapley2d._market.owners import read_claims
from shapley2d._market.regions import find_regions
from shapley2d._market.sellers.look import look_at_sellers
from shapley2d._tables.problem import make_problem

SIZES = ((50, 50), (300, 150), (2000, 600))  # rows, validation rows
KINDS = (
    "numbers", "coarse", "categories", "gaps", "skewed", "rare class", "regression", "20 columns",
    "columns",
)  # fmt: skip


def honest_tables(kind: str, n: int, n_valid: int, seed: int) -> tuple[Any, ...]:
    """Three honest owners of a table of some kind, or two of its columns."""
    random = np.random.default_rng((seed, n, n_valid))
    normal = random.normal(size=(n + n_valid, 4))
    X = pd.DataFrame(normal, columns=list("abcd"))
    y: Any = (X["a"] + 0.7 * random.normal(size=len(X)) > 0).to_numpy().astype(int)
    if kind == "coarse":
        X = X.round()
    elif kind == "categories":
        X = X.apply(lambda entries: pd.cut(entries, [-9, -1, 0, 1, 9]).astype(str))
    elif kind == "gaps":
        X = X.mask(random.random(X.shape) < 0.3)
    elif kind == "skewed":
        X = np.exp(2 * X).round(1)
    elif kind == "rare class":
        y = (random.random(len(X)) < 0.05).astype(int)
        y[:2] = [0, 1]
    elif kind == "regression":
        y = X["a"].to_numpy() + 0.3 * random.normal(size=len(X))
    elif kind == "20 columns":
        X = pd.DataFrame(
            random.standard_t(2, size=(len(X), 20)), columns=list("abcdefghijklmnopqrst")
        )
    cuts = [0, n // 2, n // 2 + n // 3, n]
    owners = [{"owner": "ABC"[k], "row": list(range(cuts[k], cuts[k + 1]))} for k in range(3)]
    if kind == "columns":
        owners = [{"owner": "A", "column": ["a", "b"]}, {"owner": "B", "column": ["c", "d"]}]
    rest = X[n:].reset_index(drop=True)
    return X[:n], y[:n], rest, y[n:], owners


def alarmed(kind: str, n: int, n_valid: int, seed: int) -> tuple[int, int]:
    """Honest owners with an alarm, and all of them."""
    X, y, X_valid, y_valid, owners = honest_tables(kind, n, n_valid, seed)
    with warnings.catch_warnings(action="ignore"):
        problem = make_problem(X, y, X_valid, y_valid)
        (split,) = problem.splits
        rows, columns = problem.table.row_names.tolist(), problem.table.column_names
        regions = find_regions(read_claims(owners), rows, columns)
        look = look_at_sellers(
            problem.table, problem.target, split.valid, split.y_valid, regions, seed
        )
    return len({alarm.owner for alarm in look.alarms}), len(owners)


def main(given: list[str]) -> None:
    draws = int(given[0]) if given else 500
    print(
        "| table | rows | validation rows | honest owners | with an alarm |\n|---|---|---|---|---|"
    )
    in_processes = Parallel(n_jobs=-1)
    for n, n_valid in SIZES:
        for kind in KINDS:
            looks = in_processes(delayed(alarmed)(kind, n, n_valid, seed) for seed in range(draws))
            false, owners = np.sum(looks, axis=0)
            print(f"| {kind} | {n} | {n_valid} | {owners:,} | {false} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
