"""Bins of distances, four column coalitions at a time.

The bin of a distance is read off the bits of its leading digits as a float: the exponent and the
first bits of the mantissa. That is monotone, takes a handful of vector instructions, and makes all
bins equally wide relative to the distance. The bins of a row under four coalitions share one 64-bit
word, a *lane* of 16 bits each.

Leading digits are sums of numbers that were cut, see :mod:`shapley2d._kernels.distance`, and nearly
always in the bin of the sum that is cut. Where they may not be, the exact distance decides: rows at
the same distance are in the same bin, and no nearer row is in a farther one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.distance import distances_of_rows, first_bits
from shapley2d._kernels.sort import insertion_sort, sort_packed_rows

if TYPE_CHECKING:
    from numpy.typing import NDArray

LANES = 4
MANTISSA_BITS = 7  # 128 bins to an octave: with fewer, more rows have to be ranked
_SHIFT = np.int32(23 - MANTISSA_BITS)
_SMALL = np.int32((1 << MANTISSA_BITS) - 1)
_OFFSET = np.float32(_SMALL).view(np.int32) >> _SHIFT
_ZERO = np.int32(0)
LONGEST = 2**31 - 1
# Distances of few bits get zeros behind them: bins tell no small numbers apart.
MOST_UP = 16

# Where rounded columns reach less far, a coalition has leading digits of its own.
_COARSE = 2**20
# A bin with more than one row in 32 is large: worth a look at whether all of its rows tie.
LARGE = 32
_CHUNK = 128  # rows between two looks at whether work is done
_INSERTION = 24  # up to this many rows the simplest sort is the fastest

LANE = np.uint64(0xFFFF)
LANE_1, LANE_2, LANE_3 = np.uint64(16), np.uint64(32), np.uint64(48)
_HIGH_BITS = np.uint64(0x8000800080008000)


class LeadingDigits(NamedTuple):
    """How the distances of a table are cut to 32 bits, see :mod:`shapley2d._knn.far_bins`."""

    shift: int  # how many last bits are left out
    rounded: NDArray[np.bool_]  # the columns whose dissimilarities have such bits
    reach: NDArray[np.int64]  # the leading digits that a column can have at most


class BinScratch(NamedTuple):
    """Room for the bins of four coalitions; the first axis is the lane unless a comment differs."""

    bins: NDArray[np.uint16]  # the lanes of each row
    words: NDArray[np.uint64]  # the same memory, one word per row
    counts: NDArray[np.int32]  # (kinds of rows, lanes, bins)
    sums: NDArray[np.float64]  # (lanes, bins, sum of z and of z^2), for regression
    tables: NDArray[np.float64]  # (lanes, coefficients, bins)
    starts: NDArray[np.int64]  # (bins,): the rank at which a near bin of one lane starts
    ends: NDArray[np.int64]  # (lanes, 2): the first and the last bin that may have rows
    slack: NDArray[np.int32]  # (lanes,): how much too small leading digits may be
    is_exact: NDArray[np.bool_]  # (lanes,): whether leading digits are the whole distance
    edges: NDArray[np.int64]  # (lanes,): the last near bin, or -1
    hits: NDArray[np.int32]  # rows that are near in some lane
    n_hits: NDArray[np.int64]  # (1,)
    candidates: NDArray[np.int32]  # near rows of one lane
    near_values: NDArray[np.float64]  # (lanes, rows): filled for near rows only
    every: NDArray[np.int32]  # all rows
    keys: NDArray[np.int64]
    rows: NDArray[np.int32]
    packed: NDArray[np.int64]
    spare: NDArray[np.int64]


@numba.njit(nogil=True, cache=CACHE)
def bin_scratch(n_rows, kinds, n_sums, coefficients):  # type: ignore[no-untyped-def]
    """Allocate a BinScratch."""
    n_bins = (32 << MANTISSA_BITS) + 2
    bins = np.empty(LANES * n_rows, np.uint16)
    return BinScratch(
        bins,
        bins.view(np.uint64),
        np.empty((kinds, LANES, n_bins), np.int32),
        np.empty((LANES, n_bins, n_sums)),
        np.zeros((LANES, coefficients, n_bins)),
        np.empty(n_bins, np.int64),
        np.empty((LANES, 2), np.int64),
        np.zeros(LANES, np.int32),
        np.zeros(LANES, np.bool_),
        np.empty(LANES, np.int64),
        np.empty(n_rows + 1, np.int32),
        np.zeros(1, np.int64),
        np.empty(n_rows + 1, np.int32),
        np.empty((LANES, n_rows)),
        np.arange(n_rows).astype(np.int32),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int32),
        np.empty(n_rows, np.int64),
        np.empty(n_rows, np.int64),
    )


@numba.njit(nogil=True, cache=CACHE, inline="always")
def _bits(leading):  # type: ignore[no-untyped-def]
    """The bits of leading digits as a float; numbers too small for bins of their own are alike."""
    return np.float32(max(leading, _SMALL)).view(np.int32)


@numba.njit(nogil=True, cache=CACHE, inline="always")
def bin_of(leading):  # type: ignore[no-untyped-def]
    """The bin of leading digits: 0 for the smallest, and never decreasing."""
    return np.int32((_bits(leading) >> _SHIFT) - _OFFSET)


@numba.njit(nogil=True, cache=CACHE, inline="always")
def _changed_bits(leading, slack):  # type: ignore[no-untyped-def]
    """The bits in which leading digits differ, as floats, from the most that they may stand for."""
    return _bits(leading) ^ _bits(np.int32(leading + slack))


@numba.njit(nogil=True, cache=CACHE)
def fill_bins(table, t, coalitions, distances, digits, scratch):  # type: ignore[no-untyped-def]
    """Write the bins of all rows under up to four coalitions, and between which bins they are.

    Parameters
    ----------
    table : tuple
        Training rows (m, n), validation rows (T, m), and how their columns are measured.
    t : int
        The validation row.
    coalitions : ndarray of bool of shape (up to 4, m)
    distances : ndarray of shape (4, n), int32
        The leading digits of distances. Those of a coalition that reaches less far than others are
        written anew.
    digits : LeadingDigits
    scratch : BinScratch
    """
    scratch.slack.fill(0)
    for lane in range(len(coalitions)):
        inexact, reach = 0, 0
        for j in range(coalitions.shape[1]):
            if coalitions[lane, j]:
                inexact += digits.rounded[j]
                reach += digits.reach[j]
        scratch.is_exact[lane] = inexact == 0
        if inexact > 0 and reach < _COARSE:
            _sharpen(table, t, coalitions[lane], scratch, distances[lane])
        else:
            scratch.slack[lane] = max(inexact - 1, 0)
    find_ends(distances, scratch.slack, scratch.ends)
    n_rows = distances.shape[1]
    chunks, count = scratch.rows, 0
    for begin in range(0, n_rows, _CHUNK):
        chunks[count] = begin
        count += bin_words(
            distances, begin, min(begin + _CHUNK, n_rows), scratch.slack, scratch.bins
        )
    for lane in range(len(coalitions)):
        if count > 0 and scratch.slack[lane] > 0:
            _settle(
                table,
                t,
                coalitions[lane],
                distances[lane],
                chunks[:count],
                digits.shift,
                lane,
                scratch,
            )


@numba.njit(nogil=True, cache=CACHE)
def _sharpen(table, t, coalition, scratch, leading):  # type: ignore[no-untyped-def]
    """Write leading digits of exact distances, with as many bits as the farthest row allows."""
    train, valid, measures = table
    distances = scratch.packed
    distances_of_rows(train, valid[t], measures, coalition, scratch.every, distances)
    farthest = distances.max()
    shift = -MOST_UP
    while farthest >> max(shift, 0) > LONGEST >> max(-shift, 0):  # more bits might not fit
        shift += 1
    for i in range(distances.size):
        leading[i] = first_bits(distances[i], shift)


@numba.njit(nogil=True, cache=CACHE)
def find_ends(distances, slack, ends):  # type: ignore[no-untyped-def]
    """Write the first and the last bin of every coalition: only those between are in use."""
    for lane in range(LANES):
        line = distances[lane]
        nearest, farthest = line[0], line[0]
        for i in range(line.size):
            nearest = min(nearest, line[i])
            farthest = max(farthest, line[i])
        ends[lane, 0], ends[lane, 1] = bin_of(nearest), bin_of(np.int32(farthest + slack[lane]))


@numba.njit(nogil=True, cache=CACHE)
def bin_words(distances, begin, end, slack, bins):  # type: ignore[no-untyped-def]
    """Write the bins of the rows ``begin .. end - 1``.

    Parameters
    ----------
    distances : ndarray of shape (4, n), int32
        Leading digits.
    begin, end : int
    slack : ndarray of shape (4,), int32
        How much too small they may be.
    bins : ndarray of shape (4 n,), uint16
        The four lanes of row 0, then those of row 1, and so on.

    Returns
    -------
    bool
        Whether larger numbers within the slack would be in another bin.
    """
    d0, d1 = distances[0, begin:end], distances[1, begin:end]
    d2, d3 = distances[2, begin:end], distances[3, begin:end]
    bins = bins[LANES * begin : LANES * end]
    s0, s1, s2, s3 = slack[0], slack[1], slack[2], slack[3]
    changed = _ZERO
    # Without a branch, for vector instructions.
    for i in range(d0.size):
        bins[4 * i] = bin_of(d0[i])
        bins[4 * i + 1] = bin_of(d1[i])
        bins[4 * i + 2] = bin_of(d2[i])
        bins[4 * i + 3] = bin_of(d3[i])
        changed |= (
            _changed_bits(d0[i], s0)
            | _changed_bits(d1[i], s1)
            | _changed_bits(d2[i], s2)
            | _changed_bits(d3[i], s3)
        )
    return changed >> _SHIFT != 0


@numba.njit(nogil=True, cache=CACHE)
def _in_doubt(leading, slack):  # type: ignore[no-untyped-def]
    """Doubtful rows of one lane."""
    changed = _ZERO
    for k in range(leading.size):
        changed |= _changed_bits(leading[k], slack)
    return changed >> _SHIFT != 0


@numba.njit(nogil=True, cache=CACHE)
def _settle(table, t, coalition, leading, chunks, shift, lane, scratch):  # type: ignore[no-untyped-def]
    """Put the rows of some chunks whose bin is in doubt where their exact distance belongs."""
    train, valid, measures = table
    slack, doubtful, distances = scratch.slack[lane], scratch.candidates, scratch.packed
    count = 0
    for begin in chunks:
        chunk = leading[begin : begin + _CHUNK]
        if _in_doubt(chunk, slack):
            for k in range(chunk.size):
                if _changed_bits(chunk[k], slack) >> _SHIFT != 0:
                    doubtful[count] = begin + k
                    count += 1
    distances_of_rows(train, valid[t], measures, coalition, doubtful[:count], distances)
    for h in range(count):
        exact = np.int32(first_bits(distances[h], shift))
        scratch.bins[LANES * doubtful[h] + lane] = bin_of(exact)


@numba.njit(nogil=True, cache=CACHE)
def count_rows(words, counts):  # type: ignore[no-untyped-def]
    """Count rows by lane and bin; with four histograms, repeated bins do not stall each other."""
    h0, h1, h2, h3 = counts[0], counts[1], counts[2], counts[3]
    one = np.int32(1)
    for i in range(words.size):
        word = words[i]
        h0[word & LANE] += one
        h1[(word >> LANE_1) & LANE] += one
        h2[(word >> LANE_2) & LANE] += one
        h3[word >> LANE_3] += one


@numba.njit(nogil=True, cache=CACHE)
def all_tied(table, t, coalition, leading, code, lane, scratch):  # type: ignore[no-untyped-def]
    """Whether all rows in a bin have the same distance, so that it is a tie group already.

    Parameters
    ----------
    table, t
        As in :func:`fill_bins`.
    coalition : ndarray of bool of shape (m,)
    leading : ndarray of shape (n,), int32
        The leading digits of the distances under it.
    code, lane : int
        The bin.
    scratch : BinScratch
    """
    train, valid, measures = table
    rows = scratch.candidates
    count = _alike_rows(scratch.words, leading, code, lane, scratch.slack[lane], rows)
    if count < 0 or scratch.is_exact[lane]:
        return count >= 0
    distances = scratch.packed[:count]
    distances_of_rows(train, valid[t], measures, coalition, rows[:count], distances)
    return (distances[1:] == distances[:-1]).all()


@numba.njit(nogil=True, cache=CACHE)
def _alike_rows(words, leading, code, lane, slack, rows):  # type: ignore[no-untyped-def]
    """List the rows of a bin and return their number; -1 if they differ by more than the slack.

    ``rows`` has room for one row more than there can be.
    """
    shift, wanted = np.uint64(16 * lane), np.uint64(code)
    count = 0
    # Most bins whose rows differ have such rows early.
    for begin in range(0, words.size, _CHUNK):
        known = count
        # Without a branch, which could not be predicted.
        for i in range(begin, min(begin + _CHUNK, words.size)):
            rows[np.uint64(count)] = i
            count += ((words[i] >> shift) & LANE) == wanted
        for h in range(known, count):
            if abs(leading[rows[h]] - leading[rows[0]]) > slack:
                return -1
    return count


@numba.njit(nogil=True, cache=CACHE)
def find_near(scratch):  # type: ignore[no-untyped-def]
    """Collect, in order, the rows that lie in a near bin of at least one lane.

    All lanes are compared by one subtraction: the high bit of a lane survives where its bin is not
    beyond the edge.
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
def sort_near(table, t, coalition, lane, scratch):  # type: ignore[no-untyped-def]
    """Sort the near rows of one lane by exact distance into the scratch; return their number.

    Parameters
    ----------
    table, t
        As in :func:`fill_bins`.
    coalition : ndarray of bool of shape (m,)
    lane : int
    scratch : BinScratch
    """
    train, valid, measures = table
    words, starts, hits = scratch.words, scratch.starts, scratch.hits
    keys, rows, candidates = scratch.keys, scratch.rows, scratch.candidates
    edge = np.uint64(scratch.edges[lane])
    shift = np.uint64(16 * lane)
    # Without a branch, which could not be predicted.
    count = 0
    for h in range(scratch.n_hits[0]):
        row = hits[h]
        candidates[count] = row
        count += ((words[row] >> shift) & LANE) <= edge
    first = 0
    for code in range(scratch.ends[lane, 0], scratch.edges[lane] + 1):
        starts[code] = first
        for kind in range(len(scratch.counts)):
            first += scratch.counts[kind, lane, code]
    distances = scratch.packed
    distances_of_rows(train, valid[t], measures, coalition, candidates[:count], distances)
    for h in range(count):
        row = candidates[h]
        code = (words[row] >> shift) & LANE
        # A bin's start moves on until it has become its end.
        position = np.uint64(starts[code])
        starts[code] = position + np.uint64(1)
        keys[position] = distances[h]
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
