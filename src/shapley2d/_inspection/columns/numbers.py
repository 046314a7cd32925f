"""Numbers that are codes for nothing, and dates whose order is open."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.columns.shapes import EVEN, SURE
from shapley2d._inspection.findings import ColumnFinding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._inspection.columns.written import Written

_NINES = {sign * (10.0**digits - 1) for digits in range(1, 13) for sign in (1.0, -1.0)}
_CODES = _NINES | {
    -1.0,
    -8888.0,
    -888.0,
    -88.0,
    8888.0,
    88888.0,
    -99999.9,
    999.9,
    9999.9,
    -999.9,
    99.99,
    999.99,
    1e10,
}
_GAP = 3.0  # ranges of the middle half, between a code and all other numbers
_MIN_NUMBERS = 10
_SLASHES = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{2}|\d{4})\b.*", re.ASCII)
_MOST_DAYS, _MOST_MONTHS = 31, 12


def find_in_numbers(written: Written) -> list[ColumnFinding]:
    """Codes among numbers, and dates in two orders."""
    if written.column.kind == "number":
        found = _codes(written)
    elif written.column.kind == "date":
        found = _date_orders(written)
    else:
        found = None
    return [] if found is None else [found]


def _codes(written: Written) -> ColumnFinding | None:
    """Round nines and the like, far from all other numbers: they stand for an entry that is not there."""
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
    return ColumnFinding(
        (written.name,),
        "codes",
        f"{rows.size:,} {'entry' if rows.size == 1 else 'entries'} of {written.name!r} say {named}, far from all other "
        f"numbers ({low:g} to {high:g}): if that is a code for nothing, leave them empty",
        rows,
        dict.fromkeys(rows.tolist(), ""),
        SURE,
    )


def _date_orders(written: Written) -> ColumnFinding | None:
    """Dates such as 4/2/15, of which the order of day, month and year cannot be told."""
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
    mixed = bool(day_first.any() and month_first.any())
    if short.any() and written.counts[years_open].sum() > 0:
        return _open(written, years_open, "which of the numbers is the year, the month and the day")
    if mixed:
        rare = (
            day_first
            if written.counts[day_first].sum() < written.counts[month_first].sum()
            else month_first
        )
        rows = written.rows(rare)
        order = "day" if rare is day_first else "month"
        return ColumnFinding(
            (written.name,),
            "date orders",
            f"{written.name!r} holds dates in two orders: {rows.size:,} have the {order} first, such as "
            f"{written.words[int(written.codes[rows[0]])]!r}, and {int(written.counts[either].sum()):,} could be "
            "either: write them as 2024-02-29",
            rows,
            {int(i): _swapped(written.words[int(written.codes[i])]) for i in rows},
            SURE,
        )
    if either.any() and not day_first.any() and not month_first.any():
        return _open(written, either, "whether the day or the month comes first")
    return None


def _open(written: Written, which: NDArray[np.bool_], what: str) -> ColumnFinding:
    rows = written.rows(which)
    return ColumnFinding(
        (written.name,),
        "date orders",
        f"{rows.size:,} dates of {written.name!r} do not tell {what}, such as "
        f"{written.words[int(written.codes[rows[0]])]!r}: look it up at the source and write them as 2024-02-29",
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
