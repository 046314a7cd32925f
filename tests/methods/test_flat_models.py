"""Models in the game of all cells: each score is that of a model trained on the filled table."""

from __future__ import annotations

import pickle
from datetime import timedelta
from decimal import Decimal

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.metrics import r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from model_oracles import make_split, surely_and_maybe_right, tree_by_hand
from shapley2d import value_cells
from shapley2d._games.sweeps import sweep_game
from shapley2d._methods.flat.cells import flat_game
from shapley2d._methods.flat.fill import NativeCells, stand_in
from shapley2d._tables.convert import as_table
from shapley2d._tables.encoding import as_float32, encode_tables
from shapley2d._tables.problem import make_problem
from shapley2d._theory.coalitions import MaskCoalitions


def mixed_split(seed, n_classes=2, n=24, T=40):
    """Numbers, small integers, a category, a constant and a boolean, with missing entries."""
    rng = np.random.default_rng(seed)
    size = n + T
    X = pd.DataFrame({"a": rng.normal(size=size), "b": rng.normal(2, 3, size=size).round()})
    X["c"] = rng.choice(["red", "green", "blue"], size)
    X["d"] = 4.0
    signal = X["a"] + 0.3 * X["b"] + rng.normal(size=size)
    X["e"] = (signal + rng.normal(size=size) > 0).astype(object)
    for name in ("a", "e"):
        X.loc[
            [*rng.choice(n, 2, replace=False), *rng.choice(np.arange(n, size), 8, replace=False)],
            name,
        ] = None
    y = np.digitize(signal, np.quantile(signal, np.arange(1, n_classes) / n_classes))
    (split,) = make_problem(X[:n], y[:n], X[n:], y[n:]).splits
    assert [column.kind for column in split.train.columns][2:] == ["category", "number", "boolean"]
    return split


def encoded_by_hand(split):
    """Encoded tables without missing entries, owners, and the fill values: means or modes."""
    encoded = encode_tables(split.train, split.valid)
    absent = np.empty(encoded.owners.size)
    for j, column in enumerate(split.train.columns):
        width = np.flatnonzero(encoded.owners == j)
        if column.kind == "category":
            absent[width] = 0.0
            absent[width[np.argmax(encoded.train[:, width].sum(axis=0))]] = 1.0
        else:
            mean = np.nanmean(column.entries)
            absent[width] = mean > 0.5 if column.kind == "boolean" else mean
    train, valid = (np.where(np.isnan(x), absent, x) for x in (encoded.train, encoded.valid))
    return train, valid, encoded.owners, absent


def filled_along(split, order):
    """Training and validation data after each cell that joins, the empty table first."""
    train, valid, owners, absent = encoded_by_hand(split)
    present = np.zeros((split.train.n_rows, split.train.n_columns), dtype=bool)
    for player in [None, *order.tolist()]:
        if player is not None:
            present.flat[player] = True
        yield np.where(present[:, owners], train, absent), valid


def random_order(split, seed):
    return np.random.default_rng(seed).permutation(split.train.n_rows * split.train.n_columns)


def in_single_precision(X):
    return X.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize(("n_classes", "seed"), [(2, 0), (2, 1), (3, 2)])
def test_tree_is_grown_on_the_filled_table(n_classes, seed):
    split = mixed_split(seed, n_classes, n=12, T=16)
    order = random_order(split, seed)
    utilities = flat_game(split, model="tree").along(order)
    for k, (X, X_valid) in enumerate(filled_along(split, order)):
        if k % 3 == 0 or k == order.size:
            predictions = tree_by_hand(
                in_single_precision(X), split.y.codes, in_single_precision(X_valid), classifies=True
            )
            assert utilities[k] == pytest.approx(np.mean(predictions == split.y_valid.codes)), k


def test_regression_tree_is_grown_on_the_filled_table():
    rng = np.random.default_rng(5)
    # means of 8 small whole numbers are exact, so that splits tie in floats just where they do in
    # fractions
    X, y = rng.integers(0, 4, size=(20, 2)).astype(float), rng.integers(0, 30, 20).astype(float)
    (split,) = make_problem(X[:8], y[:8], X[8:], y[8:], task="regression").splits
    order = random_order(split, 0)
    game = flat_game(split, model="tree")
    utilities = game.along(order)
    for k, (part, X_valid) in enumerate(filled_along(split, order)):
        predictions = tree_by_hand(part, y[:8], X_valid, classifies=False)
        assert utilities[k] == pytest.approx(r2_score(y[8:], predictions)), k
    assert game.utility_all == pytest.approx(utilities[-1])
    assert game.baseline_utility == pytest.approx(utilities[0])


