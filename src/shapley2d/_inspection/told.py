"""An inspection as a short record, for programs and assistants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.told import brief_number, brief_record, brief_text
from shapley2d._inspection.cells import reasons_text
from shapley2d._inspection.ranking import rank_cells
from shapley2d._version import __version__

if TYPE_CHECKING:
    from shapley2d._inspection.inspected import InspectedCells


def told(inspection: InspectedCells, errors: float, interval: tuple[int, int]) -> dict[str, Any]:
    """The record, below 4,000 tokens for a table of any size, with the expected errors."""
    known = {"expected_errors": brief_number(errors), "expected_errors_interval": list(interval)}
    return brief_record(lambda n: _record(inspection, known, n))


def _record(inspection: InspectedCells, known: dict[str, Any], n: int) -> dict[str, Any]:
    return {
        "schema": "shapley2d.inspection/1",
        "version": __version__,
        "rows": inspection.shape[0],
        "columns": inspection.shape[1],
        "label": brief_text(inspection.label_name or ""),
        "stand_out": int(inspection._cells.standing_out.sum()),
        **known,
        "n_findings": len(inspection.findings),
        "findings": [
            {
                "columns": ", ".join(brief_text(name, 40) for name in finding.columns[:3]),
                "kind": finding.kind,
                "text": brief_text(finding.text, 200),
                "rows": len(finding.rows),
                "suggestions": len(finding.suggestions),
            }
            for finding in inspection.findings[:n]
        ],
        "entries": [_cell(inspection, i, j) for i, j in rank_cells(inspection, n, part="entries")],
        "labels": [_cell(inspection, i, j) for i, j in rank_cells(inspection, n, part="labels")],
    }


def _cell(inspection: InspectedCells, i: int, j: int) -> dict[str, Any]:
    cells = inspection._cells
    entry, expected = cells.entries[j][i], cells.expected_text(i, j)
    return {
        inspection._row_word: brief_text(inspection._shown_rows[i]),
        "column": brief_text(cells.names[j]),
        "entry": None if entry is None else brief_text(entry),
        # the same: wrong perhaps, and nothing tells the right one
        "expected": None if expected in (entry, None) else brief_text(expected),
        "probability": brief_number(round(float(cells.probability[i, j]), 3)),
        "why": brief_text(reasons_text(cells.reasons(i, j)), 120),
    }
