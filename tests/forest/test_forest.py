"""Method ``"forest"``: fitted, unfitted and grown ensembles against the definition, and what it refuses."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.dummy import DummyClassifier as Guess
from sklearn.dummy import DummyRegressor as Constant
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer, log_loss, r2_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from shapley2d import CellValuer, Forest, value_cells
from shapley2d._methods.run import Run
from shapley2d._tables.problem import make_problem
from shapley2d._valuation.facts import Facts
from shapley2d._valuation.typeset import typeset
from shapley2d.exceptions import (
    InputError,
    InputWarning,
    PrecisionWarning,
    UnseenLabelWarning,
    UtilityError,
)

from boosted_tables import (
    by_category,
    leaves,
    near_thresholds,
    read,
    tables_of_numbers,
    target,
    thresholds,
)
from forest_oracle import mean_forest, sklearn_model, staged, tables, utility
from oracles import brute_force
from small_tables import mixed

FEW = {"max_depth": 3, "random_state": 0}
SHORT = {"n_estimators": 3, "max_depth": 2, "random_state": 0}
LONGER = {"n_estimators": 15, "max_depth": 3, "random_state": 0}
HIST = {"max_iter": 4, "min_samples_leaf": 3, "max_leaf_nodes": 6, "random_state": 0}
TINY = {**HIST, "min_samples_leaf": 1, "max_leaf_nodes": 4}
CLASSIFIERS = [
    RandomForestClassifier(4, **FEW),
    ExtraTreesClassifier(4, **FEW),
    GradientBoostingClassifier(**SHORT),
    HistGradientBoostingClassifier(**HIST),
    DecisionTreeClassifier(**FEW),
    ExtraTreeClassifier(**FEW),
]
REGRESSORS = [
    RandomForestRegressor(4, **FEW),
    ExtraTreesRegressor(4, **FEW),
    GradientBoostingRegressor(**SHORT),
    HistGradientBoostingRegressor(**HIST),
    DecisionTreeRegressor(**FEW),
]
FITTED = {
    "three classes": [
        *(RandomForestClassifier(4, class_weight=one, **FEW)
          for one in (None, "balanced", "balanced_subsample")),
        RandomForestClassifier(4, bootstrap=False, **FEW),
        RandomForestClassifier(4, max_samples=3, **FEW),
        ExtraTreesClassifier(4, **FEW),
        ExtraTreesClassifier(4, class_weight={0: 1, 1: 2, 2: 5}, **FEW),
        ExtraTreesClassifier(4, bootstrap=True, **FEW),
        DecisionTreeClassifier(**FEW),
        ExtraTreeClassifier(class_weight="balanced", **FEW),
        GradientBoostingClassifier(**SHORT),
        HistGradientBoostingClassifier(**TINY),
    ],
    "two classes": [
        RandomForestClassifier(4, **FEW),
        GradientBoostingClassifier(**SHORT),
        HistGradientBoostingClassifier(l2_regularization=0.5, **TINY),
        HistGradientBoostingClassifier(class_weight={0: 1, 1: 3}, **TINY),
    ],
    "numbers": [
        RandomForestRegressor(4, **FEW),
        RandomForestRegressor(4, bootstrap=False, max_features=1, **FEW),
        ExtraTreesRegressor(4, **FEW),
        DecisionTreeRegressor(**FEW),
        GradientBoostingRegressor(**SHORT),
        HistGradientBoostingRegressor(l2_regularization=0.5, **TINY),
        HistGradientBoostingRegressor(loss="poisson", **TINY),
    ],
}  # fmt: skip


def name(model):
    return type(model).__name__


def small(kind, n=6, n_valid=5, seed=0):
    """Tables for brute force; numbers are positive."""
    n_classes = 3 if kind == "three classes" else 2
    X, y, Xv, yv = tables(
        n, n_valid=n_valid, seed=seed, regression=kind == "numbers", n_classes=n_classes
    )
    return (X, abs(y), Xv, abs(yv)) if kind == "numbers" else (X, y, Xv, yv)


def valued(*data, model, **asked):
    task = "regression" if data[1].dtype.kind == "f" else "classification"
    return value_cells(*data, method=Forest(model), task=task, progress=False, **asked)


@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=name)
@given(tables_of_numbers())
@settings(max_examples=12)
def test_leaves_are_the_librarys(model, table):
    regression = "Regressor" in name(model)
    random, X = table
    if isinstance(model, (GradientBoostingClassifier, GradientBoostingRegressor)):
        X = np.nan_to_num(X)  # takes no missing entries
    y = target(random, X, "numbers" if regression else "four classes")
    fitted = clone(model).fit(X, y)
    at = near_thresholds(X, thresholds(read(fitted, X, y, X)), random)[: len(X)]
    at = np.where(np.isnan(X).any(axis=0), at, np.nan_to_num(at))
    ensemble = read(fitted, X, y, at)
    # numba 0.60 takes a tuple with an array that is not contiguous for one without
    assert all(array.flags.c_contiguous for tree in ensemble.model.trees for array in tree[:-1])
    found = leaves(ensemble)
    if hasattr(fitted, "apply"):
        np.testing.assert_array_equal(found, np.reshape(fitted.apply(at), (len(at), -1)))
        return
    score = fitted.predict(at)[:, None] if regression else fitted.decision_function(at)
    check_histogram(fitted, found, score)


def check_histogram(fitted, found, score):
    """Histogram gradient boosting tells no leaves: the values of ours must sum to its prediction."""
    predictors = [one for step in fitted._predictors for one in step]
    raw = np.array(
        [one.nodes["value"][leaf] for one, leaf in zip(predictors, found.T, strict=True)]
    )
    per_step = len(fitted._predictors[0])
    summed = raw.reshape(-1, per_step, len(found)).sum(axis=0).T + fitted._baseline_prediction
    np.testing.assert_allclose(summed, np.reshape(score, summed.shape), atol=1e-12)


def test_leaves_of_categories_are_the_librarys():
    random = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "size": random.normal(size=300),
            "town": pd.Categorical(random.choice(list("abcdefgh"), 300)),
            "kind": pd.Categorical(np.where(random.random(300) < 0.1, None, "x")),
        }
    )
    y = frame["town"].isin(["a", "c", "h"]).to_numpy() ^ (random.random(300) < 0.1)
    fitted = HistGradientBoostingClassifier(
        max_iter=5, min_samples_leaf=5, categorical_features="from_dtype"
    ).fit(frame, y)
    ensemble = read(fitted, frame, y, frame)
    assert any(by_category(tree).any() for tree in ensemble.model.trees)
    assert ensemble.model.owners.tolist() == [1, 2, 0]
    check_histogram(fitted, leaves(ensemble), fitted.decision_function(frame))
    v = value_cells(frame, y, frame[:50], y[:50], method=Forest(fitted), progress=False)
    assert v.column_names == ["size", "town", "kind"]
    assert v.column_values[1] == max(v.column_values)


def own_score(model, X, y, y_train, weights=None):
    """The score of a model by scikit-learn's own metrics."""
    if not hasattr(model, "classes_"):
        if getattr(model, "loss", "") == "poisson":
            means = model.predict(X), np.full(len(y), y_train.mean())
            logs = y * np.log(y) - y
            lost = [np.average(one - y * np.log(one) + logs, weights=weights) for one in means]
            return 1 - lost[0] / lost[1]
        return r2_score(y, model.predict(X), sample_weight=weights)
    chances = model.predict_proba(X)
    if not hasattr(model, "learning_rate"):
        return np.average(chances[np.arange(len(y)), y], weights=weights)
    shares = np.tile(np.bincount(y_train) / len(y_train), (len(y), 1))
    both = (
        log_loss(y, one, sample_weight=weights, labels=model.classes_) for one in (chances, shares)
    )
    return 1 - next(both) / next(both)


