"""Entries in the text of a file: where they are, and others in their place."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from shapley2d._base.entries import as_text
from shapley2d._tables.reading.json_text import DECODER, after_gap, records

if TYPE_CHECKING:
    from collections.abc import Iterator


def field_spans(text: str, separator: str) -> Iterator[list[tuple[int, int]]]:
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


def change_records(text: str, path: str, changes: dict[int, dict[str, str | None]]) -> str:
    r"""The text with some fields of some records replaced; all others stay byte for byte."""
    parts: list[str] = []
    done = 0
    for row, (start, record) in enumerate(records(text, path)):
        spans, end = _entry_spans(text, start) if row in changes else ({}, 0)
        new = changes.get(row, {})
        here = {as_text(key): key for key in record}
        edits = {}
        for name in [name for name in new if name in here]:
            entry = _typed(record[here[name]], new[name])
            edits[spans[here[name]]] = json.dumps(entry, ensure_ascii=False)
        added = {name: _typed(None, entry) for name, entry in new.items() if name not in here}
        if added:
            comma = ", " if record else ""
            edits[end, end] = comma + json.dumps(added, ensure_ascii=False)[1:-1]
        for (first, last), entry in sorted(edits.items()):
            parts += [text[done:first], entry]
            done = last
    return "".join([*parts, text[done:]])


def _typed(before: Any, new: str | None) -> Any:
    """A new entry as JSON: a number where the old entry was one and the new one is."""
    if new is None or isinstance(before, str):
        return new
    try:
        plain = json.loads(new)
    except (ValueError, RecursionError):
        return new
    return plain if isinstance(plain, (int, float, bool)) else new


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
