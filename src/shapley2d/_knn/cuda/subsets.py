"""Sums over all column subsets on a GPU: what launches ``subsets.cu``."""

from __future__ import annotations

import math
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.in_threads import map_columns
from shapley2d._kernels.distinct import split_groups
from shapley2d._knn.cuda.batches import ListedSums
from shapley2d._knn.cuda.kernel_inputs import HalfBins, class_runs, mean_dissimilarities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.row_axis import RowGame

MOST_ROWS = 2**16 - 1
"""Beyond here bins have to be wide: counts do not fit half a word."""

MOST_ENTRIES = 2**31 - 1
"""Of a table: kernels count them in 32 bits."""

LEAST_ROWS = 2**13
"""With fewer rows, ranking near ones takes little time and leaves a smaller error."""

FEW = 64
"""The bulk of the rows in a column is all but one in 64: see docs/evidence/knn.md."""

_LARGEST_HALF = 65000.0
_LARGEST_VALUE = 65000.0  # of 16 bits, less what rounding may add
_LARGEST_RANK_SUM = 2.0**30
_LEAST_BULK = 1 / 64  # of what two rows differ by on average
_KEPT_SHARE = 0.25  # of the free memory, for distances that are looked at twice
_NOWHERE = np.uint64(0)
_SPARE_BYTES = 2048  # on the chip, beside what a launch asks for
_QUEUE = 16  # launches after which Ctrl-C is looked for


class SubsetShape(NamedTuple):
    """Columns whose subsets share a launch, threads of a block, blocks of a processor, bins.

    ``shift`` leaves 1024 >> shift bins to an octave, ``upper`` is the number of octaves, and
    ``wide`` bins hold more than 65,535 rows.
    """

    low: int
    threads: int
    blocks: int
    shift: int
    upper: int
    wide: bool = False

    @property
    def bins(self) -> HalfBins:
        """The bins of a subset."""
        return HalfBins(self.shift, self.upper)

    def on_chip(self, n_columns: int) -> int:
        """Bytes of the memory on the chip."""
        return (8 if self.wide else 4) * (1 << self.low) * self.bins.words + 28 * n_columns


# The fastest first, measured on an H200; the others are for GPUs with less memory on the chip.
SUBSET_SHAPES = (
    SubsetShape(4, 512, 2, 5, 28),
    SubsetShape(4, 512, 1, 5, 28),
    SubsetShape(3, 256, 1, 5, 28),
    SubsetShape(3, 1024, 1, 4, 28, wide=True),
    SubsetShape(3, 512, 1, 5, 28, wide=True),
)


class _Launch(NamedTuple):
    """The distinct rows under the columns of a launch."""

    high: NDArray[np.int32]
    places: NDArray[np.int32]
    first: NDArray[np.int32]
    size: NDArray[np.int32]


