"""What if: the score and the values after changed entries, against new runs whose splits are held."""

import pickle
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from shapley2d import Forest, Valuation, value_blocks, value_cells
from shapley2d.exceptions import InputError

from forest_oracle import forest_utility, plain_values
from oracles import brute_force
from small_tables import classes, mixed, numbers

EXACT = {"rtol": 0, "atol": 1e-12}


def tables(seed, n=60, *, regression=False, gaps=0.1):
    make = numbers if regression else partial(classes, names=("a", "b", "c"))
    return make(n, 4, seed, gaps=gaps)


def named(seed, n=80):
    """A frame with categories, a missing entry of each kind, and names of rows."""
    frame, y = mixed(n, seed)
    frame = frame[["size", "town", "pay"]].astype({"town": "category"})
    frame.iloc[3, 0], frame.iloc[5, 1] = np.nan, None
    return frame.set_axis([f"r{k}" for k in range(n)]), y


def random_edits(random, X, count, rows=None):
    """Some cells of an array, with new numbers or gaps."""
    rows = len(X) if rows is None else rows
    edits = {}
    for _ in range(count):
        i, j = int(random.integers(rows)), int(random.integers(X.shape[1]))
        edits[i, j] = None if random.random() < 0.2 else float(random.integers(-2, 10)) + 0.5
    return edits


def changed(X, edits):
    X = X.copy()
    for (i, j), entry in edits.items():
        X[i, j] = np.nan if entry is None else entry
    return X


def check(v, after, new):
    """A what-if against a new run with Shapley's weights, whose sum tells the score."""
    np.testing.assert_allclose(after.values, new.values, **EXACT)
    score = new.total + new.info.get("baseline_utility", 0.0)
    assert after.score == pytest.approx(score, abs=1e-12)
    old = v.total + v.info.get("baseline_utility", 0.0)
    assert after.change == pytest.approx(score - old, abs=1e-12)


@pytest.mark.parametrize(
    ("regression", "crossed", "labelled"),
    [(False, True, False), (True, False, True), (False, False, True)],
)
@pytest.mark.filterwarnings("ignore:model is fitted")
def test_random_edits_of_numbers(regression, crossed, labelled):
    X, y = tables(0, regression=regression)
    kind = RandomForestRegressor if regression else RandomForestClassifier
    model = kind(7, max_depth=4, random_state=1).fit(X, y)
    folds = [(np.arange(k, 60, 3), np.arange((k + 1) % 3, 60, 3)) for k in range(3)]
    given = {"cv": folds} if crossed else {"X_valid": X[40:], "y_valid": y[40:]}
    n = 60 if crossed else 40
    options = {"method": Forest(model), "include_label": labelled, **given}
    v = value_cells(X[:n], y[:n], **options)
    random = np.random.default_rng(2)
    for count in (1, 2, 30):
        edits = random_edits(random, X, count, n)
        after = v.what_if({(i, f"x{j}"): entry for (i, j), entry in edits.items()})
        new = value_cells(changed(X[:n], edits), y[:n], **options)
        assert not np.array_equal(new.values, v.values) or count == 1
        check(v, after, new)


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
@pytest.mark.filterwarnings("ignore:model is fitted")
def test_labels_too(scoring):
    X, y = tables(3)
    model = RandomForestClassifier(5, max_depth=4, random_state=1).fit(X, y)
    folds = [(np.arange(k, 60, 2), np.arange(1 - k, 60, 2)) for k in range(2)]
    weight = np.arange(1.0, 61.0)
    options = {"method": Forest(model), "cv": folds, "scoring": scoring}
    v = value_cells(X, y, valid_weight=weight, **options)
    edits, labels = {(4, 0): 6.5, (7, 2): None}, {4: "b" if y[4] != "b" else "a", 9: "c"}
    after = v.what_if(
        {
            **{(i, f"x{j}"): entry for (i, j), entry in edits.items()},
            **{(i, "(label)"): label for i, label in labels.items()},
        }
    )
    other = y.copy()
    other[list(labels)] = list(labels.values())
    check(v, after, value_cells(changed(X, edits), other, valid_weight=weight, **options))


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.filterwarnings("ignore:baseline='zero' counts")
def test_numbers_to_predict(labelled):
    X, y = tables(4, regression=True)
    model = RandomForestRegressor(5, max_depth=4, random_state=1).fit(X, y)
    for baseline in ("labels", "zero"):
        options = {"method": Forest(model), "baseline": baseline, "include_label": labelled}
        v = value_cells(X[:40], y[:40], X[40:], y[40:], **options)
        column = v.column_names[-1] if labelled else "(label)"
        after = v.what_if({(3, column): 40.0, (3, "x1"): 2})
        other, Y = y[:40].copy(), X[:40].copy()
        other[3], Y[3, 1] = 40.0, 2.0
        check(v, after, value_cells(Y, other, X[40:], y[40:], **options))


