"""``shapley2d blocks``: what every contributor's part of a table is worth."""

# ruff: noqa: UP045  (typer reads these at run time)
from typing import Annotated, Any, Literal, Optional

import typer
from rich.table import Table
from rich.text import Text

from shapley2d._base.defaults import FOLDS
from shapley2d._base.words import printable
from shapley2d._methods.players import settle_players
from shapley2d._methods.registry import METHODS, block_methods
from shapley2d._results.report.owners import owner_words
from shapley2d.cli import options as o
from shapley2d.cli.console import (
    ResultConsole,
    collect_notes,
    note,
    progress,
    shown,
    warnings_as_notes,
)
from shapley2d.cli.errors import computing, stop_if_partial
from shapley2d.cli.method_options import (
    block_takers,
    given_options,
    parse_semivalue,
    with_method_options,
)
from shapley2d.cli.reading.inputs import read_inputs, refuse_two_yardsticks
from shapley2d.cli.reading.owners import read_owners
from shapley2d.cli.writing.outputs import (
    check_outputs,
    report_facts,
    stop_if_unwritten,
    write_outputs,
)
from shapley2d.cli.writing.summary import as_json, headline, print_files, print_json
from shapley2d.exceptions import InputError

Owners = Annotated[
    str,
    typer.Option(
        "--owners",
        metavar="FILE",
        help="Who contributed what: a CSV with the columns owner, row, column. Empty means all; 0-99 or a;b name "
        "several.",
        show_default=False,
    ),
]
_TAKERS = block_takers()
_SUMMARIES = {
    "auto": "knn for cells, or mc with a --model; for groups exact where that is cheap, else mc",
    **{name: method.summary for name, method in METHODS.items()},
}
_PAYMENTS = "Payments"
Players = Annotated[
    Optional[Literal["cells", "groups"]],
    typer.Option(
        "--players",
        help="cells: an owner is worth the sum of its cells, which splitting up does not change. groups: the owners' "
        "groups of rows and columns join as wholes. (default: cells for nearest neighbours, groups for a model)",
        rich_help_panel=_PAYMENTS,
        show_default=False,
    ),
]
Copies = Annotated[
    Optional[Literal["one", "first", "each"]],
    typer.Option(
        "--copies",
        help="Rows that repeat others. one: they count once, and their owners share it. first: whoever comes first in "
        "the table has it. each: every row counts. (default: one)",
        rich_help_panel=_PAYMENTS,
        show_default=False,
    ),
]
CopyDistance = Annotated[
    float,
    typer.Option(
        "--copy-distance",
        metavar="X",
        min=0.0,
        help="Rows within this distance are copies too, where two random rows are 1 apart.",
        rich_help_panel=_PAYMENTS,
    ),
]
ValidationGroups = Annotated[
    Optional[int],
    typer.Option(
        "--validation-groups",
        metavar="N",
        min=0,
        help="Leave out so many groups of validation rows in turn, so that intervals include the choice of these rows. "
        "(default: 10 for cells and knn, else 0)",
        rich_help_panel=_PAYMENTS,
        show_default=False,
    ),
]
Negative = Annotated[
    Optional[Literal["zero", "owe"]],
    typer.Option(
        "--negative",
        help="What owners of negative value get: nothing (so that it pays to hide what harms in a shell), or they owe "
        "their share. (default: owe for cells, zero for groups)",
        rich_help_panel=_PAYMENTS,
        show_default=False,
    ),
]
AuditFlag = Annotated[
    bool,
    typer.Option(
        "--audit",
        help="Ask what owners could gain by splitting up, copying, withholding or adding noise, and how payments move "
        "with the settings. Takes seven valuations for every owner.",
        rich_help_panel=_PAYMENTS,
    ),
]
Pay = Annotated[
    Optional[float],
    typer.Option(
        "--pay",
        metavar="AMOUNT",
        min=0.0,
        help="An amount to split among the owners.",
        rich_help_panel=_PAYMENTS,
        show_default=False,
    ),
]


