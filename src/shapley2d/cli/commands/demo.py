"""``shapley2d demo``: planted errors in a bundled table, found again by their cell values."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table
from rich.text import Text

from shapley2d.cli import options as o
from shapley2d.cli.console import ResultConsole, shown, warnings_as_notes
from shapley2d.cli.planting import Planted, plant_errors
from shapley2d.cli.writing.outputs import write_csv, write_html, write_values
from shapley2d.cli.writing.summary import print_files, print_json
from shapley2d.exceptions import InputError

_PARTS = (0.01, 0.02, 0.05, 0.10)
_SHOWN = 12

Out = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write the files.")]


def demo(out: Out = Path("shapley2d-demo"), as_json_: o.AsJson = False) -> None:
    """Plant errors in a bundled table, value its cells, and see how many errors are among the lowest.

    The table is Breast Cancer Wisconsin (Original): 699 patients, 9 gradings from 1 to 10. The errors are values
    unlikely for the patient's diagnosis, entries swapped between patients, and typos. It takes some seconds and
    writes the table, the values and a report with the planted cells marked.
    """
    from shapley2d._api.cells import value_cells
    from shapley2d.datasets import load_breast_cancer_original
    from shapley2d.evaluation.detection import detection_curve

    _make_folder(out)
    X, y = load_breast_cancer_original("pyarrow")
    entries = np.column_stack([_numbers(X[name]) for name in X.column_names])
    planted = plant_errors(entries, y)
    table = _table(planted.entries, X.column_names)
    with warnings_as_notes():
        valuation = value_cells(table, y)
    rows = np.broadcast_to(valuation.rows[:, None], valuation.shape)
    total = int(planted.changed.sum())
    counts = [round(part * planted.changed.size) for part in _PARTS]
    by_cells = total * detection_curve(-valuation.values, planted.changed, counts)
    by_rows = total * detection_curve(-rows, planted.changed, counts)
    lines = []
    for k, (part, count) in enumerate(zip(_PARTS, counts, strict=True)):
        lines.append(
            {
                "share": part,
                "cells": count,
                "found": float(by_cells[k]),
                "found_by_rows": float(by_rows[k]),
                "by_chance": total * count / planted.changed.size,
            }
        )
    files = {"table": out / "table.csv", "values": out / "values.parquet", "report": out / "report.html"}
    write_csv(table.append_column("class", [y.tolist()]), files["table"])
    write_values(valuation, files["values"])
    write_html(valuation, files["report"], marked=planted.changed, title="Demo: planted errors")
    if as_json_:
        print_json(
            {
                "command": "demo",
                "planted": total,
                "inspected": lines,
                "seconds": valuation.info["seconds"],
                "files": {what: str(path) for what, path in files.items()},
            }
        )
        return
    console = ResultConsole()
    n, m = valuation.shape
    console.print(
        Text(
            f"Breast Cancer Wisconsin (Original): {n} patients x {m} gradings, benign or malignant.\n"
            f"{total} of its {n * m} cells were spoiled; all cells were valued in {valuation.info['seconds']:.1f} s.\n"
        )
    )
    console.print(
        Text(f"Of the {total} planted errors, how many are among the first cells to inspect?", style="italic")
    )
    console.print(_found_table(lines))
    console.print(
        Text("\nThe first cells to inspect (those not planted are entries as they came)", style="italic")
    )
    console.print(_suspects(valuation, planted))
    console.print()
    print_files(files, console)
    console.print(Text(f"The same by hand: shapley2d cells {files['table']} --target class"), soft_wrap=True)


def _make_folder(out: Path) -> None:
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file: name a folder")
    out.mkdir(parents=True, exist_ok=True)


def _numbers(column: Any) -> Any:
    return np.array([np.nan if entry is None else entry for entry in column.to_pylist()], dtype=np.float64)


def _table(entries: Any, names: list[str]) -> Any:
    import pyarrow as pa

    columns = [pa.array(entries[:, j], from_pandas=True).cast(pa.int64()) for j in range(len(names))]
    return pa.table(columns, names=names)


def _found_table(lines: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("inspected", "by cell value", "by row value (1D)", "by chance"):
        table.add_column(heading, justify="right")
    for line in lines:
        table.add_row(
            f"{line['share']:.0%} = {line['cells']} cells",
            Text(f"{line['found']:.0f}", style="bold green"),
            f"{line['found_by_rows']:.0f}",
            f"{line['by_chance']:.0f}",
        )
    return table


def _suspects(valuation: Any, planted: Planted) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading, side in (("row", "right"), ("column", "left"), ("content", "right"), ("class", "left"),
                          ("value", "right"), ("planted?", "left")):  # fmt: skip
        table.add_column(heading, justify=side)  # type: ignore[arg-type]
    order = np.argsort(valuation.values, axis=None, kind="stable")[:_SHOWN]
    for i, j in zip(*np.unravel_index(order, valuation.shape), strict=True):
        kind = planted.kinds[i, j]
        table.add_row(
            str(i),
            shown(valuation.column_names[j]),
            shown(valuation.contents[j][i]),
            shown(valuation.labels[i]),
            f"{valuation.values[i, j]:+.2e}",
            Text(f"{kind}, was {planted.original[i, j]:.0f}", style="green")
            if kind
            else Text("no", style="dim"),
        )
    return table
