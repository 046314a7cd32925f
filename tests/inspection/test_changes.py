"""New entries: written as the column writes its own, and put into copies of any kind of table."""

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shapley2d import inspect_cells
from shapley2d._inspection.tables.changes import change_cells, change_vector
from shapley2d._inspection.tables.entry_writer import EntryWriter
from shapley2d._tables.convert import as_table
from shapley2d._tables.digest import column_digest
from shapley2d.exceptions import InputError


def wording(entries, kind=None):
    return EntryWriter.of(
        as_table({"a": entries}, kinds=None if kind is None else {"a": kind}).columns[0]
    )


def test_numbers_have_the_decimals_of_their_column():
    assert wording([1, 2, 3]).text(2.4) == "2"
    assert wording([1.5, 2.25]).text(2.333) == "2.33"
    assert wording([1 / 3, 2 / 3, 5 / 7]).text(0.123456789) == "0.1235"
    assert wording([1, 2]).text(-0.2) == "0"
    assert wording(["$1,200", "$1,300", "$900"]).text(1300.0) == "$1,300"
    assert wording([1, 2]).text(float("nan")) is None


def test_dates_are_written_like_the_others():
    assert wording(["31/01/2024", "28/02/2024"]).text(19_800.0) == "18/03/2024"
    assert wording(["01/31/2024", "02/28/2024"]).text(19_800.0) == "03/18/2024"
    assert wording(["2024-01-31", "2024-02-28"]).text(19_800.0) == "2024-03-18"
    assert wording([date(2024, 1, 31), date(2024, 2, 28)]).text(19_800.0) == "2024-03-18"


def test_booleans_and_categories_keep_their_words():
    assert wording(["yes", "no", "yes"]).texts(np.array([0.0, 1.0])) == ["no", "yes"]
    assert wording([True, False]).text(1.0) == "true"


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_types_stay_where_the_new_entry_fits(make):
    table = make({"i": [1, 2], "f": [0.5, 1.5], "b": [True, False], "t": ["x", "y"],
                  "d": [datetime(2024, 1, 1), datetime(2024, 1, 2)]})  # fmt: skip
    changes = {
        "i": {0: "7"},
        "f": {0: "2"},
        "b": {0: "false"},
        "t": {0: "z"},
        "d": {0: "2024-03-01"},
    }
    changed = change_cells(table, changes)
    was, new = as_table(table), as_table(changed)
    assert [column.text()[0] for column in new.columns] == ["7", "2", "false", "z", "2024-03-01"]
    assert [column.text()[1] for column in new.columns] == [
        column.text()[1] for column in was.columns
    ]
    assert [column.text()[0] for column in was.columns] == ["1", "0.5", "true", "x", "2024-01-01"]
    kinds = [
        list(
            getattr(one, "dtypes", None)
            if one is not None and hasattr(one, "dtypes")
            else one.schema.types
        )
        for one in (table, changed)
    ]
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize(
    "make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"]
)
def test_types_widen_where_it_does_not(make):
    table = make({"i": [1, 2], "f": [0.5, 1.5], "b": [True, False], "t": ["x", "y"]})
    fraction = as_table(change_cells(table, {"i": {0: "7.5"}})).columns[0]
    assert fraction.entries.tolist() == [7.5, 2.0]
    word = as_table(change_cells(table, {"f": {0: "abc"}})).columns[1]
    assert word.text() == ["abc", "1.5"]
    for name, left in (("i", "2"), ("f", "1.5"), ("b", "false"), ("t", "y")):
        gone = as_table(change_cells(table, {name: {0: None}}))
        column = gone.columns[gone.column_names.index(name)]
        assert column.text() == [None, left]


def test_categories_and_nullable_types():
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["a", "b"]),
            "n": pd.array([1, None], "Int64"),
            "s": pd.array(["x", None], "string"),
        }
    )
    changed = change_cells(frame, {"c": {0: "b", 1: "new"}, "n": {0: None, 1: "5"}, "s": {1: "y"}})
    assert changed["c"].tolist() == ["b", "new"] and isinstance(
        changed["c"].dtype, pd.CategoricalDtype
    )
    assert changed["n"].dtype == "Int64" and changed["n"].tolist()[1] == 5
    assert changed["s"].dtype == "string"
    long = pa.DictionaryArray.from_arrays(np.arange(100_000, dtype="i4") % 2, ["a" * 10**6, "b"])
    changed = change_cells(pa.table({"c": long}), {"c": {0: "z", 2: "b", 4: None}})["c"]
    assert changed.type == long.type and changed.nbytes < 10**7  # never a text for every row
    assert changed.slice(1, 5).to_pylist() == ["b", "b", "b", None, "b"]
    assert changed[0].as_py() == "z"
    enum = pl.DataFrame({"c": pl.Series(["a", "b"], dtype=pl.Enum(["a", "b"]))})
    assert change_cells(enum, {"c": {0: "b"}}).schema == enum.schema
    assert change_cells(enum, {"c": {0: "z"}})["c"].to_list() == ["z", "b"]


