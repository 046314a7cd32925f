"""What the built-in models of the game of all cells share: the ends of the game, and when to train no more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.problem import Split


class BuiltInGame(ABC):
    """A game whose kernel follows an order of the cells; to be initialised once the kernel has what it needs.

    Parameters
    ----------
    split : Split
    truncation : float or None
        Along an order of the cells, once the utility is within ``truncation`` of that of all cells, train no more.
    unit : float
        What a utility of 1 is in the kernel's own scores.
    """

    def __init__(self, split: Split, truncation: float | None, unit: float) -> None:
        self.n_rows, self.n_columns = split.train.n_rows, split.train.n_columns
        self._aim, self._within = np.nan, -1.0
        everything = np.arange(self.n_rows * self.n_columns)
        (none,), (whole,) = self._raw(everything[:0], 0), self._raw(everything, everything.size)
        self.none, self.all = self._scores(np.array([none, whole])).tolist()
        if truncation is not None:
            self._aim, self._within = whole, truncation * unit

    def along(self, order: NDArray[np.intp]) -> NDArray[np.float64]:
        """Utilities while the cells join in this order: of nobody first, of the whole order last."""
        return self._scores(self._raw(order, 0))

    @abstractmethod
    def _raw(self, order: NDArray[np.intp], start: int) -> NDArray[np.float64]:
        """The kernel's scores from the coalition of the first ``start`` cells on."""

    @abstractmethod
    def _scores(self, raw: NDArray[np.float64]) -> NDArray[np.float64]:
        """Utilities from the kernel's scores."""
