"""XGBoost's models under ``method="forest"``: our leaf of every row is the library's."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from shapley2d import value_blocks, value_cells
from shapley2d._forest.ensemble import read_fitted
from shapley2d._tables.problem import make_problem
from shapley2d.exceptions import InputError

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

xgboost = pytest.importorskip("xgboost", reason="XGBoost is a large extra: make test-boosting")

SMALL = {"n_estimators": 4, "max_depth": 4, "n_jobs": 1}


def fitted(kind, X, y, forest=False, **options):
    name = f"XGB{'RF' if forest else ''}{'Regressor' if kind == 'numbers' else 'Classifier'}"
    return getattr(xgboost, name)(**{**SMALL, **options}).fit(X, y)


def thresholds(ensemble):
    """The numbers that splits compare with: ours are at most, XGBoost's are less than."""
    found = {}
    for tree in ensemble.trees:
        for node in np.flatnonzero((tree.left >= 0) & (tree.categories < 0)):
            limit = np.nextafter(tree.threshold[node], np.inf)
            found.setdefault(int(tree.feature[node]), []).append(limit)
    return found


def own_leaves(model, X):
    return np.asarray(model.apply(X)).reshape(len(X), -1)


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"missing": 0.0},
        {"missing": 0.1},
        {"booster": "dart", "rate_drop": 0.5},
        {"forest": True, "subsample": 0.7},
        {"num_parallel_tree": 3},
        {"tree_method": "exact"},
        {"tree_method": "approx", "gamma": 0.3},
        {"grow_policy": "lossguide", "max_leaves": 6, "max_depth": 0},
        {"multi_strategy": "multi_output_tree"},
    ],
    ids=str,
)
@given(tables_of_numbers())
@settings(max_examples=12)
def test_leaves_of_numbers_are_the_librarys(kind, options, table):
    random, X = table
    y = target(random, X, kind)
    model = fitted(kind, X, y, **options)
    at = near_thresholds(X, thresholds(read(model, X, y, X)), random)[: len(X)]
    ensemble = read(model, X, y, at)
    np.testing.assert_array_equal(leaves(ensemble), own_leaves(model, at))
    assert ensemble.boosted == ("forest" not in options)


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.int8, bool])
def test_leaves_of_other_types_are_the_librarys(kind):
    random = np.random.default_rng(0)
    X = random.integers(-100, 100, (200, 3))
    X = (X > 0) if kind is bool else (X * (2**20 if kind is np.int64 else 1)).astype(kind)
    y = ((X[:, 0] > 3) ^ (X[:, 1] > X[:, 2])).astype(int)
    model = fitted("two classes", X, y, max_depth=7)
    at = X + random.integers(-20, 20, X.shape) if kind is np.int64 else X
    np.testing.assert_array_equal(leaves(read(model, X, y, at)), own_leaves(model, at))


@pytest.mark.parametrize("one_hot", [1, 100])
@pytest.mark.parametrize(
    "as_frame", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"]
)
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_leaves_of_categories_are_the_librarys(one_hot, as_frame, seed):
    random = np.random.default_rng(seed)
    frame, score = mixed(random, 300)
    y = (score > 0).astype(int)
    frame.loc[random.random(300) < 0.1, "town"] = None
    if as_frame is pl.from_pandas:
        frame["grade"] = frame["grade"].astype(str).astype("category")
    train, valid = frame[:200], frame[200:].copy()
    known = {None, np.nan, *train["town"].dropna()}  # XGBoost refuses others
    valid["town"] = valid["town"].where(valid["town"].isin(known))
    # another order of the categories, and not all of them
    valid["town"] = pd.Categorical(valid["town"].astype(object))
    options = {"max_cat_to_onehot": one_hot, "enable_categorical": True}
    model = fitted("two classes", as_frame(train), y[:200], **options)
    ensemble = read(model, as_frame(train), y[:200], as_frame(valid))
    assert any((tree.categories >= 0).any() for tree in ensemble.trees)
    np.testing.assert_array_equal(leaves(ensemble), own_leaves(model, as_frame(valid)))


