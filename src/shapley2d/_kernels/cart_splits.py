"""The best split of a node, whose rows stand sorted by every column: one pass over each.

Of equally good splits the first column's wins, then the lowest threshold; a later one must be
better by more than rounding can explain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE

if TYPE_CHECKING:
    from numpy.typing import NDArray

_APART = np.float64(1e-7)  # values closer than this are not split, as in scikit-learn
_TIED_CLASSES, _TIED_NUMBERS = 1.0 + 1e-12, 1.0 + 1e-9


@numba.njit(nogil=True, cache=CACHE)
def best_binary(
    values: NDArray[np.float32],
    codes: NDArray[np.int32],
    work: NDArray[np.int32],
    active: NDArray[np.intp],
    inverse: NDArray[np.float64],
) -> tuple[int, int]:
    """The split with the least Gini impurity of two classes: a column's place in ``work``, and the rows left of it.

    With l rows left, a of them of the second class, the sum of squared counts over l is l - 2 a (l
    - a) / l; so the least of a (l - a) / l over both sides is sought.
    """
    size = work.shape[1]
    ones = 0
    for i in range(size):
        ones += codes[work[0, i]]
    best, position, least = -1, -1, np.inf
    for k in range(active.size):
        order, x = work[k], values[active[k]]
        previous = np.float64(x[order[0]])
        if np.float64(x[order[size - 1]]) <= previous + _APART:
            continue
        a = codes[order[0]]
        for i in range(1, size):
            row = order[i]
            value = np.float64(x[row])
            if value > previous + _APART:
                b = ones - a
                impurity = a * (i - a) * inverse[i] + b * (size - i - b) * inverse[size - i]
                if impurity * _TIED_CLASSES < least:
                    best, position, least = k, i, impurity
            previous = value
            a += codes[row]
    return best, position


@numba.njit(nogil=True, cache=CACHE)
def best_classes(
    values: NDArray[np.float32],
    codes: NDArray[np.int32],
    work: NDArray[np.int32],
    active: NDArray[np.intp],
    inverse: NDArray[np.float64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
) -> tuple[int, int]:
    """The split with the largest sum, over both sides, of squared class counts over the number of rows."""
    size = work.shape[1]
    best, position, most = -1, -1, -1.0
    for k in range(active.size):
        order, x = work[k], values[active[k]]
        previous = np.float64(x[order[0]])
        if np.float64(x[order[size - 1]]) <= previous + _APART:
            continue
        left[:] = 0
        right[:] = 0
        for i in range(size):
            right[codes[order[i]]] += 1
        left_squares, right_squares = 0, 0
        for c in range(right.size):
            right_squares += right[c] * right[c]
        for i in range(size):
            row = order[i]
            value = np.float64(x[row])
            if i and value > previous + _APART:
                purity = left_squares * inverse[i] + right_squares * inverse[size - i]
                if purity > most * _TIED_CLASSES:
                    best, position, most = k, i, purity
            previous = value
            c = codes[row]
            left_squares += 2 * left[c] + 1
            right_squares -= 2 * right[c] - 1
            left[c] += 1
            right[c] -= 1
    return best, position


@numba.njit(nogil=True, cache=CACHE)
def best_numbers(
    values: NDArray[np.float32],
    labels: NDArray[np.float64],
    work: NDArray[np.int32],
    active: NDArray[np.intp],
    inverse: NDArray[np.float64],
) -> tuple[int, int]:
    """The split that takes most off the squared error: the squared sum of the left side's deviations, weighed."""
    size = work.shape[1]
    mean = 0.0
    for i in range(size):
        mean += labels[work[0, i]]
    mean /= size
    best, position, most = -1, -1, -1.0
    for k in range(active.size):
        order, x = work[k], values[active[k]]
        previous = np.float64(x[order[0]])
        if np.float64(x[order[size - 1]]) <= previous + _APART:
            continue
        total = labels[order[0]] - mean
        for i in range(1, size):
            row = order[i]
            value = np.float64(x[row])
            if value > previous + _APART:
                gain = total * total * inverse[i] * inverse[size - i]
                if gain > most * _TIED_NUMBERS:
                    best, position, most = k, i, gain
            previous = value
            total += labels[row] - mean
    return best, position
