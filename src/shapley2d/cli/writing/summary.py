"""The result of a command: as a table for people, as one object for machines."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.text import Text

from shapley2d._base.words import counted, is_harmless, printable, took_words
from shapley2d._valuation.facts import Facts, evaluated_words
from shapley2d._valuation.units import Units, sums_to_score, unit_words
from shapley2d._version import __version__
from shapley2d.cli.console import ResultConsole, make_table, shown
from shapley2d.cli.wording import in_words

if TYPE_CHECKING:
    from pathlib import Path

    from rich.table import Table

    from shapley2d._valuation.units import Unit
    from shapley2d._valuation.valuation import Valuation
    from shapley2d.cli.reading.inputs import Inputs

_WIDTHS = {"column": 40, "content": 40, "label": 24}


def lowest_cells(valuation: Valuation, inputs: Inputs, top: int) -> list[dict[str, Any]]:
    """The cells of lowest value, and where to find them."""
    places = [divmod(flat, valuation.shape[1]) for flat in valuation._first(top).tolist()]
    return [
        {
            **_place(valuation, inputs, i, j, valuation._entry(i, j)),
            "value": float(valuation.values[i, j]),
            "stderr": float(valuation.stderr[i, j]),
        }
        for i, j in places
    ]


def stray_cells(valuation: Valuation, inputs: Inputs) -> list[dict[str, Any]]:
    """The entries that do not match the type of their column, and where to find them."""
    return [
        {**_place(valuation, inputs, i, j, text), "kind": kind}
        for i, j, text, kind in valuation._strays
    ]


def _place(
    valuation: Valuation, inputs: Inputs, i: int, j: int, content: str | None
) -> dict[str, Any]:
    row = valuation.row_names[i]
    return {
        "row": row.item() if isinstance(row, np.generic) else row,
        "line": None if valuation._grouped else inputs.line(i),
        "column": valuation.column_names[j],
        "content": content,
        "label": valuation._label(i),
    }


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
    sums = (valuation.column_names, valuation.column_values.tolist(), valuation.column_stderr)
    return {
        "command": command,
        "version": __version__,
        "file": inputs.train.path,
        "target": inputs.target,
        "valid": inputs.valid.path if inputs.valid else None,
        "rows": n,
        "columns": m,
        "unit": unit_words(valuation.info),
        "total": valuation.total,
        "exact": valuation.exact,
        "largest_stderr": float(valuation.stderr.max()),
        "partial": bool(valuation.info.get("interrupted")),
        "column_values": [
            {"column": name, "value": value, "stderr": float(error)}
            for name, value, error in zip(*sums, strict=True)
        ],
        **({"row_values": _row_sums(valuation)} if valuation._grouped else {}),
        "strays": stray_cells(valuation, inputs),
        "lowest": cells,
        **more,
        "settings": valuation.info,
        "files": {what: str(path) for what, path in files.items()},
    }


def _row_sums(valuation: Valuation) -> list[dict[str, Any]]:
    """The groups of rows for machines."""
    sums = (valuation.row_names.tolist(), valuation.row_values.tolist(), valuation.row_stderr)
    return [
        {"row": name, "value": value, "stderr": float(error)}
        for name, value, error in zip(*sums, strict=True)
    ]


def print_json(summary: dict[str, Any]) -> None:
    """Print one JSON object."""
    text = json_text(summary)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:  # escapes of the stream would not be JSON
        text = json_text(summary, only_ascii=True)
    ResultConsole().out(text, highlight=False)


def json_text(summary: dict[str, Any], *, only_ascii: bool = False) -> str:
    r"""JSON that a terminal can show: also escapes what JSON lets through, such as DEL and C1."""
    text = json.dumps(summary, ensure_ascii=only_ascii, indent=2)
    return "".join(
        letter if letter == "\n" or is_harmless(letter) else json.dumps(letter)[1:-1]
        for letter in text
    )


def print_summary(
    valuation: Valuation, inputs: Inputs, cells: list[dict[str, Any]], files: dict[str, Path]
) -> None:
    """Print what was valued, how certain it is, and what to look at first."""
    console, units = ResultConsole(), Units.of(valuation)
    console.print(Text(headline(valuation, inputs)), soft_wrap=True)
    strays = stray_cells(valuation, inputs)[: len(cells)]
    if strays:
        count = len(valuation._strays)
        more = "" if count == len(strays) else f" ({len(strays)} of {count})"
        columns = place_columns(strays, _WIDTHS, named=inputs.named)
        columns["expected type"] = [shown(cell["kind"]) for cell in strays]
        title = f"Entries to check first{more}"
        console.print(make_table(title, columns, ("expected type", *_less(inputs))))
        console.print()
    if units.score is not None and cells:
        for axis in range(1 - valuation._grouped, 2):
            console.print(_sums_table(valuation, units.points, axis))
            console.print()
    if cells:
        widths = {"column": 40} if valuation._grouped else _WIDTHS
        columns = place_columns(cells, widths, named=inputs.named)
        values, errors = ([cell[name] for cell in cells] for name in ("value", "stderr"))
        columns |= _worth(valuation, units.cells, values, errors)
        caution = (valuation.info.get("about") or {}).get("caution")
        hurt = bool((valuation.values < 0).any()) and not caution
        noun = valuation._nouns[0][1]
        title = f"{noun.capitalize()} that hurt most" if hurt else f"Lowest {noun}"
        console.print(make_table(title, columns, ("95 %", *_less(inputs))))
    print_files(files, console)


def headline(valuation: Valuation, inputs: Inputs) -> str:
    """The table, the validation rows, the score, what the columns add, and how certain it is."""
    info, facts = valuation.info, Facts.of(valuation)
    certain = "no sampling error" if valuation.exact else facts.certainty
    rows = evaluated_words(info, printable(inputs.valid.path) if inputs.valid else "")
    n, m = inputs.X.shape
    took = took_words(info.get("seconds"))
    table = f"{printable(inputs.train.path)}: {counted(n, 'row')} x {counted(m, 'column')}"
    lines = [
        f"{table}, predicting {inputs.target!r} ({info.get('task')}), {rows}",
        facts.score,
        *(in_words(note) for note in facts.notes),
        f"method {info.get('method')}: {certain}.",
        facts.below_zero,
        f"took {took}" if took else "",
        *([] if valuation.exact else facts.precision),
    ]
    return "\n".join(printable(line) for line in lines if line) + "\n"


def _sums_table(valuation: Valuation, points: Unit, axis: int) -> Table:
    """The columns, or groups of rows, that add most, in points of the score."""
    names: list[Any] = valuation.column_names if axis else valuation.row_names.tolist()
    sums = valuation.column_values if axis else valuation.row_values
    errors = valuation.column_stderr if axis else valuation.row_stderr
    order = np.argsort(-sums, kind="stable")[:12].tolist()
    more = f" ({len(order)} of {sums.size})" if len(order) < sums.size else ""
    columns: dict[str, list[Any]] = {
        ("row", "column")[axis]: [shown(str(names[j])) for j in order],
        **_worth(valuation, points, sums[order].tolist(), errors[order].tolist()),
    }
    if sums_to_score(valuation) and valuation.total > 0:
        shares = 100 * sums[order] / valuation.total
        columns["share"] = [f"{share:.0f} %" for share in (shares + 0.0).round() + 0.0]
    title = Text(
        f"What the {valuation._nouns[1 + axis][1]} add{more}", no_wrap=True, overflow="ignore"
    )
    return make_table(title, columns, ("95 %",))


def _worth(
    valuation: Valuation, unit: Unit, values: list[float], errors: list[float]
) -> dict[str, list[str]]:
    """Columns of values, and of half the widths of their intervals where there are errors."""
    columns = {unit.words or "value": unit.numbers(values, signed=True)}
    if any(errors):  # sums may be exact where cells are not
        reach = unit.spreads([valuation._interval_factor * error for error in errors], values)
        columns["95 %"] = [half and f"+- {half}" for half in reach]
    return columns


def place_columns(
    cells: list[dict[str, Any]], widths: dict[str, int], *, named: bool
) -> dict[str, list[Any]]:
    """Where cells are and what they hold; unnamed rows go by their lines alone."""
    lined = cells[0]["line"] is not None
    columns: dict[str, list[Any]] = {}
    if named or not lined:
        columns["row"] = [str(shown(str(cell["row"]), 24)) for cell in cells]
    if lined:
        columns["line"] = [str(cell["line"]) for cell in cells]
    for name, width in widths.items():
        columns[name] = [shown(cell[name], width) for cell in cells]
    return columns


def _less(inputs: Inputs) -> tuple[str, ...]:
    return ("line",) if inputs.named else ()


def print_files(files: dict[str, Path], console: ResultConsole) -> None:
    """Print where the files are."""
    for what, path in files.items():
        console.print(Text(printable(f"{what}: {path}")), soft_wrap=True)
