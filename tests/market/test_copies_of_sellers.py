"""Sellers who list rows and columns again with a disguise: what they gain, and honest ones lose."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from shapley2d import Copies, value_blocks
from shapley2d._market.copies.chance import find_unlikely_copies
from shapley2d._market.copies.columns import find_same_columns
from shapley2d._market.copies.rows import find_copies, tight_clusters
from shapley2d._tables.convert import as_table
from shapley2d._tables.target import as_target, match_target
from shapley2d.datasets import load_census
from shapley2d.exceptions import InputWarning, PrecisionWarning

TABLES = {"wine": load_wine, "breast cancer": load_breast_cancer}
COLUMNS = 6


def tables(name, seed=0, n=66):
    X, y = TABLES[name](return_X_y=True, as_frame=True)
    order = np.random.default_rng(seed).permutation(len(y))
    X, y = X.iloc[order, :COLUMNS].reset_index(drop=True), y.to_numpy()[order]
    return X[:n], y[:n], X[n : 2 * n].reset_index(drop=True), y[n : 2 * n]


def by_row(parts):
    return [{"owner": name, "row": list(rows)} for name, rows in parts.items()]


def by_column(parts):
    return [{"owner": name, "column": ";".join(names)} for name, names in parts.items()]


def paid(X, y, X_valid, y_valid, owners, **options):
    """Of 100,000, what every owner is paid."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        warnings.simplefilter("ignore", PrecisionWarning)
        v = value_blocks(
            X,
            y,
            X_valid,
            y_valid,
            owners=owners,
            progress=False,
            **{"parties": "anonymous", **options},
        )
        amounts = v.payments(100_000, negative="owe")
    return dict(zip(v._owner_names, amounts["amount"], strict=True))


HONEST = {"A": range(22), "B": range(22, 44), "C": range(44, 66)}


def jittered(X, random, size=0.001):
    return X + size * X.std().to_numpy() * random.normal(size=X.shape)


# ---- rows
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["wine", pytest.param("breast cancer", marks=pytest.mark.slow)])
def test_own_rows_listed_again_with_jitter_gain_nothing(name):
    X, y, *valid = tables(name)
    honest = paid(X, y, *valid, by_row(HONEST))
    again = jittered(X[:22], np.random.default_rng(1))
    more = pd.concat([X, again], ignore_index=True), np.append(y, y[:22])
    own = paid(*more, *valid, by_row({**HONEST, "A": [*range(22), *range(66, 88)]}))
    shell = paid(*more, *valid, by_row({**HONEST, "A2": range(66, 88)}))
    assert own == pytest.approx(honest, abs=0.02)
    assert shell["A"] + shell["A2"] == pytest.approx(honest["A"], abs=0.02)
    # and without a look at the validation rows they gain half as much again
    before = paid(*more, *valid, by_row({**HONEST, "A2": range(66, 88)}), copies=Copies(distance=0))
    assert before["A"] + before["A2"] > 1.3 * honest["A"]


@pytest.mark.parametrize("name", ["wine", pytest.param("breast cancer", marks=pytest.mark.slow)])
def test_a_newcomer_who_jitters_everybodys_rows_is_named(name):
    X, y, *valid = tables(name)
    stolen = jittered(X, np.random.default_rng(2))
    more = pd.concat([X, stolen], ignore_index=True), np.append(y, y)
    owners = by_row({**HONEST, "Thief": range(66, 132)})
    with pytest.warns(
        InputWarning, match=r"'A' and 'Thief' have copies of the same 22 rows, and 2"
    ):
        v = value_blocks(*more, *valid, owners=owners, progress=False, parties="anonymous")
    assert v.info["copies"]["n_rows"] == 66
    first = paid(*more, *valid, owners, copies="first")
    assert first["Thief"] == 0
    assert {name: first[name] for name in "ABC"} == paid(X, y, *valid, by_row(HONEST))


