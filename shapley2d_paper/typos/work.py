"""Ages of Census mistyped, and how soon a method meets them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.metrics import roc_auc_score

from shapley2d import KNN, Method, value_cells
from shapley2d.evaluation import detection_curve, mistype_ages
from shapley2d_paper.baselines.flat import Flat
from shapley2d_paper.data.splits import split_table, whole_table
from shapley2d_paper.detectors.detectors import DETECTORS, DetectionTask

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d_paper.harness.records import Row


RAW = "2D-KNN raw"
"""2D-KNN on squared differences of the paper's codes; "2D-KNN" has the package's default metric."""

RAW_Z = "z-score raw"
"""The z-score with category codes as numbers; "z-score" takes a category's log share instead."""

GOAL, CELLS = 0.8, 1800
"""The share of the typos that the paper finds, and the inspected cells within which it does."""

EVERY, AGES = "all cells", "ages only"
"""Which cells are inspected."""


def work(
    *, seed: int, rows: int, valid: int, typos: int, methods: list[str], permutations: int
) -> list[Row]:
    """Mistype ages of a part of Census, rank the cells by some methods, and score the ranks."""
    task, truth = mistyped_census(seed, rows, valid, typos)
    task = replace(task, budget=permutations)
    records: list[Row] = []
    for method in methods:
        mark: Row = {"table_rows": rows, "method": method, "permutations": permutations or None}
        records += score_records(_scores(method, task), truth, mark)
    return records


def mistyped_census(
    seed: int, rows: int, valid: int, typos: int
) -> tuple[DetectionTask, NDArray[np.bool_]]:
    """Rows of Census with mistyped ages, and which cells those are.

    With as many rows as the official training part, it is that part, validated on some of the
    official test rows; otherwise a random sample.
    """
    table = whole_table("census")
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(2,)))
    official = table.n_train_official or 0
    if rows == official:
        chosen = official + rng.choice(len(table.labels) - official, valid, replace=False)
        numbers, labels = table.numbers[:official].copy(), table.labels[:official]
        valid_numbers, valid_labels = table.numbers[chosen], table.labels[chosen]
    else:
        parts = split_table("census", seed, n_train=rows, n_valid=valid, n_test=1)
        numbers, labels, valid_numbers, valid_labels = (
            parts.X.copy(),
            parts.y,
            parts.X_valid,
            parts.y_valid,
        )
    age = table.column_names.index("age")
    numbers[:, age], changed = mistype_ages(numbers[:, age], typos, rng)
    truth = np.zeros(numbers.shape, dtype=bool)
    truth[:, age] = changed
    task = DetectionTask(
        numbers, labels, table.categorical, valid_numbers, valid_labels, seed, table.column_names
    )
    return task, truth


def _scores(method: str, task: DetectionTask) -> NDArray[np.float64]:
    # as in the paper, whose codes of categories count as numbers
    if method == RAW_Z:
        return DETECTORS["z-score"](replace(task, categorical=np.zeros_like(task.categorical)))
    by: Method
    if method == RAW:
        by = KNN(metric="sqeuclidean")
    elif method == "1D":
        by = Flat(max_draws=task.budget, tolerance=0)
    else:
        return DETECTORS[method](task)
    return -value_cells(
        task.numbers,
        task.labels,
        task.valid_numbers,
        task.valid_labels,
        method=by,
        baseline="zero",
        random_state=task.seed,
        n_jobs=1,
        progress=False,
    ).values


def score_records(scores: NDArray[np.float64], truth: NDArray[np.bool_], mark: Row) -> list[Row]:
    """How soon the typos are met among all cells, and among the cells of their column only."""
    records: list[Row] = []
    age = int(np.argmax(truth.any(axis=0)))
    for scope, part, errors in ((EVERY, scores, truth), (AGES, scores[:, age], truth[:, age])):
        curve = detection_curve(part, errors, np.arange(errors.size + 1))
        own: Row = {**mark, "scope": scope}
        records.append(
            {
                **own,
                "what": "score",
                "cells": errors.size,
                "typos": int(errors.sum()),
                "auroc": float(roc_auc_score(errors.ravel(), part.ravel())),
                "first_80": int(np.argmax(curve >= GOAL - 1e-9)),
                "found_1800": float(curve[min(CELLS, errors.size)]),
            }
        )
        steps = np.unique(np.geomspace(10, errors.size, 18).astype(int))
        records += [
            {**own, "what": "curve", "inspected": int(k), "found": float(curve[k])} for k in steps
        ]
    return records
