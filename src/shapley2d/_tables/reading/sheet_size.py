"""How much a spreadsheet holds, counted before a reader sees it.

The reader of spreadsheets allocates every cell between the first and the last one of a sheet, and
aborts the process where that is too much. So the archive is unpacked here, within limits, and the
cells and texts of its XML are counted. The reader gets an archive of the parts that were counted.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from xml.parsers import expat

from shapley2d._base.limits import Limits
from shapley2d.exceptions import InputError

_CELL = 32  # bytes that the reader takes for a cell, without its text
_KIND = ("mimetype", b"application/vnd.oasis.opendocument.spreadsheet")
_PREFIXED = re.compile(rb"<[^\s<>/]+:(?:c|row|si|sheet|table)[\s/>-]")
_PLACE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")


def counted_archive(data: bytes, name: str) -> bytes:
    """The XML of a spreadsheet as an archive without compression; refused if it holds too much."""
    limits = Limits(name, len(data))
    parts: dict[str, bytes] = {}
    n_bytes = 0
    sheets, tables = _Sheets(), _Tables()
    for part, content in _unpacked(data, name, limits).items():
        try:
            _count(content, sheets, tables)
        except expat.ExpatError:  # a picture, or settings of a printer
            if (part, content) != _KIND:
                continue
        except ValueError:
            raise InputError(f"{name} cannot be read as a spreadsheet: save it as CSV") from None
        parts[part] = content
        n_bytes += len(content)
        cells = sheets.cells + tables.cells
        limits.check(
            n_bytes=n_bytes + _CELL * cells + sheets.n_text + tables.n_text,
            columns=max(sheets.columns, tables.columns),
            cells=cells,
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


def _count(content: bytes, sheets: _Sheets, tables: _Tables) -> None:
    """Add what a part holds, by the names of its elements without prefixes."""

    def start(name: str, given: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        sheets.start(name, given)
        tables.start(name, {key.rpartition(":")[2]: text for key, text in given.items()})

    def text(data: str) -> None:
        sheets.text(data)
        tables.text(data)

    def end(name: str) -> None:
        if name.endswith("table-cell"):
            tables.in_cell = False

    def refuse(*_: object) -> None:  # it could define texts that grow
        raise ValueError("a document type")

    # the reader takes every part for UTF-8, whatever it declares
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = refuse
    if _PREFIXED.search(content):
        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler = text
    else:  # the usual case, which is faster
        parser.StartElementHandler, parser.CharacterDataHandler = sheets.start, sheets.text
    parser.Parse(content, True)  # noqa: FBT003
    sheets.end()
    tables.end_row()


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
    first: tuple[int, int] | None = None  # corners of the filled cells
    last: tuple[int, int] = (0, 0)
    in_cell: bool = False
    in_text: bool = False
    is_shared: bool = False

    def start(self, name: str, given: dict[str, str]) -> None:
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
            row, column = self.row, self.column
            (top, left), (bottom, right) = self.first or (row, column), self.last
            if not (top <= row <= bottom and left <= column <= right):
                self.first = (min(top, row), min(left, column))
                self.last = (max(bottom, row), max(right, column))

    def text(self, data: str) -> None:
        if self.in_text:
            self.lengths[-1] += len(data)
        if self.is_shared and data.isdecimal():
            self.uses[int(data[:10])] += 1

    def end(self) -> None:
        """Add the cells of a part."""
        if self.first is not None:
            width = self.last[1] - self.first[1] + 1
            self.cells += (self.last[0] - self.first[0] + 1) * width
            self.columns = max(self.columns, width)
        self.first, self.last, self.row, self.column = None, (0, 0), 0, 0
        self.in_cell = self.in_text = self.is_shared = False

    @property
    def n_text(self) -> int:
        known = len(self.lengths)
        return sum(times * self.lengths[k] for k, times in self.uses.items() if k < known)


@dataclass
class _Tables:
    """Upper bounds of what sheets of OpenDocument hold; an element stands for equal rows or cells.

    Empty cells and rows count only where filled ones follow: every sheet ends with a million.
    """

    rows: int = 0
    columns: int = 0
    n_text: int = 0
    empty_rows: int = 0  # before the row
    times: int = 0  # that the row stands for
    width: int = 0  # of the row, and up to its last filled cell
    filled: int = 0
    cells_alike: int = 0
    in_cell: bool = False

    @property
    def cells(self) -> int:
        return self.rows * self.columns

    def start(self, name: str, given: dict[str, str]) -> None:
        if name == "table":
            if self.in_cell:
                raise ValueError("a table in a cell")
            self.end_row()
            self.empty_rows = 0
        elif name == "table-row":
            self.end_row()
            self.times = int(given.get("number-rows-repeated", 1))
        elif name in ("table-cell", "covered-table-cell"):
            self.cells_alike = int(given.get("number-columns-repeated", 1))
            self.width += self.cells_alike
            self.in_cell = True
            if any("value" in key or key == "formula" for key in given):
                self.text("".join(given.values()))
                self.filled = self.width
        elif self.in_cell:
            self.filled = self.width

    def text(self, data: str) -> None:
        if self.in_cell:
            self.n_text += self.times * self.cells_alike * len(data)

    def end_row(self) -> None:
        """Add the rows that an element stands for."""
        if self.filled:
            self.rows += self.empty_rows + self.times
            self.columns = max(self.columns, self.filled)
            self.empty_rows = 0
        else:
            self.empty_rows += self.times
        self.times = self.width = self.filled = 0
        self.in_cell = False
