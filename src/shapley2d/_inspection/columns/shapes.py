"""How entries are written: units in the text, several formats, a broken character encoding."""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import replace
from string import ascii_letters
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted, plural
from shapley2d._inspection.binning import FEWEST_ROWS
from shapley2d._inspection.columns.finding import HABIT, LEAST, LOW, RARE, SURE, UNSURE
from shapley2d._inspection.columns.missing import is_mark, is_missing
from shapley2d._inspection.columns.notations import untold_dates
from shapley2d._inspection.columns.spelling import slips
from shapley2d._inspection.columns.view import shape_of, shortened
from shapley2d._inspection.tables.convert_units import convert
from shapley2d._inspection.tables.entry_writer import EntryWriter, NumberStyle, typed_number
from shapley2d._tables.texts.units import is_unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.columns.view import ColumnView

# Shares of a column's entries, set by hand on the tables of benchmarks/detection.py dirty.
_USUAL = 0.8  # at least this share is written in one way, else the column has no usual way
_WITH_UNIT = re.compile(
    r"([+-]?(?:\d[\d,]*(?<=\d)(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)\s*([^\d\s.,+-][^\d]*)"
)
_DOMINANCE = ((0.7, 0.9, 0.97, 1.0), (0.3, 0.6, 0.85, 0.95))
"""Share of a column that is written in one way, and how likely an exception is wrong."""
_SECOND = 5.0
"""What is taken off, times the share of the column that is written like the exception: a second way
is no error."""
_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_SPREADSHEET_DATE = re.compile(rf"(?i)(?:\d{{1,2}}-(?:{_MONTH})|(?:{_MONTH})-\d{{2}})")
_MARKS = "".join(  # that no Latin letter has
    mark for mark in map(chr, range(0x300, 0x370))
    if not any(len(unicodedata.normalize("NFC", letter + mark)) == 1 for letter in ascii_letters)
)  # fmt: skip
_BROKEN = re.compile(f"[\ufffd\x80-\x9f]|[A-Za-z][{_MARKS}]|[\xc2\xc3][\x80-\xbf\u0152-\u2122]")


def find_shapes(written: ColumnView) -> Iterator[ColumnFinding]:
    """All findings about how one column is written."""
    if written.is_text and written.n_written >= FEWEST_ROWS:
        yield from _units(written)
        yield from _marks(written)
        yield from _formats(written)
        yield from _spreadsheet_dates(written)
        yield from _broken_letters(written)


def _units(written: ColumnView) -> Iterator[ColumnFinding]:
    """Numbers with a unit: the same unit for most, or several spellings of it."""
    matches = [_WITH_UNIT.fullmatch(word) for word in written.words]
    fits = np.array([match is not None for match in matches], dtype=bool)
    read = written.column.from_text.unit
    if not (read or written.column.kind == "category") or written.share(fits) < _USUAL:
        return
    units = written.tally([match[2] if match else "" for match in matches])
    common = [unit for unit, n in units.most_common() if unit and n >= HABIT * written.n_written]
    own = [unit for unit in common if unit.lower() == read]
    common = own if len(own) == 1 else common
    if not common or not _are_one_unit(common):
        return
    marks = np.array([_decimal_mark(match[1]) if match else "" for match in matches])
    comma = written.share(marks == ",") > written.share(marks == ".")
    if len(common) > 1:
        rows = written.rows(fits)
        plain = [match and typed_number(_number(match[1], comma=comma)) for match in matches]
        yield written.finding(
            "units",
            f"{written.name!r} holds numbers with a unit in the text, written in {len(common)} "
            f"ways ({', '.join(map(repr, common))}): remove the unit, so that they are numbers",
            rows,
            {int(i): str(plain[written.codes[i]]) for i in rows},
            SURE,
        )
        return
    (unit,) = common
    usual = np.array([match is not None and match[2] == unit for match in matches], dtype=bool)
    usual &= marks != ("." if comma else ",")
    missing = written.where(is_mark)
    rows = written.rows(~usual & ~missing)
    if read and not rows.size:
        return
    but = f", except in {counted(rows.size, 'entry', 'entries')}" if rows.size else ""
    but += f", {written.example(rows)}" if rows.size else ""
    to_do = "write them alike" if read else "remove the unit, so that they are numbers"
    new = _in_unit(written, unit, usual, comma=comma)
    yield written.finding(
        "suffix",
        f"{written.name!r} holds numbers followed by {unit!r}{but}: {to_do}",
        rows,
        {int(i): new[code][0] for i in rows if (code := int(written.codes[i])) in new},
        _likely(written.share(usual) / written.share(~missing)) if rows.size else 0.0,
        right=np.array([new.get(int(written.codes[i]), ("", 0.0))[1] for i in rows]),
    )


