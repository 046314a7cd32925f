"""The boundary: every kind of table in, every mistake named."""

import datetime as dt
import pickle
import tracemalloc
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shapley2d import InputError
from shapley2d._tables.convert import as_table
from shapley2d._tables.encoding import as_float32
from shapley2d._tables.kinds import match_columns
from shapley2d._tables.target import as_target, guess_task, match_target
from shapley2d.exceptions import LeakWarning, UnseenLabelWarning

FRAME = pd.DataFrame(
    {
        "number": [1.5, None, 3.0],
        "whole": pd.array([1, None, 3], dtype="Int64"),
        "text": ["x", None, "y"],
        "category": pd.Categorical(["u", "v", "u"]),
        "flag": pd.array([True, None, False], dtype="boolean"),
        "day": [dt.date(2020, 1, 1), None, dt.date(2021, 1, 1)],
        "time": pd.to_datetime(["2020-01-01 00:00", "2020-01-02 06:00", None]),
        "span": pd.to_timedelta([1, 2, 3], unit="D"),
    }
)
TEXTS = {
    "number": ["1.5", None, "3"],
    "whole": ["1", None, "3"],
    "text": ["x", None, "y"],
    "category": ["u", "v", "u"],
    "flag": ["true", None, "false"],
    "day": ["2020-01-01", None, "2021-01-01"],
    "time": ["2020-01-01", "2020-01-02T06:00:00", None],
    "span": ["1", "2", "3"],
}
KINDS = ["number", "number", "category", "category", "boolean", "date", "date", "number"]


@pytest.mark.parametrize(
    "convert",
    [
        lambda frame: frame,
        pl.from_pandas,
        lambda frame: pl.from_pandas(frame).lazy(),
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    ],
    ids=["pandas", "polars", "lazy polars", "pyarrow"],
)
def test_every_frame_gives_the_same_table(convert):
    table = as_table(convert(FRAME))
    assert [column.kind for column in table.columns] == KINDS
    assert {column.name: column.text() for column in table.columns} == TEXTS


def test_arrays_and_lists():
    assert as_table(np.eye(2)).column_names == ["x0", "x1"]
    assert [c.kind for c in as_table(np.array([[True], [False]])).columns] == ["boolean"]
    mixed = as_table([["a", 1, None], ["b", 2.5, True]])
    assert [c.kind for c in mixed.columns] == ["category", "number", "boolean"]
    stamps = as_table(np.array([["2020-01-01"], ["NaT"]], dtype="datetime64[D]"))
    assert stamps.columns[0].text() == ["2020-01-01", None]
    aware = dt.datetime(2020, 1, 1, 1, tzinfo=dt.timezone(dt.timedelta(hours=1)))
    assert as_table(np.array([[aware]], dtype=object)).columns[0].text() == ["2020-01-01"]


def test_row_names_come_from_the_index():
    assert as_table(FRAME).row_names.tolist() == [0, 1, 2]
    assert as_table(FRAME.set_axis(["a", "b", "c"])).row_names.tolist() == ["a", "b", "c"]
    multi = FRAME.set_axis(pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)]))
    assert as_table(multi).row_names[0] == "('a', 1)"


def test_taking_rows_keeps_everything_together():
    part = as_table(FRAME.set_axis(["a", "b", "c"])).take_rows(np.array([2, 0]))
    assert part.row_names.tolist() == ["c", "a"]
    assert part.columns[2].text() == ["y", "x"]
    assert part.native["text"].tolist() == ["y", "x"]


def test_validation_columns_are_brought_in_order_and_recoded():
    train = as_table(FRAME)
    valid = match_columns(
        as_table(FRAME[FRAME.columns[::-1]].replace({"text": {"y": "new"}})), train
    )
    assert valid.column_names == train.column_names
    assert valid.columns[2].text() == ["x", None, "new"]
    assert valid.columns[2].entries[2] not in train.columns[2].entries
    assert list(valid.native.columns) == train.column_names


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (np.zeros((0, 3)), "X is empty"),
        (np.zeros((3, 0)), "X has no columns"),
        (np.zeros(3), "X must be a 2-D table"),
        (np.array([[1.0, np.inf]]), "column 'x1' holds an infinite number in row 0"),
        (
            pd.DataFrame({"a": [1.0, -np.inf]}, index=["p", "q"]),
            "column 'a' holds an infinite number in row q",
        ),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "the column name 'a' occurs twice"),
        (pa.table({"a": [[1, 2]]}), "column 'a' holds List"),
        (np.array([[1 + 2j]]), "Complex data not supported"),
        (pd.DataFrame({"a": [1, {"b": 2}]}, dtype=object), "column 'a', row 1 holds a dict"),
    ],
)
def test_bad_tables_are_named(data, message):
    with pytest.raises(InputError, match=message):
        as_table(data)


def test_sparse_matrices_are_refused():
    from scipy.sparse import csr_matrix

    with pytest.raises(TypeError, match="sparse matrix, which is not supported"):
        as_table(csr_matrix(np.eye(2)))


