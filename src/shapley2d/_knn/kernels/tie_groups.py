"""Row values of K nearest neighbours for one validation row, whose ties share their ranks.

The closed form over the rows is that of Jia et al. (2019, arXiv:1908.08619), with rows at the same
distance averaged over all their orders: one formula gives the values of a *tie group*. A single row
is a group of one, and the bins of far rows are groups too.

*Classification.* A row is worth what its rank is worth if its label matches, less what the matching
rows behind it would be worth without it: linear in the votes ``z``, 1 of a match and 0 of others.

*Regression.* The utility is ``-(A / K - target)^2``, with ``A`` the sum of the centred targets
``z`` of the K nearest rows that are present. Expanded, it is a linear part, which is the
classification game with targets for votes, and ``A^2``: the squares of single rows and the
products of pairs. The value of a row with target ``z`` is a quadratic ``alpha + beta z + gamma
z^2`` with coefficients of its tie group.
"""

from __future__ import annotations

import numba

from shapley2d._base.cache import CACHE


@numba.njit(nogil=True, cache=CACHE, error_model="numpy")
def group_worth(start, end, nearer, total, squares, tails, target, ranks, pairs):  # type: ignore[no-untyped-def]
    """What the members of one tie group are worth, which holds the ranks ``start + 1 .. end``.

    Parameters
    ----------
    start, end : int
        Number of rows nearer than the group, and that plus its size.
    nearer, total, squares : float
        Sum of the votes ``z`` over all nearer rows; sums of ``z`` and of ``z^2`` over the group.
    tails : tuple of 3 floats
        What farther groups contribute to every nearer row: to the linear part, to the factor of
        ``z`` and to the constant of the squared part.
    target : float
        In regression the centred target of the validation row.
    ranks : tuple
        ``single, single_beyond, inverse``: see :class:`~shapley2d._knn.rank_weights.RankWeights`;
        ``inverse`` has ``1 / g``, and 0 for none.
    pairs : tuple or None
        Of regression ``pair, pair_beyond, ranked_pair_beyond``, the number of neighbours, and the
        weight of the empty coalition. In classes there is the linear part alone.

    Returns
    -------
    alpha, beta, gamma : float
        A member with the vote ``z`` is worth ``alpha + beta z + gamma z^2``.
    tails : tuple of 3 floats
        For the nearer groups.
    """
    single, single_beyond, inverse = ranks
    linear_tail, product_tail, square_tail = tails
    size = end - start
    share = inverse[size]
    # Chance of an ordered pair of members to be two given ones; 0 where there are too few.
    share_pair = share * inverse[size - 1]
    weight = single_beyond[start] - single_beyond[end]
    drop = (weight - size * single[end]) * share_pair
    step = single[start] - single[end]
    mean = total * share
    linear_alpha = -total * drop - linear_tail
    linear_beta = weight * share + drop
    linear_tail += mean * step
    if pairs is None:
        return linear_alpha, linear_beta, 0.0, (linear_tail, product_tail, square_tail)

    pair, pair_beyond, ranked_pair_beyond, k, alone = pairs
    share_triple = share_pair * inverse[max(size - 2, 0)]
    weight_pair = pair_beyond[start] - pair_beyond[end]
    # Sum over the group of (position - 1) c2, from which the sums of e2 = c2(r-1) - c2(r) follow by
    # parts.
    placed_pair = ranked_pair_beyond[start] - ranked_pair_beyond[end] - (start + 1) * weight_pair
    drop_pair = (weight_pair - size * pair[end]) * share_pair
    mixed = placed_pair * share_pair
    drop_triple = (2.0 * placed_pair - size * (size - 1.0) * pair[end]) * share_triple
    products = total * total - squares

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
    gamma = k * linear_beta - 4.0 * (mixed + drop_triple)

    step_pair = pair[start] - pair[end]
    product_tail += mean * (weight_pair + step_pair)
    square_tail += k * squares * share * step
    square_tail += 2.0 * (mean * nearer * step_pair + products * drop_pair)
    scale, twice = 1.0 / (k * k), 2.0 * target
    return (
        twice * linear_alpha - alpha * scale - alone * target * target,
        twice * linear_beta - beta * scale,
        -gamma * scale,
        (linear_tail, product_tail, square_tail),
    )
