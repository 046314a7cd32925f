"""Trees for all prefixes of rows and columns; a coalition's rows stay sorted by every column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._base.cache import CACHE
from shapley2d_paper.baselines.kernels.cart import grow_tree, make_scratch, score_leaves

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MANY = 16  # if more than 1 / 16 of all rows join, one pass over all beats inserting each


@numba.njit(nogil=True, cache=CACHE)
def fill_grid(
    presorted: tuple[Any, ...],
    target: tuple[Any, ...],
    valid: NDArray[np.float32],
    labels_valid: NDArray[np.float64],
    chain: tuple[Any, ...],
    grid: NDArray[np.float64],
) -> None:
    """Right answers, or the sum of squared errors, for all prefixes of rows and columns.

    Parameters
    ----------
    presorted : tuple
        Values of every column (p, n), all rows sorted by every column, and every row's rank in
        every column.
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
    members = np.empty((width, n_rows), np.int32)  # of the coalition, sorted by every column
    work = np.empty((width, n_rows), np.int32)
    leaves, scratch = make_scratch(n_rows, n_valid)
    below = np.empty(n_valid, np.int32)
    active = np.empty(width, np.intp)
    joined = 0
    for a in range(sizes.size):
        joining = sizes[a] - joined
        for i in range(joined, sizes[a]):
            member[rows[i]] = True
        if joining * _MANY > n_rows:
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
            part, used = work[: ends[b], :joined], active[: ends[b]]
            count = grow_tree(values, target, part, used, valid, below, leaves, scratch, False)
            grid[a, b] = score_leaves(leaves, count, below, labels_valid, target[2])


@numba.njit(nogil=True, cache=CACHE)
def _filter(order: NDArray[np.int32], member: NDArray[np.bool_], out: NDArray[np.int32]) -> None:
    """Members in the order of all rows."""
    count = 0
    for i in range(order.size):
        if member[order[i]]:
            out[count] = order[i]
            count += 1


@numba.njit(nogil=True, cache=CACHE)
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
