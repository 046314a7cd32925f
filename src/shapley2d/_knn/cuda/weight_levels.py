"""Validation rows of different weights on a GPU, whose kernels know none: one sum per weight."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.cuda.device import DeviceError
from shapley2d._knn.row_axis import RowAxis

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

MAX_LEVELS = 64
"""Different weights that are worth a sum each; balanced accuracy has one per class."""


def weight_levels(weights: NDArray[np.float64]) -> Iterator[tuple[float, NDArray[np.intp]]]:
    """Every weight above 0, with the places that have it.

    Examples
    --------
    >>> [(weight, rows.tolist()) for weight, rows in weight_levels(np.array([2.0, 0.0, 1.0, 2.0]))]
    [(1.0, [2]), (2.0, [0, 3])]
    """
    levels, place = np.unique(weights, return_inverse=True)
    for k, level in enumerate(levels.tolist()):
        if level > 0:
            yield level, np.flatnonzero(place == k)


def check_levels(weights: NDArray[np.float64]) -> None:
    """Refuse more different weights than a GPU should be asked to add up one by one."""
    count = np.unique(weights).size
    if count > MAX_LEVELS:
        raise DeviceError(
            f"its validation rows have {count:,} different weights, "
            f"more than the {MAX_LEVELS} that a GPU takes"
        )


class WeightLevels(RowAxis):
    """The row values of a device, each validation row times its weight.

    Parameters
    ----------
    axis : RowAxis
        For which all validation rows count alike.
    weights : ndarray of shape (T,)
    """

    def __init__(self, axis: RowAxis, weights: NDArray[np.float64]) -> None:
        check_levels(weights)
        super().__init__(replace(axis.game, valid_weights=weights))
        self._axis = axis
        self.is_binned, self.rows_at_a_time = axis.is_binned, axis.rows_at_a_time
        self.finer = None if axis.finer is None else WeightLevels(axis.finer, weights)

    def sums(
        self,
        coalitions: NDArray[np.bool_],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return self._weighted(lambda rows: self._axis.sums(coalitions, rows), chosen, progress)

    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return self._weighted(
            lambda rows: self._axis.walk(weights_in, weights_out, rows), chosen, None
        )

    def walk_rows(self) -> int:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return self._axis.walk_rows()

    def walked(
        self, weights_in: NDArray[np.float64], weights_out: NDArray[np.float64]
    ) -> WeightLevels:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return WeightLevels(self._axis.walked(weights_in, weights_out), self.game.valid_weights)

    def ranked(self) -> WeightLevels:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return WeightLevels(self._axis.ranked(), self.game.valid_weights)

    def _weighted(
        self,
        add_up: Callable[[NDArray[np.integer]], NDArray[np.float64]],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None,
    ) -> NDArray[np.float64]:
        parts, done = [], 0
        for weight, places in weight_levels(self.game.valid_weights[chosen]):
            parts.append(weight * add_up(chosen[places]))
            done += places.size
            if progress is not None:
                progress(done / chosen.size)
        return np.asarray(sum(parts)) if parts else 0.0 * add_up(chosen)