def test_leaves_of_categories_by_number():
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 70, 400), random.normal(size=400)]).astype(float)
    X[random.random(400) < 0.1, 0] = np.nan
    y = (np.isin(X[:, 0], [1, 4, 33, 64]) | (X[:, 1] > 1)).astype(int)
    for one_hot in (1, 100):
        options = {"max_cat_to_onehot": one_hot, "enable_categorical": True}
        model = fitted("two classes", X, y, feature_types=["c", "q"], **options)
        at = X.copy()
        at[:, 0] = random.choice([0, 1, 1.9, 4, 33, 33.5, 64, 69, 200, 5000, np.nan], 400)
        ensemble = read(model, X, y, at)
        assert any((tree.categories >= 0).any() for tree in ensemble.trees)
        np.testing.assert_array_equal(leaves(ensemble), own_leaves(model, at))


def test_only_the_trees_up_to_the_best_round():
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 3))
    y = np.searchsorted([-0.5, 0.5], X[:, 0] + random.normal(size=300))
    model = xgboost.XGBClassifier(**{**SMALL, "n_estimators": 200}, early_stopping_rounds=3)
    model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
    ensemble = read(model, X, y, X)
    assert len(ensemble.trees) == 3 * (model.best_iteration + 1) < 570
    np.testing.assert_array_equal(leaves(ensemble), own_leaves(model, X))
    # the booster itself predicts by all of its trees
    booster = model.get_booster()
    ensemble = read(booster, X, y, X)
    expected = booster.predict(xgboost.DMatrix(X), pred_leaf=True)
    assert expected.shape[1] > 3 * (model.best_iteration + 1)
    np.testing.assert_array_equal(leaves(ensemble), expected)


def test_trees_of_one_leaf():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = np.arange(30) % 2
    model = fitted("two classes", X, y, gamma=1e9)
    assert not leaves(read(model, X, y, X)).any()
    assert not value_cells(X, y, X, y, method="forest", model=model).values.any()


@pytest.mark.parametrize("as_booster", [False, True])
def test_cells_are_those_of_the_definition(as_booster):
    random = np.random.default_rng(4)
    frame, score = mixed(random, 120)
    frame = frame[["a size", "town", "level"]]
    y = (score > 0).astype(int)
    model = fitted("two classes", frame, y, enable_categorical=True, n_estimators=3)
    rows, held = [*np.flatnonzero(y == 0)[:2], *np.flatnonzero(y == 1)[:2]], range(50, 58)
    train, valid = frame.iloc[rows], frame.iloc[held]
    model = model.get_booster() if as_booster else model
    v = value_cells(train, y[rows], valid, y[held], method="forest", model=model)
    (split,) = make_problem(train, y[rows], valid, y[held]).splits
    ensemble = read_fitted(model, split)
    parts = ensemble.features.train.T, y[rows], ensemble.features.valid.T, y[held]
    h = forest_utility(ensemble.trees, *parts)
    np.testing.assert_allclose(v.values, brute_force(h, 4, 3), rtol=0, atol=1e-12)
    name = "xgboost's Booster" if as_booster else "XGBClassifier"
    assert v.info["about"]["how"].startswith(f"the 3 trees of {name}, whose leaves stand in")
    assert " at 0x" not in v.info["model"]


def test_an_unfitted_model_is_fitted_on_the_rows_that_train():
    """Its labels may be text, which XGBoost itself does not take."""
    random = np.random.default_rng(0)
    frame, score = mixed(random, 200)
    codes = (score > 0).astype(int)
    y = np.where(codes, "yes", "no")
    train, valid = slice(0, 150), slice(150, 200)
    model = xgboost.XGBClassifier(**SMALL, enable_categorical=True, random_state=3)
    known = xgboost.XGBClassifier(**SMALL, enable_categorical=True, random_state=3)
    known.fit(frame[train], codes[train])
    one = value_cells(frame[train], y[train], frame[valid], y[valid], method="forest", model=model)
    other = value_cells(
        frame[train], codes[train], frame[valid], codes[valid], method="forest", model=known
    )
    np.testing.assert_array_equal(one.values, other.values)
    plain = xgboost.XGBClassifier(**SMALL)
    text = frame.astype({"town": str, "grade": str})
    v = value_cells(text[train], y[train], text[valid], y[valid], method="forest", model=plain)
    assert v.column_names == [*frame.columns] and v.total > 0.05
    folds = value_cells(text, y, method="forest", model=plain, cv=3)
    assert folds.values.shape == (200, 5)


@pytest.mark.parametrize("behind", [False, True])
def test_the_call_of_a_fitted_model_names_it(behind):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = xgboost.XGBRegressor(**SMALL)
    model = make_pipeline(StandardScaler(), model) if behind else model
    y = X.sum(axis=1)
    for one in (model, clone(model).fit(X, y)):  # unfitted, its text is shortened: no code
        v = value_cells(X, y, X, y, method="forest", model=one)
        assert "model=model)" in v.info["call"]


