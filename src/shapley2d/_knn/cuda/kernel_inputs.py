"""What the CUDA kernels are given: entries as floats, classes as runs of rows, and the bins."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.in_threads import map_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.row_axis import RowGame

BINS = 1024
"""Bins where near rows are ranked: two blocks of eight column subsets fill an H200's chip."""

NEAR = 512
"""Rows that can be ranked exactly: those of the nearest bins that together hold no more."""

FEW_COLUMNS = 2
"""Up to so many columns an octave has 32 bins, above it 64.

With few columns the near rows are many octaves nearer than the others; with many they are not, and
ranks grow fast with the distance.
"""

_MARGIN = 1.0002  # above the largest sum, which floats may exceed by rounding
_INFINITE = 0x7C00  # as a half float


class HalfBins(NamedTuple):
    """Bins of half floats, for all rows: 1024 >> shift to an octave, in ``upper`` octaves."""

    shift: int
    upper: int

    @property
    def lower(self) -> int:
        """Bins of rows that are nearer than the bulk."""
        return 8 * (512 >> self.shift)

    @property
    def words(self) -> int:
        """Bins in all."""
        return self.upper * (1024 >> self.shift) + self.lower

    @property
    def floor(self) -> float:
        """The distance below which rows tie."""
        first = (_INFINITE >> self.shift) - (self.words - self.lower - 1)
        return float(np.array([first << self.shift], dtype=np.uint16).view(np.float16)[0])


class BinLayout(NamedTuple):
    """How distances become bins: a float's bits, shifted right, less the offset; at least 0."""

    shift: int
    offset: int


def make_layout(top: float, smallest: int) -> BinLayout:
    """The layout for distances up to ``top`` and column subsets of ``smallest`` columns or more.

    Examples
    --------
    >>> bins_of(np.array([0, 15, 2**20], dtype=np.float32), make_layout(2**20, 6))
    array([   0,    0, 1023])
    """
    shift = 23 - (5 if smallest <= FEW_COLUMNS else 6)
    largest = np.array([max(top, 1.0) * _MARGIN], dtype=np.float32)
    return BinLayout(shift, int(largest.view(np.int32)[0] >> shift) - (BINS - 1))


def bins_of(distances: NDArray[np.float32], layout: BinLayout) -> NDArray[np.int64]:
    """The bin of every distance."""
    bits: NDArray[np.int64] = distances.view(np.int32).astype(np.int64)
    return np.asarray(np.maximum((bits >> layout.shift) - layout.offset, 0))


def as_floats(codes: NDArray[np.integer]) -> NDArray[np.float32]:
    """Entries as floats, NaN for missing ones.

    Examples
    --------
    >>> as_floats(np.array([0, 7, -(2**31)], dtype=np.int32))
    array([ 0.,  7., nan], dtype=float32)
    """
    found = codes.astype(np.float32)
    found[codes == np.iinfo(codes.dtype).min] = np.nan
    return found


def compared_entries(game: RowGame) -> NDArray[np.float32]:
    """What the entries of all validation rows are compared with, see ``Entry`` in ``binned.cu``."""
    nominal, weight, missing = game.measures
    gone = game.valid == np.iinfo(game.valid.dtype).min
    signed = np.where(nominal, -weight.astype(np.float32), weight.astype(np.float32))
    return np.stack(
        [
            np.where(gone, 0, game.valid),
            np.where(gone, 0, signed),
            np.where(gone, missing, 0),
            np.broadcast_to(missing, game.valid.shape),
        ],
        axis=-1,
    ).astype(np.float32)


def class_runs(game: RowGame) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Where the rows of every class end, and the class of each validation row; -1 if no row has it.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> class_runs(SimpleNamespace(y=np.array([0, 0, 2]), y_valid=np.array([2, 0, 1])))
    (array([2, 3], dtype=int32), array([ 1,  0, -1], dtype=int32))
    """
    classes = np.unique(game.y)
    ends = np.searchsorted(game.y, classes, side="right")
    place = np.minimum(np.searchsorted(classes, game.y_valid), classes.size - 1)
    labels = np.where(classes[place] == game.y_valid, place, -1)
    return ends.astype(np.int32), labels.astype(np.int32)


def largest_dissimilarities(game: RowGame) -> NDArray[np.int64]:
    """The largest that two entries of each column can be apart."""
    nominal, weight, missing = (np.asarray(measure) for measure in game.measures)
    absent = np.iinfo(game.train.dtype).min

    def largest_of(j: int) -> int:
        largest = 0
        train, valid = game.train[j], game.valid[:, j]
        here, there = (
            train[train != absent].astype(np.int64),
            valid[valid != absent].astype(np.int64),
        )
        if here.size and there.size:
            extent = max(int(here.max() - there.min()), int(there.max() - here.min()), 0)
            largest = int(weight[j]) * (1 if nominal[j] else extent**2)
        if here.size < train.size or there.size < valid.size:
            largest = max(largest, int(missing[j]))
        return largest

    return np.array(map_columns(largest_of, range(game.n_columns), game.n_rows), dtype=np.int64)


def mean_dissimilarities(game: RowGame) -> NDArray[np.float64]:
    """By how much two training rows differ on average in each column; categories: at most."""
    nominal, weight, _ = game.measures
    absent = np.iinfo(game.train.dtype).min

    def mean_of(j: int) -> float:
        column = game.train[j]
        there = column[column != absent]
        if not there.size:
            return 0.0
        return float(weight[j]) * (
            1.0 if nominal[j] else 2.0 * float(np.var(there.astype(np.float64)))
        )

    return np.array(map_columns(mean_of, range(game.n_columns), game.n_rows))
