"""Axis designs: lists of coalitions with a weight for every player in every coalition.

The weight of a 2D value factorises into a row weight and a column weight, so every value and every
estimate is

    values  =  Wr^T  H  Wc,        H[a, b] = utility of row coalition a under column coalition b,

(Liu et al. 2023, arXiv:2306.10473), and a design is one of the two factors: it lists the coalitions
of its axis and contracts utilities with its weights. Designs know nothing of data, and build a
weight matrix only if they must.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._theory.coalitions import Coalitions, NestedCoalitions, SubsetCoalitions
from shapley2d._theory.semivalues import Semivalue, marginal_weights, size_probabilities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class AxisDesign(ABC):
    """A list of coalitions of one axis, with weights that turn utilities into values.

    ``n_players``: the number of players who receive a value.
    """

    coalitions: Coalitions
    n_players: int

    @abstractmethod
    def combine(self, utilities: NDArray[np.float64], start: int = 0) -> NDArray[np.float64]:
        """Contract the first axis of ``utilities`` with the weights of the coalitions.

        The first row belongs to coalition ``start``; results of consecutive blocks add up.
        """


class AllSubsets(AxisDesign):
    """All coalitions of an axis, whose weighted sum is the exact value.

    >>> import numpy as np
    >>> AllSubsets(2).combine(np.array([0.0, 1.0, 2.0, 5.0]))
    array([2., 3.])
    """

    def __init__(self, n_players: int, semivalue: Semivalue = "shapley") -> None:
        self.n_players = n_players
        self.coalitions = SubsetCoalitions(n_players)
        self._joining = marginal_weights(semivalue, n_players)

    def combine(self, utilities: NDArray[np.float64], start: int = 0) -> NDArray[np.float64]:
        masks = self.coalitions.masks(start, start + len(utilities))
        size = masks.sum(axis=1)
        inside = self._joining[np.maximum(size - 1, 0)]
        outside = self._joining[np.minimum(size, self.n_players - 1)]
        weights = np.where(masks, inside[:, None], -outside[:, None])
        return np.asarray(np.tensordot(weights, utilities, axes=(0, 0)))


class Permutation(AxisDesign):
    """The nested coalitions of one order of the players: one draw of permutation sampling.

    A player's value is its marginal contribution when it joins. For other semivalues than Shapley's
    it is multiplied by the probability of the coalition's size relative to Shapley's, where all
    sizes are equally likely; the mean over random orders is then that semivalue.

    >>> import numpy as np
    >>> Permutation([1, 0]).combine(np.array([0.0, 2.0, 5.0]))
    array([3., 2.])
    """

    def __init__(self, order: ArrayLike, semivalue: Semivalue = "shapley") -> None:
        self.coalitions = NestedCoalitions(order)
        self._order = self.coalitions.order
        self.n_players = self._order.size
        self._step_weights = (
            None
            if semivalue == "shapley"
            else self.n_players * size_probabilities(semivalue, self.n_players)
        )

    def combine(self, utilities: NDArray[np.float64], start: int = 0) -> NDArray[np.float64]:
        values = np.zeros((self.n_players, *utilities.shape[1:]))
        size = np.arange(start, start + len(utilities))
        joined, joins = size >= 1, size < self.n_players
        values[self._order[size[joined] - 1]] += utilities[joined]
        values[self._order[size[joins]]] -= utilities[joins]
        if self._step_weights is not None:
            weights = np.empty(self.n_players)
            weights[self._order] = self._step_weights
            values *= weights.reshape(-1, *[1] * (utilities.ndim - 1))
        return values


def combine_axes(
    utilities: NDArray[np.float64], rows: AxisDesign, columns: AxisDesign, start: int = 0
) -> NDArray[np.float64]:
    """Values from a matrix of utilities H: the bilinear product ``Wr^T H Wc``.

    ``utilities`` (n_row_coalitions, n_column_coalitions): the utilities of row coalitions ``start,
        start + 1, ...`` under all column coalitions.

    The result is (rows.n_players, columns.n_players).

    >>> import numpy as np
    >>> H = np.array([[0.0, 0.0], [0.0, 6.0]])
    >>> combine_axes(H, AllSubsets(1), AllSubsets(1))
    array([[6.]])
    """
    by_column = columns.combine(np.ascontiguousarray(utilities.swapaxes(0, 1))).swapaxes(0, 1)
    return rows.combine(by_column, start)
