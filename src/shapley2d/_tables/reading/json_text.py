"""JSON records: one after the other, usually one per line, or all in one list."""

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
from shapley2d._base.limits import Limits
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_SUFFIXES = (".json", ".jsonl", ".ndjson")
_GAP = re.compile("[ \t\r\n]*")
DECODER = json.JSONDecoder()


def looks_like_json(text: str, path: str) -> bool:
    """Whether a file holds records as JSON, by its content or by its name."""
    if any(suffix.lower() in _SUFFIXES for suffix in Path(path).suffixes):
        return True
    start = after_gap(text, 0)
    if text.startswith("[", start):
        return text.startswith("{", after_gap(text, start + 1))
    try:
        return text.startswith("{", start) and bool(DECODER.raw_decode(text, start))
    except ValueError:
        return False
    except RecursionError:
        return True


def read_json(text: str, path: str) -> tuple[Any, NDArray[np.int64] | None]:
    """The records as a pyarrow table, and their lines where no two begin in one.

    A field of several types becomes text.
    """
    limits = Limits(path, len(text))
    columns: dict[str, list[Any]] = {}
    starts: list[int] = []
    for start, record in records(text, path):
        for key in record:
            columns.setdefault(key, [])
        limits.check(columns=len(columns), cells=len(columns) * (len(starts) + 1))
        for key, entry in record.items():
            columns[key] += [None] * (len(starts) - len(columns[key]))
            columns[key].append(entry)
        starts.append(start)
    if not columns:
        raise InputError(f"{path} has no records with fields")
    table = {
        as_text(key): _column(with_texts([*items, *[None] * (len(starts) - len(items))]), key, path)
        for key, items in columns.items()
    }
    # line feeds only: a string may hold other characters that Python takes for line ends
    ends = np.array([found.start() for found in re.finditer("\n", text)])
    lines = 1 + np.searchsorted(ends, starts)
    return pa.table(table), lines if (np.diff(lines) > 0).all() else None


def after_gap(text: str, place: int) -> int:
    """Where the white space at a place ends."""
    found = _GAP.match(text, place)
    assert found is not None
    return found.end()


def records(text: str, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The records, and where each starts in the text."""
    for number, (start, record) in enumerate(_values(text, path), 1):
        if not isinstance(record, dict):
            raise InputError(
                f'{path}: entry {number} is not a record such as {{"age": 30}}: '
                "a table needs records"
            )
        yield start, record


def _values(text: str, path: str) -> Iterator[tuple[int, Any]]:
    """What the text or its list holds, and where each value starts."""
    place = after_gap(text, 0)
    listed = text.startswith("[", place)
    if listed:
        place = after_gap(text, place + 1)
    more = not text.startswith("]", place) if listed else place < len(text)
    while more:
        try:
            value, end = DECODER.raw_decode(text, place)
        except JSONDecodeError as error:
            raise _unreadable(text, place, path, error) from None
        except ValueError:  # of Python, which reads no longer ones
            raise _unreadable(text, place, path, "a number has too many digits") from None
        except RecursionError:
            raise InputError(
                f"{path} nests lists or objects too deeply: a table needs plain records"
            ) from None
        yield place, value
        place = after_gap(text, end)
        more = text.startswith(",", place) if listed else place < len(text)
        if listed and more:
            place = after_gap(text, place + 1)
    if listed and (text[place : place + 1] != "]" or after_gap(text, place + 1) < len(text)):
        raise _unreadable(text, place, path, "the list does not end as it should")


def _unreadable(text: str, place: int, path: str, why: object) -> InputError:
    line = text.count("\n", 0, place) + 1
    return InputError(
        f"{path}, line {line} is not a JSON record ({why}): a table needs one record per line, "
        "or a list of records"
    )


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
