"""Spreadsheets (.xlsx) as the CSV text that their first sheet would be saved as.

The reader of spreadsheets allocates every cell between the first and the last one of a sheet, and
aborts the process where that is too much. So the archive is unpacked here, within limits, and the
cells and texts of its XML are counted. The reader gets an archive of the parts that were counted.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
import re
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from xml.parsers import expat

from shapley2d._base.limits import Limits
from shapley2d.exceptions import InputError

ZIP = b"PK\x03\x04"
OLD_EXCEL = b"\xd0\xcf\x11\xe0"
_CELL = 32  # bytes that the reader takes for a cell, without its text
_PLACE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")


def looks_like_spreadsheet(data: bytes) -> bool:
    """Whether a file is a spreadsheet or another archive."""
    return data.startswith((ZIP, OLD_EXCEL))


def sheet_as_csv(data: bytes, name: str) -> tuple[str, int, list[str]]:
    """First sheet with entries as CSV text, the row of its header, and notes on other sheets."""
    if not data.startswith(ZIP):  # its cells cannot be counted before they are read
        raise InputError(f"{name} is an old spreadsheet (.xls): save it as .xlsx or CSV")
    try:
        from python_calamine import CalamineError, CalamineWorkbook
    except ImportError:
        raise InputError(
            f"{name} is a spreadsheet or an archive: save it as CSV, or install what reads "
            "spreadsheets: pip install 'shapley2d[excel]'"
        ) from None
    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(_counted_archive(data, name)))
        sheets = [(title, book.get_sheet_by_name(title)) for title in book.sheet_names]
        filled = [(title, sheet, sheet.start) for title, sheet in sheets if sheet.start]
        rows = filled[0][1].to_python() if filled else []
    except CalamineError as error:
        raise InputError(
            f"{name} cannot be read as a spreadsheet ({error}): save it as CSV"
        ) from None
    while rows and not any(entry != "" for entry in rows[-1]):
        rows.pop()
    if not rows:
        raise InputError(f"{name} is empty: it needs a header line and rows")
    (title, _, (first, _)), others = filled[0], [other for other, *_ in filled[1:]]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([_as_text(entry) for entry in row] for row in rows)
    notes = (
        [f"{name}: sheet {title!r} is read, not {', '.join(map(repr, others))}"] if others else []
    )
    return text.getvalue(), first + 1, notes


def _as_text(entry: Any) -> str:
    """An entry as a spreadsheet would show it, dates as year-month-day."""
    if isinstance(entry, bool):
        return str(entry).upper()
    if isinstance(entry, float) and entry.is_integer() and abs(entry) < 1e15:  # in full
        return str(int(entry))
    if isinstance(entry, dt.datetime):
        midnight = entry.time() == dt.time()
        return entry.date().isoformat() if midnight else entry.isoformat(sep=" ")
    return str(entry)


def _counted_archive(data: bytes, name: str) -> bytes:
    """The XML of a spreadsheet as an archive without compression; refused if it holds too much."""
    limits = Limits(name, len(data))
    parts: dict[str, bytes] = {}
    n_bytes = 0
    sheets = _Sheets()
    for part, content in _unpacked(data, name, limits).items():
        if part == "mimetype":  # of OpenDocument, whose cells may stand for millions
            raise InputError(f"{name} is not an Excel workbook: save it as .xlsx or CSV")
        try:
            _count(content, sheets)
        except expat.ExpatError:  # a picture, or settings of a printer
            continue
        except ValueError:
            raise InputError(f"{name} cannot be read as a spreadsheet: save it as CSV") from None
        parts[part] = content
        n_bytes += len(content)
        limits.check(
            n_bytes=n_bytes + _CELL * sheets.cells + sheets.n_text,
            columns=sheets.columns,
            cells=sheets.cells,
        )
    if sheets.listed > len(parts):
        raise InputError(f"{name} lists more sheets than it holds: save it again, or as CSV")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for part, content in parts.items():
            archive.writestr(part, content)
    return packed.getvalue()


def _unpacked(data: bytes, name: str, limits: Limits) -> dict[str, bytes]:
    """The parts of an archive, which may unpack to more than they declare."""
    parts: dict[str, bytes] = {}
    n_bytes = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for info in archive.infolist():
                if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise zipfile.BadZipFile  # noqa: TRY301
                pieces = []
                with archive.open(info) as stream:
                    while piece := stream.read(2**20):
                        pieces.append(piece)
                        n_bytes += len(piece)
                        limits.check(n_bytes=n_bytes)
                parts[info.filename] = b"".join(pieces)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError):
        raise InputError(f"{name} is damaged: copy or download it again") from None
    return parts


def _count(content: bytes, sheets: _Sheets) -> None:
    """Add what a part holds."""

    def refuse(*_: object) -> None:  # it could define texts that grow
        raise ValueError("a document type")

    # the reader takes every part for UTF-8, whatever it declares
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = sheets.start
    parser.CharacterDataHandler = sheets.text
    parser.Parse(content, True)  # noqa: FBT003
    sheets.end()


@lru_cache(2**15)
def _number(letters: str) -> int:
    """The number of a column, from 1 for A."""
    number = 0
    for letter in letters.upper():
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


@dataclass
class _Sheets:
    """Upper bounds of what sheets of Excel hold, one part after another."""

    cells: int = 0
    columns: int = 0
    listed: int = 0  # sheets in the list of sheets
    lengths: list[int] = field(default_factory=list)  # of texts that cells share
    uses: Counter[int] = field(default_factory=Counter)  # by number of the text
    row: int = 0
    column: int = 0
    filled: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    in_cell: bool = False
    in_text: bool = False
    is_shared: bool = False

    def start(self, name: str, given: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if name == "c":
            self.in_cell, self.is_shared = True, given.get("t") == "s"
            self.column += 1
            if "r" in given:
                found = _PLACE.fullmatch(given["r"])
                if not found:
                    raise ValueError(given["r"])
                self.row, self.column = int(found[2]), _number(found[1])
        elif name == "row":
            self.in_cell = self.is_shared = False
            self.row = int(given["r"]) if "r" in given else self.row + 1
            self.column = 0
        elif name == "si":
            self.in_text = True
            self.lengths.append(0)
        elif name == "sheet":
            self.listed += 1
        elif self.in_cell:  # a cell without elements in it is empty
            self.in_cell = False
            for places, place in zip(self.filled, (self.row, self.column), strict=True):
                places.add(place)

    def text(self, data: str) -> None:
        if self.in_text:
            self.lengths[-1] += len(data)
        if self.is_shared and data.isdecimal():
            self.uses[int(data[:10])] += 1

    def end(self) -> None:
        """Add the cells of a part."""
        height, width = (max(some) - min(some) + 1 if some else 0 for some in self.filled)
        self.cells += height * width
        self.columns = max(self.columns, width)
        self.filled, self.row, self.column = (set(), set()), 0, 0
        self.in_cell = self.in_text = self.is_shared = False

    @property
    def n_text(self) -> int:
        known = len(self.lengths)
        return sum(times * self.lengths[k] for k, times in self.uses.items() if k < known)
