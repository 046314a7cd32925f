"""What an inspection found: as lists for people, as one object for machines, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from shapley2d._base.words import printable
from shapley2d._results.reasons import reasons_text
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
    cells = []
    for flat in inspection.order(by, top).tolist():
        i, j = divmod(flat, inspection.findings.scores.shape[1])
        value = None if inspection.values is None else float(inspection.values[i, j])
        name = inspection.row_names[i]
        cells.append(
            {
                "row": name.item() if hasattr(name, "item") else name,
                "line": given.line(i),
                "column": inspection.all_names[j],
                "entry": inspection.entries[j][i],
                "expected": inspection.expected_text(i, j),
                "likely": inspection.likely_text(i, j),
                "probability": float(inspection.findings.probability[i, j]),
                "value": None if value is None or value != value else value,  # noqa: PLR0124  (NaN)
                "why": reasons_text(inspection.reasons(i, j)),
            }
        )
    return cells


def finding_records(inspection: Inspection) -> list[dict[str, Any]]:
    """The findings about columns, for machines."""
    return [
        {
            "columns": list(finding.columns),
            "kind": finding.kind,
            "text": finding.text,
            "rows": len(finding.rows),
            "suggestions": len(finding.suggestions),
            "probability": float(finding.probability),
        }
        for finding in inspection.columns
    ]


def inspection_json(
    inspection: Inspection,
    given: InspectedFile,
    cells: list[dict[str, Any]],
    files: dict[str, Path],
    **more: Any,
) -> dict[str, Any]:
    """Everything that a machine may want to know of an inspection."""
    n, m = inspection.shape
    return {
        "version": __version__,
        "file": given.source.path,
        "target": given.target,
        "rows": n,
        "columns": m,
        "fingerprint": inspection.fingerprint,
        "expected_errors": inspection.expected_errors,
        "settled": len(inspection.settled),
        "findings": finding_records(inspection),
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
    """Print what is wrong about columns, then the entries to check first."""
    n, m = inspection.shape
    label = "" if given.target is None else f" and the label {given.target!r}"
    settled = f"; {len(inspection.settled)} decided before" if inspection.settled else ""
    console.print(
        Text(
            f"{printable(given.source.path)}: {n} rows x {m} columns{printable(label)}; about "
            f"{inspection.expected_errors:,.0f} of {inspection.findings.scores.size:,} entries are wrong{settled}\n"
        ),
        soft_wrap=True,
    )
    if inspection.columns:
        console.print(Text("Columns", style="italic"))
        for finding in inspection.columns_first[:_SHOWN_FINDINGS]:
            console.print(Text.assemble("- ", shown(finding.text, 240)), soft_wrap=True)
        left = len(inspection.columns) - _SHOWN_FINDINGS
        if left > 0:
            console.print(Text(f"- and {left} more, in the page and with --json"))
        console.print()
    if cells:
        console.print(_cell_table(cells))


def _cell_table(cells: list[dict[str, Any]]) -> Table:
    table = Table(title="Entries to check", title_justify="left", box=None, pad_edge=False)
    table.add_column("row", justify="right")
    lined = cells[0]["line"] is not None
    if lined:
        table.add_column("line", justify="right", style="dim")
    table.add_column("column")
    table.add_column("entry")
    table.add_column("expected", style="green")
    table.add_column("wrong", justify="right")
    valued = any(cell["value"] is not None for cell in cells)
    if valued:
        table.add_column("value", justify="right")
    table.add_column("why", style="dim", ratio=1)
    for cell in cells:
        fields: list[Any] = [shown(str(cell["row"]), 24)]
        fields += [str(cell["line"])] if lined else []
        fields += [shown(cell["column"], 24), shown(cell["entry"], 28), shown(cell["expected"], 28)]
        fields += [f"{100 * cell['probability']:.0f} %"]
        if valued:
            fields.append("" if cell["value"] is None else f"{cell['value']:+.1e}")
        table.add_row(*fields, shown(cell["why"], 160))
    return table


def write_inspection(inspection: Inspection, path: Path) -> None:
    """Write all cells, as the file's name asks: Parquet with all that is known of them, or a tidy CSV."""
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
