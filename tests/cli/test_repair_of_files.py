"""Repaired files say what was decided in the rows that were meant, whatever their format."""

import csv
import datetime as dt
import gzip
import io
import json
import re
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shapley2d._inspection import rewrite
from shapley2d._inspection.decisions import same_entry
from shapley2d._inspection.rewrite import write_changed
from shapley2d._tables.reading.files import parse_table, read_contents, read_table
from shapley2d.exceptions import InputError

# also what Python takes for line ends, quotes, separators, byte-order marks and formulas
LETTERS = [*"ab1.;,|\t\"'=-{}[]\\ ", "\n", "\r", "\r\n", *"\x0b\x0c\x1c\x85\u2028\u2029\ufeffé"]
NAMES = ("a", "b", "c")


def csv_text(rows, end="\n", separator=","):
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator=end, delimiter=separator).writerows([NAMES, *rows])
    return stream.getvalue()


def records(rows):
    return [dict(zip(NAMES, row, strict=True)) for row in rows]


def sheet_bytes(rows):
    openpyxl = pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    book = openpyxl.Workbook()
    for i, row in enumerate([NAMES, *rows], 1):
        for j, text in enumerate(row, 1):
            cell = book.active.cell(i, j)
            cell.value, cell.data_type = re.sub(r"[\x0b\x0c\x1c]", "", text), "s"
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def parquet_bytes(rows):
    stream = io.BytesIO()
    pq.write_table(pa.table([list(column) for column in zip(*rows, strict=True)], NAMES), stream)
    return stream.getvalue()


FORMATS = {
    "t.csv": lambda rows: csv_text(rows).encode(),
    "dos.csv": lambda rows: csv_text(rows, "\r\n", ";").encode("utf-16"),
    "t.csv.gz": lambda rows: gzip.compress(csv_text(rows).encode("utf-8-sig")),
    "t.json": lambda rows: json.dumps(records(rows), ensure_ascii=False).encode(),
    "t.jsonl": lambda rows: "\n".join(
        json.dumps(one, ensure_ascii=False) for one in records(rows)
    ).encode(),
    "dos.jsonl": lambda rows: "".join(json.dumps(one) + "\r\n" for one in records(rows)).encode(),
    "t.parquet": parquet_bytes,
    "t.xlsx": sheet_bytes,
}


def check_repair(folder, name, rows, new):
    """Repair a file of some rows: "refused", or "repaired" in the decided cells and no others."""
    path, output = folder / name, folder / f"clean-{name.replace('.xlsx', '.csv')}"
    output.unlink(missing_ok=True)
    path.write_bytes(FORMATS[name](rows))
    try:
        before = read_table(str(path), separator=None).table
    except InputError:
        return "refused"
    assert before.num_rows <= len(rows)
    changes = {}
    for (row, column), text in new.items():
        if row < before.num_rows and column in before.column_names:
            changes.setdefault(column, {})[row] = text
    try:
        write_again(path, output, before, changes)
    except InputError:
        assert not output.exists()
        return "refused"
    after = read_table(str(output)).table
    assert after.column_names == before.column_names
    assert after.num_rows == before.num_rows
    for column in before.column_names:
        decided = changes.get(column, {})
        pairs = zip(before[column].to_pylist(), after[column].to_pylist(), strict=True)
        for row, (was, now) in enumerate(pairs):
            if row in decided:
                assert same_entry(now, decided[row]), (row, column, was, now)
            else:
                assert now == was, (row, column)
    return "repaired"


def write_again(path, output, table, changes):
    held = read_contents(str(path), separator=None, encoding=None)
    write_changed(output, held, table, changes)


TEXTS = st.lists(st.sampled_from(LETTERS), max_size=6).map("".join)


@st.composite
def repairs(draw):
    """Rows of texts, and new entries by row and column."""
    n = draw(st.integers(2, 6))
    rows = [[draw(TEXTS) for _ in NAMES] for _ in range(n)]
    places = st.tuples(st.integers(0, n - 1), st.sampled_from(NAMES))
    new = st.one_of(st.none(), TEXTS.filter(bool))
    return rows, draw(st.dictionaries(places, new, min_size=1, max_size=4))


@pytest.mark.parametrize("name", FORMATS)
@settings(suppress_health_check=list(HealthCheck))
@given(repair=repairs())
def test_a_repair_changes_the_decided_cells_only_or_nothing(name, repair, tmp_path_factory):
    folder = tmp_path_factory.getbasetemp() / "repairs"
    folder.mkdir(exist_ok=True)
    check_repair(folder, name, *repair)


