"""New entries of a column, written in the column's own style."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._tables.table import Column

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MOST_DECIMALS = 6
_SLASHED = re.compile(r"^\s*(\d{1,4})([/.-])(\d{1,2})\2(\d{1,4})(\s|$)")


@dataclass(frozen=True)
class EntryWriter:
    """Writes entries in the style of a column.

    Attributes
    ----------
    column : Column
    decimals : int or None
        Decimals of its numbers; None if it holds no numbers.
    known : dict of float to str
        The most common text of each entry in the column.
    """

    column: Column
    decimals: int | None
    known: dict[float, str] = field(default_factory=dict)

    @classmethod
    def of(cls, column: Column) -> EntryWriter:
        """Learn the style of a column.

        Examples
        --------
        >>> from shapley2d._tables.convert import as_table
        >>> writer = EntryWriter.of(as_table({"price": ["1,5", "2,25", "3,0"]}).columns[0])
        >>> writer.text(1.5), writer.text(2.4999)
        ('1,5', '2,5')
        """
        present = np.flatnonzero(~np.isnan(column.entries))
        numeric = column.kind in ("number", "date")
        known: dict[float, str] = {}
        if column.from_text.words is not None or not numeric:
            texts = column.text()
            counts = Counter((float(column.entries[i]), texts[i]) for i in present.tolist())
            for (entry, text), _ in sorted(counts.items(), key=lambda one: (one[1], one[0])):
                known[entry] = str(text)
        return cls(column, _decimals(column.entries[present]) if numeric else None, known)

    def rounded(self, entries: NDArray[np.float64]) -> NDArray[np.float64]:
        """Numbers rounded to the decimals of the column; other entries unchanged."""
        return entries if self.decimals is None else np.round(entries, self.decimals) + 0.0

    def text(self, entry: float) -> str | None:
        """An entry as a person would write it into this column; None if it is missing."""
        if math.isnan(entry):
            return None
        if self.decimals is not None:
            entry = float(np.round(entry, self.decimals)) + 0.0
        if entry in self.known:
            return self.known[entry]
        kind, notation = self.column.kind, self.column.from_text.notation
        plain = Column(self.column.name, kind, np.array([entry]), self.column.categories).text()[0]
        if kind == "number" and notation == "decimal commas" and plain is not None:
            return plain.replace(".", ",")
        if kind == "date" and self.known:
            return _dated(str(plain), next(iter(self.known.values())), notation)
        return plain

    def texts(self, entries: NDArray[np.float64]) -> list[str | None]:
        """The text of many entries."""
        distinct, place = np.unique(self.rounded(entries), return_inverse=True)
        words = np.array([self.text(entry) for entry in distinct.tolist()], dtype=object)
        return list(words[place].tolist())


def _decimals(entries: NDArray[np.float64]) -> int:
    """Decimals of a column's numbers; with endless decimals, as many as give 3 or 4 digits."""
    distinct = np.unique(entries)
    for decimals in range(_MOST_DECIMALS + 1):
        if np.allclose(distinct, np.round(distinct, decimals), rtol=1e-12, atol=0):
            return decimals
    spread = float(np.subtract(*np.quantile(distinct, [0.75, 0.25])))
    return max(0, 3 - math.floor(math.log10(spread))) if spread > 0 else _MOST_DECIMALS


def _dated(iso: str, example: str, notation: str) -> str:
    """A date in the style of an example with slashes, dots or dashes; else unchanged.

    Examples
    --------
    >>> _dated("2024-02-29", "31/01/2024", "day first"), _dated("2024-02-29", "January 31", "")
    ('29/02/2024', '2024-02-29')
    """
    found = _SLASHED.match(example)
    if found is None or len(iso) != 10:
        return iso
    first, mark, last = found.group(1, 2, 4)
    year, month, day = iso.split("-")
    if len(first) == 4:
        return mark.join((year, month, day))
    ends = (month, day) if notation == "month first" else (day, month)
    return mark.join((*ends, year if len(last) == 4 else year[2:]))
