"""Row values under listed column subsets of tables with many rows: what launches ``tall.cu``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._knn.cuda.batches import ListedSums, in_batches
from shapley2d._knn.cuda.kernel_inputs import HalfBins, class_runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.row_axis import RowGame

MOST_COLUMNS = 128
"""Beyond here the distances of a row in all columns do not fit the registers of a thread."""

GROUP = 128
"""Subsets that are taken at a time."""

MOST_VALID = 32
"""Validation rows that are taken at a time."""

_TILE = 16  # subsets, or columns, of a multiplication
_ROWS = 32  # that a warp takes
_BIN_THREADS = 256
_FEW_STEPS = 4  # whose distances leave registers for three blocks
_SHARE = 0.25  # of the free memory, for bins
_ONE = 0x3C00  # as a half float


class TallShape(NamedTuple):
    """Threads of a block, eights of rows that each of them adds up, and the bins."""

    threads: int = 1024
    each: int = 4
    bins: HalfBins = HalfBins(shift=3, upper=28)

    @property
    def on_chip(self) -> int:
        """Bytes of the memory on the chip: two numbers to a bin."""
        return 8 * self.bins.words


class TallSums(ListedSums):
    """Row values under listed column subsets, summed over validation rows.

    Parameters
    ----------
    game : RowGame
        Of classification.
    device : Device
    train : device array
        Of :class:`~shapley2d._knn.cuda.near_ranked.NearRanked`.
    prepare : callable
        Gives what is known of chosen validation rows, as two device arrays.
    ranks : tuple
        What ranks are worth, as a device array of pairs, and the unit of the second one of each.
    shape : TallShape
    """

    def __init__(
        self,
        game: RowGame,
        device: Device,
        train: Any,
        prepare: Callable[[NDArray[np.integer]], tuple[Any, Any]],
        ranks: tuple[Any, np.float32],
        shape: TallShape,
    ) -> None:
        self._device, self._shape, self._train, self._prepare = device, shape, train, prepare
        self.n_rows, self.n_columns = game.n_rows, game.n_columns
        self._ranks = ranks
        self._steps = -(-game.n_columns // _TILE)
        self._launch = device.compile(
            "tall.cu",
            STEPS=self._steps,
            BIN_BLOCKS=3 if self._steps <= _FEW_STEPS else 2,
            SHIFT=shape.bins.shift,
            UPPER=shape.bins.upper,
            THREADS=shape.threads,
            EACH=shape.each,
        )
        self.group = GROUP
        self._stride = -(-game.n_rows // _ROWS) * _ROWS
        ends, self._labels = class_runs(game)
        self._ends = device.upload(ends)

    def values(self, coalitions: NDArray[np.bool_], chosen: NDArray[np.integer]) -> Any:
        """See :class:`~shapley2d._knn.cuda.batches.ListedSums`."""
        device, shape, n, m = self._device, self._shape, self.n_rows, self.n_columns
        count = -(-len(coalitions) // _TILE) * _TILE
        inside = np.zeros((count, m), dtype=np.uint8)
        inside[: len(coalitions)] = coalitions
        inside_there, subsets = device.upload(inside), device.upload(fragments(inside))
        entries, bulks = self._prepare(chosen)
        labels = device.upload(self._labels[chosen])
        line_bytes = count * self._stride * np.dtype(np.uint16).itemsize
        many = int(
            np.clip(_SHARE * device.free_bytes() // line_bytes, 1, min(MOST_VALID, chosen.size))
        )
        values = device.zeros((count, n), np.float64)
        rows = (np.int32(n), np.int32(self._stride))
        sizes = (np.int32(count),)
        blocks = -(-self._stride // (_ROWS * _BIN_THREADS // 32))
        tiles = -(-n // (8 * shape.each * shape.threads))

        def work(start: int, stop: int) -> None:
            taken = stop - start
            bins = device.empty((taken, count, self._stride), np.uint16)
            worth = device.empty((taken, count, 2 * shape.bins.words), np.float32)
            begins = device.empty((taken, count, 4), np.uint32)
            of_these = labels[start:], self._ends
            self._launch("find_begins", (-(-taken * count // 256),), 256, (
                bulks[start:], np.int32(m), inside_there, *sizes, np.int32(taken), begins,
            ))  # fmt: skip
            self._launch("bin_rows", (blocks, 1), _BIN_THREADS, (
                self._train, *rows, np.int32(m), entries[start:], np.int32(taken), subsets, begins,
                *sizes, bins,
            ))  # fmt: skip
            self._launch("value_bins", (count, taken), shape.threads, (
                bins, *rows, *sizes, *of_these, *self._ranks, worth,
            ), shape.on_chip)  # fmt: skip
            self._launch("add_worth", (tiles, count), shape.threads, (
                bins, *rows, *sizes, *of_these, np.int32(taken), worth, values,
            ), shape.on_chip)  # fmt: skip

        in_batches(work, chosen.size, many)
        return values


def fragments(inside: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """Zeros and ones in the order of a 16 x 16 product: four words for each thread of a warp.

    Parameters
    ----------
    inside : ndarray of shape (B, m)
        B a multiple of 16.

    Returns
    -------
    ndarray of shape (B / 16, m / 16 rounded up, 32, 4)

    Examples
    --------
    >>> words = fragments(np.eye(16, 20, dtype=np.uint8))
    >>> words.shape, [hex(word) for word in words[0, 0, 0]], bool(words[0, 1].any())
    ((1, 2, 32, 4), ['0x3c00', '0x0', '0x0', '0x3c00'], False)
    """
    count, m = inside.shape
    steps = -(-m // _TILE)
    padded = np.zeros((count, steps * _TILE), dtype=np.uint32)
    padded[:, :m] = inside
    # subset, step, which eight columns, two of them
    pairs = padded.reshape(count, steps, 2, 4, 2)
    words = _ONE * (pairs[..., 0] | pairs[..., 1] << 16)
    # which sixteen, which eight of them, which of these, step, which eight columns, which pair
    split = words.reshape(count // _TILE, 2, 8, steps, 2, 4)
    return np.ascontiguousarray(split.transpose(0, 3, 2, 5, 4, 1)).reshape(
        count // _TILE, steps, 32, 4
    )


def takes(game: RowGame, device: Device, shape: TallShape) -> bool:
    """Whether the GPU has room for the bins, and a thread for the columns."""
    return game.n_columns <= MOST_COLUMNS and shape.on_chip + 1024 <= device.block_bytes
