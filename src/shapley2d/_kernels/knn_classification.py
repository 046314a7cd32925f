"""Row values of the K-nearest-neighbour classifier for one validation row, four column coalitions at a time.

A row is worth what its rank is worth if its label matches, less what the matching rows behind it
would be worth without it. Rows at the same distance share their ranks: the closed form of a tie
group averages over all its orders. Training rows are ordered by label, so the rows that match the
validation row are one run ``first .. last - 1``.
"""

from __future__ import annotations

import numba
import numpy as np

from shapley2d._kernels.bins import (
    LANE,
    LANE_1,
    LANE_2,
    LANE_3,
    LANES,
    LARGE,
    all_tied,
    count_rows,
    fill_bins,
    find_near,
    patch_near,
    sort_near,
)
from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.sort import rank_rows


@numba.njit(nogil=True, cache=CACHE, inline="always")
def group_values(start, end, matches, tail, single, beyond, inverse):  # type: ignore[no-untyped-def]
    """Values of the members of one tie group, which holds the ranks ``start + 1 .. end``.

    Parameters
    ----------
    start, end : int
        Number of rows nearer than the group, and that plus its size.
    matches : int
        How many of its members have the label of the validation row.
    tail : float
        What all farther groups take from every nearer row.
    single, beyond : ndarray of shape (n + 1,)
        Rank weights and their sums, see :class:`~shapley2d._knn.rank_weights.RankWeights`.
    inverse : ndarray of shape (n + 1,)
        ``1 / g``; ``inverse[0]`` is 0.

    Returns
    -------
    other, match, tail : float
        Value of a member without and with the label, and the tail for nearer groups.
    """
    total = beyond[start] - beyond[end]
    return _shared_values(end - start, matches, tail, single[start], single[end], total, inverse)


@numba.njit(nogil=True, cache=CACHE, inline="always")
def _shared_values(size, matches, tail, first, last, total, inverse):  # type: ignore[no-untyped-def]
    """The same from the weights of the rank before the group and of its last one, and the sum of those of its ranks."""
    # inverse[0] = 0: a group of one member has no companions that take from it.
    spread = (total - size * last) * inverse[size - 1] * inverse[size]
    other = -tail - matches * spread
    match = total * inverse[size] - (matches - 1) * spread - tail
    return other, match, tail + matches * inverse[size] * (first - last)


@numba.njit(nogil=True, cache=CACHE)
def ranked_classification(keys, rows, tail, game, t, values):  # type: ignore[no-untyped-def]
    """Write the values of rows sorted by distance, whose farther rows take ``tail`` from them."""
    first, last = game.runs[t]
    single, beyond = game.single, game.beyond
    end = keys.size
    while end > 0:
        start = end - 1
        key = keys[start]
        if (
            start == 0 or keys[start - 1] != key
        ):  # the same for a row that ties with none, with less to do
            row = rows[start]
            if first <= row < last:
                values[row] = (beyond[start] - beyond[end]) - tail
                tail += single[start] - single[end]
            else:
                values[row] = -tail
            end = start
            continue
        start = end
        matches = 0
        while start > 0 and keys[start - 1] == key:
            start -= 1
            matches += first <= rows[start] < last
        other, match, tail = group_values(start, end, matches, tail, single, beyond, game.inverse)
        for k in range(start, end):
            row = rows[k]
            values[row] = match if first <= row < last else other
        end = start


@numba.njit(nogil=True, cache=CACHE)
def exact_classification(distances, game, t, sorting, values):  # type: ignore[no-untyped-def]
    """Write the values of all rows under one coalition, by exact rank."""
    keys, rows, packed, spare = sorting
    rank_rows(distances, keys, rows, packed, spare)
    ranked_classification(keys, rows, 0.0, game, t, values)


