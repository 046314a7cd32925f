"""2D-OOB: seconds for 1,000 trees beside scikit-learn's trees, and how well injected cells are found.

Run: SHAPLEY2D_DATA=folder python benchmarks/oob.py [n_trees]

The table is the authors' perturbed
breast-cancer table (241 x 9, 43 cells changed), each tree sees two columns. The peer is the same
loop over scikit-learn's trees, with the same bootstraps. Without the data: random numbers of the
same shape, for the time alone.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
from shapley2d._methods.oob import METHOD
from shapley2d._methods.oob.trees import columns_drawn, draw_tree
from sklearn.metrics import roc_auc_score
from sklearn.tree import DecisionTreeClassifier

from shapley2d._methods.run import Run
from shapley2d._tables.convert import as_table
from shapley2d._tables.problem import Problem
from shapley2d._tables.target import as_target


def load() -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    folder = os.environ.get("SHAPLEY2D_DATA")
    if not folder:
        random = np.random.default_rng(0)
        X = random.integers(1, 11, size=(241, 9))
        return X, (X[:, 0] + random.normal(size=241) > 5).astype(int), None
    file = np.load(Path(folder) / "breast_cancer_paper_split.npz", allow_pickle=False)
    return file["X_train_outlier"], file["y_train"], file["X_train_outlier"] != file["X_train"]


def by_sklearn(X: np.ndarray, y: np.ndarray, n_trees: int) -> np.ndarray:
    """The plain loop, vectorised over the cells of a tree."""
    n, m = X.shape
    sums, counts = np.zeros((n, m)), np.zeros((n, m))
    for b in range(n_trees):
        bag, columns = draw_tree(0, b, (n, m), columns_drawn(0.25, m))
        out = np.flatnonzero(bag == 0)
        tree = DecisionTreeClassifier(random_state=b).fit(X[:, columns], y, sample_weight=bag)
        cells = np.ix_(out, columns)
        sums[cells] += (tree.predict(X[cells]) == y[out])[:, None]
        counts[cells] += 1
    return sums / counts


def value(problem, seed, **options):
    return METHOD.solve(problem, Run.create(seed, progress=False), **METHOD.complete(options))


def main() -> None:
    n_trees = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    X, y, injected = load()
    table = as_table(X)
    problem = Problem(table, as_target(y, table), [])
    print(f"{X.shape[0]} rows x {X.shape[1]} columns, {n_trees} trees of two columns, one core")
    for score in ("correct", "distance"):
        value(problem, 0, n_trees=200, oob_score=score)  # compiles
        seconds, found = [], []
        for seed in range(5):
            start = time.perf_counter()
            values = value(problem, seed, n_trees=n_trees, oob_score=score).values
            seconds.append(time.perf_counter() - start)
            if injected is not None:
                found.append(roc_auc_score(injected.ravel(), -values.ravel()))
        text = (
            f", AUROC {np.mean(found):.3f} ({min(found):.3f} to {max(found):.3f})" if found else ""
        )
        print(f"oob_score={score!r:<12} {min(seconds):.2f} s (best of 5 seeds){text}")
    start = time.perf_counter()
    values = by_sklearn(X, y, n_trees)
    text = (
        ""
        if injected is None
        else f", AUROC {roc_auc_score(injected.ravel(), -values.ravel()):.3f}"
    )
    print(f"scikit-learn's trees {time.perf_counter() - start:.2f} s{text}")


if __name__ == "__main__":
    main()
