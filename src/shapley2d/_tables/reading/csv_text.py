"""CSV files: encodings, separators, malformed lines."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._base.limits import Limits
from shapley2d._base.words import counted, shown
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

SEPARATORS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
_MARKS = {  # byte-order marks, and the encoding of what follows them
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_FEW_LINES = 3  # that a field may hold if they look like rows


class Decoded(NamedTuple):
    """The text of a file, and what makes the same bytes of it."""

    text: str
    encoding: str
    mark: bytes = b""  # the byte-order mark before the text
    note: str | None = None  # where the encoding was guessed


def decode(data: bytes, path: str, encoding: str | None) -> Decoded:
    """The text of a file, without its byte-order mark."""
    mark = next((one for one in _MARKS if data.startswith(one)), b"")
    if encoding is not None:
        return _decode_as(data, path, encoding, mark)
    if mark:
        return _decode_as(data, path, _MARKS[mark], mark)
    if b"\0" in data[:10_000]:
        raise InputError(f"{path} is not a text file: save the table as CSV or Parquet")
    try:
        return Decoded(data.decode("utf-8"), "utf-8")
    except UnicodeDecodeError as error:
        line = _line(data, error.start)
    for name in ("cp1252", "latin-1"):  # the second takes any bytes
        try:
            text = data.decode(name)
        except UnicodeDecodeError:
            continue
        break
    words = (
        f"{path} is not UTF-8 (first in line {line}): read as {name}; if letters look wrong, set "
    )
    return Decoded(text, name, note=f"{words}encoding")


def _decode_as(data: bytes, path: str, encoding: str, mark: bytes) -> Decoded:
    try:
        family = codecs.lookup(encoding).name.split("-")[:2]
        if mark and family == _MARKS[mark].split("-")[:2]:
            data, encoding = data[len(mark) :], _MARKS[mark]
            return Decoded(data.decode(encoding), encoding, mark)
        return Decoded(data.decode(encoding).removeprefix("\ufeff"), encoding)
    except LookupError:
        raise InputError(
            f"encoding={shown(encoding)} is not known: use for instance utf-8, cp1252 or latin-1"
        ) from None
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}, line {_line(data, error.start)}: not written in {encoding}: set "
            "encoding to another one"
        ) from None
    except ValueError:  # punycode, idna and the like
        raise InputError(
            f"{path} cannot be read with encoding={shown(encoding)}: use for instance "
            "utf-8, cp1252 or latin-1"
        ) from None


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1


def find_separator(text: str, path: str, asked: str | None) -> str:
    r"""The separator of a CSV file: as given, or the one on which its first lines agree best."""
    if asked is not None:
        separator = SEPARATORS.get(asked, "\t" if asked == "\\t" else asked)
        if len(separator) != 1 or separator in '"\r\n\0' or not separator.isascii():
            raise InputError(
                f"separator={shown(asked)} is not known: use one ASCII character, or "
                f"{', '.join(SEPARATORS)}"
            )
        return separator
    scores = {separator: _agreement(text, separator) for separator in SEPARATORS.values()}
    best = max(scores, key=lambda separator: scores[separator])
    if scores[best] == (0.0, 0):
        first = text.split("\n", 1)[0].strip()[:60]
        raise InputError(f"{path} has a single column ({first!r}): if it has more, set separator")
    return best


def _agreement(text: str, separator: str) -> tuple[float, int]:
    """The share of the first lines with as many fields as the header, and their number."""
    lines = itertools.islice(_records(text, separator), 100)
    counts = [len(fields) for _, fields in lines]
    if not counts or counts[0] < 2:
        return 0.0, 0
    return counts.count(counts[0]) / len(counts), counts[0]


def _records(text: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of non-empty lines, with the number of the line where each record starts."""
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    start = 1
    for fields in reader:
        if fields:
            yield start, fields
        start = reader.line_num + 1


def first_lines(text: str, separator: str, n_rows: int) -> NDArray[np.int64] | None:
    """The line where each row starts; None if the numbers of rows differ."""
    lines = np.array([start for start, _ in _records(text, separator)][1:], dtype=np.int64)
    return lines if lines.size == n_rows else None


def check_quotes(text: str, separator: str, path: str) -> None:
    """Refuse a quote without its partner: all lines up to the next quote would be one field.

    Such a field ends with the file, or text follows its closing quote, or the lines in it are rows:
    more than a few, all with as many separators as the header.
    """
    if '"' not in text:
        return
    lines: list[str] = []  # of the record that is being read

    def feed() -> Iterator[str]:
        for line in io.StringIO(text, newline=""):
            lines.append(line)
            yield line
        if lines:
            refuse("to the end of the file")

    def refuse(how_far: str) -> None:
        raise InputError(
            f"{path}, line {reader.line_num - len(lines) + 1}: a field with a quote goes on "
            f"{how_far}: close its quote, or double the quotes in its text"
        )

    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(feed(), delimiter=separator)
    width = 0
    for fields in reader:
        width = width or len(fields)
        if len(lines) > 1:
            inner = [line.count(separator) for line in lines[1:-1]]
            if width > 1 and len(inner) > _FEW_LINES and set(inner) == {width - 1}:
                refuse(f"over rows up to line {reader.line_num}")
            try:
                list(csv.reader(lines, delimiter=separator, strict=True))
            except csv.Error:
                refuse(f"up to line {reader.line_num}, where text follows its end")
        lines.clear()


def read_strings(text: str, separator: str, path: str) -> Any:
    """The file as a pyarrow table of text columns."""
    from pyarrow import csv as pa_csv

    header = _header(text, separator, path)
    limits = Limits(path, len(text))
    limits.check(columns=len(header))
    data = text.encode() if text.endswith(("\n", "\r")) else text.encode() + b"\n"
    names = [f"f{k}" for k in range(len(header))]  # pyarrow would merge columns of one name
    try:
        table = pa_csv.read_csv(
            pa.BufferReader(data),
            read_options=pa_csv.ReadOptions(
                block_size=min(len(data) + 1, 2**31 - 2), column_names=names
            ),
            parse_options=pa_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        _explain_ragged(text, separator, path, len(header))
        raise InputError(f"{path} cannot be read as CSV: {error}") from None
    limits.check(cells=table.num_rows * len(header))
    return table.slice(1).rename_columns(header)


def _header(text: str, separator: str, path: str) -> list[str]:
    records = _records(text, separator)
    line, header = next(records, (0, []))
    if not line:
        raise InputError(f"{path} is empty: it needs a header line and rows")
    header = [name.strip() or f"column {k + 1}" for k, name in enumerate(header)]
    repeated = [name for name, count in Counter(header).items() if count > 1]
    if repeated:
        raise InputError(
            f"{path}, line {line}: the column name {repeated[0]!r} occurs twice: rename one of them"
        )
    if next(records, None) is None:
        raise InputError(f"{path} has a header but no rows")
    return header


def _explain_ragged(text: str, separator: str, path: str, width: int) -> None:
    for line, fields in _records(text, separator):
        if len(fields) != width:
            raise InputError(
                f"{path}, line {line}: {counted(len(fields), 'field')}, but the header has "
                f"{width}: fix the line (a field that contains {separator!r} needs quotes)"
            ) from None