@numba.njit(nogil=True, cache=CACHE)
def bin_classification(table, t, coalition, leading, lane, game, scratch):  # type: ignore[no-untyped-def]
    """Value the bins of one coalition as tie groups, from the far end to the last bin that has to be ranked.

    Parameters
    ----------
    table, t, coalition, leading, lane
        As in :func:`~shapley2d._kernels.bins.all_tied`.
    game : FastClassification
        See :mod:`shapley2d._knn.far_bins` for its tolerance.
    scratch : BinScratch
        With the number of rows without and with the label in each bin. Its tables receive the
        values of such rows.

    Returns
    -------
    edge : int
        The last bin whose members have to be ranked, or -1; so have all before it.
    tail : float
        What the rows beyond the edge take from those before it.
    """
    ranks, inverse = game.ranks, game.inverse
    others, matches = scratch.counts[0, lane], scratch.counts[1, lane]
    tables = scratch.tables[lane]
    bottom, top = scratch.ends[lane]
    tail, error = 0.0, 0.0
    end = leading.size
    last, beyond, variation = ranks[end, 0], ranks[end, 1], ranks[end, 2]
    for code in range(top, bottom - 1, -1):
        other, match = np.int64(others[code]), np.int64(matches[code])
        size = other + match
        if size == 0:
            continue
        start = end - size
        first = ranks[start, 0]
        # Members of one label have one value, whatever their order.
        if other > 0 and match > 0:
            own = ranks[start + 1, 0] - last
            mixed = match * other * inverse[size]
            taken = min(first - last, mixed * (variation - ranks[start + 1, 2]))
            if error + max(own, taken) > game.tolerance:
                # A look at all rows pays for a large bin: heavy ties are common.
                if LARGE * size < leading.size or not all_tied(
                    table, t, coalition, leading, code, lane, scratch
                ):
                    return code, tail
                taken = 0.0
            error += taken
        tables[0, code], tables[1, code], tail = _shared_values(
            size, match, tail, first, last, ranks[start, 1] - beyond, inverse
        )
        end, last, beyond, variation = start, first, ranks[start, 1], ranks[start, 2]
    return -1, tail


@numba.njit(nogil=True, cache=CACHE)
def prepare_fast_classification(table, t, coalitions, distances, game, scratch):  # type: ignore[no-untyped-def]
    """Fill the tables, and the values of near rows, of up to four coalitions.

    Parameters
    ----------
    table, t, coalitions, distances, scratch
        As in :func:`~shapley2d._kernels.bins.fill_bins`.
    game : FastClassification
    """
    words, counts, ends = scratch.words, scratch.counts, scratch.ends
    first, last = game.runs[t]
    fill_bins(table, t, coalitions, distances, game.digits, scratch)
    for lane in range(LANES):
        counts[:, lane, ends[lane, 0] : ends[lane, 1] + 1] = 0
    count_rows(words[:first], counts[0])
    count_rows(words[first:last], counts[1])
    count_rows(words[last:], counts[0])
    scratch.edges.fill(-1)
    tails = np.zeros(LANES)
    for lane in range(len(coalitions)):
        scratch.edges[lane], tails[lane] = bin_classification(
            table, t, coalitions[lane], distances[lane], lane, game, scratch
        )
    find_near(scratch)
    for lane in range(len(coalitions)):
        if scratch.edges[lane] >= 0:
            size = sort_near(table, t, coalitions[lane], lane, scratch)
            keys, rows = scratch.keys[:size], scratch.rows[:size]
            ranked_classification(keys, rows, tails[lane], game, t, scratch.near_values[lane])


@numba.njit(nogil=True, cache=CACHE)
def gather_fast_classification(begin, end, game, t, scratch, tile):  # type: ignore[no-untyped-def]
    """Write the values of the rows ``begin .. end - 1`` under four coalitions to the front of the tile."""
    first, last = game.runs[t]
    first, last = min(max(first, begin), end), min(max(last, begin), end)
    words, tables = scratch.words, scratch.tables
    _look_up(words[begin:first], tables, 0, 0, tile)
    _look_up(words[first:last], tables, 1, first - begin, tile)
    _look_up(words[last:end], tables, 0, last - begin, tile)
    patch_near(begin, end, scratch, tile)


@numba.njit(nogil=True, cache=CACHE)
def _look_up(words, tables, label, offset, tile):  # type: ignore[no-untyped-def]
    """Read the values of rows of one label off the tables of four coalitions, into the tile from an offset on."""
    t0, t1, t2, t3 = tables[0, label], tables[1, label], tables[2, label], tables[3, label]
    v0, v1, v2, v3 = tile[0, offset:], tile[1, offset:], tile[2, offset:], tile[3, offset:]
    for i in range(words.size):
        word = words[i]
        v0[i] = t0[word & LANE]
        v1[i] = t1[(word >> LANE_1) & LANE]
        v2[i] = t2[(word >> LANE_2) & LANE]
        v3[i] = t3[word >> LANE_3]