def check_sum(v, score):
    """All values, the baseline and what is nobody's are the model's own score."""
    assert v.info["model_score"] == pytest.approx(score, abs=1e-9)
    nobodys = v.info["unexplained"] * (score - v.info["baseline_utility"])
    assert v.total + v.info["baseline_utility"] + nobodys == pytest.approx(score, abs=1e-9)


@pytest.mark.parametrize(
    ("kind", "model"),
    [pytest.param(kind, one, id=f"{kind}-{one}") for kind in FITTED for one in FITTED[kind]],
)
def test_a_fitted_model_against_every_subset(kind, model):
    X, y, Xv, yv = small(kind)
    fitted = clone(model).fit(X, y)
    v = valued(X, y, Xv, yv, model=fitted)
    own = sklearn_model(fitted, X, y)
    h = own.utility(Xv, yv)
    # the leaves of histograms come from 32-bit residuals
    np.testing.assert_allclose(v.values, brute_force(h, 6, 3), rtol=0, atol=1e-8)
    check_sum(v, own_score(fitted, Xv, yv, y))
    assert v.info["baseline_utility"] == pytest.approx(
        h(frozenset(range(6)), frozenset()), abs=1e-9
    )
    assert v.exact and v.info["unexplained"] == 0
    assert v.info["n_trees"] == len(own.trees) / (own.start.size if not v.info["boosted"] else 1)
    assert "what its row does to the splits is not valued" in v.info["about"]["meaning"]


