"""The tree of the baselines on whole grids: its tie rule, and scikit-learn's tree where none tie."""

import numpy as np
import pytest
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from model_oracles import grid_points, make_split, orders, tree_by_hand
from shapley2d import InputError
from shapley2d._tables.problem import make_problem
from shapley2d._theory.axes import nested
from shapley2d_paper.baselines.tree import TreeGame


def grid_of(split, rows, columns):
    return TreeGame(split).utilities(nested(np.asarray(rows)), nested(np.asarray(columns)))


@pytest.mark.parametrize(("n_classes", "seed"), [(2, 0), (2, 1), (3, 2), (4, 4)])
def test_it_follows_its_tie_rule(n_classes, seed):
    split = make_split(seed, n_classes, n=16, T=20)
    rows, columns = orders(split, seed)
    grid = grid_of(split, rows, columns)
    assert not grid[0].any() and not grid[:, 0].any()
    for a, b, X, members, X_valid in grid_points(split, rows, columns):
        X, X_valid = (x.astype(np.float32).astype(np.float64) for x in (X, X_valid))  # noqa: PLW2901
        predictions = tree_by_hand(X, split.y.codes[members], X_valid, classifies=True)
        assert grid[a, b] == pytest.approx(np.mean(predictions == split.y_valid.codes))


def test_regression_follows_its_tie_rule():
    rng = np.random.default_rng(5)
    X, y = rng.integers(0, 4, size=(34, 3)).astype(float), rng.integers(0, 30, 34).astype(float)
    (split,) = make_problem(X[:14], y[:14], X[14:], y[14:], task="regression").splits
    rows, columns = orders(split)
    grid = grid_of(split, rows, columns)
    for a, b, part, members, X_valid in grid_points(split, rows, columns):
        predictions = tree_by_hand(part, y[members], X_valid, classifies=False)
        assert grid[a, b] == pytest.approx(r2_score(y[14:], predictions))


@pytest.mark.parametrize("regression", [False, True])
def test_one_column_is_scikit_learns(regression):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 1))
    y = X[:, 0] + rng.normal(size=90)
    y = y if regression else (y > 0).astype(int)
    (split,) = make_problem(X[:50], y[:50], X[50:], y[50:]).splits
    rows = rng.permutation(50)
    grid = grid_of(split, rows, [0])
    estimator = DecisionTreeRegressor() if regression else DecisionTreeClassifier()
    for a in range(1, 51):
        score = estimator.fit(X[rows[:a]], y[rows[:a]]).score(X[50:], y[50:])
        assert grid[a, 1] == pytest.approx(score)


def test_targets_of_validation_rows():
    X = np.array([[0.0], [1.0], [2.0]])
    (split,) = make_problem(X, [1.0, 1.0, 7.0], X[:2], [1.0, 1.0], task="regression").splits
    assert grid_of(split, [0, 1, 2], [0])[:, 1].tolist() == [0, 1, 1, 1]  # as scikit-learn scores
    (single,) = make_problem(X, [1.0, 1.0, 7.0], X[:1], [1.0], task="regression").splits
    with pytest.raises(InputError, match="at least two validation rows"):
        TreeGame(single)
