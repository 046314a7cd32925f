"""CatBoost's models under ``method="forest"``: our leaf of every row is the library's."""

import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from shapley2d import value_cells
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

catboost = pytest.importorskip("catboost", reason="CatBoost is a large extra: make test-boosting")

SMALL = {
    "iterations": 4,
    "depth": 4,
    "thread_count": 1,
    "logging_level": "Silent",
    "allow_writing_files": False,
}


def fitted(kind, X, y, **options):
    wrapper = catboost.CatBoostRegressor if kind == "numbers" else catboost.CatBoostClassifier
    return wrapper(**{**SMALL, **options}).fit(X, y)


def leaf_numbers(ensemble):
    """Our leaves by number, from left to right."""
    found = leaves(ensemble)
    for t, tree in enumerate(ensemble.trees):
        number, waiting, count = {}, [0], 0
        while waiting:
            node = waiting.pop()
            if tree.left[node] < 0:
                number[node] = count
                count += 1
            else:
                waiting += [tree.right[node], tree.left[node]]
        found[:, t] = [number[node] for node in found[:, t]]
    return found


def check_leaves(model, ensemble, X):
    """Ours are CatBoost's, and what CatBoost says of them adds up to its predictions.

    Symmetric trees have the same numbers. Those of other trees are not in their text, so that the
    numbers must be one to one.
    """
    ours, own = leaf_numbers(ensemble), model.calc_leaf_indexes(X)
    assert ours.shape == own.shape
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        saved = json.loads(path.read_text())
    scale, bias = saved["scale_and_bias"]
    total = np.zeros((len(X), len(bias))) + bias
    if "oblivious_trees" in saved:
        np.testing.assert_array_equal(ours, own)
        values = [np.array(one["leaf_values"]) for one in saved["oblivious_trees"]]
    else:
        for one, other in zip(ours.T, own.T, strict=True):
            pairs = {*zip(one.tolist(), other.tolist(), strict=True)}
            assert len(pairs) == np.unique(one).size == np.unique(other).size
        values = [np.ravel(leaf_values(one)) for one in saved["trees"]]
    for line, numbers_of in zip(values, ours.T, strict=True):
        total += scale * line.reshape(-1, len(bias))[numbers_of]
    raw = np.reshape(model.predict(X, prediction_type="RawFormulaVal"), total.shape)
    np.testing.assert_allclose(total, raw, rtol=0, atol=1e-12 * max(1, abs(raw).max()))


def leaf_values(node):
    """The values of the leaves of a nested tree, from left to right."""
    if "split" not in node:
        return [node["value"]]
    return leaf_values(node["left"]) + leaf_values(node["right"])


def thresholds(ensemble):
    found = {}
    for tree in ensemble.trees:
        for node in np.flatnonzero((tree.left >= 0) & (tree.categories < 0)):
            found.setdefault(int(tree.feature[node]), []).append(tree.threshold[node])
    return found


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise", "Lossguide"])
@pytest.mark.parametrize("nan_mode", ["Min", "Max"])
@given(tables_of_numbers())
@settings(max_examples=10)
def test_leaves_of_numbers_are_the_librarys(kind, policy, nan_mode, table):
    random, X = table
    assume((np.nanmax(X, axis=0) > np.nanmin(X, axis=0)).any())  # CatBoost refuses constants alone
    y = target(random, X, kind)
    gaps = np.isnan(X).any(axis=0)
    model = fitted(kind, X, y, grow_policy=policy, nan_mode=nan_mode)
    at = near_thresholds(X, thresholds(read(model, X, y, X)), random)[: len(X)]
    at[:, ~gaps] = np.nan_to_num(at[:, ~gaps])  # CatBoost refuses gaps that it has not seen
    ensemble = read(model, X, y, at)
    check_leaves(model, ensemble, at)
    assert ensemble.boosted


@pytest.mark.parametrize("policy", ["SymmetricTree", "Depthwise"])
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_leaves_of_categories_are_the_librarys(policy, seed):
    random = np.random.default_rng(seed)
    frame, score = mixed(random, 300)
    y = (score > 0).astype(int)
    frame["word"] = random.choice(["", "nan", "ü", "a b", "3", "0.5"], 300)
    names = ["town", "grade", "new", "level", "word"]
    model = fitted(
        "two classes",
        frame[:200],
        y[:200],
        grow_policy=policy,
        one_hot_max_size=255,
        cat_features=names,
        depth=6,
    )
    valid = frame[200:].copy()
    valid["town"] = valid["town"].astype(object).where(random.random(100) < 0.8, "elsewhere")
    ensemble = read(model, frame[:200], y[:200], valid)
    asked = {int(j) for tree in ensemble.trees for j in tree.feature[tree.categories >= 0]}
    assert len(asked) > 1
    check_leaves(model, ensemble, valid)