@pytest.mark.parametrize(
    ("kind", "model"),
    [
        ("three classes", RandomForestClassifier(4, **FEW)),
        ("three classes", GradientBoostingClassifier(**SHORT)),
        ("two classes", HistGradientBoostingClassifier(**TINY)),
        ("numbers", RandomForestRegressor(4, **FEW)),
        ("numbers", GradientBoostingRegressor(**SHORT)),
    ],
)
@pytest.mark.parametrize(
    "asked",
    [
        {"valid_weight": np.arange(1.0, 8.0)},
        {"scoring": "balanced_accuracy", "valid_weight": np.arange(1.0, 8.0)},
        {"baseline": "zero"},
        {"include_label": True},
        {"include_label": True, "baseline": "zero", "semivalue": "banzhaf"},
        {"semivalue": ("beta", 4.0, 1.0)},
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:baseline='zero' counts")
def test_other_questions(kind, model, asked):
    X, y, Xv, yv = small(kind, 5, 7)
    weights = mass = asked.get("valid_weight")
    if "scoring" in asked:
        if kind == "numbers":
            pytest.skip("a score of classes")
        mass = weights / np.bincount(yv, weights)[yv]
    fitted = clone(model).fit(X, y)
    v = valued(X, y, Xv, yv, model=fitted, **asked)
    own = sklearn_model(fitted, X, y)
    label = 3 if "include_label" in asked else None
    h = own.utility(Xv, yv, mass, baseline=asked.get("baseline", "labels"), label=label)
    semivalue = asked.get("semivalue", "shapley")
    expected = brute_force(h, 5, 3 + (label is not None), semivalue, semivalue)
    np.testing.assert_allclose(v.values, expected, rtol=0, atol=1e-9)
    assert v.info["model_score"] == pytest.approx(own_score(fitted, Xv, yv, y, mass), abs=1e-9)
    below = v.info.get("baseline_utility")
    assert ("less" in v.info["about"]["total"]) == (below is not None)
    if semivalue == "shapley":
        score = h(frozenset(range(5)), frozenset(range(3 + (label is not None))))
        assert v.total == pytest.approx(score - (below or 0.0), abs=1e-9)


@pytest.mark.parametrize(
    ("kind", "model"),
    [
        ("three classes", HistGradientBoostingClassifier(early_stopping=True, **HIST)),
        ("two classes", GradientBoostingClassifier(subsample=0.8, **LONGER)),
        ("two classes", GradientBoostingClassifier(n_iter_no_change=9, **LONGER)),
        ("numbers", GradientBoostingRegressor(subsample=0.8, **LONGER)),
        ("numbers", GradientBoostingRegressor(loss="absolute_error", **LONGER)),
    ],
    ids=str,
)
def test_what_the_rows_do_not_explain_is_nobodys(kind, model):
    """Trees that were grown on a part of the rows, which is not known; medians of ties."""
    X, y, Xv, yv = small(kind, 60, 40)
    fitted = clone(model).fit(X, y)
    v = valued(X, y, Xv, yv, model=fitted)
    own = sklearn_model(fitted, X, y)
    assert 1e-6 < abs(v.info["unexplained"]) < 0.1
    np.testing.assert_allclose(own.predict(Xv[:3]), staged(fitted, Xv[:3])[-1], atol=1e-9)
    np.testing.assert_allclose(v.values, own.values(Xv, yv), rtol=0, atol=1e-9)
    check_sum(v, own.score(staged(fitted, Xv)[-1], yv))
    share = v.info["unexplained"]
    less = f"That is {abs(share):.1%} {'less' if share > 0 else 'more'} than it gains: its trees"
    assert (less in repr(v)) == (abs(share) >= 0.0005)
    assert ("than it gains" in repr(v)) == (abs(share) >= 0.0005)


@pytest.mark.parametrize("seed", [10, 11])
def test_what_is_far_from_explained_is_said_first(seed):
    X, y, Xv, yv = small("two classes", 60, 40)
    model = GradientBoostingClassifier(n_estimators=20, subsample=0.7, random_state=seed)
    with pytest.warns(InputWarning, match=r"the values sum to -?\d+% of what the model gains"):
        v = valued(X, y, Xv, yv, model=clone(model).fit(X, y))
    assert abs(v.info["unexplained"]) > 0.1
    explained = v.total / (v.info["model_score"] - v.info["baseline_utility"])
    assert f"The values sum to {explained:.0%} of what your model gains." in repr(v)


def test_a_model_of_other_rows_is_refused():
    X, y, Xv, yv = small("numbers", 60, 40)
    model = GradientBoostingRegressor(random_state=0).fit(X, y)
    with pytest.raises(
        InputError, match=r"predicts what these rows do not: \d+% of .* in their order"
    ):
        valued(X, y[::-1].copy(), Xv, yv, model=model)


@pytest.mark.parametrize(
    "model", [DecisionTreeClassifier(**FEW), GradientBoostingClassifier(**SHORT)]
)
def test_labels(model):
    """By another name, that training never shows, or that the model does not know."""
    X, y, Xv, yv = small("three classes")
    fitted = clone(model).fit(X, y)
    plain, texts = valued(X, y, Xv, yv, model=fitted), np.array(["0", "1", "2"])
    named = valued(X, texts[y], Xv, texts[yv], model=fitted)
    np.testing.assert_array_equal(named.values, plain.values)
    words = np.array(["high", "low", "mid"])
    named = valued(X, words[y], Xv, words[yv], model=clone(model))
    np.testing.assert_array_equal(named.values, plain.values)
    with pytest.raises(InputError, match="does not know the label '9': it was fitted on 0, 1, 2;"):
        valued(X, np.where(y == 2, 9, y), X, np.where(y == 2, 9, y), model=fitted)
    with pytest.warns(UnseenLabelWarning, match="labels that training never shows"):
        v = valued(X, y, Xv, np.array([9, *yv[1:]]), model=fitted)
    own = sklearn_model(fitted, X, y)
    parts = own.parts(Xv[1:], yv[1:], unit=(0.0, 1.0))
    expected = brute_force(utility(parts), 6, 3)
    if not v.info["boosted"]:
        expected *= 4 / 5
    else:  # the loss of a label that no training row shows is infinite without columns, and not counted
        expected *= own.unit(yv[1:], None)[1]
    np.testing.assert_allclose(v.values, expected, rtol=0, atol=1e-12)


@given(seed=st.integers(0, 10**6), power=st.integers(-30, 30))
@settings(max_examples=10)
def test_scores_have_no_unit(seed, power):
    """Targets in other units, and validation rows in two halves."""
    X, y, Xv, yv = small("numbers", 30, 20, seed)
    for model in (DecisionTreeRegressor(**FEW), GradientBoostingRegressor(**SHORT)):
        one = valued(X, y, Xv, yv, model=model)
        other = valued(X, y * 2.0**power, Xv, yv * 2.0**power, model=model)
        np.testing.assert_allclose(one.values, other.values, rtol=0, atol=1e-12)
        asked = {"model": clone(model).fit(X, y), "scoring": "neg_mean_squared_error"}
        whole, *parts = (
            valued(X, y, Xv[k], yv[k], **asked).values for k in (slice(20), slice(5), slice(5, 20))
        )
        np.testing.assert_allclose(whole, (parts[0] + 3 * parts[1]) / 4, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("kind", "n_trees"), [("two classes", 40), ("numbers", 1200)])
def test_groves_are_unbiased(kind, n_trees):
    """Their mean is the value under a forest of all their trees, up to its own O(1 / trees)."""
    X, y, Xv, yv = small(kind, 30, 20)
    method = Forest(max_draws=n_trees, tolerance=0)
    v = value_cells(X, y, Xv, yv, method=method, task=make_problem(X, y).target.task)
    (held,), (game,) = v._held.trees, v._held.draws.games
    exact = game.empty()
    for tree in held.games():
        game.add_values(tree, exact)
    exact = exact[:, :-1]
    assert len(held.model.trees) == v.info["n_trees"] == n_trees
    if kind == "two classes":
        np.testing.assert_allclose(v.values, exact, rtol=0, atol=1e-14)
    else:
        # by the slopes of a grove's own trees it were 4
        assert (abs(v.values - exact) / v.stderr).max() < 1 < abs(v.values / v.stderr).max()


@pytest.mark.parametrize(
    "options", [{"cv": 3}, {"groups": np.arange(30) % 6}, {"time_order": np.arange(30)}]
)
@pytest.mark.filterwarnings("ignore:5 of 30 rows train in no fold")
def test_a_forest_for_every_fold(options):
    """Each fold's model is fitted on the rows that train there; the values are the mean."""
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 3))
    y = (X[:, 0] > 0).astype(int)
    model = DecisionTreeClassifier(max_depth=2, random_state=0)
    v = value_cells(X, y, method=Forest(model), **options)
    splits = make_problem(X, y, **options).splits
    expected = np.zeros((30, 3))
    for split in splits:
        rows, held = split.rows, split.valid_rows
        fitted = clone(model).fit(X[rows], y[rows])
        part = value_cells(X[rows], y[rows], X[held], y[held], method=Forest(fitted))
        expected[rows] += part.values / len(splits)
    np.testing.assert_allclose(v.values, expected, rtol=0, atol=1e-14)


