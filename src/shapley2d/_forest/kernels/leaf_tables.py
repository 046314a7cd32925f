"""Values of cells in one leaf, for every code: sums over all column subsets by recursion.

A code has a bit for every column on the path, set if a row passes its splits. The value of a row
under the columns F is a polynomial in the weight of its label among the validation rows, or in its
target, whose coefficients depend on F alone: on the rows in play, whose codes contain F. With
``A(q)`` and ``B(q)`` the sums over F in q of a coefficient times ``p(|F|)`` and ``p(|F| - 1)``, a
row with code q has in column j

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
def add_subsets(sums: NDArray[np.float64], n_bits: int) -> None:
    """Replace the sums of every code q by the sums over all codes that q contains."""
    for b in range(n_bits):
        bit = 1 << b
        for q in range(1 << n_bits):
            if q & bit:
                for k in range(sums.shape[1]):
                    sums[q, k] += sums[q ^ bit, k]


@numba.njit(nogil=True, cache=CACHE)
def share_coefficients(
    counts: NDArray[np.float64],
    weights: NDArray[np.float64],
    size: int,
    coefficients: NDArray[np.float64],
) -> None:
    """Coefficients of the value of a row in the share of its label, linear in the label's weight.

    Parameters
    ----------
    counts : ndarray of shape (size, 2)
        For every F the rows in play, and the sum of the weights of their labels.
    weights : ndarray of shape (2, n + 1)
        :func:`~shapley2d._forest.weights.share_weights`.
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
def error_coefficients(
    counts: NDArray[np.float64],
    weights: NDArray[np.float64],
    moments: NDArray[np.float64],
    size: int,
    coefficients: NDArray[np.float64],
) -> None:
    """Coefficients of the value of a row in minus the squared error, quadratic in its target.

    Parameters
    ----------
    counts : ndarray of shape (size, 3)
        For every F the rows in play, the sum of their targets and of their squares. Targets are
        counted from the mean of all, which an empty leaf predicts.
    weights : ndarray of shape (4, n + 1)
        :func:`~shapley2d._forest.weights.error_weights`.
    moments : ndarray of shape (2,)
        Of the validation rows in the leaf: their weight, and the weighted sum of their targets.
    size : int
    coefficients : ndarray of shape (size, 3)
        Receives them.
    """
    mass, wanted = moments[0], moments[1]
    for q in range(size):
        c = np.int64(counts[q, 0])
        first = weights[0, c]
        coefficients[q, 0] = 0.0
        coefficients[q, 1] = 2 * wanted * first
        coefficients[q, 2] = -mass * first
        if c < 2:
            continue
        others = c - 1.0
        later, squared, spread = weights[1, c], weights[2, c], weights[3, c]
        mean = counts[q, 1] / others  # of the others, plus y / others
        square = counts[q, 2] / others
        coefficients[q, 0] += (
            mass * (mean * mean * (2 * later - squared - spread) + spread * square)
            - 2 * wanted * later * mean
        )
        coefficients[q, 1] += (
            2 * wanted * later * c / others
            - 2 * mass * mean * (later * (others + 2) - squared * c - spread) / others
        )
        coefficients[q, 2] += (
            mass * ((2 * later - spread) * (others + 1) - squared * c * c) / (others * others)
        )


@numba.njit(nogil=True, cache=CACHE)
def sum_over_subsets(
    coefficients: NDArray[np.float64],
    n_bits: int,
    joins: NDArray[np.float64],
    beside: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    """Fill ``A``, ``B`` and the label's sum for every code, K coefficients each.

    Parameters
    ----------
    coefficients : ndarray of shape (2^d, K)
    n_bits : int
        The number d of columns on the path.
    joins : ndarray
        ``p(s; d)``, for a column that joins s others.
    beside : ndarray
        ``p(s; d + 1)``, for the label that joins s columns; empty where it is not valued.
    sums : ndarray of shape (2^d, 2 K or 3 K)
        Receives them.
    """
    count = coefficients.shape[1]
    for q in range(1 << n_bits):
        size = 0
        rest = q
        while rest:
            rest &= rest - 1
            size += 1
        with_it = joins[size - 1] if size else 0.0
        without = joins[size] if size < n_bits else 0.0
        for k in range(count):
            sums[q, k] = without * coefficients[q, k]
            sums[q, count + k] = with_it * coefficients[q, k]
            if beside.size:
                sums[q, 2 * count + k] = beside[size] * coefficients[q, k]
    add_subsets(sums[: 1 << n_bits], n_bits)


@numba.njit(nogil=True, cache=CACHE)
def cell_values(
    sums: NDArray[np.float64],
    n_bits: int,
    kinds: int,
    labelled: bool,
    met: NDArray[np.bool_],
    worth: NDArray[np.float64],
) -> None:
    """Fill the coefficients of a row's cells for every code, from :func:`sum_over_subsets`.

    Parameters
    ----------
    sums : ndarray of shape (2^d, 2 K or 3 K)
    n_bits, kinds : int
        The numbers d of columns and K of coefficients.
    labelled : bool
        Whether the label is valued too.
    met : ndarray of bool of shape (2^d,)
        The codes that rows have; of long paths most have none.
    worth : ndarray of shape (2^d, K, at least d or d + 1)
        Receives them, the label's after those of the columns.
    """
    for q in range(1 << n_bits):
        if not met[q]:
            continue
        for k in range(kinds):
            for j in range(n_bits):
                bit = 1 << j
                if q & bit:
                    low = q ^ bit
                    worth[q, k, j] = sums[q, kinds + k] - sums[low, kinds + k] - sums[low, k]
                else:
                    worth[q, k, j] = -sums[q, k]
            if labelled:
                worth[q, k, n_bits] = sums[q, 2 * kinds + k]
