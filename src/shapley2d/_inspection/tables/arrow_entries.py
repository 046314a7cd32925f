"""Other entries in an Arrow table, of the types that its columns have."""

from __future__ import annotations

from contextlib import suppress
from datetime import time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from shapley2d._base.arrow import pa, pc
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def with_entries(table: Any, changes: Mapping[str, Mapping[int, str | None]], called: str) -> Any:
    """The table with some entries replaced; its schema and all other entries stay as they are.

    What a column's type has no place for is refused, as is an empty entry where none may be.
    """
    for name, part in changes.items():
        place = table.column_names.index(name)
        field = table.schema.field(place)
        wrong = "be empty" if not field.nullable and None in part.values() else ""
        try:
            column = replaced(table.column(place), part)
        except ValueError as error:
            wrong = f"hold {str(error)[:40]!r}"
        if wrong:
            raise InputError(
                f"{called}: column {name[:80]!r} holds {field.type} entries and cannot {wrong}: "
                "write another entry; nothing is written"
            )
        table = table.set_column(place, field, column)
    return table


def replaced(column: Any, part: Mapping[int, str | None]) -> Any:
    """A chunked array with other entries by row; a ValueError is the one that does not fit."""
    chunks, done = [], 0
    for row, text in sorted(part.items()):
        try:
            new = _entry(text, column.type)
        except (pa.ArrowException, ArithmeticError, ValueError):
            raise ValueError(text) from None
        chunks += [*column.slice(done, row - done).chunks, new]
        done = row + 1
    return pa.chunked_array([*chunks, *column.slice(done).chunks], column.type)


def _entry(text: str | None, kind: Any) -> Any:
    """An array of one entry; errors of several types say that the type has no place for it."""
    types = pa.types
    if types.is_dictionary(kind):
        coded = _entry(text, kind.value_type).dictionary_encode()
        codes = coded.indices.cast(kind.index_type)
        return pa.DictionaryArray.from_arrays(codes, coded.dictionary, ordered=kind.ordered)
    if text is None:
        return pa.nulls(1, kind)
    if types.is_integer(kind):  # exactly, also if it is written as 7.0
        return pa.array([_whole(Decimal(text))], kind)
    if types.is_duration(kind):  # tables show them in days
        return pa.array([_whole(Decimal(text) * _PER_DAY[kind.unit])]).cast(kind)
    if types.is_time(kind):
        return pa.array([time.fromisoformat(text)], kind)
    if types.is_boolean(kind):
        text = {"yes": "true", "no": "false"}.get(text.lower(), text)
    if types.is_timestamp(kind) and kind.tz is not None:  # tables show them in UTC
        with suppress(pa.ArrowInvalid):
            plain = pa.array([text]).cast(pa.timestamp(kind.unit))
            return pc.assume_timezone(plain, "UTC").cast(kind)
    return pa.array([text]).cast(kind)


def _whole(number: Decimal) -> int:
    if number != number.to_integral_value():
        raise ValueError(number)
    return int(number)
