"""The options of the commands, as records: what several commands share is declared once.

A field has the name of the keyword in Python; its flag follows from the name unless one is given
here. The options of the methods come from their own records (:mod:`shapley2d.cli.methods`).
"""

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer
from typer.models import OptionInfo

from shapley2d._base.defaults import FOLDS

COMMON, TABLE, QUESTION, METHOD = None, "Table", "Question", "Method"
RUN, PAYMENTS, OUTPUT = "Run", "Payments", "Output"
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


Columns = list[str] | None
AsJson = Annotated[bool, flag(OUTPUT, "Print one JSON object, for machines.", "--json")]
NJobs = Annotated[
    int | None,
    option(RUN, "N", "Cores to use. (default: all)", "--jobs", "-j"),
]
RandomState = Annotated[int, option(RUN, "N", "Seed of splits and samples.", "--seed", min=0)]
MaxTime = Annotated[
    str | None, option(COMMON, "TIME", "The best answer within this time: 90s, 5m, 1h30m.")
]
Task = Annotated[
    Literal["auto", "classification", "regression"],
    option(
        QUESTION,
        "NAME",
        "classification or regression. (default: auto, by the target)",
        show_default=False,
    ),
]


def amount(text: str) -> Decimal:
    """An amount as people write it; one that can be read in two ways is refused."""
    if found := re.fullmatch(r"([1-9]\d{0,2})[.,](\d{3})", text):
        whole, rest = found.groups()
        raise typer.BadParameter(
            f"{text} may mean {whole}{rest} or {whole}.{rest}: write {whole}{rest}, or "
            f"{whole}.{rest[:2]}"
        )
    if not re.fullmatch(r"\d+(\.\d+)?", text):
        raise typer.BadParameter(f"{text} is not an amount: write digits, such as 10000.50")
    return Decimal(text)


Pay = Annotated[
    Decimal | None,
    option(PAYMENTS, "AMOUNT", "An amount to split among the contributors.", parser=amount),
]
TableFile = "CSV, JSON lines (both also .gz), Parquet or .xlsx; - is stdin."


@dataclass(frozen=True, kw_only=True)
class KindOptions:
    """The kinds of columns, where auto-detection is wrong."""

    number: Annotated[Columns, column(TABLE, "Columns of numbers; other entries are missing.")] = (
        None
    )
    date: Annotated[Columns, column(TABLE, "Columns of dates.")] = None
    text: Annotated[Columns, column(TABLE, "Columns of text, even if it looks otherwise.")] = None

    @property
    def kinds(self) -> dict[str, Sequence[str]]:
        """The columns that the user named by the kind of their entries."""
        return {"number": self.number or (), "date": self.date or (), "text": self.text or ()}


