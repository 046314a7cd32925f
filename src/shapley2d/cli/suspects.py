"""An inspection on the terminal and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from shapley2d._base.words import counted
from shapley2d._inspection.cells import reasons_text
from shapley2d._inspection.ranking import rank_cells
from shapley2d._version import __version__
from shapley2d.cli.console import place_columns, shown, titled

if TYPE_CHECKING:
    from pathlib import Path

    from shapley2d import Inspection
    from shapley2d._tables.reading.files import Source
    from shapley2d.cli.inspected import InspectedFile

_FINDINGS = 12


def suspect_cells(
    inspection: Inspection, source: Source, top: int, part: str = "entries"
) -> list[dict[str, Any]]:
    """The first suspects of a part, with what a person needs to find and judge them."""
    cells, found = inspection._cells, []
    for i, j in rank_cells(inspection, top, part):
        name = inspection.row_names[i]
        found.append(
            {
                "row": name.item() if hasattr(name, "item") else name,
                "line": source.line(i),
                "column": cells.names[j],
                "entry": cells.entries[j][i],
                "expected": cells.expected_text(i, j),
                "likely": cells.likely_text(i, j),
                "probability": float(cells.probability[i, j]),
                "why": reasons_text(cells.reasons(i, j)),
            }
        )
    return found


def inspection_json(
    inspection: Inspection,
    given: InspectedFile,
    cells: list[dict[str, Any]],
    labels: list[dict[str, Any]],
    files: dict[str, Path],
) -> dict[str, Any]:
    """An inspection as JSON, for other programs."""
    n, m = inspection.shape
    return {
        "version": __version__,
        "file": given.source.path,
        "target": given.target,
        "rows": n,
        "columns": m,
        "fingerprint": inspection._fingerprint,
        "stand_out": int(inspection._cells.standing_out.sum()),
        "expected_errors": inspection.expected_errors,
        "expected_errors_interval": list(inspection.expected_errors_interval),
        "settled": len(inspection._settled),
        "findings": [
            {
                "columns": list(finding.columns),
                "kind": finding.kind,
                "text": finding.text,
                "rows": len(finding.rows),
                "suggestions": len(finding.suggestions),
                "probability": float(finding.probability),
            }
            for finding in inspection.findings
        ],
        "suspects": cells,
        "suspect_labels": labels,
        "settings": inspection.info,
        "files": files,
    }


def inspection_parts(
    inspection: Inspection,
    given: InspectedFile,
    cells: list[dict[str, Any]],
    labels: list[dict[str, Any]],
) -> list[Any]:
    """What is printed: findings about columns, the entries to check first, then the labels."""
    n, m = inspection.shape
    label = "" if given.target is None else f" and the label {given.target!r}"
    known = inspection.info.get("reference")
    judged = f", judged by {counted(known['rows'], 'trusted row')}" if known else ""
    settled = f"; {len(inspection._settled)} decided before" if inspection._settled else ""
    table = f"{given.source.path}: {counted(n, 'row')} x {counted(m, 'column')}"
    parts: list[Any] = [f"{table}{label}{judged}; {inspection._cells.summary}{settled}\n"]
    # one that concerns two columns is found in each
    findings = list(dict.fromkeys(finding.text for finding in inspection.findings))
    if findings:
        parts += [Text("Columns", style="italic"), *(f"- {one}" for one in findings[:_FINDINGS])]
        if left := len(findings[_FINDINGS:]):
            parts.append(f"- and {left} more, in the page and with --json")
        parts.append("")
    if cells:
        parts += _suspect_table("Entries to check", cells, inspection)
    if labels:
        parts += ["", *_suspect_table("Labels to check", labels, inspection)]
    elif cells and given.target is not None:
        parts.append("\nLabels to check: none, each is less than 1 % likely wrong")
    return parts


def _suspect_table(title: str, cells: list[dict[str, Any]], inspection: Inspection) -> list[Any]:
    """The list of suspects; rows without names go by their lines alone."""
    named = inspection.lines is None
    columns = place_columns(cells, {"column": 24, "entry": 28, "expected": 28}, named=named)
    for k, text in enumerate(columns["expected"]):
        if cells[k]["expected"] == cells[k]["entry"]:  # wrong perhaps, and nothing tells the right
            columns["expected"][k] = "not known"
        else:
            text.stylize("green")
    columns["wrong"] = [f"{100 * cell['probability']:.0f} %" for cell in cells]
    columns["why"] = [shown(cell["why"], 1000) for cell in cells]
    return titled(title, columns, "why", *(("line",) if named else ()))
