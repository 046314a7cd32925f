"""The options of the commands, as records: what several commands share is declared once.

A field has the name of the keyword in Python; its flag follows from the name unless one is given
here. The options of the methods come from their own records (:mod:`shapley2d.cli.method_options`).
"""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer
from typer.models import OptionInfo

from shapley2d._base.defaults import FOLDS
from shapley2d.cli.help import HELP_ALL, help_all

_TABLE, METHOD, _PAYMENTS, _RESULT = "Table", "Method", "Payments", "Results"


def _option(panel: str | None, text: str, *flags: str, **more: Any) -> Any:
    more = {"show_default": False, **more}
    return typer.Option(*flags, help=text, rich_help_panel=panel, **more)


def _column(text: str, *flags: str) -> Any:
    return _option(_TABLE, text, *flags, metavar="COLUMN")


Columns = list[str] | None
AsJson = Annotated[bool, _option(_RESULT, "Print one JSON object, for machines.", "--json")]
NJobs = Annotated[
    int | None,
    _option(
        None,
        "Cores to use, -1 for all. (default: all; 1 for methods that train a model)",
        "--jobs",
        "-j",
        metavar="N",
    ),
]
RandomState = Annotated[
    int,
    _option(
        None,
        "Seed of splits and samples: the same seed gives the same result.",
        "--seed",
        min=0,
        metavar="N",
        show_default=True,
    ),
]
MaxTime = Annotated[
    str | None,
    _option(
        None,
        "The best answer within this time, such as 90s, 5m or 1h30m, reading included; it says "
        "how precise it got.",
        "--max-time",
        metavar="TIME",
    ),
]
Task = Annotated[
    Literal["auto", "classification", "regression"],
    _option(_TABLE, "Classes or numbers; auto looks at the target.", show_default=True),
]
Total = Annotated[
    float | None,
    _option(
        _PAYMENTS,
        "An amount to split among the owners of blocks.",
        "--pay",
        metavar="AMOUNT",
        min=0.0,
    ),
]


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """How a table is read; of all commands that read one."""

    drop: Annotated[
        Columns, _column("Columns to leave out; repeat the option, or separate them by commas.")
    ] = None
    row_id: Annotated[
        str | None, _column("A column that names the rows; not used as a feature.", "--id")
    ] = None
    number: Annotated[
        Columns,
        _column("Columns of numbers, whatever they look like; other entries count as missing."),
    ] = None
    date: Annotated[Columns, _column("Columns of dates.")] = None
    text: Annotated[
        Columns, _column("Columns of text, even if it looks like numbers, dates or keys.")
    ] = None
    separator: Annotated[
        str | None,
        _option(
            _TABLE,
            "Separator of a CSV file; also comma, semicolon, tab, pipe. (default: auto-detected)",
            metavar="CHARACTER",
        ),
    ] = None
    encoding: Annotated[
        str | None,
        _option(
            _TABLE, "Encoding of a CSV file, e.g. cp1252. (default: auto-detected)", metavar="NAME"
        ),
    ] = None

    @property
    def kinds(self) -> dict[str, Sequence[str]]:
        """The columns that the user named by the kind of their entries."""
        return {"number": self.number or (), "date": self.date or (), "text": self.text or ()}


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The table that ``cells`` and ``blocks`` value, and the rows that it is evaluated on."""

    train: Annotated[
        str,
        typer.Argument(
            metavar="TRAIN",
            help="The training table: CSV, JSON lines (both also .gz), Parquet, .xlsx; - is stdin.",
            show_default=False,
        ),
    ]
    target: Annotated[str, _column("The column to predict.", "--target", "-t")]
    valid: Annotated[
        str | None,
        _option(_TABLE, "A validation table with the same columns.", metavar="FILE"),
    ] = None
    cv: Annotated[
        int | None,
        _option(
            _TABLE,
            "Without --valid: split the rows into this many folds; each in turn validates the "
            f"others. (default: {FOLDS})",
            min=2,
            metavar="N",
        ),
    ] = None
    groups: Annotated[
        str | None,
        _column(
            "Without --valid: rows with the same entry in this column stay in one fold; not used "
            "as a feature."
        ),
    ] = None
    time: Annotated[
        str | None,
        _column(
            "Without --valid: a column of numbers or dates; train on earlier rows, validate on "
            "later ones. Not used as a feature."
        ),
    ] = None
    valid_weight: Annotated[
        str | None,
        _column(
            "A column with the weight of each validation row, in --valid FILE or else in TRAIN; "
            "not used as a feature."
        ),
    ] = None
    task: Task = "auto"
    drop_keys: Annotated[
        bool,
        _option(
            _TABLE,
            "Leave out columns that look like keys: text with nearly all entries distinct, "
            "numbers that count the rows.",
            "--drop-keys",
        ),
    ] = False
    drop_missing_target: Annotated[
        bool, _option(_TABLE, "Leave out rows without a target.", "--drop-missing-target")
    ] = False


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How values are computed and where they go; of ``cells`` and ``blocks``."""

    semivalue: Annotated[
        str,
        _option(
            METHOD,
            "shapley, banzhaf, or beta:A,B such as beta:16,1.",
            metavar="NAME",
            show_default=True,
        ),
    ] = "shapley"
    max_time: MaxTime = None
    n_jobs: NJobs = None
    random_state: RandomState = 0
    output: Annotated[
        Path | None,
        _option(
            _RESULT,
            "Write all values: .parquet (with the record of the run) or .csv.",
            "--output",
            "-o",
            metavar="FILE",
        ),
    ] = None
    report: Annotated[
        Path | None,
        _option(_RESULT, "Write a report that opens in any browser.", metavar="FILE.html"),
    ] = None
    as_json: AsJson = False