def test_the_default_forest_takes_a_table_as_it_comes():
    frame, _ = mixed(80)
    y = np.where(frame["size"] + (frame["town"] == "Ulm") > 0.3, "yes", "no")
    frame.loc[::9, "size"], frame.loc[::11, "town"], frame["same"] = np.nan, None, 1.0
    with pytest.warns(PrecisionWarning, match="stopped at max_draws=60"):
        v = value_cells(frame, y, method=Forest(max_draws=60, tolerance=1e-3), cv=2)
    assert v.column_names == ["size", "town", "pay", "new", "day", "same"]
    assert not v.exact and v.info["n_trees"] == 60
    assert not v.values[:, 5].any() and not v.stderr[:, 5].any()  # never varies
    assert v.column_values[:2].min() > 3 * abs(v.column_values[2:]).max()
    assert (v.stderr[:, :5] > 0).all()


@pytest.mark.parametrize("kind", ["three classes", "numbers"])
def test_errors_are_those_of_a_mean_over_trees(kind):
    """Forests with other seeds differ as their standard errors say; more trees differ less."""
    data = small(kind, 30, 20)
    asked = {"task": make_problem(*data).target.task}
    method = Forest(max_draws=32, tolerance=0)
    runs = [value_cells(*data, method=method, random_state=s, **asked) for s in range(20)]
    spread = np.std([v.values for v in runs], axis=0, ddof=1)
    # the variances of 8 draws of four trees have four more, for what they have not seen
    said = np.sqrt(np.mean([v.stderr**2 for v in runs], axis=0) / (1 + 4 / 8))
    assert 0.85 < np.sqrt((spread**2).mean() / (said**2).mean()) < 1.15
    assert v_total_error(runs) < 1.6
    long = value_cells(*data, method=replace(method, max_draws=512), **asked)
    assert long.stderr.mean() == pytest.approx(said.mean() / 4 * np.sqrt(1 + 4 / 128), rel=0.15)
    inside = np.mean([abs(v.values - long.values) <= v.interval()[1] - v.values for v in runs])
    assert inside > 0.92
    until = value_cells(*data, method=Forest(tolerance=0.1), **asked)
    assert until.info["converged"] and until.info["ratio"] <= 0.1
    assert until.info["n_trees"] == 4 * until.history[-1][0]  # draws of four trees


