"""Tables from files: separators, encodings, types, missing entries."""

import datetime as dt
import gzip
import io
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shapley2d import InputError
from shapley2d._tables.convert import as_table, with_typed_native
from shapley2d._tables.reading.files import read_table


def read(tmp_path, content, name="table.csv", **options):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_table(str(path), **options)


def typed(source):
    """The entries as they are valued."""
    return with_typed_native(as_table(source.table)).native.to_pydict()


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_separators_are_found(tmp_path, separator):
    text = "a,b,c\n1,x,2.5\n2,y,3\n".replace(",", separator)
    assert typed(read(tmp_path, text)) == {"a": [1, 2], "b": ["x", "y"], "c": [2.5, 3.0]}


def test_separator_inside_quotes_does_not_count(tmp_path):
    source = read(tmp_path, 'a;b\n"x,y,z";1\n"u,v,w";2\n')
    assert typed(source) == {"a": ["x,y,z", "u,v,w"], "b": [1, 2]}


@pytest.mark.parametrize("asked", [" ", "tab", "\\t"])
def test_separator_as_asked(tmp_path, asked):
    mark = " " if asked == " " else "\t"
    assert typed(read(tmp_path, f"a{mark}b\n1{mark}2\n", separator=asked)) == {"a": [1], "b": [2]}


@pytest.mark.parametrize("missing", ["", "NA", "?", "NaN", "null", " ? ", '""'])
def test_missing_entries(tmp_path, missing):
    table = read(tmp_path, f"a,b\n{missing},x\n3,{missing}\n")
    assert typed(table) == {"a": [None, 3], "b": ["x", None]}


@pytest.mark.parametrize(
    ("entries", "values"),
    [
        (["1", "+2", "-3"], [1.0, 2.0, -3.0]),
        (["1", "2.5", "1e3"], [1.0, 2.5, 1000.0]),
        (["true", "False", "?"], [True, False, None]),
        (["2024-02-29", "2023-01-01"], [dt.datetime(2024, 2, 29), dt.datetime(2023, 1, 1)]),
        (["2024-02-29 12:30", "2024-02-29T12:30:15"],
         [dt.datetime(2024, 2, 29, 12, 30), dt.datetime(2024, 2, 29, 12, 30, 15)]),
        (["2024-02-29T12:00:00Z", "2024-02-29T12:00:00+02:00"],
         [dt.datetime(2024, 2, 29, 12), dt.datetime(2024, 2, 29, 10)]),
        (["2024-02-31", "2024-01-01"], ["2024-02-31", "2024-01-01"]),
        (["yes", "1"], ["yes", "1"]),
        (["?", ""], [None, None]),
        (["99999999999999999999", "1"], [1e20, 1.0]),
    ],
)  # fmt: skip
def test_types(tmp_path, entries, values):
    rows = "".join(f"{entry},0\n" for entry in entries)
    assert typed(read(tmp_path, "a,b\n" + rows))["a"] == values


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings_without_a_question(tmp_path, encoding):
    source = read(tmp_path, "größe,y\n1,ж\n".encode(encoding))
    assert typed(source) == {"größe": [1], "y": ["ж"]}
    assert source.notes == []


def test_other_encodings_are_guessed_with_a_note(tmp_path):
    source = read(tmp_path, "größe,y\n1,€\n".encode("cp1252"))
    assert typed(source) == {"größe": [1], "y": ["€"]}
    assert "is not UTF-8 (first in line 1): read as cp1252" in str(source.notes[0])
    assert "latin-1" in read(tmp_path, b"a,y\n1,\x81\n").notes[0]


def test_encoding_as_asked(tmp_path):
    assert read(tmp_path, "a,y\n1,ж\n".encode("koi8-r"), encoding="koi8-r").table[
        "y"
    ].to_pylist() == ["ж"]


