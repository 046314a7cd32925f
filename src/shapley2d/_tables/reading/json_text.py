"""JSON records: one per line, or all in one list."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shapley2d._base.entries import as_text, with_texts
from shapley2d._base.limits import Limits
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

_SUFFIXES = (".json", ".jsonl", ".ndjson")


def looks_like_json(text: str, path: str) -> bool:
    r"""Whether a file holds records as JSON, by its content or by its name."""
    if any(suffix.lower() in _SUFFIXES for suffix in Path(path).suffixes):
        return True
    start = text.lstrip()
    if not start.startswith(("{", "[")):
        return False
    line = start.split("\n", 1)[0].strip()
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return start.startswith("[") and start[1:].lstrip().startswith("{")


def record_lines(text: str, n_rows: int) -> list[int]:
    r"""The line of every record; empty where there is not one record to a line."""
    lines = [k for k, line in enumerate(text.split("\n"), 1) if line.strip()]
    return lines if len(lines) == n_rows else []


def read_json(text: str, path: str) -> Any:
    """The records as a pyarrow table; a field of several types becomes text."""
    import pyarrow as pa

    limits = Limits(path, len(text))
    columns: dict[str, list[Any]] = {}
    n_rows = 0
    for n_rows, record in enumerate(_records(text, path), 1):
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


def _records(text: str, path: str) -> Iterator[dict[str, Any]]:
    if text.lstrip().startswith("["):
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{path} is not readable as JSON: {error}") from None
        lines: Iterator[tuple[int, Any]] = enumerate(found, 1)
    else:
        lines = _parsed_lines(text, path)
    for number, record in lines:
        if not isinstance(record, dict):
            raise InputError(
                f'{path}: entry {number} is not a record such as {{"age": 30}}: '
                "a table needs records"
            )
        yield record


def _parsed_lines(text: str, path: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InputError(
                    f"{path}, line {number} is not a JSON record ({error}): a table needs one "
                    "record per line, or a list of records"
                ) from None


def _column(items: list[Any], key: str, path: str) -> Any:
    import pyarrow as pa

    nested = next((row for row, item in enumerate(items) if isinstance(item, (dict, list))), None)
    if nested is not None:
        raise InputError(
            f"{path}: field {key!r} of record {nested + 1} holds a {type(items[nested]).__name__}, "
            "not a plain entry: leave it out or unpack it"
        )
    kinds = {type(item) for item in items} - {type(None)}
    if len(kinds) < 2 or kinds == {int, float}:
        with suppress(OverflowError):  # an integer that 64 bits do not hold
            return pa.array(items)
    return pa.array(
        [item if item is None or isinstance(item, str) else json.dumps(item) for item in items]
    )
