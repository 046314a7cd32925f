"""The label as a column: against brute force, and as a detector of flipped labels."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import roc_auc_score

from shapley2d import KNN, Exact, Valuation, value_cells, value_game
from shapley2d._models.games import FunctionGame, LabelGame
from shapley2d._tables.target import LABEL
from shapley2d._theory.semivalues import feature_semivalue, marginal_weights

from oracles import RandomGame, brute_force

SEMIVALUES = ["shapley", "banzhaf", ("beta", 4.0, 1.0), ("beta", 1.5, 3.0)]


def small(seed=0, n=5, m=2, task="classification"):
    random = np.random.default_rng(seed)
    X, X_valid = (
        random.integers(0, 3, (n, m)).astype(float),
        random.integers(0, 3, (8, m)).astype(float),
    )
    if task == "regression":
        return X, random.normal(size=n), X_valid, random.normal(size=8)
    return X, np.arange(n) % 2, X_valid, np.arange(8) % 2


@given(seed=st.integers(0, 1000))
def test_the_label_game_is_the_game_where_the_label_is_there(seed):
    game = RandomGame(2, 2, seed)

    def h(S, F):
        return game.of_sets(S, F - {2}) if 2 in F else 0.0

    wrapped = LabelGame(FunctionGame(game, 2, 2))
    np.testing.assert_allclose(value_game(wrapped, 2, 3).values, brute_force(h, 2, 3), atol=1e-12)


@pytest.mark.parametrize("semivalue", SEMIVALUES)
@pytest.mark.parametrize("m", [1, 2, 5])
def test_features_beside_the_label_have_a_semivalue_of_their_own(semivalue, m):
    factor, beside = feature_semivalue(semivalue)
    np.testing.assert_allclose(
        factor * marginal_weights(beside, m), marginal_weights(semivalue, m + 1)[1:]
    )


@pytest.mark.filterwarnings("ignore:baseline='zero' counts from a score of 0")
@pytest.mark.parametrize(("votes", "baseline"), [("share", "labels"), ("k", "labels"),
                                                 ("share", "zero"), ("k", "zero")])  # fmt: skip
@pytest.mark.parametrize("semivalue", SEMIVALUES[:3])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_knn_with_the_label_equals_all_coalitions_of_its_utility(semivalue, task, votes, baseline):
    data, knn = small(task=task), KNN(n_neighbors=2, metric="sqeuclidean", votes=votes)
    options = {"include_label": True, "semivalue": semivalue, "baseline": baseline}
    closed = value_cells(*data, method=knn, **options)
    alone = {"row_groups": range(5), "column_groups": ["x0", "x1"]}
    every = value_cells(*data, method=Exact(knn), **alone, **options)
    np.testing.assert_allclose(closed.values, every.values, atol=1e-12)
    assert closed.column_names == every.column_names == ["x0", "x1", LABEL]


def test_the_label_counts_as_a_vote_of_all_where_no_columns_tie():
    data, method = small(), KNN(n_neighbors=2)
    v = value_cells(*data, method=method, include_label=True)
    plain = value_cells(*data, method=method)
    zero = value_cells(*data, method=method, baseline="zero")
    vote = zero.total - plain.total  # what no columns are worth
    assert v.total == pytest.approx(zero.total) and vote > 0


@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf"])
def test_a_sample_of_coalitions_agrees_with_all_of_them(semivalue):
    random = np.random.default_rng(0)
    X, X_valid = random.normal(size=(30, 13)), random.normal(size=(40, 13))
    y, y_valid = (X[:, 0] > 0).astype(int), (X_valid[:, 0] > 0).astype(int)
    options = {"include_label": True, "semivalue": semivalue}
    exact = value_cells(X, y, X_valid, y_valid, method=KNN(subsets="all"), **options)
    sampled = value_cells(
        X, y, X_valid, y_valid, method=KNN(subsets="sampled", n_subsets=600), **options
    )
    off = np.abs(sampled.values - exact.values)
    assert (off <= 5 * sampled.stderr + 0.02 * np.ptp(exact.values)).all()
    assert exact.exact and sampled.stderr[:, -1].max() > 0


def test_the_label_column_bears_the_name_and_the_contents_of_the_target(tmp_path):
    X = pd.DataFrame({"age": [20, 30, 40, 50], "income": [1, 2, 3, 4]})
    y = pd.Series(["no", "no", "yes", "yes"], name="default")
    v = value_cells(X, y, X, y, method="exact", include_label=True)
    assert v.column_names == ["age", "income", "default"] and v.info["label"] == "default"
    assert v._contents[2] == ["no", "no", "yes", "yes"]
    v.save(tmp_path / "v.parquet")
    assert Valuation.load(tmp_path / "v.parquet")._contents[2] == v._contents[2]
    clash = y.rename("age")
    groups = {"row_groups": [0, 0, 1, 1], "column_groups": ["all columns"] * 2}
    v = value_cells(X, list(clash), X, list(y), include_label=True, **groups)
    assert v.column_names == ["all columns", LABEL]


def test_groups_of_labels():
    data, asked = small(n=12), {"method": Exact("knn"), "row_groups": [0] * 12}
    v = value_cells(*data, column_groups=["x", "x"], include_label=True, **asked)
    # labels without columns still predict by their shares, and columns without labels nothing
    columns_add = value_cells(*data, column_groups=["x", "x"], **asked).total
    assert v.column_names == ["x", LABEL]
    assert v.values[0].tolist() == pytest.approx([columns_add / 2, v.total - columns_add / 2])
    asked |= {"include_label": True, "baseline": "zero"}
    v = value_cells(*data, column_groups=["x", "x"], **asked)
    # neither is worth anything without the other, so they share alike
    assert v.values[0].tolist() == pytest.approx([v.total / 2] * 2)


def test_a_regression_label_is_a_number():
    v = value_cells(*small(task="regression"), method=KNN(n_neighbors=2), include_label=True)
    assert v._table.columns[2].kind == "number" and v._contents[2][0] == repr(
        float(small(task="regression")[1][0])
    )


def flipped(y, seed, share=0.1):
    random = np.random.default_rng(seed)
    rows = random.choice(y.size, round(share * y.size), replace=False)
    classes = np.unique(y)
    y = y.copy()
    for i in rows:
        y[i] = random.choice(classes[classes != y[i]])
    return y, np.isin(np.arange(y.size), rows)


@pytest.mark.parametrize(
    "load", [load_wine, pytest.param(load_breast_cancer, marks=pytest.mark.slow)]
)
def test_flipped_labels_are_the_lowest_cells_of_the_label_column(load):
    X, y = load(return_X_y=True)
    labels, injected = flipped(y, 0)
    # cross-valued: the labels that judge are as dirty as those that are judged
    v = value_cells(X, labels, method=KNN(subsets="sampled", n_subsets=100), include_label=True)
    assert roc_auc_score(injected, -v.values[:, -1]) >= 0.95
    # a flipped label is lower than all else in its row, and lower than the labels of other rows
    assert np.median(v.values[injected, -1]) < v.values[injected, :-1].min(axis=1).mean()
    assert np.median(v.values[injected, -1]) < 0 < np.median(v.values[~injected, -1])
