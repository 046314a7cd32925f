"""The tables with injected outliers: random splits of ours, and the authors' own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d.evaluation import inject_errors
from shapley2d.exceptions import InputError
from shapley2d_paper.data.authors import load_paper_split, load_paper_values
from shapley2d_paper.data.splits import split_table
from shapley2d_paper.detectors.detectors import DetectionTask
from shapley2d_paper.harness.experiment import Unavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray


TABLES = {
    "authors": "the authors' table",
    "unlikely": "values unlikely for their class",
    "low-density": "values rare in their column",
}
"""The tables with injected outliers, for a reader."""

ALL_ROWS, BENIGN_ROWS = "all rows", "benign rows"
"""Whose cells are ranked: all rows, or benign rows only, as in the authors' notebook."""


@dataclass(frozen=True)
class InjectedTable:
    """A table with injected outliers, and the table before.

    Attributes
    ----------
    task : DetectionTask
        The table with the outliers.
    clean : ndarray of shape (n, m)
    cells : ndarray of bool, shape (n, m)
        The outliers.
    benign : ndarray of bool, shape (n,)
    """

    task: DetectionTask
    clean: NDArray[np.float64]
    cells: NDArray[np.bool_]
    benign: NDArray[np.bool_]


def injected_table(kind: str, seed: int, share: float) -> InjectedTable:
    """A random split of Breast Cancer with outliers of a kind in a share of the training cells."""
    parts = split_table("breast_cancer", seed)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, round(1000 * share))))
    corrupted = inject_errors(kind, parts.X, parts.y, parts.categorical, share, rng)
    task = DetectionTask(
        corrupted.numbers,
        parts.y,
        parts.categorical,
        parts.X_valid,
        parts.y_valid,
        seed,
        parts.column_names,
    )
    return InjectedTable(task, parts.X, corrupted.cells, parts.y == 0)


def authors_table(seed: int) -> InjectedTable:
    """The authors' own table with the cells that they changed."""
    try:
        split = load_paper_split()
    except InputError as error:
        raise Unavailable(str(error)) from error
    changed, clean, valid = (
        np.asarray(part, dtype=np.float64)
        for part in (split.X_train_outlier, split.X_train, split.X_test)
    )
    numbers = np.zeros(changed.shape[1], dtype=bool)
    task = DetectionTask(
        changed, split.y_train, numbers, valid, split.y_test, seed, split.feature_names
    )
    return InjectedTable(task, clean, split.outlier, split.y_train == split.y_train.min())


def published_values() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The authors' own values of their table, before and after they changed cells."""
    try:
        return load_paper_values()
    except InputError as error:
        raise Unavailable(str(error)) from error