@pytest.mark.parametrize("name", FORMATS)
def test_plain_repairs_are_written(name, tmp_path):
    rows = [[f"{k}", "x, y", "é"] for k in range(9)]
    path, output = tmp_path / name, tmp_path / f"clean-{name.replace('.xlsx', '.csv')}"
    path.write_bytes(FORMATS[name](rows))
    source = read_table(str(path))
    changes = {"a": {3: "30"}, "c": {8: None, 0: "two\nlines"}}
    write_again(path, output, source.table, changes)
    table = read_table(str(output)).table.to_pydict()
    assert table["a"][2:5] == ["2", "30", "4"]
    assert table["c"][0] == "two\nlines"
    assert not table["c"][8]


def test_other_fields_of_json_keep_their_bytes(tmp_path):
    path, output = tmp_path / "t.json", tmp_path / "clean.json"
    path.write_text('[ {"a" : 1.50, "b":1e2},\n {"b": 007e0 , "a":null}]\n'.replace("007e0", "7E0"))
    source = read_table(str(path))
    changes = {"b": {1: "8"}, "a": {1: "2.5"}}
    write_again(path, output, source.table, changes)
    assert output.read_text() == '[ {"a" : 1.50, "b":1e2},\n {"b": 8 , "a":2.5}]\n'


def test_a_record_without_the_field_gets_it(tmp_path):
    path, output = tmp_path / "t.jsonl", tmp_path / "clean.jsonl"
    path.write_text('{"a": 1}\n{}\n{"b": 2 }\n')
    source = read_table(str(path))
    write_again(path, output, source.table, {"a": {1: "5", 2: "6"}})
    assert output.read_text() == '{"a": 1}\n{"a": 5}\n{"b": 2 , "a": 6}\n'


def test_typed_columns_of_parquet(tmp_path):
    path, output = tmp_path / "t.parquet", tmp_path / "clean.parquet"
    days = [dt.date(2024, 1, k) for k in (1, 2, 3)]
    table = pa.table(
        {
            "day": days,
            "moment": [dt.datetime(2024, 1, 2, 3, k) for k in (1, 2, 3)],
            "flag": [True, None, False],
            "number": [1.5, float("nan"), 2.5],
            "word": pa.array(["u", "v", "u"]).dictionary_encode(),
        }
    )
    pq.write_table(table, path)
    changes = {
        "day": {0: "2023-12-31"},
        "moment": {1: "2024-05-06"},
        "flag": {2: "true"},
        "number": {2: "7"},
        "word": {0: "v"},
    }
    write_again(path, output, table, changes)
    after = pq.read_table(output)
    assert after["day"].to_pylist() == [dt.date(2023, 12, 31), *days[1:]]
    assert after["moment"].to_pylist()[1] == dt.datetime(2024, 5, 6)
    assert after["flag"].to_pylist() == [True, None, True]
    assert after["word"].to_pylist() == ["v", "v", "u"]
    assert after.schema.types == table.schema.types


@pytest.mark.parametrize(("name", "row"), [("t.csv", 1), ("t.jsonl", 0)])
def test_a_file_that_would_say_something_else_is_not_written(name, row, tmp_path, monkeypatch):
    path, output = tmp_path / name, tmp_path / f"clean-{name}"
    path.write_bytes(FORMATS[name]([["1", "x", "u"], ["2", "y", "v"], ["3", "z", "w"]]))
    table = read_table(str(path)).table
    for function in ("csv_edits", "json_edits"):
        real = getattr(rewrite, function)

        def elsewhere(*parts, real=real):  # writes into the next row
            *rest, changes = parts
            moved = {
                key: {(k + 1) % 3: v for k, v in part.items()} for key, part in changes.items()
            }
            return real(*rest, moved)

        monkeypatch.setattr(rewrite, function, elsewhere)
    with pytest.raises(InputError, match=r"would say .*, column 'b', not .*: nothing is written"):
        write_again(path, output, table, {"b": {row: "new"}})
    assert [place.name for place in Path(tmp_path).iterdir()] == [name]


