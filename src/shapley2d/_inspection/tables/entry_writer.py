"""New entries of a column, written in the column's own style."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._tables.table import Column
from shapley2d._tables.texts.numbers import NEARLY_ALL

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_DECIMALS = 6
_NUMBER = re.compile(
    r"[+\-\u2212(]?([^\d.,+\-\u2212(]*)([\d][\d.,' \u00a0\u2009\u202f\u2019]*?)(\s*[^\d.,)]*)\)?"
)
_SLASHED = re.compile(r"^\s*(\d{1,4})([/.-])(\d{1,2})\2(\d{1,4})(\s|$)")


@dataclass(frozen=True)
class EntryWriter:
    """Writes entries in the style of a column."""

    column: Column
    # decimals of its numbers; None if it holds none, or such as have more than a power of ten can
    decimals: int | None
    # the most common text of each entry in the column
    known: dict[float, str] = field(default_factory=dict)
    style: NumberStyle | None = None  # how its numbers are written, where not as Python writes them

    @classmethod
    def of(cls, column: Column) -> EntryWriter:
        """Learn the style of a column."""
        present = np.flatnonzero(~np.isnan(column.entries))
        numeric = column.kind in ("number", "date")
        known: dict[float, str] = {}
        counts: Counter[tuple[float, str]] = Counter()
        places = column.from_text.places  # numbers as Python writes them, but for their decimals
        if not places and (column.from_text.words is not None or not numeric):
            texts = column.text()
            counts = Counter((float(column.entries[i]), str(texts[i])) for i in present.tolist())
            for (entry, text), _ in sorted(counts.items(), key=lambda one: (one[1], one[0])):
                known[entry] = text
            if column.kind == "date":  # in several formats: new entries have the most common one
                forms: Counter[str] = Counter()
                for (_, text), rows in counts.items():
                    forms[_form(text)] += rows
                usual = forms.most_common(1)[0][0] if forms else ""
                known = {one: text for one, text in known.items() if _form(text) == usual}
        style = None
        if known and column.kind == "number":
            style = NumberStyle.of(known, counts)
        if places:
            style = NumberStyle(places=places)
        decimals = _decimals(column.entries[present]) if numeric else None
        if decimals is not None and style is not None:
            decimals = max(decimals, style.places)
        return cls(column, decimals, known, style)

    @property
    def is_plain(self) -> bool:
        """Whether it may add decimals to numbers whose texts are not known, and nothing else."""
        return self.style is not None and not self.known

    def rounded(self, entries: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers rounded to the decimals of the column; other entries unchanged."""
        return entries if self.decimals is None else np.round(entries, self.decimals) + 0.0

    def text(self, entry: float, *, exact: bool = False) -> str | None:
        """An entry as a person would write it into this column; None if it is missing.

        Rounded to the decimals of the column unless ``exact``.
        """
        if math.isnan(entry):
            return None
        if self.decimals is not None and not exact:
            entry = float(np.round(entry, self.decimals)) + 0.0
        if entry in self.known:
            return self.known[entry]
        kind, notation = self.column.kind, self.column.from_text.notation
        plain = Column(self.column.name, kind, np.array([entry]), self.column.categories).text()[0]
        if self.style is not None and plain is not None:
            return self.style.write(plain, comma=notation == "decimal commas")
        if kind == "date" and self.known:
            return _dated(str(plain), next(iter(self.known.values())), notation)
        return plain

    def texts(self, entries: NDArray[np.float64]) -> list[str | None]:
        """The text of many entries."""
        distinct, place = np.unique(self.rounded(entries), return_inverse=True)
        words = np.array([self.text(entry) for entry in distinct.tolist()], dtype=object)
        return list(words[place].tolist())


