"""Dates in text: 2024-02-29, 29.2.2024, 2/29/24, each with or without a time of day."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.arrow import pa, pc
from shapley2d._tables.table import MILLISECONDS_PER_DAY, as_days
from shapley2d._tables.texts.numbers import TextReading, flags

if TYPE_CHECKING:
    from numpy.typing import NDArray

_NOT_AS_PYTHON = r"^.{10}( |T.{5}$)"  # 2024-02-29 12:30, 2024-02-29T12:30
_ISO = r"^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?)?$"
_LIKELY = (
    r"^\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}"
    r"($|[T ]+\d{1,2}:\d{2}[:\d.]*( ?[AaPp]\.?[Mm]\.?)?( ?(Z|[+-]\d{2}(:?\d{2})?))?$)"
)
_TIME = (
    r"(?:(?:T| +)(?P<hour>\d{1,2}):(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2})(?:\.(?P<fraction>\d{1,9}))?)?"
    r"(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?(?: ?(?P<zone>Z|[+-]\d{2}(?::?\d{2})?))?)?"
)
_DATE = re.compile(
    rf"(?P<first>\d{{1,4}})(?P<mark>[-/.])(?P<middle>\d{{1,2}})(?P=mark)(?P<last>\d{{1,4}}){_TIME}",
    re.ASCII,
)
_START = dt.datetime(1970, 1, 1)  # noqa: DTZ001
_MILLISECOND = dt.timedelta(milliseconds=1)


def may_be_dates(texts: Any) -> NDArray[np.bool_]:
    """Which texts may be dates, by one regular expression."""
    return flags(pc.match_substring_regex(texts, _LIKELY))


def parse_dates(texts: Any, counts: NDArray[np.int64], *, order: str = "") -> TextReading:
    """Parse dates; whether 1/2/2024 is in January or February is decided for all texts together.

    The day comes first if that makes dates of more entries (31/1/2024), else the month; ``order``
    decides ties. The texts are distinct and trimmed; ``counts`` says how often each occurs.
    """
    likely = may_be_dates(texts)
    iso = likely & flags(pc.match_substring_regex(texts, _ISO))
    try:
        stamps = pc.if_else(pa.array(iso), texts, None).cast(pa.timestamp("us"))
        values = as_days(stamps.to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:  # 2024-02-31
        iso[:], values = False, np.full(len(texts), np.nan)
    odd = np.flatnonzero(likely & ~iso)
    both: list[tuple[int, float, float]] = []
    for k, text in zip(odd.tolist(), texts.take(pa.array(odd)).to_pylist(), strict=True):
        if not (found := _DATE.fullmatch(text)):
            continue
        first, mark, middle, last = found.group("first", "mark", "middle", "last")
        if len(first) == 4 and len(last) <= 2 and mark != ".":
            values[k] = _one(found, first, middle, last)
        elif len(first) <= 2 and len(last) in (2, 4):
            day_first = _one(found, last, middle, first)
            if mark != ".":
                both.append((k, day_first, _one(found, last, first, middle)))
            elif len(last) == 4 or len(first) == len(middle) == 2:
                values[k] = day_first
    notation, doubtful = "", False
    if both:
        rows = np.array([k for k, _, _ in both])
        day_first, month_first = np.array([days for _, *days in both]).T
        by_day, by_month = (
            int(counts[rows[~np.isnan(days)]].sum()) for days in (day_first, month_first)
        )
        day_is_first = by_day > by_month or (by_day == by_month and order == "day first")
        values[rows] = day_first if day_is_first else month_first
        notation = "day first" if day_is_first else "month first"
        doubtful = by_day == by_month
    strays = flags(texts.is_valid()) & np.isnan(values)
    unlike = iso & flags(pc.match_substring_regex(texts, _NOT_AS_PYTHON))
    return TextReading(
        "date", values, strays, notation, "", not (odd.size or unlike.any()), doubtful
    )


def _one(found: re.Match[str], year: str, month: str, day: str) -> float:
    """Days since 1970; NaN if the day or time does not exist."""
    number = int(year)
    if len(year) == 2:
        number += 2000 if number < 69 else 1900
    hour = int(found["hour"] or 0)
    if found["half"]:
        if not 1 <= hour <= 12:
            return np.nan
        hour = hour % 12 + (12 if found["half"] in "pP" else 0)
    micro = int(((found["fraction"] or "") + "000000")[:6])
    clock = (hour, int(found["minute"] or 0), int(found["second"] or 0), micro)
    try:
        stamp = dt.datetime(number, int(month), int(day), *clock)  # noqa: DTZ001  (kept in UTC)
    except ValueError:
        return np.nan
    zone = found["zone"]
    milliseconds = (stamp - _START) // _MILLISECOND
    if zone and zone != "Z":
        digits = zone[1:].replace(":", "")
        ahead = 60 * int(digits[:2]) + int(digits[2:] or 0)
        milliseconds -= 60_000 * (ahead if zone[0] == "+" else -ahead)
    return milliseconds / MILLISECONDS_PER_DAY
