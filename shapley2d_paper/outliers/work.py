"""Cells of a table with injected outliers, ranked by some methods."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from shapley2d import KNN, value_cells
from shapley2d.evaluation import average_precision, detection_curve
from shapley2d_paper.detectors.detectors import DETECTORS
from shapley2d_paper.outliers.tables import (
    ALL_ROWS,
    BENIGN_ROWS,
    authors_table,
    injected_table,
    published_values,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d_paper.detectors.detectors import DetectionTask
    from shapley2d_paper.harness.records import Row
    from shapley2d_paper.outliers.tables import InjectedTable

SHARES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Shares of the cells after which it is noted how many outliers have been met."""

WITHIN = 0.05
"""The share of the cells within which the paper finds most of the outliers."""

GOAL = 0.9
"""The share of the outliers that the paper wants found."""

_RARE = 0.05


def found_column(share: float) -> str:
    """The column that holds the share of outliers found.

    Examples
    --------
    >>> found_column(0.05), found_column(0.005)
    ('found_5', 'found_0.5')
    """
    return f"found_{100 * share:g}"


def _scopes(injected: InjectedTable) -> list[tuple[str, NDArray[np.bool_]]]:
    return [(ALL_ROWS, np.ones(injected.benign.size, dtype=bool)), (BENIGN_ROWS, injected.benign)]


def score_records(scores: NDArray[np.float64], injected: InjectedTable, mark: Row) -> list[Row]:
    """How soon the outliers are found: among the cells of all rows, and of benign rows."""
    records = []
    for scope, rows in _scopes(injected):
        part, truth = scores[rows], injected.cells[rows]
        if not truth.any():
            continue
        curve = detection_curve(part, truth, np.arange(truth.size + 1))
        found = {
            found_column(share): float(curve[int(share * truth.size + 1e-9)]) for share in SHARES
        }
        records.append(
            {
                **mark,
                "what": "score",
                "rows": scope,
                "cells": truth.size,
                "injected": int(truth.sum()),
                "auroc": float(roc_auc_score(truth.ravel(), part.ravel())),
                "average_precision": average_precision(part, truth),
                **found,
                "first_90": float(np.argmax(curve >= GOAL - 1e-9) / truth.size),
                "first_all": float(np.argmax(curve >= 1 - 1e-9) / truth.size),
            }
        )
    return records


def range_records(
    clean: NDArray[np.float64], values: NDArray[np.float64], injected: InjectedTable, mark: Row
) -> list[Row]:
    """The range of the values before and after, and the mean share of values below an outlier."""
    records = []
    for scope, rows in _scopes(injected):
        record: Row = {**mark, "what": "range", "rows": scope}
        for when, part in (("before", clean[rows]), ("after", values[rows])):
            places = (rankdata(part).reshape(part.shape) - 0.5) / part.size
            record[f"lowest_{when}"] = float(part.min())
            record[f"highest_{when}"] = float(part.max())
            record[f"place_{when}"] = float(places[injected.cells[rows]].mean())
        records.append(record)
    return records


def rarity(injected: InjectedTable) -> dict[str, float]:
    """Shares of the injected values that under 5 % of all rows, or of the class, have."""
    labels = injected.task.labels
    same_value = (
        injected.clean[None] == injected.task.numbers[:, None]
    )  # (row of the value, row, column)
    same_class = (labels[:, None] == labels)[:, :, None]
    of_all = same_value.mean(axis=1)[injected.cells]
    of_class = ((same_value & same_class).sum(axis=1) / same_class.sum(axis=1))[injected.cells]
    return {
        "rare_of_all": float((of_all < _RARE).mean()),
        "rare_of_class": float((of_class < _RARE).mean()),
    }


def value_records(
    values: NDArray[np.float64],
    injected: InjectedTable,
    method: str,
    clean: NDArray[np.float64] | None = None,
) -> list[Row]:
    """The cells of the benign rows, for the heatmaps."""
    return [
        {
            "what": "value",
            "method": method,
            "row": int(i),
            "column": name,
            "value": float(values[i, j]),
            "clean": None if clean is None else float(clean[i, j]),
            "mark": int(injected.cells[i, j]) or None,
        }
        for i in np.flatnonzero(injected.benign)
        for j, name in enumerate(injected.task.column_names)
    ]


RAW = "2D-KNN raw"
"""2D-KNN on squared differences of raw numbers, as in the paper; "2D-KNN" scales them."""


def work(
    *, seed: int, table: str, methods: list[str], share: float, permutations: int
) -> list[Row]:
    """Rank the cells of one table by some methods, and score the ranks."""
    injected = authors_table(seed) if table == "authors" else injected_table(table, seed, share)
    injected = replace(injected, task=replace(injected.task, budget=permutations))
    records: list[Row] = []
    for method in methods:
        scores = _scores(method, injected.task)
        mark: Row = {"table": table, "method": method, "permutations": permutations or None}
        records += score_records(scores, injected, mark)
        if method in (RAW, "published"):
            clean = _clean_values(method, injected)
            records += range_records(clean, -scores, injected, mark)
            if method == RAW:
                records.append({"what": "rarity", "table": table, **rarity(injected)})
            if table == "authors" and method == RAW:
                records += value_records(-scores, injected, method, clean)
        if table == "authors" and method == "1D":
            records += value_records(-scores, injected, method)
    return records


def _scores(method: str, task: DetectionTask) -> NDArray[np.float64]:
    if method == "published":
        return -published_values()[1]
    return -_raw_values(task, task.numbers) if method == RAW else DETECTORS[method](task)


def _raw_values(task: DetectionTask, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    return value_cells(
        numbers,
        task.labels,
        task.valid_numbers,
        task.valid_labels,
        method=KNN(metric="sqeuclidean"),
        baseline="zero",
        n_jobs=1,
        progress=False,
    ).values


def _clean_values(method: str, injected: InjectedTable) -> NDArray[np.float64]:
    if method == "published":
        return published_values()[0]
    return _raw_values(injected.task, injected.clean)