def v_total_error(runs):
    """How far column sums spread, in their own standard errors."""
    sums = np.array([v.column_values for v in runs])
    said = np.sqrt(np.mean([v.column_stderr**2 for v in runs], axis=0))
    return (sums.std(axis=0, ddof=1) / said).max()


@pytest.mark.parametrize("model", [None, RandomForestClassifier(9, max_depth=4, random_state=1)])
def test_the_same_bits_for_any_number_of_threads(model):
    X, y, Xv, yv, *_ = tables(40, n_valid=20)
    method = Forest(model, max_draws=20, tolerance=0)
    first, *others = (
        value_cells(X, y, Xv, yv, method=method, n_jobs=jobs).values.tobytes() for jobs in (1, 2, 3)
    )
    assert others == [first, first]


def test_replicates_without_validation_rows_use_the_same_trees():
    """Values are means over validation rows: those of two groups of them, weighted, give the whole."""
    X, y, Xv, yv, *_ = tables(20, n_valid=30)
    method = Forest(max_draws=15, tolerance=0)
    whole, *parts = (
        value_cells(X, y, Xv[k], yv[k], method=method).values
        for k in (slice(30), slice(10), slice(10, 30))
    )
    np.testing.assert_allclose(whole, parts[0] / 3 + 2 * parts[1] / 3, rtol=0, atol=1e-15)


