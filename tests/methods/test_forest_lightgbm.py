"""LightGBM's models under ``method="forest"``: our leaf of every row is the library's."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from shapley2d import value_cells
from shapley2d._forest.ensemble import read_fitted
from shapley2d._tables.problem import make_problem
from shapley2d.exceptions import InputError, UtilityError

from boosted_tables import (
    TARGETS,
    check_what_if,
    leaves,
    mixed,
    near_thresholds,
    read,
    tables_of_numbers,
    target,
)
from forest_oracle import forest_utility
from oracles import brute_force

lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is an extra: make test-boosting")

SMALL = {"n_estimators": 4, "num_leaves": 9, "min_child_samples": 3, "verbose": -1, "n_jobs": 1}


def leaf_numbers(ensemble):
    """Our leaves by LightGBM's numbers: splits come first."""
    splits = np.array([(tree.left >= 0).sum() for tree in ensemble.trees])
    return leaves(ensemble) - splits


def thresholds(ensemble):
    found = {}
    for tree in ensemble.trees:
        for node in np.flatnonzero((tree.left >= 0) & (tree.categories < 0)):
            column = int(ensemble.features.owners[tree.feature[node]])
            found.setdefault(column, []).append(tree.threshold[node])
    return found


def fitted(kind, X, y, **options):
    wrapper = lightgbm.LGBMRegressor if kind == "numbers" else lightgbm.LGBMClassifier
    return wrapper(**{**SMALL, **options}).fit(X, y)


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"zero_as_missing": True},
        {"use_missing": False},
        {"boosting_type": "dart"},
        {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1},
        {"extra_trees": True, "max_bin": 7},
        {"linear_tree": True},
    ],
    ids=str,
)
@given(tables_of_numbers())
@settings(max_examples=6)
def test_leaves_of_numbers_are_the_librarys(kind, options, table):
    random, X = table
    y = target(random, X, kind)
    model = fitted(kind, X, y, **options)
    at = near_thresholds(X, thresholds(read(model, X, y, X)), random)[: len(X)]
    ensemble = read(model, X, y, at)
    expected = np.reshape(model.booster_.predict(at, pred_leaf=True), (len(at), -1))
    np.testing.assert_array_equal(leaf_numbers(ensemble), expected)
    assert ensemble.boosted == (options.get("boosting_type") != "rf")


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.int8, bool])
def test_leaves_of_other_types_are_the_librarys(kind):
    random = np.random.default_rng(0)
    X = random.integers(-100, 100, (200, 3))
    X = (X > 0) if kind is bool else (X * (2**20 if kind is np.int64 else 1)).astype(kind)
    y = ((X[:, 0] > 3) ^ (X[:, 1] > X[:, 2])).astype(int)
    model = fitted("two classes", X, y, num_leaves=60)
    at = X.copy()
    if kind is np.int64:  # LightGBM takes them as 32-bit numbers, which do not tell these apart
        at = at + random.integers(-20, 20, at.shape)
    expected = model.booster_.predict(at, pred_leaf=True)
    np.testing.assert_array_equal(leaf_numbers(read(model, X, y, at)), expected)


@pytest.mark.parametrize("one_hot", [1, 50])
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=8)
def test_leaves_of_categories_are_the_librarys(one_hot, seed):
    random = np.random.default_rng(seed)
    frame, score = mixed(random, 300)
    frame.loc[random.random(300) < 0.1, "town"] = None
    options = {"max_cat_to_onehot": one_hot, "min_data_per_group": 1, "cat_smooth": 0.1}
    model = fitted("two classes", frame[:200], (score > 0)[:200], **options)
    valid = frame[200:].copy()
    valid["town"] = pd.Categorical(
        valid["town"].astype(object).where(random.random(100) < 0.8, "elsewhere")
    )
    ensemble = read(model, frame[:200], (score > 0)[:200], valid)
    assert any((tree.categories >= 0).any() for tree in ensemble.trees)
    expected = model.booster_.predict(valid, pred_leaf=True)
    np.testing.assert_array_equal(leaf_numbers(ensemble), expected)


