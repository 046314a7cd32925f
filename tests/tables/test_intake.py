"""Tables as people hold them: Arrow, DuckDB, dictionaries, records, files."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shapley2d import KNN, Exact, InputError, value_cells
from shapley2d._tables.convert import as_table
from shapley2d._tables.problem import make_problem
from shapley2d.exceptions import InputWarning

DATA = {"a": [1.5, 2.0, 3.0, 4.0] * 5, "b": ["u", "v"] * 10, "c": [True, False] * 10}
ARROW = pa.table(DATA)
Y = ["p", "q"] * 10


class Stream:
    """As DuckDB's relations, and other libraries, hand out their rows."""

    columns = tuple(DATA)

    def __arrow_c_stream__(self, requested_schema=None):
        return ARROW.__arrow_c_stream__(requested_schema)


class Fetched:
    """As the results of older DuckDB do."""

    columns = tuple(DATA)

    def fetch_arrow_table(self):
        return ARROW


class Reader:
    def arrow(self):
        return ARROW.to_reader()


@pytest.mark.parametrize(
    "data",
    [
        ARROW,
        ARROW.to_batches()[0],
        ARROW.to_reader(),
        Stream(),
        Fetched(),
        Reader(),
        DATA,
        {key: pd.Series(part) for key, part in DATA.items()},
        {key: pl.Series(part) for key, part in DATA.items()},
        {key: np.array(part) for key, part in DATA.items()},
        {key: pa.array(part) for key, part in DATA.items()},
        ARROW.to_pylist(),
        [
            {**record, "b": record["b"]} if k else {"a": 1.5, "b": "u", "c": True}
            for k, record in enumerate(ARROW.to_pylist())
        ],
    ],
    ids=lambda data: type(data).__name__,
)
def test_tables_of_every_sort(data):
    table = as_table(data)
    kinds = {column.name: column.kind for column in table.columns}
    assert kinds == {"a": "number", "b": "category", "c": "boolean"}
    for column, twin in zip(table.columns, as_table(ARROW).columns, strict=True):
        assert column.text() == twin.text()


def test_duckdb_itself():
    duckdb = pytest.importorskip("duckdb")
    tables = as_table(duckdb.from_arrow(ARROW)), as_table(ARROW)
    assert [one.text() for one in tables[0].columns] == [one.text() for one in tables[1].columns]


def test_records_may_lack_fields_and_mix_types():
    table = as_table([{"a": 1}, {"b": "x"}, {"a": "oops"}, *({"a": k} for k in range(5))])
    assert table.column_names == ["a", "b"]
    assert table.columns[0].from_text.strays == {2: "oops"}
    assert table.columns[1].text()[:3] == [None, "x", None]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"a": [1, 2], "b": [1]}, "column 'a' has 2 entries, but column 'b' has 1"),
        ({"a": 5}, "column 'a' is a single int, not a list"),
        ({"a": "text"}, "column 'a' is a single str"),
        ([{}, {}], "its records are empty"),
    ],
)
def test_dictionaries_that_are_no_tables(data, message):
    with pytest.raises(InputError, match=message):
        as_table(data)


@pytest.fixture
def files(tmp_path):
    frame = pd.DataFrame(DATA).assign(y=Y)
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    return tmp_path


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.jsonl"])
def test_a_path_with_the_name_of_the_target(files, name):
    expected = value_cells(pd.DataFrame(DATA), Y, method=KNN(n_neighbors=3))
    for path in (files / name, str(files / name)):
        v = value_cells(path, "y", method=KNN(n_neighbors=3))
        np.testing.assert_array_equal(v.values, expected.values)
        assert v.column_names == ["a", "b", "c"]
    valid = value_cells(files / name, "y", files / "t.csv", method=KNN(n_neighbors=3))
    assert valid.info["n_valid"] == 20
    assert valid.info["call"].startswith(
        f"value_cells('{files / name}', \"y\", '{files / 't.csv'}'"
    )


def test_the_name_of_the_target_in_any_table():
    expected = value_cells(pd.DataFrame(DATA), Y, method=KNN(n_neighbors=3)).values
    for data in (
        {**DATA, "y": Y},
        pl.DataFrame({**DATA, "y": Y}),
        ARROW.append_column("y", pa.array(Y)),
    ):
        v = value_cells(data, "y", method=KNN(n_neighbors=3), include_label=False)
        np.testing.assert_array_equal(v.values, expected)
    labelled = value_cells({**DATA, "y": Y}, "y", method=Exact("knn"), include_label=True, cv=2)
    assert labelled.column_names[-1] == "y"


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ("no.csv", "y", "there is no file"),
        ("no.csv", Y, "y must be the name of the column to predict where X is the path of a file"),
        (DATA, "d", "X has no column 'd' to predict"),
        (
            {**DATA, "outcome": Y},
            "outcom",
            r"X has no column 'outcom' to predict \(did you mean 'outcome'\?\)",
        ),
        (np.eye(4), "y", "y='y' names a column, but X has no names"),
    ],
)
def test_wrong_names(X, y, message):
    with pytest.raises(InputError, match=message):
        make_problem(X, y)


def test_groups_leave_out_the_same_rows():
    X = {"a": np.arange(24.0), "b": np.arange(24.0) % 5}
    y = [*(k / 2 for k in range(23)), "x"]
    names, labels = [f"r{k}" for k in range(24)], ["A"] * 12 + ["B"] * 11 + ["C"]
    with pytest.warns(InputWarning, match="those rows are left out"):
        given = value_cells(X, y, row_groups=labels, cv=2)
    frame, groups = pd.DataFrame(X, index=names), pd.Series(labels, names)[::-1]
    with pytest.warns(InputWarning, match="those rows are left out"):
        aligned = value_cells(frame, y, row_groups=groups, cv=2)
    assert given.row_names.tolist() == aligned.row_names.tolist() == ["A", "B"]
    np.testing.assert_array_equal(given.values, aligned.values)


def test_long_names_and_paths_are_refused_in_short():
    for X in (np.eye(6), pd.DataFrame(np.eye(6), columns=list("abcdef"))):
        with pytest.raises(InputError) as caught:
            value_cells(X, "a" * 10_000)
        assert len(str(caught.value)) < 300
    for name in ("a" * 10_000, "a\0b"):
        with pytest.raises(InputError, match="is not a valid file name"):
            value_cells(name, "y")


@pytest.mark.parametrize("single", ["x", 3, np.array("x"), np.ma.masked], ids=range(4))
def test_a_single_thing_is_no_column(single):
    with pytest.raises(InputError, match=r"column 'a' is a single .*, not a list of entries"):
        as_table({"a": single})
