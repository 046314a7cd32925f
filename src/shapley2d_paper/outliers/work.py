"""Tables with planted outliers, and what is noted of a ranking of their cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d.evaluation.detection import auroc, average_precision, detection_curve
from shapley2d.evaluation.injection import plant
from shapley2d.exceptions import InputError
from shapley2d_paper.data.splits import split_table
from shapley2d_paper.detectors.detectors import DetectionTask
from shapley2d_paper.harness.experiment import Unavailable
from shapley2d_paper.outliers.figure import ALL_ROWS, BENIGN_ROWS, SHARES, found_column

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d_paper.harness.experiment import Row

GOAL = 0.9
"""The share of the planted cells that the paper wants found."""

_RARE = 0.05


@dataclass(frozen=True)
class Planted:
    """A table with planted cells, and the table before.

    Attributes
    ----------
    task : DetectionTask
        The table with the planted cells.
    clean : ndarray of shape (n, m)
    cells : ndarray of bool, shape (n, m)
        The planted cells.
    benign : ndarray of bool, shape (n,)
    """

    task: DetectionTask
    clean: NDArray[np.float64]
    cells: NDArray[np.bool_]
    benign: NDArray[np.bool_]


def planted_table(kind: str, seed: int, share: float) -> Planted:
    """A random split of Breast Cancer with outliers of a kind in a share of the training cells."""
    parts = split_table("breast_cancer", seed)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, round(1000 * share))))
    spoiled = plant(kind, parts.X, parts.y, parts.categorical, share, rng)
    task = DetectionTask(
        spoiled.numbers, parts.y, parts.categorical, parts.X_valid, parts.y_valid, seed, parts.column_names
    )
    return Planted(task, parts.X, spoiled.cells, parts.y == 0)


def authors_table(seed: int) -> Planted:
    """The authors' own table with the cells that they changed."""
    from shapley2d_paper.data import load_paper_split

    try:
        split = load_paper_split()
    except InputError as error:
        raise Unavailable(str(error)) from error
    changed, clean, valid = (
        np.asarray(part, dtype=np.float64) for part in (split.X_train_outlier, split.X_train, split.X_test)
    )
    numbers = np.zeros(changed.shape[1], dtype=bool)
    task = DetectionTask(changed, split.y_train, numbers, valid, split.y_test, seed, split.feature_names)
    return Planted(task, clean, split.outlier, split.y_train == split.y_train.min())


def published_values() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The authors' own values of their table, before and after they changed cells."""
    from shapley2d_paper.data import load_paper_values

    try:
        return load_paper_values()
    except InputError as error:
        raise Unavailable(str(error)) from error


def _scopes(planted: Planted) -> list[tuple[str, NDArray[np.bool_]]]:
    return [(ALL_ROWS, np.ones(planted.benign.size, dtype=bool)), (BENIGN_ROWS, planted.benign)]


def score_lines(suspicion: NDArray[np.float64], planted: Planted, mark: Row) -> list[Row]:
    """How soon the planted cells are met: among the cells of all rows, and among those of benign rows."""
    lines = []
    for scope, rows in _scopes(planted):
        scores, truth = suspicion[rows], planted.cells[rows]
        if not truth.any():
            continue
        curve = detection_curve(scores, truth, np.arange(truth.size + 1))
        found = {found_column(share): float(curve[int(share * truth.size + 1e-9)]) for share in SHARES}
        lines.append(
            {
                **mark,
                "what": "score",
                "rows": scope,
                "cells": truth.size,
                "planted": int(truth.sum()),
                "auroc": auroc(scores, truth),
                "average_precision": average_precision(scores, truth),
                **found,
                "first_90": float(np.argmax(curve >= GOAL - 1e-9) / truth.size),
                "first_all": float(np.argmax(curve >= 1 - 1e-9) / truth.size),
            }
        )
    return lines


def range_lines(
    clean: NDArray[np.float64], values: NDArray[np.float64], planted: Planted, mark: Row
) -> list[Row]:
    """The range of the values before and after, and where the planted cells lie: the mean share of lower values."""
    from scipy.stats import rankdata

    lines = []
    for scope, rows in _scopes(planted):
        line: Row = {**mark, "what": "range", "rows": scope}
        for when, part in (("before", clean[rows]), ("after", values[rows])):
            places = (rankdata(part).reshape(part.shape) - 0.5) / part.size
            line[f"lowest_{when}"] = float(part.min())
            line[f"highest_{when}"] = float(part.max())
            line[f"place_{when}"] = float(places[planted.cells[rows]].mean())
        lines.append(line)
    return lines


def rarity(planted: Planted) -> dict[str, float]:
    """Shares of the planted values that are rare: fewer than 5 % of all rows, or of those of the class, have them."""
    labels = planted.task.labels
    same_value = planted.clean[None] == planted.task.numbers[:, None]  # (row planted in, row, column)
    same_class = (labels[:, None] == labels)[:, :, None]
    of_all = same_value.mean(axis=1)[planted.cells]
    of_class = ((same_value & same_class).sum(axis=1) / same_class.sum(axis=1))[planted.cells]
    return {"rare_of_all": float((of_all < _RARE).mean()), "rare_of_class": float((of_class < _RARE).mean())}


def value_lines(
    values: NDArray[np.float64], planted: Planted, method: str, clean: NDArray[np.float64] | None = None
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
            "mark": int(planted.cells[i, j]) or None,
        }
        for i in np.flatnonzero(planted.benign)
        for j, name in enumerate(planted.task.column_names)
    ]
