"""The baseline: values count from the labels alone, so a column without effect gets 0."""

import functools
import math
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import get_scorer, make_scorer, r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from shapley2d import KNN, Exact, MonteCarlo, value_cells
from shapley2d.exceptions import InputError, InputWarning, UtilityError

from oracles import brute_force

# idle columns are there on purpose
pytestmark = pytest.mark.filterwarnings("ignore:.*empty throughout")

TASKS = ["classification", "regression"]
NAMED = [("tree", "classification"), ("tree", "regression"), ("ridge", "classification"),
            ("ridge", "regression"), ("gaussian_nb", "classification")]  # fmt: skip
ESTIMATORS = {
    ("tree", "classification"): DecisionTreeClassifier(random_state=0),
    ("tree", "regression"): DecisionTreeRegressor(random_state=0),
    ("ridge", "classification"): RidgeClassifier(),
    ("ridge", "regression"): Ridge(),
    ("gaussian_nb", "classification"): GaussianNB(),
}


def small(task, n=5, T=7, m=3, seed=0, n_classes=3, *, repeats=True):
    """A few rows: numbers of which some repeat, and a column that is the same in all training rows.

    Repeated numbers make classes tie exactly for ridge, where rounding decides.
    """
    rng = np.random.default_rng(seed)
    X, X_valid = rng.normal(size=(n, m)), rng.normal(size=(T, m))
    X[:, 1] = rng.integers(0, 2, n) if repeats else X[:, 1]
    X[:, 2] = 4.0
    if task == "regression":
        return X, rng.normal(3, 1, n), X_valid, rng.normal(3, 1, T)
    return X, np.arange(n) % n_classes, X_valid, rng.integers(0, n_classes, T)


# ---- against the definition


def model_game(model, X, y, X_valid, y_valid, task):
    """h(S, F) by definition: the model on the columns that vary in S, else the best constant."""
    estimator = ESTIMATORS.get((model, task), model)

    def scored(predictions):
        return (
            np.mean(predictions == y_valid)
            if task == "classification"
            else r2_score(y_valid, predictions)
        )

    def constant(rows):
        if task == "regression":
            return scored(np.full(len(y_valid), y[rows].mean() if rows else y.mean()))
        labels, counts = (
            np.unique(y[rows], return_counts=True) if rows else (np.unique(y), np.ones(len(set(y))))
        )
        return np.mean(
            [scored(np.full(len(y_valid), label)) for label in labels[counts == counts.max()]]
        )

    def h(S, F):
        rows = sorted(S)
        columns = [j for j in sorted(F) if np.unique(X[rows, j]).size > 1]
        if not columns or (task == "classification" and np.unique(y[rows]).size < 2):
            return float(constant(rows))
        return float(
            scored(estimator.fit(X[np.ix_(rows, columns)], y[rows]).predict(X_valid[:, columns]))
        )

    return functools.cache(h)


@pytest.mark.parametrize(("name", "task"), NAMED)
def test_models_are_the_definition(name, task):
    data = small(task, n=4, repeats=name != "ridge")
    for model in (name, ESTIMATORS[name, task]):
        expected = brute_force(model_game(model, *data, task), 4, 3)
        v = value_cells(*data, method=Exact(model), task=task)
        np.testing.assert_allclose(v.values, expected, atol=1e-10)
        np.testing.assert_allclose(v.values[:, 2], 0.0, atol=1e-15)
        blocks = value_cells(
            *data, method=Exact(model), task=task, row_groups=range(4), column_groups=list("abc")
        )
        np.testing.assert_allclose(blocks.values, expected, atol=1e-10)


@pytest.mark.parametrize(("name", "task"), NAMED)
def test_models_with_labels_are_the_definition(name, task):
    data = small(task, n=4, repeats=name != "ridge")
    for model in (name, ESTIMATORS[name, task]) if name == "ridge" else (name,):
        plain = model_game(model, *data, task)

        def h(S, F, plain=plain):
            return plain(frozenset(S), F - {3}) if 3 in F else plain(frozenset(), frozenset())

        expected = brute_force(h, 4, 4)
        v = value_cells(*data, method=Exact(model), task=task, include_label=True)
        np.testing.assert_allclose(v.values, expected, atol=1e-10)
        everyone, nobody = frozenset(range(4)), frozenset()
        assert v.total == pytest.approx(h(everyone, everyone) - h(nobody, nobody), abs=1e-10)
        assert v.info["baseline_utility"] == pytest.approx(h(nobody, nobody))


