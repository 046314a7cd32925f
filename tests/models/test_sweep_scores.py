"""Scores of the built-in models: at every point of the grid scikit-learn's score of that name."""

import functools

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import f1_score, get_scorer, log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB

from shapley2d import Exact, InputError, MonteCarlo, value_cells
from shapley2d._models.constant import ConstantClassifier
from shapley2d._models.model_game import ModelGame
from shapley2d._models.sweeps import SWEEPS
from shapley2d._tables.problem import make_problem
from shapley2d._theory.coalitions import NestedCoalitions, SubsetCoalitions

from oracles import brute_force

ESTIMATORS = {"gaussian_nb": GaussianNB(), "ridge": RidgeClassifier()}
CASES = [
    (name, scoring, n_classes)
    for name, scorings in {
        "gaussian_nb": ["accuracy", "balanced_accuracy", "f1", "neg_log_loss", "roc_auc"],
        "ridge": ["accuracy", "balanced_accuracy", "f1", "roc_auc"],
    }.items()
    for scoring in scorings
    for n_classes in ([2] if scoring in ("f1", "roc_auc") else [2, 3])
]


def split_of(n_classes, n=14, T=25, m=3, seed=0):
    rng = np.random.default_rng(seed)
    X, X_valid = rng.normal(size=(n, m)), rng.normal(size=(T, m))
    y, y_valid = (np.digitize(x[:, 0] + rng.normal(size=len(x)), np.linspace(-0.5, 0.8, n_classes - 1))
                  for x in (X, X_valid))  # fmt: skip
    (split,) = make_problem(X, y, X_valid, y_valid).splits
    return split


