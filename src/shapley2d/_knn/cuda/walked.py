"""A GPU's row values under single column subsets, with the bins that its walk over all has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.row_axis import RowAxis

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


class Walked(RowAxis):
    """An axis on a GPU, but for its sums.

    Parameters
    ----------
    axis : RowAxis
    under_one : callable
        Row values under one column subset, summed over the chosen validation rows.
    """

    is_binned = True

    def __init__(
        self,
        axis: RowAxis,
        under_one: Callable[[NDArray[np.bool_], NDArray[np.integer]], NDArray[np.float64]],
    ) -> None:
        super().__init__(axis.game)
        self._axis, self._under_one = axis, under_one
        self.rows_at_a_time, self.finer = axis.rows_at_a_time, axis.finer

    def sums(
        self,
        coalitions: NDArray[np.bool_],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        total = np.empty((len(coalitions), self.n_rows))
        for number, coalition in enumerate(coalitions):
            total[number] = self._under_one(coalition, chosen)
            if progress is not None:
                progress((number + 1) / len(coalitions))
        return total

    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return self._axis.walk(weights_in, weights_out, chosen)

    def walk_rows(self) -> int:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return self._axis.walk_rows()

    def ranked(self) -> RowAxis:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return self._axis.ranked()
