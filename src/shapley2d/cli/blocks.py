"""``shapley2d blocks``: what every contributor's part of a table is worth."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from shapley2d._base.words import printable
from shapley2d._market.named_rows import is_clusters
from shapley2d._market.parties import settle_parties
from shapley2d._market.payments import UNTRUSTED
from shapley2d._market.receipts.signature import sign
from shapley2d._market.wording import look_lines, negative_words, owner_words, setting_words
from shapley2d._methods.method import options_of
from shapley2d._valuation.wording.units import Unit, Units
from shapley2d.cli.console import (
    ResultConsole,
    collect_notes,
    make_table,
    note,
    shown,
    warnings_as_notes,
)
from shapley2d.cli.errors import computing, stop_if_partial
from shapley2d.cli.methods import make_method, parse_semivalue
from shapley2d.cli.options import BlockOptions, FileOptions, RunOptions, TrainOptions
from shapley2d.cli.reading.inputs import check_split, owners_of, read_inputs, read_owners
from shapley2d.cli.wording import in_words
from shapley2d.cli.writing.outputs import (
    before_writing,
    check_outputs,
    report_facts,
    start_clock,
    stop_if_unwritten,
    write_outputs,
    write_values,
)
from shapley2d.cli.writing.summary import as_json, headline, print_files, print_json
from shapley2d.exceptions import InputError

_OF_THE_QUESTION = ("train", "valid", "cv", "task")  # given again, or among the settings


def blocks(
    table: TrainOptions,
    only: BlockOptions,
    file: FileOptions,
    method: str | None,
    run: RunOptions,
    **given: Any,
) -> None:
    """Value the blocks of a table that different owners contributed, and split a payment."""
    limit = start_clock(run)
    check_split(table)
    if only.audit and only.rows is not None:
        raise InputError("--audit is about owners: name them by --owner-column, not by --rows")
    if only.audit and only.valid_parts is not None:
        raise InputError("--valid-parts does not go with --audit: leave one of them out")
    looks = only.audit or only.pay is not None
    if only.no_look and not looks:
        raise InputError("--no-look goes with --pay or --audit: leave it out")
    given_files = [path for path in (table.train, only.owners, table.valid) if path is not None]
    _check_who(only)
    check_outputs(run.output, run.report, given_files, run.checkpoint, only.receipt)
    _check_payments(table, only)
    weights = parse_semivalue(run.semivalue)
    notes = collect_notes()
    clusters = only.rows if only.rows is not None and is_clusters(only.rows) else None
    chosen = _method(method, only, given)
    inputs = read_inputs(
        table, file, owner_column=only.owner_column, rows=None if clusters else only.rows
    )
    owners: Any = None
    if only.owners is not None:
        owners = read_owners(only.owners, inputs, encoding=file.encoding)
    elif only.owner_column is not None:
        owners = owners_of(inputs.of_rows.pop("rows"))
    for message in inputs.notes:
        note(message)

    from shapley2d import audit_owners, value_blocks

    amount = 100 if only.pay is None else only.pay
    asked: dict[str, Any] = {"look": looks and not only.no_look}
    if only.audit:
        asked |= {"pay": amount, "negative": only.negative, "trusted": only.trusted}
    else:
        asked |= {"valid_parts": only.valid_parts}
        asked |= {} if clusters is None else {"rows": clusters}
    with warnings_as_notes(inputs.names), computing(inputs.names, run.checkpoint):
        found: Any = (audit_owners if only.audit else value_blocks)(
            inputs.X,
            inputs.y,
            inputs.X_valid,
            inputs.y_valid,
            owners=owners,
            method=chosen,
            parties=only.parties,
            copies=only.copies,
            unclaimed=only.unclaimed,
            **inputs.question(table, run, weights, before_writing(limit, run, 0)),
            **asked,
        )
        valuation, audited = found if only.audit else (found, None)
        payees, undivided = owner_records(valuation, amount, only)
    if undivided is not None and only.pay is None:
        note(f"no shares: {in_words(undivided)}")
    paid = only.pay is not None and undivided is None
    files, failed = write_outputs(
        [
            ("values", run.output, lambda path: write_values(valuation, path)),
            (
                "report",
                run.report,
                lambda path: valuation.to_html(
                    path, payments=payees if paid else None, facts=report_facts(inputs), notes=notes
                ),
            ),
            (
                "receipt",
                only.receipt if undivided is None else None,
                lambda path: write_receipt(valuation, path, table, file, only),
            ),
        ]
    )
    if run.as_json:
        more = {
            "owners": payees,
            "paid": None if only.pay is None else float(only.pay),
            "audit": None if audited is None else audited.to_dict(),
        }
        print_json(as_json("blocks", valuation, inputs, [], files, **more))
    else:
        console = ResultConsole()
        console.print(Text(headline(valuation, inputs)))
        console.print(_owner_table(payees, Units.of(valuation).points, only))
        rule = negative_words(payees) if paid else ""
        words = (setting_words(valuation.info), rule, owner_words(valuation.info))
        console.print(Text(f"\n{' '.join(filter(None, words))}"), soft_wrap=True)
        for line in look_lines(valuation.info):
            console.print(Text(line), soft_wrap=True)
        if audited is not None:
            console.print(Text(f"\nAudit, out of {amount:,.2f}"))
            for sentence in audited.sentences:
                console.print(Text(f"- {printable(sentence)}"), soft_wrap=True)
        print_files(files, console)
    stop_if_unwritten(failed)
    if undivided is not None and only.pay is not None:
        raise undivided
    stop_if_partial(valuation)


def _check_who(only: BlockOptions) -> None:
    """One option says which rows belong together."""
    named = {"--owners": only.owners, "--owner-column": only.owner_column, "--rows": only.rows}
    given = [flag for flag, value in named.items() if value is not None]
    if not given:
        raise InputError(
            "who contributed which rows: give --owners FILE, or --owner-column COLUMN; sets of "
            "rows that nobody owns are --rows clusters=40"
        )
    if len(given) > 1:
        raise InputError(f"{given[0]} and {given[1]} exclude each other: give one of them")


def _method(method: str | None, only: BlockOptions, given: dict[str, Any]) -> Any:
    """The method with the options that were given; None for the default of the parties."""
    chosen = {name: value for name, value in given.items() if value is not None}
    if method is not None:
        return make_method(method, chosen)
    if not chosen:
        return None
    nobody = only.rows is not None and is_clusters(only.rows)
    _, usual = settle_parties(only.parties, None, nobody=nobody)
    fits = all(name in options_of(type(usual)) for name in chosen)  # else it says what does
    return make_method(usual.name, {**(usual.settings() if fits else {}), **chosen})


def _check_payments(table: TrainOptions, only: BlockOptions) -> None:
    """Refuse payments before the work that could not be made after it."""
    asked = only.pay is not None or only.receipt is not None or only.audit
    if asked and table.valid is None and not only.trusted:
        raise InputError(*UNTRUSTED)
    for flag, given in (("--sign", only.sign), ("--round", only.round)):
        if given is not None and only.receipt is None:
            raise InputError(
                f"{flag} is about a receipt: name its file by --receipt, or leave {flag} out"
            )
    if only.sign is not None:
        sign(b"", only.sign)


def write_receipt(
    valuation: Any, path: Path, table: TrainOptions, file: FileOptions, only: BlockOptions
) -> None:
    """Write the receipt of a run, with all that is needed to read the files again."""
    from shapley2d._market.receipts.receipt import make_receipt

    of_table = {key: one for key, one in asdict(table).items() if key not in _OF_THE_QUESTION}
    receipt = make_receipt(
        valuation,
        only.pay,
        only.negative,
        trusted=only.trusted,
        round=only.round,
        reading={**of_table, **asdict(file), "owner_column": only.owner_column or only.rows},
    )
    (receipt if only.sign is None else receipt.sign(only.sign)).save(path)


def owner_records(
    valuation: Any, amount: Any, only: BlockOptions
) -> tuple[list[dict[str, Any]], InputError | None]:
    """Value and payment of each owner, the largest value first; why there are no payments.

    Values that cannot be divided are values all the same: they are shown, and written. Sets that
    nobody owns have no shares, unless an amount was given.
    """
    undivided, records = None, valuation._payee_lines()
    if only.rows is None or only.pay is not None:
        try:
            # a pyarrow table, as the features are
            paid = valuation.payments(amount, negative=only.negative, trusted=only.trusted)
            records = [
                {name: one if one == one else None for name, one in line.items()}  # noqa: PLR0124  (NaN)
                for line in paid.to_pylist()
            ]
        except InputError as error:
            undivided = error
            records = [{**line, "low": None, "high": None} for line in records]
    return sorted(records, key=lambda record: -record["value"]), undivided


def _owner_table(records: list[dict[str, Any]], points: Unit, only: BlockOptions) -> Table:
    """Owners with their values and amounts, or sets with the intervals of their values."""
    sets, share = only.rows is not None and only.pay is None, only.pay is None
    names = {} if sets else {"amount": "share" if share else "amount"}
    names |= {"low": "from", "high": "to"}

    def text(number: float | None) -> str:
        if number is None:
            return "-"
        plain = f"{number:,.2f}{' %' if share else ''}"
        return f"{points.factor * number:+.4g}" if sets else plain

    values = points.numbers([record["value"] for record in records], signed=True)
    columns: dict[str, list[Any]] = {
        "set" if sets else "owner": [shown(str(record["owner"])) for record in records],
        points.words or "value": values,
        **{heading: [text(one[name]) for one in records] for name, heading in names.items()},
    }
    return make_table("Sets of rows" if sets else "Owners", columns)
