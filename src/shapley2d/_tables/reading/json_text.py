"""JSON records: one per line, or all in one list."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from shapley2d._base.entries import as_text, with_texts
from shapley2d.exceptions import InputError

_SUFFIXES = (".json", ".jsonl", ".ndjson")


def looks_like_json(text: str, path: str) -> bool:
    r"""Whether a file holds records as JSON, by its content or by its name.

    Examples
    --------
    >>> looks_like_json('{"a": 1}\n{"a": 2}\n', "table.csv")
    True
    >>> looks_like_json("a,b\n1,2\n", "table.csv")
    False
    """
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
    r"""The line of every record; empty where there is not one record to a line.

    Examples
    --------
    >>> record_lines('{"a": 1}\n\n{"a": 2}\n', 2)
    [1, 3]
    """
    lines = [k for k, line in enumerate(text.split("\n"), 1) if line.strip()]
    return lines if len(lines) == n_rows else []


def read_json(text: str, path: str) -> Any:
    """The records as a pyarrow table; a field of several types becomes text."""
    import pyarrow as pa
    from pyarrow import json as pa_json

    if text.lstrip().startswith("{"):
        try:
            data = text.encode()
            options = pa_json.ReadOptions(block_size=min(len(data) + 1, 2**31 - 2))
            table = pa_json.read_json(io.BytesIO(data), read_options=options)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            pass  # a field of several types, or not JSON
        else:
            return _without_stamps(table, text, path)
    return _table(_records(text, path), path)


def _without_stamps(table: Any, text: str, path: str) -> Any:
    """Undo pyarrow's own guesses of times: what text holds is decided in one place only."""
    import pyarrow as pa

    if not table.num_columns:
        raise InputError(f"{path} has no records with fields")
    stamps = any(
        pa.types.is_timestamp(kind) or pa.types.is_date(kind) for kind in table.schema.types
    )
    return _table(_records(text, path), path) if stamps else table


def _records(text: str, path: str) -> list[dict[str, Any]]:
    if text.lstrip().startswith("["):
        try:
            records = json.loads(text)
        except ValueError as error:
            raise InputError(f"{path} is not readable as JSON: {error}") from None
        lines = list(enumerate(records, 1))
    else:
        lines = []
        for number, line in enumerate(text.splitlines(), 1):
            if not line.strip():
                continue
            try:
                lines.append((number, json.loads(line)))
            except ValueError as error:
                raise InputError(
                    f"{path}, line {number} is not a JSON record ({error}): a table needs one "
                    "record per line, or a list of records"
                ) from None
    for number, record in lines:
        if not isinstance(record, dict):
            raise InputError(
                f'{path}: entry {number} is not a record such as {{"age": 30}}: '
                "a table needs records"
            )
    return [record for _, record in lines]


def _table(records: list[dict[str, Any]], path: str) -> Any:
    import pyarrow as pa

    keys = dict.fromkeys(key for record in records for key in record)
    if not keys:
        raise InputError(f"{path} has no records with fields")
    return pa.table(
        {
            as_text(key): _column(with_texts(record.get(key) for record in records), key, path)
            for key in keys
        }
    )


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
        return pa.array(items)
    return pa.array(
        [item if item is None or isinstance(item, str) else json.dumps(item) for item in items]
    )
