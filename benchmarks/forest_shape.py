"""How deep should the trees of ``method="forest"`` be that it grows itself, and how many rows should a leaf have?

Run: SHAPLEY2D_DATA=folder python benchmarks/forest_shape.py [--tables wine heart ...] [--seeds 3] [--trees 100] [--jobs -1]

The tables, their planted errors and the measures are those of ``faithful.py``: 10 % of the labels and 5 % of the cells are wrong. For every shape the cells are
valued with 100 trees. Then 10, 20 and 30 % of the cells, highest first, are replaced by the means of their columns, and boosted trees are trained anew: their
balanced accuracy should be low. Wrong labels are found by the lowest sums of rows: the average precision should be high.

Each line has the means over tables and seeds; in brackets, the half width of a 95 % interval of the difference to the first shape, the default, by Student's t
over the tables.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from faithful import MODELS, SHARES, TABLES, parts, plant, removed_cells, score
from joblib import Parallel, delayed
from sklearn.metrics import average_precision_score

from shapley2d import Forest, value_cells
from shapley2d._base.precision import interval_factor
from shapley2d._forest import draws

DEFAULT = (draws.DEPTH, draws.LEAF_ROWS)
SHAPES = (DEFAULT, (4, 5), (8, 5), (10, 5), (6, 1), (10, 1), (6, 10))


def case(name, seed, n_trees):
    """The two measures of every shape, on one table."""
    warnings.simplefilter("ignore")
    (X, y), (Xv, yv), test = parts(name, seed)
    X, y, wrong = plant(X, y, seed)
    known = np.isin(yv, y)
    found = []
    for shape in SHAPES:
        draws.DEPTH, draws.LEAF_ROWS = shape
        values = value_cells(
            *(X, y, Xv[known], yv[known]),
            method=Forest(max_draws=n_trees, tolerance=0),
            scoring="balanced_accuracy",
            task="classification",
            random_state=seed,
            n_jobs=1,
            progress=False,
        ).values
        model = MODELS["boosted trees"](seed)
        left = [
            score(model, removed_cells(values, X, share, "highest", "mean"), y, test)
            for share in SHARES
        ]
        found.append((np.mean(left), average_precision_score(wrong, -values.sum(axis=1))))
    draws.DEPTH, draws.LEAF_ROWS = DEFAULT
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", nargs="+", choices=TABLES, default=list(TABLES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=-1)
    given = parser.parse_args()
    cases = [(name, seed, given.trees) for name in given.tables for seed in range(given.seeds)]
    found = np.array(Parallel(n_jobs=given.jobs)(delayed(case)(*one) for one in cases))
    found = found.reshape(len(given.tables), given.seeds, len(SHAPES), 2).mean(axis=1)
    print(f"{len(given.tables)} tables, {given.seeds} seeds, {given.trees} trees")
    print("| depth | rows of a leaf | highest cells replaced by the mean | wrong labels found |")
    print("|--:|--:|--:|--:|")
    for k, (depth, rows) in enumerate(SHAPES):
        cells = []
        for measure in range(2):
            apart = found[:, k, measure] - found[:, 0, measure]
            half = interval_factor(len(apart) - 1) * apart.std(ddof=1) / np.sqrt(len(apart))
            more = f" (±{half:.3f})" if k else ""
            cells.append(f"{found[:, k, measure].mean():.3f}{more}")
        print(f"| {depth} | {rows} | {cells[0]} | {cells[1]} |")


if __name__ == "__main__":
    main()
