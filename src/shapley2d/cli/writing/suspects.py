"""An inspection on the terminal, as JSON and as a file of all cells."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from shapley2d._base.words import counted, printable
from shapley2d._inspection.cells import reasons_text
from shapley2d._results.ranking import rank_cells
from shapley2d._results.units import Unit, points_of
from shapley2d._version import __version__
from shapley2d.cli.console import ResultConsole, shown
from shapley2d.cli.writing.outputs import harmless, naming, write_csv

if TYPE_CHECKING:
    from pathlib import Path

    from shapley2d._results.inspection import Inspection
    from shapley2d.cli.reading.inspected import InspectedFile

_SHOWN_FINDINGS = 12


def suspect_cells(
    inspection: Inspection, given: InspectedFile, by: str, top: int
) -> list[dict[str, Any]]:
    """The first suspects, with what a person needs to find and judge them."""
    cells = inspection.cells
    found = []
    for i, j in rank_cells(inspection, top, by):
        value = math.nan if inspection.values is None else float(inspection.values[i, j])
        gains = inspection.score_gains
        gain = math.nan if gains is None else float(gains[i, j])
        name = inspection.row_names[i]
        found.append(
            {
                "row": name.item() if hasattr(name, "item") else name,
                "line": given.line(i),
                "column": cells.names[j],
                "entry": cells.entries[j][i],
                "expected": cells.expected_text(i, j),
                "likely": cells.likely_text(i, j),
                "probability": float(cells.probability[i, j]),
                "value": None if math.isnan(value) else value,
                **({} if gains is None else {"gain": None if math.isnan(gain) else gain}),
                "why": reasons_text(cells.reasons(i, j)),
            }
        )
    return found


def _finding_records(inspection: Inspection) -> list[dict[str, Any]]:
    return [
        {
            "columns": list(finding.columns),
            "kind": finding.kind,
            "text": finding.text,
            "rows": len(finding.rows),
            "suggestions": len(finding.suggestions),
            "probability": float(finding.probability),
        }
        for finding in inspection.findings
    ]


def inspection_json(
    inspection: Inspection,
    given: InspectedFile,
    cells: list[dict[str, Any]],
    files: dict[str, Path],
    **more: Any,
) -> dict[str, Any]:
    """An inspection as JSON, for other programs."""
    n, m = inspection.shape
    return {
        "version": __version__,
        "file": given.source.path,
        "target": given.target,
        "rows": n,
        "columns": m,
        "fingerprint": inspection.fingerprint,
        "stand_out": int(inspection.cells.standing_out.sum()),
        "expected_errors": inspection.expected_errors,
        "expected_errors_interval": list(inspection.expected_errors_interval),
        "settled": len(inspection.settled),
        "findings": _finding_records(inspection),
        "suspects": cells,
        **more,
        "settings": inspection.info,
        "files": {what: str(path) for what, path in files.items()},
    }


def print_inspection(
    inspection: Inspection,
    given: InspectedFile,
    cells: list[dict[str, Any]],
    console: ResultConsole,
) -> None:
    """Print the findings about columns, then the entries to check first."""
    n, m = inspection.shape
    label = "" if given.target is None else f" and the label {given.target!r}"
    settled = f"; {len(inspection.settled)} decided before" if inspection.settled else ""
    console.print(
        Text(
            f"{printable(given.source.path)}: {counted(n, 'row')} x {counted(m, 'column')}"
            f"{printable(label)}; "
            f"{inspection.cells.summary}{settled}\n"
        ),
        soft_wrap=True,
    )
    if inspection.findings:
        console.print(Text("Columns", style="italic"))
        for finding in inspection.findings[:_SHOWN_FINDINGS]:
            console.print(Text.assemble("- ", shown(finding.text, 240)), soft_wrap=True)
        left = len(inspection.findings) - _SHOWN_FINDINGS
        if left > 0:
            console.print(Text(f"- and {left} more, in the page and with --json"))
        console.print()
    if cells:
        console.print(
            _cell_table(cells, points_of(inspection.info), named=inspection.lines is None)
        )


def _cell_table(cells: list[dict[str, Any]], points: Unit, *, named: bool) -> Table:
    """The list of suspects; rows without names go by their lines alone."""
    unit = f", {points.words}" if points.words else ""
    table = Table(title="Entries to check", title_justify="left", box=None, pad_edge=False)
    lined = cells[0]["line"] is not None
    if named:
        table.add_column("row", justify="right")
    if lined:
        table.add_column("line", justify="right", style="dim" if named else "")
    table.add_column("column")
    table.add_column("entry")
    table.add_column("expected", style="green")
    table.add_column("wrong", justify="right")
    valued = any(cell["value"] is not None for cell in cells)
    if valued:
        table.add_column(f"value{unit}", justify="right")
    gained = "gain" in cells[0]
    if gained:
        table.add_column(f"gain if changed{unit}", justify="right")
    table.add_column("why", style="dim", ratio=1)
    for cell in cells:
        fields: list[Any] = [shown(str(cell["row"]), 24)] if named else []
        fields += [str(cell["line"])] if lined else []
        fields += [shown(cell["column"], 24), shown(cell["entry"], 28), shown(cell["expected"], 28)]
        fields += [f"{100 * cell['probability']:.0f} %"]
        if valued:
            fields.append(
                "" if cell["value"] is None else points.number(cell["value"], signed=True)
            )
        if gained:
            fields.append(_signed(cell["gain"], points))
        table.add_row(*fields, shown(cell["why"], 160))
    return table


def _signed(value: float | None, points: Unit) -> str:
    return "" if value is None else points.number(value, signed=True)


def write_cells(inspection: Inspection, path: Path) -> None:
    """Write all cells to a tidy CSV file, or to a Parquet file that can be loaded again."""
    if path.suffix.lower() != ".csv":
        with naming(path):
            inspection.save(path)
        return
    import pyarrow as pa

    frame = inspection.to_frame()
    table = (
        frame
        if isinstance(frame, pa.Table)
        else pa.table({key: list(frame[key]) for key in frame.columns})
    )
    columns = [harmless(table[key]) for key in table.column_names]
    write_csv(pa.table(columns, names=table.column_names), path)
