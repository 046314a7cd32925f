"""``shapley2d report``: a report from saved values, or a page of what moved between two files."""

from pathlib import Path
from typing import Annotated, Any

from shapley2d.cli import options as o
from shapley2d.cli.console import show_files, warnings_as_notes
from shapley2d.cli.outputs import check_named, naming

Values = Annotated[Path, o.argument("VALUES", "A Parquet file written by cells or inspect.")]
ReportPath = Annotated[
    Path | None,
    o.option(
        o.COMMON,
        "FILE.html",
        "The report. (default: the values' name with .html)",
        "--output",
        "-o",
    ),
]
Title = Annotated[str | None, o.option(o.COMMON, "TEXT", "Its title.")]
Against = Annotated[
    Path | None,
    o.option(
        o.COMMON,
        "FILE",
        "Values of another run, or of an earlier version of the table: write a page of what moved "
        "since.",
    ),
]


def report(
    values: Values,
    output: ReportPath = None,
    against: Against = None,
    title: Title = None,
) -> None:
    """Write a report of saved values or the page of an inspection: one offline HTML file."""
    from shapley2d import Inspection, Valuation
    from shapley2d._inspection.storage import is_inspection

    path = values.with_suffix(".html") if output is None else output
    check_named(path, "--output", (".html", ".htm"), [values, against])
    with warnings_as_notes():
        found: Any = (Inspection if is_inspection(values) else Valuation).load(values)
        comparison = None if against is None else found.compare(Valuation.load(against))
    with naming(path):
        if comparison is not None:
            comparison.to_html(path, title=title or f"What moved since {against}")
        else:
            found.to_html(path, title=title)
    show_files({"report": path})
