"""``shapley2d demo``: errors planted in a table, found and repaired, and what its parts are worth."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from shapley2d._base.words import printable
from shapley2d._valuation.wording.units import Units
from shapley2d.cli import options as o
from shapley2d.cli.console import ResultConsole, make_table, shown, warnings_as_notes
from shapley2d.cli.demo_orders import Planted, make_orders
from shapley2d.cli.writing.outputs import check_file, naming, write_csv
from shapley2d.cli.writing.summary import print_files, print_json
from shapley2d.exceptions import InputError

STANDS_OUT = 0.5
"""Probability from which an entry counts as found."""

SURE = 0.9
"""Probability from which a suggestion is applied."""

_TARGET, _OWNER, _KEY = "returned", "office", "order"

Out = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write the files.")]


def demo(out: Out = Path("shapley2d-demo"), as_json_: o.AsJson = False) -> None:
    """Plant errors in a table, find and repair them, and value columns, rows and owners.

    The table is made up: 1,200 orders of a shop, three offices that collected them, and whether an
    order was returned. The errors are of the kinds that people make: misspellings, broken letters,
    other units, wrong years, slipped points, swapped digits, wrong products and labels. It writes
    the table, the repaired one, the page on which to decide about each suspect entry, and a report
    of what every cell is worth.
    """
    from shapley2d import Forest, inspect_cells, measure_repair, value_blocks, value_cells
    from shapley2d._inspection.page import write_inspection

    _make_folder(out)
    names = ("table.csv", "clean.csv", "page.html", "report.html")
    files = {name.partition(".")[0]: out / name for name in names}
    for path in files.values():
        check_file(path, "--out")
    columns, planted = make_orders()
    write_csv(_table(columns), files["table"])
    with warnings_as_notes():
        inspection = inspect_cells(files["table"], _TARGET)
        clean, log = inspection.repair(_table(columns), probability=SURE)
        write_csv(clean, files["clean"])
        gain = measure_repair(log, _table(columns).drop_columns([_TARGET]), columns[_TARGET])
        known = clean.drop_columns([_KEY, _OWNER, _TARGET])
        labels = clean[_TARGET].to_pylist()
        valuation = value_cells(known, labels, method=Forest())
        owners = value_blocks(known.append_column(_OWNER, clean[_OWNER]), labels, owner_column=_OWNER)  # fmt: skip
    write_inspection(
        inspection, files["page"], title="Demo: which entries are wrong", target=_TARGET
    )
    with naming(files["report"]):
        valuation.to_html(files["report"], title="Demo: what every cell is worth")
    found = _found(inspection, planted)
    rows = dict(zip(clean.column_names, (clean[name].to_pylist() for name in clean.column_names), strict=True))  # fmt: skip
    restored = sum(rows[one.column][one.row] == one.was for one in planted)
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
    stand_out, right = found["stand_out"], found["true"]
    say(f"1. Which entries are wrong? {stand_out} stand out, and {right} of these were planted.", "bold")  # fmt: skip
    console.print(_found_table(found["kinds"]))
    say(
        f"\n2. Repair: the {len(log)} sure suggestions were applied, and {restored} of them restored "
        "what was there.",
        "bold",
    )
    say(gain._words())
    say("\n3. What is it worth?", "bold")
    console.print(
        _worth_table("column", valuation.column_names, valuation.column_values, valuation)
    )
    console.print()
    names_of_owners = [str(name) for name in owners.row_names]
    console.print(_worth_table("office", names_of_owners, owners.row_values, owners))
    console.print()
    print_files(files, console)
    table = printable(str(files["table"]))
    say(
        f"Open {printable(str(files['page']))} in a browser to decide about each entry. By hand:\n"
        f"  shapley2d inspect {table} --target {_TARGET} --report page.html\n"
        f"  shapley2d cells {table} --target {_TARGET} --drop {_KEY} --method forest"
    )


def _make_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: name a folder")
    out.mkdir(parents=True, exist_ok=True)


def _table(columns: dict[str, list[str]]) -> Any:
    import pyarrow as pa

    return pa.table(columns)


def _found(inspection: Any, planted: list[Planted]) -> dict[str, Any]:
    """What stands out, and of every kind of error how many, with their suggestions."""
    cells = inspection._cells
    said = np.column_stack([inspection.probability, inspection.label_probability])
    out = said >= STANDS_OUT
    kinds: dict[str, dict[str, Any]] = {}
    for one in planted:
        i, j = one.row, cells.names.index(one.column)
        kind = kinds.setdefault(one.kind, Counter(example=f"{one.became} for {one.was}"))  # type: ignore[arg-type]
        kind["planted"] += 1
        kind["stand_out"] += int(out[i, j])
        kind["suggested"] += int(out[i, j] and cells.expected_text(i, j) == one.was)
    places = {(one.row, cells.names.index(one.column)) for one in planted}
    true = sum((i, j) in places for i, j in np.argwhere(out).tolist())
    return {"stand_out": int(out.sum()), "true": true, "kinds": {k: dict(v) for k, v in kinds.items()}}  # fmt: skip


def _found_table(kinds: dict[str, dict[str, Any]]) -> Table:
    columns: dict[str, list[Any]] = {
        "error": [shown(name) for name in kinds],
        "example": [shown(str(kind["example"])) for kind in kinds.values()],
    }
    for heading, name in (
        ("planted", "planted"), ("stand out", "stand_out"), ("right entry suggested", "suggested"),
    ):  # fmt: skip
        columns[heading] = [str(kind[name]) for kind in kinds.values()]
    return make_table(None, columns)


def _worth_table(heading: str, names: list[str], worth: Any, values: Any) -> Table:
    order = np.argsort(-worth, kind="stable").tolist()
    points = Units.of(values).points
    return make_table(
        None,
        {
            heading: [shown(names[k]) for k in order],
            points.words: points.numbers(worth[order].tolist(), signed=True),
        },
    )
