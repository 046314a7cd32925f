"""``shapley2d report``: a report from saved values."""

from pathlib import Path
from typing import Annotated

import typer

from shapley2d.cli import options as o
from shapley2d.cli.console import ResultConsole, warnings_as_notes
from shapley2d.cli.writing.outputs import check_report_path, write_html
from shapley2d.cli.writing.summary import print_files
from shapley2d.exceptions import InputError

Values = Annotated[
    Path,
    typer.Argument(
        metavar="VALUES", help="A Parquet file written by cells or blocks.", show_default=False
    ),
]
ReportPath = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE.html",
        help="The report. (default: the values' name with .html)",
        show_default=False,
    ),
]
Title = Annotated[str | None, typer.Option("--title", help="Its title.", show_default=False)]

Trusted = Annotated[
    bool,
    typer.Option(
        "--trusted",
        help="With --pay, where there was no validation table: every owner's rows are trusted as "
        "a test of the others'.",
        show_default=False,
    ),
]


def report(
    values: Values,
    output: ReportPath = None,
    title: Title = None,
    pay: o.Total = None,
    trusted: Trusted = False,
) -> None:
    """Write a report from saved values: one HTML file that opens in any browser, offline."""
    from shapley2d._results.valuation import Valuation

    path = values.with_suffix(".html") if output is None else output
    check_report_path(path, [str(values)], "--output")
    with warnings_as_notes():
        valuation = Valuation.load(values)
    payments = None
    if pay is not None:
        if not hasattr(valuation, "payments"):
            raise InputError(
                f"--pay goes with values of blocks, but {values} holds values of cells: leave it "
                "out"
            )
        with warnings_as_notes():
            payments = valuation.payments(pay, trusted=trusted)
    write_html(valuation, path, title=title, payments=payments)
    print_files({"report": path}, ResultConsole())
