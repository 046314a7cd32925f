"""Row values of K nearest neighbours for one validation row, whose ties share their ranks.

The closed form over the rows is that of Jia et al. (2019, arXiv:1908.08619), with rows at the same
distance averaged over all their orders: one formula per task gives the values of a *tie group*. A
single row is a group of one, and the bins of far rows are groups too.

*Classification.* A row is worth what its rank is worth if its label matches, less what the matching
rows behind it would be worth without it. Training rows are sorted by label, so the rows that match
the validation row are one run.

*Regression.* The utility is ``-(A / K - target)^2``, with ``A`` the sum of the centred targets
``z`` of the K nearest rows that are present. Expanded, it is a linear part, which is the
classification game with targets for matches, and ``A^2``: the squares of single rows and the
products of pairs. The value of a row with target ``z`` is a quadratic ``alpha + beta z + gamma
z^2`` with coefficients of its tie group.
"""

from __future__ import annotations

import numba

from shapley2d._base.cache import CACHE


@numba.njit(nogil=True, cache=CACHE, inline="always")
def group_values(size, matches, tail, first, last, total, inverse):  # type: ignore[no-untyped-def]
    """Values of the members of one tie group in classification.

    Parameters
    ----------
    size, matches : int
        Members of the group, and how many of them have the label of the validation row.
    tail : float
        What all farther groups take from every nearer row.
    first, last, total : float
        Weight of the rank before the group and of its last rank, and the sum of those of its ranks;
        see :class:`~shapley2d._knn.rank_weights.RankWeights`.
    inverse : ndarray of shape (n + 1,)
        ``1 / g``; ``inverse[0]`` is 0.

    Returns
    -------
    other, match, tail : float
        Value of a member without and with the label, and the tail for nearer groups.
    """
    # inverse[0] = 0: a group of one member has no companions that take from it.
    spread = (total - size * last) * inverse[size - 1] * inverse[size]
    other = -tail - matches * spread
    match = total * inverse[size] - (matches - 1) * spread - tail
    return other, match, tail + matches * inverse[size] * (first - last)


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