class SubsetSums(ListedSums):
    """Weighted sums of row values over all column subsets, and over those with each column.

    Parameters
    ----------
    game : RowGame
        Of classification.
    device : Device
    train, entries : device arrays
        Of :class:`~shapley2d._knn.cuda.near_ranked.NearRanked`.
    largest : ndarray of shape (m,)
        The largest that two entries of each column can be apart.
    shape : SubsetShape
    """

    def __init__(
        self,
        game: RowGame,
        device: Device,
        train: Any,
        entries: Any,
        largest: NDArray[np.int64],
        shape: SubsetShape,
    ) -> None:
        self._game, self._device, self._shape = game, device, shape
        self._train, self._entries = train, entries
        self.n_rows, self.n_columns = game.n_rows, game.n_columns
        self._launch = device.compile(
            "subsets.cu",
            THREADS=shape.threads,
            BLOCKS=shape.blocks,
            LOW=shape.low,
            SHIFT=shape.shift,
            UPPER=shape.upper,
            WIDE=int(shape.wide),
        )
        self.group = 1 << shape.low
        self.most_at_a_time = 2**16 // self.group - 1  # validation rows whose sums fit a word
        self._scale = half_scale(largest)
        absent = np.iinfo(game.train.dtype).min
        gaps = map_columns(lambda column: int(column.min() == absent), game.train, self.n_rows)
        self._gaps = device.upload(np.array(gaps, dtype=np.int32))
        self._ends, self._labels = class_runs(game)
        self._prepared = lru_cache(maxsize=1)(self._prepare)
        beyond = game.weights.single_beyond
        rank_unit = np.float32(max(float(beyond[0]), 1e-30) / _LARGEST_RANK_SUM)
        ranks = np.empty(self.n_rows + 1, dtype=[("single", np.float32), ("beyond", np.int32)])
        ranks["single"] = game.weights.single
        ranks["beyond"] = np.rint(beyond / float(rank_unit))
        self.ranks = device.upload(ranks.view(np.int64)), rank_unit
        self._bound = float(game.weights.single.max())
        self._given = (*self.ranks, np.float32(shape.bins.floor))
        self._least = device.upload(
            (_LEAST_BULK * self._scale * mean_dissimilarities(game)).astype(np.float32)
        )

    def values(self, coalitions: NDArray[np.bool_], chosen: NDArray[np.integer]) -> Any:
        """See :class:`~shapley2d._knn.cuda.batches.ListedSums`."""
        device, n = self._device, self.n_rows
        listed = np.flatnonzero(coalitions.any(axis=0)).astype(np.int32)
        bits = (coalitions[:, listed].T << np.arange(len(coalitions))).sum(axis=1).astype(np.int32)
        parts = [listed, bits, self._ends]
        columns, masks, ends_there = _views(device.upload(np.concatenate(parts)), parts)
        factors = device.upload(np.full(self.group, _LARGEST_VALUE / self._bound, dtype=np.float32))
        sums = device.zeros((self.group, n), np.uint32)
        totals = device.zeros(self.group, np.uint64)
        rows = (self._train, np.int32(n), np.int32(-(-n // 2)))
        columns = (columns, np.int32(listed.size))
        shape = self._shape
        self._launch("add_listed", (self._blocks(chosen),), shape.threads, (
            *rows, *self.prepared(chosen), np.int32(self.n_columns), self._gaps, *columns,
            device.upload(self._labels[chosen]), ends_there, np.int32(chosen.size), *self._given,
            factors, sums, totals, masks, self._distances(chosen),
        ), shape.on_chip(self.n_columns))  # fmt: skip
        values = device.empty((self.group, n), np.float64)
        self._launch(
            "fold_listed",
            (-(-n // 256), self.group),
            256,
            (sums, np.int32(n), factors, totals, values),
        )
        return values

    def _distances(self, chosen: NDArray[np.integer]) -> Any:
        """Room for the distances of the validation rows that are taken at a time, if it fits."""
        half = -(-self.n_rows // 2)
        shape = (self._blocks(chosen), self.group, half)
        if math.prod(shape) * 4 > _KEPT_SHARE * self._device.free_bytes():
            return _NOWHERE
        return self._device.empty(shape, np.uint32)

    def _blocks(self, chosen: NDArray[np.integer]) -> int:
        return max(min(chosen.size, self._shape.blocks * self._device.processors), 1)

    def prepared(self, chosen: NDArray[np.integer]) -> tuple[Any, Any]:
        """The entries of chosen validation rows, and where the bulk of rows begins by column."""
        # a walk asks for the same rows again and again
        found: tuple[Any, Any] = self._prepared(chosen.astype(np.int32).tobytes())
        return found

    def _prepare(self, numbers: bytes) -> tuple[Any, Any]:
        chosen = np.frombuffer(numbers, dtype=np.int32)
        device, m = self._device, self.n_columns
        entries = device.empty((chosen.size, m, 4), np.float32)
        bulks = device.empty((chosen.size, m), np.float32)
        self._launch("find_bulks", (chosen.size, m), 256, (
            self._train, np.int32(self.n_rows), np.int32(m), device.upload(chosen),
            np.float32(self._scale), np.int32(self.n_rows // FEW), self._least, self._entries,
            entries, bulks,
        ))  # fmt: skip
        return entries, bulks

    def contracted(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """The walk of :class:`~shapley2d._knn.row_axis.RowAxis`.

        Subsets with a column count ``weights_in + weights_out``, and from that ``weights_out`` of
        all subsets is taken away. For every semivalue that is a share of the former that is linear
        in the subset's size, which the sums over all columns tell.
        """
        both = weights_in + weights_out
        line = _share(both, weights_out)
        if line is not None:
            sums = self.sums(both, chosen)
            with_column, everywhere = sums[:-1], sums[-1]
            return np.asarray(
                with_column - line[0] * everywhere - line[1] * with_column.sum(axis=0)
            )
        total = np.zeros((self.n_columns, self.n_rows))
        for weights, sign in ((both, 1.0), (-both, -1.0)):
            if weights.max() > 0.0:
                total += sign * self.sums(weights, chosen)[:-1]
        for weights, sign in ((weights_out, 1.0), (-weights_out, -1.0)):
            if weights.max() > 0.0:
                total -= sign * self.sums(weights, chosen)[-1]
        return total

    def sums(
        self, weights: NDArray[np.float64], chosen: NDArray[np.integer]
    ) -> NDArray[np.float64]:
        """The sum of ``weights[|F|] phi(F)`` over column subsets F and chosen validation rows.

        Parameters
        ----------
        weights : ndarray of shape (m + 1,)
            None of them negative.
        chosen : ndarray of int

        Returns
        -------
        ndarray of shape (m + 1, n)
            Over the subsets with each of the columns; last, over all subsets.
        """
        values = self._device.zeros((self.n_columns + 1, self.n_rows), np.float64)
        for start in range(0, len(chosen), self.most_at_a_time):
            self._add(weights, chosen[start : start + self.most_at_a_time], values)
        total: NDArray[np.float64] = self._device.download(values)
        return total

    def _add(self, weights: NDArray[np.float64], chosen: NDArray[np.integer], values: Any) -> None:
        device, m, shape = self._device, self.n_columns, self._shape
        labels = device.upload(self._labels[chosen])
        half = -(-self.n_rows // 2)
        blocks = self._blocks(chosen)
        codes = device.empty((m, 2 * half), np.float32)
        kept = device.empty((blocks, shape.low + 1, half), np.uint32)
        sums = device.empty((shape.low + 1, 2 * half), np.uint32)
        totals = device.empty(self.group, np.uint64)
        low, _ = self._columns()
        own_sizes = sum(np.arange(self.group) >> j & 1 for j in range(shape.low))
        for number, rows in enumerate(self._distinct()):
            used = weights[rows.high.size + own_sizes]
            most = float(used.max())
            if most == 0.0:
                continue
            listed = np.concatenate([low, rows.high])
            roles = np.full(m, -1, dtype=np.int32)
            roles[rows.high] = 0
            roles[low] = 1 + np.arange(shape.low)
            distinct = rows.first.size
            pairs = -(-distinct // 2)
            # Rows of a class lie together, and so do their first ones.
            ends = np.searchsorted(rows.first, self._ends).astype(np.int32)
            parts = [
                listed,
                roles,
                ends,
                rows.first,
                rows.places,
                rows.size,
                np.zeros(distinct % 2, dtype=np.int32),
            ]
            there = _views(device.upload(np.concatenate(parts)), parts)
            columns, roles_there, ends_there, first, places, members, _ = there
            factors = device.upload(
                (used * (_LARGEST_VALUE / (self._bound * most))).astype(np.float32)
            )
            stride, n_listed = np.int32(2 * pairs), np.int32(listed.size)
            self._launch("gather_rows", (-(-2 * pairs // 256),), 256, (
                self._train, np.int32(self.n_rows), columns, n_listed, first, np.int32(distinct),
                stride, codes, np.int32(shape.low + 1), sums, np.int32(self.group), totals,
            ))  # fmt: skip
            self._launch("add_subsets", (blocks,), shape.threads, (
                codes, stride, np.int32(pairs), *self.prepared(chosen), np.int32(m), self._gaps,
                columns, n_listed, labels, ends_there, np.int32(chosen.size), *self._given,
                factors, sums, totals, members, kept,
            ), shape.on_chip(m))  # fmt: skip
            self._launch("fold_subsets", (-(-self.n_rows // 256),), 256, (
                sums, stride, np.int32(self.n_rows), places, roles_there, np.int32(m), factors,
                totals, np.float64(self._bound * most / _LARGEST_VALUE), values,
            ))  # fmt: skip
            if number % _QUEUE == 0:
                device.wait()

    @cached_property
    def _coded(self) -> list[tuple[int, NDArray[np.int32]]]:
        """The number of distinct entries of every column, and which of them each row has."""
        codes = [np.unique(column, return_inverse=True) for column in self._game.train]
        return [(distinct.size, inverse.astype(np.int32)) for distinct, inverse in codes]

    def _columns(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Which columns' choices share a launch, those with the fewest entries, and the others."""
        order = np.argsort([count for count, _ in self._coded], kind="stable").astype(np.int32)
        return np.sort(order[: self._shape.low]), np.sort(order[self._shape.low :])

    def _distinct(self) -> Iterator[_Launch]:
        """The distinct rows under the low columns and every set of the others."""
        low, others = self._columns()
        groups = np.unique(self._game.y, return_inverse=True)[1].astype(np.int32)
        for j in low:
            groups, first, size = split_groups(groups, self._coded[j][1], self._coded[j][0])

        def split(rows: _Launch, number: int) -> Iterator[_Launch]:
            if number == others.size:
                yield rows
                return
            yield from split(rows, number + 1)
            count, codes = self._coded[others[number]]
            high = np.append(rows.high, others[number])
            yield from split(_Launch(high, *split_groups(rows.places, codes, count)), number + 1)

        yield from split(_Launch(low[:0], groups, first, size), 0)


def can_take(weights_in: NDArray[np.float64], weights_out: NDArray[np.float64]) -> bool:
    """Whether the weights of a walk have one sign each, as whole numbers without a sign need it."""
    return all(
        bool((weights >= 0).all() or (weights <= 0).all())
        for weights in (weights_in + weights_out, weights_out)
    )


def fitting_shape(
    game: RowGame, device: Device, shapes: tuple[SubsetShape, ...]
) -> SubsetShape | None:
    """The first shape that the GPU has room for; None where near rows are better ranked."""
    if game.task != "classification" or game.n_rows < LEAST_ROWS or game.train.size > MOST_ENTRIES:
        return None
    for shape in shapes:
        needed = shape.on_chip(game.n_columns) + _SPARE_BYTES
        room = needed <= device.block_bytes and shape.blocks * needed <= device.processor_bytes
        enough = shape.wide or game.n_rows <= MOST_ROWS
        if room and enough and game.n_columns > shape.low:
            return shape
    return None


def _share(both: NDArray[np.float64], part: NDArray[np.float64]) -> tuple[float, float] | None:
    """Fit ``part / both`` as ``start + slope * size``; None if it is not linear.

    Examples
    --------
    >>> _share(np.array([0.0, 2.0, 4.0, 6.0]), np.array([0.0, 0.5, 2.0, 4.5]))
    (0.0, 0.25)
    """
    sizes = np.flatnonzero(both)
    if sizes.size == 0 or (both < 0).any():
        return None
    shares = part[sizes] / both[sizes]
    slope = (shares[-1] - shares[0]) / max(sizes[-1] - sizes[0], 1)
    start = shares[0] - slope * sizes[0]
    off = both * (start + slope * np.arange(both.size)) - part
    if np.abs(off).max() > 1e-12 * np.abs(both).max():
        return None
    return float(start), float(slope)


def half_scale(largest: NDArray[np.int64]) -> float:
    """The power of 2 that makes the largest distances fit a half float.

    Examples
    --------
    >>> half_scale(np.array([2**20, 2**20]))
    0.015625
    """
    return float(2.0 ** math.floor(math.log2(_LARGEST_HALF / max(float(largest.sum()), 1e-30))))


def _views(array: Any, parts: list[NDArray[Any]]) -> list[Any]:
    """The parts of arrays that were copied as one."""
    ends = np.cumsum([part.size for part in parts])
    return [array[end - part.size : end] for part, end in zip(parts, ends, strict=True)]
