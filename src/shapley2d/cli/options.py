"""What options are called and what the help says of them; those of several commands, once.

A parameter of a command has the name of the keyword in Python; its flag follows from the name
unless one is given here. The options of the methods are read from their classes
(:mod:`shapley2d.cli.methods`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from shapley2d._base.defaults import FOLDS

COMMON, TABLE, QUESTION, METHOD = None, "Table", "Question", "Method"
RUN, PAYMENTS, OUTPUT = "Run", "Payments", "Output"
PANELS = (COMMON, QUESTION, METHOD, TABLE, RUN, PAYMENTS, OUTPUT)
"""Panels of the help; the common options stand first, without a name."""


def flag_of(name: str) -> str:
    """The flag of an option: ``--n-neighbors`` for ``n_neighbors``."""
    return f"--{name.replace('_', '-')}"


def option(panel: str | None, metavar: str | None, text: str, *flags: str, **more: Any) -> Any:
    """An option of a command, with what the help calls its value and says of it."""
    return typer.Option(*flags, metavar=metavar, help=text, rich_help_panel=panel, **more)


def argument(metavar: str, text: str) -> Any:
    """An argument of a command."""
    return typer.Argument(metavar=metavar, help=text, show_default=False)


def column(panel: str | None, text: str, *flags: str) -> Any:
    """An option that names a column."""
    return option(panel, "COLUMN", text, *flags)


def flag(panel: str | None, text: str, name: str) -> Any:
    """An option without a value."""
    return option(panel, None, text, name, show_default=False)


Names = list[str] | None
FORMATS = "CSV, JSON lines (both also .gz), Parquet or .xlsx"
TABLE_FILE = f"{FORMATS}; - is stdin."

# how tables are read
Drop = Annotated[Names, column(COMMON, "Columns to leave out: several options, or commas between.")]
RowId = Annotated[str | None, column(COMMON, "The column that names the rows.", "--id")]
Separator = Annotated[
    str | None, option(TABLE, "MARK", "Separator of a CSV file. (default: auto-detected)")
]
Encoding = Annotated[
    str | None, option(TABLE, "NAME", "Encoding of a CSV file. (default: auto-detected)")
]
Number = Annotated[Names, column(TABLE, "Columns of numbers; other entries are missing.")]
Date = Annotated[Names, column(TABLE, "Columns of dates.")]
Text = Annotated[Names, column(TABLE, "Columns of text, even if it looks otherwise.")]

# the question
Target = Annotated[str, column(COMMON, "The column to predict.", "--target", "-t")]
Task = Annotated[
    Literal["auto", "classification", "regression"],
    option(
        QUESTION,
        "NAME",
        "classification or regression. (default: auto, by the target)",
        show_default=False,
    ),
]
Folds = Annotated[
    int | None,
    option(QUESTION, "N", f"Without --valid: number of folds. (default: {FOLDS})", min=2),
]
Semivalue = Annotated[
    str, option(QUESTION, "NAME", "shapley, banzhaf, or beta:A,B such as beta:16,1.")
]

# the run
MaxTime = Annotated[
    str | None, option(COMMON, "TIME", "The best answer within this time: 90s, 5m, 1h30m.")
]
Jobs = Annotated[
    int | None,
    option(RUN, "N", "Cores to use. (default: all)", "--jobs", "-j"),
]
Seed = Annotated[int, option(RUN, "N", "Seed of splits and samples.", "--seed", min=0)]
Checkpoint = Annotated[
    Path | None,
    option(RUN, "FILE", "Keeps the state: after a crash or Ctrl-C the same call resumes."),
]
Cluster = Annotated[str | None, option(RUN, "ADDRESS", "Address of a Dask scheduler to work on.")]

# what is written and printed
Output = Annotated[
    Path | None, option(COMMON, "FILE", "Write all values: .parquet or .csv.", "--output", "-o")
]
Report = Annotated[
    Path | None, option(COMMON, "FILE.html", "Write a report that opens in any browser.")
]
Top = Annotated[int, option(OUTPUT, "N", "How many entries to print.", min=0)]
AsJson = Annotated[bool, flag(OUTPUT, "Print one JSON object, for machines.", "--json")]


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
