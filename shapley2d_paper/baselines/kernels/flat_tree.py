"""A tree after each cell that joins: the cell moves one row within the order of its column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._base.cache import CACHE
from shapley2d_paper.baselines.kernels.cart import grow_tree, make_scratch, score_leaves

if TYPE_CHECKING:
    from numpy.typing import NDArray


@numba.njit(nogil=True, cache=CACHE)
def follow_cells(
    tables: tuple[Any, ...],
    target: tuple[Any, ...],
    valid: NDArray[np.float32],
    labels_valid: NDArray[np.float64],
    order: NDArray[np.intp],
    start: int,
    out: NDArray[np.float64],
) -> None:
    """Grow a tree after each cell that joins from position ``start`` on.

    Parameters
    ----------
    tables : tuple
        The entries of every encoded column (p, n), what stands in for them (p,), and where the
        encoded columns of every column of the table begin (m + 1,).
    target : tuple
        Class codes, labels as numbers, and the number of classes, 0 in regression.
    valid, labels_valid : ndarray of shape (p, T) and (T,)
    order : ndarray
        Players, ``row * m + column``.
    start : int
    out : ndarray
        Receives the results.
    """
    entries, absent, starts = tables
    width, n_rows = entries.shape
    n_columns, n_valid = starts.size - 1, valid.shape[1]
    now = np.empty_like(entries)
    sorted_rows = np.empty((width, n_rows), np.int32)
    for k in range(width):
        now[k] = absent[k]
        sorted_rows[k] = np.arange(n_rows)
    work = np.empty((width, n_rows), np.int32)
    leaves, scratch = make_scratch(n_rows, n_valid)
    below, every = np.empty(n_valid, np.int32), np.arange(n_valid).astype(np.int32)
    active = np.empty(width, np.intp)
    changed = True
    for position in range(order.size + 1):
        if position >= start:
            if changed:
                n_active = 0
                for k in range(width):  # a column that does not vary cannot be split
                    by_column = sorted_rows[k]
                    if now[k, by_column[0]] < now[k, by_column[n_rows - 1]]:
                        active[n_active] = k
                        work[n_active] = by_column
                        n_active += 1
                if n_active == 0:
                    active[0], work[0], n_active = 0, sorted_rows[0], 1
                below[:] = every
                part, used = work[:n_active], active[:n_active]
                count = grow_tree(now, target, part, used, valid, below, leaves, scratch, False)
                out[position - start] = score_leaves(leaves, count, below, labels_valid, target[2])
            else:
                out[position - start] = out[position - start - 1]
        if position < order.size:
            row, column = order[position] // n_columns, order[position] % n_columns
            changed = position < start
            for k in range(starts[column], starts[column + 1]):
                if entries[k, row] != now[k, row]:
                    changed = True
                    _move(sorted_rows[k], now[k], row, entries[k, row])


@numba.njit(nogil=True, cache=CACHE)
def _move(order: NDArray[np.int32], x: NDArray[np.float32], row: int, value: float) -> None:
    """Give a row another value, and put it where it belongs among the rows sorted by value."""
    at = 0
    while order[at] != row:
        at += 1
    x[row] = value
    while at > 0 and x[order[at - 1]] > value:
        order[at] = order[at - 1]
        at -= 1
    while at < order.size - 1 and x[order[at + 1]] < value:
        order[at] = order[at + 1]
        at += 1
    order[at] = row
