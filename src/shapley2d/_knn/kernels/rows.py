"""Row values of K nearest neighbours, for many column subsets beside many validation rows.

Distances are sums of whole numbers of units (:mod:`shapley2d._knn.fixed_point`), so that they are
the same in any order. For a validation row the columns are taken in groups of four, and the sums
of all 16 subsets of a group are made once for a tile of rows; the distance under any column subset
is then one number from each group.

Of many rows the leading bits of a distance are its bin. Rows are counted by bin, the
nearest bins that hold :data:`NEAR` rows are ranked row by row, and the rows of any other bin share
their ranks. So everything is a group of equals (:mod:`shapley2d._knn.kernels.tie_groups`), a single
row is a group of one, and groups are valued from the farthest to the nearest.

Training rows are in the order of their labels: those with the label of a validation row are one
run, and nothing looks at a label row by row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np

from shapley2d._base.cache import CACHE
from shapley2d._knn.kernels.tie_groups import group_quadratic, group_values

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
    groups = _n_groups(subsets.shape[1])
    padded = np.zeros((len(subsets), 4 * groups), dtype=np.uint8)
    padded[:, : subsets.shape[1]] = subsets
    bits = padded.reshape(len(subsets), groups, 4) << np.arange(4, dtype=np.uint8)
    return np.asarray(bits.sum(axis=2, dtype=np.uint8))


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
def make_lines(train, terms, nominal, first, lines):  # type: ignore[no-untyped-def]
    """Sums of the subsets of every four columns, for the rows from ``first`` on: how many rows."""
    m, n = train.shape
    size = lines.shape[2] if first + lines.shape[2] < n else n - first
    for j in range(m):
        bit = 1 << (j & 3)
        line, entries = lines[j >> 2, bit], train[j, first : first + size]
        near, mirror, scale = terms[j, 0], terms[j, 1], terms[j, 2]
        base, gap, rounder = terms[j, 3], terms[j, 4], _ROUND * terms[j, 5]
        if nominal[j]:
            for i in range(size):
                u = entries[i]
                x = 0.0 if u == near else scale
                x = gap if np.isnan(u) else x
                line[i] = (x + rounder) - rounder
        else:
            for i in range(size):
                u = entries[i]
                x = base + scale * (near - u) * (mirror - u)
                x = gap if np.isnan(u) else x
                line[i] = (x + rounder) - rounder
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
                u, rounder = by_row[row, j], _ROUND * terms[j, 5]
                x = terms[j, 3] + terms[j, 2] * (terms[j, 0] - u) * (terms[j, 1] - u)
                if nominal[j]:
                    x = 0.0 if u == terms[j, 0] else terms[j, 2]
                x = terms[j, 4] if np.isnan(u) else x
                total += (x + rounder) - rounder
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
def far_classes(keys, n_near, run, weights, factor, room):  # type: ignore[no-untyped-def]
    """The values of far rows by bin, beside a validation row whose label a run of rows has.

    Returns
    -------
    last : int
        The last bin whose rows are near.
    tail : float
        What the far rows take from every near one.
    """
    (single, beyond, inverse), (others, same), table = weights, room.counts, room.table
    end, tail = keys.size, 0.0
    if room.ranks_all:
        return BINS, tail
    ends = (0, run[0], run[1], keys.size)
    for part in range(3):
        count = same if part == 1 else others
        for k in keys[ends[part] : ends[part + 1]]:
            count[k] += 1
    k = BINS - 1
    while True:
        matches = same[k]
        size = others[k] + matches
        if size:
            start = end - size
            if start < n_near:
                return k, tail
            others[k] = 0
            same[k] = 0
            total = beyond[start] - beyond[end]
            other, match, tail = group_values(
                size, matches, tail, single[start], single[end], total, inverse
            )
            table[0, k] = factor * other
            table[1, k] = factor * match
            end = start
        k -= 1


@_part
def add_near_classes(found, slack, tail, run, weights, factor, room, values):  # type: ignore[no-untyped-def]
    """Add the values of near rows, from which the far ones take ``tail``."""
    single, beyond, inverse = weights
    rows, distances, first, last = room.rows, room.distances, run[0], run[1]
    end = found
    while end > 0:
        start = end - 1
        matches = np.int64(first <= rows[start] < last)
        while start > 0 and distances[start] - distances[start - 1] <= slack:
            start -= 1
            matches += first <= rows[start] < last
        total = beyond[start] - beyond[end]
        other, match, tail = group_values(
            end - start, matches, tail, single[start], single[end], total, inverse
        )
        for p in range(start, end):
            values[rows[p]] += factor * (match if first <= rows[p] < last else other)
        end = start


@_part
def add_far_classes(keys, table, run, values):  # type: ignore[no-untyped-def]
    """Add the values of far rows; those of near rows are 0 here."""
    ends = (0, run[0], run[1], values.size)
    for part in range(3):
        worth, rows = table[part & 1], slice(ends[part], ends[part + 1])
        into, places = values[rows], keys[rows]
        for i in range(into.size):
            into[i] += worth[places[i]]


@_part
def far_numbers(keys, n_near, z, target, weights, factor, room):  # type: ignore[no-untyped-def]
    """The same in regression: coefficients of a quadratic in the target of a row, by bin."""
    ranks, k_votes, alone = weights
    counts, table = room.counts, room.table
    tails = (0.0, 0.0, 0.0)
    if room.ranks_all:
        return BINS, tails
    nearer = 0.0
    for i in range(keys.size):
        k = keys[i]
        counts[0, k] += 1.0
        counts[1, k] += z[i]
        counts[2, k] += z[i] * z[i]
        nearer += z[i]
    end, k = keys.size, BINS - 1
    while True:
        size = np.int64(counts[0, k])
        if size:
            start = end - size
            if start < n_near:
                return k, tails
            total, squares = counts[1, k], counts[2, k]
            nearer -= total
            alpha, beta, gamma, tails = group_quadratic(
                start, end, nearer, total, squares, tails, target, k_votes, ranks
            )
            table[0, k] = factor * (alpha - alone * target * target)
            table[1, k] = factor * beta
            table[2, k] = factor * gamma
            counts[0, k] = counts[1, k] = counts[2, k] = 0.0
            end = start
        k -= 1


@_part
def add_near_numbers(found, slack, tails, z, target, weights, factor, room, values):  # type: ignore[no-untyped-def]
    """The same in regression."""
    ranks, k_votes, alone = weights
    rows, distances = room.rows, room.distances
    nearer = 0.0
    for p in range(found):
        nearer += z[rows[p]]
    end = found
    while end > 0:
        start = end
        total = squares = 0.0
        while start > 0 and (start == end or distances[start] - distances[start - 1] <= slack):
            start -= 1
            member = z[rows[start]]
            total += member
            squares += member * member
        nearer -= total
        alpha, beta, gamma, tails = group_quadratic(
            start, end, nearer, total, squares, tails, target, k_votes, ranks
        )
        alpha -= alone * target * target
        for p in range(start, end):
            member = z[rows[p]]
            values[rows[p]] += factor * (alpha + member * (beta + gamma * member))
        end = start


@_part
def add_far_numbers(keys, table, z, values):  # type: ignore[no-untyped-def]
    """The same in regression."""
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
def add_classification(entries, seen, n_near, y, weights, codes, room, stop, sums):  # type: ignore[no-untyped-def]
    """Add the row values of classification beside some validation rows, under some subsets.

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
    y : tuple of two ndarrays
        First and last row (exclusive) with the label of each validation row (T, 2), and what each
        validation row counts (T,).
    weights : tuple of ndarray
        ``single, single_beyond, inverse``.
    codes : ndarray of shape (subsets, groups), uint8
        Which of every four columns are in a subset, as bits.
    room : Room
    stop : ndarray of one bool
        Set to end early.
    sums : ndarray of shape (subsets, n)
        Receives the values.
    """
    (terms, lows, slacks), (runs, factors) = seen, y
    for t in range(len(terms)):
        if stop[0]:
            return
        run, factor = runs[t], factors[t]
        measure_rows(entries, terms[t], lows[t], codes, room)
        for s in range(len(codes)):
            keys, slack, values = room.keys[s], slacks[t, s], sums[s]
            last, tail = far_classes(keys, n_near, run, weights, factor, room)
            found = sort_near(s, last, entries, terms[t], codes, room)
            add_near_classes(found, slack, tail, run, weights, factor, room, values)
            if not room.ranks_all:
                empty_near_bins(found, keys, room)
                add_far_classes(keys, room.table, run, values)


@numba.njit(nogil=True, cache=CACHE, error_model="numpy")
def add_regression(entries, seen, n_near, y, weights, codes, room, stop, sums):  # type: ignore[no-untyped-def]
    """Add the row values of regression beside some validation rows, under some column subsets.

    As :func:`add_classification`, with other ``y`` (targets of training and of validation rows less
    the mean of the first, and what each validation row counts) and ``weights`` (tables of
    :func:`~shapley2d._knn.kernels.tie_groups.group_quadratic`, K, and the weight of the empty
    coalition).
    """
    (terms, lows, slacks), (z, targets, factors) = seen, y
    for t in range(len(terms)):
        if stop[0]:
            return
        target, factor = targets[t], factors[t]
        measure_rows(entries, terms[t], lows[t], codes, room)
        for s in range(len(codes)):
            keys, slack, values = room.keys[s], slacks[t, s], sums[s]
            last, tails = far_numbers(keys, n_near, z, target, weights, factor, room)
            found = sort_near(s, last, entries, terms[t], codes, room)
            add_near_numbers(found, slack, tails, z, target, weights, factor, room, values)
            if not room.ranks_all:
                empty_near_bins(found, keys, room)
                add_far_numbers(keys, room.table, z, values)
