"""Which entry belongs to which row: pandas by label, everything else by position."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shapley2d import CellValuer, InputError, inspect_cells, value_cells, value_fragments

N = 24
ROWS = [f"patient {k}" for k in range(N)]
X = pd.DataFrame({"a": [float(k * k % 11) for k in range(N)], "b": ["u", "v", "w"] * 8}, ROWS)
Y = pd.Series((X["a"] > 5).map({True: "yes", False: "no"}), name="y")
SHUFFLED = np.random.default_rng(0).permutation(N)

OPTIONS = {
    "groups": pd.Series([k % 6 for k in range(N)], ROWS),
    "time_order": pd.Series(pd.date_range("2024-01-01", periods=N), ROWS),
    "valid_weight": pd.Series(np.arange(1.0, N + 1), ROWS),
}
INDEXES = {
    "texts": ROWS,
    "numbers": list(range(100, 100 + N)),
    "the default": range(N),
    "times": pd.date_range("2020-01-01", periods=N, tz="Asia/Tokyo"),
    "tuples": pd.MultiIndex.from_product([range(N // 2), ["a", "b"]]),
    "with a gap": [None, *ROWS[1:]],
}


def by_position(y, **options):
    """The values when everything is in order and has no index."""
    plain = {name: np.asarray(one) for name, one in options.items()}
    return value_cells(X.reset_index(drop=True), np.asarray(y), cv=3, **plain).values


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
@pytest.mark.parametrize("as_frame", [False, True])
def test_a_target_in_another_order_goes_by_label(index, as_frame):
    table, y = X.set_axis(index), Y.set_axis(index)
    moved = y.iloc[SHUFFLED]
    found = value_cells(table, moved.to_frame() if as_frame else moved, cv=3)
    np.testing.assert_array_equal(found.values, by_position(Y))
    rows = table.iloc[SHUFFLED]  # the table is what decides on the order of rows
    valued = value_cells(rows, y, rows, y)
    np.testing.assert_array_equal(
        valued.values, value_cells(rows, y.iloc[SHUFFLED].to_numpy(), rows, moved).values
    )


@pytest.mark.filterwarnings("ignore:.*train in no fold")
@pytest.mark.parametrize("option", OPTIONS)
def test_options_in_another_order_go_by_label(option):
    entries = OPTIONS[option]
    found = value_cells(X, Y, cv=3, **{option: entries.iloc[SHUFFLED]})
    np.testing.assert_array_equal(found.values, by_position(Y, **{option: entries}))


def test_row_groups_in_another_order_go_by_label():
    entries = pd.Series(["north", "south", "east", "west"] * 6, ROWS)
    names = [value_cells(X, Y, row_groups=one, cv=2) for one in (entries, entries[::-1])]
    assert names[0].row_names.tolist() == names[1].row_names.tolist()
    np.testing.assert_array_equal(names[0].values, names[1].values)


def test_a_validation_table_has_an_order_of_its_own():
    train, valid = X[:16], X[16:]
    weights = OPTIONS["valid_weight"][16:]
    found = value_cells(train, Y[:16], valid, Y[16:][::-1], valid_weight=weights[::-1])
    plain = value_cells(train, Y[:16], valid, Y[16:].to_numpy(), valid_weight=weights.to_numpy())
    np.testing.assert_array_equal(found.values, plain.values)
    valuer = CellValuer().fit(train, Y[:16][::-1])
    assert valuer.score(valid, Y[16:][::-1]) == valuer.score(valid, Y[16:])


def test_labels_of_an_inspection_go_by_label():
    found = [inspect_cells(X, y) for y in (Y, Y.iloc[SHUFFLED])]
    np.testing.assert_array_equal(*[one.label_scores for one in found])


def test_owners_go_by_label_and_by_name():
    table = X.assign(y=Y)
    owners = pd.DataFrame({"a": ["ann", "bob"] * 12, "b": ["bob"] * 12 + ["ann"] * 12}, ROWS)
    moved = owners.iloc[SHUFFLED][["b", "a"]]
    wanted, found = (value_fragments(table, "y", X, Y, owners=one) for one in (owners, moved))
    np.testing.assert_array_equal(found.values, wanted.values)
    with pytest.raises(InputError, match=r"owners has no row 'patient 0' in its index"):
        value_fragments(table, "y", X, Y, owners=owners.set_axis(range(7, N + 7)))


@pytest.mark.parametrize("option", ["y", "y_valid", *OPTIONS, "row_groups", "owners"])
def test_other_labels_are_refused_by_the_first_that_does_not_fit(option):
    entries = Y.rename({"patient 7": "patient 99"})
    given = {"y": Y, "X_valid": X, "y_valid": Y} if option == "y_valid" else {"y": Y}
    message = rf"^{option} has no row 'patient 7' in its index, which its table has: .*to_numpy\(\)"
    with pytest.raises(InputError, match=message):
        if option == "owners":
            value_fragments(X, Y, X, Y, owners=pd.DataFrame({"a": entries, "b": entries}))
        else:
            value_cells(X, **{**given, option: entries})
    with pytest.raises(
        InputError, match=r"^y has the row 'one more' in its index, which its table"
    ):
        value_cells(X, pd.concat([Y, pd.Series({"one more": "no"})]))


@pytest.mark.parametrize("side", ["X", "y"])
def test_a_default_index_against_other_labels_goes_by_position(side):
    """As after ``y.reset_index(drop=True)``."""
    table, y = (X, Y.reset_index(drop=True)) if side == "y" else (X.reset_index(drop=True), Y)
    np.testing.assert_array_equal(value_cells(table, y, cv=3).values, by_position(Y))
    part = X.set_axis(range(N)).iloc[SHUFFLED[:12]], Y.set_axis(range(N)).iloc[SHUFFLED[:12]]
    found = value_cells(part[0], part[1].reset_index(drop=True), cv=2)
    np.testing.assert_array_equal(found.values, value_cells(*part, cv=2).values)


def test_labels_that_repeat():
    twice = [*ROWS[:12], *ROWS[:12]]
    found = value_cells(X.set_axis(twice), Y.set_axis(twice), cv=3)
    np.testing.assert_array_equal(found.values, by_position(Y))
    with pytest.raises(
        InputError, match=r"^y has the rows of its table in another order, and 'pat"
    ):
        value_cells(X.set_axis(twice), Y.set_axis(twice)[::-1])


@pytest.mark.parametrize(
    "make",
    [list, np.array, pl.Series, pa.array],
    ids=["list", "numpy", "polars", "pyarrow"],
)
def test_what_has_no_index_goes_by_position(make):
    moved = Y.iloc[SHUFFLED].tolist()
    np.testing.assert_array_equal(value_cells(X, make(moved), cv=3).values, by_position(moved))


def test_lengths_are_told_where_one_side_has_no_labels():
    with pytest.raises(InputError, match="y has 23 entries, but its table has 24 rows"):
        value_cells(X.reset_index(drop=True), Y.reset_index(drop=True)[:23])
