"""How entries are written: units in the text, several formats, broken letters, words for nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.findings import ColumnFinding
from shapley2d._tables.table import number_text
from shapley2d._tables.texts.stray_rule import MISSING, MISSING_AMONG_NUMBERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._inspection.columns.written import Written

_MOST = 0.8  # of a column's entries, for what they have in common to be its way of writing
_OTHERS = 0.3  # at most so many lack what the others have, else there is no rule
_SHARED = 0.05  # of the entries, for a second way of writing to be no slip
_MIN_ENTRIES = 10
_MAX_UNITS = 12
_MAX_LENGTH = 24  # letters of a unit
_WITH_UNIT = re.compile(r"([+-]?(?:\d[\d,]*)?\.?\d+(?:[eE][+-]?\d+)?)\s*([^\d\s.,+-][^\d]*)")
_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_SPREADSHEET_DATE = re.compile(rf"(?i)(?:\d{{1,2}}-(?:{_MONTH})|(?:{_MONTH})-\d{{2}})")
_BROKEN = re.compile("[\ufffd\x80-\x9f]|[A-Za-z][\u0300-\u036f]|[\xc2\xc3][\x80-\xbf\u0152-\u2122]")

SURE, LIKELY, EVEN, LOW = 0.95, 0.8, 0.5, 0.3
"""Probabilities of being wrong that a finding may state; measured on tables with known truth, roughly."""


def find_shapes(written: Written) -> list[ColumnFinding]:
    """All findings about how one column is written."""
    if not written.is_text or written.n_written < _MIN_ENTRIES:
        return []
    found = [
        _units(written),
        _marks(written),
        _formats(written),
        _spreadsheet_dates(written),
        _broken_letters(written),
        _words_for_nothing(written),
    ]
    return [finding for finding in found if finding is not None]


def _share(written: Written, chosen: NDArray[np.bool_]) -> float:
    return float(written.counts[chosen].sum()) / max(written.n_written, 1)


def _units(written: Written) -> ColumnFinding | None:
    """Numbers with their unit: one unit by most, or several spellings of it."""
    if written.column.kind != "category":
        return None
    matches = [_WITH_UNIT.fullmatch(word) for word in written.words]
    fits = np.array(
        [match is not None and len(match[2]) <= _MAX_LENGTH for match in matches], dtype=bool
    )
    if _share(written, fits) < _MOST:
        return None
    units: dict[str, int] = {}
    for match, count, fit in zip(matches, written.counts.tolist(), fits.tolist(), strict=True):
        if match is not None and fit:
            units[match[2]] = units.get(match[2], 0) + count
    common = {unit: count for unit, count in units.items() if count >= _SHARED * written.n_written}
    if not common or len(common) > _MAX_UNITS:
        return None
    named = ", ".join(repr(unit) for unit in sorted(common, key=lambda unit: -common[unit]))
    if len(common) > 1:
        rows = written.rows(fits)
        plain = {
            k: number_text(float(match[1].replace(",", "")))
            for k, match in enumerate(matches)
            if match
        }
        return ColumnFinding(
            (written.name,),
            "units",
            f"{written.name!r} holds numbers with a unit in the text, written in {len(common)} ways ({named}): "
            "take it out, so that they are numbers",
            rows,
            {int(i): plain[int(written.codes[i])] for i in rows},
            SURE,
        )
    unit = next(iter(common))
    usual = np.array([match is not None and match[2] == unit for match in matches], dtype=bool)
    odd = ~usual & ~_nothing(written)
    rows = written.rows(odd) if 0 < _share(written, odd) <= _OTHERS else np.zeros(0, dtype=np.intp)
    space = " " if " " + unit in written.words[int(np.flatnonzero(usual)[0])] else ""
    repaired = {
        int(i): match[1] + space + unit for i in rows if (match := matches[written.codes[i]])
    }
    others = (
        f", except in {rows.size} {_one_or_more(rows, 'entry', 'entries')}" if rows.size else ""
    )
    return ColumnFinding(
        (written.name,),
        "suffix",
        f"{written.name!r} holds numbers with {unit!r} behind them{others}: take it out, so that they are numbers",
        rows,
        repaired,
        LIKELY,
    )


def _marks(written: Written) -> ColumnFinding | None:
    """A percent sign or a currency with some of the numbers, and with the others none."""
    if written.column.kind != "number":
        return None
    marks = np.array(
        [re.sub(r"[\d\s.,'()+eE-]+", "", word) for word in written.words], dtype=object
    )
    numbers = ~np.isnan(written.column.entries)
    known = np.zeros(len(written.words), dtype=bool)
    known[written.codes[numbers & (written.codes >= 0)]] = True
    plain, marked = known & (marks == ""), known & (marks != "")
    with_mark, without = _share(written, marked), _share(written, plain)
    if not with_mark or not without or min(with_mark, without) < 2 / written.n_written:
        return None
    mark = str(marks[marked][0])
    few = marked if with_mark <= without else plain
    rows = written.rows(few)
    suggestions = (
        {int(i): number_text(float(written.column.entries[i])) for i in rows}
        if few is marked
        else {}
    )
    have = "have" if few is marked else "lack"
    return ColumnFinding(
        (written.name,),
        "formats",
        f"{rows.size:,} of the {written.n_written:,} numbers of {written.name!r} {have} a {mark!r}, unlike the others: "
        "find out whether they mean the same, and write them alike",
        rows,
        suggestions,
        SURE,
    )


def _formats(written: Written) -> ColumnFinding | None:
    """One way of writing that most entries share, with digits or signs in it, and few others."""
    if written.column.kind == "number":
        return None
    shapes = np.array([shape(word) for word in written.words], dtype=object)
    tally: dict[str, int] = {}
    for form, count in zip(shapes.tolist(), written.counts.tolist(), strict=True):
        tally[form] = tally.get(form, 0) + count
    main = max(sorted(tally), key=lambda form: tally[form])
    structured = any(not letter.isalpha() and not letter.isspace() for letter in main)
    others = (shapes != main) & ~_nothing(written)
    if not structured or "9" not in main or not 0 < _share(written, others) <= _OTHERS:
        return None
    if tally[main] < _MOST * written.n_written:
        return None
    rows = written.rows(others)
    usual = written.words[int(np.flatnonzero(~others)[written.counts[~others].argmax()])]
    odd = written.words[int(written.codes[rows[0]])]
    return ColumnFinding(
        (written.name,),
        "formats",
        f"{rows.size:,} of the {written.n_written:,} entries of {written.name!r} are written otherwise than the rest, "
        f"{_short(odd)} instead of {_short(usual)}: write them alike",
        rows,
        _within(written, rows, main),
        LIKELY,
    )


def _within(written: Written, rows: NDArray[np.intp], main: str) -> dict[int, str]:
    """The usual format where it is the end of an entry, as the time in ``12/02/2011 6:55 a.m.``."""
    found = {}
    for i in rows.tolist():
        word = written.words[written.codes[i]]
        starts = [match.end() for match in re.finditer(r"\s+", word)]
        part = next((word[begin:] for begin in starts if shape(word[begin:]) == main), None)
        if part is not None:
            found[i] = part
    return found


def shape(word: str) -> str:
    """A text with runs of digits as 9, runs of letters as a, runs of space as one.

    Examples
    --------
    >>> shape("12/02/2011  6:55 a.m.")
    '9/9/9 9:9 a.a.'
    """
    word = re.sub(r"[^\W\d_]+", "a", word)
    return re.sub(r"\s+", " ", re.sub(r"\d+", "9", word))


def _spreadsheet_dates(written: Written) -> ColumnFinding | None:
    odd = written.each(_SPREADSHEET_DATE.fullmatch)
    if not 0 < _share(written, odd) <= _OTHERS:
        return None
    rows = written.rows(odd)
    return ColumnFinding(
        (written.name,),
        "spreadsheet dates",
        f"{_how_many(written, rows)}, {_first(written, rows)}, "
        f"{_one_or_more(rows, 'looks', 'look')} like what a spreadsheet makes of 3-22 or 8/17: restore "
        f"{_one_or_more(rows, 'it', 'them')} from the source",
        rows,
        {},
        EVEN,
    )


def _broken_letters(written: Written) -> ColumnFinding | None:
    broken = written.each(_BROKEN.search)
    if not broken.any():
        return None
    rows = written.rows(broken)
    return ColumnFinding(
        (written.name,),
        "encoding",
        f"{_how_many(written, rows)} {_one_or_more(rows, 'holds', 'hold')} broken letters, "
        f"{_first(written, rows)}: read the file again with the encoding it was written in",
        rows,
        {},
        LIKELY,
    )


def _words_for_nothing(written: Written) -> ColumnFinding | None:
    nothing = _nothing(written)
    if not nothing.any() or nothing.all():
        return None
    empty = np.isnan(written.column.entries)
    rows = written.rows(nothing)
    rows = rows[empty[rows]]  # elsewhere it is a category like others
    if not rows.size:
        return None
    words = sorted({written.words[written.codes[i]] for i in rows.tolist()})
    named = ", ".join(_short(word) for word in words[:3])
    return ColumnFinding(
        (written.name,),
        "words for nothing",
        f"{_how_many(written, rows)} {_one_or_more(rows, 'says', 'say')} {named}, "
        f"which counts as empty: leave {_one_or_more(rows, 'it', 'them')} empty, or find what belongs there",
        rows,
        dict.fromkeys(rows.tolist(), ""),
        LOW,
    )


def _nothing(written: Written) -> NDArray[np.bool_]:
    return written.each(lambda word: word in MISSING or word.lower() in MISSING_AMONG_NUMBERS)


def _how_many(written: Written, rows: NDArray[np.intp]) -> str:
    return f"{rows.size:,} {_one_or_more(rows, 'entry', 'entries')} of {written.name!r}"


def _one_or_more(rows: NDArray[np.intp], one: str, more: str) -> str:
    return one if rows.size == 1 else more


def _first(written: Written, rows: NDArray[np.intp]) -> str:
    return f"such as {_short(written.words[int(written.codes[rows[0]])])}"


def _short(word: str) -> str:
    return repr(word if len(word) <= 40 else word[:39] + "…")
