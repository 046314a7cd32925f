"""Removing cells in the order of their values: what a model trained on the rest is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d_paper.detectors.models import MODELS, accuracies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d_paper.data.splits import Parts
    from shapley2d_paper.harness.records import Row

DIRECTIONS = ("lowest", "highest")
"""Which cells go first."""

EVALUATED_ON = ("validation", "test")
"""Rows that the values were computed with, and unseen rows."""


def removal_order(values: NDArray[np.float64], direction: str, seed: int) -> NDArray[np.intp]:
    """Flat numbers of the cells in the order of their removal.

    Cells of equal value come in random order: leave-one-out gives most cells a 0, and taking these
    row by row would remove whole rows.

    Examples
    --------
    >>> removal_order(np.array([[3.0, 1.0], [0.0, 2.0]]), "lowest", seed=0)
    array([2, 1, 3, 0])
    """
    flat = values.ravel()
    chance = np.random.default_rng(seed).permutation(flat.size)
    return np.lexsort((chance, flat if direction == "lowest" else -flat))


def refill(X: NDArray[np.float64], removed: NDArray[np.bool_]) -> NDArray[np.float64]:
    """A table with some cells replaced by the mean of the others in their column.

    Where a column has no others, all of it becomes its own mean.

    Examples
    --------
    >>> X = np.array([[1.0, 4.0], [3.0, 6.0], [8.0, 5.0]])
    >>> refill(X, np.array([[False, True], [False, True], [True, True]]))
    array([[1., 5.],
           [3., 5.],
           [2., 5.]])
    """
    kept = ~removed
    counts = kept.sum(axis=0)
    of_others = np.where(kept, X, 0.0).sum(axis=0) / np.maximum(counts, 1)
    return np.where(removed, np.where(counts > 0, of_others, X.mean(axis=0)), X)


def column_name(direction: str, model: str, evaluated_on: str) -> str:
    """The column of the CSV file that holds an accuracy."""
    return f"{direction}_{model}_{evaluated_on}"


def removal_records(
    parts: Parts, values: NDArray[np.float64], shares: Sequence[float], seed: int
) -> list[Row]:
    """One record per share of removed cells: the accuracies in both directions, of every model, on both sets of rows.

    Parameters
    ----------
    parts : Parts
    values : ndarray of shape (n, m)
        Of the cells of the training rows.
    shares : sequence of float
        Ascending.
    seed : int
        Of the model, and of the order of cells of equal value.
    """
    held_out = [(parts.X_valid, parts.y_valid), (parts.X_test, parts.y_test)]
    records: list[Row] = [{"share": share} for share in shares]
    for direction in DIRECTIONS:
        order = removal_order(values, direction, seed)
        removed = np.zeros(values.size, dtype=bool)
        for record in records:
            removed[order[: round(record["share"] * values.size)]] = True
            X = refill(parts.X, removed.reshape(values.shape))
            for model in MODELS:
                for evaluated_on, accuracy in zip(
                    EVALUATED_ON, accuracies(model, X, parts.y, held_out, seed), strict=True
                ):
                    record[column_name(direction, model, evaluated_on)] = round(accuracy, 4)
    return records
