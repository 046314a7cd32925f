"""The application: its commands and what they share.

A command's module loads when it is called, so that ``shapley2d --help`` answers at once.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from shapley2d._version import __version__
from shapley2d.cli.streams import keep_at_interrupt
from shapley2d.cli.wording import speak_for

_HELP = {"help_option_names": ["--help", "-h"]}
SUMMARIES = {  # the first sentences of the commands' help
    "inspect": "Find the entries of a table that are likely wrong, and what they should say.",
    "repair": "Apply decisions to a table; show what changed, what that gained and what is left.",
    "cells": "Value every cell of a table: which entries help a model, which harm it.",
    "fragments": "Value what each contributor's piece of a table is worth, and split a payment.",
    "report": "Write a report of saved values or the page of an inspection: one offline HTML file.",
    "verify": "Check that nothing in a receipt was changed and, with the files, that its values "
    "follow.",
    "demo": "Plant errors in a table, find and repair them, value its cells and its contributors.",
}
_EXAMPLES = {
    "cells": """\
  shapley2d cells patients.csv --target outcome
  shapley2d cells patients.csv -t outcome --drop id,name --report report.html
  shapley2d cells train.parquet -t price --valid test.parquet -o values.parquet
  shapley2d cells patients.csv -t outcome --method forest
  shapley2d cells patients.csv -t outcome --json | jq .lowest
""",
    "inspect": """\
  shapley2d inspect patients.csv
  shapley2d inspect patients.csv --target outcome --report page.html
  shapley2d inspect clean.csv -t outcome --decisions decisions.csv --report page.html
""",
    "repair": """\
  shapley2d repair patients.csv decisions.csv -o clean.csv
  shapley2d repair patients.csv decisions.csv -o clean.csv --report after.html
""",
    "fragments": """\
  shapley2d fragments north.csv south.csv shop.csv --on customer --target default --valid later.csv
  shapley2d fragments north.csv south.csv "City Shop=shop.csv" --on customer -t default \\
    --labels labels.csv --valid later.csv --pay 100000 --report page.html --receipt receipt.json
""",
    "report": """\
  shapley2d report values.parquet
  shapley2d report values.parquet -o report.html --title "Patients of 2024"
  shapley2d report new.parquet --against old.parquet -o moved.html
""",
    "verify": """\
  shapley2d verify receipt.json
  shapley2d verify receipt.json north.csv
  shapley2d verify receipt.json north.csv south.csv "City Shop=shop.csv" --labels labels.csv \\
    --valid later.csv --public-key buyer.pem
""",
    "demo": """\
  shapley2d demo
  shapley2d demo --out injected
""",
}


@cache
def load(name: str) -> TyperCommand:
    """The command of that name."""
    function = getattr(import_module(f"shapley2d.cli.{name}"), name)
    about = f"\b\nExamples:\n{_EXAMPLES[name]}"  # \b keeps the lines of a paragraph apart
    if name == "cells":
        from shapley2d.cli.methods import method_lines, with_methods

        function, about = with_methods(function), f"\b\nMethods:\n{method_lines()}\n{about}"
    one = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="rich")
    one.command(name, epilog=about, context_settings=_HELP)(function)
    return cast("TyperCommand", typer.main.get_command(one))


class Commands(TyperGroup):
    """The commands, of which those that are not called are a name and a line of help."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {
            name: TyperCommand(name, short_help=text) for name, text in SUMMARIES.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, _, rest = super().resolve_command(ctx, args)
        command = load(str(name))
        speak_for(command.params)
        keep_at_interrupt()
        return name, command, rest


app = typer.Typer(
    name="shapley2d",
    cls=Commands,
    help="Which entries of a table are wrong, and what every cell of it, and every contributor's "
    "piece, is worth to a model.",
    epilog="\b\nExamples:\n  shapley2d demo\n"
    "  shapley2d inspect patients.csv --target outcome --report page.html\n"
    "  shapley2d cells patients.csv --target outcome --report report.html\n",
    context_settings=_HELP,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain: what draws panels takes longer to load than all the rest
)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and stop.")] = False,
) -> None:
    """Which entries of a table are wrong, and what its cells and contributors are worth."""
    if version:
        typer.echo(f"shapley2d {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