@pytest.mark.parametrize("where", ["first", "last"])
@pytest.mark.parametrize(
    ("name", "distance"),
    [("wine", "auto"), pytest.param("breast cancer", 0.02, marks=pytest.mark.slow)],
)
def test_bridges_between_a_rivals_rows_do_not_merge_them(name, where, distance):
    """Rows on the way from each of B's rows to the next: chains made one row of all of them."""
    X, y, *valid = tables(name)
    honest = paid(X, y, *valid, by_row(HONEST), copies=Copies(distance=distance))
    steps, labels = [], []
    of_b = [i for i in HONEST["B"] if y[i] == y[22]]
    for one, other in itertools.pairwise(of_b):
        for part in np.linspace(0, 1, 22)[1:-1]:
            steps.append((1 - part) * X.iloc[one] + part * X.iloc[other])
            labels.append(y[22])
    bridge = pd.DataFrame(steps).reset_index(drop=True)
    parts, start = [X, bridge], 66
    shift = 0
    if where == "first":
        parts, start, shift = [bridge, X], 0, len(bridge)
    more = pd.concat(parts, ignore_index=True)
    targets = np.append(y, labels) if where == "last" else np.append(labels, y)
    owners = by_row(
        {name: [row + shift for row in rows] for name, rows in HONEST.items()}
        | {"A2": range(start, start + len(bridge))}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        found = find_copies(as_table(more), as_target(targets, as_table(more)), 0.02)
        alone = find_copies(as_table(X), as_target(y, as_table(X)), 0.02)
    b_rows = np.array(HONEST["B"]) + shift
    # no more of B's rows are one with another than without bridges
    assert np.unique(found[b_rows]).size >= np.unique(alone[list(HONEST["B"])]).size >= 20
    # bridges are rows of their own and share B's market, but leave B its rows
    after = paid(more, targets, *valid, owners, copies=Copies(distance=distance))
    assert after["B"] > 0.35 * honest["B"]


def test_clusters_are_tight():
    links = np.array([(0, 1), (1, 2), (2, 3), (0, 2), (4, 5)])
    # 0, 1 and 2 are linked to one another; 3 only to 2
    assert tight_clusters(6, links[:, 0], links[:, 1]).tolist() == [0, 0, 0, 3, 4, 4]


def census(n=400, seed=0):
    X, y = load_census("train", "pandas")
    order = np.random.default_rng(seed).permutation(len(y))[: 2 * n]
    X = X[["age", "workclass", "race", "sex"]].iloc[order].reset_index(drop=True)
    X["age"] = X["age"] // 5 * 5
    return X[:n], y[order][:n], X[n:].reset_index(drop=True), y[order][n:]


def test_rows_that_are_equal_by_chance_are_no_copies():
    X, y, X_valid, y_valid = census()
    table = as_table(X)
    target = as_target(y, table)
    valid = as_table(X_valid, like=table)
    codes = match_target(y_valid, valid, target).codes
    assert find_copies(table, target).max() < 200  # most rows repeat another
    found = find_unlikely_copies(table, target, valid, codes)
    assert found.tolist() == list(range(400))
    # so that A is paid the same under one name and under twenty
    alone = {"A": range(133), "B": range(133, 266), "C": range(266, 400)}
    split = {f"A{k}": range(k, 133, 20) for k in range(20)} | {k: alone[k] for k in "BC"}
    one, many = (paid(X, y, X_valid, y_valid, by_row(parts)) for parts in (alone, split))
    assert sum(many[f"A{k}"] for k in range(20)) == pytest.approx(one["A"], abs=0.3)
    assert many["B"] == pytest.approx(one["B"], abs=0.02)
    # which equal rows that count as one did not give
    one, many = (
        paid(X, y, X_valid, y_valid, by_row(parts), copies=Copies(distance=0))
        for parts in (alone, split)
    )
    assert sum(many[f"A{k}"] for k in range(20)) > one["A"] + 1000


def test_a_row_listed_very_often_is_copied_in_a_coarse_table_too():
    X, y, X_valid, y_valid = census()
    again = pd.concat([X, *[X[:20]] * 60], ignore_index=True)
    labels = np.append(y, np.tile(y[:20], 60))
    table = as_table(again)
    target = as_target(labels, table)
    valid = as_table(X_valid, like=table)
    found = find_unlikely_copies(table, target, valid, match_target(y_valid, valid, target).codes)
    assert np.unique(found[400:]).size <= 20


@pytest.mark.parametrize("name", TABLES)
def test_honest_rows_are_paid_as_before(name):
    X, y, *valid = tables(name)
    auto, equal = (
        paid(X, y, *valid, by_row(HONEST), copies=Copies(distance=d)) for d in ("auto", 0)
    )
    assert auto == equal


def test_jitter_in_a_column_that_never_varies_hides_no_copy():
    X, y, X_valid, y_valid = tables("wine")
    random = np.random.default_rng(3)
    X, X_valid = X.assign(idle=0.0), X_valid.assign(idle=0.0)
    more = pd.concat([X, X[:22].assign(idle=random.normal(size=22))], ignore_index=True)
    table = as_table(more)
    target = as_target(np.append(y, y[:22]), table)
    valid = as_table(X_valid, like=table)
    found = find_unlikely_copies(table, target, valid, match_target(y_valid, valid, target).codes)
    np.testing.assert_array_equal(found[66:], found[:22])


def test_a_number_of_rows_takes_seconds_and_few_validation_rows_tell_nothing():
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 6))
    X[10_000:10_100] = X[:100] + 1e-4
    table, valid = as_table(X), as_table(random.normal(size=(3000, 6)))
    target = as_target(np.arange(20_000) % 2, table)
    found = find_unlikely_copies(table, target, valid, np.arange(3000) % 2)
    assert (found[10_000:10_100] == found[:100]).all() and found.max() + 1 >= 19_890
    few = as_table(random.normal(size=(2, 6)))
    found = find_unlikely_copies(table, target, few, np.arange(2))
    assert found.max() == 19_999


