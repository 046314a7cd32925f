"""The bins of far rows: the leading bits of their distances. The twin and the kernels share them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.row_axis import RowGame

BINS = 1024
"""How many there are."""

NEAR = 512
"""Rows that can be ranked exactly: those of the nearest bins that together hold no more."""

# Bins of an octave, as a power of two, by the size of the coalition. With few columns the near rows are many octaves
# nearer than the others, with many columns they are not, and ranks grow fast with the distance.
_MANTISSA = ((2, 5), (5, 6))
_MOST = 7


class Layout(NamedTuple):
    """How distances become bins.

    Attributes
    ----------
    shift, offset : int
        The bits of a distance as a float of 32 bits, shifted right, less the offset, are its bin; at least 0.
    top : int
        No distance is larger.
    """

    shift: int
    offset: int
    top: int


def make_layout(top: int, smallest: int) -> Layout:
    """The layout for coalitions whose distances are at most ``top``, the smallest of so many columns.

    Examples
    --------
    >>> layout = make_layout(2**20, 6)
    >>> bins_of(np.array([0, 2**12 - 1, 2**12, 2**20]), layout)
    array([   0,    0,    0, 1023])
    """
    top = min(top, 2**31 - 2)
    mantissa = next((bits for size, bits in _MANTISSA if smallest <= size), _MOST)
    shift = 23 - mantissa
    return Layout(shift, int(float_bits(top) >> shift) - (BINS - 1), top)


def bins_of(distances: NDArray[np.integer], layout: Layout) -> NDArray[np.int64]:
    """The bin of every distance."""
    return np.maximum((float_bits(distances) >> layout.shift) - layout.offset, 0)


def float_bits(distances: NDArray[np.integer] | int) -> NDArray[np.int64]:
    """The bits of distances below 2^31 as floats of 32 bits, cut off and not rounded.

    Examples
    --------
    >>> float_bits(2**24 + 1) == np.float32(2**24).view(np.int32)
    np.True_
    """
    wide = np.asarray(distances, dtype=np.float64).view(np.int64)  # exact
    return np.where(np.asarray(distances) > 0, (wide >> 29) - ((1023 - 127) << 23), 0)


def largest_dissimilarities(game: RowGame) -> NDArray[np.int64]:
    """The largest that two entries of each column can be apart."""
    nominal, weight, missing = (np.asarray(measure) for measure in game.measures)
    absent = np.iinfo(game.train.dtype).min
    largest = np.zeros(game.n_columns, dtype=np.int64)
    for j in range(game.n_columns):
        train, valid = game.train[j], game.valid[:, j]
        here, there = train[train != absent].astype(np.int64), valid[valid != absent].astype(np.int64)
        if here.size and there.size:
            extent = max(int(here.max() - there.min()), int(there.max() - here.min()), 0)
            largest[j] = int(weight[j]) * (1 if nominal[j] else extent**2)
        if here.size < train.size or there.size < valid.size:
            largest[j] = max(largest[j], int(missing[j]))
    return largest
