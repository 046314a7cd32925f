"""Row values of K nearest neighbours, for many column subsets beside many validation rows.

Distances are sums of whole numbers of units (:mod:`shapley2d._knn.fixed_point`), so that they are
the same in any order. For a validation row the columns are taken in groups of four, and the sums
of all 16 subsets of a group are made once for a tile of rows; the distance under any column subset
is then one number from each group.

Of many rows the leading bits of a distance are its bin. Rows are counted by bin, the
nearest bins that hold :data:`NEAR` rows are ranked row by row, and the rows of any other bin share
their ranks. So everything is a group of equals (:mod:`shapley2d._knn.kernels.tie_groups`), a single
row is a group of one, and groups are valued from the farthest to the nearest.

Both tasks have the same kernels. What a row votes is its target in regression; in classes it is
whether it has the label of the validation row. Training rows are in the order of their labels:
those with a label are one run, and nothing looks at a label row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np

from shapley2d._base.cache import CACHE
from shapley2d._knn.kernels.tie_groups import group_worth

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR = 512
"""At least this many of the nearest rows are ranked one by one, and at least K.

All are where there are no more than twice as many: that is as fast.
"""

BINS = 16 << 10
"""Bins of 16 octaves: what is nearer than 2^-16 of the farthest possible shares the first."""

_SHIFT = 42  # leaves ten bits of a distance behind the point: bins of 0.1 %
_COARSE = 3  # bits of a bin that near rows are not placed by
_TILE = 512  # rows whose sums of groups of columns are made at a time
_FEW = 32  # rows that are looked at together for near ones
_ROUND = 1.5 * 2.0**52  # added to a number and taken away, times a unit: whole units are left

# callable from compiled code alone, which saves time to compile them
_part = numba.njit(  # type: ignore[call-overload]
    nogil=True, cache=CACHE, error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True
)


class Room(NamedTuple):
    """The memory of one thread."""

    keys: NDArray[np.uint16]  # bins of rows: (subsets, n)
    lines: NDArray[np.float64]  # sums of groups of columns: (groups, 16, tile)
    totals: NDArray[np.float64]  # distances: where all rows are ranked (subsets, n), else of a tile
    counts: NDArray[np.generic]  # rows of every bin with and without the label, or sums of targets
    table: NDArray[np.float64]  # what the rows of every bin are worth
    members: NDArray[np.int64]  # columns of a subset
    begin: NDArray[np.int32]  # of near rows: places by leading bits,
    listed: NDArray[np.int32]  # rows as they come,
    rows: NDArray[np.int32]  # and sorted by
    distances: NDArray[np.float64]  # these
    ranks_all: bool  # whether there are no bins


def first_bins(reach: NDArray[np.float64]) -> NDArray[np.int64]:
    """Numbers of the first bins, so that the farthest that a row can be is in the last.

    Examples
    --------
    >>> int((np.float64(3.0).view(np.int64) >> 42) - first_bins(np.array([3.0]))[0]) == BINS - 1
    True
    """
    return (np.ascontiguousarray(reach).view(np.int64) >> _SHIFT) - (BINS - 1)


def subset_codes(subsets: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Which of every four columns are in a subset, as bits; groups come in fours.

    Examples
    --------
    >>> subset_codes(np.array([[True, False, True, False, True]]))
    array([[5, 1, 0, 0]], dtype=uint8)
    """
    codes = np.zeros((len(subsets), _n_groups(subsets.shape[1])), dtype=np.uint8)
    eights = np.packbits(subsets, axis=1, bitorder="little")
    half = eights.shape[1]
    codes[:, : 2 * half : 2], codes[:, 1 : 2 * half : 2] = eights & 15, eights >> 4
    return codes


