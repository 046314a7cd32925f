"""Row values of the K-nearest-neighbour regression for one validation row, four column coalitions at a time.

The utility is ``-(A / K - target)^2``, with ``A`` the sum of the centred targets ``z`` of the K
nearest rows that are present. Expanded, it is a linear part, which is the classification game with
targets for matches, and ``A^2``: the squares of single rows and the products of pairs. Averaged
over the orders of its tie group, the value of a row with target ``z`` is a quadratic ``alpha + beta
z + gamma z^2`` with coefficients of the group.
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
def group_quadratic(start, end, nearer, total, squares, tails, target, k, tables):  # type: ignore[no-untyped-def]
    """Coefficients of one tie group, which holds the ranks ``start + 1 .. end``.

    Parameters
    ----------
    start, end : int
        Number of rows nearer than the group, and that plus its size.
    nearer, total, squares : float
        Sum of ``z`` over all nearer rows; sums of ``z`` and of ``z^2`` over the group.
    tails : tuple of 3 floats
        What farther groups contribute to every nearer row: to the linear part, to the factor of
        ``z`` and to the constant of the squared part.
    target, k : float
        The centred target of the validation row and the number of neighbours.
    tables : tuple
        ``single, single_beyond, pair, pair_beyond, ranked_pair_beyond, inverse``.

    Returns
    -------
    alpha, beta, gamma : float
    tails : tuple of 3 floats
        For the nearer groups.
    """
    single, single_beyond, pair, pair_beyond, ranked_pair_beyond, inverse = tables
    linear_tail, product_tail, square_tail = tails
    size = end - start
    share = inverse[size]
    # Chance of an ordered pair, or triple, of members to be two, or three, given ones; 0 where
    # there are too few.
    share_pair = share * inverse[size - 1]
    share_triple = share_pair * inverse[max(size - 2, 0)]
    last = single[end]
    weight = single_beyond[start] - single_beyond[end]
    drop = (weight - size * last) * share_pair

    last_pair = pair[end]
    weight_pair = pair_beyond[start] - pair_beyond[end]
    # Sum over the group of (position - 1) c2, from which the sums of e2 = c2(r-1) - c2(r) follow by
    # parts.
    placed_pair = ranked_pair_beyond[start] - ranked_pair_beyond[end] - (start + 1) * weight_pair
    drop_pair = (weight_pair - size * last_pair) * share_pair
    mixed = placed_pair * share_pair
    drop_triple = (2.0 * placed_pair - size * (size - 1.0) * last_pair) * share_triple
    products = total * total - squares

    # A: the classification form with z in place of the match.
    linear_alpha = -total * drop - linear_tail
    linear_beta = weight * share + drop
    # A^2: own square and what companions' squares take; pairs with nearer rows, companions and
    # farther rows;
    # what pairs of companions, or of a companion and a nearer row, take.
    alpha = (
        -k * squares * drop
        - 2.0 * (total * nearer * drop_pair + drop_triple * products)
        - square_tail
    )
    beta = (
        2.0 * nearer * (weight_pair * share + drop_pair)
        + 4.0 * total * (mixed + drop_triple)
        + 2.0 * product_tail
    )
    gamma = k * (weight * share + drop) - 4.0 * (mixed + drop_triple)

    step = single[start] - last
    step_pair = pair[start] - last_pair
    mean = total * share
    tails = (
        linear_tail + mean * step,
        product_tail + mean * (weight_pair + step_pair),
        square_tail
        + k * squares * share * step
        + 2.0 * (mean * nearer * step_pair + products * drop_pair),
    )
    scale = 1.0 / (k * k)
    return (
        2.0 * target * linear_alpha - alpha * scale,
        2.0 * target * linear_beta - beta * scale,
        -gamma * scale,
        tails,
    )


@numba.njit(nogil=True, cache=CACHE)
def ranked_regression(keys, rows, tails, game, t, values):  # type: ignore[no-untyped-def]
    """Write the values of rows sorted by distance, to which farther rows contribute ``tails``."""
    z, target, tables = game.z, game.targets[t], game.tables
    n_rows = keys.size
    nearer = np.empty(n_rows)
    running = 0.0
    for rank in range(n_rows):
        nearer[rank] = running
        running += z[rows[rank]]
    jump = -game.alone * target * target
    end = n_rows
    while end > 0:
        start = end
        total = 0.0
        squares = 0.0
        key = keys[end - 1]
        while start > 0 and keys[start - 1] == key:
            start -= 1
            member = z[rows[start]]
            total += member
            squares += member * member
        alpha, beta, gamma, tails = group_quadratic(
            start, end, nearer[start], total, squares, tails, target, game.k, tables
        )
        for rank in range(start, end):
            row = rows[rank]
            values[row] = jump + alpha + z[row] * (beta + gamma * z[row])
        end = start


@numba.njit(nogil=True, cache=CACHE)
def exact_regression(distances, game, t, sorting, values):  # type: ignore[no-untyped-def]
    """Write the values of all rows under one coalition, by exact rank."""
    keys, rows, packed, spare = sorting
    rank_rows(distances, keys, rows, packed, spare)
    ranked_regression(keys, rows, (0.0, 0.0, 0.0), game, t, values)


@numba.njit(nogil=True, cache=CACHE)
def bin_regression(table, t, coalition, leading, lane, game, scratch):  # type: ignore[no-untyped-def]
    """Value the bins of one coalition as tie groups, from the far end to the last bin that has to be ranked.

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
            ranked_regression(keys, rows, parts, game, t, scratch.near_values[lane])


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
    """Write the values of the rows ``begin .. end - 1`` under four coalitions to the front of the tile."""
    words, z, tables = scratch.words[begin:end], game.z[begin:end], scratch.tables
    for lane in range(LANES):
        alpha, beta, gamma = tables[lane, 0], tables[lane, 1], tables[lane, 2]
        line = tile[lane]
        shift = np.uint64(16 * lane)
        for i in range(words.size):
            code = (words[i] >> shift) & LANE
            line[i] = alpha[code] + z[i] * (beta[code] + gamma[code] * z[i])
    patch_near(begin, end, scratch, tile)
