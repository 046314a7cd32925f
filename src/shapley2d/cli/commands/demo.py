"""``shapley2d demo``: errors injected into a bundled table, found, and repaired."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from shapley2d._base.words import printable
from shapley2d._results.ranking import rank_cells
from shapley2d._results.units import Units
from shapley2d.cli import options as o
from shapley2d.cli.console import ResultConsole, shown, warnings_as_notes
from shapley2d.cli.writing.outputs import check_file, write_csv, write_html, write_values
from shapley2d.cli.writing.summary import print_files, print_json
from shapley2d.exceptions import InputError

KINDS = ("unlikely", "swapped", "typo")
"""The kinds of errors injected, a third of them each."""

SHARE = 0.02
"""Share of the cells that are changed."""

SEED = 2023

_GRADES = (1, 10)  # the lowest and the highest entry of the table
_PARTS = (0.01, 0.02, 0.05, 0.10)
_SHOWN = 10
_TEXTS = ("column", "class", "error")  # headings of columns aligned to the left

Out = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write the files.")]


def demo(out: Out = Path("shapley2d-demo"), as_json_: o.AsJson = False) -> None:
    """Inject errors into a bundled table, find them in two ways, and measure what a repair gains.

    The table is Breast Cancer Wisconsin (Original): 699 patients, 9 gradings from 1 to 10. The
    errors are values unlikely for the patient's diagnosis, entries swapped between patients, and
    typos. An inspection finds the entries that are likely wrong, cell values those that harm a
    model. It takes some seconds and writes the table, the values, a report with the injected errors
    marked, and the page on which to decide about the likeliest errors.
    """
    from shapley2d import inspect_cells, measure_repair, value_cells
    from shapley2d._results.inspection_page import write_inspection
    from shapley2d.datasets import load_breast_cancer_original
    from shapley2d.evaluation import detection_curve, inject_errors

    _make_folder(out)
    files = {
        "table": out / "table.csv",
        "values": out / "values.parquet",
        "report": out / "report.html",
    }
    files["page"] = out / "page.html"
    for path in files.values():
        check_file(path, "--out")
    X, y = load_breast_cancer_original("pyarrow")
    entries = np.column_stack([_numbers(X[name]) for name in X.column_names])
    corrupted = inject_errors(
        KINDS,
        entries,
        np.unique(y, return_inverse=True)[1],
        np.zeros(entries.shape[1], dtype=bool),
        SHARE,
        np.random.default_rng(SEED),
        bounds=_GRADES,
    )
    table = _table(corrupted.numbers, X.column_names)
    write_csv(table.append_column("class", [y.tolist()]), files["table"])
    with warnings_as_notes():  # from the file, so that rows go by its lines as in other commands
        valuation = value_cells(files["table"], "class")
        inspection = inspect_cells(files["table"], "class", valuation=valuation)
        _, log = inspection.repair(table, n=round(SHARE * corrupted.cells.size))
        gain = measure_repair(log, table, y, model="knn")
    rows = np.broadcast_to(valuation.rows[:, None], valuation.shape)
    total = int(corrupted.cells.sum())
    counts = [round(part * corrupted.cells.size) for part in _PARTS]
    by_cells = total * detection_curve(-valuation.values, corrupted.cells, counts)
    by_inspection = total * detection_curve(inspection.probability, corrupted.cells, counts)
    by_rows = total * detection_curve(-rows, corrupted.cells, counts)
    inspected = []
    for k, (part, count) in enumerate(zip(_PARTS, counts, strict=True)):
        inspected.append(
            {
                "share": part,
                "cells": count,
                "found_by_inspection": float(by_inspection[k]),
                "found": float(by_cells[k]),
                "found_by_rows": float(by_rows[k]),
                "by_chance": total * count / corrupted.cells.size,
            }
        )
    write_values(valuation, files["values"])
    write_html(valuation, files["report"], marked=corrupted.cells, title="Demo: injected errors")
    write_inspection(
        inspection, files["page"], title="Demo: which entries are wrong", target="class"
    )
    if as_json_:
        print_json(
            {
                "command": "demo",
                "gain": {
                    "gain": gain.gain,
                    "interval": gain.interval,
                    "random_gain": gain.random_gain,
                },
                "injected": total,
                "inspected": inspected,
                "seconds": valuation.info["seconds"],
                "files": {what: str(path) for what, path in files.items()},
            }
        )
        return
    console = ResultConsole()
    n, m = valuation.shape
    console.print(
        Text(
            f"Breast Cancer Wisconsin (Original): {n} patients x {m} gradings, benign or "
            f"malignant.\n{total} of its {n * m:,} cells were corrupted; all were inspected in "
            f"{inspection.info['seconds']:.1f} s and valued in {valuation.info['seconds']:.1f} s.\n"
        )
    )
    console.print(
        Text(
            f"How many of the {total} injected errors are among the first cells inspected?",
            style="italic",
        )
    )
    console.print(_found_table(inspected))
    console.print(
        Text(
            "\nMost likely wrong first, with the expected entry",
            style="italic",
        )
    )
    console.print(_suspects(inspection, entries, corrupted.kinds))
    console.print(
        Text(
            "\nMost harmful to a model first, injected errors only; the gaps are original entries",
            style="italic",
        )
    )
    console.print(_first_errors(valuation, entries, corrupted.kinds))
    console.print()
    print_files(files, console)
    console.print(
        Text(
            printable(
                f"Run it yourself: shapley2d inspect {files['table']} --target class --report "
                f"page.html\n                 shapley2d cells {files['table']} --target class",
                keep="\n",
            )
        ),
        soft_wrap=True,
    )
    console.print(
        Text(
            f"Replacing the first {SHARE:.0%}, {len(log)} entries, by the expected ones: "
            f"{gain.in_words()}",
            style="bold",
        ),
        soft_wrap=True,
    )


def _make_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: name a folder")
    out.mkdir(parents=True, exist_ok=True)


def _numbers(column: Any) -> Any:
    return np.array(
        [np.nan if entry is None else entry for entry in column.to_pylist()], dtype=np.float64
    )


def _table(entries: Any, names: list[str]) -> Any:
    import pyarrow as pa

    columns = [
        pa.array(entries[:, j], from_pandas=True).cast(pa.int64()) for j in range(len(names))
    ]
    return pa.table(columns, names=names)


def _found_table(inspected: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in (
        "looked at",
        "by inspection",
        "by cell value",
        "by row value (1D)",
        "by chance",
    ):
        table.add_column(heading, justify="right")
    for part in inspected:
        table.add_row(
            f"{part['share']:.0%} = {part['cells']} cells",
            Text(f"{part['found_by_inspection']:.0f}", style="bold green"),
            f"{part['found']:.0f}",
            f"{part['found_by_rows']:.0f}",
            f"{part['by_chance']:.0f}",
        )
    return table


def _suspects(inspection: Any, original: Any, kinds: Any) -> Table:
    """The entries that are most likely wrong, with what they were."""
    table = Table(box=None, pad_edge=False)
    for heading in (inspection.row_word, "column", "content", "expected", "wrong", "error"):
        table.add_column(heading, justify="left" if heading in _TEXTS else "right")
    _, m = inspection.shape
    places = rank_cells(inspection)
    for i, j in [(i, j) for i, j in places if j < m][:_SHOWN]:
        injected = (
            f"{kinds[i, j]}, was {original[i, j]:.0f}"
            if kinds[i, j]
            else "original value (not injected)"
        )
        table.add_row(
            inspection.shown_row(i),
            shown(inspection.cells.names[j]),
            shown(inspection.cells.entries[j][i]),
            shown(inspection.cells.expected_text(i, j)),
            f"{100 * inspection.probability[i, j]:.0f} %",
            injected,
        )
    return table


def _first_errors(valuation: Any, original: Any, kinds: Any) -> Table:
    """The injected errors of lowest value."""
    table = Table(box=None, pad_edge=False)
    unit = Units.of(valuation).cells
    for heading in ("place", valuation.row_word, "column", "content", "class", unit.words, "error"):
        table.add_column(heading, justify="left" if heading in _TEXTS else "right")
    order = np.argsort(valuation.values, axis=None, kind="stable")
    places = np.flatnonzero(kinds.ravel()[order] != "")[:_SHOWN]
    for place, i, j in zip(places, *np.unravel_index(order[places], valuation.shape), strict=True):
        table.add_row(
            str(place + 1),
            valuation.shown_row(i),
            shown(valuation.column_names[j]),
            shown(valuation.contents[j][i]),
            shown(valuation.labels[i]),
            unit.number(float(valuation.values[i, j]), signed=True),
            f"{kinds[i, j]}, was {original[i, j]:.0f}",
        )
    return table
