"""1D-Shapley over single cells: values by definition, and trees grown on the filled table."""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.metrics import r2_score
from sklearn.tree import DecisionTreeClassifier

from model_oracles import tree_by_hand
from shapley2d import InputError, value_cells
from shapley2d._tables.convert import as_table
from shapley2d._tables.encoding import encode_tables
from shapley2d._tables.problem import make_problem
from shapley2d.exceptions import InputWarning
from shapley2d_paper.baselines.flat import Flat, FlatTree, stand_in
from tests.comparing import same_bits

from oracles import semivalue_weight

WINE = load_wine()
TABLES = WINE.data[::16, :3], WINE.target[::16], WINE.data[1::8, :3], WINE.target[1::8]
QUICK = Flat(max_draws=12, tolerance=0)
ONE_COLUMN = (  # in which no splits of different columns can tie
    np.array([[0.0], [1.3], [2.1], [2.6], [4.0], [4.4]]),
    np.array([0, 0, 1, 0, 1, 1]),
    np.array([[0.2], [0.9], [2.5], [3.0], [1.5]]),
    np.array([0, 0, 1, 1, 0]),
)


def utility_by_hand(X, y, X_valid, y_valid):
    """A function of the cells that are present, everything else being the mean of its column."""

    def utility(present):
        filled = np.tile(X.mean(axis=0), (len(X), 1))
        for i, j in present:
            filled[i, j] = X[i, j]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return DecisionTreeClassifier().fit(filled, y).score(X_valid, y_valid)

    return utility


def values_by_hand(utility, n, m, semivalue="shapley"):
    """The semivalue of every cell by the definition: a loop over all sets of the other cells."""
    cells = list(itertools.product(range(n), range(m)))
    known = {
        frozenset(c): utility(c)
        for size in range(n * m + 1)
        for c in itertools.combinations(cells, size)
    }
    values = np.zeros((n, m))
    for cell in cells:
        for others, worth in known.items():
            if cell not in others:
                weight = semivalue_weight(semivalue, len(others), n * m)
                values[cell] += weight * (known[others | {cell}] - worth)
    return values


def split_of(*tables, **options):
    (split,) = make_problem(*tables, **options).splits
    return split


@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 4.0, 1.0)])
def test_all_orders_of_cells_give_the_definition(semivalue):
    expected = values_by_hand(utility_by_hand(*ONE_COLUMN), 6, 1, semivalue)
    game = FlatTree(split_of(*ONE_COLUMN))
    orders = [game.values(np.array(order), semivalue) for order in itertools.permutations(range(6))]
    assert np.mean(orders, axis=0) == pytest.approx(expected, abs=1e-12)
    assert np.ptp(expected) > 0.03


def test_sampling_reaches_the_definition():
    expected = values_by_hand(utility_by_hand(*ONE_COLUMN), 6, 1)
    v = value_cells(*ONE_COLUMN, method=replace(QUICK, max_draws=3000))
    assert np.all(v.stderr > 0)
    assert np.all(np.abs(v.values - expected) < 4.5 * v.stderr)
    assert v.info["baseline_utility"] == 3 / 5
    assert v.values.sum() == pytest.approx(v.info["utility_all"] - 3 / 5)


@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 3))
def test_axioms(seed, n_classes):
    rng = np.random.default_rng(seed)
    X, X_valid = rng.integers(0, 5, size=(9, 3)) / 7, rng.integers(0, 5, size=(11, 3)) / 7
    X[:, 1] = 0.1  # whose mean is not 0.1 if it is summed carelessly
    y, y_valid = np.arange(9) % n_classes, rng.integers(0, n_classes, 11)
    v = value_cells(X, y, X_valid, y_valid, method=QUICK, random_state=seed)
    assert v.total == pytest.approx(v.info["utility_all"] - v.info["baseline_utility"], abs=1e-12)
    assert not v.values[:, 1].any()
    assert not v.stderr[:, 1].any()


def test_cross_valuation_sums_to_the_mean_over_the_folds():
    X, y = WINE.data[::6, :3], WINE.target[::6]
    v = value_cells(X, y, cv=3, method=QUICK)
    assert v.shape == (30, 3)
    assert v.info["folds"] == 3 and v.info["n_valid"] == 30
    assert v.total == pytest.approx(v.info["utility_all"] - v.info["baseline_utility"], abs=1e-12)
    splits = make_problem(X, y, cv=3).splits
    games = [FlatTree(split) for split in splits]
    assert v.info["utility_all"] == pytest.approx(np.mean([game.utility_all for game in games]))
    first = np.zeros((30, 3))
    for k, (game, split) in enumerate(zip(games, splits, strict=True)):
        random = np.random.default_rng(np.random.SeedSequence(0, spawn_key=(0, k)))
        order = random.permutation(len(split.rows) * 3)
        first[split.rows] += game.values(order, "shapley") / 3
    one = value_cells(X, y, cv=3, method=replace(QUICK, max_draws=1))
    assert one.values == pytest.approx(first, abs=1e-15)


