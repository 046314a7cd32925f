"""Disguised missing values: codes among numbers and dates, infinities, words such as ``N/A``.

Pearson (2006), "The problem of disguised missing data", doi:10.1145/1147234.1147247; outliers and
inliers as in FAHES (Qahtan et al. 2018), doi:10.1145/3219819.3220109.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import plural
from shapley2d._inspection.binning import FEWEST_ROWS
from shapley2d._inspection.columns.finding import LOW, RARE, SURE, UNSURE, logistic
from shapley2d._inspection.columns.view import shortened
from shapley2d._inspection.tables.entry_writer import EntryWriter
from shapley2d._inspection.tables.marks import is_bound
from shapley2d._tables.convert import MAX_MAGNITUDE
from shapley2d._tables.texts.stray_rule import MISSING, MISSING_AMONG_NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats
    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.columns.view import ColumnView

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
_BEYOND = re.compile(r"-?(inf|[\d.]+e\+\d{3})")  # as Python writes them

# A spike: set on zeros for missing in medical data (insulin, blood pressure, skin folds, glucose,
# body mass) and on zeros that are meant (capital gains and losses, rain, visits, donations).
_NEAR = 8  # distinct numbers next to a spike whose spacing is compared with its gap
_GAP = 5.0  # mean spacings in a gap that sets a number apart
_SPIKE_ROWS = 5
_THIN = 0.0375  # share of the others in the first eighth from the gap to the median; more is a pile
_OF_WAY, _HIGH = 0.2, 20
"""Least gap, as a part of the way from the spike to the median; half of it is enough for a spike
this many times as high as what is near it."""
_FAR = 3.0  # interquartile ranges between a code and all other numbers
_ZERO, _SEVERAL = (1.8, -4.0), 0.6
"""Logit of the chance that a spike at zero means missing, and its slope in the share of zeros: a
zero that most rows have means "none", as of a loan. What is added where several columns have codes,
which is a habit of the table's makers then."""

_ERRORS = frozenset(
    ("error", "#error", "#ref!", "#div/0!", "#value!", "#name?", "#num!", "#null!", "undefined")
)
"""What programs write where they fail: never meant."""

_MEANT = frozenset(
    ("-", "--", "---", ".", "..", "...", "none", "unknown", "unk", "nil", "other", "na", "?",
     "unbekannt", "inconnu", "not applicable", "error")
)  # fmt: skip
"""Markers that may also be a category: no garage, an unknown owner, the level of a message."""

_WORDS = {"error": 0.9, "beside another": 0.8, "alone": 0.5, "perhaps meant": LOW, "meant": 0.1}
"""How likely a word for missing is wrong: set on hospital, beers and on words planted into clean
tables. Of words that are a usual category, 4 % of 7,206 were in those of calibration.py."""


def find_codes(written: ColumnView) -> Iterator[ColumnFinding]:
    """Infinite numbers and bounds, and codes for a missing entry among numbers and dates."""
    yield from _bounds(written)
    strays = written.column.from_text.strays
    rows = np.array([row for row, text in strays.items() if _BEYOND.fullmatch(text)], dtype=np.intp)
    if rows.size:
        is_inf = all(strays[row].endswith("inf") for row in rows.tolist())
        beyond = "" if is_inf else f" or beyond {MAX_MAGNITUDE:g}"
        yield written.finding(
            "infinite",
            f"{written.entries(rows)} infinite{beyond}, as after a division by zero: leave the "
            f"{plural(rows.size, 'cell')} empty",
            np.sort(rows),
            dict.fromkeys(sorted(rows.tolist()), ""),
            SURE,
        )
    is_date = written.column.kind == "date"
    if not is_date and written.column.kind != "number":
        return
    entries = written.column.entries
    numbers, counts = np.unique(entries[~np.isnan(entries)], return_counts=True)
    chances: dict[float, float] = {}  # of the numbers that are a spike apart from all others
    while counts.sum() >= FEWEST_ROWS:
        low = _code_chance(numbers, counts, is_date=is_date)
        high = _code_chance(numbers[::-1], counts[::-1], is_date=is_date)
        if max(low, high) <= 0:
            break
        chances[float(numbers[0 if low >= high else -1])] = max(low, high)
        rest = slice(1, None) if low >= high else slice(None, -1)
        numbers, counts = numbers[rest], counts[rest]
    rows = np.flatnonzero(np.isin(entries, list(chances)))
    if not rows.size:
        return
    writer = EntryWriter.of(written.column)
    low_end, high_end = (writer.text(float(end)) for end in (numbers[0], numbers[-1]))
    named = ", ".join(str(writer.text(code)) for code in sorted(chances)[:3])
    means = plural(len(chances), "it is a code", "they are codes")
    yield written.finding(
        "codes",
        f"{written.entries(rows)} {named}, apart from all others ({low_end} to {high_end}): if "
        f"{means} for a missing entry, leave the {plural(rows.size, 'cell')} empty",
        rows,
        dict.fromkeys(rows.tolist(), ""),
        np.array([chances[entry] for entry in entries[rows].tolist()]),
    )


