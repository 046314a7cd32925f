"""The game of all cells for built-in models, whose kernels follow an order of the cells.

A cell that joins moves one row within the order of its column (tree), or changes one column of one
class (naive Bayes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from shapley2d._games.sweeps.encoded import class_blocks
from shapley2d._games.sweeps.tree import tree_target
from shapley2d._kernels import flat_naive_bayes, flat_tree
from shapley2d._methods.flat.fill import encode_cells
from shapley2d._tables.encoding import as_float32, near_one

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.problem import Split


class CellModel(Protocol):
    """A model that is kept up to date while cells join one by one.

    Attributes
    ----------
    n_rows, n_columns : int
    unit : float
        What a utility of 1 is in the model's own scores.
    """

    n_rows: int
    n_columns: int
    unit: float

    def follow(
        self, order: NDArray[np.intp], start: int, stop: tuple[float, float]
    ) -> NDArray[np.float64]:
        """The model's own scores from the coalition of the first ``start`` cells on.

        A score within ``stop[1]`` of ``stop[0]`` is taken for all that follow.
        """

    def utilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Utilities from the model's own scores."""


class BuiltInGame:
    """The performance of a built-in model trained on all rows, with some cells known.

    Parameters
    ----------
    model : CellModel
    truncation : float or None
        Along an order of the cells, once the utility is within ``truncation`` of that of all cells,
        train no more.

    Examples
    --------
    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[0], [1], [4], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> game = BuiltInGame(FlatTree(split))
    >>> game.baseline_utility, game.utility_all
    (0.5, 1.0)
    >>> game.along(np.array([3, 0, 2, 1]))
    array([0.5 , 0.75, 0.75, 1.  , 1.  ])
    """

    def __init__(self, model: CellModel, truncation: float | None = None) -> None:
        self._model = model
        self.n_rows, self.n_columns = model.n_rows, model.n_columns
        never = (np.nan, -1.0)
        everything = np.arange(self.n_rows * self.n_columns)
        (none,) = model.follow(everything[:0], 0, never)
        (whole,) = model.follow(everything, everything.size, never)
        self.baseline_utility, self.utility_all = model.utilities(np.array([none, whole])).tolist()
        self._stop = never if truncation is None else (whole, truncation * model.unit)

    def along(self, order: NDArray[np.intp]) -> NDArray[np.float64]:
        """Utilities while the cells join in this order, from none of them to all."""
        return self._model.utilities(self._model.follow(order, 0, self._stop))


class FlatTree:
    """Accuracy or R squared of a CART, fully grown on all rows, while cells join one by one.

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
        flat_tree.follow_cells(
            tables, target.learned, self._values_valid, target.labels_valid, order, start, stop, out
        )
        return out

    def utilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Accuracies, or R squared."""
        return self._target.scores(scores, self._n_valid)


class FlatNaiveBayes:
    """Accuracy of ``GaussianNB()`` trained on all rows, while cells join one by one.

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
        flat_naive_bayes.follow_cells(
            *tables, self._codes, self._valid, self._blocks, order, start, stop, out
        )
        return out

    def utilities(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Accuracies."""
        return scores / self.unit