@pytest.mark.parametrize("regression", [False, True])
def test_tree_of_one_column_is_scikit_learns(regression):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 1))
    y = X[:, 0] + rng.normal(size=90)
    y = y if regression else (y > 0).astype(int)
    (split,) = make_problem(X[:50], y[:50], X[50:], y[50:]).splits
    order = random_order(split, 0)
    utilities = flat_game(split, model="tree").along(order)
    estimator = DecisionTreeRegressor() if regression else DecisionTreeClassifier()
    for k, (part, X_valid) in enumerate(filled_along(split, order)):
        assert utilities[k] == pytest.approx(estimator.fit(part, y[:50]).score(X_valid, y[50:])), k


@pytest.mark.parametrize("regression", [False, True])
def test_tree_is_that_of_the_sweep_on_a_larger_table(regression):
    split = make_split(7, 3, n=60, T=80, plain=True, regression=regression)
    order = random_order(split, 1)
    utilities = flat_game(split, model="tree").along(order)
    for k, (part, X_valid) in enumerate(filled_along(split, order)):
        if k % 9 == 0:
            (whole,) = make_problem(part, split.y.y, X_valid, split.y_valid.y).splits
            rows, columns = MaskCoalitions(np.ones((1, 60))), MaskCoalitions(np.ones((1, 3)))
            assert utilities[k] == pytest.approx(
                sweep_game("tree", whole, baseline="zero").utilities(rows, columns)[0, 0]
            ), k


@pytest.mark.parametrize(("n_classes", "seed"), [(2, 0), (3, 1), (4, 2)])
def test_naive_bayes_is_scikit_learns(n_classes, seed):
    split = mixed_split(seed, n_classes)
    order = random_order(split, seed)
    utilities = flat_game(split, model="gaussian_nb").along(order)
    points = ties = 0
    for k, (X, X_valid) in enumerate(filled_along(split, order)):
        if k < 2 or k % 4 == 0 or k == order.size:
            y, y_valid = split.y.y, split.y_valid.y
            if not np.ptp(X, axis=0).any():
                assert utilities[k] == np.mean(y_valid == split.y.classes[0])
                continue
            sure, maybe = surely_and_maybe_right(GaussianNB(), X, y, X_valid, y_valid)
            assert sure <= round(utilities[k] * len(y_valid)) <= sure + maybe, k
            points, ties = points + len(y_valid), ties + maybe
    assert ties < 0.1 * points


@pytest.mark.parametrize("name", ["tree", "gaussian_nb"])
def test_a_missing_boolean_of_the_validation_table_is_filled_as_one_of_training(name):
    X, X_valid = (
        pd.DataFrame({"on": [True, True, True, False, False]}),
        pd.DataFrame({"on": [None, True, False]}),
    )
    (split,) = make_problem(X, [0, 0, 0, 1, 1], X_valid, [0, 0, 1]).splits
    estimator = {"tree": DecisionTreeClassifier(), "gaussian_nb": GaussianNB()}[name]
    pipeline = make_pipeline(SimpleImputer(strategy="most_frequent"), estimator)
    for seed in range(4):
        order = random_order(split, seed)
        built_in, own = (flat_game(split, model=model).along(order) for model in (name, pipeline))
        assert np.array_equal(built_in, own)
    assert built_in[-1] == 1.0


def test_numbers_beyond_single_precision_are_the_last_within():
    X, y = np.array([[1e60, 1.0], [-1e60, 2.0], [3.0, 3.0], [1e38, 5.0]]), np.array([0, 1, 0, 1])
    largest = np.finfo(np.float32).max
    assert as_float32(X[:, 0]).tolist() == [largest, -largest, 3.0, np.float32(1e38)]
    assert as_float32(X.T).flags.c_contiguous and np.isnan(as_float32(np.array([np.nan]))).all()
    X[3, 0] = 1e58  # trees scale such columns, so that it is not the same as 1e60
    (split,) = make_problem(X, y, X, y).splits
    assert flat_game(split, model="tree").utility_all == 1.0
    rows, columns = MaskCoalitions(np.ones((1, 4))), MaskCoalitions([[1, 0]])
    assert sweep_game("tree", split).utilities(rows, columns) == 1.0


@pytest.mark.parametrize("model", ["tree", "gaussian_nb"])
def test_games_of_cells_are_no_games_of_rows_and_columns(model):
    assert not hasattr(flat_game(mixed_split(0), model=model), "utilities")


