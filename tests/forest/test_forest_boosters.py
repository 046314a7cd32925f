"""Models of LightGBM, XGBoost and CatBoost under ``method="forest"``: our leaf of every row is the library's."""

import json
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from shapley2d import Forest, value_cells
from shapley2d._tables.problem import make_problem
from shapley2d.exceptions import InputError, UtilityError

from boosted_tables import (
    TARGETS,
    by_category,
    fields,
    leaves,
    mixed,
    near_thresholds,
    read,
    tables_of_numbers,
    target,
    thresholds,
)
from forest_oracle import LOG, POISSON, SOFTMAX, SQUARED, Fitted, quantile, tables
from oracles import brute_force


class Library:
    """One library: small models of it, and the leaves that it tells of itself."""

    def __init__(self, name, prefix, small, by_category=None, one_leaf=None):
        self.name, self.prefix, self.small = name, prefix, small
        self.by_category, self.one_leaf = by_category, one_leaf

    @property
    def module(self):
        return import_module(self.name)

    def model(self, kind="two classes", forest="", **options):
        role = f"{forest}{'Regressor' if kind == 'numbers' else 'Classifier'}"
        return getattr(self.module, f"{self.prefix}{role}")(**{**self.small, **options})

    def fitted(self, kind, X, y, **options):
        return self.model(kind, **options).fit(X, y)

    def categorical(self, frame):
        """Options that let a model split on the categories of a frame."""
        return self.by_category

    def ours(self, ensemble):
        """Our leaves by the numbers of the library."""
        return leaves(ensemble)

    def numbered(self, ensemble):
        """Our leaves by number, from left to right; a tree is one for all of its outputs."""
        per_round = max(ensemble.model.outputs) + 1
        trees, found = ensemble.model.trees[::per_round], leaves(ensemble)[:, ::per_round]
        for t, tree in enumerate(trees):
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

    def check(self, model, ensemble, X):
        """Our leaf of every row in every tree is the library's."""
        np.testing.assert_array_equal(self.ours(ensemble), self.own(model, X))


def check_one_to_one(ours, own):
    """Leaves of either are the same leaves, by other numbers."""
    assert ours.shape == own.shape
    for one, other in zip(ours.T, own.T, strict=True):
        pairs = {*zip(one.tolist(), other.tolist(), strict=True)}
        assert len(pairs) == np.unique(one).size == np.unique(other).size


class LightGBM(Library):
    def check(self, model, ensemble, X):
        """Its numbers of leaves are not those of any order; what they add tells them apart."""
        check_one_to_one(leaves(ensemble), self.own(model, X))
        trees, raw = ensemble.model, ensemble.model.raw(ensemble.split.valid)
        found = np.zeros_like(raw)
        for at, leaf, k in zip(leaves(ensemble).T, trees.leaves, trees.outputs, strict=True):
            found[:, k] += leaf[at, 0]
        np.testing.assert_allclose(found, raw, rtol=1e-12, atol=1e-12 * abs(raw).max())

    def own(self, model, X):
        return np.reshape(
            getattr(model, "booster_", model).predict(X, pred_leaf=True), (len(X), -1)
        )

    def stages(self, model, X):
        rounds = range(1, model.booster_.current_iteration() + 1)
        return [model.predict(X, raw_score=True, num_iteration=k) for k in rounds]

    def start(self, model, kind, y):
        given = model.get_params()
        if not given.get("boost_from_average", True):
            return 0.0
        weights = np.array([(given["class_weight"] or {}).get(one, 1) for one in y])
        return LOSSES[kind].best(np.repeat(y, weights))

    def stopped_early(self, X, y):
        model = self.model(n_estimators=200)
        stop = self.module.early_stopping(3, verbose=False)
        model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], callbacks=[stop])
        return model, model.best_iteration_

    def booster(self, model):
        return model.booster_

    def untrained(self, X, y):
        data = self.module.Dataset(X, y)
        return [self.module.Booster({"verbose": -1, "objective": "binary"}, data)]