def test_leaves_of_categories_by_number():
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 70, 400), random.normal(size=400)])
    y = np.isin(X[:, 0], [1, 4, 33, 64]) | (X[:, 1] > 1)
    model = lightgbm.LGBMClassifier(**{**SMALL, "min_data_per_group": 1, "cat_smooth": 0.1})
    model.fit(X, y, categorical_feature=[0])
    at = X.copy()
    at[:, 0] = random.choice([-3, -0.5, 0, 1, 1.9, 4, 33, 33.5, 64, 200, 1e10, np.nan], 400)
    ensemble = read(model, X, y, at)
    assert any((tree.categories >= 0).any() for tree in ensemble.trees)
    expected = model.booster_.predict(at, pred_leaf=True)
    np.testing.assert_array_equal(leaf_numbers(ensemble), expected)


@pytest.mark.filterwarnings("ignore:.*eval_set")  # deprecated in 4.7, without another way in 4.6
def test_only_the_trees_up_to_the_best_round():
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 3))
    y = ((X[:, 0] + random.normal(size=300)) > 0).astype(int)
    model = lightgbm.LGBMClassifier(**{**SMALL, "n_estimators": 200})
    stop = lightgbm.early_stopping(3, verbose=False)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], callbacks=[stop])
    ensemble = read(model, X, y, X)
    assert len(ensemble.trees) == model.best_iteration_ < 190
    expected = model.predict(X, pred_leaf=True)
    np.testing.assert_array_equal(leaf_numbers(ensemble), expected)


def test_trees_of_one_leaf():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.arange(30) % 2
    model = fitted("two classes", X, y, min_child_samples=30)
    ensemble = read(model, X, y, X)
    assert not leaf_numbers(ensemble).any()
    v = value_cells(X, y, X, y, method="forest", model=model)
    assert not v.values.any() and v.exact


@pytest.mark.parametrize("as_booster", [False, True])
def test_cells_are_those_of_the_definition(as_booster):
    """Brute force over all subsets of rows and columns, one of them categorical."""
    random = np.random.default_rng(4)
    frame, score = mixed(random, 120)
    frame = frame[["a size", "town", "level"]]
    y = (score > 0).astype(int)
    options = {"min_data_per_group": 1, "cat_smooth": 0.1, "n_estimators": 3}
    model = fitted("two classes", frame, y, **options)
    rows, held = [*np.flatnonzero(y == 0)[:2], *np.flatnonzero(y == 1)[:2]], range(50, 58)
    train, valid = frame.iloc[rows], frame.iloc[held]
    model = model.booster_ if as_booster else model
    v = value_cells(train, y[rows], valid, y[held], method="forest", model=model)
    (split,) = make_problem(train, y[rows], valid, y[held]).splits
    ensemble = read_fitted(model, split)
    h = forest_utility(
        ensemble.trees,
        ensemble.features.train.T,
        y[rows],
        ensemble.features.valid.T,
        y[held],
        owners=ensemble.features.owners.tolist(),
    )
    np.testing.assert_allclose(v.values, brute_force(h, 4, 3), rtol=0, atol=1e-12)
    name = "lightgbm's Booster" if as_booster else "LGBMClassifier"
    assert v.info["about"]["how"].startswith(f"the 3 trees of {name}, whose leaves stand in")
    assert " at 0x" not in v.info["model"]


def test_an_unfitted_model_is_fitted_on_the_rows_that_train():
    random = np.random.default_rng(0)
    frame, score = mixed(random, 200)
    y = np.where(score > 0, "yes", "no")
    train, valid = slice(0, 150), slice(150, 200)
    model = lightgbm.LGBMClassifier(**SMALL, random_state=3)
    known = lightgbm.LGBMClassifier(**SMALL, random_state=3).fit(frame[train], y[train])
    options = {"method": "forest"}
    one, other = (
        value_cells(frame[train], y[train], frame[valid], y[valid], model=m, **options)
        for m in (model, known)
    )
    np.testing.assert_array_equal(one.values, other.values)
    # text is encoded, and a column stays one player
    text = frame.astype({"town": str, "grade": str})
    v = value_cells(text[train], y[train], text[valid], y[valid], model=model, **options)
    assert v.column_names == [*frame.columns] and v.column_values.argmax() in (0, 1)
    assert v.total > 0.05


