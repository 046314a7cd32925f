"""``shapley2d demo``: errors planted in a table and repaired; what cells and files are worth."""

import csv
import shlex
from dataclasses import replace
from filecmp import cmp
from pathlib import Path
from shutil import copyfile
from typing import Annotated, Any, Literal

import typer

from shapley2d._base.warnings import without_warnings
from shapley2d._tables.reading.files import read_table
from shapley2d.cli import options as o
from shapley2d.cli.console import show, show_files, show_json, shown, titled, warnings_as_notes
from shapley2d.cli.outputs import check_file, naming, write_csv
from shapley2d.exceptions import InputError

SURE = 0.9
"""Entries that are at least this likely wrong are repaired, where the suggestion is sure too."""

TARGET, OFFICE, KEY = "returned", "office", "order"
KINDS: dict[str, Literal["number"]] = {"weight": "number"}  # with a unit behind it
PAID = 10_000
HELD = {  # of the first 800 orders: who has which rows and columns
    "shop": (slice(0, 800), ["ordered", "product", "quantity", "price", "total"]),
    "carrier": (slice(200, 600), ["city", "days"]),
    "service": (slice(0, 500), ["city", "age"]),
}
_DATA = Path(__file__).parent


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
    labels. It writes the table, the repaired one, the page on which to decide about each suspect
    entry, and a report of what every cell is worth. Then it cuts the table into the files of three
    contributors, and writes a page of what each is worth and is paid.
    """
    from shapley2d import Forest, inspect_cells, measure_repair, value_cells, value_fragments

    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: name a folder")
    out.mkdir(parents=True, exist_ok=True)
    names = ("table.csv", "clean.csv", "page.html", "report.html", "contributors.html")
    files = {name.partition(".")[0]: out / name for name in names}
    parts = {name: out / f"{name}.csv" for name in (*HELD, "labels", "later")}
    made = _DATA / "demo_table.csv"
    again = files["table"].is_file() and cmp(made, files["table"], shallow=False)
    for path in (*files.values(), *parts.values()):
        check_file(path, "--out")
        if path.exists() and not again:
            raise InputError(f"--out {out}: {path} is there already: name another folder")
    table, errors = read_table(str(made)).table, planted_errors()
    with naming(files["table"]):
        copyfile(made, files["table"])
    with warnings_as_notes():
        inspection = inspect_cells(files["table"], TARGET)
        with without_warnings():  # of entries that stay: what was repaired is said below
            clean, log = inspection.repair(table, probability=SURE)
        write_csv(clean, files["clean"])
        gain = measure_repair(log, table.drop_columns([TARGET]), table[TARGET], kinds=KINDS)
        source = read_table(str(files["clean"]))  # so that rows go by its lines
        features = replace(source, table=clean.drop_columns([KEY, OFFICE]))
        valuation = value_cells(features, TARGET, kinds=KINDS, method=Forest())
        for name, (rows, columns) in HELD.items():
            write_csv(clean.select([KEY, *columns])[rows], parts[name])
        write_csv(clean.select([KEY, TARGET])[:800], parts["labels"])
        held = dict.fromkeys(name for _, columns in HELD.values() for name in columns)
        write_csv(clean.select([*held, TARGET])[800:], parts["later"])
        pieces = {name: parts[name] for name in HELD}
        worth = value_fragments(pieces, TARGET, parts["later"], labels=parts["labels"], on=KEY)
    with naming(out):
        inspection.to_html(files["page"], title="Demo: which entries are wrong")
        valuation.to_html(files["report"], title="Demo: what every cell is worth")
        worth.to_html(files["contributors"], pay=PAID)
    kinds, n_out = find_planted(inspection, errors)
    restored = sum(clean[one["column"]][int(one["row"])].as_py() == one["was"] for one in errors)
    record = {"command": "demo", "planted": len(errors), "stand_out": n_out, "kinds": kinds}
    record |= {"true": sum(kind["stand_out"] for kind in kinds.values()), "repaired": len(log)}
    record |= {"restored": restored, "gain": {"gain": gain.gain, "interval": gain.interval}}
    record["contributors"] = dict(zip(HELD, worth.row_values.tolist(), strict=True))
    record["files"] = files | parts
    if as_json:
        show_json(record)
        return
    found = {
        "error": [shown(name) for name in kinds],
        **{
            name: [shown(str(kind[name])) for kind in kinds.values()]
            for name in ("example", "planted", "stand_out", "suggested")
        },
    }
    paid = zip(*(worth.payments(PAID)[name] for name in ("owner", "amount")), strict=True)
    page, whole, *cut = (
        shlex.quote(str(one)) for one in (files["page"], files["table"], *parts.values())
    )
    show(
        "1,200 orders of a made-up shop, and whether each was returned. "
        f"{len(errors)} errors were planted.\n",
        *titled(
            f"1. Which entries are wrong? {n_out} stand out, of which {record['true']} were "
            "planted; the others fit their rows.",
            found,
        ),
        f"\n2. Repair: {len(log)} sure suggestions were applied; {restored} restored what was "
        f"there.\n{gain._words()}",
        f"\n3. What is it worth?\n{valuation!r}",
        f"\n4. Who contributed it? {PAID:,} are split: "
        f"{', '.join(f'{name} {float(amount):,.2f}' for name, amount in paid)}.\n{worth!r}\n",
    )
    show_files(files)
    show(
        f"Open {page} in a browser to decide about each entry. By hand:\n"
        f"  shapley2d inspect {whole} --target {TARGET} --report page.html\n"
        f"  shapley2d cells {whole} --target {TARGET} --drop {KEY} --method forest\n"
        f"  shapley2d fragments {' '.join(cut[:-2])} --on {KEY} --target {TARGET} "
        f"--labels {cut[-2]} --valid {cut[-1]} --pay {PAID} --report contributors.html"
    )


def planted_errors() -> list[dict[str, str]]:
    """The errors in the table: what each is, its row and column, what was there and what is."""
    with (_DATA / "demo_errors.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def find_planted(
    inspection: Any, errors: list[dict[str, str]]
) -> tuple[dict[str, dict[str, Any]], int]:
    """Of every kind of error, how many stand out and have the right suggestion; all that do."""
    cells = inspection._cells
    kinds: dict[str, dict[str, Any]] = {}
    for one in errors:
        i, j = int(one["row"]), cells.names.index(one["column"])
        out, right = bool(cells.standing_out[i, j]), cells.expected_text(i, j) == one["was"]
        kind = kinds.setdefault(one["kind"], {"example": f"{one['became']} for {one['was']}"})
        for name, count in {"planted": 1, "stand_out": out, "suggested": out and right}.items():
            kind[name] = kind.get(name, 0) + count
    return kinds, int(cells.standing_out.sum())
