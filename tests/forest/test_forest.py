"""Method ``"forest"``: fitted, unfitted and grown ensembles against the definition, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from sklearn.base import clone
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
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from shapley2d import CellValuer, Forest, audit_owners, value_blocks, value_cells
from shapley2d._estimation.checkpoint import Checkpoint
from shapley2d._forest.read_sklearn import read_trees
from shapley2d._tables.problem import make_problem
from shapley2d.exceptions import (
    InputError,
    InputWarning,
    PrecisionWarning,
    UnseenLabelWarning,
    UtilityError,
)

from boosted_tables import leaves, near_thresholds, read, tables_of_numbers, target, thresholds
from forest_oracle import forest_utility, tables
from oracles import brute_force
from small_tables import mixed

FEW = {"max_depth": 3, "random_state": 0}
HIST = {"max_iter": 4, "min_samples_leaf": 3, "max_leaf_nodes": 6, "random_state": 0}
CLASSIFIERS = [
    RandomForestClassifier(4, **FEW),
    ExtraTreesClassifier(4, **FEW),
    GradientBoostingClassifier(n_estimators=3, **FEW),
    HistGradientBoostingClassifier(**HIST),
    DecisionTreeClassifier(**FEW),
    ExtraTreeClassifier(**FEW),
]
REGRESSORS = [
    RandomForestRegressor(4, **FEW),
    ExtraTreesRegressor(4, **FEW),
    GradientBoostingRegressor(n_estimators=3, **FEW),
    HistGradientBoostingRegressor(**HIST),
    DecisionTreeRegressor(**FEW),
]


def name(model):
    return type(model).__name__


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
    assert all(array.flags.c_contiguous for tree in ensemble.trees for array in tree.arrays)
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
    assert any((tree.categories >= 0).any() for tree in ensemble.trees)
    assert ensemble.features.owners.tolist() == [1, 2, 0]
    check_histogram(fitted, leaves(ensemble), fitted.decision_function(frame))
    v = value_cells(frame, y, frame[:50], y[:50], method=Forest(fitted), progress=False)
    assert v.column_names == ["size", "town", "kind"]
    assert v.column_values[1] == max(v.column_values)


@pytest.mark.parametrize("model", [*CLASSIFIERS, *REGRESSORS], ids=name)
def test_a_fitted_model_against_every_subset(model):
    regression = "Regressor" in name(model)
    X, y, Xv, yv, more, more_y = tables(5, regression=regression)
    fitted = clone(model).fit(more, more_y)
    task = "regression" if regression else "classification"
    v = value_cells(X, y, Xv, yv, method=Forest(fitted), task=task, progress=False)
    h = forest_utility(read_trees(fitted), X, y, Xv, yv, regression=regression)
    np.testing.assert_allclose(v.values, brute_force(h, 5, 3), rtol=0, atol=1e-12)
    assert v.exact and v.info["n_trees"] == len(read_trees(fitted))
    everything, columns = frozenset(range(5)), frozenset(range(3))
    assert v.total == pytest.approx(h(everything, columns) - v.info["baseline_utility"], abs=1e-12)
    stand_in = "whose leaves stand in for the boosted sum" in v.info["about"]["how"]
    assert stand_in == ("Boosting" in name(model))
    assert "what its row does to the splits is not valued" in v.info["about"]["meaning"]


def test_the_score_is_the_mean_probability_of_the_right_label():
    """Of a forest whose trees learn from all rows, as here."""
    _, _, Xv, yv, X, y = tables(n_valid=30)
    fitted = ExtraTreesClassifier(10, max_depth=4, random_state=0).fit(X, y)
    v = value_cells(X, y, Xv, yv, method=Forest(fitted), progress=False)
    probability = fitted.predict_proba(Xv)[np.arange(30), yv].mean()
    assert v.total + v.info["baseline_utility"] == pytest.approx(probability, abs=1e-12)


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
@pytest.mark.parametrize("weighted", [False, True])
def test_weights_of_validation_rows(scoring, weighted):
    X, y, Xv, yv, more, more_y = tables(4, n_valid=7)
    weights = np.arange(1.0, 8.0) if weighted else None
    fitted = DecisionTreeClassifier(**FEW).fit(more, more_y)
    v = value_cells(X, y, Xv, yv, method=Forest(fitted), scoring=scoring, valid_weight=weights)
    mass = np.ones(7) if weights is None else weights
    if scoring is not None:
        mass = mass / np.bincount(yv, mass, minlength=3)[yv]
    h = forest_utility(read_trees(fitted), X, y, Xv, yv, weights=mass)
    np.testing.assert_allclose(v.values, brute_force(h, 4, 3), rtol=0, atol=1e-12)


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.filterwarnings("ignore:baseline='zero' counts")
def test_from_zero_and_with_the_label(regression):
    X, y, Xv, yv, more, more_y = tables(4, regression=regression)
    kind = DecisionTreeRegressor if regression else DecisionTreeClassifier
    fitted = kind(**FEW).fit(more, more_y)
    task = "regression" if regression else "classification"
    for baseline in ("labels", "zero"):
        for label in (None, 3):
            options = {"baseline": baseline, "task": task, "include_label": label is not None}
            v = value_cells(X, y, Xv, yv, method=Forest(fitted), **options)
            asked = {"regression": regression, "baseline": baseline, "label": label}
            h = forest_utility(read_trees(fitted), X, y, Xv, yv, **asked)
            expected = brute_force(h, 4, 3 + (label is not None))
            np.testing.assert_allclose(v.values, expected, rtol=0, atol=1e-12)
            below = v.info.get("baseline_utility")
            assert ("less" in v.info["about"]["total"]) == (below is not None)
            score = h(frozenset(range(4)), frozenset(range(4 if label else 3)))
            assert v.total == pytest.approx(score - (below or 0.0), abs=1e-12)


def test_labels_that_training_never_shows():
    X, y, Xv, yv, more, more_y = tables(4)
    fitted = DecisionTreeClassifier(**FEW).fit(more, more_y)
    yv = np.array([9, *yv[1:]])
    with pytest.warns(UnseenLabelWarning, match="labels that training never shows"):
        v = value_cells(X, y, Xv, yv, method=Forest(fitted))
    h = forest_utility(read_trees(fitted), X, y, Xv, yv)
    np.testing.assert_allclose(v.values, brute_force(h, 4, 3), rtol=0, atol=1e-12)


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
    with pytest.warns(PrecisionWarning, match="stopped at max_trees=60"):
        v = value_cells(frame, y, method=Forest(max_trees=60, tolerance=1e-3), cv=2)
    assert v.column_names == ["size", "town", "pay", "new", "day", "same"]
    assert not v.exact and v.info["n_trees"] == 60
    assert not v.values[:, 5].any() and not v.stderr[:, 5].any()  # never varies
    assert v.column_values[:2].min() > 3 * abs(v.column_values[2:]).max()
    assert (v.stderr[:, :5] > 0).all()


def test_errors_are_those_of_a_mean_over_trees():
    """Forests with other seeds differ as their standard errors say; more trees differ less."""
    X, y, Xv, yv, *_ = tables(30, n_valid=20)
    method = Forest(max_trees=30, tolerance=0)
    runs = [value_cells(X, y, Xv, yv, method=method, random_state=s) for s in range(20)]
    spread = np.std([v.values for v in runs], axis=0, ddof=1)
    said = np.sqrt(np.mean([v.stderr**2 for v in runs], axis=0))
    assert 0.9 < np.sqrt((spread**2).mean() / (said**2).mean()) < 1.1
    assert v_total_error(runs) < 1.6
    long = value_cells(X, y, Xv, yv, method=method.but(max_trees=480))
    assert long.stderr.mean() == pytest.approx(said.mean() / 4, rel=0.15)
    until = value_cells(X, y, Xv, yv, method=Forest(tolerance=0.1))
    assert until.info["converged"] and until.info["ratio"] <= 0.1
    assert until.info["n_trees"] == until.history[-1][0]


def v_total_error(runs):
    """How far column sums spread, in their own standard errors."""
    sums = np.array([v.column_values for v in runs])
    said = np.sqrt(np.mean([v.column_stderr**2 for v in runs], axis=0))
    return (sums.std(axis=0, ddof=1) / said).max()


@pytest.mark.parametrize("model", [None, RandomForestClassifier(9, max_depth=4, random_state=1)])
def test_the_same_bits_for_any_number_of_threads(model):
    X, y, Xv, yv, *_ = tables(40, n_valid=20)
    method = Forest(model, max_trees=20, tolerance=0)
    first, *others = (
        value_cells(X, y, Xv, yv, method=method, n_jobs=jobs).values.tobytes() for jobs in (1, 2, 3)
    )
    assert others == [first, first]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:the 95 % interval of")
def test_payments_and_audits():
    X, y, Xv, yv, *_ = tables(30, n_valid=40)
    X = X + np.arange(30)[:, None] / 100  # no copies
    owners = [{"owner": "A", "row": "0-14"}, {"owner": "B", "row": "15-29"}]
    method = Forest(max_trees=40, tolerance=0)
    v = value_blocks(X, y, Xv, yv, owners=owners, method=method)
    assert v.info["parties"] == "cells"
    cells = value_cells(X, y, Xv, yv, method=method)
    np.testing.assert_allclose(
        v.owners["value"], [cells.values[:15].sum(), cells.values[15:].sum()], atol=1e-12
    )
    assert v.info["valid_parts"] > 1
    paid = v.payments(100.0)
    assert sum(paid["amount"]) == pytest.approx(100.0)
    assert (paid["low"] <= paid["amount"]).all() and (paid["amount"] <= paid["high"]).all()
    audit = audit_owners(X, y, Xv, yv, owners=owners, method=method)
    assert "A" in str(audit)
    blocks = value_blocks(X, y, Xv, yv, rows=["a", "b"] * 15, columns=[0, 0, 1], method=method)
    assert blocks.values.shape == (2, 2)
    assert blocks.total == pytest.approx(cells.total)


def test_replicates_without_validation_rows_use_the_same_trees():
    """Values are means over validation rows: those of two groups of them, weighted, give the whole."""
    X, y, Xv, yv, *_ = tables(20, n_valid=30)
    method = Forest(max_trees=15, tolerance=0)
    whole, *parts = (
        value_cells(X, y, Xv[k], yv[k], method=method).values
        for k in (slice(30), slice(10), slice(10, 30))
    )
    np.testing.assert_allclose(whole, parts[0] / 3 + 2 * parts[1] / 3, rtol=0, atol=1e-15)


@pytest.mark.parametrize("model", [None, *CLASSIFIERS, *REGRESSORS], ids=name)
@pytest.mark.parametrize(
    "options",
    [
        {"cv": 3},
        *(pytest.param(one, marks=pytest.mark.slow) for one in ({}, {"include_label": True})),
    ],
    ids=str,
)
def test_the_score_is_what_shapley_values_sum_to(model, options):
    """From the counts in the leaves, without the values."""
    regression = model in REGRESSORS
    X, y, Xv, yv, *_ = tables(40, n_valid=20, regression=regression)
    task = "regression" if regression else "classification"
    valuer = CellValuer(Forest(model, max_trees=4, tolerance=9), task=task, cv=2)
    data = (X, y) if "cv" in options else (X, y, Xv, yv)
    valuer.set_params(**options).fit(*data)
    expected = value_cells(X, y, Xv, yv, method=Forest(model, max_trees=4, tolerance=9), task=task)
    assert valuer.score(Xv, yv) == pytest.approx(expected.total, abs=1e-12)


def test_the_score_counts_classes_the_same():
    X, y, Xv, yv, *_ = tables(40, n_valid=20)
    model = DecisionTreeClassifier(**FEW).fit(X, y)
    options = {"method": Forest(model), "scoring": "balanced_accuracy"}
    valuer = CellValuer(semivalue="banzhaf", **options).fit(X, y, Xv, yv)
    expected = value_cells(X, y, Xv, yv, **options)
    assert valuer.score(Xv, yv) == pytest.approx(expected.total, abs=1e-12)


def test_a_model_that_cannot_be_fitted():
    X, y, *_ = tables(40)
    model = DecisionTreeClassifier(min_samples_leaf=-1)
    with pytest.raises(UtilityError, match=r"DecisionTree.* failed on 40 rows: .*min_samples_leaf"):
        value_cells(X, y, X, y, method=Forest(model))


def test_a_checkpoint_with_more_trees_than_the_model(tmp_path, monkeypatch):
    X, y, Xv, yv, *_ = tables(40, n_valid=20)
    model = RandomForestClassifier(9, max_depth=4, random_state=1).fit(X, y)
    path = tmp_path / "run"
    save = Checkpoint.save
    monkeypatch.setattr(Checkpoint, "save", lambda self, _count, arrays: save(self, 99, arrays))
    value_cells(X, y, Xv, yv, method=Forest(model), checkpoint=path)
    with pytest.raises(InputError, match=r"\(it has more trees than the model\): delete it"):
        value_cells(X, y, Xv, yv, method=Forest(model), checkpoint=path)


def test_a_model_by_name():
    X, y, Xv, yv, *_ = tables(40, n_valid=20)
    v = value_cells(X, y, Xv, yv, method=Forest("forest"))
    assert v.info["n_trees"] == 50 and not v.info["boosted"]


def test_a_fitted_model_has_seen_the_rows_of_the_folds():
    X, y, *_ = tables(40)
    model = DecisionTreeClassifier(**FEW).fit(X, y)
    with pytest.warns(InputWarning, match="may be among those that chose its splits"):
        value_cells(X, y, method=Forest(model), cv=2)


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
    X, y = other_columns(), [0, 0, 1, 1]
    with pytest.raises(InputError, match="scoring='f1' has no closed form for the leaves of trees"):
        value_cells(X, y, X, y, method="forest", scoring="f1")
    with pytest.raises(InputError, match="is not a scikit-learn estimator and not the name of a"):
        Forest("oak")
    with pytest.raises(InputError, match="max_trees=0 must be"):
        Forest(max_trees=0)


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
