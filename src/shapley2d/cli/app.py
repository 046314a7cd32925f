"""The application: its commands and what they share."""

from typing import Annotated

import typer

from shapley2d._version import __version__
from shapley2d.cli import blocks, cells
from shapley2d.cli.demo import demo
from shapley2d.cli.inspect import inspect
from shapley2d.cli.methods import method_lines, method_parameters
from shapley2d.cli.options import as_command
from shapley2d.cli.repair import repair
from shapley2d.cli.report import report
from shapley2d.cli.verify import verify

# \b keeps the lines of a paragraph apart
_CELLS = f"""\b
Methods:
{method_lines()}
\b
Examples:
  shapley2d cells patients.csv --target outcome
  shapley2d cells patients.csv -t outcome --drop id,name --report report.html
  shapley2d cells train.parquet -t price --valid test.parquet -o values.parquet
  shapley2d cells patients.csv -t outcome --method forest
  shapley2d cells patients.csv -t outcome --json | jq .lowest
"""
_BLOCKS = """\b
Examples:
  shapley2d blocks patients.csv --target outcome --owners owners.csv --valid later.csv --pay 100000
  shapley2d blocks patients.csv -t outcome --owners owners.csv --report blocks.html
"""
_INSPECT = """\b
Examples:
  shapley2d inspect patients.csv
  shapley2d inspect patients.csv --target outcome --report page.html
  shapley2d inspect clean.csv -t outcome --decisions decisions.csv --report page.html
"""
_REPAIR = """\b
Examples:
  shapley2d repair patients.csv decisions.csv -o clean.csv
  shapley2d repair patients.csv decisions.csv -o clean.csv --report after.html
"""
_REPORT = """\b
Examples:
  shapley2d report values.parquet
  shapley2d report values.parquet -o report.html --title "Patients of 2024"
  shapley2d report new.parquet --against old.parquet -o moved.html
"""
_VERIFY = """\b
Examples:
  shapley2d verify receipt.json
  shapley2d verify receipt.json --public-key buyer.pem
  shapley2d verify receipt.json --owner "Bank North" --block north.csv
  shapley2d verify receipt.json --table customers.csv --valid later.csv --owners owners.csv
"""
_DEMO = """\b
Examples:
  shapley2d demo
  shapley2d demo --out injected
"""

app = typer.Typer(
    name="shapley2d",
    help="Which entries of a table are wrong, and what every cell of it, and every contributor's "
    "part, is worth to a model.",
    epilog="\b\nExamples:\n  shapley2d demo\n"
    "  shapley2d inspect patients.csv --target outcome --report page.html\n"
    "  shapley2d cells patients.csv --target outcome --report report.html\n",
    context_settings={"help_option_names": ["--help", "-h"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command(epilog=_INSPECT)(as_command(inspect))
app.command(epilog=_REPAIR)(as_command(repair))
app.command(epilog=_CELLS)(as_command(cells.cells, method_parameters()))
app.command(epilog=_BLOCKS)(as_command(blocks.blocks, method_parameters(by_parties=True)))
app.command(epilog=_REPORT)(report)
app.command(epilog=_VERIFY)(verify)
app.command(epilog=_DEMO)(demo)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and stop.")] = False,
) -> None:
    """Which entries of a table are wrong, and what its cells and blocks are worth."""
    if version:
        typer.echo(f"shapley2d {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