@dataclass(frozen=True, kw_only=True)
class FileOptions(KindOptions):
    """How a table is read; of all commands that read one."""

    drop: Annotated[
        Columns, column(COMMON, "Columns to leave out: several options, or commas between.")
    ] = None
    row_id: Annotated[str | None, column(COMMON, "The column that names the rows.", "--id")] = None
    separator: Annotated[
        str | None, option(TABLE, "MARK", "Separator of a CSV file. (default: auto-detected)")
    ] = None
    encoding: Annotated[
        str | None, option(TABLE, "NAME", "Encoding of a CSV file. (default: auto-detected)")
    ] = None


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The table that ``cells`` values, and the rows that it is evaluated on."""

    train: Annotated[str, argument("TRAIN", f"The training table: {TableFile}")]
    target: Annotated[str, column(COMMON, "The column to predict.", "--target", "-t")]
    valid: Annotated[
        str | None, option(COMMON, "FILE", "A validation table with the same columns.")
    ] = None
    cv: Annotated[
        int | None,
        option(QUESTION, "N", f"Without --valid: number of folds. (default: {FOLDS})", min=2),
    ] = None
    groups: Annotated[
        str | None, column(QUESTION, "Without --valid: rows with equal entries share a fold.")
    ] = None
    time_order: Annotated[
        str | None, column(QUESTION, "Without --valid: earlier rows train, later ones validate.")
    ] = None
    valid_weight: Annotated[str | None, column(QUESTION, "The weight of each validation row.")] = (
        None
    )
    task: Task = "auto"
    include_label: Annotated[
        bool, flag(QUESTION, "Value the labels too, as one more column.", "--include-label")
    ] = False
    scoring: Annotated[
        str | None,
        option(
            QUESTION,
            "NAME",
            "scikit-learn's name of a score; knn and forest take balanced_accuracy. (default: "
            "accuracy or R squared)",
        ),
    ] = None
    row_groups: Annotated[
        str | None, column(QUESTION, "Value groups of rows: the column that names them.")
    ] = None
    column_groups: Annotated[
        Columns,
        option(
            QUESTION,
            "NAME=COLUMN,...",
            "Value groups of columns: one option for each; other columns stay by themselves.",
        ),
    ] = None
    baseline: Annotated[
        Literal["labels", "zero"],
        option(
            QUESTION, "NAME", "What no columns are worth: what the labels alone predict, or zero."
        ),
    ] = "labels"
    drop_keys: Annotated[
        bool, flag(TABLE, "Leave out columns that look like keys.", "--drop-keys")
    ] = False
    drop_missing_target: Annotated[
        bool, flag(TABLE, "Leave out rows without a target.", "--drop-missing-target")
    ] = False


@dataclass(frozen=True, kw_only=True)
class FragmentOptions(KindOptions):
    """What ``fragments`` values, by what, and who is paid."""

    fragments: Annotated[
        list[str],
        argument(
            "FILE",
            "A file of each contributor, which its name names, or NAME=FILE: CSV, JSON lines, "
            "Parquet or .xlsx.",
        ),
    ]
    target: Annotated[str, column(COMMON, "The column to predict.", "--target", "-t")]
    on: Annotated[str, column(COMMON, "The id column, by which rows are joined.")]
    labels: Annotated[
        str | None,
        option(
            COMMON,
            "FILE",
            "Everybody's labels: ids and the target. (default: the files that have the target)",
        ),
    ] = None
    valid: Annotated[
        str | None,
        option(COMMON, "FILE", "Validation rows that no contributor has seen, with the target."),
    ] = None
    owners: Annotated[
        str | None,
        option(COMMON, "FILE", "For one joined FILE: who holds what, as owner, row, column."),
    ] = None
    by: Annotated[
        Literal["contributor", "column"],
        option(QUESTION, "NAME", "Value contributors, or also what each adds through each column."),
    ] = "contributor"
    disagree: Annotated[
        Literal["error", "first", "missing"],
        option(
            QUESTION,
            "NAME",
            "Where two files have different entries for one cell: an error, the first file's entry "
            "counts, or none does.",
        ),
    ] = "error"
    scoring: Annotated[
        str | None,
        option(
            QUESTION,
            "NAME",
            "probability, r2, roc_auc, accuracy or neg_log_loss. (default: probability of the "
            "right label, or R squared)",
        ),
    ] = None
    task: Task = "auto"
    cv: Annotated[
        int | None,
        option(QUESTION, "N", f"Without --valid: number of folds. (default: {FOLDS})", min=2),
    ] = None
    method: Annotated[
        str,
        option(
            METHOD,
            "NAME",
            "The model that is trained on every set: boosting, tree or hist_gradient_boosting.",
            "--method",
            "-m",
        ),
    ] = "boosting"
    pay: Pay = None
    trusted: Annotated[
        bool,
        flag(PAYMENTS, "Pay without --valid, where contributors test each other.", "--trusted"),
    ] = False
    costs: Annotated[
        str | None,
        option(PAYMENTS, "FILE", "What contributors cost, for the best sets: contributor, cost."),
    ] = None
    budget: Annotated[
        float | None, option(PAYMENTS, "AMOUNT", "With --costs: the most that a set may cost.")
    ] = None
    receipt: Annotated[
        Path | None, option(PAYMENTS, "FILE.json", "Write a receipt that shapley2d verify checks.")
    ] = None
    key: Annotated[
        Path | None, option(PAYMENTS, "KEY.pem", "Sign the receipt with a private Ed25519 key.")
    ] = None


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How values are computed and where they go."""

    max_time: MaxTime = None
    semivalue: Annotated[
        str, option(QUESTION, "NAME", "shapley, banzhaf, or beta:A,B such as beta:16,1.")
    ] = "shapley"
    n_jobs: NJobs = None
    random_state: RandomState = 0
    checkpoint: Annotated[
        Path | None,
        option(RUN, "FILE", "Keeps the state: after a crash or Ctrl-C the same call resumes."),
    ] = None
    cluster: Annotated[
        str | None, option(RUN, "ADDRESS", "Address of a Dask scheduler to work on.")
    ] = None
    output: Annotated[
        Path | None, option(COMMON, "FILE", "Write all values: .parquet or .csv.", "--output", "-o")
    ] = None
    report: Annotated[
        Path | None, option(COMMON, "FILE.html", "Write a report that opens in any browser.")
    ] = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class CellOptions:
    """What ``cells`` prints."""

    top: Annotated[int, option(OUTPUT, "N", "Number of lowest cells to print.", min=0)] = 10


def option_flags() -> dict[str, str]:
    """The flag of each option above, by its name in Python."""
    found = {"method": "--method", "public_key": "--public-key"}
    for record in (FileOptions, TrainOptions, RunOptions, CellOptions, FragmentOptions):
        for name, hint in get_type_hints(record, include_extras=True).items():
            info = hint.__metadata__[0]
            if not isinstance(info, OptionInfo):
                continue
            declared = [info.default, *(info.param_decls or ())]  # typer keeps the first in default
            named = [str(flag) for flag in declared if str(flag).startswith("--")]
            found[name] = named[0] if named else flag_of(name)
    return found


def as_command(
    command: Callable[..., None], method: Sequence[inspect.Parameter] = ()
) -> Callable[..., None]:
    """The command as typer wants it: one parameter per option instead of records of options.

    ``method`` stands for the command's parameters ``method`` and ``**given``.
    """
    parameters: list[inspect.Parameter] = []
    records: dict[str, Any] = {}
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            records[parameter.name] = parameter.annotation
            parameters += _fields(parameter.annotation)
        elif parameter.name == "method":
            parameters += method
        elif parameter.kind is not parameter.VAR_KEYWORD:
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))

    def run(**given: Any) -> None:
        made = {
            name: record(**{field.name: given.pop(field.name) for field in fields(record)})
            for name, record in records.items()
        }
        command(**made, **given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    # typer reads the signature of a function, and nothing else
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _fields(record: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(record, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in fields(record)
    ]
