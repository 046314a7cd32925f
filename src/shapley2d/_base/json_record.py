"""JSON records of files that may come from anyone: parsed and checked, never trusted."""

from __future__ import annotations

import json
from typing import Any

MAX_DEPTH = 32
"""Deepest nesting of lists and objects; our own files have about five levels."""


def parse_record(data: bytes) -> dict[str, Any]:
    """Parse a JSON object, or raise a ValueError whose message is a phrase.

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
    check_depth(record)
    return record


def check_depth(record: Any) -> None:
    """Refuse lists and objects that are nested too deeply, by a ValueError."""
    level: list[Any] = [record] if isinstance(record, (dict, list)) else []
    for _ in range(MAX_DEPTH):
        level = [
            item
            for part in level
            for item in (part.values() if isinstance(part, dict) else part)
            if isinstance(item, (dict, list))
        ]
        if not level:
            return
    raise ValueError("its record is nested too deeply")


def whole_number(value: Any, what: str, least: int = 0, most: int = 2**53) -> int:
    """Check that an entry is a whole number within bounds."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{what} is not a whole number from {least} on")
    return value


def fits_float(value: Any) -> bool:
    """Whether an entry is a number that a float can hold; JSON allows integers of any length."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value.bit_length() < 1024
    return isinstance(value, float)


def real_number(value: Any, what: str, least: float = 0.0) -> float:
    """Check that an entry is a number of at least ``least``; it may be infinite."""
    if not fits_float(value) or not value >= least:
        raise ValueError(f"{what} is not a number from {least:g} on")
    return float(value)


def history_pairs(value: Any) -> list[tuple[int, float]]:
    """Check the history of a run: counts of draws, and the relative error after each count."""
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
