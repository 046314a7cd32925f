"""Row values of the K-nearest-neighbour game on a GPU.

Takes what the processor takes (training entries, how validation rows see them, labels or targets,
weights of ranks) and gives weighted sums of row values over column subsets. Values are those of the
processor: the kernels of ``rows.cu`` follow the same definition, with the same distances. Beyond
the number of rows that are all ranked, values are floats.

Work is cut in batches of subsets and validation rows. A batch has two launches, after which its
row values are multiplied by the subsets' weights on the GPU; so an interrupt waits for one batch,
and only the result travels.

Where no GPU was asked for by name, what fails on it is done by the processor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._knn.device import DeviceError, say_unusable
from shapley2d._knn.fixed_point import REACH, UNIT
from shapley2d._knn.kernels.rows import BINS, subset_codes
from shapley2d._knn.neighbours import Neighbours

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._knn.device import Device

_BIN_THREADS = 256  # as in rows.cu
_SAME = 16  # as there
_WINDOW = 8192  # bins that are on the chip at a time
_SHAPE = 512, 2  # threads of a block, and blocks that a processor takes at a time
_SIGHTS, _SIGHT_BYTES = 32, 56  # as there: columns that are seen from the chip
_LISTED = 1024  # near rows that are ranked on the chip
_OWN_BYTES = 2560  # of the chip, that a block has besides
_RANKED = 2048  # rows that are ranked on the chip, where all are
_BLOCK = 1024  # subsets of a batch, at most
_SLICE = 64  # validation rows whose values are added up as floats, at most
_BATCH_BYTES = 2**35  # of a batch, at most


class GpuNeighbours(Neighbours):
    """Row values on a GPU.

    ``asked_for``: whether the GPU was, so that the processor must not take its place.
    ``near``: rows that are ranked, at least; as many as the processor ranks by default.
    """

    rows_at_a_time = 64
    on_gpu = True

    def __init__(
        self,
        *tables: Any,
        device: Device,
        asked_for: bool = True,
        near: int | None = None,
        **asked: Any,
    ) -> None:
        super().__init__(*tables, **asked)
        self._device, self._asked_for = device, asked_for
        try:
            self._set_up(self.near if near is None else near)
        except DeviceError as error:
            self._give_up(error)

    def __call__(self, subsets: Bools, weights: Floats, chunk: Ints, **asked: Any) -> Floats:
        """See the base class."""
        if self.on_gpu and self.n_columns:
            try:
                return self._on_gpu(subsets, weights, chunk)
            except DeviceError as error:
                self._give_up(error)
        return super().__call__(subsets, weights, chunk, **asked)

    def _give_up(self, error: DeviceError) -> None:
        say_unusable(error, asked_for=self._asked_for)
        self.on_gpu = False

    def _set_up(self, near: int) -> None:
        put = self._device.arrays.asarray
        self._ranked = self.n_rows <= min(near, _RANKED)
        self._stride = -(-self.n_rows // 8) * 8
        self._lay_out(near)
        self._set_targets()
        by_column, by_row, nominal = self.distances.entries
        self._entries = [put(by_row), put(nominal.astype(np.uint8))]
        self._columns = put(by_column)
        tables = self.ranks[:2] if self.classifies else self.ranks[:5]
        self._ranks = put(np.ascontiguousarray(np.stack(tables, axis=1)))
        self._room: Any = None

    def _lay_out(self, near: int) -> None:
        """What is on the chip, and what else a block needs."""
        device, regression = self._device, not self.classifies
        self._real = np.float64 if self._ranked else np.float32
        planes = 3 if regression else 2
        total, worth = 16 if regression else 4, planes * np.dtype(self._real).itemsize
        window = 0 if self._ranked else _WINDOW // (2 if regression else 1)
        listed = near if self._ranked else _LISTED

        def near_bytes(size: int) -> int:
            return (size + 2) * (16 + total + worth)

        def chip_bytes() -> int:
            table = max(4 * planes * window, near_bytes(listed))
            return _SIGHTS * _SIGHT_BYTES + 4 * listed + table

        threads, blocks = (128, 8) if self._ranked else _SHAPE
        while chip_bytes() + _OWN_BYTES > device.block_bytes and window > threads:
            window, listed = window // 2, listed // 2
        self._threads, self._chip = threads, chip_bytes()
        blocks = max(min(blocks, device.processor_bytes // (self._chip + _OWN_BYTES)), 1)
        self._room_bytes = 0
        if self.n_columns > _SIGHTS:
            self._room_bytes = -(-self.n_columns // 2) * 2 * _SIGHT_BYTES
        if not self._ranked:
            self._room_bytes += 4 * self._stride + -(-near_bytes(self.n_rows) // 16) * 16
            self._room_bytes += (2 + 16 * regression) * window
        fit = device.free_bytes() // 4 // max(self._room_bytes, 1)
        self._blocks = max(min(device.processors * blocks, fit), 1)
        self._launch = device.compile(
            "rows.cu",
            NEAR=near,
            LISTED=listed,
            THREADS=threads,
            BLOCKS=blocks,
            REGRESSION=int(regression),
            RANKED=int(self._ranked),
            WINDOW=window,
        )
        self._tile = 64
        while self._tile > 2 and self._tile_bytes > device.block_bytes:
            self._tile //= 2
        if self._tile_bytes > device.block_bytes:
            raise DeviceError(f"{self.n_columns} columns are too many for its memory on the chip")

    @property
    def _tile_bytes(self) -> int:
        return 8 * 16 * -(-self.n_columns // 4) * self._tile

    def _set_targets(self) -> None:
        """Targets in regression, at most 1, and whole numbers in which sums of them are exact."""
        self._scale, self._quantum, self._whole, targets = 1.0, 1.0, 0, np.zeros(1)
        if not self.classifies:
            self._scale = float(2.0 ** np.frexp(np.abs(self.y).max())[1])
            targets = self.y / self._scale
            self._quantum = 2.0 ** (61 - self.n_rows.bit_length())
            self._whole = int(np.rint(targets * self._quantum).astype(np.int64).sum())
        self._targets = self._device.arrays.asarray(targets)

    def _on_gpu(self, subsets: Bools, weights: Floats, chunk: Ints) -> Floats:
        device, arrays = self._device, self._device.arrays
        try:
            seen = [arrays.asarray(one) for one in self._seen(chunk)]
            total = arrays.zeros((len(weights), self.n_rows), np.float64)
            n_subsets, n_valid, length = self._batch(len(subsets), chunk.size)
            for start in range(0, len(subsets), n_subsets):
                part = slice(start, start + n_subsets)
                columns = arrays.asarray(np.ascontiguousarray(weights[:, part]))
                lists = _Lists(device, subsets[part])
                for first in range(0, chunk.size, n_valid):
                    some = [one[first : first + n_valid] for one in seen]
                    total += columns @ self._sums(lists, some, length)
                    device.wait()
            total *= self._scale**2 / max(chunk.size, 1)
            return np.asarray(arrays.asnumpy(total))
        except device.memory_errors as error:
            device.free()
            raise DeviceError("its memory does not suffice for this table") from error

    def _seen(self, chunk: Ints) -> tuple[Floats, Floats, Floats]:
        """Of validation rows: terms of distances, labels or targets, and weights."""
        labels = self.runs[chunk].astype(np.float64)
        if not self.classifies:
            labels[:, 0] = self.y_valid[chunk] / self._scale
        return self.distances.terms[chunk], labels, self.valid_weights[chunk]

    def _batch(self, n_subsets: int, n_valid: int) -> tuple[int, int, int]:
        """Subsets and validation rows that share launches, and validation rows that share a line.

        As large as memory allows; with several times as many lines as there are blocks.
        """
        room = self._blocks * self._room_bytes if self._room is None else 0
        budget = min(max(self._device.free_bytes() - room, 0) // 2, _BATCH_BYTES)
        line = 4 * self._stride
        subsets = max(min(n_subsets, _BLOCK, budget // 4 // (4 * line)), 1)
        pair = 40 if self._ranked else line // 2 + 40
        together = max(min(n_valid, budget // 2 // (subsets * pair), 2**15), 1)
        slices = max(-(-8 * self._blocks // subsets), -(-together // _SLICE))
        slices = max(min(slices, together, budget // 4 // (subsets * line)), 1)
        length = min(-(-together // slices), _SLICE)
        return subsets, min(together, length * slices), length

    def _sums(self, lists: _Lists, seen: list[Any], length: int) -> Any:
        """Row values under every subset, summed over some validation rows: (B, n), on the GPU."""
        arrays, (terms, labels, weights) = self._device.arrays, seen
        n_valid = len(weights)
        slices = -(-n_valid // length)
        unit, reach = (terms[:, :, one] @ lists.members for one in (UNIT, REACH))
        begins = ((reach.view(np.int64) >> 42) - (BINS - 1)).astype(np.int32)
        shape = (self.n_rows, self.n_columns, self._stride)
        bins = arrays.empty(1 if self._ranked else lists.count * n_valid * self._stride, np.uint16)
        if not self._ranked:
            self._launch(
                "find_bins", (-(-self.n_rows // self._tile), n_valid), _BIN_THREADS,
                (*self._entries, terms, lists.masks, begins, *shape, self._tile,
                 lists.count, bins),
                self._tile_bytes,
            )  # fmt: skip
        lines = arrays.zeros((slices, lists.count, self._stride), self._real)
        n_blocks = min(self._blocks, slices * lists.count)
        if self._room is None:
            self._room = arrays.empty(max(self._blocks * self._room_bytes, 16), np.uint8)
        self._launch(
            "value_rows", (n_blocks,), self._threads,
            (*self._entries, self._columns, terms, lists.columns, lists.sizes, 2.0 * unit,
             bins, self._targets, labels, self._ranks, weights, self.ranks.alone,
             self._quantum, self._whole, self.n_neighbors, *shape, lists.count, n_valid,
             length, arrays.zeros(1, np.int32), self._room, self._room_bytes, lines),
            self._chip,
        )  # fmt: skip
        return lines.sum(axis=0, dtype=np.float64)[:, : self.n_rows]


class _Lists:
    """Column subsets on the GPU: as lists of columns, as bits, and as a matrix."""

    def __init__(self, device: Device, subsets: Bools) -> None:
        self.count, n_columns = subsets.shape
        put = device.arrays.asarray
        # members first
        self.columns = put(np.argsort(~subsets, axis=1, kind="stable").astype(np.uint16))
        masks = subset_codes(subsets)[:, : -(-n_columns // 4)]
        masks[1:, 0] |= _SAME * (masks[1:, 1:] == masks[:-1, 1:]).all(axis=1).astype(np.uint8)
        self.masks = put(np.ascontiguousarray(masks))
        self.sizes = put(subsets.sum(axis=1, dtype=np.int32))
        self.members = put(subsets.T.astype(np.float64))
