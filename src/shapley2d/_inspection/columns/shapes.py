"""How entries are written: units, several formats, broken letters."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted, plural, typed_number
from shapley2d._inspection.column_alone import shape_of
from shapley2d._inspection.columns.finding import LOW, SURE, ColumnFinding, shortened
from shapley2d._tables.texts.stray_rule import MISSING, MISSING_AMONG_NUMBERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import WrittenColumn

# Shares of a column's entries, set by hand on the tables of benchmarks/detection.py dirty.
_USUAL = 0.8  # at least this share is written in one way, else the column has no usual way
_OTHERS = 0.3  # at most this share is written otherwise, else it is no exception
_SHARED = 0.05  # a second way that at least this share has is not a slip
_MIN_ENTRIES = 10
_MAX_UNITS = 12
_MAX_LENGTH = 24  # letters of a unit
_WITH_UNIT = re.compile(r"([+-]?(?:\d[\d,]*)?\.?\d+(?:[eE][+-]?\d+)?)\s*([^\d\s.,+-][^\d]*)")
_UNITS = frozenset(
    ("m", "mm", "mi", "min", "mile", "miles", "minutes", "mg", "ml", "mb", "g", "gb", "gal",
     "gallon", "h", "ha", "hp", "k", "kg", "km", "kb", "kw", "kwh", "l", "lb", "d", "dl",
     "dm", "t", "tb")
)  # fmt: skip
"""Units that begin alike and are not the same."""
_DOMINANCE = ((0.7, 0.9, 0.97, 1.0), (0.3, 0.6, 0.85, 0.95))
"""Share of a column that is written in one way, and how likely an exception is wrong."""
_SECOND, _PART = 5.0, 0.92
"""What is taken off, times the share of the column that is written like the exception: a second way
is no error. The chance where an entry holds one in the usual way, with more before or behind it."""
_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_SPREADSHEET_DATE = re.compile(rf"(?i)(?:\d{{1,2}}-(?:{_MONTH})|(?:{_MONTH})-\d{{2}})")
_BROKEN = re.compile("[\ufffd\x80-\x9f]|[A-Za-z][\u0300-\u036f]|[\xc2\xc3][\x80-\xbf\u0152-\u2122]")


def find_shapes(written: WrittenColumn) -> list[ColumnFinding]:
    """All findings about how one column is written."""
    if not written.is_text or written.n_written < _MIN_ENTRIES:
        return []
    found = [
        _units(written),
        _marks(written),
        _formats(written),
        _spreadsheet_dates(written),
        _broken_letters(written),
    ]
    return [finding for finding in found if finding is not None]


def _units(written: WrittenColumn) -> ColumnFinding | None:
    """Numbers with a unit: the same unit for most, or several spellings of it."""
    if written.column.kind != "category":
        return None
    matches = [_WITH_UNIT.fullmatch(word) for word in written.words]
    fits = np.array(
        [match is not None and len(match[2]) <= _MAX_LENGTH for match in matches], dtype=bool
    )
    if written.share(fits) < _USUAL:
        return None
    units: dict[str, int] = {}
    for match, count, fit in zip(matches, written.counts.tolist(), fits.tolist(), strict=True):
        if match is not None and fit:
            units[match[2]] = units.get(match[2], 0) + count
    common = {unit: count for unit, count in units.items() if count >= _SHARED * written.n_written}
    if not common or len(common) > _MAX_UNITS:
        return None
    if len(common) > 1 and not _are_one_unit(list(common)):
        return None
    if len(common) > 1:
        named = ", ".join(repr(unit) for unit in sorted(common, key=lambda unit: -common[unit]))
        rows = written.rows(fits)
        plain = {
            k: typed_number(float(match[1].replace(",", "")))
            for k, match in enumerate(matches)
            if match
        }
        return ColumnFinding(
            (written.name,),
            "units",
            f"{written.name!r} holds numbers with a unit in the text, written in {len(common)} "
            f"ways ({named}): remove the unit, so that they are numbers",
            rows,
            {int(i): plain[int(written.codes[i])] for i in rows},
            SURE,
        )
    unit = next(iter(common))
    usual = np.array([match is not None and match[2] == unit for match in matches], dtype=bool)
    odd = ~usual & ~_is_missing(written)
    rows = written.rows(odd) if 0 < written.share(odd) <= _OTHERS else np.zeros(0, dtype=np.intp)
    space = " " if " " + unit in written.words[int(np.flatnonzero(usual)[0])] else ""
    repaired = {
        int(i): match[1] + space + unit for i in rows if (match := matches[written.codes[i]])
    }
    others = f", except in {counted(rows.size, 'entry', 'entries')}" if rows.size else ""
    return ColumnFinding(
        (written.name,),
        "suffix",
        f"{written.name!r} holds numbers followed by {unit!r}{others}: remove it, so that they "
        "are numbers",
        rows,
        repaired,
        _likely(written.share(usual) / written.share(~_is_missing(written))) if rows.size else 0.0,
    )


def _are_one_unit(units: list[str]) -> bool:
    """Whether spellings may be those of one unit: they begin alike, and none is another unit.

    Examples
    --------
    >>> _are_one_unit(["oz", "OZ.", "ounces"]), _are_one_unit(["m", "mm"])
    (True, False)
    """
    plain = {re.sub(r"[^a-z%°]", "", unit.lower()) for unit in units}
    return len({unit[:1] for unit in plain}) == 1 and len(plain & _UNITS) <= 1


def _likely(share: float) -> float:
    """How likely an exception is wrong where this share of a column is written in one way."""
    return float(np.interp(share, *_DOMINANCE))


def _marks(written: WrittenColumn) -> ColumnFinding | None:
    """A percent sign or a currency beside some of the numbers only."""
    if written.column.kind != "number":
        return None
    marks = np.array(
        [re.sub(r"[\d\s.,'()+eE-]+", "", word) for word in written.words], dtype=object
    )
    numbers = ~np.isnan(written.column.entries)
    known = np.zeros(len(written.words), dtype=bool)
    known[written.codes[numbers & (written.codes >= 0)]] = True
    plain, marked = known & (marks == ""), known & (marks != "")
    with_mark, without = written.share(marked), written.share(plain)
    if not with_mark or not without or min(with_mark, without) < 2 / written.n_written:
        return None
    mark = str(marks[marked][0])
    marked_is_rare = with_mark <= without
    rows = written.rows(marked if marked_is_rare else plain)
    suggestions = (
        {int(i): typed_number(float(written.column.entries[i])) for i in rows}
        if marked_is_rare
        else {}
    )
    have = "have" if marked_is_rare else "lack"
    # signs and numbers of another size may mean another thing, but hardly both are right
    return ColumnFinding(
        (written.name,),
        "signs",
        f"{rows.size:,} of the {written.n_written:,} numbers of {written.name!r} {have} a "
        f"{mark!r}, unlike the others: check whether they mean the same, and write them alike",
        rows,
        suggestions,
        SURE,
    )


def _formats(written: WrittenColumn) -> ColumnFinding | None:
    """Few entries that differ from the format, with digits and signs, that most others share."""
    if written.column.kind == "number":
        return None
    shapes = np.array([_shape(word) for word in written.words], dtype=object)
    tally: dict[str, int] = {}
    for form, count in zip(shapes.tolist(), written.counts.tolist(), strict=True):
        tally[form] = tally.get(form, 0) + count
    main = max(sorted(tally), key=lambda form: tally[form])
    structured = any(not letter.isalpha() and not letter.isspace() for letter in main)
    others = (shapes != main) & ~_is_missing(written)
    if not structured or "9" not in main or not 0 < written.share(others) <= _OTHERS:
        return None
    if tally[main] < _USUAL * written.n_written:
        return None
    rows = written.rows(others)
    usual = written.words[int(np.flatnonzero(~others)[written.counts[~others].argmax()])]
    parts = _usual_parts(written, rows, main)
    n_known = written.n_written * (1 - written.share(_is_missing(written)))
    dominance = _likely(tally[main] / n_known)
    shares = np.array([tally[shapes[written.codes[i]]] / written.n_written for i in rows])
    chances = np.maximum(dominance - _SECOND * shares, 0.15)
    chances[[i in parts for i in rows.tolist()]] = _PART
    return ColumnFinding(
        (written.name,),
        "formats",
        f"{rows.size:,} of the {written.n_written:,} entries of {written.name!r} "
        f"{plural(rows.size, 'differs', 'differ')} from the usual format, "
        f"{shortened(written.word(rows[0]))} instead of {shortened(usual)}: write them alike",
        rows,
        parts,
        float(chances.mean()),
        chances,
    )


def _usual_parts(written: WrittenColumn, rows: NDArray[np.intp], main: str) -> dict[int, str]:
    """Ends or beginnings of entries that have the usual format.

    As the time in ``12/02/2011 6:55 a.m.`` or in ``6:55 a.m. (estimated)``.
    """
    found = {}
    for i in rows.tolist():
        word = written.word(i)
        spaces = [*re.finditer(r"\s+", word)]
        parts = [word[space.end() :] for space in spaces]
        parts += [word[: space.start()] for space in reversed(spaces)]
        part = next((part for part in parts if _shape(part) == main), None)
        if part is not None:
            found[i] = part
    return found


def _shape(word: str) -> str:
    """The shape of a text, with runs of space as one.

    Examples
    --------
    >>> _shape("12/02/2011  6:55 a.m.")
    '9/9/9 9:9 a.a.'
    """
    return re.sub(r"\s+", " ", shape_of(word))


def _spreadsheet_dates(written: WrittenColumn) -> ColumnFinding | None:
    odd = written.where(_SPREADSHEET_DATE.fullmatch)
    if not 0 < written.share(odd) <= _OTHERS:
        return None
    rows = written.rows(odd)
    return ColumnFinding(
        (written.name,),
        "spreadsheet dates",
        f"{written.counted_entries(rows)}, {written.example(rows)}, "
        f"{plural(rows.size, 'looks', 'look')} like a date that a spreadsheet made of 3-22 or "
        f"8/17: restore {plural(rows.size, 'it', 'them')} from the source",
        rows,
        {},
        LOW,
    )


def _broken_letters(written: WrittenColumn) -> ColumnFinding | None:
    broken = written.where(lambda word: _BROKEN.search(unicodedata.normalize("NFC", word)))
    if not broken.any():
        return None
    rows = written.rows(broken)
    return ColumnFinding(
        (written.name,),
        "encoding",
        f"{written.counted_entries(rows)} {plural(rows.size, 'holds', 'hold')} broken letters, "
        f"{written.example(rows)}: read the file again with the encoding it was written in",
        rows,
        {},
        SURE,
    )


def _is_missing(written: WrittenColumn) -> NDArray[np.bool_]:
    return written.where(lambda word: word in MISSING or word.lower() in MISSING_AMONG_NUMBERS)
