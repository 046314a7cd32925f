"""Everything that the page's script reads: the suspects, the rows around them, findings about columns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._results.report.encode import pack, shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.findings import ColumnFinding
    from shapley2d._results.decisions import Decision
    from shapley2d._results.inspected import Inspected

LEAST_PROBABILITY = 0.01
"""Entries less likely wrong are listed only where there are hardly any others."""

_FEWEST = 100
_SURE = 0.2  # listed even where what stands there is what was expected
_MOST_AROUND = 60  # columns of a row that are shown whole
_NEAR = 15  # columns to either side of a suspect, in wider tables
_MOST_SUGGESTIONS = 20_000  # entries that findings about columns can change at one stroke
_LONGEST = 120


def suspects(inspection: Inspected, most: int) -> NDArray[np.intp]:
    """Positions of the cells to list, flat: the likeliest wrong and, where harm is known, the most harmful of them."""
    order = _telling(inspection, inspection.order("wrong", 2 * most))[:most]
    likely = inspection.findings.probability.ravel()[order] >= LEAST_PROBABILITY
    order = order[: max(_FEWEST, int(likely.sum()))]
    if inspection.values is None:
        return order
    both = _telling(inspection, inspection.order("gain", min(most, max(_FEWEST, order.size)) // 4))
    return np.concatenate([order, both[~np.isin(both, order)]])[:most]


def _telling(inspection: Inspected, flat: NDArray[np.intp]) -> NDArray[np.intp]:
    """Those with something else to suggest, and those so likely wrong that a person should look all the same."""
    p = inspection.findings.scores.shape[1]
    kept = [
        k
        for k in flat.tolist()
        if inspection.findings.probability.flat[k] >= _SURE
        or inspection.expected_text(*divmod(k, p)) != inspection.entries[k % p][k // p]
    ]
    return np.array(kept, dtype=np.intp)


def make_payload(
    inspection: Inspected, flat: NDArray[np.intp], target: str, remembered: Sequence[Decision]
) -> str:
    """The page's data, packed.

    Parameters
    ----------
    inspection : Inspected
    flat : ndarray of int
        Positions of the cells to list.
    target : str
        The column to predict, for the file of decisions.
    remembered : sequence of Decision
        Entries that were called right before: they go into the file of decisions again.
    """
    p = inspection.findings.scores.shape[1]
    cells = [divmod(k, p) for k in flat.tolist()]
    both = inspection.both() if inspection.values is not None else None
    record = {
        "table": inspection.fingerprint,
        "target": target,
        "columns": inspection.all_names,
        "kinds": [column.kind for column in inspection.findings.columns],
        "label": p - 1 if inspection.has_label else None,
        "named": not np.array_equal(inspection.row_names, np.arange(inspection.shape[0])),
        "cells": [_cell(inspection, i, j, both) for i, j in cells],
        "rows": _rows(inspection, cells),
        "findings": _findings(inspection),
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
    inspection: Inspected, i: int, j: int, both: NDArray[np.float64] | None
) -> dict[str, Any]:
    value = None if inspection.values is None else float(inspection.values[i, j])
    cell = {
        "i": i,
        "j": j,
        "entry": inspection.entries[j][i],
        "expected": inspection.expected_text(i, j),
        "likely": inspection.likely_text(i, j),
        "alternatives": [
            [text, round(chance, 4)] for text, chance in inspection.alternatives(i, j)
        ],
        "p": round(float(inspection.findings.probability[i, j]), 5),
        "value": None if value is None or np.isnan(value) else value,
        "why": [[words, round(share, 3)] for words, share in inspection.reasons(i, j)],
    }
    if both is not None:
        cell["both"] = round(float(both[i, j]), 5)
    return cell


def _rows(inspection: Inspected, cells: list[tuple[int, int]]) -> dict[int, Any]:
    """Names and entries of the rows around the suspects; of wide rows what is near them."""
    p = len(inspection.all_names)
    near: dict[int, set[int]] = {}
    for i, j in cells:
        if p <= _MOST_AROUND:
            near[i] = set(range(p))
        else:
            wanted = {k for k in range(j - _NEAR, j + _NEAR + 1) if 0 <= k < p}
            near.setdefault(i, set()).update(wanted, {p - 1} if inspection.has_label else set())
    return {
        i: [
            shorten(str(inspection.row_names[i]), _LONGEST),
            [[j, shorten(inspection.entries[j][i], _LONGEST)] for j in sorted(columns)],
        ]
        for i, columns in near.items()
    }


def _findings(inspection: Inspected) -> list[dict[str, Any]]:
    left = _MOST_SUGGESTIONS
    found = []
    for finding in inspection.columns_first:
        changes = _changes(inspection, finding)[:left]
        left -= len(changes)
        found.append(
            {
                "columns": list(finding.columns),
                "kind": finding.kind,
                "text": finding.text,
                "count": int(np.asarray(finding.rows).size),
                "p": round(float(finding.probability), 5),
                "changes": changes,
            }
        )
    return found


def _changes(inspection: Inspected, finding: ColumnFinding) -> list[list[Any]]:
    """Position, name and entry of the rows that a finding would change, and what to."""
    if not finding.suggestions:
        return []
    j = inspection.all_names.index(finding.columns[0])
    return [
        [i, j, str(inspection.row_names[i]), inspection.entries[j][i], text or None]
        for i, text in finding.suggestions.items()
        if (text or None) != inspection.entries[j][i]
    ]
