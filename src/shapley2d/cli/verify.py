"""``shapley2d verify``: a receipt checked, by itself, by one owner, or from all the data."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from rich.text import Text

from shapley2d._base.words import counted, printable
from shapley2d._tables.reading.files import read_table
from shapley2d._tables.texts.column import clean_texts
from shapley2d.cli import options as o
from shapley2d.cli.console import ResultConsole, progress
from shapley2d.cli.errors import computing
from shapley2d.cli.reading.inputs import owners_of, read_inputs, read_owners
from shapley2d.exceptions import InputError

ReceiptFile = Annotated[Path, o.argument("RECEIPT", "A receipt written by blocks.")]
PublicKey = Annotated[
    Path | None,
    o.option(
        o.COMMON,
        "KEY.pem",
        "Check that the receipt was signed with the private key that goes with this public key.",
    ),
]
Owner = Annotated[str | None, o.option(o.COMMON, "NAME", "Whose block --block is.")]
Block = Annotated[
    str | None,
    o.option(
        o.COMMON,
        "FILE",
        "An owner's rows and columns, and the target where it knows it: check that these were "
        "valued.",
    ),
]
TableFile = Annotated[
    str | None, o.option(o.COMMON, "FILE", "The training table, to compute everything again.")
]
ValidFile = Annotated[
    str | None, o.option(o.COMMON, "FILE", "The validation table.", "--valid", "--validation")
]
Round = Annotated[
    str | None, o.option(o.COMMON, "TEXT", "The round of payments that the receipt must be of.")
]
OwnersFile = Annotated[str | None, o.option(o.COMMON, "FILE", "Who contributed what.")]


def verify(
    receipt: ReceiptFile,
    public_key: PublicKey = None,
    owner: Owner = None,
    block: Block = None,
    table: TableFile = None,
    valid: ValidFile = None,
    owners: OwnersFile = None,
    round: Round = None,  # noqa: A002  (the flag)
    n_jobs: o.NJobs = None,
) -> None:
    """Check a receipt: that nothing in it was changed, and with the data that it follows from them.

    Exit code 0 if everything fits, 2 with one line on what does not.
    """
    if (owner is None) != (block is None):
        raise InputError("--owner and --block go together: give both, or neither")
    if table is None and (valid is not None or owners is not None):
        option = "--valid" if valid is not None else "--owners"
        raise InputError(f"{option} goes with --table: give it too, or leave {option} out")

    from shapley2d._market.receipts.receipt import Receipt

    found = Receipt.load(receipt)
    said = ["Its digest fits, its values sum to what the table is worth, and its amounts follow."]
    if public_key is not None:
        found.check_signer(public_key)
    if round is not None:
        found.check_round(round)
    said.append(_signature_words(found, public_key))
    if block is not None:
        assert owner is not None
        with_labels = _check_block(found, owner, block)
        labels = ", with these labels" if with_labels else "; its labels were not compared"
        said.append(f"The block of {owner!r} is the one that was valued{labels}.")
    if table is not None:
        _recompute(found, table, valid, owners, n_jobs)
        what = "value" if found.body["payments"] is None else "amount"
        said.append(f"Computed again from the data: every {what} is the same.")
    console = ResultConsole()
    console.print(Text(printable(f"{receipt}: {_headline(found)}")), soft_wrap=True)
    for sentence in said:
        console.print(Text(f"- {printable(sentence)}"), soft_wrap=True)


def _headline(found: Any) -> str:
    body = found.body
    who = counted(len(body["values"]["owners"]), "owner")
    paid = body["payments"]
    shares = "" if paid is None else f", who share {paid['total']}"
    made = body["made"]
    by = made["versions"].get("shapley2d")
    of_round = "" if body["round"] is None else f", round {body['round']!r}"
    return f"{who}{shares}{of_round}; dated {made['date']}, by shapley2d {by}"


def _signature_words(found: Any, public_key: Path | None) -> str:
    if found.signature is None:
        return (
            "It is not signed: anyone could have made it, and its date, its versions and its round "
            "are what they wrote."
        )
    if public_key is not None:
        return f"It was signed with the key of {public_key}."
    key = found.signature["public_key"]
    return f"It was signed with the key {key}; --public-key checks whose that is."


def _reading(found: Any, kind: type) -> dict[str, Any]:
    """Options of a kind by which the files were read; nothing if the receipt was made in Python."""
    reading = found.body["question"]["reading"] or {}
    return {field.name: reading[field.name] for field in fields(kind) if field.name in reading}


def _check_block(found: Any, owner: str, block: str) -> bool:
    """Check an owner's file; whether it has labels, too."""
    reading = found.body["question"]["reading"] or {}
    source = read_table(block, separator=reading.get("separator"), encoding=reading.get("encoding"))
    known = {column["name"] for column in found.body["digests"]["columns"]}
    target = reading.get("target") or found.body["digests"]["target"]
    content = clean_texts(source.table)
    besides = ("row_id", "groups", "time_order", "valid_weight", "owner_column")
    beside = {reading.get(key) for key in besides}
    beside |= {
        name for listed in reading.get("drop") or () for name in (listed, *listed.split(","))
    }
    names = [
        name
        for name in content.column_names
        if name in known or (name != target and name not in beside)
    ]
    if not any(name in known for name in names):
        raise InputError(f"--block {block} has none of the columns of the receipt")
    labels, rows = None, np.arange(content.num_rows)
    if target in content.column_names and target not in known:
        labels = content[target].to_pylist()
        rows = np.flatnonzero([label is not None for label in labels])
        labels = [labels[row] for row in rows.tolist()]
    with computing({"X": f"--block {block}"}):
        found.check_block(owner, source.table.select(names).take(rows), labels)
    return labels is not None


def _recompute(
    found: Any, table: str, valid: str | None, owners: str | None, n_jobs: int | None
) -> None:
    reading = found.body["question"]["reading"] or {}
    column = reading.get("owner_column")
    if reading and (column is None) == (owners is None):
        raise InputError(
            "--table goes with --owners: give it too, or leave --table out"
            if owners is None
            else f"the owners are named by the column {column!r} of the table: leave out --owners"
        )
    if not reading:
        raise InputError(
            "the receipt was made in Python and does not say how files were read: use "
            "shapley2d.verify_receipt, or leave --table out"
        )
    if (found.body["digests"]["validation"] is not None) != (valid is not None):
        there = "with" if valid is None else "without"
        raise InputError(
            f"the receipt was made {there} a validation table: "
            f"{'give' if valid is None else 'leave out'} --valid"
        )
    task = found.body["question"]["settings"]["task"]
    train = o.TrainOptions(train=table, valid=valid, task=task, **_reading(found, o.TrainOptions))
    file = o.FileOptions(**_reading(found, o.FileOptions))

    from shapley2d import verify_receipt

    inputs = read_inputs(train, file, owner_column=column)
    with computing(inputs.names):
        parts: Any = None
        if owners is not None:
            parts = read_owners(owners, inputs, encoding=file.encoding)
        elif "rows" not in found.body["question"]["unrecorded"]:  # of an audit
            parts = owners_of(inputs.of_rows.pop("rows"))
        verify_receipt(
            found,
            inputs.X,
            inputs.y,
            inputs.X_valid,
            inputs.y_valid,
            owners=parts,
            n_jobs=n_jobs,
            progress=progress(),
            **inputs.of_rows,
        )
