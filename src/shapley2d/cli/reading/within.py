"""A span of time as a person writes it."""

from __future__ import annotations

import re

from shapley2d.exceptions import InputError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)")
_NAMES = {"": "s", "sec": "s", "min": "m"}


def parse_within(text: str | None, *, planned: bool) -> float | None:
    """The option ``--within`` in seconds.

    Examples
    --------
    >>> parse_within("90", planned=True), parse_within("1h30m", planned=True), parse_within(None, planned=False)
    (90.0, 5400.0, None)
    """
    if text is None:
        return None
    if not planned:
        raise InputError("--within says how fast a plan should be: use it with --plan")
    compact = text.strip().lower().replace(" ", "")
    parts = _PART.findall(compact)
    units = [_NAMES.get(unit, unit) for _, unit in parts]
    whole = "".join(number + unit for number, unit in parts) == compact
    if not parts or not whole or any(unit not in _UNITS for unit in units):
        raise InputError(f"--within {text} is no time: write it as 90s, 10m, 2h or 1h30m")
    seconds = sum(
        float(number) * _UNITS[unit] for (number, _), unit in zip(parts, units, strict=True)
    )
    if not 0 < seconds < 1e12:
        raise InputError(
            f"--within {text} must be longer than nothing, and shorter than a thousand years"
        )
    return seconds
