"""The options that commands share, each declared once."""

# ruff: noqa: UP045  (typer reads these at run time)
from pathlib import Path
from typing import Annotated, Optional

import typer

from shapley2d.cli.choices import ColumnAxis, Method, Metric, ModelName, OobScore, Task

_TABLE = "Table"
_METHOD = "Method"
_RESULT = "Results"

Train = Annotated[
    str,
    typer.Argument(
        metavar="TRAIN", help="The training table: CSV, CSV.gz or Parquet; - reads stdin.", show_default=False
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
Folds = Annotated[
    Optional[int],
    typer.Option(
        "--folds",
        min=2,
        metavar="N",
        help="Without --valid: in how many parts to split the rows, each judging the others. (default: 5)",
        rich_help_panel=_TABLE,
    ),
]
TaskOption = Annotated[
    Task, typer.Option("--task", help="Classes or numbers? auto looks at the target.", rich_help_panel=_TABLE)
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
    typer.Option("--drop-missing-target", help="Leave out rows without a target.", rich_help_panel=_TABLE),
]

MethodOption = Annotated[
    Method,
    typer.Option(
        "--method",
        "-m",
        help="knn: nearest neighbours, trains no model. mc: any --model, sampled. exact: any --model, for a dozen rows "
        "and columns in all. loo: any --model, 2D leave-one-out. To compare with: flat, any --model, every cell a "
        "player of its own (1D); oob, 2D-OOB, bagged trees; random, random numbers.",
        rich_help_panel=_METHOD,
    ),
]
Model = Annotated[
    Optional[ModelName],
    typer.Option("--model", help="For mc, exact, loo and flat. (default: tree)", rich_help_panel=_METHOD),
]
Scoring = Annotated[
    Optional[str],
    typer.Option(
        "--scoring",
        metavar="NAME",
        help="For mc, exact, loo and flat: scikit-learn's name of a score. (default: accuracy, or R squared)",
        rich_help_panel=_METHOD,
    ),
]
Neighbors = Annotated[
    Optional[int],
    typer.Option(
        "--neighbors",
        "-k",
        min=1,
        metavar="N",
        help="For knn: how many vote. (default: 10)",
        rich_help_panel=_METHOD,
    ),
]
MetricOption = Annotated[
    Optional[Metric],
    typer.Option(
        "--metric",
        help="For knn: auto scales every column; sqeuclidean takes raw numbers. (default: auto)",
        rich_help_panel=_METHOD,
    ),
]
Columns = Annotated[
    Optional[ColumnAxis],
    typer.Option(
        "--columns",
        help="For knn: all coalitions of columns, or a sample. (default: auto)",
        rich_help_panel=_METHOD,
    ),
]
Coalitions = Annotated[
    Optional[int],
    typer.Option(
        "--coalitions",
        min=2,
        metavar="N",
        help="For knn: the size of that sample. (default: chosen)",
        rich_help_panel=_METHOD,
    ),
]
Tolerance = Annotated[
    Optional[float],
    typer.Option(
        "--tolerance",
        min=0.0,
        metavar="X",
        help="For knn, mc, flat: stop when the errors are this small beside the spread of the values. (default: 0.025)",
        rich_help_panel=_METHOD,
    ),
]
MaxPermutations = Annotated[
    Optional[int],
    typer.Option(
        "--max-permutations",
        min=1,
        metavar="N",
        help="For mc and flat: stop here in any case. (default: 1000; flat: 500)",
        rich_help_panel=_METHOD,
    ),
]
Checkpoint = Annotated[
    Optional[Path],
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="For mc and flat: keep the state there; the same command goes on from it after a crash or Ctrl-C.",
        rich_help_panel=_METHOD,
        show_default=False,
    ),
]
Trees = Annotated[
    Optional[int],
    typer.Option(
        "--trees",
        min=1,
        metavar="N",
        help="For oob: how many to grow. (default: 1000)",
        rich_help_panel=_METHOD,
    ),
]
ColumnShare = Annotated[
    Optional[float],
    typer.Option(
        "--column-share",
        min=0.0,
        max=1.0,
        metavar="X",
        help="For oob: the part of the columns that a tree sees. (default: 0.25)",
        rich_help_panel=_METHOD,
    ),
]
OobScoreOption = Annotated[
    Optional[OobScore],
    typer.Option(
        "--oob-score",
        help="For oob: right predictions, or with the distance from the class's mean. (default: correct)",
        rich_help_panel=_METHOD,
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
AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON object, for machines.", rich_help_panel=_RESULT)
]
Top = Annotated[
    int,
    typer.Option(
        "--top", min=0, metavar="N", help="How many of the lowest cells to print.", rich_help_panel=_RESULT
    ),
]