@pytest.mark.parametrize("kind", ["pandas", "objects", "polars", "pyarrow", "array"])
def test_times_with_a_zone_are_read_and_written_in_utc(kind):
    zone = ZoneInfo("Europe/Berlin")
    times = [datetime(2024, 1, day, 12, tzinfo=zone) for day in (1, 2, 3)]
    table = pa.table({"t": pa.array(times, pa.timestamp("us", tz="Europe/Berlin"))})
    if kind == "pandas":
        table = table.to_pandas()
    elif kind == "objects":
        table = pd.DataFrame({"t": pd.Series(times, dtype=object)})
    elif kind == "polars":
        table = pl.from_arrow(table)
    elif kind == "array":
        table = np.array([[time] for time in times], dtype=object)
    column = as_table(table).columns[0]
    assert column.text()[1] == "2024-01-02T11:00:00"
    changes = {0: column.text()[1], 1: "2024-01-05T13:00:00+01:00", 2: None}
    changed = as_table(change_cells(table, {column.name: changes})).columns[0]
    assert changed.text() == ["2024-01-02T11:00:00", "2024-01-05T12:00:00", None]


def test_arrays_and_targets():
    whole = np.array([[1, 2], [3, 4]])
    assert change_cells(whole, {"x1": {0: "9"}}).tolist() == [[1, 9], [3, 4]]
    assert change_cells(whole, {"x1": {0: "9.5"}}).dtype == float
    assert np.isnan(change_cells(whole, {"x1": {0: None}})[0, 1])
    assert change_cells(np.array([["a", "b"]]), {"x0": {0: "longer"}}).tolist() == [["longer", "b"]]
    assert change_vector(np.array([0, 1]), {0: "1"}).tolist() == [1, 1]
    assert change_vector((1.5, 2.5), {1: "3"}) == (1.5, 3.0)
    assert change_vector(pd.Series(["a", "b"]), {0: "b"}).tolist() == ["b", "b"]


def test_digests_tell_tables_apart_and_nothing_else():
    def digest(entries, name="a"):
        return column_digest(as_table({name: entries}).columns[0])

    assert digest([1, 2]) == digest([1.0, 2.0]) == digest(["1", "2"]) == digest(["1", "2.00"])
    assert digest(["x", None]) == digest(["x", ""])
    assert digest([0.0, 1.0]) == digest([-0.0, 1.0])
    different = [digest([1, 2]), digest([2, 1]), digest([1, 2], "b"), digest([1, None]), digest(["x", "y"]),
                 digest(["1", "2", "3", "4", "5", "6", "x"]), digest(["1", "2", "3", "4", "5", "6", "y"])]  # fmt: skip
    assert len(set(different)) == len(different)


def coded(values):
    """An Arrow column of three values by turns, as a dictionary."""
    return pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int32()), pa.array(values))


