"""Row values on a GPU with rows in bins: what launches ``binned.cu``, or leaves that to ``subsets.py``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.in_threads import map_columns
from shapley2d._knn.cuda.batches import in_batches
from shapley2d._knn.cuda.device import DeviceError
from shapley2d._knn.cuda.layout import BINS, NEAR, largest_dissimilarities, make_layout
from shapley2d._knn.cuda.subsets import MOST_ROWS, SUBSET_SHAPES, SubsetSums, can_take, fitting_shape
from shapley2d._knn.cuda.tall import MOST_VALID, TallShape, TallSums, takes
from shapley2d._knn.cuda.twin import as_floats, entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.cuda.layout import Layout
    from shapley2d._knn.cuda.subsets import SubsetShape
    from shapley2d._knn.row_axis import RowAxis, RowGame

_SPARE_BYTES = 1024  # on the chip, beside what a launch asks for
_COLUMN_BYTES = 24  # on the chip, beside four for each coalition
_LINE = BINS + BINS // 32  # words of a line of bins
_COUNT, _EDGES, _LIST, _WORTH, _ADD = 1, 2, 4, 8, 16
_ALL = 31
_TILE_ROWS = 65536
_BATCH = 1024  # validation rows whose bins are kept between the phases
_WALK_WORK = 2**41  # row-coalition pairs that a walk should be given at a time
_QUEUE = 16  # launches after which Ctrl-C is looked for
_NOWHERE = np.uint64(0)


class Shape(NamedTuple):
    """How work is cut up: coalitions and threads of a block, blocks that a processor takes, entries loaded ahead."""

    group: int
    threads: int
    blocks: int
    ahead: int = 4


# Measured on an H200, the fastest first: many columns are shared by more coalitions, few leave room for two blocks.
_WIDE = 24
_SHAPES = (Shape(16, 1024, 1, 8), Shape(8, 512, 2), Shape(8, 512, 1), Shape(4, 512, 1), Shape(2, 512, 1))
_REGRESSION_SHAPES = (Shape(4, 1024, 1), Shape(2, 1024, 1))
_TALL = TallShape()
_CONTRACTED = 16  # coalitions whose row values are weighted at a time
_CHANGES_SHARE = 0.1  # of the memory, for changes that are squared
_MANY_CHANGES = 16


class _Walk(NamedTuple):
    """Memory of a walk: values of all columns, sums of a step, and parts of distances that phases share."""

    values: Any
    sums: Any
    kept: Any


class BinnedRows:
    """Row values with rows in bins.

    In classification of some ten thousand rows all of them are, see :mod:`shapley2d._knn.cuda.subsets`. In other games
    the near rows are ranked and the far ones in bins, as :mod:`shapley2d._knn.cuda.twin` has them.

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
        self._classifies = game.task == "classification"
        self._magnitude = 1.0 if self._classifies else max(game.magnitude, np.finfo(np.float64).tiny)
        # No value is larger: what one of K neighbours can change, and in regression the error of no rows.
        k = game.n_neighbors
        self._bound = 1.0 / k if self._classifies else 8.0 / k + 2 * abs(game.weights.alone)
        self._per_bin = 8 if self._classifies else 20
        self._shape = shape or self._fitting_shape()
        self.group = self._shape.group
        self._at_a_time = self._shape.blocks * device.processors
        codes = (
            np.stack(map_columns(as_floats, game.train, game.n_rows))
            if game.n_columns
            else as_floats(game.train)
        )
        self._largest = largest_dissimilarities(game)
        self._launch = device.compile(
            "binned.cu",
            THREADS=self._shape.threads,
            GROUP=self.group,
            BINS=BINS,
            NEAR=NEAR,
            REGRESSION=int(not self._classifies),
            BLOCKS=self._shape.blocks,
            AHEAD=self._shape.ahead,
        )
        row_bytes = codes.itemsize * self.n_columns + 8 * self.group
        fits = self.n_rows * row_bytes <= device.cache_bytes // 2
        self._tile_rows = min(tile_rows or (self.n_rows if fits else _TILE_ROWS), self.n_rows)
        self._tiles = -(-self.n_rows // self._tile_rows)
        self._numbers = np.arange(self.n_columns, dtype=np.int32)
        try:
            self._upload(game, codes)
        except MemoryError as error:
            raise DeviceError(
                f"the table takes {codes.nbytes / 2**30:.1f} GB on the GPU, which has "
                f"{device.free_bytes() / 2**30:.1f} GB left"
            ) from error
        self._subsets: SubsetSums | None = None
        subset_shape = fitting_shape(game, device, subset_shapes)
        if subset_shape is not None:
            codes_there, entries_there = self._arguments[:2]
            self._subsets = SubsetSums(game, device, codes_there, entries_there, self._largest, subset_shape)
        self._tall: TallSums | None = None
        if self._subsets is not None and game.n_rows > MOST_ROWS and takes(game, device, tall_shape):
            subsets = self._subsets
            self._tall = TallSums(game, device, codes_there, subsets.prepared, subsets.ranks, tall_shape)

    def _fitting_shape(self) -> Shape:
        shapes = _SHAPES[self.n_columns <= _WIDE :] if self._classifies else _REGRESSION_SHAPES
        for shape in shapes:
            needed = self._on_chip(shape, self.n_columns) + 8 * shape.threads + _SPARE_BYTES
            if needed <= self._device.block_bytes and shape.blocks * needed <= self._device.processor_bytes:
                return shape
        raise DeviceError(
            f"{self._device.name} has {self._device.block_bytes // 1024} KB of memory on the chip for a block of "
            "threads, too little for the bins"
        )

    def _on_chip(self, shape: Shape, n_columns: int) -> int:
        """Bytes of counts, of lists of near rows, of what is summed up along these, and of columns."""
        summed = 2 * (NEAR + 2) if self._classifies else 16 * (NEAR + 1)
        bins = shape.group * (self._per_bin * _LINE + 8 * NEAR)
        columns = (_COLUMN_BYTES + 4 * shape.group) * (n_columns + shape.ahead)
        return bins + -(-shape.group * summed // 16) * 16 + columns

    def _upload(self, game: RowGame, codes: NDArray[Any]) -> None:
        device, weights = self._device, game.weights
        if self._classifies:
            labels = (device.upload(game.runs()), _NOWHERE, _NOWHERE)
        else:
            labels = (
                _NOWHERE,
                device.upload((game.y / self._magnitude).astype(np.float32)),
                device.upload(game.y_valid / self._magnitude),
            )
        tables = [device.upload(np.ascontiguousarray(table)) for table in (*weights[:5], game.inverse)]
        self._arguments: tuple[Any, ...] = (
            device.upload(codes),
            device.upload(entries(game)),
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
        listed = self._tall or self._subsets
        if listed is None or len(chosen) == 0:
            return self.near_ranked(coalitions, chosen, progress)
        total = np.empty((len(coalitions), self.n_rows))

        def add(part: NDArray[np.bool_]) -> Any:
            return listed.values(part, chosen)

        for part, found in self._groups(coalitions, listed.group, add, progress):
            total[part] = found
        return total

    def _groups(
        self,
        coalitions: NDArray[np.bool_],
        group: int,
        add: Callable[[NDArray[np.bool_]], Any],
        progress: Callable[[float], None] | None,
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[Any]]]:
        """Which coalitions were taken, and what was found for them."""
        # Coalitions of one size have distances of one size, so that they can share a layout.
        order = np.argsort(coalitions.sum(axis=1), kind="stable")
        parts = [order[start : start + group] for start in range(0, order.size, group)]
        done: list[tuple[NDArray[np.intp], NDArray[Any]]] = []

        def work(start: int, stop: int) -> None:
            there = []
            for number in range(start, stop):
                there.append(add(coalitions[parts[number]])[: parts[number].size])
                self._device.wait()
                if progress is not None:
                    progress((number + 1) / len(parts))
            found = [self._device.download(one) for one in there]
            done.extend(zip(parts[start:stop], found, strict=True))

        in_batches(work, len(parts), len(parts))
        yield from done

    def contracted(
        self, coalitions: NDArray[np.bool_], weights: NDArray[np.float64], chosen: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """What :meth:`sums` gives times weights of shape (lines, B), added up on the GPU: (lines, n)."""
        found: NDArray[np.float64] = self._device.download(self._contracted(coalitions, weights, chosen))
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
        kept = device.empty((2 * m + len(weights) - ends, self.n_rows), np.float64)
        kept[:m] = total[:m]
        kept[2 * m :] = total[ends:]
        squares = kept[m : 2 * m]
        squares[...] = 0.0
        for start in range(m, ends, m):
            change = total[start : start + m]
            change *= change
            squares += change
        return device.download(kept), of_columns

    @property
    def squares_at_most(self) -> int:
        """Changes of every value whose squares are added up here: as many as there is memory for."""
        numbers = _CHANGES_SHARE * self._device.memory_bytes / np.dtype(np.float64).itemsize
        return int(np.clip(numbers // max(self.n_rows * self.n_columns, 1), 1, _MANY_CHANGES))

    def _contracted(
        self, coalitions: NDArray[np.bool_], weights: NDArray[np.float64], chosen: NDArray[np.integer]
    ) -> Any:
        """Weighted sums of row values, on the GPU."""
        device, listed = self._device, self._tall or self._subsets
        group, unit, kernel = self.group, 1.0, "add_weighted"
        fixed = np.float32(2.0**30 / self._bound)
        if listed is not None and len(chosen):
            group = listed.group
        else:
            listed, unit, kernel = None, self._magnitude**2 / float(fixed), "add_weighted_counts"
        together = min(group, _CONTRACTED)
        launch = device.compile("contract.cu", GROUP=together)
        try:
            total = device.zeros((len(weights), self.n_rows), np.float64)
        except MemoryError as error:
            raise DeviceError("its memory does not suffice for this table") from error
        # Coalitions of one size have distances of one size, so that they can share a layout.
        order = np.argsort(coalitions.sum(axis=1), kind="stable")
        sizes = np.int32(len(weights)), np.int32(self.n_rows)

        def work(start: int, stop: int) -> None:
            for number in range(start, stop):
                part = order[number * group : (number + 1) * group]
                if listed is not None:
                    found = listed.values(coalitions[part], chosen)
                else:
                    found = device.zeros((group, self.n_rows), np.int64)
                    self._add_values(coalitions[part], chosen, fixed, found)
                for first in range(0, part.size, together):
                    few = part[first : first + together]
                    factors = np.zeros((len(weights), together))
                    factors[:, : few.size] = weights[:, few]
                    arguments = (
                        device.upload(factors),
                        sizes[0],
                        found[first:],
                        sizes[1],
                        np.float64(unit),
                        total,
                    )
                    launch(kernel, (-(-self.n_rows // 256),), 256, arguments)
                device.wait()

        in_batches(work, -(-len(coalitions) // group), 1)
        return total

    @property
    def rows_at_a_time(self) -> int:
        """Validation rows that the GPU's processors take beside one another."""
        return self._at_a_time if self._tall is None else MOST_VALID

    @property
    def finer(self) -> RowAxis | None:
        """The same with near rows ranked, where none are."""
        return None if self._subsets is None else _NearRanked(self)

    def near_ranked(
        self,
        coalitions: NDArray[np.bool_],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """The same with near rows ranked."""
        total = np.empty((len(coalitions), self.n_rows))
        fixed = np.float32(2.0**30 / self._bound)

        def add(part: NDArray[np.bool_]) -> Any:
            sums = self._device.zeros((self.group, self.n_rows), np.int64)
            self._add_values(part, chosen, fixed, sums)
            return sums

        for part, found in self._groups(coalitions, self.group, add, progress):
            total[part] = found * (self._magnitude**2 / float(fixed))
        return total

    def _add_values(
        self, coalitions: NDArray[np.bool_], chosen: NDArray[np.integer], fixed: np.float32, sums: Any
    ) -> None:
        listed = np.flatnonzero(coalitions.any(axis=0)).astype(np.int32)
        bits = (coalitions[:, listed].T << np.arange(len(coalitions))).sum(axis=1).astype(np.int32)
        sizes = coalitions.sum(axis=1)
        top = float((coalitions @ self._largest).max(initial=0))
        layout = make_layout(top, int(sizes[sizes > 0].min(initial=self.n_columns)))
        listed_there = self._device.upload(listed if listed.size else np.zeros(1, dtype=np.int32))
        bits_there = self._device.upload(bits if bits.size else np.zeros(1, dtype=np.int32))
        arguments = (listed_there, bits_there, np.int32(listed.size))
        self._run("add_values", chosen, arguments, layout, fixed, (sums,))

    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        low = self.group.bit_length() - 1
        if not self._classifies or self.n_columns <= low:
            return walk_by_sums(self, weights_in, weights_out, chosen)
        if self._subsets is not None and len(chosen) and can_take(weights_in, weights_out):
            return self._walk_subsets(self._subsets, weights_in, weights_out, chosen)
        device = self._device
        blocks = min(max(len(chosen), 1), self._at_a_time)
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
        light_in, light_out = (np.where(heavy, 0.0, weights) for weights in (weights_in, weights_out))
        total = subsets.contracted(light_in, light_out, chosen)
        one = np.eye(m, dtype=np.bool_)
        coalitions = np.concatenate([one[:1] & False, one, ~one, one[:1] | True])
        return total + contract(coalitions, self.near_ranked(coalitions, chosen), weights_in, weights_out)

    def _walk_step(
        self,
        others: int,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
        buffers: _Walk,
    ) -> None:
        """Add all subsets of the first few columns, with a set of others (by its bits) in all of them."""
        device, m = self._device, self.n_columns
        low = self.group.bit_length() - 1
        high = low + np.flatnonzero([others >> j & 1 for j in range(m - low)])
        sizes = high.size + np.arange(low + 1)
        with_column, everywhere = weights_in[sizes] + weights_out[sizes], weights_out[sizes]
        many = np.array([math.comb(low, size) for size in range(low + 1)])
        largest = self._bound * max(float(many @ np.abs(with_column)), float(many @ np.abs(everywhere)))
        if largest == 0.0:
            return
        fixed = np.float32(0.99 * 2.0**31 / (largest * max(len(chosen), 1)))
        listed = np.append(np.arange(low), high).astype(np.int32)
        layout = make_layout(float(self._largest[listed].sum()), max(high.size, 1))
        there = device.upload(listed)
        zeros = np.zeros(4 - low)
        weights = np.concatenate([with_column, zeros, everywhere, zeros]).astype(np.float32)
        last = (*weights, buffers.sums)
        self._run(
            "add_walk", chosen, (there, there, np.int32(listed.size)), layout, fixed, last, buffers.kept
        )
        roles = np.zeros(m, dtype=np.int32)
        roles[high] = 1
        roles[:low] = 2 + np.arange(low)
        shape = (np.int32(m), np.int32(low + 2))
        unit = np.float64(1.0 / float(fixed))
        arguments = (buffers.sums, np.int32(self.n_rows), device.upload(roles), *shape, unit, buffers.values)
        self._launch("fold_walk", (-(-self.n_rows // 256),), 256, arguments)

    def walk_rows(self) -> int:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        rounds = _WALK_WORK // ((self.n_rows << self.n_columns) * self._device.processors)
        if self._subsets is not None:
            rounds = min(rounds, self._subsets.most_at_a_time // self._device.processors)
        return self._device.processors * int(max(rounds, 1))

    def _run(
        self,
        kernel: str,
        chosen: NDArray[np.integer],
        listed: tuple[Any, ...],
        layout: Layout,
        fixed: np.float32,
        last: tuple[Any, ...],
        kept: Any = _NOWHERE,
    ) -> None:
        """Launch a kernel on the chosen validation rows: all phases at once, or one by one over tiles of rows."""
        device = self._device
        bins = (np.int32(layout.shift), np.int32(layout.offset))
        n_listed = int(listed[2])
        state_bytes = self.group * (self._per_bin * _LINE + 8 * NEAR)
        on_chip = self._on_chip(self._shape, n_listed)

        def launch(
            grid: tuple[int, int], part: Any, count: int, phases: int, state: Any, limits: Any
        ) -> None:
            arguments = (
                *self._arguments, part, np.int32(count), *listed, *bins, np.int32(phases), np.int32(self._tile_rows),
                kept, state, limits, fixed, *last,
            )  # fmt: skip
            self._launch(kernel, grid, self._shape.threads, arguments, on_chip)

        numbers = chosen.astype(np.int32)
        if self._tiles == 1:
            if numbers.size:
                blocks = min(numbers.size, self._at_a_time)
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


class _NearRanked:
    """Row values with near rows ranked, of a game whose rows are all in bins."""

    def __init__(self, rows: BinnedRows) -> None:
        self._rows = rows
        self.n_rows, self.n_columns = rows.n_rows, rows.n_columns

    def sums(
        self,
        coalitions: NDArray[np.bool_],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return self._rows.near_ranked(coalitions, chosen, progress)

    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return walk_by_sums(self, weights_in, weights_out, chosen)

    def walk_rows(self) -> int:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return self._rows.walk_rows()


def walk_by_sums(
    axis: Any,
    weights_in: NDArray[np.float64],
    weights_out: NDArray[np.float64],
    chosen: NDArray[np.integer],
    step: int = 256,
) -> NDArray[np.float64]:
    """The walk over all coalitions from the row values of a few of them at a time."""
    m = axis.n_columns
    total = np.zeros((m, axis.n_rows))
    for start in range(0, 1 << m, step):
        numbers = np.arange(start, min(start + step, 1 << m))
        coalitions = (numbers[:, None] >> np.arange(m) & 1).astype(np.bool_)
        total += contract(coalitions, axis.sums(coalitions, chosen), weights_in, weights_out)
    return total


def contract(
    coalitions: NDArray[np.bool_],
    sums: NDArray[np.float64],
    weights_in: NDArray[np.float64],
    weights_out: NDArray[np.float64],
) -> NDArray[np.float64]:
    """What coalitions with these row values add to every column: (m, n)."""
    size = coalitions.sum(axis=1)
    weights = np.where(coalitions, weights_in[size][:, None], -weights_out[size][:, None])
    return np.asarray(weights.T @ sums)
