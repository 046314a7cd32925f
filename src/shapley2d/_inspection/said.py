"""What an inspection says, once for print, page, JSON and frames: headline, findings, entries."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.told import brief_number, brief_record, brief_text
from shapley2d._base.words import counted, plural, shorten
from shapley2d._inspection.cells import percent, reasons_text
from shapley2d._inspection.ranking import rank_cells
from shapley2d._inspection.repeated_rows import ROWS
from shapley2d._tables.frames import objects
from shapley2d._version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.inspected import InspectedCells

_FACTS = ("key", "constant", "empty")
"""Findings that are no problems: how a column is made."""

_FEWEST = 10
"""Rows from where on what a finding names is no matter of single entries."""

_SCREEN = 79
"""Letters of a line in which the list of suspects is printed."""

_BRIEF = re.compile(r": expected | \(\d+ %\)|; ")
"""What follows the first reason of a cell."""

_LONG = {"columns": 200, "headline": 200, "text": 200, "why": 120}
"""Bytes of a text in a short record; all others have 60."""


def stands_out(finding: ColumnFinding, n_rows: int) -> bool:
    """Whether a finding calls for somebody, whatever single entries look like.

    It is about rows that stand there twice, about a whole column, or about many entries of one that
    are most of the table's, or likelier wrong than right.
    """
    number = finding.rows.size
    if not number:
        return finding.kind not in _FACTS
    many = 2 * number > n_rows or finding.probability > 0.5
    return (number >= _FEWEST and many) or finding.kind in ROWS


def findings_out(inspection: InspectedCells) -> list[str]:
    """The findings that stand out, once each: what concerns two columns is found in both."""
    n = inspection.shape[0]
    return list(dict.fromkeys(one.text for one in inspection.findings if stands_out(one, n)))


def headline(inspection: InspectedCells) -> str:
    """How many entries, labels and findings stand out, and how many entries are wrong."""
    cells, m = inspection._cells, inspection.shape[1]
    parts = [_outstanding(inspection, slice(0, m), "entry", "entries")]
    if cells.has_label:
        parts.append(_outstanding(inspection, slice(m, None), "label", "labels"))
    said = "; ".join(part for part in parts if part)
    out = findings_out(inspection)
    if not out:
        return said or "nothing stands out"
    found = f"{counted(len(out), 'finding')} {plural(len(out), 'stands', 'stand')} out"
    return f"{said}; {found}" if said else f"{found}, but no entry does"


def _outstanding(inspection: InspectedCells, columns: slice, one: str, many: str) -> str:
    cells = inspection._cells
    probability = cells.probability[:, columns][cells.standing_out[:, columns]]
    number, wrong = probability.size, max(1, round(float(probability.sum())))
    if number < 2:
        sure = "".join(percent(float(said)) for said in probability)
        return f"1 {one} stands out, {sure} likely wrong" if number else ""
    which = f"about {wrong:,} of them are wrong" if wrong < number else "all are probably wrong"
    return f"{number:,} {many} stand out, {which}"


def cell_columns(
    inspection: InspectedCells, places: Sequence[tuple[int, int]], *, words: bool = True
) -> dict[str, Any]:
    """What is said of some cells, as the columns of a frame; ``words`` take time for many cells."""
    cells = inspection._cells
    i, j = np.array(places, dtype=np.intp).reshape(-1, 2).T
    entry = objects([cells.entries[b][a] for a, b in places])
    expected = np.empty(i.size, dtype=object)
    for column in np.unique(j).tolist():  # much faster than one by one
        here = np.flatnonzero(j == column)
        expected[here] = objects(cells.expected_texts(column, i[here]))
    columns = {
        **inspection._row_columns(i),
        "column": np.array(cells.names, dtype=object)[j],
        "entry": entry,
        "expected": expected,
        "probability": cells.probability[i, j],
    }
    if words:
        columns["sure"] = np.array(
            [
                cells.suggestion_probability(a, b) if expected[k] != entry[k] else 0.0
                for k, (a, b) in enumerate(places)
            ],
            dtype=np.float64,
        )
        columns["why"] = objects([reasons_text(cells.reasons(a, b)) for a, b in places])
        columns["likely"] = objects([cells.likely_text(a, b) for a, b in places])
    return {**columns, "score": cells.scores[i, j]}


def narrow(columns: dict[str, Any]) -> dict[str, Any]:
    """The columns of cells that fit a narrow screen, with the first reason of each in brief."""
    shown = {name: part for name, part in columns.items() if name not in ("likely", "score")}
    shown["sure"] = np.round(shown["sure"], 2)
    others = {name: part for name, part in shown.items() if name not in ("probability", "why")}
    widths = [max(map(len, [name, *map(str, part)])) for name, part in others.items()]
    room = _SCREEN - len(str(len(shown["why"]))) - len("probability") - sum(widths) - 2 * len(shown)
    first = [_BRIEF.split(text, maxsplit=1)[0] for text in shown["why"].tolist()]
    return shown | {"why": objects([shorten(text, max(room, 16)) for text in first])}


def cell_records(inspection: InspectedCells, n: int | None, part: str) -> list[dict[str, Any]]:
    """The first suspects of a part of the table, as plain values."""
    return records(cell_columns(inspection, rank_cells(inspection, n, part)))


def records(columns: dict[str, Any]) -> list[dict[str, Any]]:
    """The lines of a frame as plain values."""
    lists = (one.tolist() if isinstance(one, np.ndarray) else one for one in columns.values())
    return [dict(zip(columns, line, strict=True)) for line in zip(*lists, strict=True)]


def record(inspection: InspectedCells, n: int | None = None) -> dict[str, Any]:
    """An inspection as plain values, without single cells; of its findings the first ``n``."""
    return {
        "version": __version__,
        "headline": headline(inspection),
        "rows": inspection.shape[0],
        "columns": inspection.shape[1],
        "stand_out": int(inspection._cells.standing_out.sum()),
        "expected_errors": inspection.expected_errors,
        "expected_errors_interval": list(inspection.expected_errors_interval),
        "findings": [
            {
                "columns": list(finding.columns),
                "kind": finding.kind,
                "text": finding.text,
                "rows": len(finding.rows),
                "suggestions": len(finding.suggestions),
                "probability": float(finding.probability),
                "stands_out": stands_out(finding, inspection.shape[0]),
            }
            for finding in inspection.findings[:n]
        ],
    }


def short_record(inspection: InspectedCells) -> dict[str, Any]:
    """The record with the first suspects, below 4,000 tokens for a table of any size."""

    def lines(n: int, part: str) -> list[dict[str, Any]]:
        """A suggestion that is the entry itself is none: wrong perhaps, and nothing tells how."""
        known = ("column", "entry", "expected", "probability", "sure", "why")
        return [
            {inspection._row_word: str(one[inspection._row_word])}
            | {key: one[key] for key in known}
            | ({"expected": None} if one["expected"] == one["entry"] else {})
            for one in cell_records(inspection, n, part)
        ]

    def make(n: int) -> dict[str, Any]:
        whole = {
            "schema": "shapley2d.inspection/1",
            **record(inspection, n),
            "label": inspection.label_name or "",
            "n_findings": len(inspection.findings),
            "entries": lines(n, "entries"),
            "labels": lines(n, "labels"),
        }
        for finding in whole["findings"]:
            finding["columns"] = ", ".join(brief_text(one, 40) for one in finding["columns"][:3])
        found: dict[str, Any] = _brief(whole)
        return found

    return brief_record(make)


def _brief(value: Any, most: int = 60) -> Any:
    if isinstance(value, dict):
        return {key: _brief(part, _LONG.get(key, most)) for key, part in value.items()}
    if isinstance(value, list):
        return [_brief(part) for part in value]
    if isinstance(value, float):
        return brief_number(round(value, 3))
    return brief_text(value, most) if isinstance(value, str) else value