@dataclass(frozen=True, kw_only=True)
class CellOptions:
    """Of ``cells`` only."""

    include_label: Annotated[
        bool,
        _option(
            _TABLE,
            "Value the labels too, as one more column: harmful labels come first.",
            "--include-label",
        ),
    ] = False
    top: Annotated[
        int,
        _option(_RESULT, "Number of lowest cells to print.", min=0, metavar="N", show_default=True),
    ] = 10


@dataclass(frozen=True, kw_only=True)
class BlockOptions:
    """Of ``blocks`` only."""

    owners: Annotated[
        str | None,
        _option(
            None,
            "Who contributed what: a CSV file with the columns owner, row, column. An empty entry "
            "means all; 0-99 or a;b name several.",
            metavar="FILE",
        ),
    ] = None
    owner_column: Annotated[
        str | None,
        _option(
            None,
            "The column of TRAIN that names the owner of every row, instead of --owners; not used "
            "as a feature.",
            metavar="COLUMN",
        ),
    ] = None
    rows: Annotated[
        str | None,
        _option(
            None,
            "Groups of rows that nobody owns, instead of --owners: a column of TRAIN, or "
            "clusters=40 for that many clusters of similar rows.",
            metavar="GROUPS",
        ),
    ] = None
    total: Total = None
    negative: Annotated[
        Literal["zero", "owe"] | None,
        _option(
            _PAYMENTS,
            "What owners of negative value get: zero (which makes it pay to hide harmful data "
            "behind a second name), or they owe their share. (default: owe for cells, zero for "
            "groups)",
        ),
    ] = None
    players: Annotated[
        Literal["cells", "groups"] | None,
        _option(
            _PAYMENTS,
            "cells: an owner's value is the sum of its cells, which splitting up does not change. "
            "groups: the owners' groups of rows and columns join as wholes. (default: cells for "
            "nearest neighbours, groups for a model)",
        ),
    ] = None
    copies: Annotated[
        Literal["one", "first", "escrow", "each"] | None,
        _option(
            _PAYMENTS,
            "Duplicate rows. one: they count once, and their owners share the value. first: the "
            "owner of the first in the table gets it. escrow: what cells with several owners are "
            "worth is withheld. each: every row counts. (default: one)",
        ),
    ] = None
    copy_distance: Annotated[
        str,
        _option(
            _PAYMENTS,
            "Which rows are duplicates. auto: those nearer to one another, or more often equal, "
            "than validation rows are. A number: those within this distance, where two random rows "
            "are 1 apart; 0 for equal rows.",
            metavar="X",
            show_default=True,
        ),
    ] = "auto"
    copy_r2: Annotated[
        float,
        _option(
            _PAYMENTS,
            "Columns that predict one another with at least this R squared are duplicates; 0 for "
            "none.",
            metavar="X",
            min=0.0,
            show_default=True,
        ),
    ] = 0.99
    validation_groups: Annotated[
        int | None,
        _option(
            _PAYMENTS,
            "Leave out each of this many groups of validation rows in turn, so that intervals "
            "include the choice of these rows. (default: 10 for cells and knn, else 0)",
            metavar="N",
            min=0,
        ),
    ] = None
    trusted: Annotated[
        bool,
        _option(
            _PAYMENTS,
            "Pay without a validation table: every owner's rows are trusted as a test of the "
            "others'. Without this, payments need --valid: rows that an owner invents vouch for "
            "each other.",
            "--trusted",
        ),
    ] = False
    receipt: Annotated[
        Path | None,
        _option(
            _PAYMENTS,
            "Write a receipt with digests of all data, settings, values and payments; shapley2d "
            "verify checks it.",
            metavar="FILE.json",
        ),
    ] = None
    key: Annotated[
        Path | None,
        _option(
            _PAYMENTS,
            "Sign the receipt with a private Ed25519 key in a PEM file.",
            "--sign",
            metavar="KEY.pem",
        ),
    ] = None
    audit: Annotated[
        bool,
        _option(
            _PAYMENTS,
            "Compute what owners could gain by splitting up, copying, withholding or adding "
            "noise, and how payments depend on the settings; and look at the owners' rows. Takes "
            "seven valuations per owner.",
            "--audit",
        ),
    ] = False
    no_sellers: Annotated[
        bool,
        _option(
            _PAYMENTS,
            "With --audit: do not look at the owners' rows (for near copies, odd labels, made-up "
            "rows and double claims).",
            "--no-sellers",
        ),
    ] = False


def option_flags() -> dict[str, str]:
    """The flag of each option above, by its name in Python."""
    found: dict[str, str] = {"method": "--method", "public_key": "--public-key"}
    for record in (FileOptions, TrainOptions, RunOptions, CellOptions, BlockOptions):
        for name, hint in get_type_hints(record, include_extras=True).items():
            info = hint.__metadata__[0]
            if not isinstance(info, OptionInfo):
                continue
            declared = [info.default, *(info.param_decls or ())]  # typer keeps the first in default
            named = [str(flag) for flag in declared if str(flag).startswith("--")]
            found[name] = named[0] if named else f"--{name.replace('_', '-')}"
    return found


def as_command(
    command: Callable[..., None], method: Sequence[inspect.Parameter] = ()
) -> Callable[..., None]:
    """The command as typer wants it: one parameter per option instead of records of options.

    Parameters
    ----------
    command : callable
    method : sequence of Parameter
        What stands for the command's parameters ``method`` and ``**given``. Such a command has many
        options, and ``--help-all``.
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
    if method:
        parameters.append(help_all())

    def run(**given: Any) -> None:
        given.pop(HELP_ALL, None)
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
