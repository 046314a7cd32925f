"""Writing a file again with some entries replaced, everything else byte for byte the same.

The bytes of a text file are kept but for those of the entries, and the columns of a Parquet file
but for the entries, which are of the column's type. What a format cannot say so is refused. Before
the file takes its name it is read again.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from shapley2d._base.arrow import pq
from shapley2d._base.atomic_write import atomic_write
from shapley2d._base.limits import read_parquet
from shapley2d._base.words import FORMULA
from shapley2d._inspection.decisions import same_entry
from shapley2d._inspection.tables.arrow_entries import with_entries
from shapley2d._inspection.tables.file_edits import csv_edits, json_edits
from shapley2d._tables.frames import entries_of
from shapley2d._tables.reading.files import parse_table, read_contents, unpacked
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapley2d._inspection.tables.changes import Changes
    from shapley2d._inspection.tables.file_edits import Edit
    from shapley2d._tables.reading.files import Contents, Source

_FORMATS = {
    "parquet": (".parquet", ".pq"),
    "json": (".json", ".jsonl", ".ndjson"),
    "csv": (".csv", ".tsv", ".txt"),
}
_MARKS = (
    b"", codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE,
    codecs.BOM_UTF32_BE,
)  # fmt: skip
_UNMARKED = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
"""Encodings that write no byte-order mark themselves."""


def contents_to_change(
    path: str, output: Path, option: str, *, separator: str | None, encoding: str | None
) -> Contents:
    """A file to write again; refused if the output's name stands for another format."""
    if path == "-":
        raise InputError(
            f"{option} needs the name of a table, not -: its format is kept, so it is read again"
        )
    held = read_contents(path, separator=separator, encoding=encoding)
    kind, name = held.kind, output.name.lower().removesuffix(".gz")
    if not name.endswith(_FORMATS[kind]):
        words = " or ".join(_FORMATS[kind][:2])
        raise InputError(
            f"{option} {output}: {held.name} is written again as {kind.upper()}: the name must end "
            f"in {words}"
        )
    if kind == "parquet" and output.name.lower().endswith(".gz"):
        raise InputError(f"{option} {output}: Parquet is packed already: leave out .gz")
    return held


def write_changed(
    output: Path,
    held: Contents,
    table: Any,
    changes: Changes,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    keep_formulas: bool = False,
) -> Source:
    """Write a file again with some entries replaced, whole or not at all, and read it again.

    A spreadsheet becomes CSV, where text that was harmless in its cell may run as a formula: that
    is refused without ``keep_formulas``.
    """
    with atomic_write(output) as temporary:
        if held.kind == "parquet":
            whole = read_parquet(io.BytesIO(held.parquet), held.name)
            pq.write_table(with_entries(whole, changes, held.name), temporary)
        else:
            text = held.text.text
            edits = (
                json_edits(text, held.name, table, changes)
                if held.kind == "json"
                else csv_edits(text, held.separator, table.column_names, changes)
            )
            data = _replaced(held, sorted(edits))
            is_packed = output.name.lower().endswith(".gz")
            temporary.write_bytes(gzip.compress(data, mtime=0) if is_packed else data)
        data = temporary.read_bytes()
        try:
            written = parse_table(
                unpacked(data, str(output), separator=separator, encoding=encoding)
            )
        except InputError as error:
            raise InputError(f"{output} is not written: it could not be read ({error})") from None
        if held.kind != "parquet":
            _check_written(output, table, written, changes)
        if not keep_formulas and held.of_sheet:
            _check_formulas(output, held.name, written)
    return written


def _replaced(held: Contents, edits: Iterable[Edit]) -> bytes:
    """The bytes of a text file with other entries; refused where others could not be kept."""
    text, encoding, lead, _ = held.text
    kept, before, after, done = [], [], [], 0
    for start, stop, new in edits:
        kept.append(text[done:start])
        before.append(text[start:stop])
        after.append(new)
        done = stop

    def joined(entries: list[str], code: str) -> bytes:
        pieces = [piece for pair in zip(kept, entries, strict=True) for piece in pair]
        return b"".join(piece.encode(code) for piece in (*pieces, text[done:]))

    if not held.of_sheet:
        data = Path(held.name).read_bytes()
        data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        for code in (encoding, *_UNMARKED):
            with suppress(UnicodeError):
                same = joined(before, code)
                lead = data[: len(data) - len(same)]
                if lead + same == data and lead in _MARKS:
                    break
        else:
            raise InputError(
                f"{held.name} is written in {encoding}, in which no entry can be replaced without "
                "its neighbours: save the table as UTF-8, and inspect it again"
            )
        encoding = code
    try:
        return lead + joined(after, encoding)
    except UnicodeEncodeError as error:
        raise InputError(
            f"{held.name} is written in {encoding}, which has no letter "
            f"{error.object[error.start]!r}: write another one, or read the table with another "
            "encoding"
        ) from None


def _check_written(output: Path, before: Any, written: Source, changes: Changes) -> None:
    """Refuse a file that says other than what was decided, before it takes its name."""
    after = written.table
    advice = "nothing is written; write another entry, or correct the table by hand"
    if after.column_names != before.column_names or after.num_rows != before.num_rows:
        raise InputError(
            f"{output} would have {after.num_rows:,} rows x {after.num_columns:,} columns, not "
            f"{before.num_rows:,} x {before.num_columns:,}, or other names of columns: {advice}"
        )
    for name in before.column_names:
        decided = changes.get(name, {})
        if not decided and after[name].equals(before[name]):
            continue
        now, wanted = (
            entries_of(nw.from_native(table[name], series_only=True)) for table in (after, before)
        )
        for row, new in decided.items():
            wanted[row] = new
        for row, (one, other) in enumerate(zip(now, wanted, strict=True)):
            # a field of JSON may have become a number, or text
            if one is not other and one != other and not same_entry(_text(one), _text(other)):
                raise InputError(
                    f"{output} would say {_text(one)[:40]!r} in {written.where(row)}, column "
                    f"{name[:80]!r}, not {_text(other)[:40]!r}: {advice}"
                )


def _text(entry: Any) -> str:
    if isinstance(entry, bool):
        return str(entry).lower()
    return "" if entry is None else str(entry)


def _check_formulas(output: Path, path: str, written: Source) -> None:
    for name in written.table.column_names:
        texts = [name, *written.table[name].to_pylist()]
        row = next((row for row, text in enumerate(texts, -1) if _is_formula(text)), None)
        if row is not None:
            where = "the header" if row < 0 else f"{written.where(row)}, column {name[:80]!r}"
            raise InputError(
                f"{path}: {texts[row + 1][:40]!r} would run as a formula where a spreadsheet opens "
                f"{output} ({where}): write it otherwise, or keep it with shapley2d repair "
                "--keep-formulas"
            )


def _is_formula(text: str) -> bool:
    """Whether a spreadsheet would run text as a formula; numbers and marks such as - are harmless.

    >>> _is_formula("=1+1"), _is_formula(" @x"), _is_formula("-2.5"), _is_formula("-")
    (True, True, False, False)
    """
    if not FORMULA.match(text) or not re.search(r"\w", text):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False