def _in_unit(
    written: ColumnView, unit: str, usual: NDArray[np.bool_], *, comma: bool
) -> dict[int, tuple[str, float]]:
    """The other texts of a column in its unit, by position, and how likely they are right.

    Units of the same quantity are converted, with as many decimals as the entry tells, misspelt and
    missing ones replaced. A number that is not among those of the column is not suggested.
    """
    numbers = [
        match[1] for k in np.flatnonzero(usual) if (match := _WITH_UNIT.fullmatch(written.words[k]))
    ]
    known = {_number(number, comma=comma): f"{number} {unit}" for number in numbers}
    space = " " if " " + unit in written.words[int(np.flatnonzero(usual)[0])] else ""
    style, mark = replace(NumberStyle.of(known), after=space + unit), "," if comma else "."
    found = {}
    for k in np.flatnonzero(~usual).tolist():
        match = _WITH_UNIT.fullmatch(
            written.words[k] + (unit if written.words[k][-1:].isdigit() else "")
        )
        if match is None:
            continue
        named, sure = match[2].strip(), SURE
        number: float | None = _number(match[1], comma=comma)
        of_entry = _decimal_mark(match[1]) or mark
        text = match[1].replace(of_entry, mark) + space + unit
        if is_unit(named) and is_unit(unit):
            step = convert(10.0 ** -len(match[1].partition(of_entry)[2]), named, unit)
            number = convert(_number(match[1], comma=comma), named, unit)
            if number is not None and step is not None and named != unit:
                told = math.floor(1e-9 - math.log10(step))
                sure = SURE if told >= style.places else UNSURE
                rounded = typed_number(round(number, max(told, style.places)))
                text = style.write(rounded, comma=comma)
        elif not _are_one_unit([named, unit]):
            continue
        if number is not None and min(known) <= number <= max(known):
            found[k] = text, sure
    return found


def _decimal_mark(number: str) -> str:
    """The decimal mark of a number; empty where it shows none, as ``1,200`` does."""
    return "." if "." in number else "," if re.search(r",(?!\d{3}(?!\d))", number) else ""


def _number(text: str, *, comma: bool) -> float:
    """A number as it shows its decimal mark; where it does not, commas may be the mark."""
    mark = _decimal_mark(text) or ("," if comma else ".")
    return float(text.replace(",", "." if mark == "," else ""))


def _are_one_unit(units: list[str]) -> bool:
    """Whether spellings may be those of one unit: the same letters, or short forms and slips.

    They begin alike, and none is another unit. Of a unit that is known, others may be any form.

    >>> [_are_one_unit(some) for some in (["oz", "OZ.", "ounces"], ["gk", "kg"], ["m", "mm"])]
    [True, True, False]
    >>> [_are_one_unit(some) for some in (["°C", "°F"], ["mg/dl", "mg/l"], ["CAD", "CHF"])]
    [False, False, False]
    """
    plain = {re.sub(r"[^\w%]", "", unit.lower()) for unit in units}
    if len({"".join(sorted(unit)) for unit in plain}) == 1:
        return True
    n_known, longest = sum(map(is_unit, plain)), max(plain, key=len)
    if n_known > 1 or len({unit[:1] for unit in plain}) > 1:
        return False
    forms = [".*".join(map(re.escape, unit)) for unit in plain]
    # as if the longest were the usual one
    found = slips([longest, *plain], np.array([99] + [1] * len(plain)))
    are_forms = all(re.search(form, longest) or k in found for k, form in enumerate(forms, 1))
    return n_known == 1 or (are_forms and not any("/" in unit for unit in units))