def test_a_line_end_inside_a_string_is_not_the_end_of_a_line(tmp_path, capsys):
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": "x\u2028y", "b": 1}\n{"a": "\x85", "b": 2}\n\u2028\n', encoding="utf-8")
    with pytest.raises(InputError, match="line 3 is not a JSON record"):
        read_table(str(path))
    path.write_text('{"a": "x\u2028y", "b": 1}\n{"a": "\x85z", "b": 2}\n', encoding="utf-8")
    source = read_table(str(path))
    assert source.table.to_pydict() == {"a": ["x\u2028y", "\x85z"], "b": [1, 2]}
    assert [source.line(row) for row in range(2)] == [1, 2]


LINES = [
    '{"t": "a", "n": 1.10, "f": true}',
    '{"t": null, "n": null, "f": null}',
    '{"n": 2, "f": false}',
]


@pytest.mark.parametrize(
    ("name", "row", "new", "written"),
    [
        ("t", 1, "1e5", '"t": "1e5"'),
        ("t", 1, "true", '"t": "true"'),
        ("t", 1, "NaN", '"t": "NaN"'),
        ("t", 2, "1.10", '"t": "1.10"'),
        ("t", 0, "7", '"t": "7"'),
        ("n", 1, "1.10", '"n": 1.10'),
        ("n", 0, "9007199254740993", '"n": 9007199254740993'),
        ("n", 2, ".5", '"n": 0.5'),
        ("n", 2, "abc", '"n": "abc"'),
        ("f", 1, "true", '"f": true'),
        ("f", 1, None, '"f": null'),
    ],
)
def test_json_says_a_new_entry_as_its_column_does(tmp_path, name, row, new, written):
    path, output = tmp_path / "t.jsonl", tmp_path / "clean.jsonl"
    path.write_text("\n".join(LINES))
    write_again(path, output, read_table(str(path)).table, {name: {row: new}})
    after = output.read_text().split("\n")
    assert written in after[row]
    assert [*after[:row], *after[row + 1 :]] == [*LINES[:row], *LINES[row + 1 :]]


@pytest.mark.parametrize("new", ["NaN", "-inf", "Infinity"])
def test_json_has_no_such_number(tmp_path, new):
    path, output = tmp_path / "t.jsonl", tmp_path / "clean.jsonl"
    path.write_text("\n".join(LINES))
    with pytest.raises(InputError, match=f"column 'n': JSON has no number '{new}'"):
        write_again(path, output, read_table(str(path)).table, {"n": {1: new}})
    assert not output.exists()


ENCODINGS = {  # how the file is encoded, and what the user says
    "utf-8-sig without mark": ("utf-8", "utf-8-sig"),
    "utf-8-sig": ("utf-8-sig", "utf-8-sig"),
    "utf-16 without mark": ("utf-16-le", "utf-16"),
    "utf-16": ("utf-16", "utf-16"),
    "utf-32": ("utf-32", "utf-32"),
    "utf-32-be": ("utf-32-be", "utf-32-be"),
    "cp932": ("cp932", "cp932"),
    "shift_jisx0213": ("shift_jisx0213", "shift_jisx0213"),
    "gb18030": ("gb18030", "gb18030"),
    "utf-7": ("utf-7", "utf-7"),
    "iso2022_jp": ("iso2022_jp", "iso2022_jp"),
    "hz": ("hz", "hz"),
    "unicode_escape": ("ascii", "unicode_escape"),
}


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_only_the_bytes_of_the_entry_change_in_any_encoding(tmp_path, encoding, end):
    real, said = ENCODINGS[encoding]
    path, output = tmp_path / "t.csv", tmp_path / "clean.csv"
    words = ["plain", "~{+-", "tail"] if real == "ascii" else ["日本", "中文", "本"]
    rows = ["a,b", f"1,{words[0]}", f"2,{words[1]}", f"3,{words[2]}"]
    path.write_bytes((end.join(rows) + end).encode(real))
    held = read_contents(str(path), separator=None, encoding=said)
    table = parse_table(held).table
    write_changed(output, held, table, {"a": {1: "25"}}, encoding=said)
    rows[2] = f"25,{words[1]}"
    assert output.read_bytes() == (end.join(rows) + end).encode(real)


@pytest.mark.parametrize(
    ("encoding", "letter"),
    [("cp932", b"\xfa\x4a"), ("unicode_escape", rb"\u00e9"), ("utf-7", b"+AEE-")],
)
def test_letters_that_can_be_written_in_two_ways_are_not_written_in_the_other(
    tmp_path, encoding, letter
):
    path, output = tmp_path / "t.csv", tmp_path / "clean.csv"
    path.write_bytes(b"a,b\r\n1," + letter + b"\r\n2,x\r\n3,y\r\n")
    held = read_contents(str(path), separator=None, encoding=encoding)
    words = f"is written in {encoding}, in which no entry can be replaced without its neighbours"
    with pytest.raises(InputError, match=words):
        write_changed(output, held, parse_table(held).table, {"b": {1: "z"}}, encoding=encoding)
    assert not output.exists()


