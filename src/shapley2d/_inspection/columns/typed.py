"""Typing errors in numbers and dates: which number was meant.

Which number was meant is a question for Bayes' rule (a noisy channel, Kernighan, Church and Gale
1990, "A spelling correction program based on a noisy channel model"): each number that one slip
leads to the entry is weighed by how likely that slip makes this entry of it, and by how likely the
number is in its row and column. All kinds of slips are as likely as each other and as an error that
is no slip, which may leave any digits. The share of the best number is how sure it is.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.columns.finding import RARE, SUREST
from shapley2d._inspection.tables.entry_writer import EntryWriter, typed_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shapley2d._tables.table import Column

MOST_SUSPECTS = 5000
"""Entries that are explained, at most."""

_PAD = ("789", "456", "123", " 0 ")  # a number pad
_TOP = "1234567890"  # the row above the letters
_ANY_DATE = 1 / (date(2200, 1, 1) - date(1800, 1, 1)).days  # chance of a date that may be any
SHIFTED = "the decimal point slipped"


@dataclass(frozen=True)
class Slips:
    """The numbers or dates of a column, and which of them were meant."""

    writer: EntryWriter
    numbers: NDArray[np.float64]  # its distinct entries in order
    counts: NDArray[np.int64]  # and their rows
    step: float  # smallest difference of entries, by the decimals of the column
    # chance that an entry is one that the column does not hold yet: the share of rows whose entry
    # no other has (Good 1953, doi:10.1093/biomet/40.3-4.237)
    new: float
    span: float  # from the lowest tenth of the entries to the highest

    @classmethod
    def of(cls, column: Column) -> Slips:
        known = column.entries[~np.isnan(column.entries)]
        numbers, counts = np.unique(known, return_counts=True)
        writer = EntryWriter.of(column)
        decimals = None if column.kind == "date" else writer.decimals
        step = 1.0 if decimals is None else 10.0**-decimals
        low, high = np.quantile(known, [0.1, 0.9])
        new = float((counts == 1).sum()) / known.size
        return cls(writer, numbers, counts, step, new, max(float(high - low), step))

    def explain(
        self, entry: float, low: float, high: float, middle: float
    ) -> tuple[str, float, float] | None:
        """The slip, the number that was meant, and how likely it is; None if that is a guess.

        ``low`` to ``high`` is expected in its row, most of all ``middle``.
        """
        if low <= entry <= high or np.isnan(middle) or self._are_many(entry, entry):
            return None  # nobody slips in the same way so often
        half = middle + (entry - middle) / 2
        ends = (half, np.inf) if entry > middle else (-np.inf, half)
        is_tail = self._are_many(*ends)
        is_date = self.writer.column.kind == "date"
        by_chance = self.by_chance(entry)
        # one in five of the right numbers is outside the expected range, few of them far
        least, most = low - (high - low), high + (high - low)
        weights: dict[float, float] = defaultdict(float)
        names: dict[float, tuple[float, str]] = {}
        for slip, meant, chance in (
            meant_dates(entry, least, most) if is_date else self._meant_numbers(entry)
        ):
            if meant == entry or not least <= meant <= most or (slip == SHIFTED and is_tail):
                continue
            if not is_date and float(self.writer.rounded(np.array(meant))) != meant:
                continue
            weight = chance * self._chance(meant, low, high, middle)
            weights[meant] += weight
            names[meant] = max(names.get(meant, (0.0, "")), (weight, slip))
        if not weights:
            return None
        best = max(weights, key=lambda one: (weights[one], -abs(one - middle)))
        sure = weights[best] / (sum(weights.values()) + by_chance)
        return (names[best][1], best, min(sure, SUREST)) if sure >= 0.5 else None

    def texts(self, i: int, meant: float) -> tuple[str | None, str | None]:
        """The entry of a row and the one that was meant, as the column writes them."""
        typed = self.writer.column.take(np.array([i])).text()[0]
        return typed, self.writer.text(meant, exact=True)

    def _are_many(self, low: float, high: float) -> bool:
        """Whether rows between two numbers are too many to be slips.

        A number that so many hold is meant. Where so many are at least half as far off, the column
        has a heavy tail: no decimal point slipped.
        """
        first = np.searchsorted(self.numbers, low)
        last = np.searchsorted(self.numbers, high, "right")
        rows = int(self.counts[first:last].sum())
        return rows > 2 + RARE * int(self.counts.sum())

    def _chance(self, meant: float, low: float, high: float, middle: float) -> float:
        """How likely a number is in its row: by the expected range, and how often it occurs."""
        # a Laplace distribution has its middle 80 % within log(5) times its width
        width = max((high - low) / 2 / math.log(5), self.step / 2)
        density = math.exp(-abs(meant - middle) / width) / (2 * width)
        return min(density * self.span * self.share(meant, self.span), 1.0)

    def share(self, number: float, width: float | None = None, less: int = 0) -> float:
        """How likely a number is in the column, whether it holds it already or not.

        New ones are equally likely over a ``width``; else as the nearest entries lie. So many rows
        ``less`` hold it as there are: an entry does not speak for itself.
        """
        n, place = int(self.counts.sum()), int(np.searchsorted(self.numbers, number))
        seen = place < self.numbers.size and self.numbers[place] == number
        known = (int(self.counts[place]) - less) / n if seen else 0.0
        if width is None:
            size = self.numbers.size
            few = max(1, min(round(math.sqrt(size) / 2), place, size - place))  # on either side
            low, high = self.numbers[[max(place - few, 0), min(place + few, size - 1)]]
            width = (max(high, number) - min(low, number) + self.step) * size / (2 * few)
        return self.new * self.step / width + (1 - self.new) * known

    def by_chance(self, entry: float) -> float:
        """How likely an error that is no slip leaves these digits, as the column writes them."""
        if self.writer.column.kind == "date":
            return _ANY_DATE
        return 10.0 ** -len(typed_number(abs(round(entry / self.step))))

    def typed(self, entry: float, meant: float) -> float:
        """How likely an error makes this entry of a number that was meant."""
        slips = sum(
            chance
            for slip, one, chance in self._meant_numbers(entry)
            # decimals are lost where a point slipped to the left
            if one == meant
            or (slip == SHIFTED and abs(one - meant) * abs(entry) < self.step * abs(one))
        )
        # or it is the entry of another row
        return slips + self.by_chance(entry) + self.share(entry, less=1)

    def _meant_numbers(self, entry: float) -> Iterator[tuple[str, float, float]]:
        """Numbers from which one slip leads to this one, a decimal point left out included."""
        yield from meant_numbers(entry)
        if self.step < 1 and entry == round(entry):
            yield SHIFTED, float(self.writer.rounded(np.array(entry * self.step))), 1.0


def meant_dates(entry: float, low: float, high: float) -> Iterator[tuple[str, float, float]]:
    """Dates from which one slip leads to this one, with the slip's name and its chance.

    ``low`` to ``high`` are expected; every year among them may have been meant.
    """
    day = np.datetime64(int(np.floor(entry)), "D")
    text, rest = str(day), entry - np.floor(entry)
    year, month, of_month = text[:-6], text[-5:-3], text[-2:]
    first, last = (int(str(np.datetime64(int(end), "D"))[:4]) for end in (low, high))
    years = [*_years(year), *((one, 365 * _ANY_DATE) for one in range(first, last + 1))]
    for slip, meant, chance in (
        ("day and month swapped", f"{year}-{of_month}-{month}", 1.0),
        *_misdigited(text),
        *(("another year", f"{one}{text[-6:]}", chance) for one, chance in years),
    ):
        try:
            days = np.datetime64(meant, "D").astype(np.int64)
        except ValueError:
            continue
        yield slip, float(days) + rest, chance


def _years(typed: str) -> Iterator[tuple[str, float]]:
    """Years that may have been meant: another century, or one other digit."""
    for century in ("19", "20"):
        if typed[:2] != century:
            yield century + typed[2:], 0.5
    for k, digit in enumerate(typed):
        yield from ((typed[:k] + one + typed[k + 1 :], 1 / 36) for one in _TOP if one != digit)


def meant_numbers(number: float) -> Iterator[tuple[str, float, float]]:
    """Numbers from which one slip leads to this one.

    Each with the name of the slip, and how likely this slip makes this entry of it.
    """
    text = typed_number(abs(number))
    sign = -1.0 if number < 0 else 1.0
    for slip, meant, chance in _misdigited(text):
        yield slip, sign * float(meant), chance
    for places in (1, -1, 2, -2, 3, -3):
        yield SHIFTED, sign * float(Decimal(text).scaleb(places)), 0.5 ** (1 + abs(places))
    pointed = text if "." in text else text + "."
    for k in range(len(pointed) + 1):
        for digit in _TOP:
            if k or digit != "0":
                meant = pointed[:k] + digit + pointed[k:]
                yield "a digit left out", sign * float(meant), 1 / len(pointed)
    if number:
        yield "the sign", -number, 1.0


def _misdigited(text: str) -> Iterator[tuple[str, str, float]]:
    """Texts of which two digits were swapped, one was doubled, or a key beside one was struck."""
    n_digits = sum(letter.isdigit() for letter in text)
    doubled = set()
    for k, digit in enumerate(text):
        if not digit.isdigit():
            continue
        for key in NEIGHBOURS[digit]:
            meant = text[:k] + key + text[k + 1 :]
            yield "a neighbouring key", meant, 1 / n_digits / len(NEIGHBOURS[key])
        following = text[k + 1 : k + 2]
        if following == digit:
            doubled.add(text[:k] + text[k + 1 :])
        elif following.isdigit():
            meant = text[:k] + following + digit + text[k + 2 :]
            if not meant.startswith("0") or text.startswith("0"):  # nobody means 01
                yield "two digits swapped", meant, 1 / (n_digits - 1)
    yield from (("a digit doubled", meant, 1 / (n_digits - 1)) for meant in doubled)


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