class XGBoost(Library):
    def own(self, model, X):
        if isinstance(model, self.module.Booster):
            return model.predict(self.module.DMatrix(X), pred_leaf=True)
        return np.asarray(model.apply(X)).reshape(X.shape[0], -1)

    def stages(self, model, X):
        rounds = range(1, model.get_booster().num_boosted_rounds() + 1)
        return [model.predict(X, output_margin=True, iteration_range=(0, k)) for k in rounds]

    def start(self, model, kind, y):
        first = np.array(model.intercept_, dtype=float)
        if kind == "two classes":
            return np.log(first / (1 - first))
        return np.log(first) if kind == "counts" else first

    def stopped_early(self, X, y):
        model = self.model(n_estimators=200, early_stopping_rounds=3)
        model.fit(X[:200], y[:200], eval_set=[(X[200:], y[200:])], verbose=False)
        return model, 3 * (model.best_iteration + 1)  # a tree for every class

    def booster(self, model):
        return model.get_booster()

    def untrained(self, X, y):
        data = self.module.DMatrix(X, y)
        return [self.module.train({}, data, num_boost_round=0), self.module.Booster()]


class CatBoost(Library):
    def categorical(self, frame):
        named = [name for name in ("town", "grade") if name in frame]
        return {"one_hot_max_size": 255, "cat_features": named}

    def ours(self, ensemble):
        return self.numbered(ensemble)

    def own(self, model, X):
        return model.calc_leaf_indexes(X)

    def check(self, model, ensemble, X):
        """The leaves are CatBoost's, and their saved values add up to its predictions.

        Symmetric trees have the same numbers. Those of other trees are not in their text, so that
        the numbers must be one to one.
        """
        ours, own = self.ours(ensemble), self.own(model, X)
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
            check_one_to_one(ours, own)
            values = [np.ravel(leaf_values(one)) for one in saved["trees"]]
        for line, numbers_of in zip(values, ours.T, strict=True):
            total += scale * line.reshape(-1, len(bias))[numbers_of]
        raw = np.reshape(model.predict(X, prediction_type="RawFormulaVal"), total.shape)
        np.testing.assert_allclose(total, raw, rtol=0, atol=1e-12 * max(1, abs(raw).max()))

    def stages(self, model, X):
        return model.staged_predict(X, prediction_type="RawFormulaVal")

    def start(self, model, kind, y):
        return model.get_scale_and_bias()[1]

    def stopped_early(self, X, y):
        model = self.model(iterations=200, learning_rate=0.5)
        model.fit(X[:200], y[:200], eval_set=(X[200:], y[200:]), early_stopping_rounds=3)
        return model, model.get_best_iteration() + 1


def leaf_values(node):
    """The values of the leaves of a nested tree, from left to right."""
    if "split" not in node:
        return [node["value"]]
    return leaf_values(node["left"]) + leaf_values(node["right"])


def case(library, *values, name=None):
    missing = find_spec(library.name) is None
    skip = pytest.mark.skipif(missing, reason=f"{library.name} is an extra: make test-boosting")
    return pytest.param(
        library, *values, marks=skip, id=name or "-".join([library.name, *map(str, values)])
    )


LIGHTGBM = LightGBM(
    "lightgbm",
    "LGBM",
    {"n_estimators": 4, "num_leaves": 9, "min_child_samples": 3, "verbose": -1, "n_jobs": 1},
    {"min_data_per_group": 1, "cat_smooth": 0.1},
    {"min_child_samples": 30},
)
SMALL = {"n_estimators": 4, "max_depth": 4, "n_jobs": 1}
XGBOOST = XGBoost("xgboost", "XGB", SMALL, {"enable_categorical": True}, {"gamma": 1e9})
QUIET = {"logging_level": "Silent", "allow_writing_files": False}
CATBOOST = CatBoost(
    "catboost", "CatBoost", {"iterations": 4, "depth": 4, "thread_count": 1, **QUIET}
)
ALL = pytest.mark.parametrize("library", [case(one) for one in (LIGHTGBM, XGBOOST, CATBOOST)])
TWO = pytest.mark.parametrize("library", [case(one) for one in (LIGHTGBM, XGBOOST)])
NUMBERS = {
    LIGHTGBM: [
        {},
        {"zero_as_missing": True},
        {"use_missing": False},
        {"boosting_type": "rf", "subsample": 0.6, "subsample_freq": 1},
        {"extra_trees": True, "max_bin": 7},
    ],
    XGBOOST: [
        {},
        {"missing": 0.0},
        {"missing": 0.1},
        {"forest": "RF", "subsample": 0.7},
        {"num_parallel_tree": 3},
        {"tree_method": "exact"},
        {"tree_method": "approx", "gamma": 0.3},
        {"grow_policy": "lossguide", "max_leaves": 6, "max_depth": 0},
    ],
    CATBOOST: [
        {"grow_policy": policy, "nan_mode": mode}
        for policy in ("SymmetricTree", "Depthwise", "Lossguide")
        for mode in ("Min", "Max")
    ],
}


