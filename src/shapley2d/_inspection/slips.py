"""Slips that explain the cells most likely wrong: typing errors in numbers, dates and words."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import typed_number
from shapley2d._inspection.recipe import (
    MOST_SUSPECTS,
    MOST_WORDS,
    REPEATED_SHARE,
    REPEATED_TIMES,
    SLIP_RANGE,
    SPELLING_LENGTH,
    SPELLING_TIMES,
    SUSPECT_CHANCE,
    SUSPECT_SHARE,
    TAIL_SHARE,
)
from shapley2d._tables.entry_writer import EntryWriter
from shapley2d._tables.table import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.cells import Expected

_PAD = ("789", "456", "123", " 0 ")  # a number pad
_TOP = "1234567890"  # the row above the letters
_SHIFTS = (1, -1, 2, -2, 3, -3)
SHIFTED = "the decimal point slipped"


def explain_suspects(
    columns: Sequence[Column], expected: Sequence[Expected], probability: NDArray[np.float64]
) -> tuple[dict[tuple[int, int], str], tuple[Expected, ...]]:
    """The slips that explain the entries most likely wrong, and what is expected in view of them.

    Returns
    -------
    notes : dict of (int, int) to str
        The slip in words, by row and column.
    expected : tuple of Expected
        With the entries that were meant.
    """
    notes: dict[tuple[int, int], str] = {}
    entries = [one.entries for one in expected]
    spelt = [_Spellings(column) for column in columns]
    writers: dict[int, EntryWriter] = {}
    for i, j in _most_likely(probability):
        column, one = columns[j], expected[j]
        entry = float(column.entries[i])
        if np.isnan(entry):
            continue
        is_category = column.kind == "category"
        if is_category:
            found = spelt[j].meant(int(entry), one, i)
        else:
            writers[j] = writers.get(j) or EntryWriter.of(column)
            found = _slip(writers[j], entry, one, i)
        if found is not None:
            if entries[j] is one.entries:
                entries[j] = one.entries.copy()
            entries[j][i], notes[i, j] = found
    return notes, tuple(
        replace(one, entries=new) for one, new in zip(expected, entries, strict=True)
    )


def _most_likely(probability: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The cells to explain, the likeliest wrong first."""
    flat = probability.ravel()
    wanted = max(int((flat >= SUSPECT_CHANCE).sum()), int(np.ceil(SUSPECT_SHARE * flat.size)))
    wanted = min(wanted, MOST_SUSPECTS)
    # only those that may be among them are sorted: large tables have millions of others
    least = np.partition(flat, flat.size - wanted)[flat.size - wanted] if wanted else np.inf
    likely = np.flatnonzero(flat >= least)
    order = likely[np.argsort(-flat[likely], kind="stable")][:wanted]
    return [(int(k // probability.shape[1]), int(k % probability.shape[1])) for k in order]


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
    # some slip always ends in a wide range: one tells something only where the entry is far
    # outside a narrow range
    is_wide = high - low > SLIP_RANGE * abs(entry - middle)
    if low <= entry <= high or np.isnan(middle) or is_wide:
        return None
    is_date = column.kind == "date"
    whole = not is_date and float(entry).is_integer() and float(middle).is_integer()
    best: tuple[str, float] | None = None
    known = column.entries[~np.isnan(column.entries)]
    if (known == entry).mean() > REPEATED_SHARE and (known == entry).sum() > REPEATED_TIMES:
        return None  # nobody slips in the same way so often
    far = np.sign(entry - middle) * (known - middle) >= abs(entry - middle) / 2
    is_tail = far.mean() > TAIL_SHARE and far.sum() > REPEATED_TIMES
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


class _Spellings:
    """The rare spellings of a column of categories."""

    def __init__(self, column: Column) -> None:
        self._words = column.categories if column.kind == "category" else ()
        present = column.entries[~np.isnan(column.entries)] if self._words else np.zeros(0)
        self._counts = np.bincount(present.astype(np.int64), minlength=len(self._words))
        self._near = misspellings(self._words, self._counts)

    def meant(self, code: int, expected: Expected, i: int) -> tuple[float, str] | None:
        """The spelling that was meant: of those one edit away, the likeliest in row i.

        The most frequent where none of them is likely there.
        """
        near = self._near.get(code)
        if not near:
            return None
        likely = [] if expected.alternatives is None else expected.alternatives[i].tolist()
        meant = next((one for one in likely if one in near), near[0])
        right = f"{self._words[meant]!r} ({self._counts[meant]:,} x)"
        return float(meant), f"a rare spelling of {right}"


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


def misspellings(words: Sequence[str], counts: NDArray[np.int64]) -> dict[int, list[int]]:
    """For rare words the frequent words one edit away, the most frequent first; by position.

    An edit replaces, inserts or leaves out a character, or swaps two neighbours. Words that differ
    in a digit are two codes, not two spellings.

    Examples
    --------
    >>> misspellings(["Birmingham", "Brimingham", "Boston"], np.array([812, 1, 30]))
    {1: [0]}
    """
    found: dict[int, list[int]] = {}
    # words by themselves, and by what is left of them without one character
    reach: defaultdict[str, list[int]] = defaultdict(list)
    order = [
        int(k)
        for k in np.argsort(-counts, kind="stable")
        if counts[k] and len(words[k]) >= SPELLING_LENGTH
    ]
    if not order or counts[order[0]] < SPELLING_TIMES or len(words) > MOST_WORDS:
        return found
    for k in order:
        for key in without_a_letter(words[k]):
            for other in reach.get(key, ()):
                is_rare = counts[other] >= SPELLING_TIMES * counts[k]
                if not is_rare or other in found.get(k, ()):
                    continue
                if is_edit(words[other], words[k]):
                    found.setdefault(k, []).append(other)
        if counts[k] >= SPELLING_TIMES:
            for key in without_a_letter(words[k]):
                reach[key].append(k)
    return {k: sorted(near, key=lambda other: -counts[other]) for k, near in sorted(found.items())}


def without_a_letter(word: str) -> set[str]:
    """A word, and what is left of it without one letter."""
    return {word, *(word[:k] + word[k + 1 :] for k in range(len(word)))}


def is_edit(word: str, other: str) -> bool:
    """Whether one edit leads from one word to the other, other than a change of digits."""
    start = 0
    while start < min(len(word), len(other)) and word[start] == other[start]:
        start += 1
    stop = 0
    while stop < min(len(word), len(other)) - start and word[-1 - stop] == other[-1 - stop]:
        stop += 1
    a, b = word[start : len(word) - stop], other[start : len(other) - stop]
    if (a.isdigit() and b.isdigit()) or (a + b).isdigit():
        return False
    return (len(a) <= 1 and len(b) <= 1) or (len(a) == 2 and b == a[::-1])
