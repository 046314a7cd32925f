"""Weighted validation rows, and balanced accuracy: by definition, in every method that can."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, make_scorer, max_error
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from shapley2d import KNN, CellValuer, Exact, InputError, MonteCarlo, value_cells

from oracles import brute_force, knn_utility

RNG = np.random.default_rng(11)
N, M, T = 5, 3, 7
X, X_VALID = RNG.integers(0, 3, (N, M)), RNG.integers(0, 3, (T, M))
Y, Y_VALID = np.array([0, 1, 0, 1, 2]), np.array([0, 0, 0, 0, 1, 2, 1])
NUMBERS, NUMBERS_VALID = RNG.normal(size=N).round(2), RNG.normal(size=T).round(2)
WEIGHTS = np.array([0.5, 2.0, 0.0, 1.0, 3.0, 0.25, 1.5])
NEAR = KNN(n_neighbors=2, metric="sqeuclidean")
TREE = DecisionTreeClassifier(max_depth=2, random_state=0)


def balanced(y, weights=None):
    """Weights under which every class counts the same."""
    weights = np.ones(len(y)) if weights is None else weights
    return np.array([w / weights[y == label].sum() for label, w in zip(y, weights, strict=True)])


def utility(y, y_valid, weights, **more):
    tables = (X.tolist(), y.tolist(), X_VALID.tolist(), y_valid.tolist())
    return knn_utility(*tables, 2, weights=weights, **more)


@pytest.mark.parametrize("baseline", ["labels", "zero"])
@pytest.mark.parametrize(
    ("options", "weights"),
    [
        ({"valid_weight": WEIGHTS}, WEIGHTS),
        ({"scoring": "balanced_accuracy"}, balanced(Y_VALID)),
        ({"scoring": "balanced_accuracy", "valid_weight": WEIGHTS}, balanced(Y_VALID, WEIGHTS)),
        ({"scoring": "probability", "valid_weight": WEIGHTS, "semivalue": "banzhaf"}, WEIGHTS),
    ],
)
def test_nearest_neighbours_equal_brute_force(options, weights, baseline):
    h = utility(Y, Y_VALID, weights, baseline=baseline)
    semivalue = options.get("semivalue", "shapley")
    exact = brute_force(h, N, M, semivalue, semivalue)
    v, whole = (
        value_cells(X, Y, X_VALID, Y_VALID, method=method, baseline=baseline, **options)
        for method in (NEAR, Exact(NEAR))
    )
    np.testing.assert_allclose(v.values, exact, rtol=0, atol=1e-10)
    np.testing.assert_allclose(whole.values, exact, rtol=0, atol=1e-10)
    assert whole.info.get("baseline_utility") == pytest.approx(v.info.get("baseline_utility"))
    if semivalue == "shapley" and baseline == "labels":
        everything = h(frozenset(range(N)), frozenset(range(M)))
        assert v.total == pytest.approx(everything - v.info["baseline_utility"], abs=1e-12)


@pytest.mark.parametrize("label", [False, True])
def test_regression_equals_brute_force(label):
    h = utility(NUMBERS, NUMBERS_VALID, WEIGHTS, baseline="labels", regression=True)
    nothing = -np.average((NUMBERS_VALID - NUMBERS.mean()) ** 2, weights=WEIGHTS)

    def with_label(S, F):  # the last column is the label
        return h(S, F - {M}) - nothing if S and M in F else 0.0

    exact = brute_force(with_label, N, M + 1) if label else brute_force(h, N, M)
    options = {
        "include_label": label,
        "valid_weight": WEIGHTS,
        "scoring": "neg_mean_squared_error",
        "task": "regression",
    }
    for method in (NEAR, Exact(NEAR)):
        v = value_cells(X, NUMBERS, X_VALID, NUMBERS_VALID, method=method, **options)
        np.testing.assert_allclose(v.values, exact, rtol=0, atol=1e-10)


def test_groups_of_nearest_neighbours():
    options = {"valid_weight": WEIGHTS, "scoring": "balanced_accuracy"}
    options |= {"row_groups": list("aabbb"), "column_groups": list("uuv")}
    v = value_cells(X, Y, X_VALID, Y_VALID, method=NEAR, **options)
    h = utility(Y, Y_VALID, balanced(Y_VALID, WEIGHTS), baseline="labels")
    rows, columns = [{0, 1}, {2, 3, 4}], [{0, 1}, {2}]

    def of_groups(S, F):
        return h(
            frozenset().union(*(rows[i] for i in S)), frozenset().union(*(columns[j] for j in F))
        )

    np.testing.assert_allclose(v.values, brute_force(of_groups, 2, 2), rtol=0, atol=1e-10)
    method = MonteCarlo(NEAR, tolerance=0, max_draws=200)
    sampled = value_cells(X, Y, X_VALID, Y_VALID, method=method, **options)
    assert np.abs(sampled.values - v.values).max() < 5 * sampled.stderr.max()


def test_the_same_weight_everywhere_changes_no_bit():
    asked = {"method": NEAR}
    plain = value_cells(X, Y, X_VALID, Y_VALID, **asked)
    even = value_cells(X, Y, X_VALID, Y_VALID, valid_weight=np.full(T, 0.3), **asked)
    np.testing.assert_array_equal(even.values, plain.values)


def test_a_weight_counts_like_repeated_rows():
    counts = np.array([1, 2, 0, 1, 3, 1, 2])
    again = np.repeat(np.arange(T), counts)
    # a model gets classes that every coalition of two shows
    for method, some in ((NEAR, slice(None)), (Exact(LogisticRegression()), [0, 1, 3])):
        asked = {"method": method}
        weighed = value_cells(X[some], Y[some], X_VALID, Y_VALID % 2, valid_weight=counts, **asked)
        repeated = value_cells(X[some], Y[some], X_VALID[again], Y_VALID[again] % 2, **asked)
        np.testing.assert_allclose(weighed.values, repeated.values, rtol=0, atol=1e-12)
        assert weighed.info["baseline_utility"] == pytest.approx(
            repeated.info["baseline_utility"], abs=1e-12
        )


@pytest.mark.parametrize(
    ("model", "task", "scoring"),
    [
        (TREE, "classification", "balanced_accuracy"),
        pytest.param(TREE, "classification", None, marks=pytest.mark.slow),
        pytest.param(TREE, "classification", "neg_log_loss", marks=pytest.mark.slow),
        (DecisionTreeRegressor(max_depth=2, random_state=0), "regression", None),
        ("gaussian_nb", "classification", "balanced_accuracy"),
        ("ridge", "regression", None),
    ],
)
def test_models_weigh_their_score(model, task, scoring):
    y, y_valid = (Y % 2, Y_VALID % 2) if task == "classification" else (NUMBERS, NUMBERS_VALID)
    asked = {"method": Exact(model), "scoring": scoring, "task": task}
    v = value_cells(X, y, X_VALID, y_valid, valid_weight=WEIGHTS, **asked)
    again = np.repeat(np.arange(T), (WEIGHTS * 4).astype(int))
    repeated = value_cells(X, y, X_VALID[again], y_valid[again], **asked)
    np.testing.assert_allclose(v.values, repeated.values, rtol=0, atol=1e-12)


def test_cross_valuation_weighs_within_every_fold():
    n = 20
    x, y = RNG.normal(size=(n, 2)), np.arange(n) % 2
    weights = RNG.uniform(0.1, 2, n)
    halves = [(np.arange(10), np.arange(10, 20)), (np.arange(10, 20), np.arange(10))]
    asked = {"method": KNN(n_neighbors=3)}
    v = value_cells(x, y, cv=halves, valid_weight=weights, **asked)
    for train, test in halves:
        tables = x[train], y[train], x[test], y[test]
        part = value_cells(*tables, valid_weight=weights[test], **asked)
        np.testing.assert_allclose(v.values[train], part.values / 2, atol=1e-13)


def test_balanced_accuracy_is_that_of_scikit_learn_for_one_neighbour():
    x, x_valid = RNG.normal(size=(40, 3)), RNG.normal(size=(30, 3))
    y, y_valid = (x[:, 0] > 0.8).astype(int), (x_valid[:, 0] > 0.8).astype(int)
    options = {"scoring": "balanced_accuracy", "baseline": "zero"}
    v = value_cells(x, y, x_valid, y_valid, method=replace(NEAR, n_neighbors=1), **options)
    nearest = ((x_valid[:, None] - x[None]) ** 2).sum(axis=2).argmin(axis=1)
    assert v.total == pytest.approx(balanced_accuracy_score(y_valid, y[nearest]), abs=1e-12)


def test_a_label_that_training_never_shows_is_a_class_that_is_never_right():
    y_valid = np.array([0, 0, 0, 0, 1, 2, 9])
    options = {"scoring": "balanced_accuracy", "baseline": "zero"}
    with pytest.warns(UserWarning, match="labels that training never shows"):
        v = value_cells(X, Y, X_VALID, y_valid, method=NEAR, **options)
    h = utility(Y, y_valid, balanced(y_valid), baseline="zero")
    np.testing.assert_allclose(v.values, brute_force(h, N, M), rtol=0, atol=1e-10)


def test_sampled_columns_know_the_weights():
    x, x_valid = RNG.normal(size=(30, 6)), RNG.normal(size=(24, 6))
    data = x, (x[:, 0] > 0).astype(int), x_valid, (x_valid[:, 0] > 0).astype(int)
    weights, method = RNG.uniform(0, 1, 24), KNN(n_neighbors=3)
    exact, sampled = (
        value_cells(*data, method=one, valid_weight=weights)
        for one in (method, replace(method, subsets="sampled", n_subsets=48))
    )
    assert np.abs(sampled.values - exact.values).max() < 6 * sampled.stderr.max()


def test_names_estimator_and_score():
    frame = pd.DataFrame(X_VALID, columns=list("abc"))
    train = pd.DataFrame(X, columns=list("abc"))
    options = {"method": NEAR, "scoring": "balanced_accuracy"}
    valuer = CellValuer(**options).fit(train, Y, frame, Y_VALID, valid_weight=WEIGHTS)
    named = CellValuer(**options).fit(
        train.assign(w=1), Y, frame.assign(w=WEIGHTS), Y_VALID, valid_weight="w"
    )
    np.testing.assert_array_equal(named.values_, valuer.values_)
    assert named.feature_names_in_.tolist() == list("abc")
    tables = train.assign(w=1), Y, frame.assign(w=WEIGHTS), Y_VALID
    both = value_cells(*tables, valid_weight="w", **options)
    np.testing.assert_array_equal(both.values, valuer.values_)
    assert both.info["weighted"] is True
    assert valuer.score(frame, Y_VALID, valid_weight=WEIGHTS) == pytest.approx(
        valuer.values_.sum(), abs=1e-12
    )


CLOSED = "no closed form: .* validation rows: use 'probability' or 'balanced_accuracy'"


class NoValidation(KNN):
    """Nearest neighbours that evaluate no model."""

    needs_validation = False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"scoring": "accuracy"},
            "which label has most votes is not a sum over neighbours: use 'probability' or",
        ),
        ({"scoring": "f1_macro"}, "has no closed form: it is not a mean over validation rows"),
        ({"scoring": "balanced"}, "is not one of scikit-learn's scores: did you mean 'balanced_ac"),
        ({"scoring": make_scorer(max_error)}, CLOSED),
        ({"method": MonteCarlo("knn"), "scoring": "f1"}, CLOSED),
        ({"method": NoValidation()}, "valid_weight weighs validation rows, but this method eval"),
        ({"valid_weight": 0 * WEIGHTS}, "is 0 in every row: give some row a positive weight"),
        ({"valid_weight": -WEIGHTS}, "is -0.5 in row 0: weights must be finite and not negative"),
        ({"valid_weight": WEIGHTS[:3]}, "valid_weight has 3 entries for 7 rows"),
        ({"valid_weight": list("abcdefg")}, "valid_weight must hold a number for every row"),
        ({"method": "mc", "scoring": lambda *_: 0.0}, "takes no sample_weight, so"),
    ],
)
def test_what_cannot_be_is_said(options, message):
    with pytest.raises(InputError, match=message):
        value_cells(X, Y, X_VALID, Y_VALID, **{"valid_weight": WEIGHTS, **options})


def test_absolute_errors_have_no_closed_form():
    given = (X, NUMBERS, X_VALID, NUMBERS_VALID)
    with pytest.raises(
        InputError, match=r"has no closed form: the absolute error is not a sum .*: use scoring="
    ):
        value_cells(*given, task="regression", scoring="neg_mean_absolute_error")
    with pytest.raises(InputError, match="nearest neighbours have the squared error only"):
        value_cells(*given, task="regression", scoring="r2")
    asked = {"scoring": "neg_mean_absolute_error", "task": "regression", "valid_weight": WEIGHTS}
    # what the message points to
    assert value_cells(*given, method=Exact(KNeighborsRegressor(1)), **asked).exact


def test_a_fold_without_any_weight_is_named():
    weights = np.r_[np.zeros(10), np.ones(10)]
    halves = [(np.arange(10), np.arange(10, 20)), (np.arange(10, 20), np.arange(10))]
    data = RNG.normal(size=(20, 2)), np.arange(20) % 2
    with pytest.raises(InputError, match="valid_weight is 0 for all validation rows of split 2"):
        value_cells(*data, cv=halves, valid_weight=weights)
