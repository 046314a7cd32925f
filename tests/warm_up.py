"""Compile what most tests need, once: both test workers would do so at the same time otherwise.

Run: python tests/warm_up.py      (``make test`` does; where the code is compiled already, it takes seconds)
"""

import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

from shapley2d import KNN, Forest, MonteCarlo, inspect_cells, value_cells

sys.path.insert(0, str(Path(__file__).parents[1]))  # the reproduction lies beside the package
from shapley2d_paper.baselines import OOB, Flat, TreeMC

TARGETS = ("classification", "regression")


def table(rows: int = 24):
    random = np.random.default_rng(0)
    X = random.normal(size=(rows, 3)).round(1)
    return X, X[:, 0] + random.normal(size=rows)


def cells(task: str, **options) -> None:
    X, y = table()
    value_cells(X, y if task == "regression" else (y > 0).astype(int), cv=2, n_jobs=1, **options)


def groups(task: str) -> None:
    X, y = table()
    y = y if task == "regression" else (y > 0).astype(int)
    value_cells(X, y, row_groups=["a", "b"] * 12, column_groups=["u", "u", "v"], cv=2, n_jobs=1)


def inspection() -> None:
    X, y = table(60)
    inspect_cells(X, (y > 0).astype(int))


SAMPLES = {"max_draws": 2, "tolerance": 0}
METHODS = (
    MonteCarlo("knn", **SAMPLES),
    MonteCarlo("ridge", **SAMPLES),
    Flat(**SAMPLES),
    TreeMC(**SAMPLES),
    OOB(max_draws=60),
    Forest(max_draws=2, tolerance=0),
)
# One process for each group: what they compile has hardly anything in common
NEIGHBORS = [
    *((cells, (task,), {"method": KNN(n_neighbors=3)}) for task in TARGETS),
    (cells, ("classification",), {"method": KNN(n_neighbors=3), "scoring": "balanced_accuracy"}),
    *((groups, (task,), {}) for task in TARGETS),
]  # fmt: skip
TREES_AND_MODELS = [
    (inspection, (), {}),
    (cells, ("classification",), {"method": MonteCarlo("gaussian_nb", **SAMPLES)}),
    *((cells, (task,), {"method": method}) for method in METHODS for task in TARGETS),
]  # fmt: skip


def run(group: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for task, arguments, options in (NEIGHBORS, TREES_AND_MODELS)[group]:
            task(*arguments, **options)


def main() -> None:
    with ProcessPoolExecutor(2) as pool:
        list(pool.map(run, range(2)))


if __name__ == "__main__":
    main()