@pytest.mark.parametrize(
    ("valid", "message"),
    [
        (FRAME.drop(columns="text"), "lacks 'text'"),
        (FRAME.assign(extra=1), "adds 'extra'"),
        (FRAME.rename(columns={"text": "words"}), "lacks 'text' and adds 'words'"),
        (
            FRAME.assign(text=[1, 2, 3]),
            "column 'text' holds numbers, but in the training table it holds text",
        ),
        (np.zeros((3, 2)), "has 2 columns, but the training table has 8"),
    ],
)
def test_validation_tables_that_do_not_fit(valid, message):
    with pytest.raises(InputError, match=message):
        match_columns(as_table(valid), as_table(FRAME))


@pytest.mark.filterwarnings("ignore:.*empty throughout")
def test_blank_columns_and_flags_fit_numbers():
    train = as_table(pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}))
    valid = match_columns(as_table(pd.DataFrame({"a": [True, False], "b": [None, None]})), train)
    assert [column.kind for column in valid.columns] == ["number", "category"]


@pytest.mark.parametrize(
    "y",
    [
        ["u", "v", "u"],
        np.array(["u", "v", "u"]),
        pd.Series(["u", "v", "u"]),
        pd.Series(pd.Categorical(["u", "v", "u"])),
        pl.Series(["u", "v", "u"]),
        pa.array(["u", "v", "u"]),
        pa.chunked_array([["u", "v"], ["u"]]),
    ],
    ids=lambda y: type(y).__name__,
)
def test_targets_of_every_kind(y):
    target = as_target(y, as_table(FRAME))
    assert target.task == "classification"
    assert target.codes.tolist() == [0, 1, 0]
    assert target.classes.tolist() == ["u", "v"]


@pytest.mark.parametrize(
    ("y", "classes"),
    [
        ([1.0, 0.0, 1.0], [0, 1]),
        (pd.Categorical([3, 1, 3]), [1, 3]),
        (pd.Categorical(["3", "1", "3"]), ["1", "3"]),
        (pd.array([True, False, True], "boolean"), [False, True]),
        ([dt.date(2024, 5, 1), dt.date(2023, 5, 1)] * 2, ["2023-05-01", "2024-05-01"]),
        (["a", 1, "a"], ["1", "a"]),
        (np.array(["b", b"a", "b"], dtype=object), ["a", "b"]),
    ],
)
def test_labels_are_the_entries_of_a_column(y, classes):
    target = as_target(y, as_table(np.zeros((len(y), 1))), "classification")
    assert target.classes.tolist() == classes and target.codes[:2].tolist() == [1, 0]
    again = match_target(y, as_table(np.zeros((len(y), 1))), target)
    assert again.codes.tolist() == target.codes.tolist()


def test_guessing_the_task():
    assert guess_task(np.arange(20)) == "classification"
    assert guess_task(np.arange(21)) == "regression"
    assert guess_task(np.array([0.5, 1.0])) == "regression"
    assert guess_task(np.array([True, False])) == "classification"
    assert guess_task(np.array(["1", "2"], dtype=object)) == "classification"


@pytest.mark.parametrize(
    ("y", "task", "message"),
    [
        ([1, 1, 1], "auto", "y holds a single class"),
        ([0.5, 0.5, 0.5], "auto", "the same number in every row"),
        ([1, 2], "auto", "y has 2 entries, but its table has 3 rows"),
        (["a", None, "b"], "auto", r"missing \(NaN\) in 1 row, first in row 1"),
        ([1.0, np.nan, 2.0], "regression", "first in row 1"),
        ([1.0, np.inf, 2.0], "regression", r"infinity \(inf\) in row 1"),
        (["a", "b", "a"], "regression", "holds text, which regression cannot use"),
        ([0.5, 1.5, 2.5], "classification", "holds fractions, not classes"),
        ([0, 1, 0], "ranking", "task='ranking' is not known"),
        (np.eye(3), "auto", "must be 1-D"),
        (None, "auto", "give the labels or numbers to predict"),
        (np.array([1j, 2, 3]), "auto", "Complex data not supported"),
    ],
)
def test_bad_targets_are_named(y, task, message):
    with pytest.raises(InputError, match=message):
        as_target(y, as_table(FRAME), task)


def test_target_that_is_also_a_feature():
    with pytest.raises(InputError, match="the target 'text' is also a column of the features"):
        as_target(pd.Series(["a", "b", "a"], name="text"), as_table(FRAME))


def test_column_that_repeats_the_target_is_pointed_out():
    y = np.arange(24) % 3
    labels = np.array(["p", "q", "r"])[y]
    with pytest.warns(LeakWarning, match="column 'copy' equals the target in every row"):
        as_target(y, as_table(pd.DataFrame({"copy": y, "other": 1.0})))
    with pytest.warns(LeakWarning, match="column 'copy'"):
        as_target(labels, as_table(pd.DataFrame({"copy": labels})))


def test_unseen_validation_labels_are_counted():
    table = as_table(FRAME)
    target = as_target(["a", "b", "a"], table)
    with pytest.warns(
        UnseenLabelWarning,
        match=r"2 of 3 validation rows have labels that training never shows \(c, d\)",
    ):
        valid = match_target(["c", "b", "d"], table, target)
    assert valid.codes.tolist() == [-1, 1, -1]


