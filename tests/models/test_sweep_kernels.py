"""Kernels that fill grids, against numpy at every point."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import norm

from knn.row_oracles import (
    TASKS,
    random_labels,
    random_table,
    score_of,
    table_distances,
    tie_averaged_utility,
)
from shapley2d._knn.utility_game import KnnGame
from shapley2d._models.kernels import naive_bayes as sweep_naive_bayes
from shapley2d._models.kernels import ridge as sweep_ridge
from shapley2d._models.kernels.scores import ACCURACY, count_right, r_squared, squared_error
from shapley2d._theory.coalitions import NestedCoalitions

PREFIXES = (np.array([2, 3, 7], np.intp), np.array([1, 3], np.intp))


def chain(rng, n, p):
    sizes, ends = PREFIXES
    return (
        rng.permutation(n)[:7].astype(np.intp),
        sizes,
        rng.permutation(p)[:3].astype(np.intp),
        ends,
    )


def twins(kernel):
    return kernel, kernel.py_func


def test_right_answers_are_those_of_argmax():
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 3, size=(4, 30)).astype(float)  # ties, of which the first class wins
    blocks = np.array([0, 9, 9, 22, 30])
    own = np.repeat(np.arange(4), np.diff(blocks))
    for present in ([0, 1, 2, 3], [1, 3], [2]):
        places = np.array([*present, *[0] * (4 - len(present))])
        expected = np.sum(np.array(present)[scores[present].argmax(axis=0)] == own)
        for kernel in twins(count_right):
            assert kernel(scores, places, len(present), blocks, np.zeros(30, np.uint8)) == expected


def test_scores_of_a_regression():
    rng = np.random.default_rng(0)
    predictions, targets = rng.normal(size=(2, 50))
    for kernel in twins(squared_error):
        assert kernel(predictions, targets) == pytest.approx(np.sum((predictions - targets) ** 2))
    for kernel in twins(r_squared):
        assert [kernel(1.0, 4.0), kernel(0.0, 0.0), kernel(1.0, 0.0)] == [0.75, 1.0, 0.0]


def test_log_densities_are_those_of_the_normal_distribution():
    x = np.linspace(-3, 5, 9)
    for kernel in twins(sweep_naive_bayes.add_log_density):
        scores = np.ones(9)
        kernel(x, 1.5, 0.49, scores)
        np.testing.assert_allclose(scores, 1 + norm.logpdf(x, 1.5, 0.7))


def naive_bayes_scores(X, codes, X_valid, n_classes):
    """Joint log-likelihoods; minus infinity for a class that is not there."""
    smoothing = sweep_naive_bayes.VAR_SMOOTHING * X.var(axis=0).max()
    scores = np.full((n_classes, len(X_valid)), -np.inf)
    for c in np.unique(codes):
        part = X[codes == c]
        densities = norm.logpdf(X_valid, part.mean(axis=0), np.sqrt(part.var(axis=0) + smoothing))
        scores[c] = np.log(np.mean(codes == c)) + densities.sum(axis=1)
    return scores


def test_naive_bayes_at_every_point_of_the_grid():
    rng = np.random.default_rng(1)
    train, valid, codes = rng.normal(size=(12, 4)), rng.normal(size=(20, 4)), rng.integers(0, 3, 12)
    blocks = np.array([0, 6, 13, 20])
    own = np.repeat(np.arange(3), np.diff(blocks))
    rows, sizes, columns, ends = chain(rng, 12, 4)
    for kernel in twins(sweep_naive_bayes.fill_grid):
        grid = np.empty((3, 2))
        kernel(
            train,
            codes,
            np.ascontiguousarray(valid.T),
            blocks,
            (ACCURACY, 0.0),
            rows,
            sizes,
            columns,
            ends,
            grid,
        )
        for (a, size), (b, end) in itertools.product(enumerate(sizes), enumerate(ends)):
            part, used = rows[:size], columns[:end]
            scores = naive_bayes_scores(train[np.ix_(part, used)], codes[part], valid[:, used], 3)
            assert grid[a, b] == np.sum(scores.argmax(axis=0) == own)


def ridge_predictions(X, y, X_valid):
    centred = X - X.mean(axis=0)
    gram = centred.T @ centred + sweep_ridge.ALPHA * np.eye(X.shape[1])
    return y.mean(axis=0) + (X_valid - X.mean(axis=0)) @ np.linalg.solve(
        gram, centred.T @ (y - y.mean(axis=0))
    )


def test_ridge_at_every_point_of_the_grid():
    rng = np.random.default_rng(2)
    train, valid = rng.normal(size=(12, 4)), rng.normal(size=(20, 4))
    y, y_valid, codes = rng.normal(size=12), rng.normal(size=20), rng.integers(0, 3, 12)
    blocks = np.array([0, 6, 13, 20])
    own, spread = np.repeat(np.arange(3), np.diff(blocks)), np.sum((y_valid - y_valid.mean()) ** 2)
    steps = chain(rng, 12, 4)
    columns_valid, indicators = (
        np.ascontiguousarray(valid.T),
        (codes[:, None] == np.arange(3)).astype(float),
    )
    for numbers, classes in zip(
        twins(sweep_ridge.fill_numbers), twins(sweep_ridge.fill_classes), strict=True
    ):
        squared, right = np.empty((3, 2)), np.empty((3, 2))
        numbers(train, y[:, None], columns_valid, y_valid, spread, steps, squared)
        classes(train, indicators, columns_valid, blocks, (ACCURACY, 0.0), steps, right)
        for (a, size), (b, end) in itertools.product(enumerate(steps[1]), enumerate(steps[3])):
            part, used = steps[0][:size], steps[2][:end]
            X, X_valid = train[np.ix_(part, used)], valid[:, used]
            error = np.sum((ridge_predictions(X, y[part], X_valid) - y_valid) ** 2)
            assert squared[a, b] == pytest.approx(1 - error / spread)
            present = np.unique(codes[part])
            # with two classes, the second's prediction is the first's with the other sign
            scores = ridge_predictions(X, 2 * indicators[part][:, present] - 1, X_valid)
            assert right[a, b] == np.sum(present[scores.argmax(axis=1)] == own)


@pytest.mark.parametrize("task", TASKS)
def test_nearest_neighbours_at_every_point_of_the_grid(task):
    """The mean over all choices among the rows at the distance of the k-th nearest."""
    rng = np.random.default_rng(3)
    columns = random_table(rng, 7, 3, 4)
    y, y_valid = random_labels(rng, task, 7, 4)
    factors = np.array([1.0, 0.5, 2.0, 0.5])
    game = KnnGame(
        columns, y, y_valid, task=task, n_neighbors=3, baseline="zero", valid_weights=factors
    )
    rows, members = rng.permutation(7), rng.permutation(3)
    grid = game.utilities(NestedCoalitions(rows.tolist()), NestedCoalitions(members.tolist()))
    for a, b in itertools.product(range(8), range(1, 4)):
        subset = np.isin(np.arange(3), members[:b])
        utilities = [
            tie_averaged_utility(
                rows[:a].tolist(),
                table_distances(columns, subset, t),
                3,
                score_of(y, y_valid[t], 3, task),
            )
            for t in range(4)
        ]
        assert grid[a, b] == pytest.approx(factors @ utilities / 4, abs=1e-12)
    assert not grid[:, 0].any()
