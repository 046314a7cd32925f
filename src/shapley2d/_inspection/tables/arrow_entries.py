"""Other entries in an Arrow table, of the types that its columns have."""

from __future__ import annotations

from datetime import time
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from shapley2d._base.arrow import pa, pc
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._inspection.tables.changes import Changes

_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def with_entries(table: Any, changes: Changes, called: str) -> Any:
    """The table with some entries replaced; its schema and all other entries stay as they are.

    What a column's type has no place for is refused, as is an empty entry where none may be.
    """
    for name, part in changes.items():
        place = table.column_names.index(name)
        field, column, chunks, done = table.schema.field(place), table.column(place), [], 0
        for row, text in sorted(part.items()):
            new = _entry(text, field.type) if text is not None or field.nullable else None
            if new is None:
                words = "be empty" if text is None else f"hold {text[:40]!r}"
                raise InputError(
                    f"{called}: column {name[:80]!r} holds {field.type} entries and cannot "
                    f"{words}: write another entry; nothing is written"
                )
            chunks += [*column.slice(done, row - done).chunks, new]
            done = row + 1
        chunks += column.slice(done).chunks
        table = table.set_column(place, field, pa.chunked_array(chunks, field.type))
    return table


def _entry(text: str | None, kind: Any) -> Any:
    """An array of one entry; None if the type has no place for it."""
    types = pa.types
    try:
        if types.is_dictionary(kind):
            values = _entry(text, kind.value_type)
            if values is None:
                return None
            coded = values.dictionary_encode()
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
        if types.is_timestamp(kind) and kind.tz is not None:  # tables show them in UTC
            plain = pa.array([text]).cast(pa.timestamp(kind.unit))
            return pc.assume_timezone(plain, "UTC").cast(kind)
        return pa.array([text]).cast(kind)
    except (pa.ArrowException, ArithmeticError, OverflowError, ValueError):
        return None


def _whole(number: Decimal) -> int:
    if number != number.to_integral_value():
        raise ValueError(number)
    return int(number)
