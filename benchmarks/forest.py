"""Cells of a forest on Census: all 455,854 of them against all 16,281 test rows.

Run: python benchmarks/forest.py [--trees 100] [--depth 6]

The forest is fitted first. Then ``value_cells`` is timed with it, with one thread and with two, beside the valuation of single
trees alone: what the rest takes is what is spent outside compiled code. Where other work keeps the cores busy, the processor's
time is the one to look at.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from shapley2d import value_cells
from shapley2d._forest.ensemble import read_fitted
from shapley2d._forest.game import LeafGame
from shapley2d._tables.problem import make_problem
from shapley2d.datasets import load_census


def timed(work) -> tuple[float, float]:
    """Seconds by the clock, and of the processor."""
    work()  # compiles, or loads what was compiled
    clock, core = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - core


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--depth", type=int, default=6)
    given = parser.parse_args()
    frame, labels = load_census("both", frame="pandas")
    words = frame.select_dtypes(exclude="number").columns
    frame[words] = frame[words].apply(lambda column: column.astype("category").cat.codes)
    X, y, n = frame.to_numpy(dtype=float), np.asarray(labels), 32_561
    data = (X[:n], y[:n], X[n:], y[n:])
    model = RandomForestClassifier(given.trees, max_depth=given.depth, random_state=0).fit(
        *data[:2]
    )
    (split,) = make_problem(*data).splits
    ensemble = read_fitted(model, split)
    semivalues = ("shapley", "shapley")
    game = LeafGame(
        ensemble.features, split.y, split.y_valid, None, semivalues, split.train.n_columns
    )
    values = np.zeros(split.train.shape)

    def trees_alone() -> None:
        for tree in ensemble.trees:
            game.add_values(tree, values)

    alone = timed(trees_alone)
    print(f"{given.trees} trees of depth {given.depth}: clock, processor")
    print(f"trees alone        {alone[0]:6.2f} s {alone[1]:6.2f} s")
    for jobs in (1, 2):
        whole = timed(
            lambda jobs=jobs: value_cells(
                *data, method="forest", model=model, n_jobs=jobs, progress=False
            )
        )
        rest = 1 - alone[1] / whole[1]
        print(
            f"value_cells, {jobs} at a time {whole[0]:6.2f} s {whole[1]:6.2f} s, outside {rest:.0%}"
        )


if __name__ == "__main__":
    main()
