"""Scores inside the kernels: right answers of a classifier, R squared of a regression."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from shapley2d._kernels.cache import CACHE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@numba.njit(nogil=True, cache=CACHE)
def count_right(
    scores: NDArray[np.float64],
    present: NDArray[np.int64],
    n_present: int,
    blocks: NDArray[np.int64],
    right: NDArray[np.uint8],
) -> int:
    """Validation rows whose class has the largest score, the first of equal ones winning.

    Parameters
    ----------
    scores : ndarray of shape (n_classes, T)
    present : ndarray
        The classes that training shows, ascending, in its first ``n_present`` places.
    blocks : ndarray of shape (n_classes + 1,)
        The validation rows of class c are ``blocks[c] .. blocks[c + 1] - 1``.
    right : ndarray of shape (T,)
        Room to work in.
    """
    count = 0
    for a in range(n_present):
        own = present[a]
        start, stop = blocks[own], blocks[own + 1]
        right[start:stop] = 1
        for b in range(n_present):
            other = present[b]
            if b < a:
                for t in range(start, stop):
                    right[t] &= scores[own, t] > scores[other, t]
            elif b > a:
                for t in range(start, stop):
                    right[t] &= scores[own, t] >= scores[other, t]
        for t in range(start, stop):
            count += right[t]
    return count


@numba.njit(nogil=True, cache=CACHE, fastmath={"contract", "reassoc", "nsz"})
def squared_error(predictions: NDArray[np.float64], targets: NDArray[np.float64]) -> float:
    """Sum of squared differences."""
    total = 0.0
    for t in range(targets.size):
        off = predictions[t] - targets[t]
        total += off * off
    return total


@numba.njit(nogil=True, cache=CACHE)
def r_squared(error: float, spread: float) -> float:
    """R squared from the squared error and that of the mean; for constant targets 1 if exact, else 0."""
    if spread > 0.0:
        return 1.0 - error / spread
    return 1.0 if error == 0.0 else 0.0
