"""What if: the score, the values and predictions after changed entries, against the definition."""

import pickle
from datetime import datetime, timedelta
from functools import partial

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from shapley2d import Forest, Valuation, value_cells
from shapley2d._forest.draws import GROVE
from shapley2d.exceptions import InputError

from boosted_tables import read
from forest_oracle import SQUARED, mean_forest, sklearn_model
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


class Held:
    """The models of some splits by their definition, before and after changes of the whole table."""

    def __init__(self, models, splits, X, y, new_X, new_y, weights=None):
        self.y, self.new_X, self.splits = y, new_X, splits
        self.shape = X.shape
        whole = [one.unit(y[held], w)[1] for one, (_, held), w in self._each(models, weights)]
        if models[0].loss is SQUARED:  # around the mean of all
            targets = np.array([y[held] for _, held in splits])
            whole = [1 / np.mean((targets - targets.mean()) ** 2)]
        shift = models[0].unit(y[splits[0][1]], None)[0]
        self.unit = (shift, 1 / np.mean([1 / factor for factor in whole]))
        self.before = [
            (one, X[held], y[held], w) for one, (_, held), w in self._each(models, weights)
        ]
        self.after = [
            (one.changed(new_X[rows], new_y[rows]), new_X[held], new_y[held], w)
            for one, (rows, held), w in self._each(models, weights)
        ]

    def _each(self, models, weights):
        weights = [None] * len(models) if weights is None else weights
        return zip(models, self.splits, weights, strict=True)

    def score(self, models):
        return np.mean([one.score(one.predict(X), y, w, self.unit) for one, X, y, w in models])

    def values(self, models):
        found = np.zeros(self.shape)
        for (one, X, y, w), (rows, _) in zip(models, self.splits, strict=True):
            found[rows] += one.values(X, y, w, self.unit) / len(models)
        return found[: 1 + max(max(rows) for rows, _ in self.splits)]

    def check(self, v, after):
        np.testing.assert_allclose(v.values, self.values(self.before), **EXACT)
        np.testing.assert_allclose(after.values, self.values(self.after), **EXACT)
        assert after.score == pytest.approx(self.score(self.after), abs=1e-10)
        assert after.change == pytest.approx(after.score - self.score(self.before), abs=1e-10)
        for i, (_, predicted) in after.predictions.items():
            raws = [one.predict(self.new_X[[i]])[0] for one, *_ in self.after]
            loss, start = self.after[0][0].loss, self.after[0][0].start
            if start.size == 1 and self.y.dtype.kind == "f":
                expected = [raw[0] for raw in raws]
            else:  # of the label that the row has
                gains = [-loss.each(self.y[i], raw) for raw in raws]
                expected = np.exp(gains) if self.unit[0] else gains
            assert predicted == pytest.approx(np.mean(expected), abs=1e-10)


def named_cells(edits):
    return {(i, f"x{j}"): entry for (i, j), entry in edits.items()}


FOREST = RandomForestClassifier(5, max_depth=4, random_state=1)
SHORT = {"n_estimators": 4, "max_depth": 3, "random_state": 1}
CASES = [
    (FOREST, True),
    (FOREST, False),
    (RandomForestRegressor(5, max_depth=4, random_state=1), False),
    (GradientBoostingClassifier(**SHORT), True),
    (GradientBoostingRegressor(**SHORT), False),
    (HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=4), False),
]


