"""Means over the trees that score a cell, and the errors of these means and of their sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._estimation.batches import single_threaded

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CHUNK = 2**22  # scores taken up at once


class TreeMeans(NamedTuple):
    """Means of the cells with their standard errors, those of row and column sums, and the scores behind each cell."""

    values: NDArray[np.float64]
    stderr: NDArray[np.float64]
    row_stderr: NDArray[np.float64]
    column_stderr: NDArray[np.float64]
    counts: NDArray[np.float64]


def tree_means(
    scores: NDArray[np.floating], drawn: NDArray[np.bool_], *, right_or_wrong: bool = False
) -> TreeMeans:
    """The mean score of every cell over the trees that score it.

    Parameters
    ----------
    scores : ndarray of shape (B, n)
        The score of every row by every tree; NaN where the tree has the row in its bag.
    drawn : ndarray of shape (B, m)
        Which columns each tree saw. A tree scores the cells of its rows out of bag in these
        columns.
    right_or_wrong : bool
        Whether scores are 0 or 1. Trees that all agree do not prove that the next one will, so the
        errors are those with half a right and half a wrong score more (as in Jeffreys' interval),
        never 0.

    Notes
    -----
    A mean's error is a sum over trees of (score - mean) / count. One tree is part of many means, so
    the errors of the cells of a row, or of a column, are correlated: for a sum of means these terms
    are summed tree by tree before they are squared. A cell without scores has the value 0; see
    ``counts``.

    Examples
    --------
    >>> scores = np.array([[1.0, np.nan], [0.0, 1.0], [np.nan, 1.0]])
    >>> means = tree_means(scores, np.array([[True], [True], [True]]))
    >>> means.values.ravel(), means.stderr.ravel()
    (array([0.5, 1. ]), array([0.5, 0. ]))
    """
    n_trees, n_rows = scores.shape
    saw = drawn.astype(np.float64)
    n_columns = saw.shape[1]
    values, variance, counts = (np.zeros((n_rows, n_columns)) for _ in range(3))
    row_variance, column_errors = np.zeros(n_rows), np.zeros((n_trees, n_columns))
    step = max(1, _CHUNK // n_trees)
    with single_threaded():  # sums do not depend on how many threads there are
        for start in range(0, n_rows, step):
            rows = slice(start, start + step)
            part = scores[:, rows].astype(np.float64)
            out = (~np.isnan(part)).astype(np.float64)
            part[np.isnan(part)] = 0.0
            total = (
                part.T @ saw
            )  # exact for scores of 0 and 1, so that equal shares are equal numbers
            centre = part.sum(axis=0) / np.maximum(out.sum(axis=0), 1.0)
            part -= centre * out  # squares of small numbers lose no digits
            counts[rows] = count = out.T @ saw
            inverse = 1.0 / np.maximum(count, 1.0)
            mean = part.T @ saw * inverse
            squares = np.maximum((part**2).T @ saw - count * mean**2, 0.0)
            values[rows] = total / np.maximum(count, 1.0)
            variance[rows] = squares * inverse / np.maximum(count - 1.0, 1.0)
            errors = part.T * (inverse @ saw.T) - out.T * ((inverse * mean) @ saw.T)
            row_variance[rows] = np.sum(errors**2, axis=1)
            column_errors += part @ inverse - out @ (inverse * mean)
    column_variance = np.sum((saw * column_errors) ** 2, axis=0)
    if right_or_wrong:
        more = 0.5 * (values**2 + (1.0 - values) ** 2) / np.maximum(counts, 1.0) ** 2
        variance += more
        row_variance += more.sum(axis=1)
        column_variance += more.sum(axis=0)
    return TreeMeans(
        values, np.sqrt(variance), np.sqrt(row_variance), np.sqrt(column_variance), counts
    )
