"""Scores of the built-in models: at every point of the grid scikit-learn's score of that name, weighted or not."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB

from model_oracles import make_split
from shapley2d._models.model_game import ModelGame
from shapley2d._models.sweeps import SWEEPS
from shapley2d._tables.problem import Problem, make_problem, weigh_problem
from shapley2d._theory.axes import nested

ESTIMATORS = {"gaussian_nb": GaussianNB(), "ridge": RidgeClassifier(), "numbers": Ridge()}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("name", "scoring", "n_classes"),
    [
        ("gaussian_nb", "accuracy", 2),
        ("gaussian_nb", "balanced_accuracy", 3),
        ("ridge", "accuracy", 3),
        ("ridge", "balanced_accuracy", 2),
        ("numbers", "r2", 0),
    ],
)
def test_every_grid_point_is_scikit_learns(name, scoring, n_classes, weighted):
    split = make_split(3, n_classes or 2, plain=True, regression=not n_classes)
    random = np.random.default_rng(1)
    if weighted:
        split = replace(split, valid_weights=random.uniform(0, 2, split.valid.n_rows))
    problem = Problem(split.train, split.y, [split], scoring=scoring)
    (weighed,) = weigh_problem(problem).splits
    # classes join in turn
    turns = [np.sum(split.y.codes[:i] == code) for i, code in enumerate(split.y.codes)]
    pair = np.argsort(turns, kind="stable"), random.permutation(3)
    masks = [nested(order) for order in pair]
    grid = SWEEPS["ridge" if name == "numbers" else name](weighed).utilities(*masks)
    game = ModelGame(ESTIMATORS[name], split, scoring=scoring)
    np.testing.assert_allclose(grid, game.utilities(*masks), rtol=1e-8, atol=1e-8)


def test_a_label_that_training_never_shows_counts_as_missed():
    X, y = np.arange(8.0)[:, None], np.array(["a", "b"] * 4)
    X_valid, y_valid = np.arange(6.0)[:, None], np.array(["a", "b", "a", "b", "c", "c"])
    with pytest.warns(UserWarning, match="labels that training never shows"):
        problem = make_problem(X, y, X_valid, y_valid, scoring="balanced_accuracy")
    everything = np.ones((1, 8), dtype=bool), np.ones((1, 1), dtype=bool)
    (split,) = weigh_problem(problem).splits
    recall = SWEEPS["ridge"](split).utilities(*everything).item()
    predicted = RidgeClassifier().fit(X, y).predict(X_valid)
    assert recall == pytest.approx(np.mean([np.mean(predicted[y_valid == c] == c) for c in "abc"]))