@pytest.mark.parametrize("semivalue", ["banzhaf", ("beta", 4, 1)])
def test_other_semivalues(semivalue):
    X, y = tables(5)
    model = RandomForestClassifier(5, max_depth=4, random_state=1).fit(X, y)
    given = (X[40:], y[40:])
    options = {"method": Forest(model)}
    v = value_cells(X[:40], y[:40], *given, semivalue=semivalue, **options)
    edits = {(2, 0): 7.5, (2, 1): None, (30, 3): 0.0}
    after = v.what_if({(i, f"x{j}"): entry for (i, j), entry in edits.items()})
    Y = changed(X[:40], edits)
    new = value_cells(Y, y[:40], *given, semivalue=semivalue, **options)
    np.testing.assert_allclose(after.values, new.values, **EXACT)
    plain = value_cells(Y, y[:40], *given, **options)
    score = plain.total + plain.info["baseline_utility"]
    assert after.score == pytest.approx(score, abs=1e-12)


def piped():
    before = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["town"]), remainder="passthrough"
    )
    return make_pipeline(before, RandomForestClassifier(6, max_depth=4, random_state=0))


def boosted():
    return HistGradientBoostingClassifier(
        max_iter=5, min_samples_leaf=4, categorical_features="from_dtype"
    )


@pytest.mark.parametrize("make", [piped, boosted])
def test_categories_gaps_and_labels_of_rows(make):
    frame, y = named(6)
    model = make().fit(frame, y)
    options = {"method": Forest(model)}
    v = value_cells(frame[:50], y[:50], frame[50:], y[50:], **options)
    for edits in (
        {("r3", "size"): 1.2},
        {("r7", "town"): "Bonn", ("r8", "size"): None},
        {("r9", "town"): None, ("r9", "pay"): 4, ("r10", "town"): "Lima"},
    ):
        other = frame[:50].copy()
        other["town"] = other["town"].cat.add_categories(["Lima"])
        for (row, column), entry in edits.items():
            other.loc[row, column] = entry
        check(v, v.what_if(edits), value_cells(other, y[:50], frame[50:], y[50:], **options))
    by_position = v.what_if({(7, "town"): "Bonn"})
    np.testing.assert_array_equal(by_position.values, v.what_if({("r7", "town"): "Bonn"}).values)
    assert v.what_if({("r1", "pay"): frame["pay"].iloc[1]}).change == 0


def test_a_grown_forest_keeps_its_trees_and_its_encoding():
    X, y = tables(7, n=40, gaps=0)
    codes = np.unique(y, return_inverse=True)[1]
    options = {"method": Forest(max_trees=6, tolerance=0), "cv": 2}
    v = value_cells(X, y, **options)
    edits = {(4, 0): 7.5, (11, 2): 0.0}
    after = v.what_if({(i, f"x{j}"): entry for (i, j), entry in edits.items()})
    Y, expected = changed(X, edits), np.zeros(X.shape)
    problem = v._held._problem
    for split, held in zip(problem.splits, v._held._splits, strict=True):
        rows, valid = split.rows, split.valid_rows
        assert len(held.grow()) == 6 and not set(rows) & set(valid)
        expected[rows] += 0.5 * plain_values(
            held.grow(), Y[rows], codes[rows], Y[valid], codes[valid]
        )
    np.testing.assert_allclose(after.values, expected, **EXACT)
    # trees that a checkpoint or a worker has grown are grown again
    other = value_cells(X, y, **options)
    for split in other._held._splits:
        split.grow.func.__self__._grown.clear()
    np.testing.assert_array_equal(
        other.what_if({(4, "x0"): 7.5}).values, v.what_if({(4, "x0"): 7.5}).values
    )


