"""Writing a file again with some entries replaced, everything else byte for byte the same."""

from __future__ import annotations

import gzip
import io
import re
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.arrow import pa, pq
from shapley2d._base.atomic_write import atomic_write
from shapley2d._base.words import FORMULA
from shapley2d._inspection.decisions import same_entry
from shapley2d._inspection.tables.changes import change_cells
from shapley2d._inspection.tables.file_edits import change_records, field_spans
from shapley2d._inspection.tables.read import inspected_table
from shapley2d._tables.frames import entries_of
from shapley2d._tables.reading.files import parse_table, unpacked
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from shapley2d._inspection.tables.changes import Changes
    from shapley2d._tables.reading.files import Contents, Source

_FORMATS = {
    "parquet": (".parquet", ".pq"),
    "json": (".json", ".jsonl", ".ndjson"),
    "csv": (".csv", ".tsv", ".txt"),
}


def check_format(output: Path, held: Contents) -> None:
    """Refuse an output whose name stands for another format than the input's."""
    kind, name = held.kind, output.name.lower().removesuffix(".gz")
    if not name.endswith(_FORMATS[kind]):
        words = " or ".join(_FORMATS[kind][:2])
        raise InputError(
            f"--output {output}: {held.name} is written again as {kind.upper()}: the name must end "
            f"in {words}"
        )
    if kind == "parquet" and output.name.lower().endswith(".gz"):
        raise InputError(f"--output {output}: Parquet is packed already: leave out .gz")


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
            changed = change_cells(table, changes).replace_schema_metadata(table.schema.metadata)
            pq.write_table(changed, temporary)
        else:
            temporary.write_bytes(_changed_bytes(output, held, table.column_names, changes))
        try:
            data = temporary.read_bytes()
            written = parse_table(
                unpacked(data, str(output), separator=separator, encoding=encoding)
            )
        except InputError as error:
            raise InputError(f"{output} is not written: it could not be read ({error})") from None
        _check_written(output, table, written, changes)
        if not keep_formulas and held.of_sheet:
            _check_formulas(output, held.name, written)
    return written


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
        now = entries_of(nw.from_native(after[name], series_only=True))
        was = entries_of(nw.from_native(before[name], series_only=True))
        wrong = [
            row
            for row in range(len(now))
            if (
                not same_entry(_text(now[row]), decided[row])
                if row in decided
                else now[row] is not was[row] and not _is_same(now[row], was[row])
            )
        ]
        typed = [row for row in wrong if row in decided]
        if not wrong or (len(typed) == len(wrong) and _read_as(after[name], typed, decided)):
            continue
        row = wrong[0]
        wanted = decided.get(row, was[row])
        raise InputError(
            f"{output} would say {_text(now[row])[:40]!r} in {written.where(row)}, column "
            f"{name[:80]!r}, not {_text(wanted)[:40]!r}: {advice}"
        )


def _check_formulas(output: Path, path: str, written: Source) -> None:
    for name in written.table.column_names:
        texts = [name, *written.table[name].to_pylist()]
        row = next((row for row, text in enumerate(texts, -1) if _is_formula(text)), None)
        if row is not None:
            where = "the header" if row < 0 else f"{written.where(row)}, column {name[:80]!r}"
            raise InputError(
                f"{path}: {texts[row + 1][:40]!r} would run as a formula where a spreadsheet opens "
                f"{output} ({where}): write it otherwise, or keep it with --keep-formulas"
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


def _is_same(now: Any, was: Any) -> bool:
    """Whether an entry is the old one; a field of JSON may have become a number, or text."""
    if isinstance(now, str) and isinstance(was, str):
        return now == was
    return bool(now == was) or same_entry(_text(now), _text(was))


def _text(entry: Any) -> str:
    if isinstance(entry, bool):
        return str(entry).lower()
    return "" if entry is None else str(entry)


def _read_as(column: Any, rows: list[int], decided: dict[int, str | None]) -> bool:
    """Whether entries are read as what was decided on as text, as 2024-01-02 is read as a day."""
    there = inspected_table(pa.table({"x": column}))
    said = inspected_table({"x": [decided[row] for row in rows]}, like=there)
    one, other = there.columns[0].take(np.array(rows, dtype=np.intp)), said.columns[0]
    return one.kind == other.kind and one.text() == other.text()


def _changed_bytes(output: Path, held: Contents, names: list[str], changes: Changes) -> bytes:
    decoded = held.text
    if held.kind == "json":
        by_row: dict[int, dict[str, str | None]] = {}
        for column, part in changes.items():
            for row, new in part.items():
                by_row.setdefault(row, {})[column] = new
        text = change_records(decoded.text, held.name, by_row)
    else:
        text = changed_csv(decoded.text, held.separator, names, changes)
    try:
        written = decoded.mark + text.encode(decoded.encoding)
    except UnicodeEncodeError as error:
        raise InputError(
            f"{held.name} is written in {decoded.encoding}, which has no letter "
            f"{error.object[error.start]!r}: write another one, or read the table with another "
            "encoding"
        ) from None
    if not output.name.lower().endswith(".gz"):
        return written
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as stream:
        stream.write(written)
    return packed.getvalue()


def changed_csv(text: str, separator: str, names: list[str], changes: Changes) -> str:
    r"""The text of a CSV file with some fields replaced."""
    by_row: dict[int, dict[int, str | None]] = {}
    for name, part in changes.items():
        for row, new in part.items():
            by_row.setdefault(row, {})[names.index(name)] = new
    parts: list[str] = []
    done = 0
    for row, spans in enumerate(field_spans(text, separator), -1):  # the first line has the names
        for j, new in sorted(by_row.pop(row, {}).items()) if row >= 0 else ():
            start, stop = spans[j]
            parts += [
                text[done:start],
                # a line of one empty field would be blank, and no row
                _field(new or "", separator, quoted=text.startswith('"', start) or len(spans) == 1),
            ]
            done = stop
    assert not by_row
    return "".join([*parts, text[done:]])


def _field(text: str, separator: str, *, quoted: bool) -> str:
    needed = any(mark in text for mark in (separator, '"', "\r", "\n"))
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if needed or quoted else text