def _n_groups(n_columns: int) -> int:
    return max(-(-n_columns // 16), 1) * 4


def make_room(
    n_rows: int, n_columns: int, n_subsets: int, *, classifies: bool, ranks_all: bool
) -> Room:
    """Memory for the values of ``n_rows`` rows under ``n_subsets`` column subsets at a time."""
    bins = 2 if ranks_all else BINS
    # all numbers of a bin lie side by side in regression, those of a run of labels in classes
    table = np.zeros((2, bins)) if classifies else np.zeros((bins, 4)).T
    return Room(
        keys=np.empty((n_subsets, n_rows), dtype=np.uint16),
        lines=np.zeros((_n_groups(n_columns), 16, _TILE)),
        totals=np.empty((n_subsets, n_rows) if ranks_all else (1, _TILE)),
        counts=table.astype(np.int32) if classifies else table.copy(),
        table=table,
        members=np.empty(n_columns, dtype=np.int64),
        begin=np.zeros(BINS >> _COARSE, dtype=np.int32),
        listed=np.empty(n_rows + 1, dtype=np.int32),
        rows=np.empty(n_rows, dtype=np.int32),
        distances=np.empty(n_rows),
        ranks_all=ranks_all,
    )


@_part
def dissimilarity(u, terms, nominal):  # type: ignore[no-untyped-def]
    """How far a training entry is, in whole units: by the terms of its column."""
    x = terms[3] + terms[2] * (terms[0] - u) * (terms[1] - u)
    if nominal:
        x = 0.0 if u == terms[0] else terms[2]
    x = terms[4] if np.isnan(u) else x
    rounder = _ROUND * terms[5]
    return (x + rounder) - rounder


@_part
def make_lines(train, terms, nominal, first, lines):  # type: ignore[no-untyped-def]
    """Sums of the subsets of every four columns, for the rows from ``first`` on: how many rows."""
    m, n = train.shape
    size = lines.shape[2] if first + lines.shape[2] < n else n - first
    for j in range(m):
        bit = 1 << (j & 3)
        line, entries = lines[j >> 2, bit], train[j, first : first + size]
        for i in range(size):
            line[i] = dissimilarity(entries[i], terms[j], nominal[j])
        for other in range(1, bit):
            total, part = lines[j >> 2, bit + other], lines[j >> 2, other]
            for i in range(size):
                total[i] = line[i] + part[i]
    return size


@_part
def make_keys(lines, codes, low, distances, keys):  # type: ignore[no-untyped-def]
    """The distances of a tile under one column subset, and their bins."""
    size, bits = keys.size, distances.view(np.int64)
    for i in range(size):
        distances[i] = 0.0
    for g in range(0, codes.size, 4):
        a, b = lines[g, codes[g]], lines[g + 1, codes[g + 1]]
        c, d = lines[g + 2, codes[g + 2]], lines[g + 3, codes[g + 3]]
        for i in range(size):
            distances[i] += (a[i] + b[i]) + (c[i] + d[i])
    for i in range(size):
        key = (bits[i] >> _SHIFT) - low
        keys[i] = key if key > 0 else 0


@_part
def measure_rows(entries, terms, lows, codes, room):  # type: ignore[no-untyped-def]
    """The bins of all rows beside one validation row, and the distances of what is ranked."""
    train, _, nominal = entries
    keys, lines, totals = room.keys, room.lines, room.totals
    for first in range(0, train.shape[1], lines.shape[2]):
        size = make_lines(train, terms, nominal, first, lines)
        for s in range(len(codes)):
            line, at = (s, first) if room.ranks_all else (0, 0)
            own = keys[s, first : first + size]
            make_keys(lines, codes[s], lows[s], totals[line, at : at + size], own)


@_part
def sort_near(s, last, entries, terms, codes, room):  # type: ignore[no-untyped-def]
    """Sort the rows in bins up to ``last`` by distance under subset ``s``: how many they are.

    They are placed by the leading bits of their distances, and moved to their places from there.
    """
    _, by_row, nominal = entries
    keys, own = room.keys[s], codes[s]
    listed, members, begin = room.listed, room.members, room.begin
    rows, distances = room.rows, room.distances
    n_members = 0
    for j in range(len(terms)):
        if own[j >> 2] >> (j & 3) & 1:
            members[n_members] = j
            n_members += 1
    found = 0
    for first in range(0, keys.size, _FEW):
        some = keys[first : first + _FEW]
        smallest = some[0]
        for i in range(some.size):
            if some[i] < smallest:
                smallest = some[i]
        if smallest <= last:
            for i in range(some.size):
                listed[found] = first + i
                found += some[i] <= last
    lowest, highest = begin.size, 0
    for p in range(found):
        k = keys[listed[p]] >> _COARSE
        begin[k] += 1
        if k < lowest:
            lowest = k
        if k > highest:
            highest = k
    largest = place = 0
    for k in range(lowest, highest + 1):
        size = begin[k]
        begin[k] = place
        if size > largest:
            largest = size
        place += size
    for p in range(found):
        row, total = listed[p], 0.0
        if room.ranks_all:
            total = room.totals[s, row]
        else:
            for g in range(n_members):
                j = members[g]
                total += dissimilarity(by_row[row, j], terms[j], nominal[j])
        k = keys[row] >> _COARSE
        place = begin[k]
        begin[k] = place + 1
        rows[place] = row
        distances[place] = total
    for k in range(lowest, highest + 1):
        begin[k] = 0
    p = 1
    while p < found and distances[p - 1] <= distances[p]:
        p += 1
    gap = 1 if p < found else 0  # 0: they are in order, as where all tie
    while 48 * gap < largest and gap > 0:  # Shell's sort, where many have the same leading bits
        gap = 3 * gap + 1
    while gap > 0:
        for p in range(gap, found):
            row, distance, place = rows[p], distances[p], p
            while place >= gap and distances[place - gap] > distance:
                rows[place] = rows[place - gap]
                distances[place] = distances[place - gap]
                place -= gap
            rows[place] = row
            distances[place] = distance
        gap //= 3
    return found


@_part
def vote_of(row, z, run):  # type: ignore[no-untyped-def]
    """The target of a row; in classes whether it is in the run of the label."""
    if z is None:
        return 1.0 if run[0] <= row < run[1] else 0.0
    return z[row]


@_part
def count_bins(keys, z, run, counts):  # type: ignore[no-untyped-def]
    """Rows of every bin with another and with the same label; or rows, sums of votes and squares.

    Returns
    -------
    float
        The sum of all votes, which classes do not need.
    """
    every = 0.0
    if z is None:
        ends = (0, run[0], run[1], keys.size)
        for part in range(3):
            count = counts[part & 1]
            for k in keys[ends[part] : ends[part + 1]]:
                count[k] += 1
    else:
        for i in range(keys.size):
            k = keys[i]
            counts[0, k] += 1.0
            counts[1, k] += z[i]
            counts[2, k] += z[i] * z[i]
            every += z[i]
    return every


@_part
def value_far(keys, n_near, z, run, target, weights, factor, room):  # type: ignore[no-untyped-def]
    """The values of far rows by bin, as polynomials of their votes; in classes by their votes.

    Returns
    -------
    last : int
        The last bin whose rows are near.
    tails : tuple of float
        What the far rows take from every near one.
    """
    (ranks, pairs), counts, table = weights, room.counts, room.table
    tails = (0.0, 0.0, 0.0)
    if room.ranks_all:
        return BINS, tails
    nearer = count_bins(keys, z, run, counts)
    end, k = keys.size, BINS - 1
    while True:
        total = squares = np.float64(counts[1, k])
        size = np.int64(counts[0, k])
        if z is None:
            size += np.int64(counts[1, k])
        else:
            squares = counts[2, k]
        if size:
            start = end - size
            if start < n_near:
                return k, tails
            nearer -= total
            alpha, beta, gamma, tails = group_worth(
                start, end, nearer, total, squares, tails, target, ranks, pairs
            )
            table[0, k] = factor * alpha
            counts[0, k] = counts[1, k] = 0
            if z is None:
                table[1, k] = factor * (alpha + beta)
            else:
                table[1, k] = factor * beta
                table[2, k] = factor * gamma
                counts[2, k] = 0
            end = start
        k -= 1


@_part
def add_near(found, slack, tails, z, run, target, weights, factor, room, values):  # type: ignore[no-untyped-def]
    """Add the values of near rows, from which the far ones take ``tails``."""
    (ranks, pairs), rows, distances = weights, room.rows, room.distances
    nearer = 0.0
    if z is not None:
        for p in range(found):
            nearer += z[rows[p]]
    end = found
    while end > 0:
        start = end
        total = squares = 0.0
        while start > 0 and (start == end or distances[start] - distances[start - 1] <= slack):
            start -= 1
            vote = vote_of(rows[start], z, run)
            total += vote
            squares += vote * vote
        nearer -= total
        alpha, beta, gamma, tails = group_worth(
            start, end, nearer, total, squares, tails, target, ranks, pairs
        )
        for p in range(start, end):
            vote = vote_of(rows[p], z, run)
            values[rows[p]] += factor * (alpha + vote * (beta + gamma * vote))
        end = start


@_part
def add_far(keys, z, run, table, values):  # type: ignore[no-untyped-def]
    """Add the values of far rows; those of near rows are 0 here."""
    if z is None:
        ends = (0, run[0], run[1], values.size)
        for part in range(3):
            worth, rows = table[part & 1], slice(ends[part], ends[part + 1])
            into, places = values[rows], keys[rows]
            for i in range(into.size):
                into[i] += worth[places[i]]
    else:
        for i in range(values.size):
            k = keys[i]
            values[i] += table[0, k] + z[i] * (table[1, k] + table[2, k] * z[i])


@_part
def empty_near_bins(found, keys, room):  # type: ignore[no-untyped-def]
    """Forget the rows that are ranked one by one: far rows alone are valued by bin."""
    counts, table = room.counts, room.table
    for p in range(found):
        k = keys[room.rows[p]]
        for part in range(len(table)):
            counts[part, k] = 0
            table[part, k] = 0.0


@numba.njit(nogil=True, cache=CACHE, error_model="numpy")
def add_values(entries, seen, n_near, votes, weights, codes, room, stop, sums):  # type: ignore[no-untyped-def]
    """Add the row values beside some validation rows, under some column subsets.

    Parameters
    ----------
    entries : tuple of three ndarrays
        Training entries by column (m, n) and by row (n, m), rows sorted by label; and which columns
        are categories.
    seen : tuple of three ndarrays
        Terms of the distances from the validation rows in every column (T, m, 7), see
        :mod:`shapley2d._knn.fixed_point`; and under every subset (T, subsets) the number of the
        first bin and by how much distances may differ that are equal.
    n_near : int
        Rows that are ranked one by one, at least, where not all are.
    votes : tuple
        In regression the targets of training rows less their mean (n,), in classes None; of the
        validation rows (T,) first and last row (exclusive) with the label, the target less that
        mean, and what each counts.
    weights : tuple
        ``ranks, pairs`` of :func:`~shapley2d._knn.kernels.tie_groups.group_worth`.
    codes : ndarray of shape (subsets, groups), uint8
        Which of every four columns are in a subset, as bits.
    room : Room
    stop : ndarray of one bool
        Set to end early.
    sums : ndarray of shape (subsets, n)
        Receives the values.
    """
    (terms, lows, slacks), (z, runs, targets, factors) = seen, votes
    for t in range(len(terms)):
        if stop[0]:
            return
        run, target, factor = runs[t], targets[t], factors[t]
        measure_rows(entries, terms[t], lows[t], codes, room)
        for s in range(len(codes)):
            keys, slack, values = room.keys[s], slacks[t, s], sums[s]
            last, tails = value_far(keys, n_near, z, run, target, weights, factor, room)
            found = sort_near(s, last, entries, terms[t], codes, room)
            add_near(found, slack, tails, z, run, target, weights, factor, room, values)
            if not room.ranks_all:
                empty_near_bins(found, keys, room)
                add_far(keys, z, run, room.table, values)
