"""Pipelines in front of a forest: a column of the table stays one player, however it is encoded."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_selection import SelectFromModel, SelectKBest
from sklearn.impute import KNNImputer, MissingIndicator, SimpleImputer
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from sklearn.tree import DecisionTreeClassifier

from shapley2d import Forest, value_cells
from shapley2d._forest.pipelines import feature_owners, transform_table
from shapley2d._forest.read_sklearn import read_tree
from shapley2d._tables.convert import as_table
from shapley2d.exceptions import InputError

from forest_oracle import forest_utility
from oracles import brute_force
from small_tables import mixed


def tables(n=80):
    frame, y = mixed(n)
    return frame[["size", "town", "pay"]].copy(), y


def pipeline(model, **encoder):
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    encode = OneHotEncoder(handle_unknown="ignore", **encoder)
    return make_pipeline(
        ColumnTransformer([("words", encode, ["town"]), ("numbers", numbers, ["pay", "size"])]),
        model,
    )


@pytest.mark.parametrize("towns", [["Ulm", "Bonn", "Kiel", "Jena"], ["Ulm", "Bonn"], ["Kiel"]])
@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_all_dummies_of_a_column_are_one_player(as_frame, towns):
    frame, y = tables()
    fitted = pipeline(DecisionTreeClassifier(max_depth=5, random_state=0)).fit(as_frame(frame), y)
    # some towns of the validation rows are not in the training rows, and one in none
    rows, held = np.flatnonzero(frame["town"].isin(towns))[:5], np.arange(40, 48)
    frame.loc[47, "town"] = "Rome"
    train, valid = (as_frame(frame.iloc[part]) for part in (rows, held))
    fitted[-1].fit(fitted[:-1].transform(train), y[rows])  # on the rows that are valued
    assert feature_owners(fitted, as_table(as_frame(frame))).tolist() == [1, 1, 1, 1, 2, 0]
    v = value_cells(train, y[rows], valid, y[held], method=Forest(fitted))
    assert v.column_names == ["size", "town", "pay"]
    assert "DecisionTreeClassifier" in v.info["about"]["how"]
    made = np.asarray(fitted[:-1].transform(as_frame(frame)), dtype=np.float32).astype(float)
    h = forest_utility(
        [read_tree(fitted[-1])], made[rows], y[rows], made[held], y[held], owners=[1, 1, 1, 1, 2, 0]
    )
    np.testing.assert_allclose(v.values, brute_force(h, 5, 3), rtol=0, atol=1e-12)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("fitted", [False, True])
def test_fitted_or_not(fitted, sparse):
    frame, y = tables()
    train, valid = slice(0, 60), slice(60, 80)
    given = pipeline(ExtraTreesClassifier(9, max_depth=5, random_state=0), sparse_output=sparse)
    known = clone(given).fit(frame[train], y[train])
    frame.loc[70:75, "town"] = "Rome"  # a town that the encoder does not know
    given = known if fitted else given
    v = value_cells(frame[train], y[train], frame[valid], y[valid], method=Forest(given))
    right = known.predict_proba(frame[valid])[np.arange(20), y[valid]].mean()
    assert v.exact and v.total + v.info["baseline_utility"] == pytest.approx(right, abs=1e-12)


def fitted_front(front, X):
    """A pipeline of these steps, and a tree that is of no interest."""
    y = np.arange(len(X)) % 2
    return make_pipeline(*front, DecisionTreeClassifier(max_depth=1)).fit(X, y)


def depends_on(model, X):
    """The columns that every feature depends on: each is changed alone, also to entries that it never had."""
    random, plain = np.random.default_rng(0), np.asarray(transform_table(model, X), dtype=float)
    found = [set() for _ in range(plain.shape[1])]
    for j, name in enumerate(X):
        for _ in range(4):
            changed = X.copy()
            others = random.permutation(X[name].to_numpy())
            if others.dtype == float:
                others += random.normal(size=len(X)) * (random.random(len(X)) < 0.5)
            changed[name] = others
            made = np.asarray(transform_table(model, changed), dtype=float)
            for f in np.flatnonzero(~np.isclose(made, plain, equal_nan=True).all(axis=0)):
                found[f].add(j)
    return found


def numbers():
    """Four columns of numbers: with gaps, sorted, 0 and 1 in turn, and constant."""
    X = np.random.default_rng(0).normal(size=(40, 4))
    X[::5, 0] = np.nan
    X[:, 1].sort()
    X[:, 2] = np.arange(40) % 2
    X[:, 3] = 5.0
    return pd.DataFrame(X, columns=list("abcd"))


def filled():
    return numbers().fillna(0.5)


def words():
    return mixed(40)[0].assign(same="x")[["town", "same", "size"]]


def as_pandas(step):
    return step.set_output(transform="pandas")


dummies = OneHotEncoder(sparse_output=False)
is_text = make_column_selector(dtype_exclude=float)


@pytest.mark.parametrize(
    ("front", "table", "owners"),
    [
        ([StandardScaler()], numbers, "0123"),
        ([StandardScaler(), "passthrough", as_pandas(MinMaxScaler()), None], numbers, "0123"),
        ([SimpleImputer(add_indicator=True)], numbers, "01230"),
        ([SimpleImputer()], lambda: numbers().assign(b=np.nan), "023"),
        ([MissingIndicator()], numbers, "0"),
        ([SplineTransformer(3, degree=1)], filled, "000111222333"),
        ([KBinsDiscretizer(2), StandardScaler(with_mean=False)], lambda: filled()[["b", "a"]], "0011"),
        ([SelectKBest(k=1)], lambda: numbers()[["b", "d"]].assign(d=np.arange(40) % 7), "0"),
        ([SelectFromModel(DecisionTreeClassifier(max_depth=1))], filled, "2"),
        ([FunctionTransformer(np.exp)], numbers, "0123"),
        ([FunctionTransformer(lambda X: X.iloc[:, ::-1])], filled, "3210"),
        ([FunctionTransformer(np.exp)], lambda: filled().iloc[[0, 0]], "0123"),
        ([FunctionTransformer(lambda X: np.column_stack([np.ones(len(X)), X]))], filled, "00123"),
        ([FeatureUnion([("a", PCA(1)), ("b", "passthrough"), ("c", "drop")])],
         lambda: numbers()[["b"]], "00"),
        ([FeatureUnion([("a", make_pipeline(MinMaxScaler(), StandardScaler())),
                        ("b", "passthrough"), ("c", "drop")])], filled, "01230123"),
        ([ColumnTransformer([("a", PCA(1), ["c"]), ("b", "drop", "d"), ("e", "passthrough", [0, -3])])],
         filled, "201"),
        ([ColumnTransformer([("a", MinMaxScaler(), slice("b", "c")), ("b", StandardScaler(), slice(3, 4))],
                            remainder=MinMaxScaler())], filled, "1230"),
        ([ColumnTransformer([("a", PolynomialFeatures(2), [False, True, False, False])],
                            remainder="passthrough")], filled, "111023"),
        ([ColumnTransformer([("a", dummies, is_text)], remainder="passthrough")], words, "000012"),
        ([as_pandas(ColumnTransformer([("a", dummies, is_text)], remainder="passthrough")),
          StandardScaler()], words, "000012"),
        ([ColumnTransformer([("a", make_pipeline(SimpleImputer(strategy="most_frequent"),
                                                 OneHotEncoder(drop="first")), ["town", "same"])],
                            sparse_threshold=1.0)], words, "000"),
        ([ColumnTransformer([("a", make_pipeline(dummies, PCA(2)), ["town"])],
                            remainder="passthrough"), SimpleImputer()], lambda: words().drop(columns="same"), "001"),
        ([ColumnTransformer([("a", TargetEncoder(), is_text)])], words, "01"),
        ([ColumnTransformer([("a", OrdinalEncoder(), ["same", "town"])])], words, "10"),
        ([FunctionTransformer(lambda X: X[["whole", "same"]].astype(float))],
         lambda: numbers()[["a"]].assign(same=5, whole=pd.array([1, None] * 20, "Int64")), "21"),
        ([OneHotEncoder(min_frequency=11, handle_unknown="infrequent_if_exist")],
         lambda: words()[["town", "same"]], "001"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Skipping features without any observed values")
def test_the_column_behind_every_feature(front, table, owners):
    X = table()
    model = fitted_front(front, X)
    found = feature_owners(model, as_table(X)).tolist()
    made = np.asarray(transform_table(model, X), dtype=float)
    varies = ~np.isclose(made, made[:1], equal_nan=True).all(axis=0)
    assert len(found) == len(owners)
    assert [j for j, one in zip(found, varies, strict=True) if one] == [
        int(j) for j, one in zip(owners, varies, strict=True) if one
    ]
    for owner, columns, one in zip(found, depends_on(model, X), varies, strict=True):
        assert columns <= {owner} or not one


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(2, 9), st.booleans())
@settings(max_examples=30, deadline=None)
def test_small_tables_of_few_entries(seed, n, m, sort):
    random = np.random.default_rng(seed)
    X = random.integers(0, 2, (n, m)).astype(float)
    X = np.sort(X, axis=0) if sort else X
    order = random.integers(0, m, 5)
    taken = FunctionTransformer(lambda X: 2.0 * np.asarray(X)[:, order])
    model = make_pipeline(StandardScaler(), taken, DecisionTreeClassifier()).fit(X, np.arange(n))
    assert feature_owners(model, as_table(X)).tolist() == order.tolist()


class Dummies(FunctionTransformer):
    """Dummies of text that do not say how they are named."""

    def __init__(self, towns=()):
        super().__init__(lambda X: np.column_stack([town == X for town in towns]).astype(float))
        self.towns = towns


@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_a_rare_category_of_a_step_without_names(as_frame):
    frame = pd.DataFrame({"one": ["Ulm", "Bonn"] * 1500, "two": ["Ulm"] * 3000})
    frame.loc[2345, "two"] = "Kiel"
    model = fitted_front([Dummies(["Ulm", "Kiel"])], as_frame(frame))
    assert feature_owners(model, as_table(as_frame(frame))).tolist() == [0, 1, 0, 1]


def sum_of_two(X):
    return np.column_stack([X, X[:, 0] + X[:, 2]])


@pytest.mark.parametrize(
    ("step", "columns"),
    [
        (PCA(2), "'x0' and 'x1'"),
        (FunctionTransformer(sum_of_two), "'x0' and 'x2'"),
        (Normalizer(), "'x0' and 'x1'"),  # although its features have the names of the columns
        (KNNImputer(), "'x0' and 'x1'"),  # although there are no gaps
        (PolynomialFeatures(2), "'x0' and 'x1'"),
    ],
)
def test_a_step_that_mixes_columns_is_refused(step, columns):
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = fitted_front([ColumnTransformer([("mix", step, [0, 1, 2])])], X)
    words = (
        rf"^model makes a feature of several columns \({columns}\) in its step 'columntransformer'"
    )
    with pytest.raises(InputError, match=words):
        value_cells(X, X[:, 0] > 0, X, X[:, 0] > 0, method=Forest(model))


def test_a_feature_that_varies_with_no_column_is_refused():
    X = np.random.default_rng(0).normal(size=(40, 3))
    count = FunctionTransformer(lambda X: np.column_stack([X, np.arange(len(X))]))
    with pytest.raises(InputError, match=r"^model: feature 3 of its step 'function.*' varies, but"):
        feature_owners(fitted_front([count], X), as_table(X))


def test_each_column_by_itself_in_skrub():
    skrub = pytest.importorskip("skrub", reason="skrub is not installed")
    frame = mixed(40)[0].assign(same="x", none=np.nan)[["none", "day", "same", "size", "town"]]
    vectorizer = skrub.TableVectorizer(datetime=skrub.DatetimeEncoder(resolution="month"))
    for front in ([vectorizer], [vectorizer, StandardScaler()], [skrub.Cleaner(), vectorizer]):
        model = fitted_front(front, frame)
        names = clone(vectorizer).fit(frame).get_feature_names_out()
        owners = [list(frame).index(name.split("_")[0]) for name in names]
        assert feature_owners(model, as_table(frame)).tolist() == owners


def test_a_step_that_refuses_the_table_is_named():
    frame, y = tables()
    model = pipeline(DecisionTreeClassifier()).set_params(
        columntransformer__words__handle_unknown="error"
    )
    model.fit(frame, y)
    odd = frame.assign(town="Rome")
    with pytest.raises(InputError, match=r"^model: its step 'columntransformer' failed .*Rome"):
        value_cells(frame, y, odd, y, method=Forest(model))
    with pytest.raises(InputError, match=r"^model: its step 'columntransformer' failed .*Rome"):
        value_cells(odd, y, frame, y, method=Forest(model))


def test_a_feature_that_is_the_same_in_all_rows():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 1] > 0).astype(int)
    ones = FunctionTransformer(lambda X: np.column_stack([np.ones(len(X)), X]))
    model = make_pipeline(ones, DecisionTreeClassifier()).fit(X, y)
    v = value_cells(X, y, X, y, method=Forest(model))
    assert v.column_values[0] == 0.0
    assert v.column_values[1] == pytest.approx(1 - v.info["baseline_utility"], abs=1e-12)
