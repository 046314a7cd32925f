"""Pipelines that name their columns: under a coalition the columns outside it are taken out of their lists."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.ensemble import VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from shapley2d import Exact, InputError, MonteCarlo, value_cells
from shapley2d._models.pruning import prune_columns

from oracles import brute_force

NAMES = ["age", "town", "note", "pay"]


def frame(n=8, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.normal(40, 9, n),
            "town": np.array(["Ulm", "Bonn", "Kiel"])[np.arange(n) % 3],
            "note": np.array(["pays late", "pays well", "new here late"])[rng.integers(0, 3, n)],
            "pay": rng.normal(3, 1, n),
        }
    )


def lists(transformer):
    return [(name, columns) for name, _, columns in transformer.transformers]


@pytest.mark.parametrize(
    ("spec", "kept", "left"),
    [
        (["pay", "age"], [0, 1, 3], [2, 0]),
        (["pay", "age"], [1, 3], [1]),
        (["pay", "age"], [1, 2], None),
        ("pay", [1, 3], 1),
        ("pay", [1, 2], None),
        (-1, [0, 3], 1),
        ([3, 0], [0, 3], [1, 0]),
        ([True, False, False, True], [2, 3], [1]),
        (np.array([True, False, False, True]), [0], [0]),
        (slice("age", "note"), [1, 2, 3], [0, 1]),
        (slice(1, None), [0, 3], [1]),
        (slice(None), [1, 2], [0, 1]),
        (make_column_selector(dtype_include="number"), [0, 2], [0]),
        (make_column_selector(pattern="^n"), [2, 3], [0]),
        (lambda table: [table.columns[3]], [1, 3], [1]),
        (pd.Index(["town"]), [0, 1], [1]),
    ],
)
def test_lists_keep_what_is_there(spec, kept, left):
    model = ColumnTransformer([("part", StandardScaler(), spec)], remainder="passthrough")
    pruned = prune_columns(model, frame(), NAMES, np.array(kept))
    assert lists(pruned) == ([] if left is None else [("part", left)])
    assert model.transformers[0][2] is spec  # the user's own is left alone


def logistic(*transformers):
    return make_pipeline(ColumnTransformer([*transformers]), LogisticRegression())


def test_nothing_left_is_told():
    model = logistic(("n", StandardScaler(), ["age"]))
    assert prune_columns(model, frame(), NAMES, np.array([1, 2])) is None
    assert prune_columns(model, frame(), NAMES, np.array([0, 2])) is not None


def test_models_within_models_are_cut_too():
    inner = ColumnTransformer([("a", StandardScaler(), ["age"]), ("p", StandardScaler(), ["pay"])])
    outer = ColumnTransformer(
        [("numbers", make_pipeline(inner), ["pay", "age"]), ("t", OneHotEncoder(), ["town"])]
    )
    whole = make_pipeline(outer, LogisticRegression())
    pruned = prune_columns(whole, frame(), NAMES, np.array([0, 1]))
    assert lists(pruned[0]) == [("numbers", [0]), ("t", [1])]
    assert lists(pruned[0].transformers[0][1][0]) == [("a", [0])]
    union = FeatureUnion([("x", outer), ("y", ColumnTransformer([("n", StandardScaler(), ["pay"])]))],
                         transformer_weights={"x": 2.0, "y": 1.0})  # fmt: skip
    cut = prune_columns(union, frame(), NAMES, np.array([0]))
    assert cut.transformer_list[1] == ("y", "drop")
    assert lists(cut.transformer_list[0][1]) == [("numbers", [0])]
    left, right = (logistic(("n", StandardScaler(), [name])) for name in ("age", "pay"))
    both = VotingClassifier([("l", left), ("r", right)])
    vote = prune_columns(both, frame(), NAMES, np.array([3]))
    assert vote.estimators[0] == ("l", "drop") and lists(vote.estimators[1][1][0]) == [("n", [0])]
    calibrated = prune_columns(CalibratedClassifierCV(left), frame(), NAMES, np.array([0]))
    assert lists(calibrated.estimator[0]) == [("n", [0])]
    assert prune_columns(CalibratedClassifierCV(left), frame(), NAMES, np.array([1])) is None


def named_model():
    encode = ColumnTransformer(
        [
            ("numbers", StandardScaler(), ["age", "pay"]),
            ("towns", OneHotEncoder(handle_unknown="ignore"), ["town"]),
            ("words", CountVectorizer(), "note"),
        ]
    )
    return make_pipeline(encode, DecisionTreeClassifier(random_state=0))


def test_values_are_those_of_the_pipeline_without_the_columns():
    X, X_valid = frame(3), frame(10, seed=1)
    y, y_valid = np.array([0, 1, 0]), np.arange(10) % 2
    parts = {"age": StandardScaler(), "pay": StandardScaler(), "town": OneHotEncoder(handle_unknown="ignore"),
             "note": CountVectorizer()}  # fmt: skip
    known = {}

    def h(S, F):
        if (S, F) in known:
            return known[S, F]
        rows = sorted(S)
        names = [NAMES[j] for j in sorted(F) if X.iloc[rows, j].nunique() > 1]
        shares = np.bincount(y[rows], minlength=2)
        if not names or 0 in shares:
            most = np.flatnonzero(shares == shares.max())
            known[S, F] = float(np.mean([np.mean(y_valid == c) for c in most]))
            return known[S, F]
        numbers = [name for name in ("age", "pay") if name in names]
        order = ([("numbers", parts["age"], numbers)] if numbers else []) + [
            (name, parts[name], name if name == "note" else [name])
            for name in ("town", "note")
            if name in names
        ]
        model = make_pipeline(ColumnTransformer(order), DecisionTreeClassifier(random_state=0))
        model.fit(X.iloc[rows][names], y[rows])
        known[S, F] = model.score(X_valid[names], y_valid)
        return known[S, F]

    v, encoded = (
        value_cells(X, y, X_valid, y_valid, method=Exact(named_model(), how))
        for how in ("none", "auto")
    )
    np.testing.assert_allclose(v.values, brute_force(h, 3, 4), atol=1e-10)
    assert np.array_equal(encoded.values, v.values)


def test_a_column_that_the_pipeline_does_not_look_at_is_worth_nothing():
    X, y = frame(12), np.arange(12) % 2
    model = logistic(("n", StandardScaler(), ["age"]))
    sampled = MonteCarlo(max_draws=2, tolerance=0, model=model)
    for table in (X, pl.from_pandas(X)):
        v = value_cells(table, y, method=sampled, cv=2)
        np.testing.assert_array_equal(v.values[:, 1:], 0.0)
        groups = {"column_groups": ["a", "b", "b", "b"], "row_groups": [0] * 12}
        grouped = value_cells(table, y, method=Exact(model), cv=2, **groups)
        np.testing.assert_allclose(grouped.values[:, 1], 0.0, atol=1e-15)


def test_columns_that_are_not_there_are_named():
    X, y = frame(12), np.arange(12) % 2
    model = logistic(("n", StandardScaler(), ["age", "wage"]))
    told = "model names the column 'wage', which the table does not have: its columns"
    with pytest.raises(InputError, match=told):
        value_cells(X, y, method=MonteCarlo(model))
    model = logistic(("n", FunctionTransformer(), [7]))
    with pytest.raises(
        InputError, match="model takes the column at position 7, but the table has 4 columns"
    ):
        value_cells(X, y, method=MonteCarlo(model))
