"""Typing errors that explain the cells most likely wrong: in numbers, dates and words."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import typed_number
from shapley2d._tables.entry_writer import EntryWriter
from shapley2d._tables.table import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.cells import Expected
    from shapley2d._inspection.columns.finding import ColumnFinding

_SUSPECT, _MOST_SUSPECTS = 0.05, 5000
"""Entries examined: all from this probability on, at most this many."""

_NARROW = 0.3
"""A slip is named only if the expected range is at most this part of the entry's distance from its
middle. In wider ranges some slip always ends by chance."""

_OFTEN, _TIMES = 0.01, 3
"""A number that more than this share and number of the rows hold is no slip. Where as many are at
least half as far off, the column has a heavy tail: no decimal point slipped."""

_PAD = ("789", "456", "123", " 0 ")  # a number pad
_TOP = "1234567890"  # the row above the letters
_SHIFTS = (1, -1, 2, -2, 3, -3)
SHIFTED = "the decimal point slipped"


def explain_suspects(
    columns: Sequence[Column],
    expected: Sequence[Expected],
    probability: NDArray[np.float64],
    findings: Sequence[ColumnFinding] = (),
) -> tuple[dict[tuple[int, int], str], tuple[Expected, ...]]:
    """The slips that explain the entries most likely wrong, and what is expected in view of them.

    Parameters
    ----------
    columns : sequence of Column
    expected : sequence of Expected
    probability : ndarray of shape (n, p)
    findings : sequence of ColumnFinding
        Those about spellings explain words.

    Returns
    -------
    notes : dict of (int, int) to str
        The slip in words, by row and column.
    expected : tuple of Expected
        With the entries that were meant.
    """
    notes: dict[tuple[int, int], str] = {}
    spelt = _spellings(columns, findings)
    writers: dict[int, EntryWriter] = {}
    meant: dict[int, NDArray[np.float64]] = {}
    for i, j in _most_likely(probability):
        entry, found = float(columns[j].entries[i]), spelt.get((i, j))
        if columns[j].kind in ("number", "date") and not np.isnan(entry):
            writers[j] = writers.get(j) or EntryWriter.of(columns[j])
            found = _slip(writers[j], entry, expected[j], i)
        if found is not None:
            meant.setdefault(j, expected[j].entries.copy())
            meant[j][i], notes[i, j] = found
    return notes, tuple(
        replace(one, entries=meant[j]) if j in meant else one for j, one in enumerate(expected)
    )


def _most_likely(probability: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The cells to explain, the likeliest wrong first."""
    cells = np.argwhere(probability >= _SUSPECT)
    order = np.argsort(-probability[tuple(cells.T)], kind="stable")[:_MOST_SUSPECTS]
    return [(i, j) for i, j in cells[order].tolist()]


def _spellings(
    columns: Sequence[Column], findings: Sequence[ColumnFinding]
) -> dict[tuple[int, int], tuple[float, str]]:
    """The category that was meant and the slip in words, by row and column of a misspelt entry."""
    found = {}
    for finding in findings:
        j = next(k for k, column in enumerate(columns) if column.name == finding.columns[0])
        if finding.kind != "spellings" or columns[j].kind != "category":
            continue
        codes = {word: code for code, word in enumerate(columns[j].categories)}
        for i, word in finding.suggestions.items():
            if word in codes:
                times = int((columns[j].entries == codes[word]).sum())
                found[i, j] = float(codes[word]), f"a rare spelling of {word!r} ({times:,} x)"
    return found


