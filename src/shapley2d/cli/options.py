"""The options that commands share, each declared once; those of the methods come from their records."""

# ruff: noqa: UP045  (typer reads these at run time)
from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from shapley2d._base.defaults import FOLDS
from shapley2d.cli.method_options import PANEL as _METHOD

_TABLE = "Table"
_RESULT = "Results"

Train = Annotated[
    str,
    typer.Argument(
        metavar="TRAIN",
        help="The training table: CSV, JSON lines (both also .gz) or Parquet; - reads stdin.",
        show_default=False,
    ),
]
Target = Annotated[
    str,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="The column to predict.",
        show_default=False,
        rich_help_panel=_TABLE,
    ),
]
Drop = Annotated[
    Optional[list[str]],
    typer.Option(
        "--drop",
        metavar="COLUMN",
        help="Columns to leave out; repeat it, or put commas between.",
        rich_help_panel=_TABLE,
    ),
]
DropKeys = Annotated[
    bool,
    typer.Option(
        "--drop-keys",
        help="Leave out columns that look like keys: text that is nearly all different, numbers that count the rows.",
        rich_help_panel=_TABLE,
    ),
]
IncludeLabel = Annotated[
    bool,
    typer.Option(
        "--include-label",
        help="Value the labels too, as one more column: rows whose label harms come out first.",
        rich_help_panel=_TABLE,
    ),
]
Number = Annotated[
    Optional[list[str]],
    typer.Option(
        "--number",
        metavar="COLUMN",
        help="Columns that hold numbers, whatever they look like; other entries count as missing.",
        rich_help_panel=_TABLE,
    ),
]
Date = Annotated[
    Optional[list[str]],
    typer.Option(
        "--date", metavar="COLUMN", help="Columns that hold dates.", rich_help_panel=_TABLE
    ),
]
Text = Annotated[
    Optional[list[str]],
    typer.Option(
        "--text",
        metavar="COLUMN",
        help="Columns that hold text, even where it looks like numbers, dates or keys.",
        rich_help_panel=_TABLE,
    ),
]
RowId = Annotated[
    Optional[str],
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="A column that names the rows; it is no feature.",
        rich_help_panel=_TABLE,
    ),
]
Valid = Annotated[
    Optional[str],
    typer.Option(
        "--valid",
        metavar="FILE",
        help="A validation table with the same columns.",
        rich_help_panel=_TABLE,
        show_default=False,
    ),
]
Cv = Annotated[
    Optional[int],
    typer.Option(
        "--cv",
        min=2,
        metavar="N",
        help=f"Without --valid: in how many parts to split the rows, each validating the others. (default: {FOLDS})",
        rich_help_panel=_TABLE,
    ),
]
Groups = Annotated[
    Optional[str],
    typer.Option(
        "--groups",
        metavar="COLUMN",
        help="Without --valid: a column of rows that belong together and never validate each other; it is no feature.",
        rich_help_panel=_TABLE,
        show_default=False,
    ),
]
Time = Annotated[
    Optional[str],
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="Without --valid: a column of numbers or dates; earlier rows train, later ones validate; no feature.",
        rich_help_panel=_TABLE,
        show_default=False,
    ),
]
ValidWeight = Annotated[
    Optional[str],
    typer.Option(
        "--valid-weight",
        metavar="COLUMN",
        help="A column with what each validation row counts, of --valid FILE or else of TRAIN; it is no feature.",
        rich_help_panel=_TABLE,
        show_default=False,
    ),
]
Precedence = Annotated[
    Optional[str],
    typer.Option(
        "--precedence",
        metavar="COLUMN",
        help="A column of numbers or dates: rows with a lower one arrive first, and are valued before the others join. "
        "It is no feature.",
        rich_help_panel=_TABLE,
        show_default=False,
    ),
]
TaskOption = Annotated[
    Literal["auto", "classification", "regression"],
    typer.Option(
        "--task", help="Classes or numbers? auto looks at the target.", rich_help_panel=_TABLE
    ),
]
Separator = Annotated[
    Optional[str],
    typer.Option(
        "--separator",
        metavar="CHARACTER",
        help="Between the fields of a CSV file, also comma, semicolon, tab, pipe. (default: found out)",
        rich_help_panel=_TABLE,
    ),
]
Encoding = Annotated[
    Optional[str],
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Of a CSV file, e.g. cp1252. (default: found out)",
        rich_help_panel=_TABLE,
    ),
]
DropMissingTarget = Annotated[
    bool,
    typer.Option(
        "--drop-missing-target", help="Leave out rows without a target.", rich_help_panel=_TABLE
    ),
]

SemivalueOption = Annotated[
    str,
    typer.Option(
        "--semivalue",
        metavar="NAME",
        help="shapley, banzhaf, or beta:A,B such as beta:16,1.",
        rich_help_panel=_METHOD,
    ),
]
Jobs = Annotated[
    Optional[int],
    typer.Option(
        "--jobs",
        "-j",
        metavar="N",
        help="Workers, -1 for all cores. (default: all for knn, else 1)",
        rich_help_panel=_METHOD,
    ),
]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        min=0,
        metavar="N",
        help="Of folds and samples; the same seed, the same values.",
        rich_help_panel=_METHOD,
    ),
]

Output = Annotated[
    Optional[Path],
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="Write all values: .parquet (with the record of the run) or .csv.",
        rich_help_panel=_RESULT,
        show_default=False,
    ),
]
Report = Annotated[
    Optional[Path],
    typer.Option(
        "--report",
        metavar="FILE.html",
        help="Write a report that opens in any browser.",
        rich_help_panel=_RESULT,
        show_default=False,
    ),
]
PlanOnly = Annotated[
    bool,
    typer.Option(
        "--plan",
        help="Do not run: say what it would take, in work, time and memory, from a second of it. Nothing is written.",
        rich_help_panel=_RESULT,
    ),
]
Within = Annotated[
    Optional[str],
    typer.Option(
        "--within",
        metavar="TIME",
        help="With --plan: how many workers it would take to be done by then, such as 90s, 10m or 2h.",
        rich_help_panel=_RESULT,
        show_default=False,
    ),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print one JSON object, for machines.", rich_help_panel=_RESULT),
]
Top = Annotated[
    int,
    typer.Option(
        "--top",
        min=0,
        metavar="N",
        help="How many of the lowest cells to print.",
        rich_help_panel=_RESULT,
    ),
]