def test_compressed_and_parquet_are_told_by_content(tmp_path):
    text = b"a,b\n1,x\n"
    expected = {"a": [1], "b": ["x"]}
    assert typed(read(tmp_path, gzip.compress(text), "table.csv.gz")) == expected
    assert typed(read(tmp_path, gzip.compress(text), "no_ending")) == expected
    buffer = io.BytesIO()
    pq.write_table(pa.table(expected), buffer)
    for name in ("table.parquet", "table.csv"):
        source = read(tmp_path, buffer.getvalue(), name)
        assert typed(source) == expected
        assert source.where(0) == "row 1 (counted from 1)"


def test_index_of_pandas_is_no_column(tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "table.parquet"
    pd.DataFrame({"a": [1, 2, 3]}).iloc[[0, 2]].to_parquet(path)
    assert read_table(str(path)).table.column_names == ["a"]


def test_stdin(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n")))
    assert typed(read_table("-")) == {"a": [1], "b": [2]}


def test_lines_are_named_only_where_they_are_certain(tmp_path):
    assert read(tmp_path, "a,b\n1,2\n3,4").where(1) == "line 3"
    assert read(tmp_path, "a,b\r\n1,2\r\n3,4\r\n").where(1) == "line 3"
    assert read(tmp_path, "a,b\n\n1,2\n3,4\n").where(1) == "line 4"
    assert read(tmp_path, 'a,b\n1,"x\ny"\n\n3,4\n').where(1) == "line 5"
    lines = read(tmp_path, '{"a": 1}\n\n{"a": 2}\n', "t.jsonl")
    assert [lines.line(row) for row in range(2)] == [1, 3]
    buffer = io.BytesIO()
    pq.write_table(pa.table({"a": [1, 2]}), buffer)
    stored = read(tmp_path, buffer.getvalue(), "t.parquet")
    assert stored.line(1) is None and stored.where(1) == "row 2 (counted from 1)"


def test_nameless_columns_and_spaces_around_names(tmp_path):
    assert read(tmp_path, ", b ,c\n1,2,3\n").table.column_names == ["column 1", "b", "c"]


def test_a_late_text_is_a_stray(tmp_path):
    rows = "".join(f"{k},{k % 2}\n" for k in range(300_000))  # beyond a block of pyarrow's reader
    column = as_table(read(tmp_path, "a,b\n" + rows + "late,1\n").table).columns[0]
    assert column.kind == "number"
    assert column.from_text.strays == {300_000: "late"}


RECORDS = '{"a": 1, "b": "x"}\n{"a": 2.5}\n\n{"a": null, "b": "z"}\n'


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.json", "t.txt", "t.csv"])
def test_json_lines_are_read(tmp_path, name):
    assert typed(read(tmp_path, RECORDS, name)) == {"a": [1, 2.5, None], "b": ["x", None, "z"]}
    assert typed(read(tmp_path, gzip.compress(RECORDS.encode()), name + ".gz"))["a"] == [
        1,
        2.5,
        None,
    ]


def test_a_list_of_records_is_read(tmp_path):
    text = '[{"a": 1, "b": "x"},\n {"b": "y", "a": 2}]'
    assert typed(read(tmp_path, text)) == {"a": [1, 2], "b": ["x", "y"]}


def test_json_of_several_types_is_text_that_holds_numbers(tmp_path):
    lines = "".join(f'{{"a": {k}.5, "d": "2024-01-{k:02d}"}}\n' for k in range(1, 20))
    table = as_table(read(tmp_path, lines + '{"a": "??", "d": "soon"}\n', "t.jsonl").table)
    assert [column.kind for column in table.columns] == ["number", "date"]
    assert [column.from_text.strays for column in table.columns] == [{19: "??"}, {19: "soon"}]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1}\n{"a": \n', "t.jsonl, line 2 is not a JSON record"),
        ('{"a": 1}\n[2]\n', "entry 2 is not a record"),
        (
            '{"a": 1, "b": {"c": 2}, "d": "x"}\n{"a": "y"}\n',
            "field 'b' of record 1 holds a dict, not a plain entry",
        ),
        ("[1, 2]", "entry 1 is not a record"),
        ("[{]", "line 1 is not a JSON record"),
        ('[{"a": 1},\n{"a": 2}\n{"a": 3}]', "line 3 .* .the list does not end as it should"),
        ("{}\n", "no records with fields"),
    ],
)
def test_json_that_is_no_table_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read(tmp_path, text, "t.jsonl")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('{"a": 1}\n\n{"a": 2}\n', [1, 3]),
        ('[\n {"a": 1},\n {"a":\n 2}\n]\n', [2, 3]),
        ('{"a": 1}\r\n{\r\n"a": 2}', [1, 2]),
        ('[{"a": 1}, {"a": 2}]', None),
    ],
)
def test_records_know_their_lines_however_long_they_are(tmp_path, text, lines):
    source = read(tmp_path, text, "t.json")
    assert source.table["a"].to_pylist() == [1, 2]
    assert (None if source.lines is None else source.lines.tolist()) == lines


