"""The coalitions of one chunk of validation rows, and what is read off them."""

from __future__ import annotations

import numpy as np
import pytest

from column_samples import estimate_columns
from shapley2d._knn.columns.chunk_design import chunk_design
from shapley2d._knn.columns.estimators import ColumnSemivalue

M = 8
SEMIVALUES = ["shapley", "banzhaf", ("beta", 4, 1)]


def game(seed, n=5):
    """Row values of a made-up game with main effects and interactions of two and three columns."""
    random = np.random.default_rng(seed)
    single, double, triple = (
        random.normal(size=(n, M)),
        random.normal(size=(n, M, M)),
        random.normal(size=(n, M)),
    )

    def phi(coalitions):
        members = coalitions.astype(float)
        third = members * np.roll(members, 1, axis=1) * np.roll(members, 2, axis=1)
        return (
            members @ single.T
            + 0.3 * np.einsum("bi,nij,bj->bn", members, double, members)
            + third @ triple.T
        )

    return phi


@pytest.mark.parametrize("semivalue", SEMIVALUES)
def test_the_values_are_those_of_estimator_b(semivalue):
    """The same pairs, the same weights: keeping the row values would give nothing else."""
    phi, seed = game(1), np.random.SeedSequence(3)
    design = chunk_design(ColumnSemivalue(M, semivalue), 66, seed, left_out=10)
    kept = estimate_columns(phi, M, n_subsets=66, semivalue=semivalue, random_state=seed)
    lines = design.weights @ phi(design.coalitions)
    assert pytest.approx(kept.values) == lines[:M].T
    jackknife = np.square(lines[M : M * (1 + design.left_out)].reshape(design.left_out, M, -1)).sum(
        axis=0
    )
    if (
        design.probes
    ):  # the expected part is not compared: here it is estimated by random projections
        jackknife *= 1 - design.share
    assert (jackknife <= 2 * kept.stderr.T**2 + 1e-12).all()


def test_projections_have_the_scale_of_a_game_as_their_mean_square():
    phi, target = game(2), ColumnSemivalue(M, "shapley")
    design = chunk_design(target, 50, np.random.SeedSequence(0), probes=4000)
    scale = np.square((design.weights @ phi(design.coalitions))[-4000:]).sum(axis=0)
    from shapley2d._knn.columns.estimators import OddKernel

    pairs = design.coalitions[2:26]
    odd = (phi(pairs) - phi(~pairs)) / 2
    assert scale == pytest.approx(OddKernel(target, pairs).scale(odd), rel=0.1)


def test_chunks_have_coalitions_of_their_own_and_empty_may_count_nothing():
    target = ColumnSemivalue(M, "shapley")
    one, other = (
        chunk_design(target, 34, np.random.SeedSequence(0, spawn_key=(k,))) for k in range(2)
    )
    assert (one.coalitions != other.coalitions).any()
    zero = chunk_design(target, 34, np.random.SeedSequence(0, spawn_key=(0,)), empty_is_zero=True)
    assert (zero.weights[:, 0] == 0).all() and (zero.weights[:, 1:] == one.weights[:, 1:]).all()
