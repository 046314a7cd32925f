import itertools

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, betabinom, binom

from shapley2d._knn.rank_weights import rank_weights
from shapley2d._theory.semivalues import marginal_weights

SEMIVALUES = ["shapley", "banzhaf", ("beta", 4.0, 1.0), ("beta", 1.0, 16.0), ("beta", 1.5, 2.5)]


def expectation(semivalue, function):
    if semivalue == "banzhaf":
        return function(0.5)
    a, b = (1.0, 1.0) if semivalue == "shapley" else semivalue[1:]
    return quad(lambda t: function(t) * beta.pdf(t, b, a), 0, 1, epsabs=1e-13, limit=200)[0]


@pytest.mark.parametrize("semivalue", SEMIVALUES)
@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_weights_are_the_expectations_that_define_them(semivalue, k):
    weights = rank_weights(semivalue, 12, k)
    for r in range(1, 13):
        single = expectation(semivalue, lambda t, r=r: binom.cdf(k - 1, r - 1, t)) / k
        assert weights.single[r] == pytest.approx(single, abs=1e-9)
    for r in range(2, 13):
        pair = expectation(semivalue, lambda t, r=r: t * binom.cdf(k - 2, r - 2, t))
        assert weights.pair[r] == pytest.approx(pair, abs=1e-9)


@pytest.mark.parametrize("semivalue", SEMIVALUES)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_weights_are_values_of_the_elementary_games(semivalue, k):
    """Rank 5 of 6 rows is worth 1 where it is present and among the k nearest; so is the pair of ranks 2 and 5."""
    n, far, near = 6, 4, 1
    p = marginal_weights(semivalue, n)
    weights = rank_weights(semivalue, n, k)
    single, pair = np.zeros(n), np.zeros(n)
    for size in range(n):
        for members in itertools.combinations(range(n), size):
            for i in set(range(n)) - set(members):
                for values, wanted in ((single, {far}), (pair, {near, far})):
                    before = wanted <= set(members[:k])
                    after = wanted <= set(sorted((*members, i))[:k])
                    values[i] += p[size] * (after - before)
    c, c2, r = k * weights.single, weights.pair, far + 1
    np.testing.assert_allclose(single, [c[r] - c[r - 1]] * 4 + [c[r], 0], atol=1e-14)
    taken = c2[r] - c2[r - 1]
    np.testing.assert_allclose(pair, [taken, c2[r], taken, taken, c2[r], 0], atol=1e-14)


@pytest.mark.parametrize("semivalue", SEMIVALUES)
def test_sums_over_runs_of_ranks_keep_their_precision(semivalue):
    n = 50_000
    weights = rank_weights(semivalue, n, 10)
    rng = np.random.default_rng(0)
    for start in [0, 5, 100, *rng.integers(0, n - 2000, 20)]:
        end = start + int(rng.integers(1, 2000))
        run = slice(start + 1, end + 1)
        ranks = np.arange(start + 1, end + 1)
        c = weights.single_beyond[start] - weights.single_beyond[end]
        c2 = weights.pair_beyond[start] - weights.pair_beyond[end]
        placed = (
            weights.ranked_pair_beyond[start] - weights.ranked_pair_beyond[end] - (start + 1) * c2
        )
        np.testing.assert_allclose(c, weights.single[run].sum(), atol=1e-13)
        np.testing.assert_allclose(c2, weights.pair[run].sum(), atol=1e-13)
        np.testing.assert_allclose(
            placed, ((ranks - start - 1) * weights.pair[run]).sum(), atol=5e-13
        )


def test_beta_weights_survive_extreme_parameters():
    weights = rank_weights(("beta", 1.0, 800.0), 5000, 900)
    assert np.all(np.isfinite(weights.single)) and np.all(np.diff(weights.single) <= 1e-15)
    ranks = np.array([1000, 3000, 5000])
    np.testing.assert_allclose(
        weights.single[ranks],
        betabinom.cdf(899, ranks - 1, 800.0, 1.0) / 900,
        rtol=1e-8,
        atol=1e-300,
    )


def test_beta_one_one_is_shapley():
    for one, other in zip(
        rank_weights(("beta", 1.0, 1.0), 300, 7), rank_weights("shapley", 300, 7), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-12)