def test_behind_an_encoder():
    frame, score = mixed(np.random.default_rng(0), 200)
    y = (score > 0).astype(int)
    encoder = OneHotEncoder(handle_unknown="ignore")
    steps = make_column_transformer((encoder, ["town", "grade"]), remainder="passthrough")
    model = make_pipeline(steps, xgboost.XGBClassifier(**SMALL)).fit(frame[:150], y[:150])
    (split,) = make_problem(frame[:150], y[:150], frame[150:], y[150:]).splits
    made = model[:-1].transform(frame[150:])
    made = made.toarray() if hasattr(made, "toarray") else made
    np.testing.assert_array_equal(leaves(read_fitted(model, split)), own_leaves(model[-1], made))
    v = value_cells(frame[:150], y[:150], frame[150:], y[150:], method="forest", model=model)
    assert v.column_names == [*frame.columns] and v.info["boosted"]


def test_refusals(monkeypatch):
    frame, score = mixed(np.random.default_rng(0), 60)
    y = (score > 0).astype(int)
    frame = frame[["a size", "level"]]
    model = fitted("two classes", frame, y)
    with pytest.raises(InputError, match="was fitted on 2 columns, but the table has 1"):
        value_cells(frame[["level"]], y, frame[["level"]], y, method="forest", model=model)
    other = frame.rename(columns={"level": "floor"})
    with pytest.raises(InputError, match="was fitted on 'level' where the table has 'floor'"):
        value_cells(other, y, other, y, method="forest", model=model)
    linear = fitted("two classes", frame.fillna(0), y, booster="gblinear", max_depth=None)
    with pytest.raises(InputError, match="has no trees: use booster='gbtree' or 'dart'"):
        value_cells(frame, y, frame, y, method="forest", model=linear)
    raw = bytes(model.get_booster().save_raw("json")).replace(b"left_children", b"lefts")
    monkeypatch.setattr(xgboost.Booster, "save_raw", lambda _self, _format: raw)
    with pytest.raises(InputError, match=r"xgboost is \d.*, and 3\.2 is known to work"):
        value_cells(frame, y, frame, y, method="forest", model=model)


def test_what_if_an_entry_were_another():
    frame, score = mixed(np.random.default_rng(0), 200)
    y = (score > 0).astype(int)
    model = fitted("two classes", frame, y, enable_categorical=True)
    check_what_if(frame[:150], y[:150], frame[150:], y[150:], model)


def test_a_booster_without_trees():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    untrained = xgboost.train({}, xgboost.DMatrix(X, y), num_boost_round=0)
    for booster in (untrained, xgboost.Booster()):
        with pytest.raises(InputError, match="model is a Booster of xgboost without any trees"):
            value_cells(X, y, X, y, method="forest", model=booster)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("piped", [False, True])
def test_labels_of_text_are_worth_what_their_numbers_are(n_classes, piped):
    """XGBoost takes classes 0, 1, ... only, also where a subset of the rows lacks one of them."""
    rng = np.random.default_rng(n_classes)
    entries = rng.normal(size=(26, 2))
    cuts = np.quantile(entries[:, 0], np.arange(1, n_classes) / n_classes)
    codes = np.digitize(entries[:, 0], cuts)
    texts = np.array(["low", "middle", "top"])[codes]  # in the order of the alphabet
    model = xgboost.XGBClassifier(
        n_estimators=2, max_depth=2, min_child_weight=0, learning_rate=1.0, n_jobs=1
    )
    if piped:
        model = make_pipeline(StandardScaler(), model)
    asked = {
        "method": "mc",
        "model": model,
        "progress": False,
        "max_permutations": 2,
        "tolerance": 0,
    }
    cells = [
        value_cells(entries[:14], y[:14], entries[14:], y[14:], **asked) for y in (codes, texts)
    ]
    assert np.array_equal(cells[0].values, cells[1].values)
    assert np.abs(cells[0].values).max() > 0
    blocks = [value_blocks(entries, y, rows=np.arange(26) % 4, **asked) for y in (codes, texts)]
    assert np.array_equal(blocks[0].values, blocks[1].values)
    probability = value_cells(
        entries[:14], texts[:14], entries[14:], texts[14:], scoring="neg_log_loss", **asked
    )
    assert np.isfinite(probability.values).all()