@pytest.mark.parametrize("model", [None, *CLASSIFIERS, *REGRESSORS], ids=name)
@pytest.mark.parametrize(
    "options",
    [
        {"cv": 3, "scoring": "balanced_accuracy", "semivalue": "banzhaf"},
        *(pytest.param(one, marks=pytest.mark.slow) for one in ({}, {"include_label": True})),
    ],
    ids=str,
)
def test_the_score_is_what_shapley_values_sum_to(model, options):
    """From the counts in the leaves, without the values."""
    regression, options = model in REGRESSORS, {**options}
    if regression:
        options.pop("scoring", None)
    asked = {"scoring": options["scoring"]} if "scoring" in options else {}
    X, y, Xv, yv, *_ = tables(40, n_valid=20, regression=regression)
    task = "regression" if regression else "classification"
    valuer = CellValuer(Forest(model, max_draws=8, tolerance=9), task=task, cv=2)
    data = (X, y) if "cv" in options else (X, y, Xv, yv)
    valuer.set_params(**options).fit(*data)
    method = Forest(model, max_draws=8, tolerance=9)
    expected = value_cells(X, y, Xv, yv, method=method, task=task, **asked)
    assert valuer.score(Xv, yv) == pytest.approx(expected.total, abs=1e-12)


def test_a_model_that_cannot_be_fitted():
    X, y, *_ = tables(40)
    model = DecisionTreeClassifier(min_samples_leaf=-1)
    with pytest.raises(UtilityError, match=r"DecisionTree.* failed on 40 rows: .*min_samples_leaf"):
        value_cells(X, y, X, y, method=Forest(model))


def test_a_model_by_name():
    X, y, Xv, yv, *_ = tables(40, n_valid=20)
    v = value_cells(X, y, Xv, yv, method=Forest("random_forest"))
    assert v.info["n_trees"] == 50 and not v.info["boosted"]


def test_a_fitted_model_has_seen_the_rows_of_the_folds():
    X, y, *_ = tables(400)
    model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    with pytest.warns(InputWarning, match="may be among those that chose its splits"):
        v = value_cells(X, y, method=Forest(model), cv=2)
    assert 0 < abs(v.info["unexplained"]) < 0.1  # the leaves are means of both halves


def test_boosted_trees_by_categories_of_the_users_table():
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 6, 120), random.normal(size=120)]).astype(float)
    y = np.isin(X[:, 0], [1, 4]).astype(int)
    model = HistGradientBoostingClassifier(categorical_features=[0], **HIST)
    v = value_cells(X[:80], y[:80], X[80:], y[80:], method=Forest(model))
    assert v.column_values[0] > 10 * abs(v.column_values[1])


def other_columns():
    return pd.DataFrame({"b": [0.0, 1, 2, 3], "a": [1.0, 0, 1, 0]})


def fitted_on_names():
    return DecisionTreeClassifier().fit(other_columns()[["a", "b"]], [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LogisticRegression(), "is not a tree ensemble that can be read: pass"),
        ("gaussian_nb", "'gaussian_nb' is not a tree ensemble of scikit-learn"),
        (DecisionTreeRegressor(), "is a regressor, but the task is classification"),
        (
            DecisionTreeRegressor().fit([[0.0, 1], [1, 0]], [0, 1]),
            "is a regressor, but the task is classification",
        ),
        (
            DecisionTreeClassifier().fit([[0.0], [1]], [0, 1]),
            "was fitted on 1 column, but the table has 2",
        ),
        (fitted_on_names(), "was fitted on 'a' where the table has 'b'"),
    ],
)
def test_models_that_do_not_fit_the_table(model, message):
    X, y = other_columns(), [0, 0, 1, 1]
    with pytest.raises(InputError, match=message):
        value_cells(X, y, X, y, method=Forest(model))


def test_refusals():
    with pytest.raises(InputError, match="is not a scikit-learn estimator and not the name of a"):
        Forest("oak")
    with pytest.raises(InputError, match="max_draws=0 must be"):
        Forest(max_draws=0)


def test_text_that_a_fitted_model_cannot_have_seen():
    frame, y = mixed(80)
    model = DecisionTreeClassifier().fit(np.zeros((2, 5)), [0, 1])
    with pytest.raises(InputError, match="fitted on numbers, but column 'town' holds categories"):
        value_cells(frame, y, frame, y, method=Forest(model))