@pytest.mark.parametrize("model", ["tree", "gaussian_nb", GaussianNB()])
def test_a_game_may_be_asked_again_and_elsewhere(model):
    split = make_split(3, 2, n=10)
    game = flat_game(split, model=model)
    order = random_order(split, 0)[:20]
    first = game.along(order)
    game.along(order[::-1])
    assert np.array_equal(game.along(order), first)
    assert np.array_equal(pickle.loads(pickle.dumps(game)).along(order), first)


def test_labels_that_training_never_shows_are_never_right():
    X, y = np.array([[0.0], [1.0], [2.0], [5.0]]), ["a", "a", "b", "b"]
    with pytest.warns(match="labels that training never shows"):
        (split,) = make_problem(X, y, X, ["a", "b", "c", "b"]).splits
    for model in ("tree", "gaussian_nb", None):
        assert flat_game(split, model=model).utility_all == 0.5


@pytest.mark.parametrize(
    ("items", "entry", "row"),
    [
        ([1.0, None, 4.0, 2.5], 2.5, 3),
        (["b", "a", "b", "a"], 0.0, 1),  # of equally frequent ones the first by name
        ([True, None, True, False], 1.0, 0),
        (
            list(np.array(["2024-01-01", "2024-01-04", "2024-01-02"], "datetime64[D]").tolist()),
            19724 + 1 / 3,
            2,
        ),
        ([0.1] * 3, 0.1, 0),
    ],
)
def test_what_stands_in(items, entry, row):
    column = as_table(np.array([[item] for item in items], dtype=object)).columns[0]
    assert stand_in(column) == (pytest.approx(entry, abs=1e-9), row)


FRAME = {"size": [1, 2, 6], "tone": ["b", "a", "b"], "on": [False, True, True]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_keep_their_kind(make):
    cells = NativeCells(as_table(make(FRAME)))
    assert cells.matters().tolist() == [
        [True, False, True],
        [True, True, False],
        [True, False, False],
    ]
    present = np.array([[True, True, True], [False, False, True], [False, True, False]])
    filled = cells.filled(present)
    assert type(filled) is type(make(FRAME))
    assert {name: nw.from_native(filled)[name].to_list() for name in FRAME} == {
        "size": [1.0, 3.0, 3.0],
        "tone": ["b", "b", "b"],
        "on": [False, True, True],
    }


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table])
def test_missing_entries_stay_what_they_are(make):
    nan = float("nan")
    data = {
        "size": [1, None, 5],
        "part": [1.0, None, nan],
        "tone": ["b", None, "b"],
        "on": [None, True, True],
    }
    cells = NativeCells(as_table(make(data | {"none": [None] * 3})))
    everything = nw.from_native(cells.filled(np.ones((3, 5), dtype=bool)))
    assert repr({name: everything[name].to_list() for name in data}) == repr(
        data | {"size": [1.0, None, 5.0]}
    )
    nothing = nw.from_native(cells.filled(np.zeros((3, 5), dtype=bool)))
    assert {name: nothing[name][0] for name in nothing.columns} == {
        "size": 3.0, "part": 1.0, "tone": "b", "on": True, "none": None,
    }  # fmt: skip


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_without_an_entry_stay_so(make):
    frame = make({"size": np.arange(3.0), "gone": np.zeros(3)})
    frame = nw.from_native(frame).with_columns(gone=nw.lit(None, dtype=nw.Float64)).to_native()
    cells = NativeCells(as_table(frame))
    assert not cells.matters()[:, 1].any()
    filled = nw.from_native(cells.filled(np.zeros((3, 2), dtype=bool)))
    assert filled["gone"].null_count() == 3


def test_a_pipeline_that_fills_nulls_by_itself():
    frame = pl.DataFrame({"size": [1, None, 5, 6] * 3})
    pipeline = make_pipeline(
        FunctionTransformer(lambda part: part.fill_null(0.0).to_numpy()), GaussianNB()
    )
    y = [0, 0, 1, 1] * 3
    (split,) = make_problem(frame, y, frame, y).splits
    game = flat_game(split, model=pipeline, preprocess="none")
    zeros = frame.fill_null(0).to_numpy()
    assert game.utility_all == GaussianNB().fit(zeros, y).score(zeros, y)


DURATIONS = [timedelta(1), None, timedelta(5), timedelta(2)]
DECIMALS = [Decimal(1), None, Decimal(5), Decimal(2)]


