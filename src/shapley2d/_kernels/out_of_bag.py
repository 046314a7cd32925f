"""One tree on a bootstrap of the rows: what it says of the rows out of bag, and how close they are to their class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._kernels.cart import is_pure, leaf_prediction, part_rows, part_valid
from shapley2d._kernels.cart_splits import best_binary, best_classes, best_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDING = 1e-9  # distances over columns of variance 1 that differ by less do so by rounding


@numba.njit(nogil=True, cache=True)
def predict_out_of_bag(
    presorted: tuple[Any, ...],
    target: tuple[Any, ...],
    counts: NDArray[np.int64],
    active: NDArray[np.intp],
    predicted: NDArray[np.float64],
) -> None:
    """Grow a tree on the rows in the bag and predict the others.

    It is the tree of the built-in sweep: scikit-learn's defaults, grown only where a row out of bag falls. Of equally
    good splits the one on the first of the ``active`` columns wins, then the lowest threshold.

    Parameters
    ----------
    presorted : tuple
        Values of every column (p, n), and all rows sorted by every column.
    target : tuple
        Class codes, labels as numbers, and the number of classes, 0 in regression.
    counts : ndarray of shape (n,)
        How often the bootstrap has drawn each row.
    active : ndarray
        Columns that the tree may use.
    predicted : ndarray of shape (n,)
        Receives the predictions; left alone where a row is in the bag.
    """
    values, all_sorted = presorted
    codes, labels, n_classes = target
    n_rows, size = counts.size, counts.sum()
    work = np.empty((active.size, size), np.int32)  # the bag sorted by every column, rows as often as drawn
    for k in range(active.size):
        _fill_bag(all_sorted[active[k]], counts, work[k])
    below = np.flatnonzero(counts == 0).astype(np.int32)
    goes_left, spare = np.zeros(n_rows, np.uint8), np.empty(max(size, n_rows), np.int32)
    left, right = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    inverse = 1.0 / np.maximum(np.arange(size + 1), 1)
    stack = np.empty((size + 1, 4), np.int64)  # of nodes: a stretch of every line of work, and one of below
    depth = _push(stack, 0, 0, size, 0, below.size)
    while depth:
        depth -= 1
        start, stop, low, high = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        if low == high:
            continue
        node = work[:, start:stop]
        best, position = -1, -1
        if not is_pure(node[0], labels):
            if n_classes == 2:
                best, position = best_binary(values, codes, node, active, inverse)
            elif n_classes:
                best, position = best_classes(values, codes, node, active, inverse, left, right)
            else:
                best, position = best_numbers(values, labels, node, active, inverse)
        if best < 0:
            leaf = leaf_prediction(node[0], labels, n_classes, left)
            for i in range(low, high):
                predicted[below[i]] = leaf
            continue
        line, column = node[best], active[best]
        lower = np.float64(values[column, line[position - 1]])
        upper = np.float64(values[column, line[position]])
        threshold = lower / 2.0 + upper / 2.0
        if threshold >= upper:
            threshold = lower
        middle = low + part_valid(values[column], threshold, below[low:high], spare)
        for i in range(line.size):
            goes_left[line[i]] = i < position
        for k in range(active.size):
            # a column that is constant here stays so below and is never split: its rows need no order, but for the
            # first line, which also stands for the node's rows
            if k != best and (k == 0 or values[active[k], node[k, 0]] != values[active[k], node[k, -1]]):
                part_rows(node[k], goes_left, spare, middle == low, middle == high)
        depth = _push(stack, depth, start, start + position, low, middle)
        depth = _push(stack, depth, start + position, stop, middle, high)


@numba.njit(nogil=True, cache=True)
def _push(stack: NDArray[np.int64], depth: int, start: int, stop: int, low: int, high: int) -> int:
    """Put a node on the stack; how many are on it then."""
    stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3] = start, stop, low, high
    return depth + 1


@numba.njit(nogil=True, cache=True)
def _fill_bag(order: NDArray[np.int32], counts: NDArray[np.int64], out: NDArray[np.int32]) -> None:
    """Rows in the bag, in the order of all rows, each as often as it was drawn."""
    filled = 0
    for i in range(order.size):
        row = order[i]
        for _ in range(counts[row]):
            out[filled] = row
            filled += 1


@numba.njit(nogil=True, cache=True)
def add_closeness(
    scaled: NDArray[np.float64],
    target: tuple[Any, ...],
    counts: NDArray[np.int64],
    active: NDArray[np.intp],
    scores: NDArray[np.float64],
) -> None:
    """Add to every row's score how close it is to the mean of its class in the bag.

    With d the Euclidean distance over the ``active`` columns, it is (max d - d) / (max d - min d), the extremes being
    those of the rows in the bag: 1 for a row as close as the closest of them, 0 for one as far as the farthest, less
    beyond. Where all are equally far, each is as close as the closest. A row whose class is not in the bag is
    measured from the mean of all of it.
    """
    codes, _, n_classes = target
    n_rows, width = counts.size, active.size
    means, sizes = np.zeros((n_classes + 1, width)), np.zeros(n_classes + 1)
    for i in range(n_rows):
        c = codes[i]
        sizes[c] += counts[i]
        for k in range(width):
            means[c, k] += counts[i] * scaled[active[k], i]
    sizes[n_classes] = n_rows
    for c in range(n_classes):
        means[n_classes] += means[c]
    for c in range(n_classes + 1):
        for k in range(width):
            means[c, k] /= max(sizes[c], 1.0)
    distances = np.zeros(n_rows)
    nearest, farthest = np.inf, 0.0
    for i in range(n_rows):
        c = codes[i] if sizes[codes[i]] else n_classes
        for k in range(width):
            distances[i] += (scaled[active[k], i] - means[c, k]) ** 2
        distances[i] = np.sqrt(distances[i])
        if counts[i]:
            nearest, farthest = min(nearest, distances[i]), max(farthest, distances[i])
    if farthest - nearest > _ROUNDING:
        scores += (farthest - distances) / (farthest - nearest)
    else:
        scores += 1.0
