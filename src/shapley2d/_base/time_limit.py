"""A time limit: when a run has to have its answer, by the clock on the wall, from the call on.

Whatever works in pieces asks :meth:`TimeLimit.check` before the next one. Where time is up, it
keeps what there is, on the path that Ctrl-C takes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from time import monotonic as now
from typing import Any

from shapley2d._base.checks import check_number
from shapley2d._base.words import format_seconds, shown
from shapley2d.exceptions import InputError, OutOfTimeError

_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_NAMES = {"": "s", "sec": "s", "min": "m", "hours": "h", "hour": "h"}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)")
_LATE = 0.1  # of the limit: a run without an answer goes on for so much longer
_INSTEAD = "allow more time, or ask for less: fewer validation rows, fewer rows or fewer columns"


def parse_time(value: Any, name: str = "max_time") -> float:
    """Seconds of a time that is a number, or text such as ``"90s"``, ``"5m"`` or ``"1h30m"``.

    >>> parse_time(90), parse_time("90"), parse_time("5 min"), parse_time("1h30m")
    (90.0, 90.0, 300.0, 5400.0)
    >>> parse_time("soon")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    shapley2d.exceptions.InputError: max_time='soon' is not a time: write it as 90s...
    """
    if not isinstance(value, str):
        check_number(value, name)
        seconds = float(value)
    else:
        compact = value.strip().lower().replace(" ", "")
        parts = [(number, _NAMES.get(unit, unit)) for number, unit in _PART.findall(compact)]
        complete = _PART.sub("", compact) == ""
        if not parts or not complete or any(unit not in _UNITS for _, unit in parts):
            raise InputError(
                f"{name}={shown(value)} is not a time: write it as 90s, 10m, 2h or 1h30m"
            )
        seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    if not 0 < seconds < 1e12:
        raise InputError(
            f"{name}={shown(value)} must be more than 0 seconds and less than a thousand years"
        )
    return seconds


@dataclass(frozen=True)
class TimeLimit:
    """Seconds that a call may take, and when they are over."""

    seconds: float
    end: float  # by :func:`time.monotonic`
    kept: float = 0.0  # for what comes after the end

    @classmethod
    def of(cls, value: Any) -> TimeLimit:
        """A limit that starts now; one that is running already stays as it is."""
        if isinstance(value, TimeLimit):
            return value
        seconds = parse_time(value)
        return cls(seconds, now() + seconds)

    def __repr__(self) -> str:
        return repr(int(self.seconds) if self.seconds == int(self.seconds) else self.seconds)

    def _taken(self) -> float:
        """Seconds since the call."""
        return self.seconds - self.kept - self.left()

    def left(self) -> float:
        """Seconds that are left; negative once the time is up."""
        return self.end - now()

    def check(self, needed_s: float = 0.0) -> None:
        """Raise where less time is left than what comes next needs."""
        if self.left() < needed_s:
            raise OutOfTimeError(
                f"max_time={shown(self)} is over: there is no first result after "
                f"{format_seconds(self._taken())}; {_INSTEAD}"
            )

    def refuse(self, needed_s: float) -> OutOfTimeError:
        """What to say at once where a first result needs more time than is left."""
        total = self._taken() + needed_s
        return OutOfTimeError(
            f"max_time={shown(self)} is too short: a first result takes about "
            f"{format_seconds(total)} here; {_INSTEAD}"
        )

    def at_latest(self) -> TimeLimit:
        """When work under way is dropped: somewhat later, as a late answer is better than none."""
        return self.earlier(-_LATE * self.seconds)

    def earlier(self, seconds: float) -> TimeLimit:
        """The limit with some seconds kept for what comes after."""
        return replace(self, end=self.end - seconds, kept=self.kept + seconds)