def test_braces_do_not_make_a_csv_json(tmp_path):
    assert typed(read(tmp_path, "{a},b\n{1},2\n{3},4\n")) == {"{a}": ["{1}", "{3}"], "b": [2, 4]}


@pytest.mark.parametrize("name", ["t.json", "t.txt"])
@pytest.mark.parametrize("depth", [101, 1000, 20_000])
@pytest.mark.parametrize("text", ['{{"a": {}}}', '{{"b": 1}}\n{{"a": {}}}', '[{{"a": {}}}]', "{}"])
def test_json_that_is_nested_deeply_is_refused(tmp_path, name, depth, text):
    words = "nests lists or objects too deeply|not a plain entry|not a record|a single column"
    with pytest.raises(InputError, match=words):
        read(tmp_path, text.format("[" * depth + "]" * depth), name)


def test_numbers_in_json_that_are_longer_than_python_reads_are_refused(tmp_path):
    with pytest.raises(InputError, match="a number has too many digits"):
        read(tmp_path, '{"a": ' + "1" * 5000 + "}\n", "t.jsonl")


@pytest.mark.parametrize("large", [2**53 + 1, 2**63, 2**64, -(10**30)])
@pytest.mark.parametrize("other", [1, -1, 1.5])
def test_whole_numbers_of_any_length_in_json(tmp_path, large, other):
    table = as_table(read(tmp_path, f'{{"a": {large}}}\n{{"a": {other}}}\n', "t.jsonl").table)
    assert table.columns[0].kind == "number"
    assert table.columns[0].entries.tolist() == [float(large), other]


ROWS = [f'{k},x{k},"t{k}"' if k == 50 else f"{k},x{k},t{k}" for k in range(1, 62)]


def with_row(k, row):
    return "\n".join(["a,b,c", *ROWS[: k - 1], row, *ROWS[k:]]) + "\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
@pytest.mark.parametrize(
    ("text", "line", "how_far"),
    [
        (with_row(55, '55,x,"open'), 56, "to the end of the file"),
        (with_row(61, '61,x,"open'), 62, "to the end of the file"),
        (with_row(55, '55,"open,y'), 56, "to the end of the file"),
        (with_row(31, '31,x,"open'), 32, "over rows up to line 51"),
        (with_row(48, '48,x,"open'), 49, "up to line 51, where text follows its end"),
        (with_row(31, '31,x,"open').replace('"t50"', '5"'), 32, "over rows up to line 51"),
        ('a,b,"c\n1,2,3\n4,5,6\n', 1, "to the end of the file"),
    ],
)
def test_a_quote_without_its_partner_is_refused_by_its_line(tmp_path, text, line, how_far, end):
    text = text.removesuffix("\n") if end == "" else text.replace("\n", end)
    message = f"t.csv, line {line}: a field with a quote goes on {how_far}: close its quote"
    with pytest.raises(InputError, match=message):
        read(tmp_path, text, "t.csv")


def test_fields_of_several_lines_and_quotes_in_the_text_are_read(tmp_path):
    letter = "Dear all,\n\nmany lines,\nsome with commas,\nsome without\n, and, so, on"
    text = f'a,b\n1,"{letter}"\n2,5" nail\n3,"a ""quote"""\n4,"x" y\n5,"two,\nlines"'
    table = read(tmp_path, text, "t.csv").table
    assert table["b"].to_pylist() == [letter, '5" nail', 'a "quote"', "x y", "two,\nlines"]
