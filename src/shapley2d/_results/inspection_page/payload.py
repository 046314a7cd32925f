"""The data of the page: the suspects, the rows around them, findings about columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._inspection.suggestions import all_at_once
from shapley2d._results.ranking import gain_scores, rank_cells
from shapley2d._results.report.encode import pack, shorten
from shapley2d._results.units import points_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._results.decisions import Decision
    from shapley2d._results.inspection import Inspection

_LEAST_PROBABILITY = 0.01  # entries less likely wrong only fill up a short list
_FEWEST = 100  # entries that a list has at least
_SURE = 0.2  # listed even where the expected entry is the one in the table
_MOST_AROUND = 60  # columns up to which rows are shown whole
_NEAR = 15  # columns shown to either side of a suspect, in wider tables
_MOST_SUGGESTIONS = 20_000  # entries that all findings together can change on the page
_LONGEST = 120
_EXAMPLES = 10  # of what a finding would change


def cells_to_list(inspection: Inspection, n: int) -> list[tuple[int, int]]:
    """Row and column of the cells to list: the likeliest wrong, and the most harmful of them."""
    listed = [cell for cell in rank_cells(inspection, 2 * n) if _is_telling(inspection, *cell)][:n]
    probability = inspection.cells.probability
    n_likely = sum(probability[cell] >= _LEAST_PROBABILITY for cell in listed)
    listed = listed[: max(_FEWEST, n_likely)]
    if inspection.values is None:
        return listed
    more = rank_cells(inspection, min(n, max(_FEWEST, len(listed))) // 4, "gain")
    known = set(listed)
    new = [cell for cell in more if cell not in known and _is_telling(inspection, *cell)]
    return (listed + new)[:n]


def _is_telling(inspection: Inspection, i: int, j: int) -> bool:
    """Whether there is something else to suggest, or the entry is likely wrong all the same."""
    cells = inspection.cells
    return bool(
        cells.probability[i, j] >= _SURE or cells.expected_text(i, j) != cells.entries[j][i]
    )


def make_payload(
    inspection: Inspection,
    listed: Sequence[tuple[int, int]],
    target: str,
    remembered: Sequence[Decision],
) -> str:
    """The page's data, packed.

    Parameters
    ----------
    inspection : Inspection
    listed : sequence of (int, int)
        Row and column of the cells to list.
    target : str
        The column to predict, for the file of decisions.
    remembered : sequence of Decision
        Entries that were called right before: they go into the file of decisions again.
    """
    cells = inspection.cells
    gain = gain_scores(inspection) if inspection.values is not None else None
    points = points_of(inspection.info)
    record = {
        "table": inspection.fingerprint,
        "target": target,
        "columns": cells.names,
        "label": inspection.shape[1] if inspection.has_label else None,
        "named": not np.array_equal(inspection.row_names, np.arange(inspection.shape[0])),
        "rowWord": inspection.row_word,
        "cells": [_cell(inspection, i, j, gain) for i, j in listed],
        "rows": _rows(inspection, listed),
        "findings": _findings(inspection),
        "points": {"factor": points.factor, "words": points.words} if points.words else None,
        "remembered": [
            [
                one.row,
                one.name,
                one.column,
                one.entry,
                one.verdict,
                one.new,
                one.probability,
                one.why,
            ]
            for one in remembered
        ],
    }
    return pack(json.dumps(record, allow_nan=False, separators=(",", ":")).encode())


def _cell(
    inspection: Inspection, i: int, j: int, gain: NDArray[np.float64] | None
) -> dict[str, Any]:
    cells = inspection.cells
    value = np.nan if inspection.values is None else float(inspection.values[i, j])
    gains = inspection.score_gains
    changed = np.nan if gains is None else float(gains[i, j])
    return {
        "i": i,
        "j": j,
        "entry": cells.entries[j][i],
        "expected": cells.expected_text(i, j),
        "likely": cells.likely_text(i, j),
        "alternatives": [[text, round(chance, 4)] for text, chance in cells.alternatives(i, j)],
        "p": round(float(cells.probability[i, j]), 5),
        "right": round(cells.suggestion_probability(i, j), 4),
        "value": None if np.isnan(value) else value,
        "changed": None if np.isnan(changed) else changed,
        "gain": 0.0 if gain is None else round(float(gain[i, j]), 5),
        "why": [[words, round(share, 3)] for words, share in cells.reasons(i, j)],
    }


def _rows(inspection: Inspection, listed: Sequence[tuple[int, int]]) -> dict[int, Any]:
    """Names and entries of the rows around the suspects; of wide rows the columns near them."""
    p = len(inspection.cells.names)
    near: dict[int, set[int]] = {}
    for i, j in listed:
        if p <= _MOST_AROUND:
            near[i] = set(range(p))
        else:
            wanted = {k for k in range(j - _NEAR, j + _NEAR + 1) if 0 <= k < p}
            near.setdefault(i, set()).update(wanted, {p - 1} if inspection.has_label else set())
    entries = inspection.cells.entries
    return {
        i: [
            shorten(inspection.shown_row(i), _LONGEST),
            [[j, shorten(entries[j][i], _LONGEST)] for j in sorted(columns)],
        ]
        for i, columns in near.items()
    }


def _findings(inspection: Inspection) -> list[dict[str, Any]]:
    left = _MOST_SUGGESTIONS
    found = []
    for finding in inspection.findings:
        changes = _changes(inspection, finding)[:left]
        left -= len(changes)
        found.append(
            {
                "kind": finding.kind,
                "text": finding.text,
                "p": _mean_probability(inspection, finding),
                "changes": changes,
                "examples": _examples(inspection, finding),
            }
        )
    return found


def _mean_probability(inspection: Inspection, finding: ColumnFinding) -> float:
    """How likely the entries of a finding are wrong in the mean, as the list says of each."""
    if not finding.rows.size or not finding.probability:  # a fact about the column
        return 0.0
    j = inspection.cells.names.index(finding.columns[0])
    return round(float(inspection.cells.probability[finding.rows, j].mean()), 5)


def _changes(inspection: Inspection, finding: ColumnFinding) -> list[list[Any]]:
    """Position, name, entry and chance of the rows that a finding changes, and the new entry.

    Only changes that mend more than they break can be accepted all at once, and each writes what
    the list shows for its cell.
    """
    cells = inspection.cells
    j = cells.names.index(finding.columns[0])
    return [
        [i, j, str(inspection.row_names[i]), cells.entries[j][i], text, round(wrong, 5)]
        for i, text, wrong in all_at_once(cells, finding)
    ]


def _examples(inspection: Inspection, finding: ColumnFinding) -> list[list[str | None]]:
    """Name, entry and suggestion of the likeliest wrong rows of a finding, each entry once."""
    cells = inspection.cells
    j = cells.names.index(finding.columns[0])
    order = np.argsort(-finding.row_chances, kind="stable")
    shown: dict[tuple[str | None, str | None], list[str | None]] = {}
    for i in finding.rows[order].tolist():
        entry = cells.entries[j][i]
        new = finding.suggestions.get(i)
        if new is None or (new or None) == entry or len(shown) == _EXAMPLES:
            continue
        shown.setdefault((entry, new), [inspection.shown_row(i), entry, new or None])
    return list(shown.values())