def _likely(share: float) -> float:
    """How likely an exception is wrong where this share of a column is written in one way."""
    return float(np.interp(share, *_DOMINANCE))


def _marks(written: ColumnView) -> Iterator[ColumnFinding]:
    """A percent sign or a currency beside some of the numbers only."""
    if written.column.kind != "number":
        return
    marks = np.array(
        [re.sub(r"[\d\s.,'()+eE-]+", "", word) for word in written.words], dtype=object
    )
    numbers = ~np.isnan(written.column.entries)
    known = np.zeros(len(written.words), dtype=bool)
    known[written.codes[numbers & (written.codes >= 0)]] = True
    plain, marked = known & (marks == ""), known & (marks != "")
    with_mark, without = int(written.counts[marked].sum()), int(written.counts[plain].sum())
    if min(with_mark, without) < 2:
        return
    marked_is_rare = with_mark <= without
    rows = written.rows(marked if marked_is_rare else plain)
    new = {int(i): typed_number(float(written.column.entries[i])) for i in rows}
    if not marked_is_rare and (style := EntryWriter.of(written.column).style) is not None:
        comma = written.column.from_text.notation == "decimal commas"
        new = {i: style.write(number, comma=comma) for i, number in new.items()}
    # signs and numbers of another size may mean another thing, but hardly both are right
    yield written.finding(
        "signs",
        f"{rows.size:,} of the {written.n_written:,} numbers of {written.name!r} "
        f"{'have' if marked_is_rare else 'lack'} a {str(marks[marked][0])!r}, unlike the others: "
        "check whether they mean the same, and write them alike",
        rows,
        new,
        SURE,
        right=None if marked_is_rare else np.full(rows.size, UNSURE),
    )


def _formats(written: ColumnView) -> Iterator[ColumnFinding]:
    """Entries that differ from the format, with digits and signs, that most others share.

    Of texts few may differ. Dates say the same in any format, so each is rewritten, however many.
    """
    if written.column.kind == "number":
        return
    shapes = np.array([_shape(word) for word in written.words], dtype=object)
    tally = written.tally(shapes.tolist())
    main = max(sorted(tally), key=lambda form: tally[form])
    structured = any(not letter.isalpha() and not letter.isspace() for letter in main)
    missing = written.where(is_missing)
    is_date = written.column.kind == "date"
    # what many rows have is how the table is made
    often = (written.counts > 2 + RARE * written.n_written) & (not is_date)
    others = (shapes != main) & ~missing & ~often
    rows = written.rows(others)
    if not structured or "9" not in main or not rows.size:
        return
    if tally[main] < _USUAL * written.n_written and not is_date:
        return
    usual = written.words[int(np.flatnonzero(~others)[written.counts[~others].argmax()])]
    parts = _usual_parts(written, rows, main)
    dominance = _likely(tally[main] / (written.n_written * (1 - written.share(missing))))
    shares = np.array([tally[shapes[written.codes[i]]] / written.n_written for i in rows])
    chances = np.maximum(dominance - _SECOND * shares, LEAST)
    chances[[i in parts for i in rows.tolist()]] = SURE  # an entry in the usual way, and more
    chances[is_date & (shares >= HABIT)] = 0.0
    yield written.finding(
        "formats",
        f"{rows.size:,} of the {written.n_written:,} entries of {written.name!r} "
        f"{plural(rows.size, 'differs', 'differ')} from the usual format, "
        f"{shortened(written.word(rows[0]))} instead of {shortened(usual)}: write them alike",
        rows,
        parts | (_rewritten(written, rows) if is_date else {}),
        chances,
        right=np.where([is_date and i not in parts for i in rows.tolist()], SURE, UNSURE),
    )


