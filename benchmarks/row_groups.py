"""What a model of one's own gives in a minute by groups of rows and by columns.

Run: python benchmarks/row_sets.py [SECONDS [ROUNDS LEAVES]]   (60 s for each of the four questions)

A made-up table of the size of the Telco churn table: 5,634 training rows, 1,409 validation rows, 19
columns of text and numbers, about 26 % positives, of which 9 columns matter. The model is
scikit-learn's HistGradientBoostingClassifier with 30 rounds of 15 leaves by default. It prints the table of
docs/evidence/scale.md: the root mean square of the values and of their standard errors, and the
share of the values whose 95 % interval does not hold 0, in points of accuracy.
"""

from __future__ import annotations

import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")  # workers share the cores

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from shapley2d import MonteCarlo, value_blocks
from shapley2d.exceptions import InputError

N_TRAIN, N_VALID = 5634, 1409


def churn_table(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Nineteen columns, and whether a customer left."""
    rng = np.random.default_rng(seed)
    n = N_TRAIN + N_VALID
    months = rng.integers(1, 73, n)
    contract = rng.choice(["month", "year", "two years"], n, p=[0.55, 0.21, 0.24])
    internet = rng.choice(["fibre", "dsl", "none"], n, p=[0.44, 0.34, 0.22])
    charges = np.round(20 + 45 * (internet == "fibre") + rng.gamma(3, 8, n), 2)
    columns: dict[str, np.ndarray] = {
        "months": months,
        "contract": contract,
        "internet": internet,
        "charges": charges,
        "total": np.round(months * charges * rng.normal(1, 0.03, n), 2),
        "payment": rng.choice(["check", "card", "transfer", "mail"], n),
        "support": rng.choice(["yes", "no"], n, p=[0.3, 0.7]),
        "senior": rng.integers(0, 2, n),
        "partner": rng.choice(["yes", "no"], n),
    }
    for j in range(10):
        kind = rng.choice(["a", "b", "c"], n) if j % 2 else rng.normal(size=n).round(2)
        columns[f"other {j}"] = kind
    odds = (
        -2.4
        - 0.035 * (months - 32)
        + 1.3 * (contract == "month")
        + 0.9 * (internet == "fibre")
        - 0.5 * (columns["support"] == "yes")
        + 0.4 * (columns["payment"] == "check")
        + 0.3 * columns["senior"]
        + 0.004 * (charges - 60)
    )
    left = rng.random(n) < 1 / (1 + np.exp(-odds))
    return pd.DataFrame(columns), np.where(left, "left", "stayed")


def main(seconds: float = 60.0, rounds: float = 30, leaves: float = 15) -> None:
    """Ask four questions, each within the same time."""
    X, y = churn_table()
    share = (y == "left").mean()
    print(f"{N_TRAIN:,} rows x {X.shape[1]} columns, {100 * share:.0f} % left, {seconds:g} s each,")
    print(f"{os.cpu_count()} cores; accuracy in points\n")
    tables = (X[:N_TRAIN], y[:N_TRAIN], X[N_TRAIN:], y[N_TRAIN:])
    each = list(X.columns)
    model = HistGradientBoostingClassifier(
        max_iter=int(rounds), max_leaf_nodes=int(leaves), random_state=0
    )
    asked = {
        "`columns=` each by itself": {"columns": each},
        '`rows="clusters=40"`': {"rows": "clusters=40"},
        '`rows="clusters=8"`, `columns=` each by itself': {"rows": "clusters=8", "columns": each},
        '`rows="clusters=20"`, `columns=` each by itself': {"rows": "clusters=20", "columns": each},
    }
    print("| asked | how | values, root mean square | their standard error | signs certain |")
    print("|---|---|---|---|---|")
    for words, groups in asked.items():
        start = time.perf_counter()
        try:
            v = value_blocks(
                *tables,
                method=MonteCarlo(model),
                max_time=seconds,
                n_jobs=-1,
                progress=False,
                **groups,
            )
        except InputError as error:  # too short for two draws
            print(f"| {words} | refused | | | | ({error})", flush=True)
            continue
        took = time.perf_counter() - start
        low, high = v.interval()
        sure = (low > 0) | (high < 0)
        size, error = (100 * np.sqrt(np.mean(one**2)) for one in (v.values, v.stderr))
        print(
            f"| {words} | {v.info['n_permutations']} permutations | {size:.2f} | {error:.2f} | {100 * sure.mean():.0f} % |",
            f"  ({took:.0f} s, {v.info['method']})",
            flush=True,
        )


if __name__ == "__main__":
    main(*(float(argument) for argument in sys.argv[1:4]))