@pytest.mark.parametrize("kind", TARGETS)
@pytest.mark.parametrize(
    ("library", "options"),
    [case(library, options) for library, several in NUMBERS.items() for options in several],
)
@given(tables_of_numbers())
@settings(max_examples=8)
def test_leaves_of_numbers_are_the_librarys(library, options, kind, table):
    random, X = table
    y = target(random, X, kind)
    if library is CATBOOST:  # it refuses constants alone
        assume((np.nanmax(X, axis=0) > np.nanmin(X, axis=0)).any())
    model = library.fitted(kind, X, y, **options)
    limits = thresholds(read(model, X, y, X), below=library is XGBOOST)
    at = near_thresholds(X, limits, random)[: len(X)]
    if library is CATBOOST:  # it refuses gaps in columns that had none
        at = np.where(np.isnan(X).any(axis=0), at, np.nan_to_num(at))
    ensemble = read(model, X, y, at)
    library.check(model, ensemble, at)
    assert ensemble.model.boosted == (
        options.get("boosting_type") != "rf" and "forest" not in options
    )


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.int8, bool])
@TWO
def test_leaves_of_other_types_are_the_librarys(library, kind):
    random = np.random.default_rng(0)
    X = random.integers(-100, 100, (200, 3))
    X = (X > 0) if kind is bool else (X * (2**20 if kind is np.int64 else 1)).astype(kind)
    y = ((X[:, 0] > 3) ^ (X[:, 1] > X[:, 2])).astype(int)
    large = {"num_leaves": 60} if library is LIGHTGBM else {"max_depth": 7}
    model = library.fitted("two classes", X, y, **large)
    # both take them as 32-bit numbers, which do not tell these apart
    at = X + random.integers(-20, 20, X.shape) if kind is np.int64 else X
    library.check(model, read(model, X, y, at), at)


@pytest.mark.parametrize(
    ("library", "options", "as_frame"),
    [
        *(
            case(LIGHTGBM, {"max_cat_to_onehot": k}, pd.DataFrame, name=f"lightgbm-{k}")
            for k in (1, 50)
        ),
        *(
            case(XGBOOST, {"max_cat_to_onehot": k}, kind, name=f"xgboost-{k}-{kind.__module__}")
            for k in (1, 100)
            for kind in (pd.DataFrame, pl.from_pandas)
        ),
        *(
            case(
                CATBOOST,
                {"grow_policy": policy, "depth": 6},
                pd.DataFrame,
                name=f"catboost-{policy}",
            )
            for policy in ("SymmetricTree", "Depthwise")
        ),
    ],
)
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=8)
def test_leaves_of_categories_are_the_librarys(library, options, as_frame, seed):
    random = np.random.default_rng(seed)
    frame, y = mixed(random, 300)
    options = {**library.categorical(frame), **options}
    if library is CATBOOST:
        frame["word"] = random.choice(["", "nan", "ü", "a b", "3", "0.5"], 300)
        options["cat_features"] = ["town", "grade", "new", "level", "word"]
    else:
        frame.loc[random.random(300) < 0.1, "town"] = None
    if as_frame is pl.from_pandas:
        frame["grade"] = frame["grade"].astype(str).astype("category")
    train, valid = frame[:200], frame[200:].copy()
    town = valid["town"].astype(object)
    if library is XGBOOST:  # it refuses towns that it was not fitted on
        town = town.where(town.isin({None, np.nan, *train["town"].dropna()}))
    else:
        town = town.where(random.random(100) < 0.8, "elsewhere")
    # another order of the categories, and not all of them
    valid["town"] = town if library is CATBOOST else pd.Categorical(town)
    train, valid = as_frame(train), as_frame(valid)
    model = library.fitted("two classes", train, y[:200], **options)
    ensemble = read(model, train, y[:200], valid)
    asked = {int(j) for tree in ensemble.model.trees for j in tree.feature[by_category(tree)]}
    assert len(asked) > (library is CATBOOST)
    library.check(model, ensemble, valid)


