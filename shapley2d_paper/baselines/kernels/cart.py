"""A CART on presorted columns that takes the validation rows along and grows only where they fall.

Of equally good splits the first column's wins, then the lowest threshold; a later one must be
better by more than rounding can explain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray  # noqa: TC002  (numba reads the named tuples' annotations)

from shapley2d._base.cache import CACHE

_APART = np.float64(1e-7)  # values closer than this are not split, as in scikit-learn
_TIED_CLASSES, _TIED_NUMBERS = 1.0 + 1e-12, 1.0 + 1e-9  # better by less is a tie: rounding


class Scratch(NamedTuple):
    """Room for :func:`grow_tree` to work in."""

    goes_left: NDArray[np.uint8]
    spare: NDArray[np.int32]
    spare_valid: NDArray[np.int32]
    stack: NDArray[np.int64]
    inverse: NDArray[np.float64]


class Leaves(NamedTuple):
    """Where :func:`grow_tree` notes the leaves in which validation rows end.

    Attributes
    ----------
    stretches : ndarray of shape (L, 2)
        The validation rows of leaf l are ``below[stretches[l, 0] : stretches[l, 1]]``.
    predictions : ndarray of shape (L,)
    """

    stretches: NDArray[np.int64]
    predictions: NDArray[np.float64]


@numba.njit(nogil=True, cache=CACHE)
def make_scratch(size: int, n_valid: int) -> tuple[Leaves, Scratch]:
    """Room for trees of ``size`` training rows, with repeats, and ``n_valid`` validation rows."""
    leaves = Leaves(np.empty((size + 1, 2), np.int64), np.empty(size + 1))
    scratch = Scratch(
        np.zeros(size, np.uint8),
        np.empty(size, np.int32),
        np.empty(n_valid, np.int32),
        np.empty((size + 1, 4), np.int64),
        1.0 / np.maximum(np.arange(size + 1), 1),
    )
    return leaves, scratch


@numba.njit(nogil=True, cache=CACHE)
def grow_tree(
    values: NDArray[np.float32],
    target: tuple[Any, ...],
    work: NDArray[np.int32],
    active: NDArray[np.intp],
    valid: NDArray[np.float32],
    below: NDArray[np.int32],
    leaves: Leaves,
    scratch: Scratch,
    averages: bool,
) -> int:
    """Grow one tree where validation rows fall; how many leaves they end in.

    Scikit-learn's defaults: a node is split until it is pure or none of its columns varies. Of
    equally good splits the one on the first of the ``active`` columns wins, then the lowest
    threshold.

    Parameters
    ----------
    values : ndarray of shape (p, n)
    target : tuple
        Class codes, labels as numbers, and the number of classes, 0 in regression.
    work : ndarray of shape (columns, size)
        The training rows sorted by each of the ``active`` columns; a row may come several times. It
        is overwritten.
    active : ndarray
        Columns that the tree may use.
    valid : ndarray of shape (p, T)
    below : ndarray
        The validation rows, which are put into the order of the leaves.
    leaves : Leaves
        Receives the leaves.
    scratch : Scratch
    averages : bool
        Whether a pure leaf of numbers predicts the sum of its labels divided by their number, as
        any other leaf, or the label itself. The two differ by rounding.

    Notes
    -----
    A node is a stretch of every ordering in ``work`` (its rows, sorted by that column) and a
    stretch of ``below`` (the validation rows in it).
    """
    codes, labels, n_classes = target
    goes_left, spare, spare_valid, stack, inverse = scratch
    stretches, predictions = leaves
    left, right = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    count = 0
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 0, work.shape[1], 0, below.size
    depth = 1
    while depth:
        depth -= 1
        start, stop, low, high = stack[depth, 0], stack[depth, 1], stack[depth, 2], stack[depth, 3]
        if low == high:
            continue
        best, position = -1, -1
        if not is_pure(work[0, start:stop], labels):
            if n_classes == 2:
                best, position = best_binary(values, codes, work[:, start:stop], active, inverse)
            elif n_classes:
                best, position = best_classes(
                    values, codes, work[:, start:stop], active, inverse, left, right
                )
            else:
                best, position = best_numbers(values, labels, work[:, start:stop], active, inverse)
        if best < 0:
            predictions[count] = leaf_prediction(work[0, start:stop], labels, n_classes, left)
            stretches[count, 0], stretches[count, 1] = low, high
            count += 1
            continue
        order, column = work[best, start:stop], active[best]
        threshold = split_threshold(
            values[column, order[position - 1]], values[column, order[position]]
        )
        middle = low + part_valid(valid[column], threshold, below[low:high], spare_valid)
        left_ends = middle == low or is_pure(order[:position], labels)
        right_ends = middle == high or is_pure(order[position:], labels)
        if left_ends and middle > low:
            predictions[count] = pure_prediction(order[:position], labels, averages)
            stretches[count, 0], stretches[count, 1] = low, middle
            count += 1
        if right_ends and middle < high:
            predictions[count] = pure_prediction(order[position:], labels, averages)
            stretches[count, 0], stretches[count, 1] = middle, high
            count += 1
        if left_ends and right_ends:
            continue
        for i in range(position):
            goes_left[order[i]] = 1
        for i in range(position, order.size):
            goes_left[order[i]] = 0
        for k in range(active.size):
            if k == best:
                continue
            # a column that is constant here stays so below and is never split, so that its rows
            # need no order; but the first column's also stand for the node's rows
            other = active[k]
            if k == 0 or values[other, work[k, start]] != values[other, work[k, stop - 1]]:
                part_rows(work[k, start:stop], goes_left, spare, left_ends, right_ends)
        if not left_ends:
            stack[depth, 0], stack[depth, 1] = start, start + position
            stack[depth, 2], stack[depth, 3] = low, middle
            depth += 1
        if not right_ends:
            stack[depth, 0], stack[depth, 1] = start + position, stop
            stack[depth, 2], stack[depth, 3] = middle, high
            depth += 1
    return count


@numba.njit(nogil=True, cache=CACHE)
def pure_prediction(rows: NDArray[np.int32], labels: NDArray[np.float64], averages: bool) -> float:
    """What a leaf of equal labels predicts: their mean, with its rounding, or the label itself."""
    if not averages:
        return float(labels[rows[0]])
    total = 0.0
    for i in range(rows.size):
        total += labels[rows[i]]
    return total / rows.size


@numba.njit(nogil=True, cache=CACHE)
def split_threshold(lower: float, upper: float) -> float:
    """Halfway between two neighbouring 32-bit values; the lower one if that rounds to the upper."""
    low, high = np.float64(lower), np.float64(upper)
    threshold = low / 2.0 + high / 2.0
    return low if threshold >= high else threshold


@numba.njit(nogil=True, cache=CACHE)
def score_leaves(
    leaves: Leaves,
    count: int,
    below: NDArray[np.int32],
    labels_valid: NDArray[np.float64],
    n_classes: int,
) -> float:
    """Right answers, or the squared error, of the first ``count`` leaves, added up leaf by leaf."""
    score = 0.0
    for leaf in range(count):
        total = 0.0
        for i in range(leaves.stretches[leaf, 0], leaves.stretches[leaf, 1]):
            off = labels_valid[below[i]] - leaves.predictions[leaf]
            if n_classes:
                total += 1.0 if off == 0.0 else 0.0
            else:
                total += off * off
        score += total
    return score


@numba.njit(nogil=True, cache=CACHE)
def is_pure(rows: NDArray[np.int32], labels: NDArray[np.float64]) -> bool:
    """Whether all rows have one label."""
    first = labels[rows[0]]
    for i in range(1, rows.size):  # noqa: SIM110  (a loop compiles to less than all() does)
        if labels[rows[i]] != first:
            return False
    return True


@numba.njit(nogil=True, cache=CACHE)
def leaf_prediction(
    rows: NDArray[np.int32], labels: NDArray[np.float64], n_classes: int, counts: NDArray[np.int64]
) -> float:
    """What a leaf predicts: its most frequent class, or its mean."""
    if not n_classes:
        total = 0.0
        for i in range(rows.size):
            total += labels[rows[i]]
        return total / rows.size
    counts[:] = 0
    for i in range(rows.size):
        counts[int(labels[rows[i]])] += 1
    return float(np.argmax(counts))


@numba.njit(nogil=True, cache=CACHE)
def part_valid(
    x: NDArray[np.float32], threshold: float, below: NDArray[np.int32], spare: NDArray[np.int32]
) -> int:
    """Validation rows up to the threshold first; how many they are."""
    first, second = 0, 0
    for i in range(below.size):
        row = below[i]
        if np.float64(x[row]) <= threshold:
            below[first] = row
            first += 1
        else:
            spare[second] = row
            second += 1
    below[first:] = spare[:second]
    return first


@numba.njit(nogil=True, cache=CACHE)
def part_rows(
    rows: NDArray[np.int32],
    goes_left: NDArray[np.uint8],
    spare: NDArray[np.int32],
    left_ends: bool,
    right_ends: bool,
) -> None:
    """Rows that go left first, both sides still sorted; a side that ends here is not written."""
    first, second = 0, 0
    if right_ends:
        for i in range(rows.size):
            row = rows[i]
            rows[first] = row
            first += goes_left[row]
    elif left_ends:
        last = rows.size - 1
        for i in range(rows.size - 1, -1, -1):
            row = rows[i]
            rows[last] = row
            last -= 1 - goes_left[row]
    else:
        for i in range(rows.size):
            row = rows[i]
            is_left = goes_left[row]
            rows[first] = row
            spare[second] = row
            first += is_left
            second += 1 - is_left
        rows[first:] = spare[:second]


@numba.njit(nogil=True, cache=CACHE)
def best_binary(
    values: NDArray[np.float32],
    codes: NDArray[np.int32],
    work: NDArray[np.int32],
    active: NDArray[np.intp],
    inverse: NDArray[np.float64],
) -> tuple[int, int]:
    """The split with the least Gini impurity of two classes: a place in ``work``, and rows left.

    With l rows left, a of them of the second class, the sum of squared counts over l is
    l - 2 a (l - a) / l; so the least of a (l - a) / l over both sides is sought.
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
    """The split with the largest sum, over both sides, of squared class counts over rows."""
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
    """The split that removes most squared error: by the left side's summed deviations, weighed."""
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
