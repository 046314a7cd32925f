"""Validation rows that count differently, for a device whose sums know no weights: one sum for every level."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.cuda.device import DeviceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from shapley2d._knn.row_axis import RowAxis

MAX_LEVELS = 64
"""Different weights that are worth a sum each; balanced accuracy has as many as there are classes."""


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
            f"its validation rows have {count:,} different weights, more than the {MAX_LEVELS} that a GPU takes"
        )


class WeightLevels:
    """The row values of a device, each validation row times its weight.

    Parameters
    ----------
    axis : RowAxis
        For which all validation rows count alike.
    weights : ndarray of shape (T,)
    """

    def __init__(self, axis: RowAxis, weights: NDArray[np.float64]) -> None:
        check_levels(weights)
        self._axis, self._weights = axis, weights

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

    @property
    def rows_at_a_time(self) -> int:
        """As many as the device takes."""
        return int(getattr(self._axis, "rows_at_a_time", 1))

    @property
    def finer(self) -> WeightLevels | None:
        """The same with near rows ranked, where a GPU has all rows in bins."""
        axis = getattr(self._axis, "finer", None)
        return None if axis is None else WeightLevels(axis, self._weights)

    def _weighted(
        self,
        add_up: Callable[[NDArray[np.integer]], NDArray[np.float64]],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None,
    ) -> NDArray[np.float64]:
        parts, done = [], 0
        for weight, places in weight_levels(self._weights[chosen]):
            parts.append(weight * add_up(chosen[places]))
            done += places.size
            if progress is not None:
                progress(done / chosen.size)
        return np.asarray(sum(parts)) if parts else 0.0 * add_up(chosen)