def _code_chance(numbers: Floats, counts: NDArray[np.int64], *, is_date: bool) -> float:
    """How likely the first of the distinct numbers of a column stands for a missing entry.

    The numbers are sorted away from it. 0.0 if it does not look like a code.
    """
    first, others = float(numbers[0]), np.abs(numbers[1:] - numbers[0])
    if others.size < 2:
        return 0.0
    gap, count = float(others[0]), int(counts[0])
    is_code = first in (_CODE_DAYS if is_date else _CODES)
    below_zero = not is_date and first < 0 <= float(numbers[1:].min())
    away = np.repeat(others, counts[1:])
    low, middle, high = np.quantile(away, [0.25, 0.5, 0.75])
    is_far = gap > _FAR * max(high - low, 0.05 * (others[-1] - others[0]))
    if is_code and (below_zero or is_far):
        # 99 or 9999 may also be the largest that fits
        return SURE if below_zero or is_date else UNSURE
    if others.size <= _NEAR or count < _SPIKE_ROWS:
        return 0.0
    spacing = float(np.diff(others[: _NEAR + 1]).mean())
    # no spacing: the spike is so far off that the others round to one number
    is_apart = gap >= _GAP * spacing
    if is_code and is_apart:
        return UNSURE
    # a spike at the edge of a pile is a limit, one beyond a tail that thins out is no part of it
    is_pile = float((away <= gap + (middle - gap) / 8).mean()) > _THIN
    times = count / int(counts[1 : _NEAR + 1].max())
    is_beyond = gap >= (_OF_WAY if times < _HIGH else _OF_WAY / 2) * middle
    if not is_apart or is_pile or not is_beyond or times < 2 or is_date or first != 0:
        return 0.0
    return float(logistic(_ZERO[0] + _ZERO[1] * count / int(counts.sum())))


def weigh_codes(findings: list[ColumnFinding]) -> list[ColumnFinding]:
    """The findings with likelier codes where several columns hold some."""
    codes = [k for k, one in enumerate(findings) if one.kind == "codes"]
    for k in codes if len(codes) > 1 else ():
        said = findings[k].row_chances
        chances = logistic(np.log(said / (1 - said)) + _SEVERAL)
        findings[k] = replace(findings[k], chances=chances, probability=float(chances.mean()))
    return findings


