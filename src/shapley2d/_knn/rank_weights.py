"""What a rank is worth: the weights that close the row axis of the K-nearest-neighbour game.

For the Shapley value they are those of Jia et al. (2019, arXiv:1908.08619).

Two elementary games make up every utility of this package. In the first, a row at rank ``r`` (1 =
nearest) is worth 1 to a coalition in which it is present and among the K nearest. Its own value is
``K c(r)``, and every nearer row takes ``K (c(r-1) - c(r))`` away from it. In the second a *pair* of
rows is worth 1 where both are present and among the K nearest. With the farther of them at rank
``r``, each of the two gets ``c2(r)`` and every other nearer row takes ``c2(r-1) - c2(r)`` away.
With ``t`` the random probability of arrival that defines the semivalue,

    c(r)  = E[ P(Binomial(r-1, t) <= K-1) ] / K        (Shapley: min(1/K, 1/r))
    c2(r) = E[ t P(Binomial(r-2, t) <= K-2) ]          (Shapley: min(1/2, K(K-1) / (2 r (r-1))))

Rows that tie share their ranks, so the closed forms need sums of these weights over runs of ranks.
The tables hold sums *from the far end*: they shrink with the rank, and so does the rounding error
of their differences.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._theory.semivalues import marginal_weights

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats
    from shapley2d._theory.semivalues import Semivalue


class RankWeights(NamedTuple):
    """Weights by rank and their sums, for ``n`` rows; index 0 repeats rank 1.

    ``single`` (n + 1,): ``c(r)``, the value of being at rank ``r``.
    ``single_beyond`` (n + 1,): ``c(r+1) + ... + c(n)``.
    ``pair`` (n + 1,): ``c2(r)``, the value to each of a pair whose farther row is at rank ``r``.
    ``pair_beyond`` (n + 1,): ``c2(r+1) + ... + c2(n)``.
    ``ranked_pair_beyond`` (n + 1,): ``(r+1) c2(r+1) + ... + n c2(n)``.
    ``alone``: weight of the empty coalition, ``p(0; n)``.
    """

    single: Floats
    single_beyond: Floats
    pair: Floats
    pair_beyond: Floats
    ranked_pair_beyond: Floats
    alone: float


def rank_weights(semivalue: Semivalue, n_rows: int, n_neighbors: int) -> RankWeights:
    """Tables of the rank weights of ``n_rows`` rows.

    ``n_neighbors``: it may exceed ``n_rows``.

    >>> weights = rank_weights("shapley", 6, 2)
    >>> weights.single[1:].round(4)
    array([0.5   , 0.5   , 0.3333, 0.25  , 0.2   , 0.1667])
    >>> weights.pair[1:].round(4)
    array([0.5   , 0.5   , 0.1667, 0.0833, 0.05  , 0.0333])
    """
    ranks = np.arange(n_rows + 1, dtype=np.float64)
    single = _single(semivalue, np.maximum(ranks, 1), n_neighbors)
    # A pair needs two ranks; below that the weight is never used other than in a vanishing
    # difference.
    pair = _pair(semivalue, np.maximum(ranks, 2), n_neighbors)
    return RankWeights(
        single=single,
        single_beyond=_sums_beyond(single),
        pair=pair,
        pair_beyond=_sums_beyond(pair),
        ranked_pair_beyond=_sums_beyond(ranks * pair),
        alone=float(marginal_weights(semivalue, n_rows)[0]),
    )


def _single(semivalue: Semivalue, ranks: Floats, k: int) -> Floats:
    """``c(r)`` for every rank."""
    if semivalue == "shapley":
        return 1.0 / np.maximum(ranks, k)
    if semivalue == "banzhaf":
        return _binomial_half_cdf(k - 1, ranks - 1) / k
    _, a, b = semivalue
    return _beta_binomial_cdf(k - 1, ranks - 1, b, a) / k


def _pair(semivalue: Semivalue, ranks: Floats, k: int) -> Floats:
    """``c2(r)`` for every rank from 2 on."""
    if k < 2:
        return np.zeros_like(ranks)
    if semivalue == "shapley":
        return np.minimum(0.5, k * (k - 1) / (2 * ranks * (ranks - 1)))
    if semivalue == "banzhaf":
        return 0.5 * _binomial_half_cdf(k - 2, ranks - 2)
    _, a, b = semivalue
    # The extra factor t turns the density of Beta(b, a) into b / (a + b) times that of Beta(b + 1,
    # a).
    return b / (a + b) * _beta_binomial_cdf(k - 2, ranks - 2, b + 1, a)


def _binomial_half_cdf(k: int, trials: Floats) -> Floats:
    """``P(Binomial(trials, 1/2) <= k)``."""
    from scipy.special import bdtr

    return np.asarray(
        np.where(trials <= k, 1.0, bdtr(np.minimum(k, trials), trials.astype(np.int64), 0.5))
    )


def _beta_binomial_cdf(k: int, trials: Floats, b: float, a: float) -> Floats:
    """``P(Binomial(trials, t) <= k)`` with ``t`` distributed as Beta(b, a)."""
    from scipy.special import betaln

    total = np.zeros_like(trials)
    many = trials > k
    n = trials[many]
    log_none = betaln(b, n + a) - betaln(b, a)
    log_ratio = np.zeros_like(n)
    below = np.zeros_like(n)
    for successes in range(k + 1):
        below += np.exp(log_none + log_ratio)
        # P(s+1) / P(s), summed as logarithms: the first terms may underflow where later ones do
        # not.
        log_ratio += np.log(
            (n - successes) * (successes + b) / ((successes + 1) * (n - successes - 1 + a))
        )
    total[many] = below
    total[~many] = 1.0
    return total


def _sums_beyond(weights: Floats) -> Floats:
    """``weights[r+1] + ... + weights[n]`` for every ``r``, in long double precision."""
    sums = np.zeros(len(weights))
    sums[:-1] = np.cumsum(weights[:0:-1], dtype=np.longdouble)[::-1]
    return sums