@pytest.mark.parametrize(
    ("library", "one_hot"), [case(LIGHTGBM, 4), case(XGBOOST, 1), case(XGBOOST, 100)]
)
def test_leaves_of_categories_by_number(library, one_hot):
    random = np.random.default_rng(0)
    X = np.column_stack([random.integers(0, 70, 400), random.normal(size=400)]).astype(float)
    y = (np.isin(X[:, 0], [1, 4, 33, 64]) | (X[:, 1] > 1)).astype(int)
    model = library.model(**library.by_category, max_cat_to_onehot=one_hot)
    unknown = [0, 1, 1.9, 4, 33, 33.5, 64, 200, np.nan]
    if library is LIGHTGBM:
        model.fit(X, y, categorical_feature=[0])
        unknown += [-3, -0.5, 1e10]
    else:
        X[random.random(400) < 0.1, 0] = np.nan
        model.set_params(feature_types=["c", "q"]).fit(X, y)
        unknown += [69, 5000]
    at = X.copy()
    at[:, 0] = random.choice(unknown, 400)
    ensemble = read(model, X, y, at)
    assert any(by_category(tree).any() for tree in ensemble.model.trees)
    library.check(model, ensemble, at)


@pytest.mark.filterwarnings("ignore:.*eval_set")  # deprecated in LightGBM 4.7
@ALL
def test_only_the_trees_up_to_the_best_round(library):
    random = np.random.default_rng(1)
    X = random.normal(size=(300, 3))
    cuts = [-0.5, 0.5] if library is XGBOOST else [0]
    y = np.searchsorted(cuts, X[:, 0] + random.normal(size=300))
    model, n_trees = library.stopped_early(X, y)
    ensemble = read(model, X, y, X)
    assert len(ensemble.model.trees) == n_trees < 190 * len(cuts)
    library.check(model, ensemble, X)
    if library is XGBOOST:  # the booster itself predicts by all of its trees
        expected = library.own(model.get_booster(), X)
        assert expected.shape[1] > n_trees
        library.check(model.get_booster(), read(model.get_booster(), X, y, X), X)


@TWO
def test_trees_of_one_leaf(library):
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    model = library.fitted("two classes", X, y, **library.one_leaf)
    assert not library.ours(read(model, X, y, X)).any()
    v = value_cells(X, y, X, y, method=Forest(model))
    assert not v.values.any() and v.exact


@pytest.mark.parametrize("library", [case(CATBOOST)])
def test_trees_of_one_leaf_that_has_null_for_its_splits(library):
    X = np.repeat([[16777214.0], [16777218.0], [np.nan]], [20, 20, 6], axis=0)
    X[::3] += 2.0
    y = np.arange(46) % 4
    model = library.fitted("four classes", X, y, random_seed=0, random_strength=50, iterations=30)
    ensemble = read(model, X, y, X)
    assert min(tree.n_nodes for tree in ensemble.model.trees) == 1
    library.check(model, ensemble, X)
    v = value_cells(X, y, X, y, method=Forest(model), progress=False)
    assert np.isfinite(v.values).all()


@pytest.mark.parametrize("library", [case(CATBOOST)])
def test_every_kind_of_category_is_written_as_catboost_writes_it(library):
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
        options = {"one_hot_max_size": 9, "cat_features": ["a"], "depth": 2}
        model = library.fitted("two classes", frame, y, **options)
        ensemble = read(model, frame, y, frame)
        assert any(by_category(tree).any() for tree in ensemble.model.trees)
        library.check(model, ensemble, frame)
    X = np.empty((90, 2), dtype=object)
    X[:, 0], X[:, 1] = kinds["text"], random.normal(size=90)
    y = (X[:, 0] == "x").astype(int)
    model = library.fitted("two classes", X, y, one_hot_max_size=9, cat_features=[0])
    library.check(model, read(model, X, y, X), X)


