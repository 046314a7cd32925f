"""Row values on a GPU with near rows ranked and far ones in bins: what launches ``binned.cu``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.in_threads import map_columns
from shapley2d._knn.cuda.batches import ListedSums, in_batches, listed_sums, walk_by_sums
from shapley2d._knn.cuda.device import DeviceError
from shapley2d._knn.cuda.kernel_inputs import (
    BINS,
    NEAR,
    as_floats,
    compared_entries,
    largest_dissimilarities,
    make_layout,
)
from shapley2d._knn.cuda.ranked import RankedRows
from shapley2d._knn.cuda.walked import Walked
from shapley2d._knn.row_axis import RowAxis

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.cuda.kernel_inputs import BinLayout
    from shapley2d._knn.row_axis import RowGame

_SPARE_BYTES = 1024  # on the chip, beside what a launch asks for
_COLUMN_BYTES = 24  # on the chip, beside four for each column subset
_LINE = BINS + BINS // 32  # words of a line of bins
_COUNT, _EDGES, _LIST, _WORTH, _ADD = 1, 2, 4, 8, 16  # phases of a kernel, as in binned.cu
_ALL = 31
_TILE_ROWS = 65536  # training rows of a launch, where not all of them fit the cache
_BATCH = 1024  # validation rows whose bins are kept between the phases
_WALK_WORK = 2**41  # row values that a walk should be given at a time: 3 to 30 s on an H200
_QUEUE = 16  # launches after which Ctrl-C is looked for
_NOWHERE = np.uint64(0)


class NearShape(NamedTuple):
    """Column subsets and threads of a block, blocks of a processor, entries loaded ahead."""

    group: int
    threads: int
    blocks: int
    ahead: int = 4


# Measured on an H200, the fastest first. From 25 columns on, reading them takes most of the time,
# and 16 column subsets share it; with fewer there is room for two blocks.
_WIDE = 24
_SHAPES = (
    NearShape(16, 1024, 1, 8),
    NearShape(8, 512, 2),
    NearShape(8, 512, 1),
    NearShape(4, 512, 1),
    NearShape(2, 512, 1),
)
_REGRESSION_SHAPES = (NearShape(4, 1024, 1), NearShape(2, 1024, 1))


class _Walk(NamedTuple):
    """Memory of a walk: values of all columns, sums of a step, distances that phases share."""

    values: Any
    sums: Any
    kept: Any


class NearRanked(RowAxis, ListedSums):
    """Row values with near rows ranked and far ones in bins.

    Parameters
    ----------
    game : RowGame
    device : Device
    shape : NearShape, optional
        By default the fastest one that fits.
    tile_rows : int, optional
        Rows of a launch; by default all where that keeps to the GPU's cache.

    Attributes
    ----------
    largest : ndarray of shape (m,)
        The largest that two entries of each column can be apart.
    train, entries : device arrays
        The training table, and what the entries of validation rows are compared with.
    """

    is_binned = True
    adder = "add_weighted_counts"

    def __init__(
        self,
        game: RowGame,
        device: Device,
        shape: NearShape | None = None,
        tile_rows: int | None = None,
    ) -> None:
        super().__init__(game)
        self._device = device
        self._magnitude = max(game.magnitude, np.finfo(np.float64).tiny)
        self._shape = shape or fitting_shape(device, self.n_columns, classifies=game.classifies)
        self.group = self._shape.group
        self._low = self.group.bit_length() - 1  # columns whose subsets are a step of the walk
        self._walks_in_steps = game.classifies and self.n_columns > self._low
        self.rows_at_a_time = self._shape.blocks * device.processors
        self._fixed = np.float32(2.0**30 / self.game.value_bound)
        self.unit = self._magnitude**2 / float(self._fixed)
        codes = (
            np.stack(map_columns(as_floats, game.train, game.n_rows))
            if game.n_columns
            else as_floats(game.train)
        )
        self.largest = largest_dissimilarities(game)
        self._launch = device.compile(
            "binned.cu",
            THREADS=self._shape.threads,
            GROUP=self.group,
            BINS=BINS,
            NEAR=NEAR,
            REGRESSION=int(not self.game.classifies),
            BLOCKS=self._shape.blocks,
            AHEAD=self._shape.ahead,
        )
        row_bytes = codes.itemsize * self.n_columns + 8 * self.group
        fits = self.n_rows * row_bytes <= device.cache_bytes // 2
        self._tile_rows = min(tile_rows or (self.n_rows if fits else _TILE_ROWS), self.n_rows)
        self._tiles = -(-self.n_rows // self._tile_rows)
        try:
            self._upload(game, codes)
        except MemoryError as error:
            raise DeviceError(
                f"the table takes {codes.nbytes / 2**30:.1f} GB on the GPU, which has "
                f"{device.free_bytes() / 2**30:.1f} GB left"
            ) from error
        self.train, self.entries = self._arguments[:2]

    def _upload(self, game: RowGame, codes: NDArray[Any]) -> None:
        device, weights = self._device, game.weights
        if self.game.classifies:
            labels = (device.upload(game.runs()), _NOWHERE, _NOWHERE)
        else:
            labels = (
                _NOWHERE,
                device.upload((game.y / self._magnitude).astype(np.float32)),
                device.upload(game.y_valid / self._magnitude),
            )
        tables = [
            device.upload(np.ascontiguousarray(table)) for table in (*weights[:5], game.inverse)
        ]
        self._arguments: tuple[Any, ...] = (
            device.upload(codes),
            device.upload(compared_entries(game)),
            np.int32(self.n_rows),
            np.int32(self.n_columns),
            *labels,
            *tables,
            np.float64(weights.alone),
            np.int32(game.n_neighbors),
        )

    def sums(
        self,
        coalitions: NDArray[np.bool_],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return listed_sums(self, self._device, self.n_rows, coalitions, chosen, progress)

    def values(self, coalitions: NDArray[np.bool_], chosen: NDArray[np.integer]) -> Any:
        """See :class:`~shapley2d._knn.cuda.batches.ListedSums`."""
        sizes = coalitions.sum(axis=1)
        top = float((coalitions @ self.largest).max(initial=0))
        layout = make_layout(top, int(sizes[sizes > 0].min(initial=self.n_columns)))
        return self._values(coalitions, chosen, layout)

    def _values(
        self, coalitions: NDArray[np.bool_], chosen: NDArray[np.integer], layout: BinLayout
    ) -> Any:
        sums = self._device.zeros((self.group, self.n_rows), np.int64)
        listed = np.flatnonzero(coalitions.any(axis=0)).astype(np.int32)
        bits = (coalitions[:, listed].T << np.arange(len(coalitions))).sum(axis=1).astype(np.int32)
        listed_there = self._device.upload(listed if listed.size else np.zeros(1, dtype=np.int32))
        bits_there = self._device.upload(bits if bits.size else np.zeros(1, dtype=np.int32))
        arguments = (listed_there, bits_there, np.int32(listed.size))
        self._run("add_values", chosen, arguments, layout, self._fixed, (sums,))
        return sums

    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        if not self._walks_in_steps:
            return walk_by_sums(self, weights_in, weights_out, chosen)
        device, low = self._device, self._low
        blocks = min(max(len(chosen), 1), self.rows_at_a_time)
        buffers = _Walk(
            values=device.zeros((self.n_columns, self.n_rows), np.float64),
            sums=device.zeros((low + 2, self.n_rows), np.int32),
            kept=device.empty((blocks, self.n_rows), np.float32) if self._tiles == 1 else _NOWHERE,
        )
        for others in range(1 << (self.n_columns - low)):
            self._walk_step(others, weights_in, weights_out, chosen, buffers)
            if others % _QUEUE == 0:
                device.wait()
        total: NDArray[np.float64] = device.download(buffers.values)
        return total

    def _walk_step(
        self,
        others: int,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
        buffers: _Walk,
    ) -> None:
        """Add all subsets of the first few columns, each with the same others (by their bits)."""
        device, m, low = self._device, self.n_columns, self._low
        high = low + np.flatnonzero([others >> j & 1 for j in range(m - low)])
        sizes = high.size + np.arange(low + 1)
        with_column, everywhere = weights_in[sizes] + weights_out[sizes], weights_out[sizes]
        many = np.array([math.comb(low, size) for size in range(low + 1)])
        largest = self.game.value_bound * max(
            float(many @ np.abs(with_column)), float(many @ np.abs(everywhere))
        )
        if largest == 0.0:
            return
        fixed = np.float32(0.99 * 2.0**31 / (largest * max(len(chosen), 1)))
        listed = np.append(np.arange(low), high).astype(np.int32)
        layout = self._step_layout(high)
        there = device.upload(listed)
        zeros = np.zeros(4 - low)
        weights = np.concatenate([with_column, zeros, everywhere, zeros]).astype(np.float32)
        last = (*weights, buffers.sums)
        self._run(
            "add_walk",
            chosen,
            (there, there, np.int32(listed.size)),
            layout,
            fixed,
            last,
            buffers.kept,
        )
        roles = np.zeros(m, dtype=np.int32)
        roles[high] = 1
        roles[:low] = 2 + np.arange(low)
        shape = (np.int32(m), np.int32(low + 2))
        unit = np.float64(1.0 / float(fixed))
        arguments = (
            buffers.sums,
            np.int32(self.n_rows),
            device.upload(roles),
            *shape,
            unit,
            buffers.values,
        )
        self._launch("fold_walk", (-(-self.n_rows // 256),), 256, arguments)

    def _step_layout(self, high: NDArray[np.integer]) -> BinLayout:
        """The bins of a step, which has some columns in all its subsets, the first few in some."""
        return make_layout(
            float(self.largest[: self._low].sum() + self.largest[high].sum()), max(high.size, 1)
        )

    def walked(
        self,
        weights_in: NDArray[np.float64],  # noqa: ARG002
        weights_out: NDArray[np.float64],  # noqa: ARG002
    ) -> RowAxis:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return Walked(self, self._under_one) if self._walks_in_steps else self

    def _under_one(
        self, coalition: NDArray[np.bool_], chosen: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """Row values under one column subset, with the bins of the step that has it."""
        layout = self._step_layout(self._low + np.flatnonzero(coalition[self._low :]))
        found = self._device.download(self._values(coalition[None], chosen, layout)[:1])
        return np.asarray(found[0] * self.unit)

    def ranked(self) -> RankedRows:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return RankedRows(self.game, self._device)

    def walk_rows(self) -> int:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        rounds = _WALK_WORK // ((self.n_rows << self.n_columns) * self._device.processors)
        return self._device.processors * int(max(rounds, 1))

    def _run(
        self,
        kernel: str,
        chosen: NDArray[np.integer],
        listed: tuple[Any, ...],
        layout: BinLayout,
        fixed: np.float32,
        last: tuple[Any, ...],
        kept: Any = _NOWHERE,
    ) -> None:
        """Launch a kernel: all phases at once, or one by one over tiles of training rows."""
        device = self._device
        bins = (np.int32(layout.shift), np.int32(layout.offset))
        n_listed = int(listed[2])
        state_bytes = self.group * _bin_bytes(classifies=self.game.classifies)
        on_chip = _on_chip(self._shape, n_listed, classifies=self.game.classifies)

        def launch(
            grid: tuple[int, int], part: Any, count: int, phases: int, state: Any, limits: Any
        ) -> None:
            arguments = (
                *self._arguments, part, np.int32(count), *listed, *bins, np.int32(phases),
                np.int32(self._tile_rows), kept, state, limits, fixed, *last,
            )  # fmt: skip
            self._launch(kernel, grid, self._shape.threads, arguments, on_chip)

        numbers = chosen.astype(np.int32)
        if self._tiles == 1:
            if numbers.size:
                blocks = min(numbers.size, self.rows_at_a_time)
                launch((blocks, 1), device.upload(numbers), numbers.size, _ALL, _NOWHERE, _NOWHERE)
            return

        def work(start: int, stop: int) -> None:
            count = stop - start
            state = device.zeros((count, state_bytes), np.uint8)
            limits = device.zeros((count, 8 * self.group), np.int32)
            part = device.upload(numbers[start:stop])
            for phase, tiles in (
                (_COUNT, self._tiles),
                (_EDGES, 1),
                (_LIST, self._tiles),
                (_WORTH, 1),
                (_ADD, self._tiles),
            ):
                launch((count, tiles), part, count, phase, state, limits)
            device.wait()

        in_batches(work, numbers.size, _BATCH)


def fitting_shape(device: Device, n_columns: int, *, classifies: bool) -> NearShape:
    """The fastest shape that the memory on the chip has room for."""
    shapes = _SHAPES[n_columns <= _WIDE :] if classifies else _REGRESSION_SHAPES
    for shape in shapes:
        needed = _on_chip(shape, n_columns, classifies=classifies)
        needed += 8 * shape.threads + _SPARE_BYTES
        if needed <= device.block_bytes and shape.blocks * needed <= device.processor_bytes:
            return shape
    raise DeviceError(
        f"{device.name} has {device.block_bytes // 1024} KB of memory on the chip for a block of "
        "threads, too little for the bins"
    )


def _bin_bytes(*, classifies: bool) -> int:
    """Bytes of the bins of a column subset, and of its list of near rows."""
    return (8 if classifies else 20) * _LINE + 8 * NEAR


def _on_chip(shape: NearShape, n_columns: int, *, classifies: bool) -> int:
    """Bytes of bins and lists of near rows, of what is summed up along these, and of columns."""
    summed = 2 * (NEAR + 2) if classifies else 16 * (NEAR + 1)
    columns = (_COLUMN_BYTES + 4 * shape.group) * (n_columns + shape.ahead)
    bins = shape.group * _bin_bytes(classifies=classifies)
    return bins + -(-shape.group * summed // 16) * 16 + columns