def test_a_version_that_keeps_its_trees_otherwise(monkeypatch):
    X, y, Xv, yv, *_ = tables(40, n_valid=20)
    model = HistGradientBoostingClassifier(**HIST).fit(X, y)
    model._predictors = [["no nodes"]]
    with pytest.raises(InputError, match=r"scikit-learn is .*, and 1\.9 is known to work"):
        value_cells(X, y, Xv, yv, method=Forest(model))


def test_a_model_that_predicts_more_than_its_trees():
    """Boosting that begins with another model's predictions."""
    X, y, Xv, yv = tables(40, n_valid=20, regression=True)
    model = GradientBoostingRegressor(n_estimators=3, init=LinearRegression()).fit(X, y)
    with pytest.raises(InputError, match="otherwise than its trees as they were read"):
        value_cells(X, y, Xv, yv, method=Forest(model))


def test_a_model_that_scores_nothing_is_still_your_model():
    X, y, Xv, yv = tables(30, n_valid=20, regression=True)
    v = value_cells(X, y, Xv, yv, method=Forest(RandomForestRegressor(5, random_state=0)))
    none = replace(v, info=v.info | {"model_score": 0.0})
    assert Facts.of(none).figures[0][1].startswith("your model")


@pytest.mark.parametrize(
    ("kind", "model", "name"),
    [
        ("numbers", GradientBoostingRegressor(**SHORT), "R²"),
        ("two classes", GradientBoostingClassifier(**SHORT), "log loss removed"),
        ("three classes", RandomForestClassifier(**FEW), "mean probability of the right label"),
    ],
)
def test_the_summary_says_what_the_model_scores(kind, model, name):
    """Of noise: a forest's leaves hold rows that it drew often, and the values still sum to it."""
    X, y, Xv, yv = small(kind, 200, 100)
    y = np.random.default_rng(0).permutation(y)
    fitted = clone(model).fit(X, y)
    v = valued(X, y, Xv, yv, model=fitted)
    score = own_score(fitted, Xv, yv, y)
    assert v.info["unexplained"] == 0
    check_sum(v, score)
    said = re.search(r"Your model scores (-?[\d.]+) % \((.*?)\); ", repr(v))
    assert said[2] == name and float(said[1]) == pytest.approx(100 * score, abs=0.06)
    assert typeset(said[0]) in v._repr_html_()


SCORES = [
    (None, "numbers", "r2"),
    (None, "two classes", "probability"),
    (RandomForestClassifier(4, **FEW), "three classes", "probability"),
    (GradientBoostingClassifier(**SHORT), "two classes", "log_loss_removed"),
    (GradientBoostingClassifier(**SHORT), "three classes", "neg_log_loss"),
    (RandomForestRegressor(4, **FEW), "numbers", "neg_mean_squared_error"),
    (HistGradientBoostingRegressor(loss="poisson", **TINY), "numbers", "neg_mean_poisson_deviance"),
    (HistGradientBoostingRegressor(loss="gamma", **TINY), "numbers", "neg_mean_gamma_deviance"),
    (HistGradientBoostingRegressor(loss="absolute_error", **TINY), "numbers",
     "neg_mean_absolute_error"),
    (HistGradientBoostingRegressor(loss="gamma", **TINY), "numbers", "gamma_deviance_removed"),
    (GradientBoostingClassifier(**SHORT), "two classes", "balanced_accuracy"),
]  # fmt: skip


@pytest.mark.parametrize(("model", "kind", "scoring"), SCORES, ids=str)
@pytest.mark.filterwarnings("ignore:the values sum to")
def test_every_score_is_what_its_name_says(model, kind, scoring):
    X, y, Xv, yv = small(kind, 40, 30)
    fitted = model if model is None else clone(model).fit(X, y)
    method = Forest(fitted, max_draws=8, tolerance=9)
    task = "regression" if kind == "numbers" else "classification"
    v = value_cells(X, y, Xv, yv, method=method, task=task, scoring=scoring)
    assert v.info["scoring"].removesuffix(", all classes counting the same") == {
        "balanced_accuracy": "log_loss_removed"
    }.get(scoring, scoring)
    if scoring.startswith("neg_"):  # scikit-learn's own
        assert v.info["model_score"] == pytest.approx(get_scorer(scoring)(fitted, Xv, yv), abs=1e-6)
    by_default = value_cells(X, y, Xv, yv, method=method, task=task)
    assert (
        by_default.info["scoring"] in ("r2", "probability")
        or "_removed" in (by_default.info["scoring"])
    )
    if by_default.info["scoring"] == scoring:
        np.testing.assert_array_equal(by_default.values, v.values)


