"""Row values on a GPU with rows in bins: which kernels take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._knn.cuda.batches import in_batches
from shapley2d._knn.cuda.coalition_sums import by_size, contract, in_groups, walk_by_sums
from shapley2d._knn.cuda.device import DeviceError
from shapley2d._knn.cuda.near_ranked import NearRanked
from shapley2d._knn.cuda.subsets import (
    MOST_ROWS,
    SUBSET_SHAPES,
    SubsetSums,
    can_take,
    fitting_shape,
)
from shapley2d._knn.cuda.tall import MOST_VALID, TallShape, TallSums, takes

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.cuda.near_ranked import Shape
    from shapley2d._knn.cuda.subsets import SubsetShape
    from shapley2d._knn.row_axis import RowAxis, RowGame

_TALL = TallShape()
_CONTRACTED = 16  # coalitions whose row values are weighted at a time
_CHANGES_SHARE = 0.1  # of the memory, for changes that are squared
_MANY_CHANGES = 16


class BinnedRows:
    """Row values with rows in bins.

    In classification of some ten thousand rows all of them are, see
    :mod:`shapley2d._knn.cuda.subsets` and, for listed subsets of tables with many rows,
    :mod:`shapley2d._knn.cuda.tall`. In other games near rows are ranked, see
    :mod:`shapley2d._knn.cuda.near_ranked`.

    Parameters
    ----------
    game : RowGame
    device : Device
    shape : Shape, optional
        By default the fastest one that fits.
    tile_rows : int, optional
        Rows of a launch; by default all where that keeps to the GPU's cache.
    subset_shapes : tuple of SubsetShape, optional
        Those to choose from where no rows are ranked; with none, near rows always are.
    tall_shape : TallShape
        That of tables with many rows, under listed subsets.
    """

    def __init__(
        self,
        game: RowGame,
        device: Device,
        *,
        shape: Shape | None = None,
        tile_rows: int | None = None,
        subset_shapes: tuple[SubsetShape, ...] = SUBSET_SHAPES,
        tall_shape: TallShape = _TALL,
    ) -> None:
        self.n_rows, self.n_columns = game.n_rows, game.n_columns
        self._device = device
        near = self._near = NearRanked(game, device, shape, tile_rows)
        self._subsets: SubsetSums | None = None
        subset_shape = fitting_shape(game, device, subset_shapes)
        if subset_shape is not None:
            self._subsets = SubsetSums(
                game, device, near.train, near.entries, near.largest, subset_shape
            )
        self._tall: TallSums | None = None
        if (
            self._subsets is not None
            and game.n_rows > MOST_ROWS
            and takes(game, device, tall_shape)
        ):
            subsets = self._subsets
            self._tall = TallSums(
                game, device, near.train, subsets.prepared, subsets.ranks, tall_shape
            )

    def _listed(self, chosen: NDArray[np.integer]) -> NearRanked | SubsetSums | TallSums:
        """What has the row values of listed subsets."""
        return (self._tall or self._subsets or self._near) if len(chosen) else self._near

    def sums(
        self,
        coalitions: NDArray[np.bool_],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        listed = self._listed(chosen)
        if isinstance(listed, NearRanked):
            return listed.sums(coalitions, chosen, progress)
        total = np.empty((len(coalitions), self.n_rows))

        def values(part: NDArray[np.bool_]) -> Any:
            return listed.values(part, chosen)

        for part, found in in_groups(self._device, coalitions, listed.group, values, progress):
            total[part] = found
        return total

    def contracted(
        self,
        coalitions: NDArray[np.bool_],
        weights: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """What :meth:`sums` gives times weights of shape (lines, B), added up on the GPU: (lines, n)."""
        found: NDArray[np.float64] = self._device.download(
            self._contracted(coalitions, weights, chosen)
        )
        return found

    def contracted_squares(
        self,
        coalitions: NDArray[np.bool_],
        weights: NDArray[np.float64],
        chosen: NDArray[np.integer],
        left_out: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Values, sums of squared changes and other lines, and the sums of changes over the rows.

        See :meth:`shapley2d._knn.rows.RowValues.contract_squares`.
        """
        device, m = self._device, self.n_columns
        total = self._contracted(coalitions, weights, chosen)
        ends = m * (1 + left_out)
        of_columns = device.download(total[m:ends].sum(axis=1)).reshape(left_out, m)
        # The squares take the place of the first changes, and the other lines come after them.
        squares = total[m : 2 * m]
        squares *= squares
        for start in range(2 * m, ends, m):
            change = total[start : start + m]
            change *= change
            squares += change
        others = np.arange(ends, len(weights))
        for to, line in enumerate(others, start=2 * m):
            total[to] = total[line]
        return device.download(total[: 2 * m + others.size]), of_columns

    @property
    def squares_at_most(self) -> int:
        """Changes of every value whose squares are added up here: as many as there is memory for."""
        numbers = _CHANGES_SHARE * self._device.memory_bytes / np.dtype(np.float64).itemsize
        return int(np.clip(numbers // max(self.n_rows * self.n_columns, 1), 1, _MANY_CHANGES))

    def _contracted(
        self,
        coalitions: NDArray[np.bool_],
        weights: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> Any:
        """Weighted sums of row values, on the GPU."""
        device, listed = self._device, self._listed(chosen)
        unit, kernel = 1.0, "add_weighted"
        if isinstance(listed, NearRanked):
            unit, kernel = listed.unit, "add_weighted_counts"
        together = min(listed.group, _CONTRACTED)
        launch = device.compile("contract.cu", GROUP=together)
        try:
            total = device.zeros((len(weights), self.n_rows), np.float64)
        except MemoryError as error:
            raise DeviceError("its memory does not suffice for this table") from error
        parts = by_size(coalitions, listed.group)
        sizes = np.int32(len(weights)), np.int32(self.n_rows)

        def work(start: int, stop: int) -> None:
            for part in parts[start:stop]:
                found = listed.values(coalitions[part], chosen)
                for first in range(0, part.size, together):
                    few = part[first : first + together]
                    factors = np.zeros((len(weights), together))
                    factors[:, : few.size] = weights[:, few]
                    launch(kernel, (-(-self.n_rows // 256),), 256, (
                        device.upload(factors), sizes[0], found[first:], sizes[1], np.float64(unit), total,
                    ))  # fmt: skip
                device.wait()

        in_batches(work, len(parts), 1)
        return total

    @property
    def rows_at_a_time(self) -> int:
        """Validation rows that the GPU's processors take beside one another."""
        return self._near.rows_at_a_time if self._tall is None else MOST_VALID

    @property
    def finer(self) -> RowAxis | None:
        """The same with near rows ranked, where none are."""
        return None if self._subsets is None else self._near

    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        if self._subsets is not None and self.n_columns < self._near.group.bit_length():
            return walk_by_sums(self, weights_in, weights_out, chosen)
        if self._subsets is not None and len(chosen) and can_take(weights_in, weights_out):
            return self._walk_subsets(self._subsets, weights_in, weights_out, chosen)
        return self._near.walk(weights_in, weights_out, chosen)

    def _walk_subsets(
        self,
        subsets: SubsetSums,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """The walk with all rows in bins, and near ones ranked under the few coalitions that count most each."""
        m = self.n_columns
        heavy = np.isin(np.arange(m + 1), (0, 1, m - 1, m))
        light_in, light_out = (
            np.where(heavy, 0.0, weights) for weights in (weights_in, weights_out)
        )
        total = subsets.contracted(light_in, light_out, chosen)
        one = np.eye(m, dtype=np.bool_)
        coalitions = np.concatenate([one[:1] & False, one, ~one, one[:1] | True])
        return total + contract(
            coalitions, self._near.sums(coalitions, chosen), weights_in, weights_out
        )

    def walk_rows(self) -> int:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        rows = self._near.walk_rows()
        if self._subsets is not None:
            processors = self._device.processors
            rows = min(rows, max(self._subsets.most_at_a_time // processors, 1) * processors)
        return rows