TOP, LOW = 2**63 - 1, -(2**63)
DAYS = [timedelta(days=k) for k in (1, 2, 3)]
ODD_TYPES = {
    "pandas durations": (pd.Series(DAYS), "2.5", timedelta(days=2.5)),
    "polars durations": (pl.Series(DAYS), "2.5", timedelta(days=2.5)),
    "Arrow durations": (pa.chunked_array([DAYS]), "2.5", timedelta(days=2.5)),
    "Arrow durations, missing": (pa.chunked_array([DAYS]), None, None),
    "booleans in a dictionary": (coded([True, False, None]), "false", False),
    "floats in a dictionary": (coded([1.5, 2.5, 3.5]), "9.5", 9.5),
    "dates in a dictionary": (
        coded([datetime(2024, 1, day) for day in (1, 2, 3)]),
        "2024-02-01",
        datetime(2024, 2, 1),
    ),
    "text in a dictionary of floats": (coded([1.5, 2.5, 3.5]), "high", "high"),
    "polars objects": (pl.Series(["a", 1, None], dtype=pl.Object), "b", "b"),
    "top of int64, pandas": (pd.Series([TOP, TOP - 1, LOW]), str(TOP + 1), TOP + 1),
    "top of int64, polars": (pl.Series([TOP, TOP - 1, LOW]), str(TOP + 1), str(TOP + 1)),
    "top of int64, Arrow": (pa.chunked_array([[TOP, TOP - 1, LOW]]), str(TOP + 1), str(TOP + 1)),
    "half among long numbers, pandas": (pd.Series([TOP, TOP - 1, LOW]), "2.5", "2.5"),
    "half among long numbers, Arrow": (pa.chunked_array([[TOP, TOP - 1, LOW]]), "2.5", "2.5"),
    "missing among long numbers": (pd.Series([TOP, TOP - 1, LOW]), None, None),
    "decimals, polars": (
        pl.Series([Decimal("1.25")] * 3, dtype=pl.Decimal(9, 2)), "2.5", Decimal("2.50"),
    ),
    "longer decimals, polars": (
        pl.Series([Decimal("1.25")] * 3, dtype=pl.Decimal(9, 2)), "2.555", "2.555",
    ),
    "decimals, Arrow": (pa.chunked_array([[Decimal("1.25")] * 3]), "2.5", Decimal("2.50")),
    "times, Arrow": (pa.chunked_array([[time(1), time(2), time(3)]]), "04:00:00", time(4)),
    "text among times": (pl.Series([time(1), time(2), time(3)]), "noon", "noon"),
    "nothing but nulls": (pa.chunked_array([pa.nulls(3)]), "x", "x"),
    "sparse": (pd.Series(pd.arrays.SparseArray([0, 0, 1])), "2", 2),
}  # fmt: skip


if pl.__version__ < "2":  # whose decimals become text
    del ODD_TYPES["decimals, polars"]


@pytest.mark.parametrize("name", ODD_TYPES)
def test_entries_of_odd_types_are_changed_or_become_text_and_no_other_entry_changes(name):
    before, text, after = ODD_TYPES[name]
    before = pa.chunked_array([before]) if isinstance(before, pa.Array) else before
    changed = change_vector(before, {0: text})
    assert type(changed) is type(before)
    was, new = ([*one.to_pylist()] if isinstance(one, pa.ChunkedArray) else one.tolist()
                if isinstance(one, pd.Series) else one.to_list()
                for one in (before, changed))  # fmt: skip
    assert new[0] == after
    assert [*map(str, new[1:])] == [*map(str, was[1:])]


def test_whole_numbers_of_an_array_keep_their_digits():
    array = np.array([[TOP, 1], [LOW, 2]])
    for text in (None, "2.5", str(TOP + 1)):
        assert change_cells(array, {"x1": {0: text}})[:, 0].tolist() == [TOP, LOW]


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_dates_of_arrow_as_categories_are_repaired_in_place(unit):
    stamps = pd.Series([datetime(2024, 1, day) for day in (1, 2, 3)])
    X = pd.DataFrame({"c": stamps.astype(f"timestamp[{unit}][pyarrow]").astype("category")})
    changed = change_cells(X, {"c": {0: "2024-01-02 00:00:00", 2: None}})
    assert changed["c"].dtype == X["c"].dtype
    assert changed["c"].cat.codes.tolist() == [1, 1, -1]
    X = X.take([0, 1, 2] * 20).reset_index(drop=True)
    found = inspect_cells(X)
    assert found._cells.entries[0][1] == "2024-01-02 00:00:00"
    repaired, _ = found.repair(X, cells=[(0, "c", found._cells.entries[0][1])])
    assert repaired["c"].cat.codes.tolist()[:3] == [1, 1, 2]


def test_a_dictionary_that_was_inspected_is_repaired_from_its_own_file(tmp_path):
    """A Parquet file keeps dictionaries of text alone."""
    days = [datetime(2024, 1, 1 + k % 5) for k in range(60)]
    table = pa.table({"d": pa.array(days).dictionary_encode(), "n": np.arange(60) % 7})
    pq.write_table(table, tmp_path / "t.parquet")
    found = inspect_cells(table)
    repaired, _ = found.repair(tmp_path / "t.parquet", cells=[(0, "d", "2024-01-09")])
    assert repaired["d"].to_pylist() == [datetime(2024, 1, 9), *days[1:]]
    pq.write_table(table.set_column(0, "d", pa.array(days[::-1])), tmp_path / "t.parquet")
    with pytest.raises(InputError, match="column 'd' is different"):
        found.repair(tmp_path / "t.parquet", cells=[(0, "d", "2024-01-09")])