@pytest.mark.parametrize("baseline", ["labels", pytest.param("zero", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "scoring", "n_classes"), CASES)
def test_every_grid_point_is_scikit_learns(name, scoring, n_classes, baseline):
    split = split_of(n_classes)
    rng = np.random.default_rng(1)
    turns = [
        np.sum(split.y.codes[:i] == code) for i, code in enumerate(split.y.codes)
    ]  # classes join in turn
    lists = NestedCoalitions(np.argsort(turns, kind="stable")), NestedCoalitions(rng.permutation(3))
    grid = SWEEPS[name](split, scoring=scoring, baseline=baseline).utilities(*lists)
    scorer = log_odds_area if (name, scoring) == ("gaussian_nb", "roc_auc") else scoring
    game = ModelGame(ESTIMATORS[name], split, scoring=scorer, baseline=baseline)
    expected = game.utilities(*lists)
    if baseline == "zero":  # a single class: both are certain of it, or both at a loss
        assert not grid[0].any() and not grid[:, 0].any()
    # a class of a row or two has next to no variance in naive Bayes, and the logarithms of its
    # densities few digits
    start = 9 if scoring in ("neg_log_loss", "roc_auc") and name == "gaussian_nb" else 0
    assert (split.y.codes == split.y.classes.size - 1).sum() >= 3
    np.testing.assert_allclose(grid[start:], expected[start:], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(grid[:, 0], expected[:, 0], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(grid[:2], expected[:2], rtol=1e-9, atol=1e-9)


def log_odds_area(model, X, y):
    """The area by log-odds, which still differ where probabilities are rounded to 0 or 1."""
    if not hasattr(model, "predict_joint_log_proba"):
        return 0.5
    first, second = model.predict_joint_log_proba(X).T
    return roc_auc_score(y, second - first)


@pytest.mark.parametrize(("scoring", "score"), [("f1", f1_score), ("neg_log_loss", None)])
def test_values_are_the_definition(scoring, score):
    split = split_of(2, n=4, T=9, m=2)
    X, y, X_valid, y_valid = split.train.native, split.y.y, split.valid.native, split.y_valid.y
    assert np.unique(y).size == 2

    def scored(predictions, probabilities):
        if score is not None:
            return score(y_valid, predictions, zero_division=0.0)
        return -log_loss(y_valid, probabilities, labels=[0, 1])

    @functools.cache
    def h(S, F):
        rows, columns = sorted(S), sorted(F)
        shares = np.bincount(y[rows], minlength=2) if rows else np.ones(2)
        if columns and len(rows) > 1 and shares.all():
            model = GaussianNB().fit(X[np.ix_(rows, columns)], y[rows])
            return scored(
                model.predict(X_valid[:, columns]), model.predict_proba(X_valid[:, columns])
            )
        most = np.flatnonzero(shares == shares.max())
        probabilities = np.tile(shares / shares.sum(), (9, 1))
        return np.mean([scored(np.full(9, c), probabilities) for c in most])

    v = value_cells(X, y, X_valid, y_valid, method=Exact("gaussian_nb"), scoring=scoring)
    np.testing.assert_allclose(v.values, brute_force(h, 4, 2), atol=1e-10)


def test_constants_score_as_scikit_learn_says():
    split = split_of(2, m=1)
    X = split.valid.native
    for scoring in ("accuracy", "balanced_accuracy", "f1", "neg_log_loss", "roc_auc"):
        grid = SWEEPS["gaussian_nb"](split, scoring=scoring).utilities(
            SubsetCoalitions(14).slice(0, 2), SubsetCoalitions(1)
        )
        alike = [ConstantClassifier(split.y.classes, code, np.array([0.5, 0.5])) for code in (0, 1)]
        expected = np.mean([get_scorer(scoring)(model, X, split.y_valid.y) for model in alike])
        assert grid[0, 0] == pytest.approx(expected)
        own = ConstantClassifier(split.y.classes, int(split.y.codes[0]))
        assert grid[1, 0] == pytest.approx(get_scorer(scoring)(own, X, split.y_valid.y))


def test_a_label_that_training_never_shows_counts_as_missed():
    X, y = np.arange(8.0)[:, None], np.array(["a", "b"] * 4)
    X_valid, y_valid = np.arange(6.0)[:, None], np.array(["a", "b", "a", "b", "c", "c"])
    with pytest.warns(UserWarning, match="labels that training never shows"):
        (split,) = make_problem(X, y, X_valid, y_valid).splits
    everything = NestedCoalitions(np.arange(8)), NestedCoalitions([0])
    recall = SWEEPS["ridge"](split, scoring="balanced_accuracy").utilities(*everything)[-1, -1]
    predicted = RidgeClassifier().fit(X, y).predict(X_valid)
    assert recall == pytest.approx(np.mean([np.mean(predicted[y_valid == c] == c) for c in "abc"]))
    with pytest.raises(
        InputError, match="cannot judge validation rows with labels that training never shows"
    ):
        SWEEPS["gaussian_nb"](split, scoring="neg_log_loss")


@pytest.mark.parametrize(
    ("y", "scoring", "message"),
    [
        (
            [0, 1, 2] * 4,
            "f1",
            "scoring='f1' is for two classes, and the target has 3: use scoring='balanced_accuracy'",
        ),
        ([0, 1, 2] * 4, "roc_auc", "scoring='roc_auc' is for two classes"),
        (
            ["no", "yes"] * 6,
            "f1",
            "needs a class 1, and the classes are 'no', 'yes': code them as 0 and 1",
        ),
    ],
)
def test_what_a_score_cannot_do_is_said(y, scoring, message):
    X = np.random.default_rng(0).normal(size=(12, 2))
    with pytest.raises(InputError, match=message):
        value_cells(X, y, X, y, method=MonteCarlo("gaussian_nb"), scoring=scoring)


def test_the_area_needs_both_classes():
    X, y = np.random.default_rng(0).normal(size=(6, 2)), [0, 1] * 3
    with pytest.raises(InputError, match="scoring='roc_auc' needs validation rows of both classes"):
        value_cells(X, y, X[:3], [1, 1, 1], method=MonteCarlo("ridge"), scoring="roc_auc")