@pytest.mark.parametrize(
    ("make", "items", "filled"),
    [
        (pd.DataFrame, np.array([1, None, 5, 2], dtype=object), 8 / 3),
        (pd.DataFrame, DECIMALS, Decimal(2)),
        (pd.DataFrame, DURATIONS, timedelta(2)),
        (pl.DataFrame, DECIMALS, Decimal(2)),
        (pl.DataFrame, DURATIONS, timedelta(2)),
        (pa.table, DECIMALS, Decimal(2)),
        (pa.table, DURATIONS, timedelta(2)),
    ],
)
def test_only_plain_numbers_are_averaged(make, items, filled):
    frame = make({"size": items, "rest": [1.0, 2.0, 3.0, 4.0]})
    cells = NativeCells(as_table(frame))
    before, after = (
        nw.from_native(table)["size"]
        for table in (frame, cells.filled(np.array([[1, 0], [1, 0], [0, 0], [1, 1]], dtype=bool)))
    )
    assert after.dtype == before.dtype
    assert after.is_null().to_list() == [False, True, False, False]
    assert after[0] == before[0] and after[2] == filled and after[3] == before[3]
    averaged = isinstance(filled, float)
    assert cells.matters()[:, 0].tolist() == [True, True, True, averaged]


@pytest.mark.parametrize(
    ("items", "filled"),
    [([1, None, 5, 2], 8 / 3), (DECIMALS, Decimal(2)), (DURATIONS, timedelta(2))],
)
def test_arrays_of_objects_keep_their_entries(items, filled):
    array = np.array([[item, "a"] for item in items], dtype=object)
    table = NativeCells(as_table(array)).filled(
        np.array([[1, 0], [1, 0], [0, 0], [1, 1]], dtype=bool)
    )
    assert table.dtype == object
    assert table[:, 0].tolist() == [items[0], None, filled, items[3]]


def test_the_mean_of_narrow_numbers_is_not_rounded():
    for kind in (np.int8, np.float32):
        array = np.array([[1], [2], [2]], dtype=kind)
        filled = NativeCells(as_table(array)).filled(np.array([[True], [False], [True]]))
        assert filled.dtype == np.float64 and filled.ravel().tolist() == [1.0, 5 / 3, 2.0]


@pytest.mark.parametrize("index", [["p", "q", "r"], [7, 7, 0]])
def test_pandas_keeps_its_index_and_missing_entries(index):
    frame = pd.DataFrame(
        {"size": [1.0, None, 5.0], "tone": pd.Categorical(["b", None, "b"])}, index=index
    )
    cells = NativeCells(as_table(frame))
    everything = cells.filled(np.ones((3, 2), dtype=bool))
    pd.testing.assert_frame_equal(everything, frame)
    nothing = cells.filled(np.zeros((3, 2), dtype=bool))
    assert nothing["size"].tolist() == [3.0] * 3 and nothing["tone"].tolist() == ["b"] * 3
    assert nothing.index.tolist() == index and nothing["tone"].dtype == "category"


def test_arrays_of_dates_take_the_nearest_entry():
    stamps = np.array([["2024-01-01"], ["2024-01-04"], ["2024-01-02"]], dtype="datetime64[D]")
    filled = NativeCells(as_table(stamps)).filled(np.zeros((3, 1), dtype=bool))
    assert filled.dtype == stamps.dtype and (filled == stamps[2]).all()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_a_pipeline_that_encodes_by_itself_gives_the_same_values(make):
    rng = np.random.default_rng(0)
    tones = np.array(["a", "b", "c"])
    data = {"size": rng.normal(size=40), "tone": tones[np.arange(40) % 3]}
    y = np.where(data["size"] + (data["tone"] == "b") > 0.2, "yes", "no")
    tables = [
        make({name: entries[part] for name, entries in data.items()})
        for part in (slice(8), slice(8, 40))
    ]
    options = {"method": "flat", "max_permutations": 2, "tolerance": 0, "progress": False}
    # the encoder sees all three tones in the validation table too; the tree of one seed is one tree
    encoder = make_column_transformer(
        ("passthrough", ["size"]), (OneHotEncoder(categories=[tones]), ["tone"]), sparse_threshold=0
    )
    pipeline = make_pipeline(encoder, GaussianNB())
    args = tables[0], y[:8], tables[1], y[8:]
    own = value_cells(*args, model=pipeline, preprocess="none", **options)
    ours = value_cells(*args, model=GaussianNB(), **options)
    assert own.values == pytest.approx(ours.values, abs=1e-12)
    assert own.values.any()
