"""Numbers that are codes for a missing entry, and dates whose order is open."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import plural
from shapley2d._inspection.columns.finding import SURE, UNKNOWN, ColumnFinding
from shapley2d._tables.convert import MAX_MAGNITUDE
from shapley2d._tables.entry_writer import EntryWriter

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import WrittenColumn

_NINES = {sign * (10.0**digits - 1) for digits in range(1, 13) for sign in (1.0, -1.0)}
_CODES = _NINES | {
    -1.0, -8888.0, -888.0, -88.0, 8888.0, 88888.0, -99999.9, 999.9, 9999.9, -999.9, 99.99, 999.99,
    1e10,
}  # fmt: skip
_CODE_DATES = (
    "0001-01-01", "1753-01-01", "1800-01-01", "1900-01-01", "1899-12-30", "1899-12-31",
    "1901-01-01", "1970-01-01", "2099-12-31", "2999-12-31", "9999-12-31",
)  # fmt: skip
_CODE_DAYS = {float(np.datetime64(day, "D").astype(np.int64)) for day in _CODE_DATES}
_MIN_NUMBERS = 10
_MOST_CODES = 4  # different codes of one column
# A spike: set on zeros for missing in medical data (insulin, blood pressure, skin folds, glucose,
# body mass) and on zeros that are meant (capital gains and losses, rain, visits, donations).
_NEAR = 8  # different numbers next to a spike whose spacing is compared with its gap
_GAP, _WIDE_GAP = 5.0, 10.0  # mean spacings in a gap that sets a code, or any number, apart
_WIDEST = 4.0  # the widest spacing counts as this many mean ones
_SPIKE_ROWS = 5
_SPIKE_TIMES = 2  # as frequent as the most frequent number near it, times this
_THINNING = 0.6  # density at the edge, in that of the half beside it, up to which a tail thins out
_OF_WAY = 0.2  # a gap is at least this part of the way from the spike to the median
_HIGH_SPIKE = 20  # half of that is enough for a spike this many times as high as what is near it
_FAR = 3.0  # interquartile ranges between a code and all other numbers
_ZERO, _SEVERAL = (1.8, -4.0), 0.6
"""Logit of the chance that a spike at zero means missing, and its slope in the share of zeros: a
zero that most rows have means "none", as of a loan. What is added where several columns have such
spikes, which is a habit of the table's makers then."""
_INFINITE = 0.99  # no table means an infinite number
_BEYOND = re.compile(r"-?(inf|[\d.]+e\+\d{3})")  # as Python writes them
_SLASHES = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{2}|\d{4})\b.*", re.ASCII)
_MOST_DAYS, _MOST_MONTHS = 31, 12


def find_codes_and_dates(written: WrittenColumn) -> list[ColumnFinding]:
    """Codes among numbers and dates, and dates in two orders."""
    found = [_infinite(written)]
    if written.column.kind in ("number", "date"):
        found.append(_codes(written))
    if written.column.kind == "date":
        found.append(_date_orders(written))
    return [finding for finding in found if finding is not None]


def _infinite(written: WrittenColumn) -> ColumnFinding | None:
    """Infinite numbers, and those too large to compute with: what a division by zero leaves."""
    strays = written.column.from_text.strays
    rows = np.array([row for row, text in strays.items() if _BEYOND.fullmatch(text)], dtype=np.intp)
    if not rows.size:
        return None
    is_inf = all(strays[row].endswith("inf") for row in rows.tolist())
    what = "infinite" if is_inf else f"infinite or beyond {MAX_MAGNITUDE:g}"
    return ColumnFinding(
        (written.name,),
        "infinite",
        f"{written.counted_entries(rows)} {plural(rows.size, 'is', 'are')} {what}, as after a "
        f"division by zero: leave {plural(rows.size, 'the cell', 'the cells')} empty",
        np.sort(rows),
        dict.fromkeys(sorted(rows.tolist()), ""),
        _INFINITE,
    )


def weigh_codes(findings: list[ColumnFinding]) -> list[ColumnFinding]:
    """The findings with likelier codes where several columns hold some."""
    n_columns = sum(finding.kind == "codes" for finding in findings)
    return [
        _likelier(finding) if finding.kind == "codes" and n_columns > 1 else finding
        for finding in findings
    ]


def _likelier(finding: ColumnFinding) -> ColumnFinding:
    chances = np.asarray(finding.chances)
    odds = chances / (1 - chances) * np.exp(_SEVERAL)
    chances = odds / (1 + odds)
    return replace(finding, chances=chances, probability=float(chances.mean()))