@pytest.mark.parametrize(("model", "crossed"), CASES, ids=str)
def test_random_edits_of_numbers_and_labels(model, crossed):
    regression = "Regressor" in type(model).__name__
    gaps = 0 if "GradientBoosting" in type(model).__name__ else 0.1
    X, y = tables(0, regression=regression, gaps=gaps)
    folds = [(np.arange(k, 60, 3), np.arange((k + 1) % 3, 60, 3)) for k in range(3)]
    splits = folds if crossed else [(np.arange(40), np.arange(40, 60))]
    n = 60 if crossed else 40
    given = {"cv": folds} if crossed else {"X_valid": X[40:], "y_valid": y[40:]}
    v = value_cells(X[:n], y[:n], method=Forest(model), **given)
    models = [sklearn_model(clone(model).fit(X[r], y[r]), X[r], y[r]) for r, _ in splits]
    codes = y if regression else np.unique(y, return_inverse=True)[1]
    random = np.random.default_rng(2)
    for count, labels in ((1, {}), (12, {}), (2, {4: 40.0 if regression else "b"})):
        edits = random_edits(random, X, count, n)
        if gaps == 0 and "Hist" not in type(model).__name__:
            edits = {cell: 1.5 if entry is None else entry for cell, entry in edits.items()}
        after = v.what_if({**named_cells(edits), **{(i, "(label)"): y for i, y in labels.items()}})
        new = codes.copy()
        for i, label in labels.items():
            new[i] = label if regression else "abc".index(label)
        held = Held(models, splits, X, codes, changed(X, edits), new)
        held.check(v, after)
        assert set(after.predictions) == {i for i, _ in edits} | set(labels)


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
def test_labels_that_weigh_otherwise(scoring):
    X, y = tables(3)
    splits = [(np.arange(k, 60, 2), np.arange(1 - k, 60, 2)) for k in range(2)]
    weight = np.arange(1.0, 61.0)
    v = value_cells(X, y, valid_weight=weight, method=Forest(FOREST), cv=splits, scoring=scoring)
    codes = np.unique(y, return_inverse=True)[1]
    new = codes.copy()
    new[[4, 9]] = (codes[[4, 9]] + 1) % 3
    after = v.what_if({(i, "(label)"): "abc"[new[i]] for i in (4, 9)})
    models = [sklearn_model(clone(FOREST).fit(X[r], y[r]), X[r], y[r]) for r, _ in splits]

    def weights(labels):
        found = [weight[held] for _, held in splits]
        if scoring is None:
            return found
        pairs = zip(found, splits, strict=True)
        return [w / np.bincount(labels[held], w)[labels[held]] for w, (_, held) in pairs]

    held = Held(models, splits, X, codes, X, new, weights(codes))
    held.after = [(*one[:3], w) for one, w in zip(held.after, weights(new), strict=True)]
    held.check(v, after)


@pytest.mark.parametrize(
    "asked",
    [
        {"include_label": True},
        {"include_label": True, "baseline": "zero"},
        {"baseline": "zero", "semivalue": "banzhaf"},
        {"semivalue": ("beta", 4.0, 1.0)},
    ],
    ids=str,
)
@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.filterwarnings("ignore:baseline='zero' counts")
def test_against_every_subset(asked, regression):
    X, y = tables(8, n=12, regression=regression, gaps=0)
    y[:3] = y[:3] if regression else ["a", "b", "c"]
    codes = y if regression else np.unique(y, return_inverse=True)[1]
    kind = GradientBoostingRegressor if regression else GradientBoostingClassifier
    fitted = kind(**SHORT).fit(X[:5], y[:5])
    v = value_cells(X[:5], y[:5], X[5:], y[5:], method=Forest(fitted), **asked)
    label, code = (9.0, 9.0) if regression else ("c", 2)
    after = v.what_if({(1, "x0"): 7.0, (0, "(label)"): label})
    before = sklearn_model(fitted, X[:5], y[:5])
    own = before.changed(changed(X[:5], {(1, 0): 7.0}), np.array([code, *codes[1:5]]))
    question = {"unit": before.unit(codes[5:], None)}
    score = own.score(own.predict(X[5:]), codes[5:], **question)
    place = 4 if "include_label" in asked else None
    question |= {"baseline": asked.get("baseline", "labels"), "label": place}
    semivalue = asked.get("semivalue", "shapley")
    h = own.utility(X[5:], codes[5:], **question)
    expected = brute_force(h, 5, 4 + (place is not None), semivalue, semivalue)
    np.testing.assert_allclose(after.values, expected, **EXACT)
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
    model = make().fit(frame[:50], y[:50])
    v = value_cells(frame[:50], y[:50], frame[50:], y[50:], method=Forest(model))
    last, made = model, frame[:50]
    if make is piped:
        last, made = model[-1], np.asarray(model[:-1].transform(frame[:50]), dtype=float)
    own = sklearn_model(last, made, y[:50])
    own.owners = read(model, frame[:50], y[:50], frame[:50]).model.owners.tolist()

    def features(table):
        return read(model, frame[:50], y[:50], table).valid.T

    for edits in (
        {("r3", "size"): 1.2},
        {("r7", "town"): "Bonn", ("r8", "size"): None},
        {("r9", "town"): None, ("r9", "pay"): 4, ("r10", "town"): "Lima"},
    ):
        other = frame[:50].copy()
        other["town"] = other["town"].cat.add_categories(["Lima"])
        for (row, column), entry in edits.items():
            other.loc[row, column] = entry
        after, new = v.what_if(edits), own.changed(features(other), y[:50])
        expected = new.values(features(frame[50:]), y[50:], unit=own.unit(y[50:], None))
        np.testing.assert_allclose(after.values, expected, **EXACT)
        assert list(after.predictions) == list(dict.fromkeys(row for row, _ in edits))
    by_position = v.what_if({(7, "town"): "Bonn"})
    np.testing.assert_array_equal(by_position.values, v.what_if({("r7", "town"): "Bonn"}).values)
    assert v.what_if({("r1", "pay"): frame["pay"].iloc[1]}).change == 0