@pytest.mark.parametrize(
    ("model", "kind", "scoring", "known"),
    [
        (None, "two classes", "accuracy", "'probability' or 'balanced_accuracy'"),
        (None, "numbers", "neg_mean_absolute_error", "'r2' or 'neg_mean_squared_error'"),
        (GradientBoostingClassifier(**SHORT), "two classes", "accuracy",
         "one of 'log_loss_removed', 'neg_log_loss', 'balanced_accuracy'"),
        (RandomForestClassifier(4, **FEW), "two classes", "neg_log_loss",
         "'probability' or 'balanced_accuracy'"),
    ],
)  # fmt: skip
def test_scores_that_are_not_computed_are_refused(model, kind, scoring, known):
    X, y, Xv, yv = small(kind, 40, 30)
    message = f"scoring='{scoring}' has no closed form .*: use {known}, or method='mc'"
    task = "regression" if kind == "numbers" else "classification"
    with pytest.raises(InputError, match=message):
        value_cells(X, y, Xv, yv, method=Forest(model), task=task, scoring=scoring)


@pytest.mark.parametrize(
    ("kind", "model"), [(kind, one) for kind in FITTED for one in (None, *FITTED[kind])], ids=str
)
@pytest.mark.filterwarnings("ignore:the values sum to", "ignore:stopped at")
def test_the_baseline_is_what_it_is_called(kind, model):
    X, y, Xv, yv = small(kind, 40, 30)
    fitted = model if model is None else clone(model).fit(X, y)
    v = valued(X, y, Xv, yv, model=fitted)
    said = v.info["baseline"]
    if said == "that of its trees without any column":
        h = sklearn_model(fitted, X, y).utility(Xv, yv)
        expected = h(frozenset(range(40)), frozenset())
        assert "; its trees without any column give " in repr(v)
    else:
        assert said == "what the rows' labels alone predict"
        constant = Constant(strategy="mean") if kind == "numbers" else Guess(strategy="prior")
        constant.fit(X, y)
        expected = (
            r2_score(yv, constant.predict(Xv))
            if kind == "numbers"
            else constant.predict_proba(Xv)[np.arange(30), yv].mean()
        )
    assert v.info["baseline_utility"] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    ("kind", "model"),
    [
        ("two classes", None),
        ("numbers", None),
        ("three classes", RandomForestClassifier(3, **FEW)),
        ("two classes", GradientBoostingClassifier(**SHORT)),
        ("numbers", GradientBoostingRegressor(**SHORT)),
    ],
)
@pytest.mark.parametrize("label", [False, True])
def test_groups_of_columns_against_every_subset(kind, model, label):
    """Columns of a group join together; trees that are grown do not depend on groups."""
    task = "regression" if kind == "numbers" else "classification"
    X, y, Xv, yv = tables(
        5, 4, 5, regression=task == "regression", n_classes=2 + (kind[:2] == "th")
    )
    asked = {"task": task, "include_label": label}
    groups = [1, 0, 1, 2]
    fitted = model if model is None else clone(model).fit(X, y)
    method, run = Forest(fitted, max_draws=8, tolerance=9), Run.create(progress=False)
    whole = method.solve(make_problem(X, y, Xv, yv, **asked), run)
    problem = make_problem(X, y, Xv, yv, column_groups=groups, **asked)
    found = method.solve(problem, run)
    owners = problem.column_groups.numbers
    if model is None:  # every tree of the mean is a small game of its own
        (held,) = whole.held.trees
        own = mean_forest(held.model.trees, X, y, regression=task == "regression")
    else:
        own = sklearn_model(fitted, X, y)
    own.owners = [int(owners[owner]) for owner in own.owners]
    assert found.values.shape == (5, 3 + label)
    if model is not None or task == "classification":
        h = own.utility(Xv, yv, label=3 if label else None)
        expected = brute_force(h, 5, 3 + label)
        np.testing.assert_allclose(found.values, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        found.values.sum(axis=1), whole.values.sum(axis=1), rtol=0, atol=1e-12
    )
    with pytest.raises(InputError, match="row_groups makes groups of rows the players"):
        method.draws(make_problem(X, y, Xv, yv, row_groups=[0, 0, 1, 1, 1], task=task), run)