PARQUET = {  # a type, entries, a new one, and what is there then; None is refused
    "int8": (pa.int8(), [1, 2, None], "7.0", 7),
    "int8 too large": (pa.int8(), [1, 2, None], "300", None),
    "int64": (pa.int64(), [1, 2, None], "9007199254740993.0", 9007199254740993),
    "int64 of text": (pa.int64(), [1, 2, None], "abc", None),
    "int64 of a fraction": (pa.int64(), [1, 2, None], "1.5", None),
    "uint64": (pa.uint64(), [1, 2, None], "18446744073709551615", 2**64 - 1),
    "float32": (pa.float32(), [1.5, float("nan"), None], "0.7", 0.699999988079071),
    "bool": (pa.bool_(), [True, False, None], "true", True),
    "decimal": (pa.decimal128(5, 2), [None] * 3, "1.20", Decimal("1.20")),
    "decimal too fine": (pa.decimal128(5, 2), [None] * 3, "1.234", None),
    "string_view": (pa.string_view(), ["a", "b", None], "c", "c"),
    "large_string": (pa.large_string(), ["a", "b", None], "c", "c"),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), ["a", "b", None], "c", "c"),
    "dictionary emptied": (pa.dictionary(pa.int8(), pa.string()), ["a", "b", "a"], None, ...),
    "date32": (pa.date32(), [dt.date(2024, 1, 2)] * 3, "2023-12-31", dt.date(2023, 12, 31)),
    "date64": (pa.date64(), [dt.date(2024, 1, 2)] * 3, "2023-12-31", dt.date(2023, 12, 31)),
    "date of a time": (pa.date32(), [dt.date(2024, 1, 2)] * 3, "2023-12-31T10:00:00", None),
    "timestamp": (pa.timestamp("ns"), [None] * 3, "2024-05-06", dt.datetime(2024, 5, 6)),
    "zone": (pa.timestamp("us", "Europe/Berlin"), [0, 1, None], "2024-05-06 10:00:00",
             dt.datetime(2024, 5, 6, 10, tzinfo=dt.UTC)),
    "time": (pa.time64("us"), [dt.time(1), None, dt.time(2)], "10:00:00", dt.time(10)),
    "duration": (pa.duration("ms"), [dt.timedelta(1), None, None], "1.5", dt.timedelta(1.5)),
}  # fmt: skip


@pytest.mark.parametrize("case", PARQUET)
def test_everything_but_the_entry_of_a_parquet_file_stays(case, tmp_path):
    kind, entries, new, expected = PARQUET[case]
    path, output = tmp_path / "t.parquet", tmp_path / "clean.parquet"
    fields = [
        pa.field("x", kind, metadata={b"unit": b"kg"}),
        pa.field("n", pa.int16(), nullable=False),
        pa.field("__index_level_0__", pa.int64()),
    ]
    columns = [pa.array(entries, kind), pa.array([1, 2, 3], pa.int16()), pa.array([7, 8, 9])]
    whole = pa.table(columns, schema=pa.schema(fields, {b"mine": b"kept"}))
    pq.write_table(whole, path)
    before = pq.read_table(path)
    held = read_contents(str(path), separator=None, encoding=None)
    changes = {"x": {1: new}, "n": {0: "5"}}
    if expected is None:
        with pytest.raises(InputError, match=r"column 'x' holds .* cannot hold .*: write another"):
            write_changed(output, held, read_table(str(path)).table, changes)
        assert not output.exists()
        return
    write_changed(output, held, read_table(str(path)).table, changes)
    after = pq.read_table(output)
    assert after.schema.equals(before.schema, check_metadata=True)
    assert after["n"].to_pylist() == [5, 2, 3]
    assert after["__index_level_0__"].to_pylist() == [7, 8, 9]
    assert after["x"][1].as_py() == (None if expected is ... else expected)
    assert all(after["x"][k].as_py() == before["x"][k].as_py() for k in (0, 2))
    with pytest.raises(InputError, match="column 'n' holds int16 entries and cannot be empty"):
        write_changed(output, held, read_table(str(path)).table, {"n": {0: None}})
