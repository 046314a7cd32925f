"""A CART on presorted columns that carries the validation rows down with it and grows only where they fall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._kernels.cart_splits import best_binary, best_classes, best_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray


@numba.njit(nogil=True, cache=True)
def fill_grid(
    presorted: tuple[Any, ...],
    target: tuple[Any, ...],
    valid: NDArray[np.float32],
    labels_valid: NDArray[np.float64],
    chain: tuple[Any, ...],
    grid: NDArray[np.float64],
) -> None:
    """Validation rows predicted right, or the sum of squared errors, for all prefixes of rows and columns.

    Parameters
    ----------
    presorted : tuple
        Values of every column (p, n), all rows sorted by every column, and every row's rank in every column.
    target : tuple
        Class codes, labels as numbers, and the number of classes, 0 in regression.
    valid, labels_valid : ndarray of shape (p, T) and (T,)
    chain : tuple
        Rows and columns in the order in which they join, with the lengths of the prefixes.
    grid : ndarray
        Receives the results.
    """
    values, all_sorted, ranks = presorted
    rows, sizes, columns, ends = chain
    n_rows, width, n_valid = values.shape[1], columns.size, valid.shape[1]
    member = np.zeros(n_rows, np.bool_)
    members = np.empty((width, n_rows), np.int32)  # members of the coalition, sorted by every column
    work = np.empty((width, n_rows), np.int32)
    inverse = 1.0 / np.maximum(np.arange(n_rows + 1), 1)
    scratch = (
        np.zeros(n_rows, np.uint8),
        np.empty(n_rows, np.int32),
        np.empty(n_valid, np.int32),
        np.empty((n_rows + 1, 4), np.int64),
        inverse,
    )
    below = np.empty(n_valid, np.int32)
    active = np.empty(width, np.intp)
    joined = 0
    for a in range(sizes.size):
        joining = sizes[a] - joined
        for i in range(joined, sizes[a]):
            member[rows[i]] = True
        if joining * 16 > n_rows:
            for k in range(width):
                _filter(all_sorted[columns[k]], member, members[k])
        else:
            for i in range(joined, sizes[a]):
                for k in range(width):
                    _insert(members[k], i, rows[i], ranks[columns[k]])
        joined = sizes[a]
        for b in range(ends.size):
            order = np.argsort(columns[: ends[b]])
            for k in range(ends[b]):
                active[k] = columns[order[k]]
                work[k, :joined] = members[order[k], :joined]
            for t in range(n_valid):
                below[t] = t
            grid[a, b] = grow_tree(
                values,
                target,
                work[: ends[b], :joined],
                active[: ends[b]],
                valid,
                labels_valid,
                below,
                scratch,
            )


@numba.njit(nogil=True, cache=True)
def _filter(order: NDArray[np.int32], member: NDArray[np.bool_], out: NDArray[np.int32]) -> None:
    """Members in the order of all rows."""
    count = 0
    for i in range(order.size):
        if member[order[i]]:
            out[count] = order[i]
            count += 1


@numba.njit(nogil=True, cache=True)
def _insert(order: NDArray[np.int32], count: int, row: int, ranks: NDArray[np.int32]) -> None:
    """Put one more row into a sorted list of ``count`` rows."""
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        if ranks[order[middle]] < ranks[row]:
            low = middle + 1
        else:
            high = middle
    for i in range(count, low, -1):
        order[i] = order[i - 1]
    order[low] = row


@numba.njit(nogil=True, cache=True)
def grow_tree(
    values: NDArray[np.float32],
    target: tuple[Any, ...],
    work: NDArray[np.int32],
    active: NDArray[np.intp],
    valid: NDArray[np.float32],
    labels_valid: NDArray[np.float64],
    below: NDArray[np.int32],
    scratch: tuple[Any, ...],
) -> float:
    """Grow one tree where validation rows fall, and score it on them.

    A node is a stretch of every line of ``work`` (its rows, sorted by that column) and a stretch of ``below`` (the
    validation rows in it).
    """
    codes, labels, n_classes = target
    goes_left, spare, spare_valid, stack, inverse = scratch
    left, right = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    score = 0.0
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
            leaf = leaf_prediction(work[0, start:stop], labels, n_classes, left)
            score += _score(leaf, labels_valid, below[low:high], n_classes)
            continue
        line, column = work[best, start:stop], active[best]
        lower = np.float64(values[column, line[position - 1]])
        upper = np.float64(values[column, line[position]])
        threshold = lower / 2.0 + upper / 2.0
        if threshold >= upper:
            threshold = lower
        middle = low + part_valid(valid[column], threshold, below[low:high], spare_valid)
        left_ends = middle == low or is_pure(line[:position], labels)
        right_ends = middle == high or is_pure(line[position:], labels)
        if left_ends and middle > low:
            leaf = labels[line[0]]
            score += _score(leaf, labels_valid, below[low:middle], n_classes)
        if right_ends and middle < high:
            leaf = labels[line[position]]
            score += _score(leaf, labels_valid, below[middle:high], n_classes)
        if left_ends and right_ends:
            continue
        for i in range(position):
            goes_left[line[i]] = 1
        for i in range(position, stop - start):
            goes_left[line[i]] = 0
        for k in range(active.size):
            if k != best:
                part_rows(work[k, start:stop], goes_left, spare, left_ends, right_ends)
        if not left_ends:
            stack[depth, 0], stack[depth, 1] = start, start + position
            stack[depth, 2], stack[depth, 3] = low, middle
            depth += 1
        if not right_ends:
            stack[depth, 0], stack[depth, 1] = start + position, stop
            stack[depth, 2], stack[depth, 3] = middle, high
            depth += 1
    return score


@numba.njit(nogil=True, cache=True)
def is_pure(rows: NDArray[np.int32], labels: NDArray[np.float64]) -> bool:
    """Whether all rows have one label."""
    first = labels[rows[0]]
    for i in range(1, rows.size):  # noqa: SIM110  (a loop compiles to less than all() does)
        if labels[rows[i]] != first:
            return False
    return True


@numba.njit(nogil=True, cache=True)
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


@numba.njit(nogil=True, cache=True)
def _score(leaf: float, labels_valid: NDArray[np.float64], below: NDArray[np.int32], n_classes: int) -> float:
    """Right answers, or the squared error, of one prediction for some validation rows."""
    total = 0.0
    for i in range(below.size):
        off = labels_valid[below[i]] - leaf
        if n_classes:
            total += 1.0 if off == 0.0 else 0.0
        else:
            total += off * off
    return total


@numba.njit(nogil=True, cache=True)
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


@numba.njit(nogil=True, cache=True)
def part_rows(
    rows: NDArray[np.int32],
    goes_left: NDArray[np.uint8],
    spare: NDArray[np.int32],
    left_ends: bool,
    right_ends: bool,
) -> None:
    """Rows that go left first, both sides still sorted; a side that ends here need not be written."""
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
