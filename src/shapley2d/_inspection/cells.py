"""The scored cells of a table: score, probability of being wrong, expected entry, and reasons.

The label, where there is one, is one more column behind the others, here and in every array.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._inspection.columns.finding import LEAST, SAME_KEY, UNSURE
from shapley2d._inspection.learned import SETTINGS
from shapley2d._inspection.tables.entry_writer import EntryWriter
from shapley2d._inspection.tables.marks import is_bound

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Column

EMPTY, NO_ALTERNATIVE = -2, -1
"""Among the alternatives of a cell: it should be empty; there is no further alternative."""


_REASONS = {
    "company": "rows that agree with it elsewhere differ",
    "far": "far from the others of its column",
    "text": "not written like the others",
    "spelling": "spelt unlike a more frequent entry",
    "rare": "rare in a column whose entries repeat",
    "key": SAME_KEY,
}


@dataclass(frozen=True)
class Expected:
    """The entries expected in one column, predicted for each row from its other entries."""

    # (n,): the suggested entry as a typed column holds it: a number, days since 1970, 0 or 1, the
    # position of a category; NaN where the cell should be empty
    entries: NDArray[np.float64]
    # (n,): the middle 80 % of what is expected, for numbers and dates
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    # (n, k): of categories and booleans the likeliest entries, likeliest first, EMPTY for an empty
    # cell, NO_ALTERNATIVE where there are fewer; and how likely each is
    alternatives: NDArray[np.int32] | None = None
    chances: NDArray[np.float32] | None = None

    def take(self, rows: Any) -> Expected:
        """What is expected in some rows."""
        taken: dict[str, Any] = {
            name: one if one is None else one[rows] for name, one in vars(self).items()
        }
        return Expected(**taken)

    def sure(self, i: int, entry: float) -> float:
        """How likely the entry predicted for row i is right, if the table's ``entry`` is wrong.

        A prediction tells what is usual, not what was meant: it is never sure. Numbers of a range
        are right to the last digit by chance.
        """
        if self.alternatives is not None and self.chances is not None:
            codes = self.alternatives[i].astype(np.float64)
            own = EMPTY if np.isnan(entry) else entry
            meant = EMPTY if np.isnan(self.entries[i]) else self.entries[i]
            others = float(self.chances[i][codes != own].sum())
            found = float(self.chances[i][(codes == meant) & (codes != own)].sum())
            return min(found / others, UNSURE) if others > 0 else 0.0
        if self.low is None or self.high is None:
            return 0.0
        return UNSURE if self.high[i] <= self.low[i] else 0.1


@dataclass(frozen=True)
class ScoredCells:
    """The cells of n rows and p columns, the label included; arrays have the shape (n, p)."""

    columns: tuple[Column, ...]  # typed, the label last where there is one
    has_label: bool
    scores: NDArray[np.float64]  # log-odds of being wrong; of a class label, its surprise
    probability: NDArray[np.float64]  # how likely it is wrong, calibrated
    expected: tuple[Expected, ...]
    parts: dict[str, NDArray[np.float32]]  # how much each reason speaks against a suspect
    has_classes: bool = False  # whether the label is a class, scored apart from the other columns
    # of the cells most likely wrong, by row and column: the slip that would explain the entry
    notes: dict[tuple[int, int], str] = field(default_factory=dict)
    # the entries that findings and slips suggest, None for an empty cell, and how likely each is
    # right; they come before what is expected
    suggested: dict[tuple[int, int], tuple[str | None, float]] = field(default_factory=dict)
    info: dict[str, Any] = field(default_factory=dict)  # rows of a tree, share of errors, seconds
    # longer columns that show how entries are written: the trusted table's rows before new ones
    written_like: tuple[Column, ...] | None = None

    @property
    def names(self) -> list[str]:
        """Names of the columns, the label's last where there is one."""
        return [column.name for column in self.columns]

    @property
    def standing_out(self) -> NDArray[np.bool_]:
        """The entries that are so likely wrong that few clean tables have any."""
        return np.asarray(self.probability >= SETTINGS["stands out"])

    @cached_property
    def entries(self) -> list[list[str | None]]:
        """The entries of the table as text, one list per column."""
        return [column.written() for column in self.columns]

    @cached_property
    def wordings(self) -> list[EntryWriter]:
        return [EntryWriter.of(column) for column in self.written_like or self.columns]

    def expected_text(self, i: int, j: int) -> str | None:
        """The suggested entry as the column would write it; None where it should be empty."""
        return self.expected_texts(j, np.array([i]))[0]

    def expected_texts(self, j: int, rows: NDArray[np.intp] | None = None) -> list[str | None]:
        """The suggested entries of a column, in all rows or in some."""
        rows = np.arange(self.columns[j].entries.size) if rows is None else rows
        writer, expected = self.wordings[j], self.expected[j].entries[rows]
        texts = writer.texts(expected)
        if writer.is_plain:  # the same number with another number of decimals is no suggestion
            same = writer.rounded(expected) == self.columns[j].entries[rows]
            for place in np.flatnonzero(same).tolist():
                texts[place] = self.entries[j][rows[place]]
        for place, i in enumerate(rows.tolist()):
            if (i, j) in self.suggested:
                texts[place] = self.suggested[i, j][0]
            elif self.is_mark(i, j):
                entry = self.entries[j][i] or ""
                texts[place] = entry if is_bound(entry) else None
        return texts

    def is_mark(self, i: int, j: int) -> bool:
        """Whether an entry is written but counts as missing, as ``N/A`` and ``<5`` do."""
        read, entries = self.columns[j].from_text, self.columns[j].entries
        marked = bool(read.marks) and np.isnan(entries[i]) and i not in read.strays
        return marked and self.entries[j][i] is not None

    def suggestion_probability(self, i: int, j: int) -> float:
        """How likely the suggested entry is right, if the entry in the table is wrong."""
        if (i, j) in self.suggested:
            return self.suggested[i, j][1]
        if self.is_mark(i, j):
            return UNSURE if self.expected_text(i, j) is None else 0.0
        entry = float(self.columns[j].entries[i])
        return self.expected[j].sure(i, entry)

    @cached_property
    def as_expected(self) -> NDArray[np.bool_]:
        """Which entries are what is expected, so that there is nothing to suggest."""
        all_columns = zip(self.wordings, self.expected, self.columns, strict=True)
        same = np.column_stack(
            [
                (wording.rounded(one.entries) == column.entries)
                | (np.isnan(one.entries) & np.isnan(column.entries))
                for wording, one, column in all_columns
            ]
        )
        for j, column in enumerate(self.columns):
            same[[i for i in column.from_text.strays if np.isnan(column.entries[i])], j] = False
            for word, rows in column.from_text.marks.items():
                same[rows, j] = is_bound(word)
        for cell in self.suggested:
            same[cell] = False
        return np.asarray(same)

    def alternatives(self, i: int, j: int) -> list[tuple[str | None, float]]:
        """The likeliest categories or booleans with their chances; none for numbers."""
        expected = self.expected[j]
        if expected.alternatives is None or expected.chances is None:
            return []
        codes, chances = expected.alternatives[i].tolist(), expected.chances[i].tolist()
        return [
            (None if code == EMPTY else self.wordings[j].text(float(code)), float(chance))
            for code, chance in zip(codes, chances, strict=True)
            if code != NO_ALTERNATIVE and percent(chance) != percent(0.0)
        ]

    def likely_text(self, i: int, j: int) -> str:
        """The expected range of a number, or the likeliest alternatives of a category, as text."""
        expected = self.expected[j]
        if expected.low is not None and expected.high is not None:
            ends = (float(expected.low[i]), float(expected.high[i]))
            low, high = (self.wordings[j].text(end) for end in ends)
            return str(low) if low == high else f"{low} to {high}" if low and high else ""
        known = self.alternatives(i, j)
        return ", ".join(f"{_apart(text)} {percent(chance)}" for text, chance in known)

    def reasons(self, i: int, j: int) -> list[tuple[str, float]]:
        """Why a cell is suspect: phrases with their shares of its score, the largest first.

        The slip that would explain the entry comes before them, with share 0.
        """
        parts = {name: float(part[i, j]) for name, part in self.parts.items()}
        whole = sum(parts.values()) or 1.0
        shares = {name: part / whole for name, part in parts.items()}
        listed = sorted(shares.items(), key=lambda one: -one[1])
        known = self.notes.get((i, j))
        if known is None and self.is_mark(i, j):
            likely = self.likely_text(i, j)
            return [("counts as missing" + (f": expected {likely}" if likely else ""), 0.0)]
        if known == SAME_KEY:
            return [(known, 0.0)]
        return ([(known, 0.0)] if known else []) + [
            (self._phrase(reason, i, j), share) for reason, share in listed if share >= LEAST
        ]

    def _phrase(self, reason: str, i: int, j: int) -> str:
        if reason == "row":
            is_number = self.columns[j].kind in ("number", "date")
            start = "far off for its row" if is_number else "does not fit its row"
            likely = self.likely_text(i, j)
            return f"{start}: expected {likely}" if likely else start
        return _REASONS.get(reason, reason)


def _apart(text: str | None) -> str:
    """An entry before a number: ``2 95 %`` would be read as one."""
    if text is None:
        return "(empty)"
    return f"'{text}'" if text[-1:].isdigit() else text


def reasons_text(reasons: list[tuple[str, float]]) -> str:
    """The reasons in one line.

    >>> reasons_text([("far off for its row: expected 34 to 41", 0.62), ("rare", 0.3)])
    'far off for its row: expected 34 to 41 (62 %); rare (30 %)'
    """
    return "; ".join(f"{words} ({percent(share)})" if share else words for words, share in reasons)


def percent(share: float) -> str:
    """A share as text.

    >>> percent(0.62)
    '62 %'
    """
    return f"{100 * share:.0f} %"
