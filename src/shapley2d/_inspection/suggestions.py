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

from shapley2d._inspection.columns.finding import SURE
from shapley2d._tables.entry_writer import EntryWriter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.cells import ScoredCells
    from shapley2d._inspection.columns.finding import ColumnFinding

ACCEPTED = 0.8
"""Suggestions at least this likely right are accepted many at a time; others one by one."""

# How often the new entries of findings are right where the old ones are wrong: on hospital,
# flights, beers and on errors planted into clean tables.
_RIGHT = {
    "notation": SURE, "spellings": 0.95, "spilled": 0.95, "units": 0.95, "suffix": 0.9,
    "signs": 0.9, "formats": 0.65, "codes": 0.9, "words for missing": 0.85,
    "date orders": 0.9, "infinite": 0.9,
}  # fmt: skip


def with_suggestions(cells: ScoredCells, findings: Sequence[ColumnFinding]) -> ScoredCells:
    """The cells with the entries that findings suggest, each with how likely it is right."""
    best: dict[tuple[int, int], tuple[tuple[bool, float, float], str | None]] = {}
    for finding in findings:
        new = finding.suggestions or _rewritten(cells, finding)
        if not new:
            continue
        j = cells.names.index(finding.columns[0])
        rows = finding.rows.tolist()
        wrong = dict(zip(rows, finding.row_chances.tolist(), strict=True))
        right = dict(zip(rows, suggestion_chances(finding).tolist(), strict=True))
        for i, text in new.items():
            if (text or None) == cells.entries[j][i]:
                continue
            sure = right[i] if finding.suggestions else SURE
            # an entry that is likelier right than not comes before an empty cell
            found = (bool(text) and sure >= 0.5, wrong[i], sure)
            if (i, j) not in best or found > best[i, j][0]:
                best[i, j] = found, text or None
    return replace(
        cells, suggested={cell: (text, found[2]) for cell, (found, text) in best.items()}
    )


def _rewritten(cells: ScoredCells, finding: ColumnFinding) -> dict[int, str]:
    """Dates and numbers in another format than their column's, in the column's format."""
    j = cells.names.index(finding.columns[0])
    column = cells.columns[j]
    if finding.kind != "formats" or column.kind not in ("number", "date"):
        return {}
    others = np.setdiff1d(np.arange(column.entries.size), finding.rows)
    writer = EntryWriter.of(column.take(others))
    entries = {i: float(column.entries[i]) for i in finding.rows.tolist()}
    texts = {i: writer.text(one, exact=True) for i, one in entries.items()}
    return {i: text for i, text in texts.items() if text is not None}


def suggestion_chances(finding: ColumnFinding) -> NDArray[np.float64]:
    """How likely suggested entries are right, where those in the table are wrong."""
    if finding.right is None:
        return np.full(finding.rows.size, _RIGHT.get(finding.kind, 0.5))
    return finding.right


def all_at_once(cells: ScoredCells, finding: ColumnFinding) -> list[tuple[int, str | None, float]]:
    """Row, new entry and chance of what a finding may change in one go.

    Entries that are likelier wrong than not, by all that is known of them, and whose suggestion is
    likely right and the one that the cell itself shows.
    """
    j = cells.names.index(finding.columns[0])
    return [
        (i, text, float(cells.probability[i, j]))
        for i, right in zip(finding.rows.tolist(), suggestion_chances(finding), strict=True)
        if cells.probability[i, j] >= 0.5
        and i in finding.suggestions
        and right >= ACCEPTED
        and (text := finding.suggestions[i] or None) != cells.entries[j][i]
        and text == cells.expected_text(i, j)
    ]