def _rewritten(written: ColumnView, rows: NDArray[np.intp]) -> dict[int, str]:
    """Dates in the usual format of their column; not those that may be one of two days."""
    writer, entries = EntryWriter.of(written.column), written.column.entries
    told = ~untold_dates(written)[written.codes[rows]]
    texts = {i: writer.text(float(entries[i]), exact=True) for i in rows[told].tolist()}
    return {i: text for i, text in texts.items() if text and text != written.word(i)}


def _usual_parts(written: ColumnView, rows: NDArray[np.intp], main: str) -> dict[int, str]:
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
    """The shape of a text, with runs of space as one, and so the number before a unit.

    >>> _shape("12/02/2011  6:55 a.m."), _shape("-1,200.5 kg")
    ('9/9/9 9:9 a.a.', '9 a')
    """
    if match := _WITH_UNIT.fullmatch(word):
        word = "9" + word[match.end(1) :]
    return re.sub(r"\s+", " ", shape_of(word))


def _spreadsheet_dates(written: ColumnView) -> Iterator[ColumnFinding]:
    """Texts such as ``Mar-22``, which a spreadsheet made of other entries."""
    odd = written.where(_SPREADSHEET_DATE.fullmatch)
    rows = written.rows(odd)
    if rows.size and written.share(odd) <= 1 - _USUAL:
        yield written.finding(
            "spreadsheet dates",
            f"{written.entries(rows, 'looks', 'look')} like a date that a spreadsheet made of 3-22 "
            f"or 8/17, {written.example(rows)}: restore {plural(rows.size, 'it', 'them')} from the "
            "source",
            rows,
            chance=LOW,
        )


def _broken_letters(written: ColumnView) -> Iterator[ColumnFinding]:
    """Texts that were decoded with another encoding than they were written in."""
    broken = written.where(lambda word: _BROKEN.search(unicodedata.normalize("NFC", word)))
    rows = written.rows(broken)
    if not rows.size:
        return
    whole = [word for word, bad in zip(written.words, broken.tolist(), strict=True) if not bad]
    mended = {int(k): _mended(written.words[k], whole) for k in np.flatnonzero(broken)}
    advice = "read the file again with the encoding it was written in"
    if written.share(broken) <= 0.5:
        advice = f"write {plural(rows.size, 'it', 'them')} again"
    yield written.finding(
        "encoding",
        f"{written.entries(rows, 'holds', 'hold')} broken letters, {written.example(rows)}: "
        f"{advice}",
        rows,
        {int(i): text for i in rows if (text := mended[int(written.codes[i])])},
        SURE,
    )


def _mended(word: str, whole: list[str]) -> str | None:
    r"""A text with its letters read as UTF-8, or the only whole text that has its other letters.

    >>> _mended("M\xc3\xbcller", []), _mended("M\ufffdller", ["Müller", "Meyer"])
    ('Müller', 'Müller')
    """
    try:
        text = b"".join(_byte(letter) for letter in word).decode()
    except UnicodeError:
        text = word
    if "\ufffd" not in text:
        return unicodedata.normalize("NFC", text) if text != word else None
    # one or more broken letters stand for one letter
    pattern = re.compile(".".join(map(re.escape, re.split("\ufffd+", text))))
    found = [one for one in whole if pattern.fullmatch(one)]
    return found[0] if len(found) == 1 else None


def _byte(letter: str) -> bytes:
    """The byte that Western European encodings read as a letter."""
    try:
        return letter.encode("cp1252")
    except UnicodeError:
        return letter.encode("latin-1")