def test_trees_of_one_leaf():
    """CatBoost writes null for their splits."""
    X = np.repeat([[16777214.0], [16777218.0], [np.nan]], [20, 20, 6], axis=0)
    X[::3] += 2.0
    y = np.arange(46) % 4
    model = fitted("four classes", X, y, random_seed=0, random_strength=50, iterations=30)
    ensemble = read(model, X, y, X)
    assert min(tree.n_nodes for tree in ensemble.trees) == 1
    check_leaves(model, ensemble, X)
    v = value_cells(X, y, X, y, method="forest", model=model, progress=False)
    assert np.isfinite(v.values).all()


def test_every_kind_of_category_is_written_as_catboost_writes_it():
    """One column only, so that each tree must ask for it."""
    random = np.random.default_rng(0)
    kinds = {
        "text": random.choice(["x", "y", "z"], 90),
        "whole": random.choice([3, -7, 10**12], 90),
        "truth": random.random(90) < 0.5,
        "categories of numbers": pd.Categorical(random.choice([3, 7, 9], 90)),
        "categories of truth": pd.Categorical(random.random(90) < 0.5),
        "categories of text": pd.Categorical(random.choice(["x", "y", "nan"], 90)),
    }
    for column in kinds.values():
        frame = pd.DataFrame({"a": column, "b": 0.0})
        y = (frame["a"] == frame["a"].iloc[0]).astype(int).to_numpy()
        model = fitted("two classes", frame, y, one_hot_max_size=9, cat_features=["a"], depth=2)
        ensemble = read(model, frame, y, frame)
        assert any((tree.categories >= 0).any() for tree in ensemble.trees)
        np.testing.assert_array_equal(leaf_numbers(ensemble), model.calc_leaf_indexes(frame))


def test_an_array_of_objects():
    random = np.random.default_rng(0)
    X = np.empty((90, 2), dtype=object)
    X[:, 0], X[:, 1] = random.choice(["x", "y", "z"], 90), random.normal(size=90)
    y = (X[:, 0] == "x").astype(int)
    model = fitted("two classes", X, y, one_hot_max_size=9, cat_features=[0])
    ensemble = read(model, X, y, X)
    np.testing.assert_array_equal(leaf_numbers(ensemble), model.calc_leaf_indexes(X))


def test_only_the_trees_up_to_the_best_round():
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 3))
    y = ((X[:, 0] + random.normal(size=300)) > 0).astype(int)
    model = catboost.CatBoostClassifier(**{**SMALL, "iterations": 200}, learning_rate=0.5)
    model.fit(X[:200], y[:200], eval_set=(X[200:], y[200:]), early_stopping_rounds=3)
    ensemble = read(model, X, y, X)
    assert len(ensemble.trees) == model.get_best_iteration() + 1 < 190
    np.testing.assert_array_equal(leaf_numbers(ensemble), model.calc_leaf_indexes(X))


def test_cells_are_those_of_the_definition():
    random = np.random.default_rng(4)
    frame, score = mixed(random, 120)
    frame = frame[["a size", "town", "level"]]
    y = (score > 0).astype(int)
    options = {"one_hot_max_size": 255, "cat_features": ["town"], "iterations": 3}
    model = fitted("two classes", frame, y, **options)
    rows, held = [*np.flatnonzero(y == 0)[:2], *np.flatnonzero(y == 1)[:2]], range(50, 58)
    train, valid = frame.iloc[rows], frame.iloc[held]
    v = value_cells(train, y[rows], valid, y[held], method="forest", model=model)
    (split,) = make_problem(train, y[rows], valid, y[held]).splits
    ensemble = read_fitted(model, split)
    parts = ensemble.features.train.T, y[rows], ensemble.features.valid.T, y[held]
    h = forest_utility(ensemble.trees, *parts)
    np.testing.assert_allclose(v.values, brute_force(h, 4, 3), rtol=0, atol=1e-12)
    assert v.info["about"]["how"].startswith(
        "the 3 trees of CatBoostClassifier, whose leaves stand in"
    )