@pytest.mark.parametrize("regression", [False, True])
def test_a_grown_forest_keeps_its_trees_and_its_encoding(regression, tmp_path):
    X, y = tables(7, n=40, gaps=0, regression=regression)
    codes = y if regression else np.unique(y, return_inverse=True)[1]
    splits = [(np.arange(20), np.arange(20, 40)), (np.arange(20, 40), np.arange(20))]
    options = {"method": Forest(max_draws=8, tolerance=0), "cv": splits}
    options["checkpoint"] = tmp_path / "forest.checkpoint"
    v = value_cells(X, y, **options)
    edits = {(4, 0): 7.5, (11, 2): 0.0}
    after = v.what_if(named_cells(edits))
    models = []
    for held, (rows, _) in zip(v._held.trees, splits, strict=True):
        assert len(held.model.trees) == 8
        models.append(mean_forest(held.model.trees, X[rows], codes[rows], regression=regression))
    held = Held(models, splits, X, codes, changed(X, edits), codes)
    change = held.values(held.after) - held.values(held.before)
    np.testing.assert_allclose(after.values - v.values, change, **EXACT)
    assert after.change == pytest.approx(
        held.score(held.after) - held.score(held.before), abs=1e-12
    )
    if not regression:
        held.check(v, after)
    # a checkpoint keeps what trees are worth, not the trees, which are grown again
    other = value_cells(X, y, **options)
    assert other.info["resumed_at"] == 2 * v.info["n_trees"] / GROVE  # groves of two folds
    np.testing.assert_array_equal(other.what_if(named_cells(edits)).values, after.values)


def test_deep_leaves_take_the_same_orders(monkeypatch):
    random = np.random.default_rng(0)
    X = random.normal(size=(160, 6))
    y = (X[:, 0] + random.normal(size=160) > 0).astype(int)
    model = ExtraTreesClassifier(4, max_depth=6, random_state=0).fit(X[:120], y[:120])
    options = {"method": Forest(model, max_draws=10, tolerance=0)}
    edits = {(5, "x0"): -X[5, 0], (8, "x3"): 2.0}
    exact = value_cells(X[:120], y[:120], X[120:], y[120:], **options)
    exact_after = exact.what_if(edits)
    monkeypatch.setattr("shapley2d._forest.leaves.most_columns", lambda _: 2)
    v = value_cells(X[:120], y[:120], X[120:], y[120:], **options)
    assert v.info["exact_share"] < 1
    after = v.what_if(edits)
    np.testing.assert_allclose(after.values.sum(axis=1), exact_after.values.sum(axis=1), **EXACT)
    assert after.score == pytest.approx(exact_after.score, abs=1e-12)
    off = (after.values - v.values) - (exact_after.values - exact.values)
    assert 0 < off.std() < 0.3 * (v.values - exact.values).std()
    np.testing.assert_array_equal(v.what_if({(5, "x0"): X[5, 0]}).values, v.values)