@pytest.mark.parametrize(
    "scoring",
    [
        "neg_log_loss",
        "f1",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("roc_auc", "balanced_accuracy")),
    ],
)
def test_any_score_counts_from_its_own_constant(scoring):
    rng = np.random.default_rng(1)
    X, X_valid = rng.normal(size=(5, 2)), rng.normal(size=(9, 2))
    y, y_valid = np.array([0, 1, 0, 1, 1]), (X_valid[:, 0] > 0).astype(int)
    model = LogisticRegression()
    v = value_cells(X, y, X_valid, y_valid, method=Exact(model), scoring=scoring)
    score = get_scorer(scoring)(model.fit(X, y), X_valid, y_valid)
    share = y_valid.mean()
    constant = {
        "neg_log_loss": share * math.log(3 / 5) + (1 - share) * math.log(2 / 5),
        "roc_auc": 0.5,
        "f1": 2 * share / (1 + share),
        "balanced_accuracy": 0.5,
    }[scoring]
    assert v.total == pytest.approx(score - constant, abs=1e-10)
    assert v.info["baseline_utility"] == pytest.approx(constant)


# ---- columns that change nothing


def with_idle_columns(task, n=24, T=20, seed=0):
    """Two useful columns; a constant number, a constant category, one missing, one only in X_valid."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "a": rng.normal(size=n + T),
            "idle number": 5.0,
            "b": rng.integers(0, 3, n + T),
            "idle category": "red",
            "missing": np.nan,
            "moves later": 2.0,
        }
    )
    X.loc[n:, "moves later"] = rng.normal(size=T)
    X.loc[3, "a"] = np.nan
    signal = X["a"].fillna(0) + X["b"] + rng.normal(size=n + T)
    y = signal if task == "regression" else pd.Series(np.where(signal > 1, "high", "low"))
    return X[:n], y[:n], X[n:], y[n:]


IDLE = [1, 3, 4, 5]


@pytest.mark.parametrize("include_label", [False, True])
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize(
    ("method", "semivalue"),
    [
        (KNN(subsets="all"), "shapley"),
        (KNN(subsets="sampled"), "shapley"),
        (KNN(subsets="all"), "banzhaf"),
        (MonteCarlo("knn", max_draws=5, tolerance=0), "shapley"),
    ],
)
def test_idle_columns_get_nothing_of_nearest_neighbours(task, method, semivalue, include_label):
    asked = {"semivalue": semivalue, "include_label": include_label}
    v = value_cells(*with_idle_columns(task), method=method, **asked)
    np.testing.assert_allclose(v.values[:, IDLE], 0.0, atol=1e-12)
    if method.name != "mc":  # five draws that were alike do not prove that all are
        np.testing.assert_array_equal(v.stderr[:, IDLE], 0.0)
    assert np.abs(v.values[:, [0, 2]]).max() > 1e-3


def test_a_table_of_nothing_but_idle_columns_is_worth_nothing():
    X, y = np.ones((12, 3)), [0, 1, 1] * 4
    for method in (KNN(), Exact(), MonteCarlo("ridge", max_draws=2, tolerance=0)):
        few = (X[:6], y[:6], X[6:], y[6:]) if method.name == "exact" else (X, y)
        v = value_cells(*few, method=method)
        np.testing.assert_allclose(v.values, 0.0, atol=1e-15)


@pytest.mark.parametrize("include_label", [False, True])
@pytest.mark.parametrize(
    ("model", "task"),
    [
        *NAMED,
        pytest.param("random_forest", "regression", marks=pytest.mark.slow),
        pytest.param("logistic_regression", "classification", marks=pytest.mark.slow),
    ],
)
def test_idle_columns_get_nothing_of_models(model, task, include_label):
    X, y, X_valid, y_valid = with_idle_columns(task, n=9)
    method = MonteCarlo(model, max_draws=6, tolerance=0)
    options = {"include_label": include_label}
    v = value_cells(X, y, X_valid, y_valid, method=method, **options)
    np.testing.assert_allclose(v.values[:, IDLE], 0.0, atol=1e-12)
    assert np.abs(v.values[:, [0, 2]]).max() > 0
    columns = ["used", "idle", "used", "idle", "idle", "idle"]
    options |= {"row_groups": [0, 1, 1] * 3, "column_groups": columns}
    blocks = value_cells(X, y, X_valid, y_valid, method=Exact(model), **options)
    np.testing.assert_allclose(blocks.values[:, blocks.column_names.index("idle")], 0.0, atol=1e-12)


def test_a_model_that_draws_columns_draws_none_that_say_nothing():
    from sklearn.ensemble import RandomForestClassifier

    model = RandomForestClassifier(5, max_features=1)
    method = MonteCarlo(model, max_draws=2, tolerance=0)
    v = value_cells(*with_idle_columns("classification", n=10), method=method)
    np.testing.assert_array_equal(v.values[:, IDLE], 0.0)


# ---- what the sum is


@pytest.mark.parametrize("task", TASKS)
def test_the_sum_says_what_it_is(task):
    data = with_idle_columns(task)
    for method in (KNN(), MonteCarlo("ridge", max_draws=3, tolerance=0)):
        v = value_cells(*data, method=method)
        zero_is_perfect = task == "regression" and method.name == "knn"
        with (
            pytest.warns(
                InputWarning,
                match="baseline='zero' counts from a score of 0, and minus the squared error",
            )
            if zero_is_perfect
            else nullcontext()
        ):
            zero = value_cells(*data, method=method, baseline="zero")
        assert v.total == pytest.approx(zero.total - v.info["baseline_utility"], abs=1e-12)
        assert f"less {v.info['baseline_utility']:.4g}, " in v.info["about"]["total"]
        assert "baseline_utility" not in zero.info


def test_another_baseline_is_refused():
    with pytest.raises(InputError, match="baseline='nan' is not known: use 'labels' or 'zero'"):
        value_cells(*small("classification"), baseline="nan")


@pytest.mark.parametrize(
    "scoring", ["neg_mean_squared_error", make_scorer(r2_score, greater_is_better=False)]
)
def test_a_score_whose_zero_is_perfect_is_warned_about_with_zero(scoring):
    data = small("regression")
    options = {"method": Exact(Ridge()), "scoring": scoring}
    with pytest.warns(InputWarning, match="baseline='zero' counts from a score of 0"):
        value_cells(*data, baseline="zero", **options)
    v = value_cells(*data, **options)  # and says nothing by default
    np.testing.assert_allclose(v.values[:, 2], 0.0, atol=1e-15)


@pytest.mark.parametrize(("name", "task"), NAMED)
def test_zero_is_the_game_in_which_no_rows_and_no_columns_are_worth_nothing(name, task):
    data = small(task, n=4, repeats=name != "ridge")
    for model in (name, ESTIMATORS[name, task]):
        trained = model_game(model, *data, task)
        expected = brute_force(lambda S, F, h=trained: h(S, F) if S and F else 0.0, 4, 3)
        v = value_cells(*data, method=Exact(model), task=task, baseline="zero")
        np.testing.assert_allclose(v.values, expected, atol=1e-10)
        labels = value_cells(*data, method=Exact(model), task=task)
        off = v.values - labels.values  # the same in every column: what the labels alone are worth
        np.testing.assert_allclose(off, off[:, :1].repeat(3, axis=1), atol=1e-12)


def test_a_scorer_that_cannot_take_a_constant_says_so():
    def coefficient(model, X, y):
        return float(model.coef_[0])

    data = small("regression")
    with pytest.raises(
        UtilityError,
        match=r"values count from the score of a constant prediction, .*cannot be computed: .*coef_",
    ):
        value_cells(*data, method=Exact(Ridge()), scoring=coefficient)


def test_truncation_keeps_what_no_rows_are_worth():
    data = with_idle_columns("classification", n=12)
    method = MonteCarlo(GaussianNB(), max_draws=4, tolerance=0)
    v = value_cells(*data, method=replace(method, truncation=10.0))  # ends after the first row
    assert v.total == pytest.approx(value_cells(*data, method=method).total)
