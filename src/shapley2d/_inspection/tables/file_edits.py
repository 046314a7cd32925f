"""Entries in the text of a file: where they are, and what is to stand there instead."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from shapley2d._base.arrow import pa
from shapley2d._base.entries import as_text
from shapley2d._inspection.decisions import PLAIN_NUMBER
from shapley2d._tables.reading.json_text import DECODER, after_gap, records
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapley2d._inspection.tables.changes import Changes

Edit = tuple[int, int, str]
"""Where an entry starts and ends in a text, and the new one."""

_LITERAL = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


def csv_edits(text: str, separator: str, names: list[str], changes: Changes) -> Iterator[Edit]:
    """The fields of a CSV file that changes are about, in the order of the text."""
    by_row = _by_row(changes)
    for row, spans in enumerate(_field_spans(text, separator), -1):  # the first line has the names
        for name, new in by_row.get(row, {}).items():
            start, stop = spans[names.index(name)]
            # a line of one empty field would be blank, and no row
            quoted = text.startswith('"', start) or len(spans) == 1
            yield start, stop, _field(new or "", separator, quoted=quoted)


def json_edits(text: str, path: str, table: Any, changes: Changes) -> Iterator[Edit]:
    """The entries of JSON records that changes are about, typed as the table has them."""
    by_row = _by_row(changes)
    for row, (start, record) in enumerate(records(text, path)):
        if row not in by_row:
            continue
        spans, end = _entry_spans(text, start)
        here = {as_text(key): key for key in record}
        added = {}
        for name, new in by_row[row].items():
            key = here.get(name, "")
            entry = _literal(record.get(key), new, table[name].type, name)
            if name in here:
                yield *spans[key], entry
            else:
                added[name] = entry
        if added:
            fields = ", ".join(f"{_text(name)}: {entry}" for name, entry in added.items())
            yield end, end, f"{', ' if record else ''}{fields}"


def _by_row(changes: Changes) -> dict[int, dict[str, str | None]]:
    by_row: dict[int, dict[str, str | None]] = {}
    for name, part in changes.items():
        for row, new in part.items():
            by_row.setdefault(row, {})[name] = new
    return by_row


def _field_spans(text: str, separator: str) -> Iterator[list[tuple[int, int]]]:
    r"""Spans of the fields of each non-empty line, quotes included."""
    other = f"[^{re.escape(separator)}\r\n]*"
    field = re.compile(f'"(?:[^"]|"")*"{other}|{other}')
    place = 0
    spans: list[tuple[int, int]] = []
    while place <= len(text):
        found = field.match(text, place)
        assert found is not None
        spans.append(found.span())
        place = found.end()
        if text.startswith(separator, place):
            place += 1
            continue
        if len(spans) > 1 or spans[0][0] < spans[0][1]:
            yield spans
        if place >= len(text):
            return
        place += 2 if text.startswith("\r\n", place) else 1
        spans = []


def _field(text: str, separator: str, *, quoted: bool) -> str:
    needed = any(mark in text for mark in (separator, '"', "\r", "\n"))
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if needed or quoted else text


def _literal(before: Any, new: str | None, kind: Any, name: str) -> str:
    """A new entry as JSON: text where its column, or the entry before, is text.

    Numbers are written digit by digit as they are given, if JSON can.
    """
    types = pa.types
    if new is None:
        return "null"
    is_flag = isinstance(before, bool) or (before is None and types.is_boolean(kind))
    if is_flag and new in ("true", "false"):
        return new
    is_number = types.is_integer(kind) or types.is_floating(kind)
    if isinstance(before, (int, float)) or (before is None and is_number):
        if _LITERAL.fullmatch(new):
            return new
        if PLAIN_NUMBER.fullmatch(new):  # +5, .5, 007
            return json.dumps(float(new))
        if new.strip("+-").lower() in ("nan", "inf", "infinity"):
            raise InputError(
                f"column {name[:80]!r}: JSON has no number {new!r}: write another one, or leave "
                "the entry empty; nothing is written"
            )
    return _text(new)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _entry_spans(text: str, start: int) -> tuple[dict[str, tuple[int, int]], int]:
    """Where the entries of a record are, by their keys, and where its closing brace is."""
    spans = {}
    place = after_gap(text, start + 1)
    while text[place] != "}":
        key, place = DECODER.raw_decode(text, place)
        first = after_gap(text, after_gap(text, place) + 1)  # behind the colon
        _, last = DECODER.raw_decode(text, first)
        spans[key] = (first, last)  # of a key that occurs twice the last entry counts
        place = after_gap(text, last)
        if text[place] == ",":
            place = after_gap(text, place + 1)
    return spans, place
