"""Tables from files: CSV and JSON lines, also compressed, Parquet and spreadsheets.

The content tells which of them a file is.
"""

from __future__ import annotations

import gzip
import io
import re
import stat
import sys
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.limits import FREE_BYTES, Limits, read_parquet
from shapley2d._base.words import format_bytes, nearest_word
from shapley2d._tables.frames import plain_types
from shapley2d._tables.reading.csv_text import (
    Decoded,
    check_quotes,
    decode,
    find_separator,
    first_lines,
    read_strings,
)
from shapley2d._tables.reading.json_text import looks_like_json, read_json
from shapley2d._tables.reading.spreadsheet import looks_like_spreadsheet, sheet_as_csv
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class Source:
    """A table and the file it came from."""

    path: str  # the file as the user named it
    table: Any  # columns of a CSV file are text; their kinds are found later
    lines: NDArray[np.int64] | None = None  # where each row starts in the file, if known
    notes: list[str] = field(default_factory=list)  # what the user should know about the file

    def line(self, row: int) -> int | None:
        """The line of the file where a row starts; None where it has no lines."""
        return None if self.lines is None else int(self.lines[row])

    def where(self, row: int) -> str:
        """Where a row is: its line if known, else its number."""
        line = self.line(row)
        return f"row {row + 1} (counted from 1)" if line is None else f"line {line}"


class Contents(NamedTuple):
    """What a file holds once it is unpacked, and how it is written."""

    name: str
    kind: str  # "parquet", "csv" or "json"
    parquet: bytes = b""
    text: Decoded = Decoded("", "utf-8")
    separator: str = ","
    header: int = 1  # the line of the names of the columns
    of_sheet: bool = False  # whether the text was made of a spreadsheet
    notes: tuple[str, ...] = ()


def read_table(path: str, *, separator: str | None = None, encoding: str | None = None) -> Source:
    """Read a table from a file, or from stdin if the path is ``-``.

    ``separator`` and ``encoding`` of a CSV file are auto-detected by default.
    """
    return parse_table(read_contents(path, separator=separator, encoding=encoding))


def read_contents(path: str, *, separator: str | None, encoding: str | None) -> Contents:
    """What a file holds."""
    return unpacked(_bytes_of(path), path, separator=separator, encoding=encoding)


def unpacked(data: bytes, path: str, *, separator: str | None, encoding: str | None) -> Contents:
    """What the bytes of a file hold."""
    name = "stdin" if path == "-" else path
    if data.startswith(_GZIP):
        data = _unpack_gzip(data, name)
    if data.startswith(_PARQUET) or Path(path).suffix.lower() in (".parquet", ".pq"):
        return Contents(name, "parquet", data)
    if looks_like_spreadsheet(data):
        text, header, notes = sheet_as_csv(data, name)
        decoded = Decoded(text, "utf-8")
        return Contents(name, "csv", b"", decoded, ",", header, of_sheet=True, notes=(*notes,))
    decoded = decode(data, name, encoding)
    notes = [decoded.note] if decoded.note else []
    if len(data) > FREE_BYTES:
        size = format_bytes(len(data))
        notes.append(f"{name} holds {size} of text: reading it takes several times as much memory")
    if not decoded.text.strip():
        raise InputError(f"{name} is empty: it needs a header line and rows")
    if separator is None and looks_like_json(decoded.text, path):
        return Contents(name, "json", b"", decoded, notes=(*notes,))
    mark = find_separator(decoded.text, name, separator)
    return Contents(name, "csv", b"", decoded, mark, notes=(*notes,))


def _unpack_gzip(data: bytes, name: str) -> bytes:
    limits = Limits(name, len(data))
    content = io.BytesIO()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as stream:
            while content.write(stream.read(2**20)):
                limits.check(n_bytes=content.tell())
    except (OSError, EOFError, zlib.error):
        raise InputError(f"{name} is a damaged gzip file: copy or download it again") from None
    return content.getvalue()


def parse_table(held: Contents) -> Source:
    """The table that a file holds."""
    name, text, mark, notes = held.name, held.text.text, held.separator, [*held.notes]
    if held.kind == "parquet":
        return _read_parquet(held.parquet, name)
    if held.kind == "json":
        return Source(name, *read_json(text, name), notes)
    if held.of_sheet:
        table = read_strings(text, ",", name)
        return Source(name, table, held.header + 1 + np.arange(table.num_rows), notes)
    check_quotes(text, mark, name)
    table = read_strings(text, mark, name)
    if text.count("\n") + (not text.endswith("\n")) == table.num_rows + 1:
        return Source(name, table, 2 + np.arange(table.num_rows), notes)
    lines = None if len(text) > FREE_BYTES else first_lines(text, mark, table.num_rows)
    return Source(name, table, lines, notes)


def _bytes_of(path: str) -> bytes:
    if path == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed: name a file instead of -")
        return sys.stdin.buffer.read()
    if _URL.match(path):
        raise InputError(f"{path} is an address, not a file: download it first")
    file = Path(path)
    try:
        mode = file.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"there is no file {path}{_nearest_file(file)}") from None
    except PermissionError:
        raise
    except (OSError, ValueError):  # too long, or with a zero byte
        raise InputError(f"{path[:60]!r} is not a valid file name") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{path} is a folder: name a CSV or Parquet file in it")
    return file.read_bytes()


def _nearest_file(file: Path) -> str:
    if not file.parent.is_dir():
        return f": the folder {file.parent} does not exist either"
    near = nearest_word(file.name, [other.name for other in file.parent.iterdir()])
    return f": did you mean {file.parent / near}?" if near else ""


def _read_parquet(data: bytes, name: str) -> Source:
    try:
        table = read_parquet(io.BytesIO(data), name)
    except InputError:
        raise
    except ValueError as error:
        why = f" ({error})" if data.startswith(_PARQUET) else ": rename it if it is CSV"
        raise InputError(f"{name} is not a readable Parquet file{why}") from None
    table = plain_types(table)
    table = table.drop_columns([key for key in table.column_names if _PANDAS_INDEX.fullmatch(key)])
    repeated = {key for key, count in Counter(table.column_names).items() if count > 1}
    if repeated:
        raise InputError(
            f"{name}: the column name {min(repeated)!r} occurs twice: rename one of them"
        )
    if not table.num_rows:
        raise InputError(f"{name} has no rows")
    return Source(name, table)
