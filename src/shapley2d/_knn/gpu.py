"""Row values of the K-nearest-neighbour game on a GPU.

Takes what the processor takes (training entries, how validation rows see them, labels or targets,
weights of ranks) and gives weighted sums of row values over column subsets. Values are those of the
processor: the kernels of ``rows.cu`` follow the same definition, with the same distances. Beyond the
number of rows that are all ranked, values are floats.

Work is cut in batches of subsets and validation rows. A batch has three launches, after which its
row values are multiplied by the subsets' weights on the GPU; so an interrupt waits for one batch,
and only the result travels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from shapley2d._knn.device import DeviceError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from shapley2d._knn.device import Device
    from shapley2d._knn.rank_weights import RankWeights

    Floats = NDArray[np.float64]

_BINS = 16384  # as in rows.cu
_BIN_THREADS = 256
_LISTED = 4096  # near rows that are ranked on the chip
_SUBSETS = 1024  # at most, of a batch
_BATCH_BYTES = 2**34  # at most, of a batch


class Lens(Protocol):
    """How validation rows see training entries: arrays of shape (T, m), ``nominal`` of (m,)."""

    near: Floats
    mirror: Floats
    scale: Floats
    base: Floats
    gap: Floats
    unit: Floats
    reach: Floats
    nominal: NDArray[np.bool_]


class _Batch(NamedTuple):
    """Subsets and validation rows that share launches, and validation rows that share a line."""

    subsets: int
    valid: int
    slice: int


class GpuRows:
    """Row values on a GPU.

    Parameters
    ----------
    device : Device
    train : ndarray of shape (n, m)
        Numbers, or codes of categories; NaN where missing. In classification rows are sorted by
        label.
    lens : Lens
        How the T validation rows see them.
    y : ndarray of shape (n,)
        Labels, or centred targets.
    y_valid : ndarray of shape (T,)
    valid_weights : ndarray of shape (T,)
    weights : RankWeights
    n_neighbors : int
    task : {"classification", "regression"}
    near : int
        Rows that are ranked, at least.
    """

    def __init__(
        self,
        device: Device,
        train: Floats,
        lens: Lens,
        *,
        y: NDArray[Any],
        y_valid: NDArray[Any],
        valid_weights: Floats,
        weights: RankWeights,
        n_neighbors: int,
        task: str,
        near: int,
    ) -> None:
        self._device, self._lens, self._weights = device, lens, valid_weights
        self.n_rows, self.n_columns = train.shape
        self._regression = task == "regression"
        self._ranked = self.n_rows <= near
        self._n_neighbors, self._alone = n_neighbors, weights.alone
        self._stride = -(-self.n_rows // 8) * 8
        self._lay_out(near)
        tables = weights[:5] if self._regression else weights[:2]
        self._tables = [
            device.upload(np.ascontiguousarray(train, dtype=np.float64)),
            device.upload(lens.nominal.astype(np.uint8)),
        ]
        self._ranks = device.upload(np.ascontiguousarray(np.stack(tables, axis=1)))
        self._set_labels(y, y_valid)
        self._room: Any = None

    def _lay_out(self, near: int) -> None:
        """What is on the chip, and what else a block needs."""
        device, regression = self._device, self._regression
        self._real = np.float64 if self._ranked else np.float32
        planes = 3 if regression else 2
        member, worth = 24 if regression else 4, planes * np.dtype(self._real).itemsize

        def near_bytes(size: int) -> int:
            return (size + 2) * (16 + member + worth)

        def chip_bytes(listed: int, table: int) -> int:
            return 4 * listed + max(table, near_bytes(listed)) + 2048  # and the kernel's own

        threads, table, listed = 1024, 4 * planes * _BINS, _LISTED
        if self._ranked:
            threads, table, listed = 128, 0, near
        on_chip = chip_bytes(listed, table) <= device.block_bytes
        if not on_chip:
            table, listed = 0, 512 if not self._ranked else near
        self._threads, self._chip = threads, chip_bytes(listed, table) - 1024
        room = 4 * self._stride + near_bytes(self.n_rows) + 16
        self._room_bytes = 0 if self._ranked else -(-room // 16) * 16 + (16 + 4 * planes) * _BINS
        resident = min(device.processor_bytes // (self._chip + 2048), 2048 // threads)
        self._blocks = max(device.processors * max(resident, 1), 1)
        self._launch = device.compile(
            "rows.cu",
            NEAR=near,
            LISTED=listed,
            THREADS=threads,
            REGRESSION=int(regression),
            RANKED=int(self._ranked),
            ON_CHIP=int(on_chip),
        )
        self._tile = 512
        while self._tile > 4 and self._tile_bytes > (
            device.processor_bytes // 4 if self._tile > 128 else device.block_bytes - 1024
        ):
            self._tile //= 2
        if self._tile_bytes > device.block_bytes - 1024:
            raise DeviceError(f"{self.n_columns} columns are too many for its memory on the chip")

    @property
    def _tile_bytes(self) -> int:
        return 8 * (self.n_columns + 1) * (self._tile + 2)

    def _set_labels(self, y: NDArray[Any], y_valid: NDArray[Any]) -> None:
        """Runs of rows with the label of every validation row, or targets of at most 1."""
        self._labels = np.zeros((len(y_valid), 2))
        self._scale, self._quantum, self._whole = 1.0, 1.0, 0
        if not self._regression:
            for side, end in enumerate(("left", "right")):
                self._labels[:, side] = np.searchsorted(y, y_valid, side=end)  # type: ignore[call-overload]
            self._targets = self._device.zeros(1, np.float64)
            return
        self._scale = float(2.0 ** np.frexp(np.abs(y).max())[1])
        targets = np.ascontiguousarray(y / self._scale, dtype=np.float64)
        self._quantum = 2.0 ** (61 - self.n_rows.bit_length())
        self._whole = int(np.rint(targets * self._quantum).astype(np.int64).sum())
        self._labels[:, 0] = y_valid / self._scale
        self._targets = self._device.upload(targets)

    def contract(
        self,
        blocks: Iterable[tuple[NDArray[np.bool_], Floats]],
        n_lines: int,
        valid: NDArray[np.integer],
    ) -> Floats:
        """Weighted sums of row values.

        Parameters
        ----------
        blocks : iterable
            Column subsets of shape (B, m), and their weights of shape (n_lines, B).
        n_lines : int
        valid : ndarray of int
            Validation rows, over which row values are summed, each times its weight.

        Returns
        -------
        ndarray of shape (n_lines, n)
        """
        device = self._device
        try:
            seen = _Seen(device, self._lens, self._labels, self._weights, valid)
            total = device.zeros((n_lines, self.n_rows), np.float64)
            for subsets, weights in blocks:
                batch = self._batch(len(subsets), valid.size)
                for start in range(0, len(subsets), batch.subsets):
                    part = slice(start, start + batch.subsets)
                    columns = device.upload(np.ascontiguousarray(weights[:, part]))
                    lists = _Lists(device, subsets[part])
                    for first in range(0, valid.size, batch.valid):
                        rows = slice(first, first + batch.valid)
                        phi = self._sums(lists, seen.of(rows), batch.slice)
                        total += columns @ phi
                        device.wait()
            return np.asarray(device.download(total) * self._scale**2)
        except device.memory_errors as error:
            device.free()
            raise DeviceError("its memory does not suffice for this table") from error

    def _batch(self, n_subsets: int, n_valid: int) -> _Batch:
        """As large as memory allows; with several times as many lines as there are blocks."""
        room = self._blocks * self._room_bytes if self._room is None else 0
        budget = min(max(self._device.free_bytes() - room, 0) // 2, _BATCH_BYTES)
        line = 4 * self._stride
        subsets = max(min(n_subsets, _SUBSETS, budget // 4 // (4 * line)), 1)
        slices = max(min(-(-8 * self._blocks // subsets), budget // 4 // (subsets * line)), 1)
        pair = 12 if self._ranked else line // 2 + 12
        together = max(min(n_valid, budget // 2 // (subsets * pair), 2**15), 1)
        slices = min(slices, together)
        length = min(-(-together // slices), 64)
        return _Batch(subsets, min(together, length * slices), length)

    def _sums(self, lists: _Lists, seen: _Seen, length: int) -> Any:
        """Row values under every subset, summed over some validation rows: (B, n), on the GPU."""
        device, n_pairs = self._device, lists.count * seen.count
        slices = -(-seen.count // length)
        begins, slacks = device.empty(n_pairs, np.int32), device.empty(n_pairs, np.float64)
        shape = (lists.pitch, self.n_rows, self.n_columns, self._stride)
        self._launch(
            "measure_subsets", (-(-n_pairs // 256),), 256,
            (seen.lenses, lists.columns, lists.sizes, lists.pitch, self.n_columns,
             lists.count, seen.count, begins, slacks),
        )  # fmt: skip
        bins = device.empty(1 if self._ranked else n_pairs * self._stride, np.uint16)
        if not self._ranked:
            self._launch(
                "find_bins", (-(-self.n_rows // self._tile), seen.count), _BIN_THREADS,
                (*self._tables, seen.lenses, lists.columns, lists.sizes, begins,
                 *shape, self._tile, lists.count, bins),
                self._tile_bytes,
            )  # fmt: skip
        lines = device.zeros((slices, lists.count, self._stride), self._real)
        n_blocks = min(self._blocks, slices * lists.count)
        if self._room is None:
            self._room = device.empty(max(self._blocks * self._room_bytes, 16), np.uint8)
        self._launch(
            "value_rows", (n_blocks,), self._threads,
            (*self._tables, seen.lenses, lists.columns, lists.sizes, slacks, bins, self._targets,
             seen.labels, self._ranks, seen.weights, self._alone, self._quantum, self._whole,
             self._n_neighbors, *shape, lists.count, seen.count, length, self._room,
             self._room_bytes, lines),
            self._chip,
        )  # fmt: skip
        return lines.sum(axis=0, dtype=np.float64)[:, : self.n_rows]


class _Lists:
    """Column subsets as lists of columns, on the GPU."""

    def __init__(self, device: Device, subsets: NDArray[np.bool_]) -> None:
        self.count, n_columns = subsets.shape
        self.pitch = max(-(-n_columns // 4) * 4, 4)
        columns = np.full((self.count, self.pitch), n_columns, dtype=np.uint16)
        order = np.argsort(~subsets, axis=1, kind="stable")
        columns[:, :n_columns] = np.where(np.take_along_axis(subsets, order, 1), order, n_columns)
        self.columns = device.upload(columns)
        self.sizes = device.upload(subsets.sum(axis=1, dtype=np.int32))


class _Seen:
    """Validation rows on the GPU: lenses, labels and weights."""

    def __init__(
        self,
        device: Device,
        lens: Lens,
        labels: Floats,
        weights: Floats,
        valid: NDArray[np.integer],
    ) -> None:
        fields = [lens.near, lens.mirror, lens.scale, lens.base, lens.gap, lens.unit]
        unit, reach = lens.unit[valid], lens.reach[valid]
        lenses = np.stack([*(field[valid] for field in fields), 1.0 / unit, reach], axis=1)
        self.lenses = device.upload(np.ascontiguousarray(lenses))
        self.labels = device.upload(np.ascontiguousarray(labels[valid]))
        self.weights = device.upload(np.ascontiguousarray(weights[valid], dtype=np.float64))
        self.count = valid.size

    def of(self, rows: slice) -> _Seen:
        """Some of the rows."""
        part = object.__new__(_Seen)
        part.lenses, part.labels, part.weights = (
            self.lenses[rows],
            self.labels[rows],
            self.weights[rows],
        )
        part.count = len(part.weights)
        return part
