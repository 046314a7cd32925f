"""Spreadsheets (.xlsx) as the CSV text that their first sheet would be saved as."""

from __future__ import annotations

import csv
import datetime as dt
import io
from typing import Any

from shapley2d._tables.reading.sheet_size import counted_archive
from shapley2d.exceptions import InputError

ZIP = b"PK\x03\x04"
OLD_EXCEL = b"\xd0\xcf\x11\xe0"


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
        book = CalamineWorkbook.from_filelike(io.BytesIO(counted_archive(data, name)))
        sheets = [(title, book.get_sheet_by_name(title)) for title in book.sheet_names]
        filled = [(title, sheet, sheet.start) for title, sheet in sheets if sheet.start]
        rows = filled[0][1].to_python() if filled else []
    except CalamineError as error:
        raise InputError(
            f"{name} cannot be read as a spreadsheet ({error}): save it as CSV"
        ) from None
    if not filled:
        raise InputError(f"{name} is empty: it needs a header line and rows")
    (title, _, (first, _)), others = filled[0], [other for other, *_ in filled[1:]]
    while not any(entry != "" for entry in rows[-1]):
        rows.pop()
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
