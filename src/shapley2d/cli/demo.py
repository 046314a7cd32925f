"""``shapley2d demo``: errors planted in a table, found, repaired; what its parts are worth."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from shapley2d._base.arrow import pa
from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import printable
from shapley2d._valuation.wording.units import Unit, Units
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

Out = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write the files.")]


def demo(out: Out = Path("shapley2d-demo"), as_json_: o.AsJson = False) -> None:
    """Plant errors in a table, find and repair them, and value its cells.

    The table is made up: 1,200 orders of a shop, the three offices that collected them, and
    whether an order was returned. The errors are of the kinds that people make: misspellings,
    broken letters, other units, wrong years, slipped points, swapped digits, wrong products and
    labels. It writes the table, the repaired one, the page on which to decide about each suspect
    entry, and a report of what every cell is worth.
    """
    from shapley2d import Forest, inspect_cells, measure_repair, value_cells
    from shapley2d._inspection.page import write_inspection

    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: name a folder")
    out.mkdir(parents=True, exist_ok=True)
    names = ("table.csv", "clean.csv", "page.html", "report.html")
    files = {name.partition(".")[0]: out / name for name in names}
    for path in files.values():
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
        labels, parts = clean[TARGET].to_pylist(), clean.drop_columns([KEY, OWNER, TARGET])
        valuation = value_cells(parts, labels, kinds=KINDS, method=Forest())
    assert valuation._table is not None  # and by lines as the other page has them
    in_file = replace(valuation._table, lines=np.arange(2, len(labels) + 2))
    valuation = replace(valuation, _table=in_file)
    title = "Demo: which entries are wrong"
    write_inspection(inspection, files["page"], title=title, target=TARGET)
    with naming(files["report"]):
        valuation.to_html(files["report"], title="Demo: what every cell is worth")
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
                "files": {what: str(path) for what, path in files.items()},
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
    worth = Table.grid(padding=(0, 6))
    worth.add_row(
        _worth_table(
            "column",
            [valuation.column_names[j] for j in columns_first],
            valuation.column_values[columns_first],
            units.points,
        ),
        _worth_table("hurts most", lines, valuation.row_values[lowest[:5]], units.rows),
    )
    console.print(worth)
    console.print()
    print_files(files, console)
    page, given = (printable(str(files[name])) for name in ("page", "table"))
    say(
        f"Open {page} in a browser to decide about each entry. By hand:\n"
        f"  shapley2d inspect {given} --target {TARGET} --report page.html\n"
        f"  shapley2d cells {given} --target {TARGET} --drop {KEY} --method forest"
    )


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


def _worth_table(heading: str, names: list[str], worth: Any, unit: Unit) -> Table:
    """Names and values, in the order given."""
    numbers = unit.numbers(worth.tolist(), signed=True)
    return make_table(None, {heading: [*map(shown, names)], unit.words: numbers})