@with_method_options(_TAKERS, _SUMMARIES)
def blocks(
    train: o.Train,
    target: o.Target,
    owners: Owners,
    pay: Pay = None,
    negative: Negative = None,
    players: Players = None,
    copies: Copies = None,
    copy_distance: CopyDistance = 0.0,
    validation_groups: ValidationGroups = None,
    audit: AuditFlag = False,
    drop: o.Drop = None,
    drop_keys: o.DropKeys = False,
    row_id: o.RowId = None,
    valid: o.Valid = None,
    cv: o.Cv = None,
    groups: o.Groups = None,
    time: o.Time = None,
    valid_weight: o.ValidWeight = None,
    task: o.TaskOption = "auto",
    number: o.Number = None,
    date: o.Date = None,
    text: o.Text = None,
    separator: o.Separator = None,
    encoding: o.Encoding = None,
    drop_missing_target: o.DropMissingTarget = False,
    method: str = "auto",
    semivalue: o.SemivalueOption = "shapley",
    jobs: o.Jobs = None,
    seed: o.Seed = 0,
    output: o.Output = None,
    report: o.Report = None,
    as_json_: o.AsJson = False,
    **given: Any,
) -> None:
    """Value the blocks of a table that different owners contributed, and split a payment among them."""
    refuse_two_yardsticks(valid, cv=cv, groups=groups, time=time)
    given_files = [train, owners, *([valid] if valid else [])]
    check_outputs(output, report, given_files, given.get("checkpoint"))
    weights = parse_semivalue(semivalue)
    notes = collect_notes()
    inputs = read_inputs(
        train,
        target,
        drop=drop or (),
        row_id=row_id,
        valid=valid,
        separator=separator,
        encoding=encoding,
        drop_missing_target=drop_missing_target,
        drop_keys=drop_keys,
        kinds={"number": number or (), "date": date or (), "text": text or ()},
        task=task,
        of_rows={"groups": groups, "time": time, "valid_weight": valid_weight},
    )
    parts = read_owners(owners, inputs, encoding=encoding)
    for message in inputs.notes:
        note(message)
    settings = _settings(method, players, given)

    from shapley2d import audit_owners, value_blocks

    amount = 100 if pay is None else pay
    asked: dict[str, Any] = {"amount": amount, "negative": negative} if audit else {}
    with warnings_as_notes(inputs.names), computing(inputs.names, given.get("checkpoint")):
        found: Any = (audit_owners if audit else value_blocks)(
            inputs.X,
            inputs.y,
            inputs.X_valid,
            inputs.y_valid,
            owners=parts,
            method=method,
            players=players,
            copies=copies,
            copy_distance=copy_distance,
            validation_groups=validation_groups,
            task=task,
            kinds=inputs.kinds or None,
            cv=FOLDS if cv is None else cv,
            **inputs.of_rows,
            semivalue=weights,
            random_state=seed,
            n_jobs=jobs,
            progress=progress(),
            **asked,
            **settings,
        )
        valuation, audited = found if audit else (found, None)
        payments = payment_records(valuation, amount, negative)
    files, failed = write_outputs(
        valuation,
        output,
        report,
        payments=payments if pay is not None else None,
        facts=report_facts(inputs),
        notes=notes,
    )
    if as_json_:
        owned = {
            "owners": payments,
            "paid": pay,
            "audit": None if audited is None else audited.record(),
        }
        print_json(as_json("blocks", valuation, inputs, [], files, **owned))
    else:
        console = ResultConsole()
        console.print(Text(headline(valuation, inputs, "blocks")))
        console.print(_payment_table(payments, paid=pay is not None))
        console.print(Text(f"\n{owner_words(valuation.info)}"), soft_wrap=True)
        if audited is not None:
            console.print(Text(f"\nAudit, out of {amount:,.2f}"))
            for sentence in audited.sentences:
                console.print(Text(f"- {printable(sentence)}"), soft_wrap=True)
        print_files(files, console)
    stop_if_unwritten(failed)
    stop_if_partial(valuation)


def _settings(method: str, players: str | None, given: dict[str, Any]) -> dict[str, Any]:
    """The options that the user gave, all of which must go with the players and the method."""
    chosen = {name: value for name, value in given.items() if value is not None}
    who = settle_players(players, method, chosen, owned=True)
    if who == "groups" and method not in block_methods():
        raise InputError(
            f"--method {method} values cells, not groups of them: set --players cells, or leave --method out"
        )
    takers = block_takers(who, chosen.get("model"))
    for name in chosen:
        if name not in takers:
            flag = next(iter(_TAKERS[name].values())).flag
            other = "cells" if who == "groups" else "groups"
            raise InputError(
                f"{flag} goes with --players {other}, not with {who}: set them, or leave {flag} out"
            )
    return given_options(method, given, takers)


def payment_records(
    valuation: Any, total: float, negative: str | None = None
) -> list[dict[str, Any]]:
    """What each owner gets, one dictionary per owner, the largest amount first."""
    paid = valuation.payments(total, negative=negative)  # a pyarrow table, as the features are
    records: list[dict[str, Any]] = paid.to_pylist()
    return sorted(records, key=lambda record: -record["value"])


def _payment_table(payments: list[dict[str, Any]], *, paid: bool) -> Table:
    table = Table(title="Owners", title_justify="left", box=None, pad_edge=False)
    table.add_column("owner")
    for heading in ("value", "amount" if paid else "share", "from", "to"):
        table.add_column(heading, justify="right")
    unit = "" if paid else " %"
    for record in payments:
        table.add_row(
            shown(str(record["owner"])),
            f"{record['value']:+.4g}",
            *(f"{record[name]:,.2f}{unit}" for name in ("amount", "low", "high")),
        )
    return table
