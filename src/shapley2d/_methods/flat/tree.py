"""A decision tree in the game of all cells: a cell that joins moves one row within the order of its column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._games.sweeps.base import class_blocks
from shapley2d._games.sweeps.tree import r_squared, tree_target
from shapley2d._kernels.cart import grow_tree
from shapley2d._methods.flat.built_in import BuiltInGame
from shapley2d._methods.flat.fill import encode_cells
from shapley2d._tables.encoding import as_float32

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.problem import Split


class FlatTree(BuiltInGame):
    """Accuracy or R squared of a fully grown CART trained on all rows, of which only some cells are known.

    The tree is that of :class:`~shapley2d._games.sweeps.tree.TreeSweep`, its rule for equally good splits included. An
    entry that is missing, in either table, is what stands in for absent cells of its column; a missing category is none
    of the known ones.

    Parameters
    ----------
    split : Split
    truncation : float or None
        Along an order of the cells, once the utility is within ``truncation`` of that of all cells, train no more.

    Examples
    --------
    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[0], [1], [4], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> game = FlatTree(split)
    >>> game.none, game.all
    (0.5, 1.0)
    >>> game.along(np.array([3, 0, 2, 1]))
    array([0.5 , 0.75, 0.75, 1.  , 1.  ])
    """

    def __init__(self, split: Split, *, truncation: float | None = None) -> None:
        self.classifies = split.y.task == "classification"
        self._n_valid = split.valid.n_rows
        self._codes, self._labels, self._n_classes, self._labels_valid, self._spread = tree_target(split)
        cells = encode_cells(split.train, split.valid, keep_missing=False)
        valid = cells.valid[class_blocks(split)[0]] if self.classifies else cells.valid
        self._values, self._values_valid = as_float32(cells.train.T), as_float32(valid.T)
        self._absent = as_float32(cells.absent)
        self._starts = cells.starts
        super().__init__(split, truncation, self._n_valid if self.classifies else self._spread)

    def _raw(self, order: NDArray[np.intp], start: int) -> NDArray[np.float64]:
        """Right answers, or squared errors, from the coalition of the first ``start`` cells on."""
        out = np.empty(order.size - start + 1)
        order = np.ascontiguousarray(order)  # one layout, compiled once
        target = (self._codes, self._labels, self._n_classes)
        tables = (self._values, self._absent, self._starts)
        stop = (self._aim, self._within)
        _follow(tables, target, self._values_valid, self._labels_valid, order, start, stop, out)
        return out

    def _scores(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        return raw / self._n_valid if self.classifies else r_squared(raw, self._spread)


@numba.njit(nogil=True, cache=True)
def _follow(
    tables: tuple[Any, ...],
    target: tuple[Any, ...],
    valid: NDArray[np.float32],
    labels_valid: NDArray[np.float64],
    order: NDArray[np.intp],
    start: int,
    stop: tuple[float, float],
    out: NDArray[np.float64],
) -> None:
    """Grow a tree after each cell that joins from position ``start`` on.

    Parameters
    ----------
    tables : tuple
        The entries of every encoded column (p, n), what stands in for them (p,), and where the encoded columns of
        every column of the table begin (m + 1,).
    target : tuple
        Class codes, labels as numbers, and the number of classes, 0 in regression.
    valid, labels_valid : ndarray of shape (p, T) and (T,)
    order : ndarray
        Players, ``row * m + column``.
    start : int
    stop : tuple
        A result within ``stop[1]`` of ``stop[0]`` is taken for all that follow.
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
    scratch = (
        np.zeros(n_rows, np.uint8),
        np.empty(n_rows, np.int32),
        np.empty(n_valid, np.int32),
        np.empty((n_rows + 1, 4), np.int64),
        1.0 / np.maximum(np.arange(n_rows + 1), 1),
    )
    below, every = np.empty(n_valid, np.int32), np.arange(n_valid).astype(np.int32)
    active = np.empty(width, np.intp)
    changed = True
    for position in range(order.size + 1):
        if position >= start:
            if changed:
                n_active = 0
                for k in range(width):  # a column that does not vary cannot be split
                    line = sorted_rows[k]
                    if now[k, line[0]] < now[k, line[n_rows - 1]]:
                        active[n_active] = k
                        work[n_active] = line
                        n_active += 1
                if n_active == 0:
                    active[0], work[0], n_active = 0, sorted_rows[0], 1
                below[:] = every
                out[position - start] = grow_tree(
                    now, target, work[:n_active], active[:n_active], valid, labels_valid, below, scratch
                )
            else:
                out[position - start] = out[position - start - 1]
            if abs(out[position - start] - stop[0]) <= stop[1]:
                out[position - start :] = out[position - start]
                break
        if position < order.size:
            row, column = order[position] // n_columns, order[position] % n_columns
            changed = position < start
            for k in range(starts[column], starts[column + 1]):
                if entries[k, row] != now[k, row]:
                    changed = True
                    _move(sorted_rows[k], now[k], row, entries[k, row])


@numba.njit(nogil=True, cache=True)
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
