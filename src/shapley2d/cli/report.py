"""``shapley2d report``: a report from saved values, or a page of what moved between two files."""

from pathlib import Path
from typing import Annotated, Any

from shapley2d.cli import options as o
from shapley2d.cli.console import show_files, warnings_as_notes
from shapley2d.cli.outputs import PAGE, check_file, naming


def report(
    values: Annotated[Path, o.argument("VALUES", "A Parquet file written by cells or inspect.")],
    output: Annotated[
        Path | None,
        o.common(
            "FILE.html",
            "The report. (default: the values' name with .html)",
            "--output",
            "-o",
        ),
    ] = None,
    against: Annotated[
        Path | None,
        o.common(
            "FILE",
            "Values of another run, or of an earlier version of the table: write a page of what "
            "moved since.",
        ),
    ] = None,
    title: Annotated[str | None, o.common("TEXT", "Its title.")] = None,
) -> None:
    """Write a report of saved values or the page of an inspection: one offline HTML file."""
    from shapley2d import Inspection, Valuation
    from shapley2d._inspection.storage import is_inspection

    path = output or values.with_suffix(".html")
    check_file(path, "--output", [values, against], PAGE)
    with warnings_as_notes():
        found: Any = (Inspection if is_inspection(values) else Valuation).load(values)
        if against is not None:
            found = found.compare(Valuation.load(against))
            title = title or f"What moved since {against}"
    with naming(path):
        found.to_html(path, title=title)
    show_files({"report": path})
