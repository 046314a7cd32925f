"""Scores inside the kernels: the weight of right answers, and squared errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from shapley2d._base.cache import CACHE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@numba.njit(nogil=True, cache=CACHE)
def weight_right(
    scores: NDArray[np.float64],
    present: NDArray[np.int64],
    n_present: int,
    blocks: NDArray[np.int64],
    weights: NDArray[np.float64],
    right: NDArray[np.uint8],
) -> float:
    """The weight of validation rows whose class has the largest score, the first winning ties.

    ``scores`` (n_classes, T).
    ``present``: the classes that training shows, ascending, in its first ``n_present`` places.
    ``blocks`` (n_classes + 1,): the validation rows of class c are ``blocks[c] .. blocks[c + 1] -
        1``.
    ``right`` (T,): room to work in.
    """
    total = 0.0
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
            total += weights[t] * right[t]
    return total


@numba.njit(nogil=True, cache=CACHE, fastmath={"contract", "reassoc", "nsz"})
def squared_error(
    predictions: NDArray[np.float64], targets: NDArray[np.float64], weights: NDArray[np.float64]
) -> float:
    """Sum of squared differences times weights."""
    total = 0.0
    for t in range(targets.size):
        off = predictions[t] - targets[t]
        total += weights[t] * (off * off)
    return total