LOSSES = {
    "two classes": LOG, "three classes": SOFTMAX, "numbers": SQUARED, "counts": POISSON,
    "quantile": quantile(0.7),
}  # fmt: skip
TINY = {
    LIGHTGBM: {"n_estimators": 3, "num_leaves": 4, "min_child_samples": 1, "min_data_in_bin": 1,
               "min_child_weight": 0},
    XGBOOST: {"n_estimators": 3, "max_depth": 2, "min_child_weight": 0},
    CATBOOST: {"iterations": 3, "depth": 2, "random_seed": 0},
}  # fmt: skip
OWN = {
    LIGHTGBM: [
        ("two classes", {}),
        ("three classes", {}),
        ("numbers", {}),
        ("two classes", {"reg_lambda": 2.0}),
        ("two classes", {"reg_alpha": 0.05}),
        ("two classes", {"boost_from_average": False}),
        ("two classes", {"class_weight": {0: 1, 1: 3}}),
        ("two classes", {"scale_pos_weight": 3.0}),
        ("counts", {"objective": "poisson"}),
        ("quantile", {"objective": "quantile", "alpha": 0.7}),
    ],
    XGBOOST: [
        ("two classes", {}),
        ("three classes", {}),
        ("numbers", {}),
        ("numbers", {"reg_lambda": 0.0, "reg_alpha": 0.2}),
        ("two classes", {"scale_pos_weight": 3.0}),
        ("two classes", {"base_score": 0.3}),
        ("counts", {"objective": "count:poisson"}),
        ("quantile", {"objective": "reg:quantileerror", "quantile_alpha": 0.7}),
    ],
    CATBOOST: [
        ("two classes", {}),
        ("three classes", {}),
        ("numbers", {}),
        ("numbers", {"boost_from_average": False, "l2_leaf_reg": 0.5}),
        ("two classes", {"class_weights": [1, 3]}),
        ("two classes", {"boosting_type": "Ordered"}),
        ("two classes", {"leaf_estimation_iterations": 5}),
        ("counts", {"loss_function": "Poisson"}),
    ],
}


def small(kind, n=6, n_valid=6):
    regression = "classes" not in kind
    X, y, Xv, yv = tables(
        n, n_valid=n_valid, regression=regression, n_classes=3 if kind == "three classes" else 2
    )
    X, Xv = X + np.arange(n)[:, None] / 8, Xv + np.arange(n_valid)[:, None] / 8
    return (X, np.floor(abs(y)), Xv, np.floor(abs(yv))) if kind == "counts" else (X, y, Xv, yv)


def definition(library, kind, model, X, y, Xv):
    """A model by its definition, from what the library predicts after every round; and features."""
    ensemble, given = read(model, X, y, Xv), model.get_params()
    stages = [np.reshape(one, (len(y), -1)).astype(float) for one in library.stages(model, X)]
    positive = given.get("scale_pos_weight") or (given.get("class_weights") or [1, 1])[1]
    weights = {0: 1.0, 1: float(positive), **(given.get("class_weight") or {})}
    bags = None
    if "classes" in kind and weights[1] != 1:
        bags = [np.array([weights[one] for one in y])] * len(ensemble.model.trees)
    name, penalty = {
        LIGHTGBM: ("reg_lambda", 0.0), XGBOOST: ("reg_lambda", 1.0), CATBOOST: ("l2_leaf_reg", 3.0),
    }[library]  # fmt: skip
    penalty = penalty if given.get(name) is None else given[name]
    own = Fitted(
        LOSSES[kind], ensemble.model.trees, ensemble.train.T, y,
        np.reshape(library.start(model, kind, y), -1), stages,
        bags=bags, penalty=penalty, owners=ensemble.model.owners,
    )  # fmt: skip
    return own, ensemble.valid.T


def fitted_case(library, kind, options, n=6, n_valid=6):
    X, y, Xv, yv = small(kind, n, n_valid)
    role = kind if "classes" in kind else "numbers"
    model = library.fitted(role, X, y, **{**TINY[library], **options})
    task = "classification" if "classes" in kind else "regression"
    v = value_cells(X, y, Xv, yv, method=Forest(model), task=task, progress=False)
    own, features = definition(library, kind, model, X, y, Xv)
    return model, v, own, features, (X, y, Xv, yv)


@pytest.mark.parametrize(
    ("library", "kind", "options"),
    [case(library, *one) for library, several in OWN.items() for one in several],
)
def test_cells_are_those_of_the_definition(library, kind, options):
    """Brute force over all subsets of rows and columns; all cells sum to the model's own score."""
    model, v, own, features, (_, _, Xv, yv) = fitted_case(library, kind, options)
    exact = 1e-6 if library is XGBOOST else 1e-10  # it predicts in 32 bits
    expected = brute_force(own.utility(features, yv), 6, 3)
    np.testing.assert_allclose(v.values, expected, rtol=0, atol=exact)
    raw = np.reshape(list(library.stages(model, Xv))[-1], (6, -1)).astype(float)
    score = own.score(raw, yv)
    assert v.info["model_score"] == pytest.approx(score, abs=exact)
    left = (score - v.info["baseline_utility"]) * (1 - v.info["unexplained"])
    assert v.total == pytest.approx(left, abs=exact)
    assert abs(v.info["unexplained"]) < 1e-9 or "quantile" in kind


