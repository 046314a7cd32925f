"""Tables from spreadsheets: what a person sees in the sheet is what is read."""

import builtins
import datetime as dt
import zipfile

import pytest

from shapley2d._tables.reading.files import read_table
from shapley2d.exceptions import InputError

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")


def write(path, rows, *, first=1, sheets=()):
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Customers"
    for k, row in enumerate(rows):
        for j, entry in enumerate(row):
            sheet.cell(first + k, 1 + j, entry)
    for title, entry in sheets:
        book.create_sheet(title)["A1"] = entry
    book.save(path)
    return str(path)


def test_a_sheet_of_blank_text_is_empty(tmp_path):
    path = write(tmp_path / "t.xlsx", [["x"]])
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    place = "xl/worksheets/sheet1.xml"
    blank = b'<row r="1"><c r="A1" t="str"><v></v></c></row>'
    before, _, rest = parts[place].partition(b"<sheetData>")
    parts[place] = before + b"<sheetData>" + blank + rest[rest.index(b"</sheetData>") :]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(InputError, match="is empty: it needs a header line and rows"):
        read_table(path)


def test_entries_are_those_that_the_sheet_shows(tmp_path):
    rows = [
        ["whole", "number", "text", "day", "moment", "flag"],
        [3, 2.5, "007", dt.date(2024, 1, 2), dt.datetime(2024, 1, 2, 3, 4), True],
        [None, -1e-7, "a, b", None, None, False],
        [10**14, 0.1, "two\nlines", dt.date(1999, 12, 31), None, None],
    ]
    source = read_table(write(tmp_path / "t.xlsx", rows))
    assert source.table.to_pydict() == {
        "whole": ["3", "", "100000000000000"],
        "number": ["2.5", "-1e-07", "0.1"],
        "text": ["007", "a, b", "two\nlines"],
        "day": ["2024-01-02", "", "1999-12-31"],
        "moment": ["2024-01-02 03:04:00", "", ""],
        "flag": ["TRUE", "FALSE", ""],
    }
    assert not source.notes
    assert source.where(2) == "line 4"  # the sheet's own number, though an entry has two lines


def test_a_table_that_starts_further_down_is_found(tmp_path):
    path = write(tmp_path / "t.xlsx", [["a", "y"], [1, "u"], [2, "v"]], first=5)
    source = read_table(path)
    assert source.table.to_pydict() == {"a": ["1", "2"], "y": ["u", "v"]}
    assert source.where(0) == "line 6"


def test_other_sheets_are_named(tmp_path):
    path = write(tmp_path / "t.xlsx", [["a"], [1]], sheets=[("Empty", None), ("Old", 3)])
    assert [str(note) for note in read_table(path).notes] == [
        f"{path}: sheet 'Customers' is read, not 'Old'"
    ]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: write(path, []), "is empty: it needs a header line and rows"),
        (lambda path: write(path, [["a", "b"]]), "has a header but no rows"),
        (lambda path: write(path, [["a", "a"], [1, 2]]), "the column name 'a' occurs twice"),
        (lambda path: zipped(path, {"x.txt": b"text"}), "cannot be read as a spreadsheet"),
        (lambda path: path.write_bytes(b"PK\x03\x04 nothing"), "is damaged"),
        (
            lambda path: zipped(
                path, {"mimetype": b"application/vnd.oasis", "content.xml": b"<a/>"}
            ),
            "is not an Excel workbook: save it as .xlsx or CSV",
        ),
        (
            lambda path: path.write_bytes(b"\xd0\xcf\x11\xe0 nothing"),
            r"is an old spreadsheet \(.xls\): save it as .xlsx or CSV",
        ),
    ],
)
def test_what_is_no_table_is_one_line(tmp_path, make, words):
    path = tmp_path / "t.xlsx"
    make(path)
    with pytest.raises(InputError, match=words) as caught:
        read_table(str(path))
    assert "\n" not in str(caught.value)


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def test_without_the_reader_it_says_what_to_install(tmp_path, monkeypatch):
    path = write(tmp_path / "t.xlsx", [["a"], [1]])
    real = builtins.__import__

    def refuse(name, *given, **named):
        if name == "python_calamine":
            raise ImportError(name)
        return real(name, *given, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"save it as CSV, or .* pip install 'shapley2d\[excel\]'"):
        read_table(path)
