"""Tables from files: CSV and JSON lines, also compressed, Parquet and spreadsheets.

The content tells which of them a file is.
"""

from __future__ import annotations

import io
import re
import stat
import sys
import zlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.limits import FREE_BYTES, read_parquet, unpack_gzip
from shapley2d._base.words import format_bytes, nearest_word
from shapley2d._tables.frames import plain_types
from shapley2d._tables.reading.csv_text import (
    check_quotes,
    decode,
    find_separator,
    first_lines,
    read_strings,
)
from shapley2d._tables.reading.json_text import looks_like_json, read_json, record_lines
from shapley2d._tables.reading.spreadsheet import looks_like_spreadsheet, sheet_as_csv
from shapley2d.exceptions import InputError, Note

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
    lined: bool = False  # whether row k is on line k + 2 of the file
    # otherwise the line where each row starts, if known
    lines: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    notes: list[Note] = field(default_factory=list)  # what the user should know about the file

    def line(self, row: int) -> int | None:
        """The line of the file where a row starts; None where it has no lines."""
        if self.lined:
            return row + 2
        return int(self.lines[row]) if self.lines.size else None

    def all_lines(self) -> NDArray[np.int64] | None:
        """The line of every row; None where the file has no lines."""
        if self.lined:
            return np.arange(2, self.table.num_rows + 2)
        return self.lines if self.lines.size else None

    def where(self, row: int) -> str:
        """Where a row is: its line if known, else its number."""
        line = self.line(row)
        return f"row {row + 1} (counted from 1)" if line is None else f"line {line}"


def read_table(path: str, *, separator: str | None = None, encoding: str | None = None) -> Source:
    """Read a table from a file, or from stdin if the path is ``-``.

    ``separator`` and ``encoding`` of a CSV file are auto-detected by default.
    """
    return parse_table(_contents(path), path, separator=separator, encoding=encoding)


def parse_table(
    data: bytes, path: str, *, separator: str | None = None, encoding: str | None = None
) -> Source:
    """The table that the bytes of a file hold."""
    name = "stdin" if path == "-" else path
    if data.startswith(_GZIP):
        try:
            data = unpack_gzip(data, name)
        except (OSError, EOFError, zlib.error):
            raise InputError(f"{name} is a damaged gzip file: copy or download it again") from None
    if data.startswith(_PARQUET) or Path(path).suffix.lower() in (".parquet", ".pq"):
        return _read_parquet(data, name)
    if looks_like_spreadsheet(data):
        text, header, notes = sheet_as_csv(data, name)
        table = read_strings(text, ",", name)
        lines = np.arange(header + 1, header + 1 + (0 if header == 1 else table.num_rows))
        return Source(name, table, lined=header == 1, lines=lines, notes=notes)
    text, guess = decode(data, name, encoding)
    notes = [guess] if guess else []
    if len(data) > FREE_BYTES:
        size = format_bytes(len(data))
        notes.append(
            Note(f"{name} holds {size} of text: reading it takes several times as much memory")
        )
    if not text.strip():
        raise InputError(f"{name} is empty: it needs a header line and rows")
    if separator is None and looks_like_json(text, path):
        table = read_json(text, name)
        return Source(
            name,
            table,
            lines=np.array(record_lines(text, table.num_rows), dtype=np.int64),
            notes=notes,
        )
    mark = find_separator(text, name, separator)
    check_quotes(text, mark, name)
    table = read_strings(text, mark, name)
    n_lines = (
        sum(1 for _ in io.StringIO(text, newline=""))
        if "\r" in text
        else text.count("\n") + (not text.endswith("\n"))
    )
    lined = n_lines == table.num_rows + 1
    return Source(
        path=name,
        table=table,
        lined=lined,
        lines=np.array(
            [] if lined or len(text) > FREE_BYTES else first_lines(text, mark, table.num_rows),
            dtype=np.int64,
        ),
        notes=notes,
    )


def unpacked_contents(path: str) -> bytes:
    """The bytes of a file, unpacked if it is compressed; of a spreadsheet, those of its CSV."""
    data = _contents(path)
    if looks_like_spreadsheet(data):
        return sheet_as_csv(data, path)[0].encode()
    return unpack_gzip(data, path) if data.startswith(_GZIP) else data


def is_spreadsheet(path: str) -> bool:
    """Whether a file is a spreadsheet, by its content."""
    return looks_like_spreadsheet(_contents(path)[:8])


def _contents(path: str) -> bytes:
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
