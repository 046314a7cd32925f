"""Gaussian naive Bayes: a row adds to running sums, a column adds its log-likelihoods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._models.kernels.naive_bayes import fill_grid
from shapley2d._models.sweeps.encoded import Sweep

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._models.sweeps.chains import Pair
    from shapley2d._tables.problem import Split


class NaiveBayesSweep(Sweep):
    """The accuracy of scikit-learn's ``GaussianNB()``, swept over whole grids.

    Rows of a single class predict that class. The variances are those of ``GaussianNB``: of a
    coalition's rows of one class, plus 1e-9 times the largest variance of any of the coalition's
    columns over all of its rows. Where that is 0, because all columns are constant over the
    coalition, likelihoods do not exist; with ``baseline="zero"`` the first class present is
    predicted, as ``GaussianNB`` does. Sums are added in the order in which players join, so that a
    validation row whose two best classes are equally likely except for rounding may be decided
    differently.

    >>> from shapley2d._theory.coalitions import NestedCoalitions
    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[0], [1], [8], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> game = NaiveBayesSweep(split)
    >>> game.utilities(NestedCoalitions([0, 2, 1, 3]), NestedCoalitions([0]))[:, 1]
    array([0.5 , 0.5 , 1.  , 0.75, 1.  ])
    """

    def __init__(self, split: Split, **asked: Any) -> None:
        super().__init__(split, **asked, scale_free=True)
        self._codes = split.y.codes.astype(np.int64)

    def _fill(self, pair: Pair) -> NDArray[np.float64]:
        _, sizes, _, ends = pair
        grid = np.empty((sizes.size, ends.size))
        tables = (self._train, self._codes, self._valid, self._blocks, self._weights)
        fill_grid(*tables, *pair, grid)
        return grid