def _slip(
    writer: EntryWriter, entry: float, expected: Expected, i: int
) -> tuple[float, str] | None:
    """The number or date that was meant, if one slip leads from it to this entry.

    It must lie in the range that is expected, and have no more decimals than the column.
    """
    column = writer.column
    if expected.low is None or expected.high is None:
        return None
    low, high, middle = float(expected.low[i]), float(expected.high[i]), float(expected.entries[i])
    is_wide = high - low > _NARROW * abs(entry - middle)
    if low <= entry <= high or np.isnan(middle) or is_wide:
        return None
    is_date = column.kind == "date"
    whole = not is_date and float(entry).is_integer() and float(middle).is_integer()
    best: tuple[str, float] | None = None
    known = column.entries[~np.isnan(column.entries)]
    if _are_many(known == entry):
        return None  # nobody slips in the same way so often
    is_tail = _are_many(np.sign(entry - middle) * (known - middle) >= abs(entry - middle) / 2)
    for slip, meant in _meant_dates(entry) if is_date else meant_numbers(entry):
        if slip == SHIFTED and is_tail:
            continue
        fits = low <= meant <= high and meant != entry and (not whole or meant.is_integer())
        fits = fits and float(writer.rounded(np.array(meant))) == meant
        if not fits:
            continue
        if best is None or (slip == best[0] and abs(meant - middle) < abs(best[1] - middle)):
            best = slip, meant
    if best is None:
        return None
    typed, meant_text = Column(column.name, column.kind, np.array([entry, best[1]])).text()
    read = column.from_text
    if read.words is not None and read.codes is not None:  # as the file writes them
        typed, meant_text = read.words[read.codes[i]], writer.text(best[1], exact=True)
    return best[1], f"{best[0]}: {typed} for {meant_text}"


def _are_many(rows: NDArray[np.bool_]) -> bool:
    """Whether rows are too many to be slips."""
    return bool(rows.mean() > _OFTEN and rows.sum() > _TIMES)


def _meant_dates(entry: float) -> Iterator[tuple[str, float]]:
    """Dates from which one slip leads to this one, with the slip's name."""
    day = np.datetime64(int(np.floor(entry)), "D")
    text, rest = str(day), entry - np.floor(entry)
    year, month, of_month = text[:-6], text[-5:-3], text[-2:]
    beside = (("a neighbouring key", meant) for meant in struck_beside(text))
    for slip, meant in (
        ("day and month swapped", f"{year}-{of_month}-{month}"),
        *swapped_or_doubled(text),
        *beside,
    ):
        try:
            days = np.datetime64(meant, "D").astype(np.int64)
        except ValueError:
            continue
        yield slip, float(days) + rest


def meant_numbers(number: float) -> Iterator[tuple[str, float]]:
    """Numbers from which one slip leads to this one, with the slip's name; likeliest slips first.

    A digit left out is not among them: too many numbers may have been meant, and suggestions were
    no better for it.

    Examples
    --------
    >>> [meant for slip, meant in meant_numbers(71.0) if slip == "two digits swapped"]
    [17.0]
    >>> sorted(meant for slip, meant in meant_numbers(117.0) if slip == "a digit doubled")
    [17.0]
    """
    text = typed_number(abs(number))
    sign = -1.0 if number < 0 else 1.0
    for slip, meant in swapped_or_doubled(text):
        yield slip, sign * float(meant)
    for places in _SHIFTS:
        yield SHIFTED, sign * float(Decimal(text).scaleb(places))
    for meant in struck_beside(text):
        yield "a neighbouring key", sign * float(meant)
    if number:
        yield "the sign", -number


def swapped_or_doubled(text: str) -> Iterator[tuple[str, str]]:
    """Texts that become this one when two digits are swapped, or one is doubled."""
    for k, digit in enumerate(text[:-1]):
        if digit.isdigit() and text[k + 1].isdigit() and digit != text[k + 1]:
            meant = text[:k] + text[k + 1] + digit + text[k + 2 :]
            if not meant.startswith("0") or text.startswith("0"):  # nobody means 01
                yield "two digits swapped", meant
    for k, digit in enumerate(text[:-1]):
        if digit.isdigit() and digit == text[k + 1]:
            yield "a digit doubled", text[:k] + text[k + 1 :]


def struck_beside(text: str) -> Iterator[str]:
    """Texts that become this one when a neighbouring key is struck."""
    for k, digit in enumerate(text):
        if digit.isdigit():
            for key in NEIGHBOURS[digit]:
                yield text[:k] + key + text[k + 1 :]


def _neighbours() -> dict[str, str]:
    """The keys beside each digit, on a number pad and in the row above the letters."""
    near: dict[str, set[str]] = {digit: set() for digit in _TOP}
    rows = [*_PAD, *("".join(column) for column in zip(*_PAD, strict=True)), _TOP]
    for row in rows:
        for a, b in pairwise(row):
            if a != " " and b != " ":
                near[a].add(b)
                near[b].add(a)
    return {digit: "".join(sorted(keys)) for digit, keys in near.items()}


NEIGHBOURS = _neighbours()
"""The keys beside each digit."""
