"""JSON records: one per line, or all in one list.

Lines end at line feeds only: a string may hold other characters that Python takes for line ends,
such as U+2028.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from json.decoder import JSONDecodeError
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._base.entries import as_text, with_texts
from shapley2d._base.limits import MAX_DEPTH, Limits, is_too_deep
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_SUFFIXES = (".json", ".jsonl", ".ndjson")
_SPACE = " \t\r\n"
_GAP = re.compile(f"[{_SPACE}]*")
DECODER = json.JSONDecoder()
_DEEP = f"nests lists or objects deeper than {MAX_DEPTH} levels: a table needs plain records"


def looks_like_json(text: str, path: str) -> bool:
    r"""Whether a file holds records as JSON, by its content or by its name."""
    if any(suffix.lower() in _SUFFIXES for suffix in Path(path).suffixes):
        return True
    start = text.lstrip(_SPACE)
    if not start.startswith(("{", "[")):
        return False
    line = start.split("\n", 1)[0]
    with suppress(ValueError):
        return is_too_deep(line) or isinstance(json.loads(line), dict)
    return start.startswith("[") and start[1:].lstrip(_SPACE).startswith("{")


def record_lines(text: str, n_rows: int) -> NDArray[np.int64] | None:
    """The line of every record; None where there is not one record to a line."""
    lines = np.array([number for number, _, _ in _lines(text)], dtype=np.int64)
    return lines if lines.size == n_rows else None


def read_json(text: str, path: str) -> Any:
    """The records as a pyarrow table; a field of several types becomes text."""
    limits = Limits(path, len(text))
    columns: dict[str, list[Any]] = {}
    n_rows = 0
    for n_rows, (_, record) in enumerate(records(text, path), 1):
        for key in record:
            columns.setdefault(key, [])
        limits.check(columns=len(columns), cells=len(columns) * n_rows)
        for key, entry in record.items():
            columns[key] += [None] * (n_rows - 1 - len(columns[key]))
            columns[key].append(entry)
    if not columns:
        raise InputError(f"{path} has no records with fields")
    return pa.table(
        {
            as_text(key): _column(with_texts([*items, *[None] * (n_rows - len(items))]), key, path)
            for key, items in columns.items()
        }
    )


def after_gap(text: str, place: int) -> int:
    """Where the white space at a place ends."""
    found = _GAP.match(text, place)
    assert found is not None
    return found.end()


def _lines(text: str) -> Iterator[tuple[int, int, str]]:
    """The lines that are not blank: their numbers, where they start, and what they say."""
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip(_SPACE):
            yield number, start, line
        start += len(line) + 1


def records(text: str, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records, and where each starts in the text."""
    found = _listed(text, path) if text.lstrip(_SPACE).startswith("[") else _on_lines(text, path)
    for number, (start, record) in enumerate(found, 1):
        if not isinstance(record, dict):
            raise InputError(
                f'{path}: entry {number} is not a record such as {{"age": 30}}: '
                "a table needs records"
            )
        yield start, record


def _listed(text: str, path: str) -> Iterator[tuple[int, Any]]:
    if is_too_deep(text):
        raise InputError(f"{path} {_DEEP}")
    place = text.index("[")
    empty = after_gap(text, place + 1)
    mark = ","
    if text.startswith("]", empty):
        place, mark = empty, "]"
    try:
        while mark == ",":
            start = after_gap(text, place + 1)
            record, end = DECODER.raw_decode(text, start)
            yield start, record
            place = after_gap(text, end)
            mark = text[place : place + 1]
    except ValueError as error:
        raise InputError(f"{path} is not readable as JSON: {error}") from None
    if mark != "]" or after_gap(text, place + 1) < len(text):
        where = JSONDecodeError("the list does not end as it should", text, place)
        raise InputError(f"{path} is not readable as JSON: {where}")


def _on_lines(text: str, path: str) -> Iterator[tuple[int, Any]]:
    for number, start, line in _lines(text):
        if is_too_deep(line):
            raise InputError(f"{path}, line {number} {_DEEP}")
        try:
            yield start + after_gap(line, 0), json.loads(line)
        except ValueError as error:
            raise InputError(
                f"{path}, line {number} is not a JSON record ({error}): a table needs one "
                "record per line, or a list of records"
            ) from None


def _column(items: list[Any], key: str, path: str) -> Any:
    nested = next((row for row, item in enumerate(items) if isinstance(item, (dict, list))), None)
    if nested is not None:
        raise InputError(
            f"{path}: field {key!r} of record {nested + 1} holds a {type(items[nested]).__name__}, "
            "not a plain entry: leave it out or unpack it"
        )
    kinds = {type(item) for item in items} - {type(None)}
    if len(kinds) < 2 or kinds == {int, float}:
        # whole numbers beyond 64 bits, or beyond the 53 of a fraction beside them
        with suppress(OverflowError, pa.ArrowInvalid):
            return pa.array(items)
    return pa.array(
        [item if item is None or isinstance(item, str) else json.dumps(item) for item in items]
    )
