"""``shapley2d demo``: errors planted in a table and repaired; what cells and files are worth."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from shapley2d._base.arrow import pa
from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import printable
from shapley2d._valuation.units import Unit, Units
from shapley2d.cli import options as o
from shapley2d.cli.console import ResultConsole, make_table, shown, warnings_as_notes
from shapley2d.cli.demo_orders import Planted, make_orders
from shapley2d.cli.writing.outputs import check_file, naming, write_csv
from shapley2d.cli.writing.summary import print_files, print_json
from shapley2d.exceptions import InputError

SURE = 0.9
"""Entries that are at least this likely wrong are repaired, where the suggestion is sure too."""

TARGET, OWNER, KEY = "returned", "office", "order"
KINDS: dict[str, Literal["number"]] = {"weight": "number"}  # with a unit behind it
PAID = 10_000
HELD = {  # of the first 800 orders: who has which rows and columns
    "shop": (slice(0, 800), ["ordered", "product", "quantity", "price", "total"]),
    "carrier": (slice(200, 600), ["city", "days"]),
    "service": (slice(0, 500), ["city", "age"]),
}

Out = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write the files.")]


def demo(out: Out = Path("shapley2d-demo"), as_json_: o.AsJson = False) -> None:
    """Plant errors in a table, find and repair them, value its cells and its contributors.

    The table is made up: 1,200 orders of a shop, the three offices that collected them, and
    whether an order was returned. The errors are of the kinds that people make: misspellings,
    broken letters, other units, wrong years, slipped points, swapped digits, wrong products and
    labels. It writes the table, the repaired one, the page on which to decide about each suspect
    entry, and a report of what every cell is worth. Then it cuts the table into the files of three
    contributors, and writes a page of what each is worth and is paid.
    """
    from shapley2d import Forest, inspect_cells, measure_repair, value_cells, value_fragments
    from shapley2d._inspection.page import write_inspection

    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: name a folder")
    out.mkdir(parents=True, exist_ok=True)
    names = ("table.csv", "clean.csv", "page.html", "report.html", "contributors.html")
    files = {name.partition(".")[0]: out / name for name in names}
    parts = {name: out / f"{name}.csv" for name in (*HELD, "labels", "later")}
    for path in (*files.values(), *parts.values()):
        check_file(path, "--out")
    columns, planted = make_orders()
    table = pa.table(columns)
    write_csv(table, files["table"])
    with warnings_as_notes():  # from the file, so that rows go by its lines as in other commands
        inspection = inspect_cells(files["table"], TARGET)
        with without_warnings():  # of entries that stay: what was repaired is said below
            clean, log = inspection.repair(table, probability=SURE)
        write_csv(clean, files["clean"])
        gain = measure_repair(log, table.drop_columns([TARGET]), columns[TARGET], kinds=KINDS)
        labels, features = clean[TARGET].to_pylist(), clean.drop_columns([KEY, OWNER, TARGET])
        valuation = value_cells(features, labels, kinds=KINDS, method=Forest())
        _cut(clean, parts)
        given = {name: parts[name] for name in HELD}
        worth = value_fragments(given, TARGET, parts["later"], labels=parts["labels"], on=KEY)
    assert valuation._table is not None  # and by lines as the other page has them
    in_file = replace(valuation._table, lines=np.arange(2, len(labels) + 2))
    valuation = replace(valuation, _table=in_file)
    title = "Demo: which entries are wrong"
    write_inspection(inspection, files["page"], title=title, target=TARGET)
    with naming(files["report"]):
        valuation.to_html(files["report"], title="Demo: what every cell is worth")
    with naming(files["contributors"]):
        worth.to_html(files["contributors"], pay=PAID)
    found = find_planted(inspection, planted)
    restored = sum(clean[one.column][one.row].as_py() == one.was for one in planted)
    if as_json_:
        print_json(
            {
                "command": "demo",
                "planted": len(planted),
                **found,
                "repaired": len(log),
                "restored": restored,
                "gain": {"gain": gain.gain, "interval": gain.interval},
                "contributors": dict(zip(HELD, worth.row_values.tolist(), strict=True)),
                "files": {what: str(path) for what, path in (files | parts).items()},
            }
        )
        return
    console = ResultConsole()

    def say(words: str, style: str = "") -> None:
        console.print(Text(words, style=style), soft_wrap=True)

    n, m = inspection.shape
    say(
        f"{n:,} orders of a made-up shop x {m} columns, and whether each was returned. "
        f"{len(planted)} errors were planted.\n"
    )
    wrong = f"{found['stand_out']} stand out, of which {found['true']} were planted."
    say(f"1. Which entries are wrong? {wrong}", "bold")
    console.print(_found_table(found["kinds"]))
    missed = len(planted) - found["true"]
    say(f"{missed} were missed: an entry that fits its row looks like any other.")
    repaired = f"{len(log)} sure suggestions were applied; {restored} restored what was there."
    say(f"\n2. Repair: {repaired}", "bold")
    say(gain._words())
    if not gain.interval[0] > 0:
        say(f"{len(log)} of {n * m:,} entries are too few to move a model.")
    say("\n3. What is it worth?", "bold")
    units = Units.of(valuation)
    columns_first, lowest = (
        np.argsort(one, kind="stable") for one in (-valuation.column_values, valuation.row_values)
    )
    lines = [f"line {valuation._shown_rows[row]}, returned: {labels[row]}" for row in lowest[:5]]
    grid = Table.grid(padding=(0, 6))
    grid.add_row(
        _worth_table(
            "column",
            [valuation.column_names[j] for j in columns_first],
            valuation.column_values[columns_first],
            units.points,
        ),
        _worth_table("hurts most", lines, valuation.row_values[lowest[:5]], units.rows),
    )
    console.print(grid)
    say(
        f"\n4. Who contributed it? The {', the '.join(HELD)} hold a piece each; {PAID:,} are "
        "split.",
        "bold",
    )
    console.print(_paid_table(worth))
    console.print()
    print_files(files, console)
    page, table, *pieces = (
        printable(shlex.quote(str(one))) for one in (files["page"], files["table"], *parts.values())
    )
    say(
        f"Open {page} in a browser to decide about each entry. By hand:\n"
        f"  shapley2d inspect {table} --target {TARGET} --report page.html\n"
        f"  shapley2d cells {table} --target {TARGET} --drop {KEY} --method forest\n"
        f"  shapley2d fragments {' '.join(pieces[:-2])} --on {KEY} --target {TARGET} "
        f"--labels {pieces[-2]} --valid {pieces[-1]} --pay {PAID} --report contributors.html"
    )


def _cut(table: Any, paths: dict[str, Path]) -> None:
    """Write the files of the contributors, everybody's labels, and orders to validate on."""
    for name, (rows, columns) in HELD.items():
        write_csv(
            table.slice(rows.start, rows.stop - rows.start).select([KEY, *columns]), paths[name]
        )
    write_csv(table.slice(0, 800).select([KEY, TARGET]), paths["labels"])
    held = dict.fromkeys(name for _, columns in HELD.values() for name in columns)
    write_csv(table.slice(800).select([*held, TARGET]), paths["later"])