def test_blank_rows_are_no_data():
    X, y, *valid = tables("wine")
    honest = paid(X, y, *valid, by_row(HONEST))
    blank = pd.DataFrame(np.nan, index=range(30), columns=X.columns)
    more = pd.concat([X, blank], ignore_index=True), np.append(y, np.arange(30) % 3)
    after = paid(*more, *valid, by_row({**HONEST, "Z": range(66, 96)}))
    assert after.pop("Z") == 0 and after == honest


# ---- columns
# --------------------------------------------------------------------------------------------------


def halves(X):
    names = list(X)
    return {"A": names[: len(names) // 2], "B": names[len(names) // 2 :]}


def quarters(x):
    return pd.qcut(x, 12, labels=False).astype(float)


DISGUISES = {
    "the same": lambda x: x,
    "other units": lambda x: 32 - 1.8 * x,
    "a logarithm": lambda x: np.log(x - x.min() + 1),
    "a little noise": lambda x: x + 0.01 * x.std() * np.sin(1e4 * x),
    "bins": quarters,
}


@pytest.mark.parametrize(
    "disguise", ["a logarithm", "bins", *(pytest.param(one, marks=pytest.mark.slow) for one in DISGUISES if one not in ("a logarithm", "bins"))]
)  # fmt: skip
@pytest.mark.parametrize("name", ["wine"])
def test_a_copied_column_gains_nothing(name, disguise):
    X, y, X_valid, y_valid = tables(name)
    change = DISGUISES[disguise]
    parts = halves(X)
    best = parts["A"][-1]
    honest = paid(X, y, X_valid, y_valid, by_column(parts))
    both = pd.concat([X[best], X_valid[best]], ignore_index=True)
    again = change(both)
    more = X.assign(copy=again[: len(X)].to_numpy())
    more_valid = X_valid.assign(copy=again[len(X) :].to_numpy())
    # one's own
    own = paid(more, y, more_valid, y_valid, by_column({**parts, "A": [*parts["A"], "copy"]}))
    assert own == pytest.approx(honest, abs=0.02)
    # a rival's: the owners share it, and whoever came first can be paid for it
    owners = by_column({**parts, "B": [*parts["B"], "copy"]})
    match = (
        f"columns '{best}' and 'copy' say the same .R squared .*their owners share .*"
        r"; set copies=Copies\(r2=0\) to pay for each"
    )
    with pytest.warns(InputWarning, match=match):
        v = value_blocks(
            more, y, more_valid, y_valid, owners=owners, progress=False, parties="anonymous"
        )
    assert v.info["copies"]["columns"][0][:2] == [best, "copy"]
    shared = dict(zip(v._owner_names, v.payments(100_000)["amount"], strict=True))
    assert sum(shared.values()) == pytest.approx(100_000)
    first = paid(more, y, more_valid, y_valid, owners, copies="first")
    assert first == pytest.approx(honest, abs=0.02)
    # which is what an option turns off
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)
        each = value_blocks(
            more,
            y,
            more_valid,
            y_valid,
            owners=owners,
            progress=False,
            copies=Copies(r2=0),
            parties="anonymous",
        )
    assert each.column_sizes.sum() == len(more.columns) and v.column_sizes.sum() == len(X.columns)


def test_what_says_the_same_and_what_does_not():
    random = np.random.default_rng(0)
    x = random.normal(size=400)
    words = random.choice(["a", "b", "c"], 400)
    frame = pd.DataFrame(
        {
            "x": x,
            "affine": 3 - 2 * x,
            "cube": x**3,
            "ten bins": np.floor(np.clip(x, -2.4, 2.4) * 2),
            "correlated": x + 0.3 * random.normal(size=400),
            "sign": (x > 0).astype(float),
            "words": words,
            "other words": pd.Series(words).map({"a": "rot", "b": "blau", "c": "grün"}),
            "fewer words": pd.Series(words).map({"a": "rot", "b": "rot", "c": "grün"}),
            "noise": random.normal(size=400),
            "square": x**2,
        }
    )
    clusters = find_same_columns(as_table(frame), 0.99).clusters
    assert clusters.tolist() == [0, 0, 0, 0, 4, 5, 6, 6, 8, 9, 10]


def test_columns_in_a_chain_are_not_one():
    random = np.random.default_rng(1)
    x, z = random.normal(size=500), random.normal(size=500)
    chain = {f"c{k}": np.cos(k * 0.08) * x + np.sin(k * 0.08) * z for k in range(20)}
    found = find_same_columns(as_table(pd.DataFrame(chain)), 0.99)
    assert {(i, j) for i, j, _ in found.pairs} == {(k, k + 1) for k in range(19)}
    assert np.unique(found.clusters).size == 10  # pairs, not one of all


def test_where_everybody_has_all_columns_nothing_is_merged():
    X, y, X_valid, y_valid = tables("wine")
    more, more_valid = X.assign(copy=X["alcohol"]), X_valid.assign(copy=X_valid["alcohol"])
    v = value_blocks(
        more, y, more_valid, y_valid, owners=by_row(HONEST), progress=False, parties="anonymous"
    )
    assert v.column_sizes.sum() == COLUMNS + 1 and v.info["copies"]["columns"] == []


def test_labels_groups_and_the_audit_know_of_merged_columns():
    X, y, X_valid, y_valid = tables("wine")
    more, more_valid = X.assign(copy=X["alcohol"]), X_valid.assign(copy=X_valid["alcohol"])
    owners = [*by_column({"A": list(X), "B": ["copy"]}), {"owner": "C", "column": "target"}]
    y = pd.Series(y, name="target")
    with pytest.warns(InputWarning, match="say the same"):
        v = value_blocks(more, y, more_valid, y_valid, owners=owners, include_label=True, progress=False, columns={name: "rest" if name != "alcohol" else "alcohol" for name in more}, parties="anonymous")  # fmt: skip
    assert v.column_sizes.tolist() == [1, COLUMNS - 1, 1] and v.column_names[-1] == "target"
    assert v._owner_shares[:2, 0, 0].tolist() == [0.5, 0.5]


def test_one_validation_row_merges_equal_rows_only():
    """It cannot tell which columns vary: by it alone, all rows of a label looked like copies."""
    random = np.random.default_rng(0)
    X = random.normal(size=(12, 3))
    X[5] = X[2]
    table, valid = as_table(X), as_table(random.normal(size=(1, 3)))
    target = as_target([0, 1] * 6, table)
    assert np.unique(find_unlikely_copies(table, target, valid, np.zeros(1))).size == 12
    same = as_target([0] * 11 + [1], table)
    assert np.unique(find_unlikely_copies(table, same, valid, np.zeros(1))).size == 11
