"""``shapley2d demo``: errors injected into a bundled table, found, and repaired."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from shapley2d._base.words import printable
from shapley2d._inspection.ranking import rank_cells
from shapley2d._valuation.wording.units import Units
from shapley2d.cli import options as o
from shapley2d.cli.console import ResultConsole, make_table, shown, warnings_as_notes
from shapley2d.cli.writing.outputs import check_file, naming, write_csv, write_values
from shapley2d.cli.writing.summary import print_files, print_json
from shapley2d.exceptions import InputError

KINDS = ("unlikely", "swapped", "typo")
"""The kinds of errors injected, a third of them each."""

SHARE = 0.02
"""Share of the cells that are changed."""

SEED = 2023

_SHOWN = 10  # entries in either list

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
    from shapley2d._inspection.page import write_inspection
    from shapley2d.datasets import load_breast_cancer_original
    from shapley2d.evaluation import detection_curve, inject_errors

    _make_folder(out)
    names = ("table.csv", "values.parquet", "report.html", "page.html")
    files = {name.partition(".")[0]: out / name for name in names}
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
        bounds=(1, 10),
    )
    table = _table(corrupted.numbers, X.column_names)
    write_csv(table.append_column("class", [y.tolist()]), files["table"])
    with warnings_as_notes():  # from the file, so that rows go by its lines as in other commands
        valuation = value_cells(files["table"], "class")
        inspection = inspect_cells(files["table"], "class", valuation=valuation)
        _, log = inspection.repair(table, n=round(SHARE * corrupted.cells.size))
        gain = measure_repair(log, table, y, model="knn")
    total, size = int(corrupted.cells.sum()), corrupted.cells.size
    parts = (0.01, 0.02, 0.05, 0.10)
    counts = [round(part * size) for part in parts]
    by_rows = np.broadcast_to(-valuation.row_values[:, None], valuation.shape)
    ranked = (inspection.probability, -valuation.values, by_rows)
    found = [total * detection_curve(scores, corrupted.cells, counts) for scores in ranked]
    inspected = [
        {
            "share": part,
            "cells": count,
            "found_by_inspection": float(by_inspection),
            "found": float(by_cells),
            "found_by_rows": float(by_rows),
            "by_chance": total * count / size,
        }
        for part, count, by_inspection, by_cells, by_rows in zip(parts, counts, *found, strict=True)
    ]
    write_values(valuation, files["values"])
    with naming(files["report"]):
        valuation.to_html(files["report"], marked=corrupted.cells, title="Demo: injected errors")
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
    table_file = printable(str(files["table"]))

    def say(words: str, style: str = "") -> None:
        console.print(Text(words, style=style), soft_wrap=True)

    say(
        f"Breast Cancer Wisconsin (Original): {n} patients x {m} gradings, benign or malignant.\n"
        f"{total} of its {n * m:,} cells were corrupted; all were inspected in "
        f"{inspection.info['seconds']:.1f} s and valued in {valuation.info['seconds']:.1f} s.\n"
    )
    say(f"How many of the {total} injected errors are among the first cells inspected?", "italic")
    console.print(_found_table(inspected))
    say("\nMost likely wrong first, with the expected entry", "italic")
    console.print(_suspects(inspection, entries, corrupted.kinds))
    say(
        "\nMost harmful to a model first, injected errors only; the gaps are original entries",
        "italic",
    )
    console.print(_first_errors(valuation, entries, corrupted.kinds))
    console.print()
    print_files(files, console)
    say(
        f"Run it yourself: shapley2d inspect {table_file} --target class --report page.html\n"
        f"                 shapley2d cells {table_file} --target class"
    )
    replaced = f"Replacing the first {SHARE:.0%}, {len(log)} entries, by the expected ones"
    say(f"{replaced}: {gain._words()}", "bold")


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
    columns: dict[str, list[Any]] = {
        "looked at": [f"{part['share']:.0%} = {part['cells']} cells" for part in inspected]
    }
    for heading, name in (
        ("by inspection", "found_by_inspection"),
        ("by cell value", "found"),
        ("by row value (1D)", "found_by_rows"),
        ("by chance", "by_chance"),
    ):
        columns[heading] = [f"{part[name]:.0f}" for part in inspected]
    return make_table(None, columns)


def _suspects(inspection: Any, original: Any, kinds: Any) -> Table:
    """The entries that are most likely wrong, with what they were."""
    cells, m = inspection._cells, inspection.shape[1]
    places = [(i, j) for i, j in rank_cells(inspection) if j < m][:_SHOWN]
    columns: dict[str, list[Any]] = {
        inspection._row_word: [str(inspection._shown_rows[i]) for i, _ in places],
        "column": [shown(cells.names[j]) for _, j in places],
        "content": [cells.entries[j][i] or "" for i, j in places],
        "expected": [cells.expected_text(i, j) or "" for i, j in places],
        "wrong": [f"{100 * inspection.probability[i, j]:.0f} %" for i, j in places],
        "error": [_error(original, kinds, i, j) for i, j in places],
    }
    return make_table(None, columns)


def _first_errors(valuation: Any, original: Any, kinds: Any) -> Table:
    """The injected errors of lowest value."""
    unit, order = Units.of(valuation).cells, valuation._first(valuation.values.size)
    ranks = np.flatnonzero(kinds.ravel()[order] != "")[:_SHOWN].tolist()
    places = [divmod(int(order[rank]), valuation.shape[1]) for rank in ranks]
    columns: dict[str, list[Any]] = {
        "place": [str(rank + 1) for rank in ranks],
        valuation._row_word: [str(valuation._shown_rows[i]) for i, _ in places],
        "column": [shown(valuation.column_names[j]) for _, j in places],
        "content": [valuation._entry(i, j) or "" for i, j in places],
        "class": [shown(valuation._label(i)) for i, _ in places],
        unit.words: [unit.number(float(valuation.values[i, j]), signed=True) for i, j in places],
        "error": [_error(original, kinds, i, j) for i, j in places],
    }
    return make_table(None, columns)


def _error(original: Any, kinds: Any, i: int, j: int) -> Text:
    injected = f"{kinds[i, j]}, was {original[i, j]:.0f}"
    return shown(injected if kinds[i, j] else "original value (not injected)")
