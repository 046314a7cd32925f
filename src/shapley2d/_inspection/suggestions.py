"""Suggested entries, and how likely each is right.

That an entry is wrong and that a suggestion is right are two questions: an impossible age is surely
wrong, and nobody knows the right one. A finding about a column that names the new entry comes
before a prediction from the row: it uses what the entry itself, or the same thing in other rows,
says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.columns.finding import SURE, SURE_RIGHT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Floats
    from shapley2d._inspection.cells import ScoredCells
    from shapley2d._inspection.columns.finding import ColumnFinding

# How often the new entries of findings are right where the old ones are wrong: on hospital,
# flights, beers, and on errors planted into clean tables (benchmarks/findings.py, suggestions.py).
_RIGHT = {
    "notation": SURE, "spellings": 0.95, "spilled": 0.95, "units": 0.95, "suffix": SURE,
    "encoding": SURE,
    "signs": 0.9, "codes": 0.9, "words for missing": 0.85,
    "date orders": 0.9, "infinite": 0.9,
}  # fmt: skip


_WHY = {
    "encoding": "broken letters",
    "notation": "another notation",
    "suffix": "another unit, or none",
    "formats": "another format",
}
"""The reasons of entries that are suspect for how they are written."""


def with_suggestions(cells: ScoredCells, findings: Sequence[ColumnFinding]) -> ScoredCells:
    """The cells with the entries that findings suggest, each with how likely it is right.

    Of several suggestions for an entry the likeliest right is taken, slips included; one that is
    likelier right than not comes before an empty cell.
    """
    best = {
        (i, j): _offer(text, float(cells.probability[i, j]), sure)
        for (i, j), (text, sure) in cells.suggested.items()
    }
    notes = dict(cells.notes)
    # a rule of arithmetic has weighed the slips already
    for finding in sorted(findings, key=lambda one: one.kind != "arithmetic"):
        j = cells.names.index(finding.columns[0])
        rows = finding.rows.tolist()
        wrong = dict(zip(rows, finding.row_chances.tolist(), strict=True))
        right = dict(zip(rows, suggestion_chances(finding).tolist(), strict=True))
        for i, text in finding.suggestions.items():
            if (text or None) == cells.entries[j][i]:
                continue
            offer = _offer(text, wrong[i], right[i])
            if not offer[0] and cells.is_mark(i, j):  # is emptied unasked
                continue
            known = best.get((i, j))
            if known and known >= offer and finding.kind != "arithmetic":
                if known[-1] == text and finding.kind in _WHY:
                    notes.setdefault((i, j), _WHY[finding.kind])
                continue
            if text not in notes.get((i, j), text):
                notes.pop((i, j))  # a slip that leads elsewhere
            if finding.kind == "arithmetic":
                notes[i, j] = finding.text.partition(", except")[0]
            elif finding.kind in _WHY:
                notes[i, j] = _WHY[finding.kind]
            best[i, j] = offer
    return replace(
        cells,
        notes=notes,
        suggested={cell: (text or None, sure) for cell, (*_, sure, text) in best.items()},
    )


def _offer(text: str | None, wrong: float, sure: float) -> tuple[bool, float, float, str]:
    """A suggested entry, last, and how likely it is right; of two offers the larger is taken."""
    return bool(text) and sure >= 0.5, wrong * sure, sure, text or ""


def suggestion_chances(finding: ColumnFinding) -> Floats:
    """How likely suggested entries are right, where those in the table are wrong."""
    if finding.right is None:
        return np.full(finding.rows.size, _RIGHT.get(finding.kind, 0.5))
    return finding.right


def all_at_once(cells: ScoredCells, finding: ColumnFinding) -> list[tuple[int, str | None, float]]:
    """Row, new entry and chance of what a finding may change in one go.

    Entries that are likelier wrong than not, by all that is known of them, or that only another
    format says; and whose suggestion is sure and the one that the cell itself shows.
    """
    j = cells.names.index(finding.columns[0])
    is_same = finding.kind == "formats" and cells.columns[j].kind == "date"
    return [
        (i, text, float(cells.probability[i, j]))
        for i, right in zip(finding.rows.tolist(), suggestion_chances(finding), strict=True)
        if (is_same or cells.probability[i, j] >= 0.5)
        and i in finding.suggestions
        and right >= SURE_RIGHT
        and (text := finding.suggestions[i] or None) != cells.entries[j][i]
        and text == cells.expected_text(i, j)
    ]
