"""The fast form: near rows are ranked, far ones stay in bins, four column subsets at a time.

The bins of far rows are tie groups whose members differ a little; how much that may change is in
:mod:`shapley2d._knn.far_bins`. ``prepare_...`` values the bins and ranks the near rows, for all
rows, one validation row and up to four column subsets; ``gather_...`` writes the values of a tile
of rows.
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
from shapley2d._kernels.tie_groups import (
    group_quadratic,
    group_values,
    ranked_classification,
    ranked_regression,
)


@numba.njit(nogil=True, cache=CACHE)
def bin_classification(table, t, coalition, leading, lane, game, scratch):  # type: ignore[no-untyped-def]
    """Value bins as tie groups, from the far end up to the first one that has to be ranked.

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
        tables[0, code], tables[1, code], tail = group_values(
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
            ranked_classification(
                keys, rows, tails[lane], game.runs[t], game.single, game.beyond, game.inverse,
                scratch.near_values[lane],
            )  # fmt: skip


@numba.njit(nogil=True, cache=CACHE)
def gather_fast_classification(begin, end, game, t, scratch, tile):  # type: ignore[no-untyped-def]
    """Write the values of the rows ``begin .. end - 1`` under four coalitions to the tile."""
    first, last = game.runs[t]
    first, last = min(max(first, begin), end), min(max(last, begin), end)
    words, tables = scratch.words, scratch.tables
    _look_up(words[begin:first], tables, 0, 0, tile)
    _look_up(words[first:last], tables, 1, first - begin, tile)
    _look_up(words[last:end], tables, 0, last - begin, tile)
    patch_near(begin, end, scratch, tile)


@numba.njit(nogil=True, cache=CACHE)
def _look_up(words, tables, label, offset, tile):  # type: ignore[no-untyped-def]
    """Look the values of rows of one label up under four coalitions; write from an offset on."""
    t0, t1, t2, t3 = tables[0, label], tables[1, label], tables[2, label], tables[3, label]
    v0, v1, v2, v3 = tile[0, offset:], tile[1, offset:], tile[2, offset:], tile[3, offset:]
    for i in range(words.size):
        word = words[i]
        v0[i] = t0[word & LANE]
        v1[i] = t1[(word >> LANE_1) & LANE]
        v2[i] = t2[(word >> LANE_2) & LANE]
        v3[i] = t3[word >> LANE_3]


@numba.njit(nogil=True, cache=CACHE)
def bin_regression(table, t, coalition, leading, lane, game, scratch):  # type: ignore[no-untyped-def]
    """Value bins as tie groups, from the far end up to the first one that has to be ranked.

    Parameters
    ----------
    table, t, coalition, leading, lane
        As in :func:`~shapley2d._kernels.bins.all_tied`.
    game : FastRegression
        See :mod:`shapley2d._knn.far_bins` for its tolerance.
    scratch : BinScratch
        With the number of rows in each bin, and the sums of ``z`` and ``z^2``. Its tables receive
        the coefficients of 1, ``z`` and ``z^2``.

    Returns
    -------
    edge : int
        The last bin whose members have to be ranked, or -1; so have all before it.
    tails : tuple of 3 floats
        What the rows beyond the edge contribute to those before it.
    """
    single, pair, target = game.tables[0], game.tables[2], game.targets[t]
    counts, sums = scratch.counts[0, lane], scratch.sums[lane]
    tables = scratch.tables[lane]
    bottom, top = scratch.ends[lane]
    nearer = 0.0
    for code in range(bottom, top + 1):
        nearer += sums[code, 0]
    jump = -game.alone * target * target
    scale = 1.0 / (game.k * game.k)
    factor = 4.0 + 1.0 / game.k
    tails = (0.0, 0.0, 0.0)
    error = 0.0
    start = leading.size
    for code in range(top, bottom - 1, -1):
        size = np.int64(counts[code])
        if size == 0:
            continue
        end = start
        start -= size
        nearer -= sums[code, 0]
        if size > 1:
            drop = single[start] - single[end]
            drop_pair = pair[start] - pair[end]
            swing = game.variation[end] - game.variation[start + 1]
            swing_pair = game.variation_pair[end] - game.variation_pair[start + 1]
            reach = min(abs(nearer) * game.inverse_magnitude, float(start))
            own = (
                factor * (single[start + 1] - single[end])
                + (6.0 * reach + 8.0 * size) * drop_pair * scale
            )
            taken = (
                factor * min(drop, 0.25 * size * swing)
                + (size * drop_pair + (reach + size) * size * swing_pair) * scale
            )
            if error + max(own, taken) > game.tolerance:
                # A look at all rows pays for a large bin: heavy ties are common.
                if LARGE * size < leading.size or not all_tied(
                    table, t, coalition, leading, code, lane, scratch
                ):
                    return code, tails
                taken = 0.0
            error += taken
        alpha, beta, gamma, tails = group_quadratic(
            start, end, nearer, sums[code, 0], sums[code, 1], tails, target, game.k, game.tables
        )
        tables[0, code] = jump + alpha
        tables[1, code] = beta
        tables[2, code] = gamma
    return -1, tails


@numba.njit(nogil=True, cache=CACHE)
def prepare_fast_regression(table, t, coalitions, distances, game, scratch):  # type: ignore[no-untyped-def]
    """Fill the tables, and the values of near rows, of up to four coalitions.

    Parameters
    ----------
    table, t, coalitions, distances, scratch
        As in :func:`~shapley2d._kernels.bins.fill_bins`.
    game : FastRegression
    """
    counts, sums, ends = scratch.counts[0], scratch.sums, scratch.ends
    fill_bins(table, t, coalitions, distances, game.digits, scratch)
    for lane in range(LANES):
        counts[lane, ends[lane, 0] : ends[lane, 1] + 1] = 0
        sums[lane, ends[lane, 0] : ends[lane, 1] + 1] = 0.0
    count_rows(scratch.words, counts)
    _add_targets(scratch.words, game.z, sums)
    scratch.edges.fill(-1)
    tails = np.zeros((LANES, 3))
    for lane in range(len(coalitions)):
        scratch.edges[lane], parts = bin_regression(
            table, t, coalitions[lane], distances[lane], lane, game, scratch
        )
        tails[lane, 0], tails[lane, 1], tails[lane, 2] = parts
    find_near(scratch)
    for lane in range(len(coalitions)):
        if scratch.edges[lane] >= 0:
            size = sort_near(table, t, coalitions[lane], lane, scratch)
            keys, rows = scratch.keys[:size], scratch.rows[:size]
            parts = (tails[lane, 0], tails[lane, 1], tails[lane, 2])
            ranked_regression(
                keys, rows, parts, game.z, game.targets[t], game.k, game.alone, game.tables,
                np.empty((2, size)), scratch.near_values[lane],
            )  # fmt: skip


@numba.njit(nogil=True, cache=CACHE)
def _add_targets(words, z, sums):  # type: ignore[no-untyped-def]
    """Sum ``z`` and ``z^2`` by lane and bin."""
    s0, s1, s2, s3 = sums[0], sums[1], sums[2], sums[3]
    for i in range(words.size):
        word = words[i]
        member = z[i]
        square = member * member
        b0, b1, b2, b3 = (
            word & LANE,
            (word >> LANE_1) & LANE,
            (word >> LANE_2) & LANE,
            word >> LANE_3,
        )
        s0[b0, 0] += member
        s0[b0, 1] += square
        s1[b1, 0] += member
        s1[b1, 1] += square
        s2[b2, 0] += member
        s2[b2, 1] += square
        s3[b3, 0] += member
        s3[b3, 1] += square


@numba.njit(nogil=True, cache=CACHE)
def gather_fast_regression(begin, end, game, scratch, tile):  # type: ignore[no-untyped-def]
    """Write the values of the rows ``begin .. end - 1`` under four coalitions to the tile."""
    words, z, tables = scratch.words[begin:end], game.z[begin:end], scratch.tables
    for lane in range(LANES):
        alpha, beta, gamma = tables[lane, 0], tables[lane, 1], tables[lane, 2]
        line = tile[lane]
        shift = np.uint64(16 * lane)
        for i in range(words.size):
            code = (words[i] >> shift) & LANE
            line[i] = alpha[code] + z[i] * (beta[code] + gamma[code] * z[i])
    patch_near(begin, end, scratch, tile)
