"""The coalitions of one chunk of validation rows, and what is read off them."""

import numpy as np
import pytest

from shapley2d._knn.kriging import NOISE, Fit, Kriging, sample_pairs

M = 8
SEMIVALUES = ["shapley", "banzhaf", ("beta", 4, 1)]


@pytest.mark.parametrize("n_subsets", [24, 40, 100])
@pytest.mark.parametrize("semivalue", [*SEMIVALUES, ("beta", 1, 2)])
def test_every_size_counts_what_it_should_in_every_design(semivalue, n_subsets):
    """What makes the estimates unbiased for any game: no mean over chunks would take a lean out."""
    kriging = Kriging(M, semivalue)
    everything = sample_pairs(M, 2**M, np.random.default_rng(0))
    for seed in range(5):
        pairs = sample_pairs(M, n_subsets // 2, np.random.default_rng(seed), kriging.shares)
        for part in kriging.parts:
            np.testing.assert_allclose(
                counted(pairs, Fit(part, pairs).weights),
                counted(everything, part.exact(everything)),
                atol=1e-9,
            )


def counted(pairs, weights):
    """What the pairs of every size count for the columns in them, and for all columns together."""
    size = pairs.sum(axis=1)
    for_members = (weights * (pairs.T - size / M)).sum(axis=0)
    return [np.bincount(size, by_pair) for by_pair in (for_members, weights.sum(axis=0))]


@pytest.mark.parametrize("odd", [True, False])
def test_what_the_others_predict_of_a_pair_is_known_without_fitting_again(odd):
    """Against fits of the kernel without each of the pairs, by brute force."""
    kernel = Kriging(7, ("beta", 4, 1)).parts[0 if odd else 1]
    pairs = sample_pairs(7, 20, np.random.default_rng(2))
    part = np.random.default_rng(0).normal(size=(20, 3))
    one = Fit(kernel, pairs)
    at = kernel.amplitude[pairs.sum(axis=1)]
    covariance = kernel.profile[(pairs[:, None] ^ pairs).sum(axis=2)] + NOISE * np.eye(20)
    covariance *= np.outer(at, at)
    missed = np.empty_like(part)
    for p in range(20):
        rest = np.arange(20) != p
        missed[p] = part[p] - covariance[p, rest] @ np.linalg.solve(
            covariance[np.ix_(rest, rest)], part[rest]
        )
    signs = np.random.default_rng(5).choice([-1.0, 1.0], 20)
    (line,) = one.errors(signs[None])
    expected = (one.weights * signs * one._root) @ missed
    np.testing.assert_allclose(line @ part, expected, atol=1e-9)


def test_designs_have_coalitions_of_their_own():
    kriging = Kriging(M, "shapley")
    one, other = (kriging.design(34, np.random.default_rng(seed)) for seed in range(2))
    assert (one.coalitions != other.coalitions).any()
    assert len(np.unique(one.coalitions, axis=0)) == 34
