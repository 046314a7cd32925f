"""``shapley2d verify``: a receipt checked, by itself and from the files."""

from pathlib import Path
from typing import Annotated

import typer

from shapley2d._base.words import counted
from shapley2d._fragments.receipt import read_receipt
from shapley2d.cli import options as o
from shapley2d.cli.console import progress, show
from shapley2d.cli.fragments import named_files

ReceiptFile = Annotated[Path, o.argument("RECEIPT", "A receipt written by fragments.")]
Files = Annotated[
    list[str] | None,
    o.argument(
        "[FILE]",
        "Files of the receipt, matched by their names, by NAME=FILE, or by what they hold. With "
        "all of them the values are computed again.",
    ),
]
Labels = Annotated[str | None, o.common("FILE", "Everybody's labels.")]
Valid = Annotated[str | None, o.common("FILE", "The validation rows.")]
PublicKey = Annotated[
    Path | None,
    o.common("KEY.pem", "The public key of who must have signed the receipt."),
]


def verify(
    receipt: ReceiptFile,
    files: Files = None,
    labels: Labels = None,
    valid: Valid = None,
    public_key: PublicKey = None,
    n_jobs: o.Jobs = None,
) -> None:
    """Check that nothing in a receipt was changed and, with the files, that its values follow.

    Exit code 0 if everything holds, 1 if something differs, 2 if a file cannot be read.
    """
    from shapley2d import verify_receipt

    record = read_receipt(receipt)
    found = verify_receipt(
        record,
        named_files(files or []) or None,
        labels=labels,
        valid=valid,
        public_key=public_key,
        n_jobs=n_jobs,
        progress=progress(),
    )
    who = counted(len(record["contributors"]), "contributor")
    paid = "" if record["paid"] is None else f" share {record['paid']}"
    made = record["made"]
    by = f"dated {made['date']}, by shapley2d {made['versions']['shapley2d']}"
    show(f"{receipt}: {who}{paid}; {by}", *(f"- {one}" for one in found.lines))
    if not found.ok:
        raise typer.Exit(1)