def _codes(written: WrittenColumn) -> ColumnFinding | None:
    """Numbers that stand for a missing entry: a spike apart from all others."""
    entries = written.column.entries
    numbers, counts = np.unique(entries[~np.isnan(entries)], return_counts=True)
    is_date = written.column.kind == "date"
    chances: dict[float, float] = {}
    while len(chances) < _MOST_CODES and counts.sum() >= _MIN_NUMBERS:
        low = _code_chance(numbers, counts, is_date=is_date)
        high = _code_chance(numbers[::-1], counts[::-1], is_date=is_date)
        if max(low, high) <= 0:
            break
        chances[float(numbers[0 if low >= high else -1])] = max(low, high)
        rest = slice(1, None) if low >= high else slice(None, -1)
        numbers, counts = numbers[rest], counts[rest]
    rows = np.flatnonzero(np.isin(entries, list(chances)))
    if not rows.size:
        return None
    writer = EntryWriter.of(written.column)
    low_end, high_end = (writer.text(float(end)) for end in (numbers[0], numbers[-1]))
    named = ", ".join(str(writer.text(code)) for code in sorted(chances)[:3])
    means = plural(len(chances), "it is a code", "they are codes")
    chance = np.array([chances[entry] for entry in entries[rows].tolist()])
    return ColumnFinding(
        (written.name,),
        "codes",
        f"{written.counted_entries(rows)} {plural(rows.size, 'is', 'are')} {named}, apart from "
        f"all others ({low_end} to {high_end}): if {means} for a missing entry, leave "
        f"{plural(rows.size, 'the cell', 'the cells')} empty",
        rows,
        dict.fromkeys(rows.tolist(), ""),
        float(chance.mean()),
        chance,
    )


def _code_chance(
    numbers: NDArray[np.float64], counts: NDArray[np.int64], *, is_date: bool
) -> float:
    """How likely the first of the different numbers of a column stands for a missing entry.

    The numbers are sorted away from it. 0.0 if it does not look like a code.

    Examples
    --------
    >>> rows = np.array([20, *[1] * 10, *[5] * 10])
    >>> round(_code_chance(np.array([0, *range(14, 34)]), rows, is_date=False), 2)
    0.69
    >>> _code_chance(np.array([0, *range(1, 21)]), rows, is_date=False)  # the numbers go on
    0.0
    """
    first, others = float(numbers[0]), np.abs(numbers[1:] - numbers[0])
    if others.size < 2:
        return 0.0
    gap, count = float(others[0]), int(counts[0])
    share = count / int(counts.sum())
    below_zero = not is_date and first < 0 <= float(numbers[1:].min())
    usual = first in (_CODE_DAYS if is_date else _CODES)
    spread = np.repeat(others, counts[1:])
    low, middle, high = np.quantile(spread, [0.25, 0.5, 0.75])
    is_far = gap > _FAR * max(high - low, 0.05 * (others[-1] - others[0]))
    if usual and (below_zero or is_far):
        # numbers such as 99 or 9999 may also be the largest that fits
        return 0.95 if below_zero or is_date else 0.8
    if others.size <= _NEAR or count < _SPIKE_ROWS:
        return 0.0
    near = np.diff(others[: _NEAR + 1])
    spacings = np.inf  # so far off that the others round to one number
    if near.max() > 0:
        spacings = min(gap / float(near.mean()), _WIDEST * gap / float(near.max()))
    if usual and spacings >= _GAP:
        return 0.8
    times = count / int(counts[1 : _NEAR + 1].max())
    of_way = _OF_WAY if times < _HIGH_SPIKE else _OF_WAY / 2
    # a spike at the edge of a pile is a limit, one beyond a tail that thins out is no part of it
    near_edge = float((spread <= gap + (middle - gap) / 8).mean())
    is_beyond = near_edge <= _THINNING / 16 and gap >= of_way * middle
    if spacings < _GAP or times < _SPIKE_TIMES or not is_beyond:
        return 0.0
    if first == 0 and not is_date:
        return float(1 / (1 + np.exp(-_ZERO[0] - _ZERO[1] * share)))
    return 0.5 if spacings >= _WIDE_GAP else 0.0


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
        UNKNOWN,
    )


def _swapped(word: str) -> str:
    """The date with its first two numbers exchanged."""
    match = _SLASHES.fullmatch(word)
    if match is None:
        return word
    begin, end = match.end(1), match.end(3)
    return match[3] + word[begin : match.start(3)] + match[1] + word[end:]