def test_against_every_subset():
    X, y = tables(8, n=30)
    y[:3] = ["a", "b", "c"]
    model = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, y)
    v = value_cells(X[:5], y[:5], X[5:12], y[5:12], method=Forest(model))
    after = v.what_if({(1, "x0"): 7.0, (3, "x2"): None})
    Y = changed(X[:5], {(1, 0): 7.0, (3, 2): None})
    trees = v._held._splits[0].grow()
    h = forest_utility(trees, Y, y[:5], X[5:12], y[5:12])
    np.testing.assert_allclose(after.values, brute_force(h, 5, 4), **EXACT)
    assert after.score == pytest.approx(h(frozenset(range(5)), frozenset(range(4))), abs=1e-12)


def test_deep_leaves_take_the_same_orders():
    random = np.random.default_rng(0)
    X = random.normal(size=(160, 20))
    y = (X[:, 0] + random.normal(size=160) > 0).astype(int)
    model = ExtraTreesClassifier(4, max_features=1, random_state=0).fit(X, y)
    options = {"method": Forest(model, max_rounds=10, tolerance=0)}
    v = value_cells(X[:120], y[:120], X[120:], y[120:], **options)
    assert v.info["exact_share"] < 1
    Y = changed(X[:120], {(5, 0): -X[5, 0], (8, 3): 2.0})
    after = v.what_if({(5, "x0"): -X[5, 0], (8, "x3"): 2.0})
    check(v, after, value_cells(Y, y[:120], X[120:], y[120:], **options))


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])
@pytest.mark.filterwarnings("ignore:X. column 'price'. read with decimal commas")
def test_text_is_read_as_the_table_was(kind):
    prices = [f"{k % 7},5" for k in range(40)]
    frame = kind({"price": prices, "day": [f"2024-02-{1 + k % 28:02}" for k in range(40)]})
    y = [int(k % 7 > 3) for k in range(40)]
    v = value_cells(frame, y, method=Forest(max_trees=3, tolerance=0), cv=2)
    said = v.what_if({(0, "price"): "6,5", (1, "day"): "2024-02-03"})
    meant = v.what_if({(0, "price"): 6.5, (1, "day"): "2024-02-03"})
    np.testing.assert_array_equal(said.values, meant.values)
    assert said.change != 0


def held():
    X, y = tables(9)
    return value_cells(X, y, method=Forest(max_trees=3, tolerance=0), cv=2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ([1], "changes are a dict from"),
        ({"x0": 1}, "keyed by .row, column., not by 'x0'"),
        ({(99, "x0"): 1}, "there is no row 99"),
        ({(True, "x0"): 1}, "there is no row True"),
        ({(0, "x9"): 1}, "there is no column 'x9'"),
        ({(0, "x0"): "tall"}, "column 'x0' holds numbers, and 'tall' is not one of them"),
        ({(0, "(label)"): "z"}, "no training row has the label 'z': labels are 'a', 'b', 'c'"),
        ({(0, "(label)"): None}, "no training row has the label None"),
    ],
)
def test_refusals(changes, message):
    with pytest.raises(InputError, match=message):
        held().what_if(changes)


def test_values_without_trees(tmp_path):
    v = held()
    assert "WhatIf: score 0." in repr(v.what_if({(0, "x0"): 3}))
    v.save(tmp_path / "v.parquet")
    for copy in (Valuation.load(tmp_path / "v.parquet"), pickle.loads(pickle.dumps(v))):
        assert copy == v
        with pytest.raises(InputError, match="needs the trees, which a file does not keep"):
            copy.what_if({(0, "x0"): 3})
    X, y = tables(9, gaps=0)
    near = value_cells(X, y, cv=2)
    with pytest.raises(InputError, match="needs the trees of a forest, and these values have none"):
        near.what_if({(0, "x0"): 3})
    owners = [{"owner": "A", "row": "0-29"}, {"owner": "B", "row": "30-59"}]
    blocks = value_blocks(
        X, y, method=Forest(max_trees=3, tolerance=0), owners=owners, cv=2, parties="anonymous"
    )
    with pytest.raises(InputError, match="value the cells with method='forest'"):
        blocks.what_if({(0, "x0"): 3})
