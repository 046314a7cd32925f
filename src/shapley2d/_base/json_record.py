"""JSON from files that may come from anyone."""

from __future__ import annotations

import json
from typing import Any

MAX_DEPTH = 32
"""Lists within lists, at most: ours have five or so."""


def parse_record(data: bytes) -> dict[str, Any]:
    """An object of JSON, or a ValueError that says in a phrase what is wrong with it.

    Examples
    --------
    >>> parse_record(b'{"format": 1}')
    {'format': 1}
    >>> parse_record(b"[" * 100_000)
    Traceback (most recent call last):
    ValueError: its record is nested too deeply
    """
    try:
        record = json.loads(data.decode("utf-8"))
    except RecursionError:
        raise ValueError("its record is nested too deeply") from None
    except ValueError:
        raise ValueError("its record is not JSON") from None
    if not isinstance(record, dict):
        raise ValueError("its record is not a JSON object")  # noqa: TRY004  (one kind of error for one cause)
    level: list[Any] = [record]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for part in level
            for item in (part.values() if isinstance(part, dict) else part)
            if isinstance(item, (dict, list))
        ]
        if not level:
            return record
    raise ValueError("its record is nested too deeply")


def whole_number(value: Any, what: str, least: int = 0, most: int = 2**53) -> int:
    """A whole number of a record, within bounds."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{what} is not a whole number from {least} on")
    return value


def is_number(value: Any) -> bool:
    """Whether an entry of a record is a number that a float can hold: JSON knows integers of any length."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value.bit_length() < 1024
    return isinstance(value, float)


def real_number(value: Any, what: str, least: float = 0.0) -> float:
    """A number of a record, infinite perhaps, of at least ``least``."""
    if not is_number(value) or not value >= least:
        raise ValueError(f"{what} is not a number from {least:g} on")
    return float(value)


def history_pairs(value: Any) -> list[tuple[int, float]]:
    """The course of a run: counts, and how precise the values were by then."""
    if not isinstance(value, list) or any(
        not isinstance(pair, list) or len(pair) != 2 for pair in value
    ):
        raise ValueError("its history is not a list of pairs")
    return [
        (
            whole_number(count, "a count of its history"),
            real_number(ratio, "a ratio of its history"),
        )
        for count, ratio in value
    ]
