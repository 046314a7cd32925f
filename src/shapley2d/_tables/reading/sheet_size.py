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
_PREFIXED = re.compile(rb"<[^\s<>/]+:(?:c|row|si|sheet)[\s/>]")
_PLACE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")


def counted_archive(data: bytes, name: str) -> bytes:
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
    """Add what a part holds, by the names of its elements without prefixes."""

    def start(name: str, given: dict[str, str]) -> None:
        sheets.start(name.rpartition(":")[2], given)

    def refuse(*_: object) -> None:  # it could define texts that grow
        raise ValueError("a document type")

    # the reader takes every part for UTF-8, whatever it declares
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = refuse
    # without prefixes, the usual case, it is faster
    parser.StartElementHandler = start if _PREFIXED.search(content) else sheets.start
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
