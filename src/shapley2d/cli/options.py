"""What options are called and what the help says of them; those of several commands, once.

A parameter of a command has the name of the keyword in Python; its flag follows from the name
unless one is given here. The options of the methods are read from their classes
(:mod:`shapley2d.cli.methods`).
"""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from shapley2d._base.defaults import FOLDS
from shapley2d.exceptions import InputError

PANELS = (None, "Question", "Method", "Table", "Run", "Payments", "Output")
"""Panels of the help; the common options stand first, without a name."""


def flag_of(name: str) -> str:
    """The flag of an option: ``--n-neighbors`` for ``n_neighbors``."""
    return f"--{name.replace('_', '-')}"


def option(panel: str | None, metavar: str | None, text: str, *flags: str, **more: Any) -> Any:
    """An option of a command, with what the help calls its value and says of it.

    One that is set without a value has no ``metavar``, but a flag.
    """
    return typer.Option(*flags, metavar=metavar or " ", help=text, rich_help_panel=panel, **more)


def argument(metavar: str, text: str) -> Any:
    """An argument of a command."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


common, question, method, table, run, payments, output = (partial(option, one) for one in PANELS)

Names = list[str] | None
FORMATS = "CSV, JSON lines (both also .gz), Parquet or .xlsx"
TABLE_FILE = f"{FORMATS}; - is stdin."

# how tables are read
Drop = Annotated[
    Names, common("COLUMN", "Columns to leave out: several options, or commas between.")
]
RowId = Annotated[str | None, common("COLUMN", "The column that names the rows.", "--id")]
Separator = Annotated[
    str | None, table("MARK", "Separator of a CSV file. (default: auto-detected)")
]
Encoding = Annotated[str | None, table("NAME", "Encoding of a CSV file. (default: auto-detected)")]
Number = Annotated[Names, table("COLUMN", "Columns of numbers; other entries are missing.")]
Date = Annotated[Names, table("COLUMN", "Columns of dates.")]
Text = Annotated[Names, table("COLUMN", "Columns of text, even if it looks otherwise.")]

# the question
Target = Annotated[str, common("COLUMN", "The column to predict.", "--target", "-t")]
Task = Annotated[
    Literal["auto", "classification", "regression"],
    question(
        "NAME",
        "classification or regression. (default: auto, by the target)",
        show_default=False,
    ),
]
Folds = Annotated[
    int | None,
    question("N", f"Without --valid: number of folds. (default: {FOLDS})", min=2),
]


def semivalue(text: str) -> Any:
    """The semivalue behind a word."""
    from shapley2d._theory.semivalues import check_semivalue

    name, _, numbers = text.partition(":")
    try:
        return check_semivalue(("beta", *numbers.split(",")) if name == "beta" else text)
    except InputError:
        raise typer.BadParameter(
            f"{text} is not known: use shapley, banzhaf, or beta:A,B such as beta:16,1"
        ) from None


Semivalue = Annotated[
    Any,
    question("NAME", "shapley, banzhaf, or beta:A,B such as beta:16,1.", parser=semivalue),
]


def check_folds(valid: str | None, cv: int | None) -> None:
    """Refuse a number of folds beside a validation table, which leaves nothing to split."""
    if valid is not None and cv is not None:
        raise InputError("--valid and --cv exclude each other: give one of them")


# the run
MaxTime = Annotated[str | None, common("TIME", "The best answer within this time: 90s, 5m, 1h30m.")]
Jobs = Annotated[
    int | None,
    run("N", "Cores to use. (default: all)", "--jobs", "-j"),
]
Seed = Annotated[int, run("N", "Seed of splits and samples.", "--seed", min=0)]
Checkpoint = Annotated[
    Path | None,
    run("FILE", "Keeps the state: after a crash or Ctrl-C the same call resumes."),
]
Cluster = Annotated[str | None, run("ADDRESS", "Address of a Dask scheduler to work on.")]

# what is written and printed
Output = Annotated[
    Path | None, common("FILE", "Write all values: .parquet or .csv.", "--output", "-o")
]
Report = Annotated[Path | None, common("FILE.html", "Write a report that opens in any browser.")]
Top = Annotated[int, output("N", "How many entries to print.", min=0)]
AsJson = Annotated[bool, output(None, "Print one JSON object, for machines.", "--json")]


@dataclass(frozen=True)
class Reading:
    """How a table is read, as the options say it."""

    separator: str | None = None
    encoding: str | None = None
    drop: Names = None
    row_id: str | None = None
    number: Names = None
    date: Names = None
    text: Names = None

    @property
    def kinds(self) -> dict[str, list[str]]:
        """The columns that the user named by the kind of their entries."""
        given = {"number": self.number, "date": self.date, "text": self.text}
        return {kind: names for kind, names in given.items() if names}
