"""Gaussian naive Bayes in the game of all cells: a cell that joins changes one column of one class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._games.sweeps.encoded import class_blocks
from shapley2d._kernels.flat_naive_bayes import follow_cells
from shapley2d._methods.flat.fill import encode_cells
from shapley2d._tables.encoding import near_one

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.problem import Split


class FlatNaiveBayes:
    """Accuracy of scikit-learn's ``GaussianNB()`` trained on all rows, of which only some cells are known.

    An entry that is missing, in either table, is what stands in for absent cells of its column; a
    missing category is none of the known ones. Where no column varies, likelihoods do not exist and
    the first class is predicted, as ``GaussianNB`` does.

    Parameters
    ----------
    split : Split
        Of a classification.

    Examples
    --------
    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[0], [1], [8], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> FlatNaiveBayes(split).follow(np.array([3, 0, 2, 1]), 0, (np.nan, -1.0))  # right answers
    array([2., 2., 4., 4., 4.])
    """

    def __init__(self, split: Split) -> None:
        self.n_rows, self.n_columns = split.train.n_rows, split.train.n_columns
        self.unit = float(split.valid.n_rows)
        self._codes = split.y.codes.astype(np.int64)
        order, self._blocks = class_blocks(split)
        cells = encode_cells(split.train, split.valid, keep_missing=False)
        train, valid, absent = near_one(
            cells.train, cells.valid, cells.absent[None, :], by_column=False
        )
        self._train = np.ascontiguousarray(train.T)
        self._valid = np.ascontiguousarray(valid[order].T)
        self._absent = absent[0]
        self._starts = cells.starts

    def follow(
        self, order: NDArray[np.intp], start: int, stop: tuple[float, float]
    ) -> NDArray[np.float64]:
        """Right answers from the coalition of the first ``start`` cells on."""
        out = np.empty(order.size - start + 1)
        order = np.ascontiguousarray(order)  # one layout, compiled once
        tables = (self._train, self._absent, self._starts)
        follow_cells(*tables, self._codes, self._valid, self._blocks, order, start, stop, out)
        return out

    def utilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Accuracies."""
        return scores / self.unit
