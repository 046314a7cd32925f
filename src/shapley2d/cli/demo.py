"""``shapley2d demo``: errors in a table found and repaired; what its cells and files are worth."""

import csv
import io
import json
import shlex
import sys
from contextlib import redirect_stdout
from filecmp import cmp
from pathlib import Path
from shutil import copyfile
from typing import Annotated, Any

import typer

from shapley2d._tables.reading.files import read_table
from shapley2d.cli import options as o
from shapley2d.cli.console import show, show_json
from shapley2d.cli.outputs import check_file, naming, write_csv
from shapley2d.exceptions import InputError

_DATA = Path(__file__).parent
_SHARED = slice(0, 800)  # orders of the contributors; the others come later
CUTS = {  # who has which orders and columns, and the labels and validation rows of all
    "shop": (_SHARED, ["order", "ordered", "product", "quantity", "price", "total"]),
    "carrier": (slice(200, 600), ["order", "city", "days"]),
    "service": (slice(0, 500), ["order", "city", "age"]),
    "labels": (_SHARED, ["order", "returned"]),
    "later": (
        slice(800, 1200),
        ["ordered", "product", "quantity", "price", "total", "city", "days", "age", "returned"],
    ),
}
STEPS = {  # what each asks, and its command
    "Which entries are wrong?": "inspect table.csv --target returned --report page.html "
    "--repair-sure clean.csv --top 10",
    "What is every cell worth?": "cells clean.csv --target returned --drop order,office "
    "--number weight --method forest --report report.html --top 5",
    "Who contributed it?": "fragments shop.csv carrier.csv service.csv --on order "
    "--target returned --labels labels.csv --valid later.csv --pay 10000 "
    "--report contributors.html",
}


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Where to write the files.")
    ] = Path("shapley2d-demo"),
    as_json: o.AsJson = False,
) -> None:
    """Plant errors in a table, find and repair them, value its cells and its contributors.

    The table is made up: 1,200 orders of a shop, the three offices that collected them, and
    whether an order was returned. The errors are of the kinds that people make: misspellings,
    broken letters, other units, wrong years, slipped points, swapped digits, wrong products and
    labels. The commands that are run are printed: one finds the errors, writes the page on which to
    decide about each suspect entry, and repairs what is sure; one values every cell; and one values
    and pays the files of three contributors, into which the table is cut.
    """
    from shapley2d.cli.app import app

    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: name a folder")
    out.mkdir(parents=True, exist_ok=True)
    written = [word for step in STEPS.values() for word in step.split() if "." in word]
    files = {name.partition(".")[0]: out / name for name in written}
    made, table = _DATA / "demo_table.csv", files["table"]
    again = table.is_file() and cmp(made, table, shallow=False)
    for path in files.values():
        check_file(path, "--out")
        if path.exists() and not again:
            raise InputError(f"--out {out}: {path} is there already: name another folder")
    with naming(table):
        copyfile(made, table)
    errors = planted_errors()
    record: dict[str, Any] = {"command": "demo", "planted": len(errors), "files": files}
    story = "1,200 orders of a made-up shop, and whether each was returned."
    told = [f"{story} {len(errors)} errors were planted."]
    for question, command in STEPS.items():
        words = [str(files.get(one.partition(".")[0], one)) for one in command.split()]
        told.append(f"\n{question}\n\n$ shapley2d {shlex.join(words)}\n")
        if not as_json:
            show(*told)
        with redirect_stdout(io.StringIO() if as_json else sys.stdout) as said:
            code = app([*words, *["--json"] * as_json], standalone_mode=False)
        if code:  # of Ctrl-C
            raise typer.Exit(code)
        if isinstance(said, io.StringIO):
            record[words[0]] = json.loads(said.getvalue())
        told = []
        if words[0] == "inspect":
            clean = read_table(str(files["clean"])).table
            right = sum(
                clean[one["column"]][int(one["row"])].as_py() == one["was"] for one in errors
            )
            told = [f"\n{right} of the {len(errors)} planted errors are now what they were before."]
            record["restored"] = right
            for name, (rows, columns) in CUTS.items():
                write_csv(clean.select(columns)[rows], files[name])
    if as_json:
        show_json(record)
    else:
        page = shlex.quote(str(files["page"]))
        show(f"\nOpen {page} in a browser to decide about each entry that is likely wrong.")


def planted_errors() -> list[dict[str, str]]:
    """The errors in the table: what each is, its row and column, what was there and what is."""
    with (_DATA / "demo_errors.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