@pytest.mark.parametrize(
    ("library", "kind", "options"),
    [
        case(LIGHTGBM, "two classes", {"subsample": 0.8, "subsample_freq": 1}),
        case(LIGHTGBM, "numbers", {"subsample": 0.8, "subsample_freq": 1}),
        case(XGBOOST, "numbers", {"subsample": 0.8}),
        case(XGBOOST, "three classes", {"subsample": 0.8, "reg_alpha": 0.5}),
        case(CATBOOST, "quantile", {"loss_function": "Quantile:alpha=0.7"}),
    ],
)
def test_bagging_is_reported_and_nobodys(library, kind, options):
    more = {"iterations" if library is CATBOOST else "n_estimators": 10, **options}
    if library is LIGHTGBM:
        more |= {"min_child_samples": 3, "num_leaves": 6}
    _, v, own, features, (_, _, _, yv) = fitted_case(library, kind, more, 60, 40)
    exact = 1e-5 if library is XGBOOST else 1e-10
    np.testing.assert_allclose(v.values, own.values(features, yv), rtol=0, atol=exact)
    gain = own.score(own.predict(features), yv) - v.info["baseline_utility"]
    assert (1e-6 if "subsample" in options else 0) <= abs(v.info["unexplained"]) < 0.1
    assert v.total == pytest.approx(gain * (1 - v.info["unexplained"]), abs=exact)


@pytest.mark.parametrize("library", [case(LIGHTGBM), case(XGBOOST)])
def test_a_booster_is_its_wrapper(library):
    X, y, Xv, yv = small("two classes", 40, 20)
    model = library.fitted("two classes", X, y)
    wrapped, bare = (
        value_cells(X, y, Xv, yv, method=Forest(one)) for one in (model, library.booster(model))
    )
    np.testing.assert_array_equal(wrapped.values, bare.values)
    assert bare.info["about"]["how"].startswith(f"the 4 trees of {library.name}'s Booster")
    assert " at 0x" not in bare.info["model"]


@ALL
def test_an_unfitted_model_is_fitted_on_the_rows_that_train(library, capfd, tmp_path, monkeypatch):
    """Labels may be text, which XGBoost itself does not take; nothing is printed or written."""
    monkeypatch.chdir(tmp_path)
    frame, codes = mixed(0, 200)
    y = np.where(codes, "yes", "no")
    options = {**library.small, **library.categorical(frame), "random_state": 3}
    loud = options.keys() - QUIET.keys() - {"verbose"}
    model = type(library.model())(**{k: options[k] for k in loud})
    parts = (frame[:150], y[:150], frame[150:], y[150:])
    v = value_cells(*parts, method=Forest(model))
    assert capfd.readouterr().out == "" and not list(tmp_path.iterdir())
    known = codes if library is XGBOOST else y
    fitted = library.fitted("two classes", frame[:150], known[:150], **options)
    parts = (frame[:150], known[:150], frame[150:], known[150:])
    other = value_cells(*parts, method=Forest(fitted))
    np.testing.assert_array_equal(v.values, other.values)
    # text is encoded, and a column stays one player
    text = frame.astype({"town": str, "grade": str})
    plain = library.model()
    v = value_cells(text[:150], y[:150], text[150:], y[150:], method=Forest(plain))
    assert v.column_names == [*frame.columns] and v.column_values.argmax() in (0, 1)
    assert v.total > 0.05
    assert value_cells(text, y, method=Forest(plain), cv=3).values.shape == (200, 5)


@pytest.mark.parametrize("behind", [False, True])
@ALL
def test_the_call_of_a_fitted_model_names_it(library, behind):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model, y = library.model("numbers"), X.sum(axis=1)
    model = make_pipeline(StandardScaler(), model) if behind else model
    v = value_cells(X, y, X, y, method=Forest(clone(model).fit(X, y)))
    assert "model=model)" in v.info["call"]
    call = value_cells(X, y, X, y, method=Forest(model)).info["call"]
    # XGBoost shortens the text of an unfitted model, which is no code then
    assert {LIGHTGBM: "Regressor(", XGBOOST: "model=model)", CATBOOST: "model="}[library] in call


