"""Notations: numbers in another one than their column's (``EUR 96,75``), dates of open order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import plural
from shapley2d._inspection.binning import FEWEST_ROWS
from shapley2d._inspection.columns.finding import SURE, UNKNOWN, UNSURE
from shapley2d._inspection.columns.missing import is_missing
from shapley2d._inspection.columns.view import shortened
from shapley2d._inspection.tables.entry_writer import EntryWriter
from shapley2d._inspection.tables.marks import is_bound
from shapley2d._tables.texts.numbers import LONGEST
from shapley2d._tables.texts.units import is_unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapley2d._base.arrays import Bools
    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.columns.view import ColumnView

_ONE_NUMBER = re.compile(r"([^\d]*?)([+-]?\d[\d.,'\u2019 ]*\d|\d)([^\d]*)")
_OF_MOST = re.compile(r"(\d+(?:[.,]\d+)?)\s*/\s*(?:5|10|20|100)")
_TIME = re.compile(
    r"(?i)(?:(\d+)\s*(?:h|hrs?|hours?|std)\.?)?\s*(?:(\d+)\s*(?:m|mins?|minutes?)\.?)?"
    r"\s*(?:(\d+)\s*(?:s|secs?|seconds?)\.?)?"
)
_CURRENCIES = {"€": "eur", "$": "usd", "£": "gbp", "¥": "jpy", "us$": "usd", "euro": "eur"}
_THOUSANDS = {"k": 1e3, "tsd": 1e3, "m": 1e6, "mio": 1e6, "mln": 1e6, "million": 1e6}
_LETTERS = str.maketrans("OolI|", "00111")  # letters that look like digits
# a letter beside a digit, or alone beyond the point: 4.r for 4.5
_STICKS_BEFORE = re.compile(r"[^\W\d_]$|(?<![^\W\d_])[^\W\d_][.,]$")
_STICKS_BEHIND = re.compile(r"[^\W\d_]|[.,][^\W\d_](?![^\W\d_])")
# with dots the day is first
_SLASHES = re.compile(r"(\d{1,2})([-/])(\d{1,2})\2(\d{2}|\d{4})\b.*", re.ASCII)


def find_notations(written: ColumnView) -> Iterator[ColumnFinding]:
    """Texts among numbers that say a number, each rewritten as its column writes numbers.

    Only where just one reading lies among the other numbers: up to an interquartile range beyond
    the middle 99 % of them.
    """
    column = written.column
    numbers = column.entries[~np.isnan(column.entries)]
    if column.kind != "number" or not column.from_text.strays or numbers.size < FEWEST_ROWS:
        return
    bottom, low, high, top = np.quantile(numbers, [0.005, 0.25, 0.75, 0.995])
    slack = high - low
    writer = EntryWriter.of(column)
    own = "" if writer.style is None else _currency(writer.style.before + writer.style.after)
    suggestions, right = {}, []
    for row, text in sorted(column.from_text.strays.items()):
        unit = re.sub(r"[\d\s.,]", "", text).lower()
        is_other = is_unit(unit) and column.from_text.unit not in ("", unit)
        if len(text) > LONGEST or is_missing(text.strip()) or is_other:  # others are converted
            continue
        found = {
            number
            for number in read_numbers(text.strip(), own)
            if bottom - slack <= number <= top + slack
        }
        if len(found) == 1:
            suggestions[int(row)] = str(writer.text(found.pop(), exact=True))
            # 140 lb is no 140 in a column of kilograms, which only its name may tell
            measures = is_unit(unit) or re.search(r"°|\w/\w", unit)
            told = not measures or unit in re.split(r"[^\w°/]+|_", column.name.lower())
            right.append(SURE if told or _TIME.fullmatch(text.strip()) else UNSURE)
    if not suggestions:
        return
    rows = np.array(list(suggestions), dtype=np.intp)
    first = int(rows[0])
    yield written.finding(
        "notation",
        f"{written.entries(rows)} written in another notation than the others, "
        f"{shortened(column.from_text.strays[first])} for {shortened(suggestions[first])}: "
        f"rewrite {plural(rows.size, 'it', 'them')}",
        rows,
        suggestions,
        SURE,
        right=np.array(right),
    )


def read_numbers(text: str, currency: str = "") -> Iterator[float]:
    """The numbers that a text may say; not amounts in another currency than ``eur`` or the like.

    Nor bounds: below 5, as ``<5`` says, is not 5.
    """
    if match := _OF_MOST.fullmatch(text):
        yield float(match[1].replace(",", "."))
        return
    match = _TIME.fullmatch(text)
    if match and any(match.groups()):
        hours, minutes, seconds = (float(part or 0) for part in match.groups())
        total = 3600 * hours + 60 * minutes + seconds
        yield from (total / 3600, total / 60, total)
        return
    text = re.sub(r"(?<=\d)\s*\[\w+\]$", "", text)  # a footnote
    plain = text.translate(_LETTERS)
    if text != plain and re.fullmatch(r"[+-]?[\d.,]+", plain) and re.search(r"\d", text):
        text = plain
    match = _ONE_NUMBER.fullmatch(text)
    if match is None or is_bound(text) or re.search(r"[<>\u2264\u2265]", text):
        return
    around = match[1].strip(" .:~()") or match[3].strip(" .:~()")
    named = _currency(match[1] + match[3])
    sticks = _STICKS_BEFORE.search(match[1]) or _STICKS_BEHIND.match(match[3])
    if sticks and not named and around.lower() not in _THOUSANDS:
        return  # a letter for a digit, rather than a unit
    if currency and named and named != currency:
        return
    sign = -1.0 if match[1].rstrip().endswith(("-", "\N{MINUS SIGN}")) else 1.0
    times = 1.0 if named else _THOUSANDS.get(around.lower(), 1.0)
    digits = re.sub(r"['\u2019 ]", "", match[2])
    for point, comma in ((".", ","), (",", ".")):
        try:
            number = float(digits.replace(comma, "").replace(point, "."))
        except ValueError:
            continue
        groups = digits.partition(point)[0].split(comma)
        if len(groups) > 1 and any(len(group) != 3 for group in groups[1:]):
            continue
        if comma in digits.partition(point)[2]:
            continue
        yield sign * times * number


def _currency(text: str) -> str:
    """The currency that a text names; empty for none."""
    word = re.sub(r"[\s.()+\-~:\u2212]", "", text).lower()
    return _CURRENCIES.get(word, word if re.fullmatch(r"[a-z]{3}", word) else "")


def find_date_orders(written: ColumnView) -> Iterator[ColumnFinding]:
    """Dates such as 4/2/15, whose order of day, month and year is not known."""
    if written.column.kind != "date" or not written.is_text:
        return
    day_first, month_first, either, years_open = _orders(written)
    if written.counts[years_open].any():
        open_, what = years_open, "which number is the year, the month and the day"
    elif day_first.any() and month_first.any():
        days_are_rare = written.counts[day_first].sum() < written.counts[month_first].sum()
        rows = written.rows(day_first if days_are_rare else month_first)
        order = "day" if days_are_rare else "month"
        yield written.finding(
            "date orders",
            f"{written.name!r} holds dates in two orders: {rows.size:,} have the {order} first, "
            f"{written.example(rows)}, and {int(written.counts[either].sum()):,} could be either: "
            "write them as 2024-02-29",
            rows,
            {int(i): _swapped(written.word(i)) for i in rows},
            SURE,
        )
        return
    else:
        open_, what = untold_dates(written), "whether the day or the month comes first"
    rows = written.rows(open_)
    if rows.size:
        yield written.finding(
            "date orders",
            f"{rows.size:,} {plural(rows.size, 'date')} of {written.name!r} "
            f"{plural(rows.size, 'does', 'do')} not tell {what}, {written.example(rows)}: "
            "look it up at the source and write the dates as 2024-02-29",
            rows,
            chance=UNKNOWN,
        )


def _orders(written: ColumnView) -> Bools:
    """Which texts have the day first, the month first, either of them, or perhaps the year."""
    parts = [_SLASHES.fullmatch(word) for word in written.words]
    numbers = [
        [int(match[1]), int(match[3]), int(match[4]), len(match[4])] if match else [0] * 4
        for match in parts
    ]
    first, second, third, digits = np.array(numbers, dtype=np.int64).reshape(-1, 4).T
    either = (first > 0) & (first <= 12) & (second <= 12) & (first != second)
    years_open = (digits == 2) & (third >= 1) & (third <= 31)
    return np.array([first > 12, second > 12, either, years_open])


def untold_dates(written: ColumnView) -> Bools:
    """Which texts are dates whose order neither they nor the others of their column tell."""
    day_first, month_first, either, years_open = _orders(written)
    is_told = day_first.any() != month_first.any()
    return np.asarray(years_open | (either & (not is_told)))


def _swapped(word: str) -> str:
    """A date with its first two numbers exchanged."""
    return re.sub(r"^(\d+)(\D)(\d+)", r"\3\2\1", word)