def find_planted(inspection: Any, planted: list[Planted]) -> dict[str, Any]:
    """How many entries stand out, and of every kind of error how many with the right suggestion."""
    cells = inspection._cells
    out, places = cells.standing_out, set()
    kinds: dict[str, list[Any]] = {}
    for one in planted:
        i, j = one.row, cells.names.index(one.column)
        example = f"{one.became} for {one.was}"
        kind = kinds.setdefault(one.kind, [example, 0, 0, 0])
        right = cells.expected_text(i, j) == one.was
        kind[1:] = np.add(kind[1:], [1, out[i, j], out[i, j] and right]).tolist()
        places.add((i, j))
    names = ("example", "planted", "stand_out", "suggested")
    return {
        "stand_out": int(out.sum()),
        "true": len(places & {*map(tuple, np.argwhere(out).tolist())}),
        "kinds": {name: dict(zip(names, kind, strict=True)) for name, kind in kinds.items()},
    }


def _found_table(kinds: dict[str, dict[str, Any]]) -> Table:
    columns: dict[str, list[Any]] = {
        "error": [shown(name) for name in kinds],
        "example": [shown(kind["example"]) for kind in kinds.values()],
    }
    headings = {"planted": "planted", "stand_out": "stand out", "suggested": "right suggestion"}
    for name, heading in headings.items():
        columns[heading] = [str(kind[name]) for kind in kinds.values()]
    return make_table(None, columns)


def _paid_table(valuation: Any) -> Table:
    """What each contributor is worth and is paid."""
    unit = Unit(100.0, "points")
    order = np.argsort(-valuation.row_values, kind="stable")
    names, values = valuation.row_names[order].tolist(), valuation.row_values[order].tolist()
    half = (valuation._interval_factor * valuation.row_stderr[order]).tolist()
    paid = nw.from_native(valuation.payments(PAID), eager_only=True)["amount"].to_numpy()[order]
    columns: dict[str, list[Any]] = {
        "contributor": [shown(name) for name in names],
        unit.words: unit.numbers(values, signed=True),
        "95 %": [f"+- {reach}" for reach in unit.spreads(half, values)],
        "payment": [f"{amount:,.2f}" for amount in paid.tolist()],
    }
    return make_table(None, columns)


def _worth_table(heading: str, names: list[str], worth: Any, unit: Unit) -> Table:
    """Names and values, in the order given."""
    numbers = unit.numbers(worth.tolist(), signed=True)
    return make_table(None, {heading: [*map(shown, names)], unit.words: numbers})
