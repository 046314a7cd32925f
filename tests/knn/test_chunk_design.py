"""The coalitions of one chunk of validation rows, and what is read off them."""

import numpy as np
import pytest

from shapley2d._knn.columns.chunk_design import chunk_design, pair_estimators
from shapley2d._knn.columns.design import PairSequence
from shapley2d._knn.columns.estimators import PairKernel
from shapley2d._knn.columns.kernel import KERNEL_NOISE, kernel_profile
from shapley2d._knn.columns.semivalue import ColumnSemivalue

M = 8
SEMIVALUES = ["shapley", "banzhaf", ("beta", 4, 1)]


@pytest.mark.parametrize("n_subsets", [24, 40, 100])
@pytest.mark.parametrize("semivalue", [*SEMIVALUES, ("beta", 1, 2)])
def test_every_size_counts_what_it_should_in_every_design(semivalue, n_subsets):
    """What makes the estimates unbiased for any game: no mean over chunks would take a lean out."""
    target = ColumnSemivalue(M, semivalue)
    everything = PairSequence(M, np.random.SeedSequence(0)).take(10**6)
    for seed in range(5):
        pairs = PairSequence(M, np.random.SeedSequence(seed), target.shares).take(n_subsets // 2)
        for part, one in enumerate(pair_estimators(target, pairs)):
            exact = target.exact_weights(everything)[part]
            np.testing.assert_allclose(
                counted(pairs, one.weights), counted(everything, exact), atol=1e-9
            )


def counted(pairs, weights):
    """What the pairs of every size count for the columns in them, and for all columns together."""
    size = pairs.sum(axis=1)
    for_members = (weights * (pairs.T - size / M)).sum(axis=0)
    return [np.bincount(size, by_pair) for by_pair in (for_members, weights.sum(axis=0))]


@pytest.mark.parametrize("odd", [True, False])
def test_what_the_others_predict_of_a_pair_is_known_without_fitting_again(odd):
    """Against fits of the kernel without each of the pairs, by brute force."""
    target = ColumnSemivalue(7, ("beta", 4, 1))
    pairs = PairSequence(7, np.random.SeedSequence(2)).take(20)
    part = np.random.default_rng(0).normal(size=(20, 3))
    one = PairKernel(target, pairs, odd=odd)
    profile, amplitude = kernel_profile(7, odd=odd)
    at = amplitude[pairs.sum(axis=1)]
    covariance = profile[(pairs[:, None] ^ pairs).sum(axis=2)] + KERNEL_NOISE * np.eye(20)
    covariance *= np.outer(at, at)
    missed = np.empty_like(part)
    for p in range(20):
        rest = np.arange(20) != p
        missed[p] = part[p] - covariance[p, rest] @ np.linalg.solve(
            covariance[np.ix_(rest, rest)], part[rest]
        )
    (line,) = one.error_weights(np.random.default_rng(5), 1)
    signs = np.random.default_rng(5).choice([-1.0, 1.0], 20)
    expected = (one.weights * signs * one._root) @ missed
    np.testing.assert_allclose(line @ part, expected, atol=1e-9)


def test_chunks_have_coalitions_of_their_own_and_empty_may_count_nothing():
    target = ColumnSemivalue(M, "shapley")
    one, other = (
        chunk_design(target, 34, np.random.SeedSequence(0, spawn_key=(k,))) for k in range(2)
    )
    assert (one.coalitions != other.coalitions).any()
    zero = chunk_design(target, 34, np.random.SeedSequence(0, spawn_key=(0,)), empty_is_zero=True)
    assert (zero.weights[:, :, 0] == 0).all()
    assert (zero.weights[:, :, 1:] == one.weights[:, :, 1:]).all()