@dataclass(frozen=True)
class NumberStyle:
    """How the numbers of a column are written."""

    # what most have before and behind their digits, as ``$`` or `` €``, space included
    before: str = ""
    after: str = ""
    group: str = ""  # the sign between thousands; empty without one
    # decimals that nearly all have, zeros included; 0 where they have as many as they need
    places: int = 0

    @classmethod
    def of(
        cls, known: dict[float, str], counts: Counter[tuple[float, str]] | None = None
    ) -> NumberStyle:
        """Learn the style from numbers and their texts, and in how many rows each text is."""
        found = [
            (abs(number), match)
            for number, text in known.items()
            if (match := _NUMBER.fullmatch(text)) is not None
        ]
        if not found:
            return cls()
        ends = Counter((match[1], match[3]) for _, match in found)
        (before, after), _ = ends.most_common(1)[0]
        large = [match[2] for number, match in found if number >= 1000]
        groups = Counter(_group(digits) for digits in large)
        written: Counter[int] = Counter()
        for (number, text), rows in (counts or Counter(known.items())).items():
            if match := _NUMBER.fullmatch(text):
                written[_places(match[2], abs(number))] += rows
        places, times = written.most_common(1)[0]
        return cls(
            before,
            after,
            groups.most_common(1)[0][0] if groups else "",
            places if times >= NEARLY_ALL * written.total() else 0,
        )

    def write(self, plain: str, *, comma: bool) -> str:
        """A number that Python wrote, in this style.

        >>> NumberStyle("", " €", ".", 2).write("-1632.5", comma=True)
        '-1.632,50 €'
        """
        if "e" in plain or "n" in plain:  # 1e+20, inf
            return plain
        sign, digits = ("-", plain[1:]) if plain.startswith("-") else ("", plain)
        whole, _, rest = _with_places(digits, self.places).partition(".")
        if self.group:
            whole = f"{int(whole):,}".replace(",", self.group)
        mark = "," if comma else "."
        return f"{sign}{self.before}{whole}{mark + rest if rest else ''}{self.after}"


def _form(date: str) -> str:
    """The format of a date: 9-9-9 for 2024-02-29."""
    return re.sub(r"\d+", "9", date)


def _with_places(number: str, places: int) -> str:
    """A number as Python writes it, padded to at least ``places`` decimals."""
    if not places or "e" in number or "n" in number:  # 1e+20, inf
        return number
    whole, _, rest = number.partition(".")
    return f"{whole}.{rest.ljust(places, '0')}"


def _group(digits: str) -> str:
    """The sign between the thousands of a number, empty without one."""
    found = re.match(r"\d{1,3}([^\d])\d{3}(?:\1\d{3})*(?!\d)", digits)
    if found is None:
        return ""
    rest = digits[found.end() :]
    # with nothing behind it, 1,234 may be a decimal comma: then the number is below 1,000
    return found[1] if not rest or not rest[0].isdigit() else ""


def _places(digits: str, number: float) -> int:
    """Decimals as they are written."""
    whole = len(str(int(number)))
    written = re.sub(r"\D", "", digits)
    return max(0, len(written.lstrip("0")) - whole) if number >= 1 else len(written) - 1


def _decimals(entries: NDArray[np.float64]) -> int | None:
    """Decimals of a column's numbers; with endless decimals, as many as give 3 or 4 digits.

    None where numbers are so small that NumPy rounds them to NaN, by a power of ten beyond floats.
    """
    distinct = np.unique(entries)
    for decimals in range(_MOST_DECIMALS + 1):
        if np.allclose(distinct, np.round(distinct, decimals), rtol=1e-12, atol=0):
            return decimals
    spread = float(np.subtract(*np.quantile(distinct, [0.75, 0.25])))
    decimals = max(0, 3 - math.floor(math.log10(spread))) if spread > 0 else _MOST_DECIMALS
    return decimals if decimals <= sys.float_info.max_10_exp else None


def _dated(iso: str, example: str, notation: str) -> str:
    """A date, with a time or without, in the style of an example; else unchanged.

    >>> _dated("2024-02-29", "31/01/2024", "day first"), _dated("2024-02-29", "January 31", "")
    ('29/02/2024', '2024-02-29')
    >>> _dated("2024-02-29T07:30:00", "31.01.2024 12:00", "day first")
    '29.02.2024 07:30'
    """
    found, (date, time) = _SLASHED.match(example), f"{iso}T00:00:00".split("T")[:2]
    clock = found and re.fullmatch(r"(?:(\s+)\d\d:\d\d(:\d\d)?)?", example[found.end(4) :])
    if not found or not clock:
        return iso
    shown = 0 if not clock[1] else 8 if clock[2] else 5  # letters of the time
    if time[shown:].strip("0:."):  # would be lost
        return iso
    first, mark, last = found.group(1, 2, 4)
    year, month, day = date.split("-")
    ends = (month, day) if notation == "month first" else (day, month)
    parts = (*ends, year if len(last) == 4 else year[2:])
    parts = (year, month, day) if len(first) == 4 else parts
    return mark.join(parts) + (clock[1] or "") + time[:shown]


def typed_number(number: float) -> str:
    """A number as a person would type it, without the digits that rounding left.

    >>> typed_number(17.0), typed_number(-0.5), typed_number(0.1 + 0.2)
    ('17', '-0.5', '0.3')
    """
    return np.format_float_positional(number, precision=12, fractional=False, trim="-")
