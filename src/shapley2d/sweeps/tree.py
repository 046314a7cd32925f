"""Decision trees: rows stay sorted by every column, so that a fit never sorts and only grows what is asked about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d.sweeps.base import SweepGame
from shapley2d.sweeps.tree_kernel import fill_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d.splits import Split


class TreeSweep(SweepGame):
    """Accuracy or R squared of a fully grown CART, with scikit-learn's defaults, on whole grids.

    Gini impurity for classes, squared error for numbers; splits halfway between neighbouring values, which differ by
    more than 1e-7 as 32-bit numbers; nodes are split until they are pure or none of their columns varies; a leaf
    predicts its most frequent class, the first of equally frequent ones, or its mean.

    Notes
    -----
    Of splits that are equally good, to a relative 1e-12 (classes) or 1e-9 (numbers), the one on the first column of the
    table wins, then the lowest threshold. Scikit-learn visits the columns in a random order and takes the first of
    equally good splits, so that its ``DecisionTreeClassifier`` with another seed is another tree: where no two splits
    tie, both agree; where they do, this is one of the trees that scikit-learn may grow.

    A tree is grown only where a validation row falls.

    Examples
    --------
    >>> from shapley2d.coalitions import NestedCoalitions
    >>> from shapley2d.splits import make_problem
    >>> X, y = [[0], [1], [8], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> TreeSweep(split).utilities(NestedCoalitions([0, 2, 1, 3]), NestedCoalitions([0]))[:, 1]
    array([0. , 0.5, 1. , 1. , 1. ])
    """

    model = "tree"

    def __init__(self, split: Split) -> None:
        super().__init__(split)
        self._values = np.ascontiguousarray(self._train.T, dtype=np.float32)
        self._values_valid = self._valid.astype(np.float32)
        self._sorted = np.argsort(self._values, axis=1, kind="stable").astype(np.int32)
        self._ranks = np.empty_like(self._sorted)
        np.put_along_axis(self._ranks, self._sorted, np.arange(self.n_rows, dtype=np.int32)[None, :], axis=1)
        del self._train, self._valid
        if self.classifies:
            self._codes = self._codes.astype(np.int32)
            self._labels_valid = np.repeat(np.arange(self._n_classes), np.diff(self._blocks)).astype(
                np.float64
            )
            self._labels = self._codes.astype(np.float64)
        else:
            self._n_classes = 0
            self._codes = np.zeros(self.n_rows, dtype=np.int32)
            centre = float(self._targets.mean())
            self._labels, self._labels_valid = self._targets - centre, self._targets_valid - centre
            self._spread = float(np.sum((self._targets_valid - self._targets_valid.mean()) ** 2))

    def _grid(
        self,
        rows: NDArray[np.intp],
        sizes: NDArray[np.intp],
        columns: NDArray[np.intp],
        ends: NDArray[np.intp],
    ) -> NDArray[np.float64]:
        grid = np.empty((sizes.size, ends.size))
        presorted = (self._values, self._sorted, self._ranks)
        target = (self._codes, self._labels, self._n_classes)
        fill_grid(
            presorted, target, self._values_valid, self._labels_valid, (rows, sizes, columns, ends), grid
        )
        if self.classifies:
            return grid / self._n_valid
        if self._spread > 0:
            return 1.0 - grid / self._spread
        return np.where(grid == 0.0, 1.0, 0.0)  # constant targets, as scikit-learn scores them
