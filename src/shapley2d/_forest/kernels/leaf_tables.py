"""Values of cells in one leaf, for every code: sums over all column subsets by recursion.

A code has a bit for every column on the path, set if a row passes its splits. A leaf predicts the
mean of a number u over its rows, so the value of a row under the columns F is ``beta + alpha u``
with coefficients that depend on F alone: on the rows in play, whose codes contain F. With ``A(q)``
and ``B(q)`` the sums over F in q of a coefficient times ``p(|F|)`` and ``p(|F| - 1)``, a row with
code q has in column j

    B(q) - B(q - j) - A(q - j)     if it fits j,     - A(q)     if not,

so two sums over subsets, of d 2^d steps each (fast zeta transforms), serve all columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np

from shapley2d._base.cache import CACHE

if TYPE_CHECKING:
    from numpy.typing import NDArray


@numba.njit(nogil=True, cache=CACHE)
def add_supersets(counts: NDArray[np.float64], n_bits: int) -> None:
    """Replace the counts of every code q by the sums over all codes that contain q."""
    for b in range(n_bits):
        bit = 1 << b
        for q in range(1 << n_bits):
            if not q & bit:
                for k in range(counts.shape[1]):
                    counts[q, k] += counts[q | bit, k]


@numba.njit(nogil=True, cache=CACHE)
def row_coefficients(
    counts: NDArray[np.float64],
    weights: NDArray[np.float64],
    size: int,
    coefficients: NDArray[np.float64],
) -> None:
    """Coefficients ``beta`` and ``alpha`` of the value of a row in a mean.

    Parameters
    ----------
    counts : ndarray of shape (size, 2)
        For every F the rows in play, and the sum of their numbers u.
    weights : ndarray of shape (2, n + 1)
        :func:`~shapley2d._forest.weights.mean_weights`.
    size : int
    coefficients : ndarray of shape (size, 2)
        Receives them.
    """
    for q in range(size):
        c = np.int64(counts[q, 0])
        coefficients[q, 0] = 0.0
        coefficients[q, 1] = weights[0, c]
        if c > 1:
            later = weights[1, c] / (c - 1)
            coefficients[q, 0] = -later * counts[q, 1]
            coefficients[q, 1] += later * c


@numba.njit(nogil=True, cache=CACHE)
def cell_coefficients(
    coefficients: NDArray[np.float64],
    n_bits: int,
    joins: NDArray[np.float64],
    beside: NDArray[np.float64],
    met: NDArray[np.bool_],
    sums: NDArray[np.float64],
    worth: NDArray[np.float64],
) -> None:
    """Fill ``beta`` and ``alpha`` of a row's cells, for every code.

    Parameters
    ----------
    coefficients : ndarray of shape (2^d, 2)
        Of the row, for every F.
    n_bits : int
        The number d of columns on the path.
    joins : ndarray
        ``p(s; d)``, for a column that joins s others.
    beside : ndarray
        ``p(s; d + 1)``, for the label that joins s columns; empty where it is not valued.
    met : ndarray of bool of shape (2^d,)
        The codes that rows have; of long paths most have none.
    sums : ndarray of shape (2^d, 4 or 6)
        Scratch: ``A``, ``B`` and the label's sums.
    worth : ndarray of shape (2^d, 2, at least d or d + 1)
        Receives them, the label's after those of the columns.
    """
    labelled = beside.size > 0
    for q in range(1 << n_bits):
        size = 0
        rest = q
        while rest:
            rest &= rest - 1
            size += 1
        with_it = joins[size - 1] if size else 0.0
        without = joins[size] if size < n_bits else 0.0
        for k in range(2):
            sums[q, k] = without * coefficients[q, k]
            sums[q, 2 + k] = with_it * coefficients[q, k]
            if labelled:
                sums[q, 4 + k] = beside[size] * coefficients[q, k]
    for b in range(n_bits):  # sums over all codes that q contains
        bit = 1 << b
        for q in range(1 << n_bits):
            if q & bit:
                for k in range(sums.shape[1]):
                    sums[q, k] += sums[q ^ bit, k]
    for q in range(1 << n_bits):
        if not met[q]:
            continue
        for k in range(2):
            for j in range(n_bits):
                bit = 1 << j
                if q & bit:
                    low = q ^ bit
                    worth[q, k, j] = sums[q, 2 + k] - sums[low, 2 + k] - sums[low, k]
                else:
                    worth[q, k, j] = -sums[q, k]
            if labelled:
                worth[q, k, n_bits] = sums[q, 4 + k]