def test_threads_change_nothing():
    method = replace(QUICK, max_draws=30)
    one, two = (value_cells(*TABLES, n_jobs=jobs, method=method) for jobs in (1, 2))
    assert same_bits(one, two)


def test_a_run_goes_on_from_its_checkpoint(tmp_path):
    half, whole = (replace(QUICK, max_draws=count) for count in (6, 12))
    value_cells(*TABLES, method=half, checkpoint=tmp_path / "kept.npz")
    resumed = value_cells(*TABLES, method=whole, checkpoint=tmp_path / "kept.npz")
    assert resumed.info["resumed_at"] == 6
    assert same_bits(resumed, value_cells(*TABLES, method=whole))


def test_missing_entries_are_worth_nothing():
    X, X_valid = TABLES[0].copy(), TABLES[2].copy()
    X[2, 1] = X[4, 0] = X_valid[0, 0] = np.nan
    X[:, 2] = np.nan
    method = replace(QUICK, max_draws=4)
    with pytest.warns(InputWarning, match="column 'x2' is empty throughout"):
        v = value_cells(X, TABLES[1], X_valid, TABLES[3], method=method)
    assert v.values[2, 1] == v.values[4, 0] == 0
    assert v.stderr[2, 1] == v.stderr[4, 0] == 0
    assert not v.values[:, 2].any()
    assert v.values.any()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"include_label": True}, "method='flat' cannot value the label"),
        ({"semivalue": ("shapley", "banzhaf")}, "rows and columns cannot differ in their semivalu"),
        ({"valid_weight": np.arange(1.0, 24)}, "valid_weight does not go with the baselines' tree"),
        ({"scoring": "f1_macro"}, "method='flat' takes no scoring: leave it out"),
    ],
)
def test_errors(changes, message):
    with pytest.raises(InputError, match=message):
        value_cells(*TABLES, method=QUICK, **changes)


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
    split = split_of(X[:n], y[:n], X[n:], y[n:])
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
def test_the_tree_is_grown_on_the_filled_table(n_classes, seed):
    split = mixed_split(seed, n_classes, n=12, T=16)
    order = random_order(split, seed)
    utilities = FlatTree(split).along(order)
    for k, (X, X_valid) in enumerate(filled_along(split, order)):
        if k % 3 == 0 or k == order.size:
            predictions = tree_by_hand(
                in_single_precision(X), split.y.codes, in_single_precision(X_valid), classifies=True
            )
            assert utilities[k] == pytest.approx(np.mean(predictions == split.y_valid.codes)), k


def test_the_regression_tree_is_grown_on_the_filled_table():
    rng = np.random.default_rng(5)
    # means of 8 small whole numbers are exact, so that splits tie in floats just where they do in
    # fractions
    X, y = rng.integers(0, 4, size=(20, 2)).astype(float), rng.integers(0, 30, 20).astype(float)
    split = split_of(X[:8], y[:8], X[8:], y[8:], task="regression")
    order = random_order(split, 0)
    game = FlatTree(split)
    utilities = game.along(order)
    for k, (part, X_valid) in enumerate(filled_along(split, order)):
        predictions = tree_by_hand(part, y[:8], X_valid, classifies=False)
        assert utilities[k] == pytest.approx(r2_score(y[8:], predictions)), k
    assert game.utility_all == pytest.approx(utilities[-1])
    assert game.baseline_utility == pytest.approx(utilities[0])


def test_labels_that_training_never_shows_are_never_right():
    X, y = np.array([[0.0], [1.0], [2.0], [5.0]]), ["a", "a", "b", "b"]
    with pytest.warns(match="labels that training never shows"):
        split = split_of(X, y, X, ["a", "b", "c", "b"])
    assert FlatTree(split).utility_all == 0.5


@pytest.mark.parametrize(
    ("items", "entry"),
    [
        ([1.0, None, 4.0, 2.5], 2.5),
        (["b", "a", "b", "a"], 0.0),  # of equally frequent ones the first by name
        ([True, None, True, False], 1.0),
        (
            np.array(["2024-01-01", "2024-01-04", "2024-01-02"], "datetime64[D]").tolist(),
            19724 + 1 / 3,
        ),
        ([0.1] * 3, 0.1),
    ],
)
def test_what_stands_in(items, entry):
    column = as_table(np.array([[item] for item in items], dtype=object)).columns[0]
    assert stand_in(column) == pytest.approx(entry, abs=1e-9)
