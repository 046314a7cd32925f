"""Pipelines in front of a forest: a column of the table stays one player, however it is encoded."""

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from shapley2d import Forest, value_cells
from shapley2d._forest.pipelines import feature_owners, transform_table
from shapley2d._forest.read_sklearn import read_tree
from shapley2d._tables.convert import as_table
from shapley2d.exceptions import InputError, UtilityError

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


@pytest.mark.parametrize(
    "as_frame", [lambda frame: frame, pl.from_pandas], ids=["pandas", "polars"]
)
def test_all_dummies_of_a_column_are_one_player(as_frame):
    frame, y = tables()
    table = as_frame(frame)
    fitted = pipeline(DecisionTreeClassifier(max_depth=5, random_state=0)).fit(table, y)
    assert feature_owners(fitted, as_table(table)).tolist() == [1, 1, 1, 1, 2, 0]
    rows, held = np.arange(5), np.arange(40, 48)
    v = value_cells(
        as_frame(frame.iloc[rows]),
        y[rows],
        as_frame(frame.iloc[held]),
        y[held],
        method=Forest(fitted),
    )
    assert v.column_names == ["size", "town", "pay"]
    assert "DecisionTreeClassifier" in v.info["about"]["how"]
    made = np.asarray(transform_table(fitted, table), dtype=np.float32).astype(float)
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
    given = known if fitted else given
    v = value_cells(frame[train], y[train], frame[valid], y[valid], method=Forest(given))
    right = known.predict_proba(frame[valid])[np.arange(20), y[valid]].mean()
    assert v.exact and v.total + v.info["baseline_utility"] == pytest.approx(right, abs=1e-12)


def test_boosted_trees_behind_an_encoder():
    frame, _ = tables(200)
    y = frame["town"].isin(["Ulm", "Kiel"]).to_numpy().astype(int)
    model = pipeline(HistGradientBoostingClassifier(max_iter=3), sparse_output=False).fit(frame, y)
    v = value_cells(frame[:100], y[:100], frame[100:], y[100:], method=Forest(model))
    assert v.column_values[1] > 0.4 > 100 * abs(v.column_values[[0, 2]]).max() and v.info["boosted"]


def test_a_step_that_mixes_columns_is_refused():
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = (X[:, 0] > 0).astype(int)
    model = make_pipeline(PCA(2), DecisionTreeClassifier()).fit(X, y)
    with pytest.raises(
        InputError, match=r"^model makes a feature of several columns \('x0' and 'x1'\)"
    ):
        value_cells(X, y, X, y, method=Forest(model))


def test_a_feature_that_is_the_same_in_all_rows():
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = (X[:, 1] > 0).astype(int)
    ones = FunctionTransformer(lambda X: np.column_stack([np.ones(len(X)), X]))
    model = make_pipeline(ones, DecisionTreeClassifier()).fit(X, y)
    v = value_cells(X, y, X, y, method=Forest(model))
    assert v.column_values[0] == 0.0
    assert v.column_values[1] == pytest.approx(1 - v.info["baseline_utility"], abs=1e-12)


def test_a_pipeline_that_cannot_be_fitted():
    frame, y = tables()
    with pytest.raises(UtilityError, match="failed on 80 rows"):
        value_cells(frame, y, frame, y, method=Forest(make_pipeline(DecisionTreeClassifier())))