def find_marks_for_missing(columns: Sequence[ColumnView]) -> Iterator[ColumnFinding]:
    """Words for missing, each with how likely it is not what the makers of the table meant.

    A table may mark all its gaps with one word. A word beside another mark of the same column, or
    that a failing program wrote, is none of that.
    """
    marks = [_marks(column) for column in columns]
    held = Counter(word for one in marks for word in {word.lower() for word in one.values()})
    # the one word that several columns of a table without gaps have is the table's own
    is_own = len(held) == 1 and not any((column.codes < 0).any() for column in columns)
    own_words = {word for word, n_columns in held.items() if is_own and n_columns > 1}
    alike = defaultdict(list)  # columns with the same words, of which one sentence tells
    for column, of_column in zip(columns, marks, strict=True):
        if 0 < len(of_column) < len(column.words):
            alike[frozenset(of_column.values())].append((column, of_column))
    for column, of_column in [one for same in alike.values() for one in same]:
        words = frozenset(of_column.values())
        same = alike[words]
        chances = {code: _WORDS[_reading(column, code, of_column, own_words)] for code in of_column}
        rows = np.flatnonzero(np.isin(column.codes, list(of_column)))
        own = _own_mark(column, of_column)
        named = ", ".join(map(shortened, sorted(words)[:3]))
        entries, of_all = column.entries(rows), ""
        if len(same) > 1:
            number = sum(one.counts[list(codes)].sum() for one, codes in same)
            entries = f"{number:,} entries of {len(same):,} columns are"
            of_all = f", in {', '.join(repr(one.name) for one, _ in same)}"
        yield column.finding(
            "words for missing",
            f"{entries} {named}, which counts as missing: leave "
            f"{plural(rows.size, 'it', 'them')} empty, or find the right entry{of_all}",
            rows,
            {i: "" if column.word(i) == own else own for i in rows.tolist()},
            np.array([chances[int(column.codes[i])] for i in rows]),
        )


def _bounds(written: ColumnView) -> Iterator[ColumnFinding]:
    """Numbers of which only bounds are known: several are a notation, one may be a slip."""
    of_column = {word for word in written.column.from_text.marks if is_bound(word)}
    rows = written.rows(written.where(lambda word: word in of_column))
    if rows.size:
        yield written.finding(
            "bounds",
            f"{written.entries(rows)} only said to be below, above or between numbers, "
            f"{written.example(rows)}: {plural(rows.size, 'it counts', 'they count')} as missing "
            "here. To use the numbers, write them into columns of their own",
            rows,
            chance=LOW if rows.size == 1 else 0.0,
        )


def is_mark(word: str) -> bool:
    """Whether a text counts as missing in a column of numbers."""
    return word in MISSING or word.lower() in MISSING_AMONG_NUMBERS


def is_missing(word: str) -> bool:
    """Whether a text is a word for missing, or what a failing program writes."""
    return is_mark(word) or word.lower() in _ERRORS


def _marks(column: ColumnView) -> dict[int, str]:
    """The words for missing among the texts of a column, by position."""
    if not column.is_text:
        return {}
    read = column.column.from_text.marks
    return {
        k: word
        for k, word in enumerate(column.words)
        if column.counts[k] and (is_missing(word) or (word in read and not is_bound(word)))
    }


def _own_mark(column: ColumnView, marks: dict[int, str]) -> str:
    """How the column marks what is missing: by nothing, or by the word that it has most of."""
    first, *others = sorted(marks, key=lambda code: -column.counts[code])
    is_most = others and column.counts[first] > column.counts[others[0]]
    return marks[first] if is_most and (column.codes >= 0).all() else ""


def _reading(column: ColumnView, code: int, marks: dict[int, str], own_words: set[str]) -> str:
    """What a word for missing says of its cell, a key of :data:`_WORDS`."""
    word, count = marks[code].lower(), int(column.counts[code])
    # one that is known as such, or that only its repetition among numbers shows
    is_known = is_missing(marks[code])
    is_meant = word in _MEANT if column.column.kind == "category" else not is_known
    is_frequent = count >= RARE * column.n_written
    if word in _ERRORS:
        return "meant" if is_meant and is_frequent else "error"
    if any(other.lower() in _ERRORS for other in marks.values()):
        return "beside another"
    others = [int(column.counts[k]) for k in marks if k != code] + [int((column.codes < 0).sum())]
    if is_meant and is_frequent:
        return "meant"
    if max(others) > count and is_known:
        return "beside another"
    if word in own_words:
        return "meant"
    return "perhaps meant" if is_meant else "alone"
