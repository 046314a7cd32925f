"""The game of all cells for built-in models, whose kernel follows an order of the cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
    """The performance of a built-in model trained on all rows, of which only some cells are known.

    Parameters
    ----------
    model : CellModel
    truncation : float or None
        Along an order of the cells, once the utility is within ``truncation`` of that of all cells,
        train no more.

    Examples
    --------
    >>> from shapley2d._methods.flat.tree import FlatTree
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
        """Utilities while the cells join in this order: of the empty coalition first, of the whole order last."""
        return self._model.utilities(self._model.follow(order, 0, self._stop))