def test_an_unfitted_model_is_fitted_on_the_rows_that_train(capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame, score = mixed(np.random.default_rng(0), 200)
    y = np.where(score > 0, "yes", "no")
    train, valid = slice(0, 150), slice(150, 200)
    options = {"iterations": 4, "one_hot_max_size": 255, "cat_features": ["town", "grade"]}
    parts = frame[train], y[train], frame[valid], y[valid]
    model = catboost.CatBoostClassifier(**options)
    v = value_cells(*parts, method="forest", model=model)
    assert capfd.readouterr().out == "" and not list(tmp_path.iterdir())
    known = catboost.CatBoostClassifier(**options, allow_writing_files=False, silent=True)
    known.fit(frame[train], y[train])
    other = value_cells(*parts, method="forest", model=known)
    np.testing.assert_array_equal(v.values, other.values)
    # without names of columns the table is encoded
    plain = catboost.CatBoostClassifier(iterations=4)
    encoded = value_cells(*parts, method="forest", model=plain)
    assert encoded.column_names == [*frame.columns] and encoded.total > 0.05


@pytest.mark.parametrize("behind", [False, True])
def test_the_call_of_a_fitted_model_names_it(behind):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = catboost.CatBoostRegressor(**SMALL)
    model = make_pipeline(StandardScaler(), model) if behind else model
    y = X.sum(axis=1)
    v = value_cells(X, y, X, y, method="forest", model=clone(model).fit(X, y))
    assert "model=model)" in v.info["call"]
    assert value_cells(X, y, X, y, method="forest", model=model).info["call"]


def test_behind_an_encoder():
    frame, score = mixed(np.random.default_rng(0), 200)
    y = (score > 0).astype(int)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    steps = make_column_transformer((encoder, ["town", "grade"]), remainder="passthrough")
    model = make_pipeline(steps, catboost.CatBoostClassifier(**SMALL)).fit(frame[:150], y[:150])
    (split,) = make_problem(frame[:150], y[:150], frame[150:], y[150:]).splits
    expected = model[-1].calc_leaf_indexes(model[:-1].transform(frame[150:]))
    np.testing.assert_array_equal(leaf_numbers(read_fitted(model, split)), expected)
    v = value_cells(frame[:150], y[:150], frame[150:], y[150:], method="forest", model=model)
    assert v.column_names == [*frame.columns] and v.info["boosted"]


def test_refusals(monkeypatch):
    frame, score = mixed(np.random.default_rng(0), 60)
    y = (score > 0).astype(int)
    frame = frame[["a size", "town", "level"]]
    by_statistics = fitted("two classes", frame, y, cat_features=["town"])
    with pytest.raises(InputError, match="fit it with a one_hot_max_size of at least the number"):
        value_cells(frame, y, frame, y, method="forest", model=by_statistics)
    model = fitted("two classes", frame[["a size", "level"]], y)
    with pytest.raises(InputError, match="was fitted on 2 columns, but the table has 3"):
        value_cells(frame, y, frame, y, method="forest", model=model)
    other = frame[["level", "a size"]]
    with pytest.raises(InputError, match="was fitted on 'a size' where the table has 'level'"):
        value_cells(other, y, other, y, method="forest", model=model)
    changed = {"features_info": {"float_features": []}, "forest": []}
    monkeypatch.setattr("shapley2d._forest.read_catboost._saved", lambda *_: changed)
    numbers_only = frame[["a size", "level"]]
    with pytest.raises(InputError, match=r"catboost is \d.*, and 1\.2 is known to work"):
        value_cells(numbers_only, y, numbers_only, y, method="forest", model=model)


def test_rows_beside_catboosts_own_importance_of_objects():
    """What the page for its users says."""
    X, y = load_breast_cancer(return_X_y=True)
    random = np.random.default_rng(0)
    order = random.permutation(len(y))
    X, y = X[order], y[order]
    wrong = random.choice(400, 40, replace=False)
    noisy = y[:400].copy()
    noisy[wrong] = 1 - noisy[wrong]
    model = fitted("two classes", X[:400], noisy, iterations=50)
    pools = catboost.Pool(X[400:], y[400:]), catboost.Pool(X[:400], noisy)
    rows, scores = model.get_object_importance(*pools)
    theirs = np.empty(400)
    theirs[rows] = scores
    ours = value_cells(X[:400], noisy, X[400:], y[400:], method="forest", model=model).row_values
    assert spearmanr(theirs, ours).statistic == pytest.approx(-0.92, abs=0.02)
    is_wrong = np.isin(np.arange(400), wrong)
    assert average_precision_score(is_wrong, theirs) == pytest.approx(0.94, abs=0.02)
    assert average_precision_score(is_wrong, -ours) == pytest.approx(0.85, abs=0.02)
    # what it does not take, and we do
    for options in ({"loss_function": "MultiClass"}, {"grow_policy": "Depthwise"}):
        model = fitted("two classes", X[:400], noisy, **options)
        with pytest.raises(catboost.CatBoostError, match="not supported"):
            model.get_object_importance(*pools)
        v = value_cells(X[:400], noisy, X[400:], y[400:], method="forest", model=model)
        assert v.exact and v.total > 0.2


def test_what_if_an_entry_were_another():
    frame, score = mixed(np.random.default_rng(0), 200)
    y = (score > 0).astype(int)
    model = fitted("two classes", frame, y, one_hot_max_size=255, cat_features=["town", "grade"])
    check_what_if(frame[:150], y[:150], frame[150:], y[150:], model)
