"""Sampling of the column axis, against all coalitions of games small enough to enumerate."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from column_samples import all_coalitions, estimate_columns, exact_values
from shapley2d._base.precision import interval_factor
from shapley2d._knn.kriging import Kriging, pair_counts, sample_pairs
from shapley2d._knn.lines import ColumnLines
from shapley2d._theory.semivalues import check_semivalue, size_probabilities

SEMIVALUES = [
    "shapley",
    "banzhaf",
    ("beta", 2, 2),
    ("beta", 4, 1),
    ("beta", 1, 4),
    ("beta", 0.5, 0.7),
]


@pytest.fixture(scope="module", autouse=True)
def _one_blas_thread():
    """The matrices here are small: on a busy machine threads would only wait for one another."""
    with threadpool_limits(1):
        yield


class Lookup:
    """A game by its table of utilities."""

    def __init__(self, utilities):
        self.utilities = utilities

    def __call__(self, coalitions):
        return self.utilities[coalitions @ (1 << np.arange(coalitions.shape[1]))]


def lines_of(m, semivalue, **asked):
    return ColumnLines(np.arange(m), np.ones(m, dtype=bool), semivalue, **asked)


def random_game(m, n=4, seed=0):
    return np.random.default_rng(seed).normal(size=(2**m, n))


def relative_error(values, exact):
    return np.square(values - exact).sum() / np.square(exact).sum()


@pytest.mark.parametrize("semivalue", SEMIVALUES)
@pytest.mark.parametrize("m", [1, 2, 3, 6, 7])
def test_all_coalitions_are_exact(m, semivalue):
    utilities, everything = random_game(m), all_coalitions(m)
    semivalue = check_semivalue(semivalue)
    weights = lines_of(m, semivalue, has_label=False).of_all(everything)
    np.testing.assert_array_equal(weights[-1], [1] + [0] * (2**m - 1))  # the labels alone
    weights = weights[:-1]
    exact = exact_values(utilities, m, semivalue)
    np.testing.assert_allclose((weights @ utilities).T, exact, atol=1e-12)
    # the label is the last column: without it there is nothing
    weights = lines_of(m, semivalue, has_label=True).of_all(everything)[:-1]
    labelled = np.concatenate([0 * utilities, utilities])
    exact = exact_values(labelled, m + 1, semivalue)
    np.testing.assert_allclose((weights @ utilities).T, exact, atol=1e-12)


@pytest.mark.parametrize("semivalue", SEMIVALUES)
def test_the_label_is_a_line_of_a_sample(semivalue):
    m, utilities = 7, random_game(7)
    game, semivalue = Lookup(utilities), check_semivalue(semivalue)
    lines = lines_of(m, semivalue, has_label=True)
    labelled = np.concatenate([0 * utilities, utilities])
    exact = exact_values(labelled, m + 1, semivalue).T
    off, stated = [], []
    for seed in range(60):
        design = lines.sample(40, np.random.default_rng(seed), 4)
        values, *errors = design.weights @ game(design.coalitions)
        np.testing.assert_allclose(values[-1], utilities[0], atol=1e-12)  # the labels alone
        assert not np.array(errors)[:, -1].any()
        off.append(values[:-1] - exact)
        stated.append(np.square(errors).sum(axis=0)[:-1])
    ratio = np.mean(np.square(off), axis=(0, 2)) / np.mean(stated, axis=(0, 2))
    assert 0.5 < ratio[:-1].mean() < 1.5
    assert 0.6 < ratio[-1] < 1.6
    assert np.abs(np.mean(off, axis=0)[-1]).max() < 4 * np.sqrt(np.mean(stated) / 60) + 1e-12


@pytest.mark.parametrize("semivalue", SEMIVALUES)
def test_estimates_centre_on_the_value_of_any_game(semivalue):
    """A game of pure noise has nothing to fit: only an unbiased estimator finds its values on average."""
    m, n = 8, 60
    utilities = random_game(m, n)
    exact = exact_values(utilities, m, semivalue)
    runs = [
        estimate_columns(
            Lookup(utilities), m, n_subsets=160, semivalue=semivalue, random_state=seed
        )
        for seed in range(40)
    ]
    bias = np.mean([run.values for run in runs], axis=0) - exact
    spread = np.std([run.values for run in runs], axis=0)
    assert np.sqrt(np.mean(bias**2)) < 0.5 * np.sqrt(np.mean(spread**2))


@pytest.mark.parametrize("m", [3, 4, 7, 10])
@pytest.mark.parametrize("semivalue", SEMIVALUES)
def test_kernel_semivalue_in_closed_form(m, semivalue):
    coalitions = all_coalitions(m)
    for part, sign in zip(Kriging(m, check_semivalue(semivalue)).parts, (-1, 1), strict=False):
        np.testing.assert_allclose(part.profile, sign * part.profile[::-1], rtol=1e-12, atol=1e-12)
        for size in range(1, m):
            T = np.random.default_rng(size).permutation(m) < size
            game = part.amplitude[coalitions.sum(axis=1)]
            game *= part.profile[(coalitions ^ T).sum(axis=1)]
            exact = exact_values(game[:, None], m, semivalue)[0]
            found = np.where(T, part.inside[size], part.outside[size])
            np.testing.assert_allclose(found, exact, atol=1e-9)


def test_kernel_matrix_is_positive_definite():
    m = 9
    coalitions = all_coalitions(m)
    for part in Kriging(m, ("beta", 4, 1)).parts:
        gram = part.profile[(coalitions[:, None] ^ coalitions).sum(axis=2)]
        assert np.linalg.eigvalsh(gram)[0] > -1e-9 * part.profile[0]


@pytest.mark.parametrize("m", [2, 5, 8, 12])
def test_a_sample_of_all_pairs_has_each_once(m):
    pairs = sample_pairs(m, 2**m, np.random.default_rng(0))
    assert len(pairs) == pair_counts(m)[1:].sum() == 2 ** (m - 1) - 1
    both = {tuple(pair) for pair in np.concatenate([pairs, ~pairs])}
    assert len(both) == 2**m - 2
    assert pairs.sum(axis=1).max() <= m // 2


@pytest.mark.parametrize("m", [12, 13, 40])
@pytest.mark.parametrize("length", [1, 7, 50, 333, 600])
def test_sizes_are_as_even_as_can_be(m, length):
    pairs = sample_pairs(m, length, np.random.default_rng(5))
    assert len({tuple(pair) for pair in np.concatenate([pairs, ~pairs])}) == 2 * length
    sampled = np.bincount(pairs.sum(axis=1), minlength=m // 2 + 1)[1:]
    unfinished = sampled[sampled < pair_counts(m)[1:]]
    assert unfinished.max() - unfinished.min() <= 1
    assert sampled.max() <= unfinished.max()


def test_sampled_pairs_are_uniform():
    """Each of the ten pairs of three out of six columns is equally likely to be sampled."""
    samples = [sample_pairs(6, 3, np.random.default_rng(seed)) for seed in range(600)]
    of_three = [pairs[pairs.sum(axis=1) == 3][0] for pairs in samples]
    codes = np.unique(np.array(of_three) @ (1 << np.arange(6)), return_counts=True)[1]
    assert len(codes) == 10
    assert np.square(codes - 60).sum() / 60 < 27.9  # chi-squared, 9 degrees of freedom, p = 0.001


@pytest.mark.parametrize(("semivalue", "bound"), [("shapley", 0.1), (("beta", 3, 1), 0.2)])
def test_hundreds_of_columns(semivalue, bound):
    """Main effects and pair interactions of 300 columns, whose semivalues are known."""
    m, n = 300, 7
    rng = np.random.default_rng(0)
    worth = rng.normal(size=(n, m))
    first, second = rng.permutation(m).reshape(2, m // 2)
    bonus = rng.normal(size=(n, m // 2))

    def phi(coalitions):
        return coalitions @ worth.T + (coalitions[:, first] & coalitions[:, second]) @ bonus.T

    # A player meets its partner with the chance that a member of its coalition was there before.
    joins = size_probabilities(check_semivalue(semivalue), m)
    exact = worth.copy()
    meets = joins @ np.arange(m) / (m - 1)
    exact[:, first] += meets * bonus
    exact[:, second] += meets * bonus
    estimate = estimate_columns(phi, m, n_subsets=1600, semivalue=semivalue, random_state=1)
    assert relative_error(estimate.values, exact) < bound
    assert (
        np.mean(np.abs(estimate.values - exact) <= interval_factor(estimate.dof) * estimate.stderr)
        >= 0.9
    )
    assert np.mean(estimate.stderr**2) <= 2.5**2 * np.mean((estimate.values - exact) ** 2)


def test_results_depend_on_the_seed_alone():
    utilities = random_game(12)
    one, same = (
        estimate_columns(Lookup(utilities), 12, n_subsets=100, random_state=7) for _ in range(2)
    )
    other = estimate_columns(Lookup(utilities), 12, n_subsets=100, random_state=8)
    np.testing.assert_array_equal(one.values, same.values)
    np.testing.assert_array_equal(one.stderr, same.stderr)
    assert not np.array_equal(one.values, other.values)


def test_constant_games_have_no_error():
    estimate = estimate_columns(lambda masks: np.ones((len(masks), 2)), 20, n_subsets=82)
    assert max(np.abs(estimate.values).max(), estimate.stderr.max()) < 1e-12
    assert estimate.n_subsets == 82
