"""A decision tree in the game of all cells: a cell that joins moves one row within the order of its column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._games.sweeps.encoded import class_blocks
from shapley2d._games.sweeps.tree import tree_target
from shapley2d._kernels.flat_tree import follow_cells
from shapley2d._methods.flat.fill import encode_cells
from shapley2d._tables.encoding import as_float32, near_one

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.problem import Split


class FlatTree:
    """Accuracy or R squared of a fully grown CART trained on all rows, of which only some cells are known.

    The tree is that of :class:`~shapley2d._games.sweeps.tree.TreeSweep`, its rule for equally good
    splits included. An entry that is missing, in either table, is what stands in for absent cells
    of its column; a missing category is none of the known ones.

    Parameters
    ----------
    split : Split

    Examples
    --------
    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[0], [1], [4], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> FlatTree(split).follow(np.array([3, 0, 2, 1]), 0, (np.nan, -1.0))  # right answers
    array([2., 3., 3., 4., 4.])
    """

    def __init__(self, split: Split) -> None:
        self.n_rows, self.n_columns = split.train.n_rows, split.train.n_columns
        self._n_valid = split.valid.n_rows
        self._target = tree_target(split)
        classifies = split.y.task == "classification"
        self.unit = float(self._n_valid) if classifies else self._target.spread
        cells = encode_cells(split.train, split.valid, keep_missing=False)
        train, valid, absent = near_one(
            cells.train, cells.valid, cells.absent[None, :], by_column=True
        )
        valid = valid[class_blocks(split)[0]] if classifies else valid
        self._values, self._values_valid = as_float32(train.T), as_float32(valid.T)
        self._absent = as_float32(absent[0])
        self._starts = cells.starts

    def follow(
        self, order: NDArray[np.intp], start: int, stop: tuple[float, float]
    ) -> NDArray[np.float64]:
        """Right answers, or squared errors, from the coalition of the first ``start`` cells on."""
        out = np.empty(order.size - start + 1)
        order = np.ascontiguousarray(order)  # one layout, compiled once
        target, tables = self._target, (self._values, self._absent, self._starts)
        follow_cells(
            tables, target.learned, self._values_valid, target.labels_valid, order, start, stop, out
        )
        return out

    def utilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Accuracies, or R squared."""
        return self._target.scores(scores, self._n_valid)
