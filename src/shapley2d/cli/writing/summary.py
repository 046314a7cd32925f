"""The result of a command: as a table for people, as one object for machines."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.table import Table
from rich.text import Text

from shapley2d._base.words import counted, is_harmless, printable, took_words
from shapley2d._results.certainty import certainty_sentences
from shapley2d._results.report.payload import errors_known
from shapley2d._results.units import (
    Units,
    average_words,
    below_zero_words,
    figure,
    rare_words,
    score_words,
    sums_to_score,
    trees_words,
)
from shapley2d._results.valuation import first_places, label_text
from shapley2d._version import __version__
from shapley2d.cli.console import ResultConsole, shown

if TYPE_CHECKING:
    from pathlib import Path

    from shapley2d._results.units import Unit
    from shapley2d._results.valuation import Valuation
    from shapley2d.cli.reading.inputs import Inputs

_COLUMNS = 12  # whose values are printed


def lowest_cells(valuation: Valuation, inputs: Inputs, top: int) -> list[dict[str, Any]]:
    """The cells of lowest value, and where to find them."""
    order = first_places(valuation.values, top)
    cells = []
    for i, j in zip(*np.unravel_index(order, valuation.shape), strict=True):
        row = valuation.row_names[i]
        cells.append(
            {
                "row": _plain(row),
                "line": inputs.line(int(i)),
                "column": valuation.column_names[j],
                "content": _content(valuation, int(i), int(j)),
                "label": _label(valuation, int(i)),
                "value": float(valuation.values[i, j]),
                "stderr": float(valuation.stderr[i, j]),
            }
        )
    return cells


def stray_cells(valuation: Valuation, inputs: Inputs) -> list[dict[str, Any]]:
    """The entries that do not match the type of their column, and where to find them."""
    return [
        {
            "row": _plain(valuation.row_names[i]),
            "line": inputs.line(int(i)),
            "column": valuation.column_names[j],
            "content": text,
            "kind": kind,
            "label": _label(valuation, i),
        }
        for i, j, text, kind in (valuation.table.strays if valuation.table else [])
    ]


def _content(valuation: Valuation, i: int, j: int) -> str | None:
    """The entry of one cell: all of a million rows as text take half a minute."""
    if valuation.table is None:
        return None
    return valuation.table.columns[j].take(np.array([i])).text()[0]


def _label(valuation: Valuation, i: int) -> str | None:
    return None if valuation.target is None else label_text(valuation.target[i : i + 1].tolist()[0])


def _plain(name: Any) -> Any:
    return name.item() if isinstance(name, np.generic) else name


def as_json(
    command: str,
    valuation: Valuation,
    inputs: Inputs,
    cells: list[dict[str, Any]],
    files: dict[str, Path],
    **more: Any,
) -> dict[str, Any]:
    """The result of a run for machines."""
    n, m = valuation.shape
    return {
        "command": command,
        "version": __version__,
        "file": inputs.train.path,
        "target": inputs.target,
        "valid": inputs.valid.path if inputs.valid else None,
        "rows": n,
        "columns": m,
        "total": valuation.total,
        "exact": valuation.exact,
        "largest_stderr": float(valuation.stderr.max()),
        "partial": bool(valuation.info.get("interrupted")),
        "column_values": [
            {"column": name, "value": float(value), "stderr": float(error)}
            for name, value, error in zip(
                valuation.column_names,
                valuation.column_values,
                valuation.column_stderr,
                strict=True,
            )
        ],
        "strays": stray_cells(valuation, inputs),
        "lowest": cells,
        **more,
        "settings": valuation.info,
        "files": {what: str(path) for what, path in files.items()},
    }


def print_json(summary: dict[str, Any]) -> None:
    """Print one JSON object."""
    text = json_text(summary)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # escapes of the stream would not be JSON
        text = json_text(summary, only_ascii=True)
    ResultConsole().out(text, highlight=False)


def json_text(summary: dict[str, Any], *, only_ascii: bool = False) -> str:
    r"""JSON that a terminal can show: also escapes what JSON lets through, such as DEL and C1.

    Examples
    --------
    >>> json_text({"name": "é\x7f\x9b"})
    '{\n  "name": "é\\u007f\\u009b"\n}'
    """
    text = json.dumps(summary, ensure_ascii=only_ascii, indent=2)
    return "".join(
        letter if letter == "\n" or is_harmless(letter) else json.dumps(letter)[1:-1]
        for letter in text
    )


def print_summary(
    valuation: Valuation, inputs: Inputs, cells: list[dict[str, Any]], files: dict[str, Path]
) -> None:
    """Print what was valued, how certain it is, and what to look at first."""
    console = ResultConsole()
    console.print(Text(headline(valuation, inputs)))
    strays = stray_cells(valuation, inputs)
    if strays and cells:
        shown_first = strays[: len(cells)]
        more = "" if len(strays) == len(shown_first) else f" ({len(shown_first)} of {len(strays)})"
        console.print(
            _stray_table(shown_first, f"Entries to check first{more}", named=inputs.named)
        )
        console.print()
    units = Units.of(valuation)
    if units.score is not None and cells:
        console.print(_column_table(valuation, units))
        console.print()
    if cells:
        hurt = bool((valuation.values < 0).any()) and not _about(valuation).get("caution")
        title = "Cells that hurt most" if hurt else "Lowest cells"
        console.print(
            _cell_table(cells, title, units.cells, exact=valuation.exact, named=inputs.named)
        )
    print_files(files, console)


def headline(valuation: Valuation, inputs: Inputs) -> str:
    """The table, the validation rows, the score, what the columns add, and how certain it is."""
    n, m = inputs.X.shape
    info = valuation.info
    certain = "no sampling error" if valuation.exact else valuation.describe()
    caution = _about(valuation).get("caution")
    below = below_zero_words(valuation, errors_known=errors_known(valuation))
    took = took_words(info.get("seconds"))
    table = (
        f"{printable(inputs.train.path)}: {counted(n, 'row')} x {counted(m, 'column')}, predicting "
        f"{inputs.target!r} ({info.get('task')}), {_evaluated(inputs, info)}"
    )
    lines = [
        table,
        score_words(valuation),
        rare_words(valuation),
        f"method {info.get('method')}: {caution or f'{certain}.'}",
        trees_words(valuation),
        average_words(valuation),
        "" if caution else below,
        f"took {took}" if took else "",
        *certainty_sentences(valuation),
    ]
    return "\n".join(printable(line) for line in lines if line) + "\n"


def _evaluated(inputs: Inputs, info: dict[str, Any]) -> str:
    if not info.get("n_valid"):
        return "without validation rows"
    used, there = info.get("n_valid_used", info["n_valid"]), info["n_valid"]
    rows = counted(there, "row") if used == there else f"a random {used:,} of {there:,} rows"
    if inputs.valid:
        return f"evaluated on {printable(inputs.valid.path)} ({rows})"
    sampled = "" if used == there else f" ({rows})"
    if info.get("folds_made"):
        return f"evaluated on {info['folds']} of {info['folds_made']} folds, to keep to the time"
    return f"evaluated on each of {info.get('folds')} folds in turn{sampled}"


def _about(valuation: Valuation) -> dict[str, str]:
    return valuation.info.get("about") or {}


def _stray_table(strays: list[dict[str, Any]], title: str, *, named: bool) -> Table:
    table = _start_table(strays, title, named=named)
    table.add_column("expected type", style="dim")
    for cell in strays:
        table.add_row(*_place(cell, named=named), cell["kind"])
    return table


def _cell_table(
    cells: list[dict[str, Any]], title: str, unit: Unit, *, exact: bool, named: bool
) -> Table:
    table = _start_table(cells, title, named=named)
    table.add_column(unit.words or "value", justify="right")
    if not exact:
        table.add_column("stderr", justify="right", style="dim")
    numbers = unit.numbers([cell["value"] for cell in cells], signed=True)
    for cell, number in zip(cells, numbers, strict=True):
        fields = [*_place(cell, named=named), number]
        fields += [] if exact else [figure(unit.factor * cell["stderr"], 2)]
        table.add_row(*fields)
    return table


def _column_table(valuation: Valuation, units: Units) -> Table:
    """The columns that add most, in points of the score."""
    order = np.argsort(-valuation.column_values, kind="stable")[:_COLUMNS]
    more = f" ({_COLUMNS} of {valuation.shape[1]})" if order.size < valuation.shape[1] else ""
    table = Table(
        title=Text(f"What the columns add{more}", no_wrap=True, overflow="ignore"),
        title_justify="left",
        box=None,
        pad_edge=False,
    )
    table.add_column("column")
    table.add_column(units.columns.words or "value", justify="right")
    shares = sums_to_score(valuation) and valuation.total > 0
    estimated = bool(valuation.column_stderr.any())  # sums may be exact where cells are not
    if estimated:
        table.add_column("95 %", justify="right", style="dim")
    if shares:
        table.add_column("share", justify="right")
    numbers = units.columns.numbers(valuation.column_values[order].tolist(), signed=True)
    for j, number in zip(order.tolist(), numbers, strict=True):
        value = float(valuation.column_values[j])
        fields: list[Any] = [shown(valuation.column_names[j]), number]
        if estimated:
            spread = valuation.interval_factor * float(valuation.column_stderr[j])
            fields.append(f"+- {figure(units.columns.factor * spread, 2)}")
        fields += [f"{figure(100 * value / valuation.total, 2)} %"] if shares else []
        table.add_row(*fields)
    return table


def _start_table(cells: list[dict[str, Any]], title: str, *, named: bool) -> Table:
    """A table of cells, so far with the columns that say which; unnamed rows go by lines alone."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    if named or cells[0]["line"] is None:
        table.add_column("row", justify="right")
    if cells[0]["line"] is not None:
        table.add_column("line", justify="right", style="dim" if named else "")
    for heading in ("column", "content", "label"):
        table.add_column(heading)
    return table


def _place(cell: dict[str, Any], *, named: bool) -> list[Any]:
    unlined = cell["line"] is None
    fields: list[Any] = [shown(str(cell["row"]), 24)] if named or unlined else []
    fields += [] if cell["line"] is None else [str(cell["line"])]
    return [*fields, shown(cell["column"]), shown(cell["content"]), shown(cell["label"], 24)]


def print_files(files: dict[str, Path], console: ResultConsole) -> None:
    """Print where the files are."""
    for what, path in files.items():
        console.print(Text(printable(f"{what}: {path}")), soft_wrap=True)