@ALL
def test_behind_an_encoder(library):
    frame, y = mixed(0, 200)
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=library is XGBOOST)
    steps = ColumnTransformer([("words", encoder, ["town", "grade"])], remainder="passthrough")
    steps = steps.set_output(transform="pandas") if library is LIGHTGBM else steps
    model = make_pipeline(steps, library.model()).fit(frame[:150], y[:150])
    tables = (frame[:150], y[:150], frame[150:], y[150:])
    made = model[:-1].transform(frame[150:])  # what a sparse matrix lacks is missing to XGBoost
    ensemble = fields(model, make_problem(*tables).splits[0])
    check_one_to_one(library.ours(ensemble), library.own(model[-1], made))
    v = value_cells(*tables, method=Forest(model))
    assert v.column_names == [*frame.columns] and v.info["boosted"]


def refused(error, message, X, y, model, **options):
    with pytest.raises(error, match=message):
        value_cells(X, y, X, y, method=Forest(model), **options)


@ALL
def test_tables_with_other_columns_are_refused(library):
    frame, y = mixed(0, 60)
    frame = frame[["a size", "level"]]
    model = library.fitted("two classes", frame, y)
    refused(InputError, "was fitted on 2 columns, but the table has 1", frame[["level"]], y, model)
    other = frame.rename(columns={"level": "floor"})
    refused(InputError, "was fitted on 'level' where the table has 'floor'", other, y, model)
    dates = frame.assign(level=pd.Timestamp("2024-01-01"))
    refused(InputError, "fitted on numbers, but column 'level' holds dates", dates, y, model)
    words = "is a classifier, but the task is regression"
    refused(InputError, words, frame, y * 1.5, model, task="regression")


@pytest.mark.parametrize(
    ("library", "options", "error", "message"),
    [
        case(LIGHTGBM, {}, InputError, "fitted on 2 categorical columns, but the table has 1"),
        case(LIGHTGBM, {"objective": "no such thing"}, UtilityError, "failed on 60 rows"),
        case(
            XGBOOST,
            {"booster": "gblinear", "max_depth": None},
            InputError,
            "has no trees: use booster='gbtree'",
        ),
        case(XGBOOST, {"booster": "dart"}, InputError, "boosted by DART, which leaves trees out"),
        case(LIGHTGBM, {"boosting_type": "dart"}, InputError, "boosted by DART, which leaves"),
        case(LIGHTGBM, {"linear_tree": True}, InputError, r"has linear leaves \(linear_tree\)"),
        case(
            CATBOOST,
            {"cat_features": ["town"]},
            InputError,
            "fit it with a one_hot_max_size of at least the number",
        ),
    ],
)
def test_models_that_cannot_be_read_are_refused(library, options, error, message):
    frame, y = mixed(0, 60)
    if error is UtilityError:
        refused(error, message, frame, y, library.model(**options))
        return
    table = frame if not options else frame[["a size", "town", "level"]]
    table = table[["a size", "level"]].fillna(0) if library is XGBOOST else table
    model = library.fitted("two classes", table, y, **options)
    refused(error, message, table if options else table.astype({"town": str}), y, model)


@pytest.mark.parametrize(
    ("library", "old", "new", "known"),
    [
        case(LIGHTGBM, '"v4"', '"v5"', r"lightgbm is 4\..*, and 4\.7 is known to work"),
        case(LIGHTGBM, '"threshold"', '"limit"', "is known to work"),
        case(XGBOOST, "left_children", "lefts", r"xgboost is \d.*, and 3\.2 is known to work"),
        case(CATBOOST, "oblivious_trees", "forest", r"catboost is \d.*, and 1\.2 is known to work"),
    ],
)
def test_a_version_that_keeps_its_trees_otherwise(library, old, new, known, monkeypatch):
    frame, y = mixed(0, 60)
    frame = frame[["a size", "level"]]
    model = library.fitted("two classes", frame, y)
    if library is LIGHTGBM:
        text = json.dumps(model.booster_.dump_model())
        changed = json.loads(text.replace(old, new))
        monkeypatch.setattr(library.module.Booster, "dump_model", lambda _self: changed)
    elif library is XGBOOST:
        text = bytes(model.get_booster().save_raw("json")).decode()
        changed = text.replace(old, new).encode()
        monkeypatch.setattr(library.module.Booster, "save_raw", lambda _self, _format: changed)
    else:
        save = library.module.CatBoost.save_model

        def save_changed(self, path, **options):
            save(self, path, **options)
            Path(path).write_text(Path(path).read_text().replace(old, new))

        text = old  # of all symmetric trees
        monkeypatch.setattr(library.module.CatBoost, "save_model", save_changed)
    assert old in text
    refused(InputError, known, frame, y, model)


