"""``shapley2d blocks``: what every contributor's part of a table is worth."""

from typing import Annotated, Any, Optional

import typer
from rich.table import Table
from rich.text import Text

from shapley2d._base.defaults import FOLDS
from shapley2d._methods.registry import METHODS, block_methods, game_methods
from shapley2d.cli import options as o
from shapley2d.cli.console import ResultConsole, collect_notes, note, progress, shown, warnings_as_notes
from shapley2d.cli.errors import computing, stop_if_partial
from shapley2d.cli.method_options import (
    block_takers,
    given_options,
    parse_semivalue,
    with_method_options,
)
from shapley2d.cli.reading.inputs import read_inputs, refuse_two_yardsticks
from shapley2d.cli.reading.owners import read_owners
from shapley2d.cli.writing.outputs import check_outputs, report_facts, stop_if_unwritten, write_outputs
from shapley2d.cli.writing.summary import as_json, headline, print_files, print_json

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
    "auto": "exact where that is cheap, else mc",
    "knn": "auto with model knn, trains no model",
    **{name: METHODS[name].summary for name in game_methods()},
}
Pay = Annotated[
    Optional[float],  # noqa: UP045  (typer reads it at run time)
    typer.Option(
        "--pay", metavar="AMOUNT", min=0.0, help="An amount to split among the owners.", show_default=False
    ),
]


@with_method_options(_TAKERS, {name: _SUMMARIES[name] for name in block_methods()})
def blocks(
    train: o.Train,
    target: o.Target,
    owners: Owners,
    pay: Pay = None,
    drop: o.Drop = None,
    drop_keys: o.DropKeys = False,
    row_id: o.RowId = None,
    valid: o.Valid = None,
    folds: o.Folds = None,
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
    refuse_two_yardsticks(valid, folds=folds, groups=groups, time=time)
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
    settings = given_options(method, given, _TAKERS)

    from shapley2d import value_blocks

    with warnings_as_notes(inputs.names), computing(inputs.names):
        valuation = value_blocks(
            inputs.X,
            inputs.y,
            inputs.X_valid,
            inputs.y_valid,
            owners=parts,
            method=method,
            task=task,
            kinds=inputs.kinds or None,
            folds=FOLDS if folds is None else folds,
            **inputs.of_rows,
            semivalue=weights,
            random_state=seed,
            n_jobs=jobs,
            progress=progress(),
            **settings,
        )
    payments = payment_records(valuation, 100 if pay is None else pay)
    files, failed = write_outputs(
        valuation,
        output,
        report,
        payments=payments if pay is not None else None,
        facts=report_facts(inputs),
        notes=notes,
    )
    if as_json_:
        owned = {"owners": payments, "paid": pay}
        print_json(as_json("blocks", valuation, inputs, [], files, **owned))
    else:
        console = ResultConsole()
        console.print(Text(headline(valuation, inputs, "blocks")))
        console.print(_payment_table(payments, paid=pay is not None))
        print_files(files, console)
    stop_if_unwritten(failed)
    stop_if_partial(valuation)


def payment_records(valuation: Any, total: float) -> list[dict[str, Any]]:
    """What each owner gets, one dictionary per owner, the largest amount first."""
    records: list[dict[str, Any]] = valuation.payments(
        total
    ).to_pylist()  # a pyarrow table, as the features are
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
