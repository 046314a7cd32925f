"""Groups of columns keep the closed form: rows stay players of their own."""

import numpy as np
import pytest

from shapley2d import KNN
from shapley2d._methods.run import Run
from shapley2d._tables.problem import make_problem

from oracles import brute_force, knn_utility

GROUPS = list("babc")
MEMBERS = [{0, 2}, {1}, {3}]  # in order of first appearance


def table(task, n=5, n_valid=4, m=4):
    random = np.random.default_rng(7)
    X, X_valid = random.integers(0, 4, (n, m)) * 1.0, random.integers(0, 4, (n_valid, m)) * 1.0
    if task == "regression":
        return X, random.normal(size=n), X_valid, random.normal(size=n_valid)
    return X, np.arange(n) % 2, X_valid, np.arange(n_valid) % 2


def solved(data, method=None, semivalue="shapley", **asked):
    method = method or KNN(2, metric="sqeuclidean", subsets="all")
    problem = make_problem(*data, column_groups=GROUPS, **asked)
    return method.solve(problem, Run.create(semivalue=semivalue))


def joined(h):
    """The game of rows and groups."""

    def of_groups(S, F):
        return h(S, frozenset().union(*(MEMBERS[k] for k in F)))

    return of_groups


@pytest.mark.parametrize("baseline", ["zero", "labels"])
@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 4, 1)])
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.filterwarnings("ignore:baseline='zero' counts from a score of 0")
def test_values_are_those_of_all_coalitions(task, semivalue, baseline):
    data = table(task)
    h = knn_utility(*data, 2, regression=task == "regression", baseline=baseline)
    expected = brute_force(joined(h), 5, 3, semivalue, semivalue)
    found = solved(data, semivalue=semivalue, baseline=baseline, task=task)
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
    assert not found.stderr.any()


def test_a_constant_group_is_worth_nothing():
    X, y, X_valid, y_valid = table("classification")
    X[:, [0, 2]] = 3.0
    data = X, y, X_valid, y_valid
    found = solved(data)
    expected = brute_force(joined(knn_utility(*data, 2, baseline="labels")), 5, 3)
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
    assert not found.values[:, 0].any()


def test_the_label_is_a_player_beside_the_groups():
    data = table("classification")
    found = solved(data, include_label=True)
    h = joined(knn_utility(*data, 2))

    def with_label(S, F):
        if 3 not in F:
            return 0.0
        columns = F - {3}
        return h(S, columns) if columns else knn_utility(*data, 2, baseline="labels")(S, columns)

    expected = brute_force(with_label, 5, 4)
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)


def test_folds_are_those_of_every_split():
    X, y, *_ = table("classification", n=8)
    halves = [([0, 1, 2, 3], [4, 5, 6, 7]), ([4, 5, 6, 7], [0, 1, 2, 3])]
    found = solved((X, y), cv=halves)
    expected = np.zeros((8, 3))
    for train, held in halves:
        h = joined(knn_utility(X[train], y[train], X[held], y[held], 2, baseline="labels"))
        expected[train] += brute_force(h, 4, 3) / 2
    np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)


def test_a_sample_of_the_coalitions_of_groups_finds_them_too():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(60, 16)), np.arange(60) % 2
    X[:, 3] += 2 * y
    data = X[:40], y[:40], X[40:], y[40:]
    problem = make_problem(*data, column_groups=[f"g{j // 2}" for j in range(16)])
    exact = KNN(3, subsets="all").solve(problem, Run.create())
    some = KNN(3, subsets="sampled", n_subsets=60).solve(problem, Run.create())
    assert some.values.shape == (40, 8) and some.stderr.min() > 0
    assert (np.abs(some.values - exact.values) < 5 * some.stderr + 1e-12).mean() > 0.99
