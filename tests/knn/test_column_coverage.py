"""Intervals of the sampled column axis, against the exact one on nearest-neighbour games of ten columns."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from column_samples import all_coalitions, estimate_columns, exact_values
from shapley2d._base.precision import interval_factor
from shapley2d._knn.kriging import NOISE, Fit, Kriging, few_subsets, sample_pairs
from shapley2d._knn.metric import measure
from shapley2d._knn.neighbours import Neighbours
from shapley2d._tables.problem import make_problem
from shapley2d._theory.semivalues import check_semivalue

M = 10
COALITIONS = all_coalitions(M)


@pytest.fixture(scope="module", autouse=True)
def _one_blas_thread():
    with threadpool_limits(1):
        yield


def knn_game(task, seed):
    """Row values under all coalitions; half of the columns matter, by very different amounts."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(60, M))
    X[:, ::3] = X[:, ::3].round()
    score = (
        X[:, :5] @ random.normal(size=5) + 0.5 * X[:, 0] * X[:, 1] + 0.5 * random.normal(size=60)
    )
    y = (score > np.median(score)).astype(int) if task == "classification" else score
    (split,) = make_problem(X[:30], y[:30], X[30:], y[30:], task=task).splits
    rows = Neighbours(
        measure(split.train, split.valid, "auto"),
        split.y.codes,
        split.y_valid.codes,
        task=task,
        n_neighbors=5,
    )
    return rows.values(COALITIONS)


@pytest.fixture(scope="module")
def games():
    return {
        task: [knn_game(task, seed) for seed in range(2)]
        for task in ("classification", "regression")
    }


def coverage(games, semivalue, n_subsets, n_seeds):
    """Shares of seeds in which the 95 % intervals of cells, columns and rows hold, the size of the stated errors beside
    the true ones, and that of the true ones beside the values, in squares."""
    cells, columns, rows, errors, stated, sizes = [], [], [], [], [], []
    for utilities in games:
        exact = exact_values(utilities, M, semivalue)
        runs = [
            estimate_columns(
                lambda asked, known=utilities: known[asked @ (1 << np.arange(M))],
                M,
                n_subsets=n_subsets,
                semivalue=semivalue,
                random_state=seed,
            )
            for seed in range(n_seeds)
        ]
        off = np.array([run.values - exact for run in runs])
        factor = interval_factor(runs[0].dof)
        stderr = np.array([run.stderr for run in runs])
        cells.append(np.mean(np.abs(off) <= factor * stderr, axis=0))
        of_columns = factor * np.array([run.column_stderr for run in runs])
        columns.append(np.mean(np.abs(off.sum(axis=1)) <= of_columns, axis=0))
        of_rows = factor * np.array([run.row_stderr for run in runs]) + 1e-12
        rows.append(np.mean(np.abs(off.sum(axis=2)) <= of_rows, axis=0))
        errors.append(np.mean(off**2))
        sizes.append(np.mean(exact**2))
        stated.append(np.mean(stderr**2))
    ratio = float(np.sqrt(np.mean(stated) / np.mean(errors)))
    share = np.mean(errors) / np.mean(sizes)
    return np.array(cells), np.array(columns), np.array(rows), ratio, share


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 4, 1), ("beta", 1, 2)])
def test_intervals_cover_at_three_evaluations_to_a_column(games, task, semivalue):
    cells, columns, rows, ratio, share = coverage(games[task], semivalue, 3 * M, 28)
    assert 0.93 <= cells.mean() <= 0.995
    assert (
        np.quantile(cells, 0.01) >= 0.75
    )  # 28 seeds: of intervals that cover 95 %, one in a hundred has 0.82
    assert columns.mean() >= 0.93
    assert columns.min() >= 0.75
    assert rows.mean() >= 0.93
    assert 0.9 <= ratio <= 1.8
    assert share <= 0.4


@pytest.mark.parametrize("n_subsets", [20, 60])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_errors_include_that_few_subsets_lean_to_the_mean(games, task, n_subsets):
    """A jackknife alone covers 70 % of the values from 8 coalitions, and 91 % from 20."""
    cells, columns, rows, _, share = coverage(games[task], "shapley", n_subsets, 20)
    assert 0.93 <= cells.mean() <= 0.995
    assert columns.mean() >= 0.92 and (rows == 1).all()
    assert share <= {20: 0.8, 60: 0.07}[n_subsets]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_three_pairs_have_wide_intervals_that_hold(games, task):
    """Not all sizes are sampled, which is why so few are marked, and one degree of freedom is left."""
    cells, columns, *_ = coverage(games[task], "shapley", 8, 20)
    assert cells.mean() >= 0.93 and np.quantile(cells, 0.01) >= 0.8
    assert columns.mean() >= 0.93
    assert few_subsets(8, M) and few_subsets(3 * M - 1, M) and not few_subsets(3 * M, M)


@pytest.mark.parametrize("odd", [True, False])
@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 4, 1)])
def test_expected_errors_are_those_of_the_random_game(semivalue, odd):
    """By brute force: the covariance over all pairs, and the weights of the value less those of the estimate."""
    m = 7
    parts = Kriging(m, check_semivalue(semivalue)).parts
    if not odd and len(parts) == 1:
        return  # it has no even part
    part = parts[0 if odd else 1]
    everything = sample_pairs(m, 2**m, np.random.default_rng(1))
    sampled = np.random.default_rng(2).permutation(len(everything)) < 12
    size = everything.sum(axis=1)
    covariance = part.profile[(everything[:, None] ^ everything).sum(axis=2)] + NOISE * np.eye(
        len(size)
    )
    covariance *= np.outer(part.amplitude[size], part.amplitude[size])
    exact = part.exact(everything)
    prior = np.einsum("jp,pq,jq->j", exact, covariance, exact)
    np.testing.assert_allclose(part.variance + NOISE * part.noise, prior, atol=1e-9)
    fit = Fit(part, everything[sampled])
    exact[:, sampled] -= fit.weights
    left = np.einsum("jp,pq,jq->", exact, covariance, exact)
    assert fit.expected == pytest.approx(left, abs=1e-9)
