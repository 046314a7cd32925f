"""Bins of distances, four column coalitions at a time.

The bin of a distance is read off its bits as a float: the exponent and the first bits of the mantissa. That is
monotone, takes a handful of vector instructions, and makes all bins equally wide relative to the distance. Of distances
longer than 31 bits, the leading 31 bits of the farthest row's are taken: vector instructions turn no longer integers
into floats. The bins of a row under four coalitions share one 64-bit word, a *lane* of 16 bits each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.sort import insertion_sort, sort_packed_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANES = 4
MANTISSA_BITS = 7
_SHIFT = np.int32(23 - MANTISSA_BITS)
_OFFSET = np.int32((127 << MANTISSA_BITS) - 1)
_ZERO = np.int32(0)
_LONGEST = 2**31 - 1

# A bin with more than one in so many rows is large.
LARGE = 32
_CHUNK = 512
# Up to this many rows the simplest sort is the fastest.
_INSERTION = 24

LANE = np.uint64(0xFFFF)
LANE_1, LANE_2, LANE_3 = np.uint64(16), np.uint64(32), np.uint64(48)
_HIGH_BITS = np.uint64(0x8000800080008000)


class BinScratch(NamedTuple):
    """Room for the bins of four coalitions; the first axis of 2-D and 3-D arrays is the lane unless said otherwise."""

    bins: NDArray[np.uint16]  # the lanes of each row
    words: NDArray[np.uint64]  # the same memory, one word per row
    counts: NDArray[np.int32]  # (kinds of rows, lanes, bins)
    sums: NDArray[np.float64]  # (lanes, bins, sum of z and of z^2), for regression
    tables: NDArray[np.float64]  # (lanes, coefficients, bins)
    starts: NDArray[np.int64]  # (lanes, bins): the rank at which a bin starts
    ends: NDArray[
        np.int64
    ]  # (lanes, 3): the first and the last bin with rows, and the bits that bins leave out
    edges: NDArray[np.int64]  # (lanes,): the last near bin, or -1
    hits: NDArray[np.int32]  # rows that are near in some lane
    n_hits: NDArray[np.int64]  # (1,)
    candidates: NDArray[np.int32]  # near rows of one lane
    near_values: NDArray[np.float64]  # (lanes, rows): filled for near rows only
    keys: NDArray[np.int64]
    rows: NDArray[np.int32]
    packed: NDArray[np.int64]
    spare: NDArray[np.int64]


@numba.njit(nogil=True, cache=CACHE)
def bin_scratch(distances, kinds, n_sums, coefficients):  # type: ignore[no-untyped-def]
    """Allocate a BinScratch for distances of shape (4, n)."""
    n_rows = distances.shape[1]
    n_bins = (32 << MANTISSA_BITS) + 2
    bins = np.empty(LANES * n_rows, np.uint16)
    return BinScratch(
        bins,
        bins.view(np.uint64),
        np.empty((kinds, LANES, n_bins), np.int32),
        np.empty((LANES, n_bins, n_sums)),
        np.zeros((LANES, coefficients, n_bins)),
        np.empty((LANES, n_bins), np.int64),
        np.empty((LANES, 3), np.int64),
        np.empty(LANES, np.int64),
        np.empty(n_rows + 1, np.int32),
        np.zeros(1, np.int64),
        np.empty(n_rows + 1, np.int32),
        np.empty((LANES, n_rows)),
        np.empty(n_rows, distances.dtype),
        np.empty(n_rows, np.int32),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
    )


@numba.njit(nogil=True, cache=CACHE, inline="always")
def bin_of(distance, left_out):  # type: ignore[no-untyped-def]
    """The bin of one distance by all but its last bits: 0 for 0, and never decreasing."""
    leading = np.float32(np.int32(distance >> left_out))
    return max(np.int32((leading.view(np.int32) >> _SHIFT) - _OFFSET), _ZERO)


@numba.njit(nogil=True, cache=CACHE)
def bin_words(distances, ends, bins):  # type: ignore[no-untyped-def]
    """Write the bins of all rows under four coalitions.

    Parameters
    ----------
    distances : ndarray of shape (4, n)
    ends : ndarray of shape (4, 3)
        Of :func:`find_ends`.
    bins : ndarray of shape (4 n,), uint16
        The four lanes of row 0, then those of row 1, and so on.
    """
    d0, d1, d2, d3 = distances[0], distances[1], distances[2], distances[3]
    s0, s1, s2, s3 = ends[0, 2], ends[1, 2], ends[2, 2], ends[3, 2]
    for i in range(d0.size):
        bins[4 * i] = bin_of(d0[i], s0)
        bins[4 * i + 1] = bin_of(d1[i], s1)
        bins[4 * i + 2] = bin_of(d2[i], s2)
        bins[4 * i + 3] = bin_of(d3[i], s3)


@numba.njit(nogil=True, cache=CACHE)
def find_ends(distances, ends):  # type: ignore[no-untyped-def]
    """Write the first and the last bin of every coalition, and how many last bits of a distance do not matter to them.

    Bins between the ends are all that have to be cleared and valued.
    """
    for lane in range(LANES):
        line = distances[lane]
        nearest, farthest = line[0], line[0]
        for i in range(line.size):
            nearest = min(nearest, line[i])
            farthest = max(farthest, line[i])
        left_out = 0
        while farthest >> left_out > _LONGEST:
            left_out += 1
        ends[lane, 0], ends[lane, 1] = bin_of(nearest, left_out), bin_of(farthest, left_out)
        ends[lane, 2] = left_out


@numba.njit(nogil=True, cache=CACHE)
def count_rows(words, counts):  # type: ignore[no-untyped-def]
    """Count rows by lane and bin; four histograms at a time keep repeated bins from waiting for each other."""
    h0, h1, h2, h3 = counts[0], counts[1], counts[2], counts[3]
    one = np.int32(1)
    for i in range(words.size):
        word = words[i]
        h0[word & LANE] += one
        h1[(word >> LANE_1) & LANE] += one
        h2[(word >> LANE_2) & LANE] += one
        h3[word >> LANE_3] += one


@numba.njit(nogil=True, cache=CACHE)
def all_tied(distances, code, left_out):  # type: ignore[no-untyped-def]
    """Whether all rows in a bin have the same distance, so that it is a tie group already."""
    n_rows = distances.size
    i = 0
    while i < n_rows and bin_of(distances[i], left_out) != code:
        i += 1
    if i == n_rows:
        return True
    distance = distances[i]
    # Chunks without a branch inside are compared by vector instructions, and most bins that fail do so early.
    for begin in range(0, n_rows, _CHUNK):
        chunk = distances[begin : begin + _CHUNK]
        others = np.int32(0)
        for k in range(chunk.size):
            others += np.int32((bin_of(chunk[k], left_out) == code) & (chunk[k] != distance))
        if others > 0:
            return False
    return True


@numba.njit(nogil=True, cache=CACHE)
def find_near(scratch):  # type: ignore[no-untyped-def]
    """Collect, in order, the rows that lie in a near bin of at least one lane.

    All lanes are compared by one subtraction: the high bit of a lane survives where its bin is not beyond the edge.
    """
    words, hits = scratch.words, scratch.hits
    edge_word = np.uint64(0)
    for lane in range(LANES):
        edge_word |= np.uint64(0x8000 + scratch.edges[lane]) << np.uint64(16 * lane)
    # Without a branch, which could not be predicted.
    count = 0
    for i in range(words.size):
        hits[np.uint64(count)] = i
        count += ((edge_word - words[i]) & _HIGH_BITS) != 0
    scratch.n_hits[0] = count


@numba.njit(nogil=True, cache=CACHE)
def sort_near(distances, lane, scratch):  # type: ignore[no-untyped-def]
    """Sort the near rows of one lane by exact distance, to the front of the scratch; return how many there are."""
    words, starts, hits = scratch.words, scratch.starts[lane], scratch.hits
    keys, rows, candidates = scratch.keys, scratch.rows, scratch.candidates
    edge = np.uint64(scratch.edges[lane])
    shift = np.uint64(16 * lane)
    # Without a branch, which could not be predicted.
    count = 0
    for h in range(scratch.n_hits[0]):
        row = hits[h]
        candidates[count] = row
        count += ((words[row] >> shift) & LANE) <= edge
    for h in range(count):
        row = candidates[h]
        code = (words[row] >> shift) & LANE
        # A bin's start moves on until it has become its end.
        position = np.uint64(starts[code])
        starts[code] = position + np.uint64(1)
        keys[position] = distances[row]
        rows[position] = row
    begin = 0
    for code in range(scratch.ends[lane, 0], scratch.edges[lane] + 1):
        end = starts[code]
        if end - begin > _INSERTION:
            part = slice(begin, end)
            sort_packed_rows(keys[part], rows[part], scratch.packed, scratch.spare)
        elif end - begin > 1:
            insertion_sort(keys, rows, begin, end)
        begin = end
    return count


@numba.njit(nogil=True, cache=CACHE)
def patch_near(begin, end, scratch, tile):  # type: ignore[no-untyped-def]
    """Put the values of near rows into a tile whose front holds the rows ``begin .. end - 1``."""
    words, hits, edges = scratch.words, scratch.hits, scratch.edges
    count = scratch.n_hits[0]
    h, beyond = 0, count
    while h < beyond:
        middle = (h + beyond) // 2
        if hits[middle] < begin:
            h = middle + 1
        else:
            beyond = middle
    while h < count and hits[h] < end:
        row = hits[h]
        for lane in range(LANES):
            if np.int64((words[row] >> np.uint64(16 * lane)) & LANE) <= edges[lane]:
                tile[lane, row - begin] = scratch.near_values[lane, row]
        h += 1
