"""Tables in all formats, and what a repair of one must keep."""

import csv
import gzip
import io
import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shapley2d._inspection.decisions import same_entry
from shapley2d._tables.reading.files import read_contents, read_table
from shapley2d.cli.options import FileOptions
from shapley2d.cli.writing.rewrite import write_changed
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
    held = read_contents(str(path), separator=None, encoding=None)
    try:
        write_changed(output, held, before, changes, FileOptions())
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