@ALL
def test_losses_without_a_value_for_rows_are_refused(library):
    X, y, *_ = small("counts", 40)
    name = {LIGHTGBM: "LGBMRanker", XGBOOST: "XGBRanker", CATBOOST: "CatBoostRanker"}[library]
    ranker = getattr(library.module, name)(**library.small)
    grouped = {"group_id": np.repeat([0, 1], 20)} if library is CATBOOST else {"group": [20, 20]}
    ranker.fit(X, y, **grouped)
    huber = {
        LIGHTGBM: {"objective": "huber"}, XGBOOST: {"objective": "reg:pseudohubererror"},
        CATBOOST: {"loss_function": "Huber:delta=1.0"},
    }[library]  # fmt: skip
    for model in (ranker, library.fitted("numbers", X, y, **huber)):
        message = "was fitted by '.*', and the losses that can be valued are the squared error"
        refused(InputError, message, X, y, model, task="regression")


@ALL
def test_what_if_an_entry_were_another(library):
    """Rows that come later are seen by the same categories, and gaps are gaps."""
    frame, y = mixed(0, 90)
    train, valid = frame[:60], frame[60:]
    model = library.fitted("two classes", train, y[:60], **library.categorical(frame))
    v = value_cells(train, y[:60], valid, y[60:], method=Forest(model))
    own, features = definition(library, "two classes", model, train, y[:60], valid)
    unit = own.unit(y[60:], None)
    for changes in (
        {(3, "town"): "t5"},
        {(3, "a size"): -3.0, (7, "grade"): 9},
        {(5, "a size"): None},
    ):
        other = train.copy()
        for place, entry in changes.items():
            other.loc[place] = entry
        new = own.changed(read(model, train, y[:60], other).valid.T, y[:60])
        after = v.what_if(changes)
        found = np.zeros((60, 5))
        found[:, : max(own.owners) + 1] = new.values(features, y[60:], unit=unit)
        np.testing.assert_allclose(after.values, found, rtol=0, atol=1e-6)
        score = new.score(new.predict(features), y[60:], unit=unit)
        assert after.score == pytest.approx(score, abs=1e-6)


@TWO
def test_a_booster_without_trees(library):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 0] > 0).astype(int)
    for booster in library.untrained(X, y):
        message = f"model is a Booster of {library.name} without any trees: train"
        refused(InputError, message, X, y, booster)


@pytest.mark.parametrize("library", [case(CATBOOST)])
def test_rows_beside_catboosts_own_importance_of_objects(library):
    """What the page for its users says."""
    X, y = load_breast_cancer(return_X_y=True)
    random = np.random.default_rng(0)
    order = random.permutation(len(y))
    X, y = X[order], y[order]
    wrong = random.choice(400, 40, replace=False)
    noisy = y[:400].copy()
    noisy[wrong] = 1 - noisy[wrong]
    model = library.fitted("two classes", X[:400], noisy, iterations=50)
    pool = library.module.Pool
    pools = pool(X[400:], y[400:]), pool(X[:400], noisy)
    rows, scores = model.get_object_importance(*pools)
    theirs = np.empty(400)
    theirs[rows] = scores
    ours = value_cells(X[:400], noisy, X[400:], y[400:], method=Forest(model)).row_values
    assert spearmanr(theirs, ours).statistic == pytest.approx(-0.87, abs=0.02)
    is_wrong = np.isin(np.arange(400), wrong)
    assert average_precision_score(is_wrong, theirs) == pytest.approx(0.94, abs=0.02)
    assert average_precision_score(is_wrong, -ours) == pytest.approx(0.78, abs=0.02)
    # what it does not take, and we do
    for options in ({"loss_function": "MultiClass"}, {"grow_policy": "Depthwise"}):
        model = library.fitted("two classes", X[:400], noisy, **options)
        with pytest.raises(library.module.CatBoostError, match="not supported"):
            model.get_object_importance(*pools)
        v = value_cells(X[:400], noisy, X[400:], y[400:], method=Forest(model))
        assert v.exact and v.total > 0.2