@pytest.mark.parametrize("kind", [pl.DataFrame, pd.DataFrame])
@pytest.mark.filterwarnings("ignore:X. column 'price'. read with decimal commas")
def test_text_is_read_as_the_table_was(kind):
    prices = [f"{k % 7},5" for k in range(40)]
    frame = kind({"price": prices, "day": [f"2024-02-{1 + k % 28:02}" for k in range(40)]})
    y = [int(k % 7 > 3) for k in range(40)]
    v = value_cells(frame, y, method=Forest(max_draws=3, tolerance=0), cv=2)
    said = v.what_if({(0, "price"): "6,5", (1, "day"): "2024-02-03"})
    meant = v.what_if({(0, "price"): 6.5, (1, "day"): "2024-02-03"})
    np.testing.assert_array_equal(said.values, meant.values)
    assert said.change != 0


def as_floats(table):
    """A step that takes whatever entries a table holds."""
    rows = table.tolist() if isinstance(table, np.ndarray) else nw.from_native(table).rows()
    return np.array([[_number(entry) for entry in row] for row in rows])


def _number(entry):
    if isinstance(entry, datetime):
        return (entry - datetime(2024, 1, 1)) / timedelta(days=1)
    return np.nan if entry is None else float(entry)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, np.array])
def test_new_entries_reach_the_steps_before_a_model(kind):
    days = [datetime(2024, 1, 1) + timedelta(days=k % 29) for k in range(60)]
    parts = {
        "count": [k % 7 for k in range(60)],
        "own": [k % 3 == 0 for k in range(60)],
        "day": days,
    }
    rows = list(zip(*parts.values(), strict=True))
    table = np.array(rows, dtype=object) if kind is np.array else kind(parts)
    names = ["x0", "x1", "x2"] if kind is np.array else list(parts)
    features, y = as_floats(table), np.arange(60.0) % 7 + 0.3 * (np.arange(60) % 29)
    model = make_pipeline(FunctionTransformer(as_floats), RandomForestRegressor(5, random_state=0))
    v = value_cells(table, y, table, y, method=Forest(model.fit(table, y)))
    new = {
        (0, names[0]): 2.5,
        (1, names[1]): True,
        (2, names[2]): "2024-01-20",
        (3, names[0]): None,
    }
    plain = value_cells(features, y, features, y, method=Forest(model[-1]))
    entries = {(i, f"x{names.index(name)}"): entry for (i, name), entry in new.items()}
    same = plain.what_if(entries | {(2, "x2"): 19})
    np.testing.assert_allclose(v.what_if(new).values, same.values, **EXACT)
    assert same.change != 0
    with pytest.raises(InputError, match="holds booleans, and '7' is not one of them"):
        v.what_if({(0, names[1]): 7})


def held():
    X, y = tables(9)
    return value_cells(X, y, method=Forest(max_draws=3, tolerance=0), cv=2)


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
    after = v.what_if({(0, "x0"): 3})
    assert repr(after).startswith("Score ")
    v.save(tmp_path / "v.parquet")
    for copy in (Valuation.load(tmp_path / "v.parquet"), pickle.loads(pickle.dumps(v))):
        assert copy == v
        with pytest.raises(InputError, match="needs the trees, which a file does not keep"):
            copy.what_if({(0, "x0"): 3})
    X, y = tables(9, gaps=0)
    near = value_cells(X, y, cv=2)
    with pytest.raises(InputError, match="needs the trees of a forest, and these values have none"):
        near.what_if({(0, "x0"): 3})
