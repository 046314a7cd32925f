"""Row values on a GPU with rows in bins: which kernels compute them.

From the most exact to the fastest, each in a file of its own beside its CUDA source:

==============  ==========  ===================================================================
class           source      used for
==============  ==========  ===================================================================
``NearRanked``  binned.cu   any game: near rows are ranked, far ones in bins
``SubsetSums``  subsets.cu  classification from 8,192 rows on, where the chip has room for the
                            bins (:func:`~shapley2d._knn.cuda.subsets.fitting_shape`): all rows
                            in bins, walks over all column subsets and lists of some
``TallSums``    tall.cu     lists of column subsets of such games beyond 65,535 rows and up to
                            128 columns (:func:`~shapley2d._knn.cuda.tall.takes`)
==============  ==========  ===================================================================

``BinnedRows`` takes the fastest that a game allows, keeps ``NearRanked`` as its
:attr:`~shapley2d._knn.row_axis.RowAxis.finer` form, which judges the bins on a sample, and uses it
itself for the few column subsets that count most in a walk. ``RankedRows`` (exact.cu) ranks all
rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._knn.cuda.batches import by_size, contract, in_batches, listed_sums, walk_by_sums
from shapley2d._knn.cuda.device import DeviceError
from shapley2d._knn.cuda.near_ranked import NearRanked
from shapley2d._knn.cuda.ranked import RankedRows
from shapley2d._knn.cuda.subsets import (
    MOST_ROWS,
    SUBSET_SHAPES,
    SubsetSums,
    can_take,
    fitting_shape,
)
from shapley2d._knn.cuda.tall import MOST_VALID, TallShape, TallSums, takes
from shapley2d._knn.cuda.walked import Walked
from shapley2d._knn.row_axis import RowAxis

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.batches import ListedSums
    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.cuda.near_ranked import NearShape
    from shapley2d._knn.cuda.subsets import SubsetShape
    from shapley2d._knn.row_axis import RowGame

_TALL = TallShape()
_CONTRACTED = 16  # column subsets whose row values are weighted at a time
_LINES_SHARE = 0.1  # of the GPU's memory, for error lines that are squared
_MANY_LINES = 16  # more of them would hardly make the variance better known


class BinnedRows(RowAxis):
    """Row values by the fastest of the kernels with bins that a game allows.

    Parameters
    ----------
    game : RowGame
    device : Device
    shape : NearShape, optional
        By default the fastest one that fits.
    tile_rows : int, optional
        Rows of a launch; by default all where that keeps to the GPU's cache.
    subset_shapes : tuple of SubsetShape, optional
        Those to choose from where no rows are ranked; with none, near rows always are.
    tall_shape : TallShape
        That of tables with many rows, under listed subsets.
    """

    is_binned = True

    def __init__(
        self,
        game: RowGame,
        device: Device,
        *,
        shape: NearShape | None = None,
        tile_rows: int | None = None,
        subset_shapes: tuple[SubsetShape, ...] = SUBSET_SHAPES,
        tall_shape: TallShape = _TALL,
    ) -> None:
        super().__init__(game)
        self._device = device
        near = self._near = NearRanked(game, device, shape, tile_rows)
        self._subsets: SubsetSums | None = None
        subset_shape = fitting_shape(game, device, subset_shapes)
        if subset_shape is not None:
            self._subsets = SubsetSums(
                game, device, near.train, near.entries, near.largest, subset_shape
            )
            self.finer = near
        self._tall: TallSums | None = None
        long = self._subsets is not None and game.n_rows > MOST_ROWS
        if long and takes(game, device, tall_shape):
            subsets = self._subsets
            assert subsets is not None
            self._tall = TallSums(
                game, device, near.train, subsets.prepared, subsets.ranks, tall_shape
            )
        self.rows_at_a_time = near.rows_at_a_time if self._tall is None else MOST_VALID
        numbers = _LINES_SHARE * device.memory_bytes / np.dtype(np.float64).itemsize
        self.squares_at_most = int(
            np.clip(numbers // max(game.n_rows * game.n_columns, 1), 1, _MANY_LINES)
        )

    def _listed(self, chosen: NDArray[np.integer]) -> ListedSums:
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
        return listed_sums(listed, self._device, self.n_rows, coalitions, chosen, progress)

    def contracted(
        self,
        coalitions: NDArray[np.bool_],
        weights: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        found: NDArray[np.float64] = self._device.download(
            self._contracted(coalitions, weights, chosen)
        )
        return found

    def contracted_squares(
        self,
        coalitions: NDArray[np.bool_],
        weights: NDArray[np.float64],
        chosen: NDArray[np.integer],
        error_lines: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        device, m = self._device, self.n_columns
        total = self._contracted(coalitions, weights, chosen)
        of_columns = device.download(total[m:].sum(axis=1)).reshape(error_lines, m)
        # the squares take the place of the first error lines
        squares = total[m : 2 * m]
        squares *= squares
        for start in range(2 * m, len(weights), m):
            line = total[start : start + m]
            line *= line
            squares += line
        return device.download(total[: 2 * m]), of_columns

    def _contracted(
        self,
        coalitions: NDArray[np.bool_],
        weights: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> Any:
        """Weighted sums of row values, on the GPU."""
        device, listed = self._device, self._listed(chosen)
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
                    launch(listed.adder, (-(-self.n_rows // 256),), 256, (
                        device.upload(factors), sizes[0], found[first:], sizes[1],
                        np.float64(listed.unit), total,
                    ))  # fmt: skip
                device.wait()

        in_batches(work, len(parts), 1)
        return total

    def ranked(self) -> RankedRows:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return RankedRows(self.game, self._device)

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
        """The walk with all rows in bins; near ones are ranked under subsets that count most."""
        m, heavy = self.n_columns, self._heavy
        light_in, light_out = (
            np.where(heavy, 0.0, weights) for weights in (weights_in, weights_out)
        )
        total = subsets.contracted(light_in, light_out, chosen)
        one = np.eye(m, dtype=np.bool_)
        coalitions = np.concatenate([one[:1] & False, one, ~one, one[:1] | True])
        return total + contract(
            coalitions, self._near.sums(coalitions, chosen), weights_in, weights_out
        )

    @property
    def _heavy(self) -> NDArray[np.bool_]:
        """Whether subsets of every size count so much that a walk ranks near rows under them."""
        m = self.n_columns
        return np.isin(np.arange(m + 1), (0, 1, m - 1, m))

    def walked(self, weights_in: NDArray[np.float64], weights_out: NDArray[np.float64]) -> RowAxis:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        if self._subsets is not None and self.n_columns < self._near.group.bit_length():
            return self
        if self._subsets is None or not can_take(weights_in, weights_out):
            return self._near.walked(weights_in, weights_out)
        subsets, heavy = self._subsets, self._heavy

        def under_one(
            coalition: NDArray[np.bool_], chosen: NDArray[np.integer]
        ) -> NDArray[np.float64]:
            listed = self._near if heavy[coalition.sum()] or not len(chosen) else subsets
            sums = listed_sums(listed, self._device, self.n_rows, coalition[None], chosen, None)
            return np.asarray(sums[0])

        return Walked(self, under_one)

    def walk_rows(self) -> int:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        rows = self._near.walk_rows()
        if self._subsets is not None:
            processors = self._device.processors
            rows = min(rows, max(self._subsets.most_at_a_time // processors, 1) * processors)
        return rows
