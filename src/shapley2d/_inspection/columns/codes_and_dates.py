"""Numbers that are codes for a missing entry, and dates whose order is open."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import plural
from shapley2d._inspection.columns.finding import EVEN, SURE, ColumnFinding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import WrittenColumn

_NINES = {sign * (10.0**digits - 1) for digits in range(1, 13) for sign in (1.0, -1.0)}
_CODES = _NINES | {
    -1.0, -8888.0, -888.0, -88.0, 8888.0, 88888.0, -99999.9, 999.9, 9999.9, -999.9, 99.99, 999.99,
    1e10,
}  # fmt: skip
# Interquartile ranges between a code and all other numbers; less takes outliers for codes.
_GAP = 3.0
_MIN_NUMBERS = 10
_SLASHES = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{2}|\d{4})\b.*", re.ASCII)
_MOST_DAYS, _MOST_MONTHS = 31, 12


def find_codes_and_dates(written: WrittenColumn) -> list[ColumnFinding]:
    """Codes among numbers, and dates in two orders."""
    finders = {"number": _codes, "date": _date_orders}
    find = finders.get(written.column.kind)
    found = None if find is None else find(written)
    return [] if found is None else [found]


def _codes(written: WrittenColumn) -> ColumnFinding | None:
    """Numbers such as 999, far from all others: they stand for a missing entry."""
    entries = written.column.entries
    is_code = np.isin(entries, list(_CODES))
    others = entries[~is_code & ~np.isnan(entries)]
    if not is_code.any() or others.size < _MIN_NUMBERS:
        return None
    low, middle_low, middle_high, high = np.quantile(others, [0.0, 0.25, 0.75, 1.0])
    gap = _GAP * max(middle_high - middle_low, 0.05 * (high - low))
    far = (entries > high + gap) | (entries < low - gap)
    if low >= 0:  # a count or a length is never below zero
        far |= entries < 0
    rows = np.flatnonzero(is_code & far)
    if not rows.size:
        return None
    codes = np.unique(entries[rows])
    named = ", ".join(f"{code:g}" for code in codes[:3])
    means = plural(codes.size, "it is a code", "they are codes")
    return ColumnFinding(
        (written.name,),
        "codes",
        f"{written.counted_entries(rows)} {plural(rows.size, 'is', 'are')} {named}, far from "
        f"all other numbers ({low:g} to {high:g}): if {means} for a missing entry, leave "
        f"{plural(rows.size, 'the cell', 'the cells')} empty",
        rows,
        dict.fromkeys(rows.tolist(), ""),
        SURE,
    )


def _date_orders(written: WrittenColumn) -> ColumnFinding | None:
    """Dates such as 4/2/15, whose order of day, month and year is not known."""
    if not written.is_text:
        return None
    parts = [_SLASHES.fullmatch(word) for word in written.words]
    numbers = np.array(
        [[int(match[1]), int(match[3]), int(match[4])] if match else [0, 0, 0] for match in parts],
        dtype=np.int64,
    ).reshape(-1, 3)
    short = np.array([match is not None and len(match[4]) == 2 for match in parts], dtype=bool)
    first, second, third = numbers.T
    slashed = first > 0
    if not slashed.any():
        return None
    either = slashed & (first <= _MOST_MONTHS) & (second <= _MOST_MONTHS) & (first != second)
    years_open = short & (third >= 1) & (third <= _MOST_DAYS)
    day_first, month_first = slashed & (first > _MOST_MONTHS), slashed & (second > _MOST_MONTHS)
    if short.any() and written.counts[years_open].sum() > 0:
        return _open(written, years_open, "which number is the year, the month and the day")
    if day_first.any() and month_first.any():
        days_are_rare = written.counts[day_first].sum() < written.counts[month_first].sum()
        rows = written.rows(day_first if days_are_rare else month_first)
        order = "day" if days_are_rare else "month"
        return ColumnFinding(
            (written.name,),
            "date orders",
            f"{written.name!r} holds dates in two orders: {rows.size:,} have the {order} first, "
            f"such as {written.word(rows[0])!r}, and {int(written.counts[either].sum()):,} could "
            "be either: write them as 2024-02-29",
            rows,
            {int(i): _swapped(written.word(i)) for i in rows},
            SURE,
        )
    if either.any() and not day_first.any() and not month_first.any():
        return _open(written, either, "whether the day or the month comes first")
    return None


def _open(written: WrittenColumn, which: NDArray[np.bool_], what: str) -> ColumnFinding:
    rows = written.rows(which)
    return ColumnFinding(
        (written.name,),
        "date orders",
        f"{rows.size:,} {plural(rows.size, 'date')} of {written.name!r} "
        f"{plural(rows.size, 'does', 'do')} not tell {what}, such as {written.word(rows[0])!r}: "
        "look it up at the source and write the dates as 2024-02-29",
        rows,
        {},
        EVEN,
    )


def _swapped(word: str) -> str:
    """The date with its first two numbers exchanged."""
    match = _SLASHES.fullmatch(word)
    if match is None:
        return word
    begin, end = match.end(1), match.end(3)
    return match[3] + word[begin : match.start(3)] + match[1] + word[end:]
