"""The data of the page: the suspects, the rows around them, findings about columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.page_data import brief, pack
from shapley2d._inspection.columns.view import SHOWN
from shapley2d._inspection.ranking import rank_cells
from shapley2d._inspection.suggestions import all_at_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.decisions import Decision
    from shapley2d._inspection.inspected import InspectedCells

_DECIDED = ("row", "name", "column", "entry", "verdict", "new", "probability", "why")


def cells_to_list(inspection: InspectedCells, n: int) -> list[tuple[int, int]]:
    """Row and column of the cells to list: entries, then labels, at most a tenth of the list."""
    labels = _of_part(inspection, n // 10, "labels") if inspection._cells.has_label else []
    return _of_part(inspection, n - len(labels), "entries") + labels


def _of_part(inspection: InspectedCells, n: int, part: str) -> list[tuple[int, int]]:
    """The likeliest wrong."""
    cells = inspection._cells

    def tells(i: int, j: int) -> bool:
        """Whether there is something else to suggest, or the entry is likely wrong all the same."""
        other = cells.expected_text(i, j) != cells.entries[j][i]
        return bool(other or cells.probability[i, j] >= 0.2)

    listed = [cell for cell in rank_cells(inspection, 2 * n, part=part) if tells(*cell)][:n]
    # entries that are hardly wrong only fill up a short list
    return listed[: max(100, sum(cells.probability[cell] >= 0.01 for cell in listed))]


def make_payload(
    inspection: InspectedCells,
    listed: Sequence[tuple[int, int]],
    target: str,
    remembered: Sequence[Decision],
) -> str:
    """The page's data, packed; ``remembered`` goes into the file of decisions again."""
    cells = inspection._cells
    record = {
        "table": inspection._fingerprint,
        "target": target,
        "columns": cells.names,
        "label": inspection.shape[1] if inspection._cells.has_label else None,
        "named": not np.array_equal(inspection.row_names, np.arange(inspection.shape[0])),
        "rowWord": inspection._row_word,
        "cells": [_cell(inspection, i, j) for i, j in listed],
        "rows": _rows(inspection, listed),
        "findings": _findings(inspection),
        "remembered": [[getattr(one, name) for name in _DECIDED] for one in remembered],
    }
    return pack(json.dumps(record, allow_nan=False, separators=(",", ":")).encode())


def _cell(inspection: InspectedCells, i: int, j: int) -> dict[str, Any]:
    cells = inspection._cells
    return {
        "i": i,
        "j": j,
        "entry": cells.entries[j][i],
        "expected": cells.expected_text(i, j),
        "likely": cells.likely_text(i, j),
        "alternatives": [[text, round(chance, 4)] for text, chance in cells.alternatives(i, j)],
        "p": round(float(cells.probability[i, j]), 5),
        "sure": round(cells.suggestion_probability(i, j), 4),
        "why": [[words, round(share, 3)] for words, share in cells.reasons(i, j)],
    }


def _rows(inspection: InspectedCells, listed: Sequence[tuple[int, int]]) -> dict[int, Any]:
    """Names and entries of the rows around the suspects; of wide rows 15 columns on either side."""
    cells, near = inspection._cells, dict[int, set[int]]()
    p = len(cells.names)
    for i, j in listed:
        wanted = range(p) if p <= 60 else range(max(j - 15, 0), min(j + 16, p))
        near.setdefault(i, {p - 1} if cells.has_label else set()).update(wanted)
    return {
        i: [
            brief(str(inspection._shown_rows[i]), 3 * SHOWN),
            [[j, brief(cells.entries[j][i], 3 * SHOWN)] for j in sorted(columns)],
        ]
        for i, columns in near.items()
    }


def _findings(inspection: InspectedCells) -> list[dict[str, Any]]:
    """The findings about columns, with up to 20,000 changes that can be accepted on the page.

    Only changes that mend more than they break can be accepted all at once, and each writes what
    the list shows for its cell.
    """
    cells, left = inspection._cells, 20_000
    found: list[dict[str, Any]] = []
    for finding in inspection.findings:
        j = cells.names.index(finding.columns[0])
        changes = [
            [i, j, str(inspection.row_names[i]), cells.entries[j][i], text, round(wrong, 5)]
            for i, text, wrong in all_at_once(cells, finding)
        ][:left]
        left -= len(changes)
        if not changes and any(finding.text == one["text"] for one in found):
            continue  # words for missing are told of all columns at once
        is_fact = not finding.rows.size or not finding.probability
        wrong = 0.0 if is_fact else float(cells.probability[finding.rows, j].mean())
        found.append(
            {
                "kind": finding.kind,
                "text": finding.text,
                "p": round(wrong, 5),
                "changes": changes,
                "examples": _examples(inspection, finding, j),
            }
        )
    return found


def _examples(inspection: InspectedCells, finding: ColumnFinding, j: int) -> list[list[str | None]]:
    """Name, entry and suggestion, if any, of a finding's ten likeliest wrong rows.

    Each entry once; none of a fact about a column, whose rows are not wrong.
    """
    if not finding.probability:
        return []
    order = np.argsort(-finding.row_chances, kind="stable")
    shown: dict[tuple[str | None, str | None], list[str | None]] = {}
    for i in finding.rows[order].tolist():
        entry, new = inspection._cells.entries[j][i], finding.suggestions.get(i)
        told = entry is not None if new is None else (new or None) != entry
        if told and len(shown) < 10:
            meant = [] if new is None else [new or None]
            shown.setdefault((entry, new), [str(inspection._shown_rows[i]), entry, *meant])
    return list(shown.values())