def test_nothing_is_printed_where_a_model_is_fitted_here(capfd):
    X = np.random.default_rng(0).normal(size=(40, 2))
    options = {"n_estimators": 2, "min_child_samples": 3}
    value_cells(X, X[:, 0] > 0, method="forest", model=lightgbm.LGBMClassifier(**options), cv=2)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("behind", [False, True])
def test_the_call_of_a_fitted_model_names_it(behind):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = lightgbm.LGBMRegressor(**SMALL)
    model = make_pipeline(StandardScaler(), model) if behind else model
    y = X.sum(axis=1)
    for one, written in ((model, "Regressor("), (clone(model).fit(X, y), "model=model)")):
        v = value_cells(X, y, X, y, method="forest", model=one)
        assert written in v.info["call"]


def test_behind_an_encoder():
    random = np.random.default_rng(0)
    frame, score = mixed(random, 200)
    y = (score > 0).astype(int)
    encoder = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    steps = ColumnTransformer([("words", encoder, ["town", "grade"])], remainder="passthrough")
    model = make_pipeline(steps.set_output(transform="pandas"), lightgbm.LGBMClassifier(**SMALL))
    model.fit(frame[:150], y[:150])
    v = value_cells(frame[:150], y[:150], frame[150:], y[150:], method="forest", model=model)
    assert v.column_names == [*frame.columns] and v.info["boosted"]
    made = model[:-1].transform(frame[150:])
    plain = model[-1].booster_.predict(made, pred_leaf=True)
    (split,) = make_problem(frame[:150], y[:150], frame[150:], y[150:]).splits
    np.testing.assert_array_equal(leaf_numbers(read_fitted(model, split)), plain)


def frames():
    random = np.random.default_rng(0)
    frame, score = mixed(random, 60)
    return frame, (score > 0).astype(int)


def test_refusals():
    frame, y = frames()
    model = fitted("two classes", frame, y)
    options = {"method": "forest", "model": model}
    with pytest.raises(InputError, match="was fitted on 5 columns, but the table has 4"):
        value_cells(frame.iloc[:, :4], y, frame.iloc[:, :4], y, **options)
    other = frame.rename(columns={"level": "floor"})
    with pytest.raises(InputError, match="was fitted on 'level' where the table has 'floor'"):
        value_cells(other, y, other, y, **options)
    text = frame.astype({"town": str})
    with pytest.raises(
        InputError, match="was fitted on 2 categorical columns, but the table has 1"
    ):
        value_cells(text, y, text, y, **options)
    with pytest.raises(InputError, match="is a classifier, but the task is regression"):
        value_cells(frame, y * 1.5, frame, y * 1.5, task="regression", **options)
    dates = frame.assign(level=pd.Timestamp("2024-01-01"))
    with pytest.raises(InputError, match="fitted on numbers, but column 'level' holds dates"):
        value_cells(dates, y, dates, y, **options)
    wrong = lightgbm.LGBMClassifier(objective="no such thing", verbose=-1)
    with pytest.raises(UtilityError, match="failed on 60 rows"):
        value_cells(frame, y, frame, y, method="forest", model=wrong)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("version=v4", "version=v5"),
        ("threshold=", "limit="),
        ("end of trees", "fin"),
        ("left_child=1", "left_child=0"),
    ],
)
def test_a_version_that_keeps_its_trees_otherwise(old, new, monkeypatch):
    frame, y = frames()
    model = fitted("two classes", frame, y)
    text = model.booster_.model_to_string()
    assert old in text
    monkeypatch.setattr(lightgbm.Booster, "model_to_string", lambda _self: text.replace(old, new))
    with pytest.raises(InputError, match=r"lightgbm is 4\..*, and 4\.7 is known to work"):
        value_cells(frame, y, frame, y, method="forest", model=model)


def test_what_if_an_entry_were_another():
    frame, score = mixed(np.random.default_rng(0), 200)
    y = (score > 0).astype(int)
    model = fitted("two classes", frame, y, min_data_per_group=1, cat_smooth=0.1)
    check_what_if(frame[:150], y[:150], frame[150:], y[150:], model)


def test_a_booster_without_trees():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    booster = lightgbm.Booster({"verbose": -1, "objective": "binary"}, lightgbm.Dataset(X, y))
    with pytest.raises(InputError, match="model is a Booster of lightgbm without any trees: train"):
        value_cells(X, y, X, y, method="forest", model=booster)