def test_categoricals_stay_categories():
    """Codes that the user calls nominal are not numbers; plain numbers in validation find their category."""
    train = as_table(pd.DataFrame({"z": pd.Categorical([1, 2, 3])}))
    assert train.columns[0].kind == "category"
    assert (
        as_table(pa.table({"z": pa.array([1, 2, 1]).dictionary_encode()})).columns[0].kind
        == "category"
    )
    valid = match_columns(as_table(pd.DataFrame({"z": [3, 1]})), train)
    assert valid.columns[0].entries.tolist() == [2, 0]


def test_numbers_of_every_kind():
    from fractions import Fraction

    items = [[Decimal("0.5"), dt.timedelta(hours=12), Fraction(1, 4)], [Decimal(2), None, 3]]
    table = as_table(np.array(items, dtype=object))
    assert [column.kind for column in table.columns] == ["number"] * 3
    assert table.columns[1].text() == ["0.5", None]
    assert (
        as_target(pd.Series([Decimal(k) / 4 for k in range(3)]), as_table(FRAME)).task
        == "regression"
    )
    assert (
        as_target(
            np.array([np.int64(k) for k in range(3)], dtype=object), as_table(FRAME)
        ).y.dtype.kind
        == "i"
    )


@pytest.mark.parametrize("make", [pd.DataFrame, np.array, list, dict])
def test_signalling_nans_are_missing(make):
    entries = [Decimal("sNaN"), Decimal(1), Decimal("NaN"), 2]
    data = {"c": entries} if make in (dict, pd.DataFrame) else [[entry] for entry in entries]
    table = as_table(np.array(data, dtype=object) if make is np.array else make(data))
    assert table.columns[0].kind == "number"
    assert np.array_equal(table.columns[0].entries, [np.nan, 1.0, np.nan, 2.0], equal_nan=True)
    with pytest.raises(InputError, match="missing"):
        as_target(pd.Series([1, 2, Decimal("sNaN")]), as_table([[1], [2], [3]]))


def test_masked_entries_are_missing():
    table = as_table(np.ma.masked_array([[0.0], [999.0]], mask=[[False], [True]]))
    assert table.columns[0].text() == ["0", None]


@pytest.mark.filterwarnings("ignore:.*empty throughout")
def test_a_blank_training_column_takes_any_validation_column():
    train = as_table(pd.DataFrame({"a": [None, None], "b": [1, 2]}))
    valid = match_columns(as_table(pd.DataFrame({"a": ["x", "y"], "b": [1, 2]})), train)
    assert valid.columns[0].text() == [None, None]


def test_target_as_a_frame_of_one_column():
    table = as_table(FRAME)
    for y in (pd.DataFrame({"t": ["a", "b", "a"]}), pa.table({"t": ["a", "b", "a"]})):
        assert as_target(y, table).codes.tolist() == [0, 1, 0]
    with pytest.raises(InputError, match="the target 'flag' is also a column"):
        as_target(pd.DataFrame({"flag": [0, 1, 0]}), table)
    with pytest.raises(InputError, match="must be 1-D, got a table of 2 columns"):
        as_target(pd.DataFrame({"t": [1, 2, 3], "u": [1, 2, 3]}), table)


def test_rows_are_taken_when_they_are_read():
    table = as_table(FRAME)
    target = as_target([1, 0, 1], table)
    rows = np.array([2, 0, 1, 2])
    twice = table.take_rows(rows).take_rows(np.array([3, 1]))
    for whole, taken in zip(table.columns, twice.columns, strict=True):
        assert np.array_equal(taken.entries, whole.entries[[2, 0]], equal_nan=True)
        assert taken.text() == [whole.text()[2], whole.text()[0]]
        assert taken.entries is taken.entries
    some = target.take(rows).take(np.array([3, 1]))
    assert some.y.tolist() == target.y[[2, 0]].tolist()
    assert some.codes.tolist() == target.codes[[2, 0]].tolist()
    sent = pickle.loads(pickle.dumps(table.take_rows(rows)))
    assert np.array_equal(sent.columns[0].entries, table.columns[0].entries[rows], equal_nan=True)


def test_numbers_beyond_single_precision_are_the_last_within():
    largest, numbers = np.finfo(np.float32).max, np.array([1e60, -1e60, 3.0, 1e38])
    assert as_float32(numbers).tolist() == [largest, -largest, 3.0, np.float32(1e38)]
    assert as_float32(np.ones((3, 2)).T).flags.c_contiguous
    assert np.isnan(as_float32(np.array([np.nan]))).all()


def test_a_text_that_many_rows_share_stays_one(tmp_path):
    coded = pa.DictionaryArray.from_arrays(
        pa.array(np.arange(20_000) % 2), pa.array(["x" * 100_000, "y"])
    )
    tracemalloc.start()
    table = as_table(pa.table({"a": coded}))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert table.columns[0].categories == ("x" * 100_000, "y")
    assert peak < 50 * 2**20  # a gigabyte, written out
