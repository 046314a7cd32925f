"""Right votes divided by those there are: closed forms against all subsets, and blank rows."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from shapley2d import KNN, Exact, MonteCarlo, value_cells
from shapley2d._knn.few_rows import FewRows

from oracles import brute_force, knn_utility
from small_tables import split_of


def shapley(g, n):
    """Shapley values of a game of sets, by the definition, in fractions."""
    values = []
    for i in range(n):
        others = [j for j in range(n) if j != i]
        value = Fraction(0)
        for size in range(n):
            for S in combinations(others, size):
                value += (g({*S, i}) - g(set(S))) / (n * comb(n - 1, size))
        values.append(value)
    return values


@pytest.mark.parametrize("K", [1, 2, 3, 7])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_difference_of_both_ways_to_count_is_a_game_of_the_rows(task, K):
    random, n = np.random.default_rng(K), 5
    y, y_valid = random.integers(0, 3, n), random.integers(0, 3, 4)
    if task == "regression":
        y, y_valid = 5 * random.integers(-4, 5, n), random.integers(-4, 5, 4)  # a whole mean
    targets = [Fraction(int(one)) for one in y]
    mean = sum(targets) / n

    def utility(S, divisor, target):
        if task == "classification":
            return Fraction(sum(targets[i] == target for i in S)) / divisor
        return -((sum(targets[i] - mean for i in S) / divisor - (target - mean)) ** 2)

    def g(S):
        valid = [Fraction(int(one)) for one in y_valid]
        if not S:
            labels = set(targets)
            nothing = [
                Fraction(t in labels, len(labels))
                if task == "classification"
                else -((t - mean) ** 2)
                for t in valid
            ]
            return sum(nothing) / 4
        if len(S) >= K:
            return Fraction(0)
        return sum(utility(S, len(S), t) - utility(S, K, t) for t in valid) / 4

    few = FewRows.of(split_of(y[:, None], y, y_valid[:, None], y_valid, task), K)
    found = few.values("shapley", few.guess)
    np.testing.assert_allclose(found, [float(one) for one in shapley(g, n)], rtol=0, atol=1e-13)


@pytest.mark.parametrize("K", [1, 4, 9, 13])
def test_the_closed_form_of_classification_is_the_one_that_is_documented(K):
    """Of rows, of cells, and where the label is valued too."""
    n, m, random = 9, 3, np.random.default_rng(K)
    y, y_valid, X = np.arange(n) % 3, np.array([0, 0, 1, 2, 1, 0]), random.normal(size=(n, m))
    right = np.mean(y[:, None] == y_valid, axis=1)
    harmonic, more = sum(1 / k for k in range(1, min(K, n) + 1)), max(1 - n / K, 0.0)
    g = (harmonic - 1) / (n - 1) * (right - right.mean()) - 1 / (3 * n) + right / n * more
    tables = random.normal(size=(6, m))
    for with_label, players in ((False, m), (True, m + 1)):
        share, plain = (
            value_cells(
                X, y, tables, y_valid, method=KNN(K, votes=votes), baseline="zero",
                include_label=with_label,
            ).values
            for votes in ("share", "k")
        )  # fmt: skip
        expected = np.outer(g, np.full(m, 1 / (m * (players if with_label else 1))))
        np.testing.assert_allclose((share - plain)[:, :m], expected, atol=1e-14)
        if with_label:
            np.testing.assert_allclose((share - plain)[:, m], g * m / (m + 1), atol=1e-14)


@pytest.mark.parametrize("K", [2, 9])
def test_cells_that_count_from_the_labels_are_the_same(K):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(12, 3)), np.arange(12) % 3
    X_valid, y_valid = random.normal(size=(9, 3)), np.arange(9) % 3
    share, k = (
        value_cells(X, y, X_valid, y_valid, method=KNN(n_neighbors=K, votes=votes)).values
        for votes in ("share", "k")
    )
    np.testing.assert_array_equal(share, k)


def test_folds_weights_and_sampled_columns_all_have_the_same_difference():
    random = np.random.default_rng(1)
    X, y = random.normal(size=(24, 11)), np.arange(24) % 2
    weights = random.uniform(0.1, 2, 24)
    found = {}
    asked = {"cv": 3, "valid_weight": weights, "baseline": "zero"}
    every = KNN(n_neighbors=20, subsets="all")
    for name, method in {
        "all": every,
        "sampled": KNN(n_neighbors=20, subsets="sampled", n_subsets=40),
        "some validation rows": replace(every, valid_rows="auto", tolerance=0.3),
    }.items():
        share, k = (
            value_cells(X, y, method=replace(method, votes=votes), **asked).values
            for votes in ("share", "k")
        )
        found[name] = share - k
    np.testing.assert_allclose(found["sampled"], found["all"], atol=1e-13)
    np.testing.assert_allclose(found["some validation rows"], found["all"], atol=1e-13)
    assert np.abs(found["all"]).max() > 1e-3


def test_folds_are_those_of_every_split():
    random = np.random.default_rng(2)
    X, y = random.integers(0, 4, (8, 2)), np.array([0, 1, 0, 1, 1, 0, 0, 1])
    halves = [([0, 2, 4, 6], [1, 3, 5, 7]), ([1, 3, 5, 7], [0, 2, 4, 6])]
    method = KNN(n_neighbors=6, metric="sqeuclidean", votes="share")
    v = value_cells(X, y, method=method, cv=halves, baseline="zero")
    expected = np.zeros((8, 2))
    for train, test in halves:
        parts = X[train], y[train], X[test], y[test]
        h = knn_utility(*(part.tolist() for part in parts), 6, votes="share")
        expected[train] += brute_force(h, 4, 2) / 2
    np.testing.assert_allclose(v.values, expected, atol=1e-12)
    assert v.info["baseline_utility"] == 0.5
    assert v.total == pytest.approx(expected.sum(), abs=1e-12)


def test_no_rows_guess_among_the_labels_of_the_fold():
    """A label that no row of a fold has is never guessed there: two of three, and one of one."""
    X, y = np.arange(6.0)[:, None], np.array(list("aabbcc"))
    splits = [([0, 1, 2, 3], [4, 5]), ([4, 5, 0, 2], [1, 3]), ([0, 1], [2, 3])]
    method = KNN(n_neighbors=2, metric="sqeuclidean", votes="share")
    v = value_cells(X, y, method=method, cv=splits, baseline="zero")
    expected, guesses = np.zeros((6, 1)), [0.0, 1 / 3, 0.0]
    for (train, held), guess in zip(splits, guesses, strict=True):
        h = knn_utility(
            *(one[part].tolist() for part in (train, held) for one in (X, y)), 2, votes="share"
        )
        assert h(frozenset(), frozenset({0})) == pytest.approx(guess)
        expected[train] += brute_force(h, len(train), 1) / 3
    np.testing.assert_allclose(v.values, expected, atol=1e-12)
    assert v.info["baseline_utility"] == pytest.approx(1 / 9)
    assert value_cells(X, y, method=Exact(method), cv=splits, baseline="zero").total == (
        pytest.approx(v.total, abs=1e-12)
    )


@pytest.mark.parametrize("baseline", ["labels", "zero"])
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("votes", ["share", "k"])
@pytest.mark.filterwarnings("ignore:baseline='zero' counts from a score of 0")
def test_methods_that_ask_the_game_agree_with_the_closed_form(task, baseline, votes):
    random = np.random.default_rng(3)
    X, X_valid = random.normal(size=(6, 2)), random.normal(size=(5, 2))
    y, y_valid = np.arange(6) % 2, np.arange(5) % 2
    if task == "regression":
        y, y_valid = random.normal(size=6), random.normal(size=5)
    data, knn = (X, y, X_valid, y_valid), KNN(n_neighbors=4, votes=votes)
    options = {"baseline": baseline}
    closed = value_cells(*data, method=knn, **options)
    exact = value_cells(*data, method=Exact(knn), **options)
    np.testing.assert_allclose(closed.values, exact.values, atol=1e-12)
    assert exact.info["votes"] == closed.info["votes"] == votes
    assert exact.info.get("baseline_utility") == closed.info.get("baseline_utility")
    # a permutation is a sweep, which fills the grid in another way
    swept = value_cells(*data, method=MonteCarlo(knn, max_draws=3, tolerance=0), **options)
    assert swept.total == pytest.approx(closed.total, abs=1e-12)
    one = {"row_groups": ["A"] * 6, "column_groups": ["x"] * 2}
    score = value_cells(*data, method=Exact(knn), **one, **options)
    assert score.total == pytest.approx(closed.total, abs=1e-12)


@pytest.mark.parametrize(
    "load", [load_wine, pytest.param(load_breast_cancer, marks=pytest.mark.slow)]
)
def test_far_rows_with_random_labels_are_worth_nothing_from_zero_either(load):
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(y.size)
    X, y = X[order, :6], y[order]
    n, classes = 60, y.max() + 1
    X_valid, y_valid = X[n:100], y[n:100]
    blank = np.full((classes * 7, 6), 1e9)  # every label as often, beyond all others
    X, y = np.vstack([X[:n], blank]), np.append(y[:n], np.repeat(np.arange(classes), 7))
    share, k = (
        value_cells(
            X, y, X_valid, y_valid, method=KNN(metric="sqeuclidean", votes=votes),
            baseline="zero", scoring="balanced_accuracy",
        ).values[n:].sum()
        for votes in ("share", "k")
    )  # fmt: skip
    assert abs(share) < 0.003 and k > 0.05


def test_groups_are_valued_by_the_votes_that_cells_have():
    X, y = load_wine(return_X_y=True)
    data = (X[::4, :3][:40], y[::4][:40], X[1::4, :3], y[1::4])
    for votes in ("k", "share"):
        v = value_cells(*data, method=KNN(votes=votes), row_groups=["A"] * 20 + ["B"] * 20)
        assert v.info["votes"] == votes
    assert value_cells(*data).info["votes"] == "k"
