"""What Python and notebooks print of a valuation: a headline, the score, sums and extremes."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted, html_table, printable, took_words, typeset
from shapley2d._valuation.wording.certainty import certainty_words
from shapley2d._valuation.wording.sentences import rare_words, score_words
from shapley2d._valuation.wording.units import Score, Units

if TYPE_CHECKING:
    from shapley2d._valuation.values import CellValues, Sums


def head_lines(values: CellValues) -> list[str]:
    """The first lines of a printed summary: headline, score, and what it hardly counts."""
    scored = Score.of(values.info) is not None and score_words(values)
    total = f"  {scored}" if scored else f"  total    {values.total:+.5g}"
    lines = [f"{type(values).__name__} of {_headline(values)}", total]
    notes = [rare_words(values), values.info.get("chosen")]
    return [*lines, *(f"  note     {note}" for note in notes if note)]


def summary_lines(values: CellValues) -> list[str]:
    """The printed summary: headline, score, columns, and the cells of lowest and highest value."""
    units, names, worth = Units.of(values), values.column_names, values.column_values
    lines = head_lines(values)
    if units.score is not None:
        order = np.argsort(-worth, kind="stable")[:6].tolist()
        numbers = units.points.numbers(worth[order].tolist(), signed=True)
        left = worth.size - len(order)
        pairs = zip(order, numbers, strict=True)
        named = ", ".join(f"{printable(names[k])} {number}" for k, number in pairs)
        more = f" and {left} more" if left else ""
        lines.append(f"  columns  {named}{more} {units.points.words}".rstrip())
    if took := took_words(values.info.get("seconds")):
        lines.append(f"  took     {took}")
    for what, value, row, column in _extremes(values, units):
        lines.append(
            f"  {what:<8} {value} at {values._row_word} {printable(row)}, column {column!r}"
        )
    if strays := len(values._strays):
        lines.append(f"  strays   {counted(strays, 'entry', 'entries')} to check first, see strays")
    return lines


def summary_html(values: CellValues, sums: Sums) -> str:
    """The short tables that a notebook shows."""
    units, (heading, names, worth, spreads) = Units.of(values), sums
    noun = values._nouns[0][0]
    word = "" if values._grouped else f"{values._row_word} "
    cells = [
        (f"{what} {noun}", typeset(value), f"{word}{row}, {column}")
        for what, value, row, column in _extremes(values, units)
    ]
    order = np.argsort(-worth, kind="stable")[:20].tolist()
    shown = worth[order].tolist()
    numbers = units.points.numbers(shown, signed=True)
    reach = units.points.spreads(spreads[order].tolist(), shown)
    listed = [
        (names[k], typeset(number), f"± {half}" if half else "")
        for k, number, half in zip(order, numbers, reach, strict=True)
    ]
    left = worth.size - len(order)
    more = [(f"and {left} more {heading}s", "", "")] if left else []
    scored = units.score is not None and score_words(values)
    said = [typeset(scored) if scored else f"total {values.total:+.5g}", rare_words(values)]
    head = (heading, units.points.words or "value", "95 %" if spreads.any() else "")
    return (
        f"<div><p><b>{type(values).__name__}</b> of {html.escape(_headline(values))}</p>"
        f"{''.join(f'<p>{html.escape(words)}</p>' for words in said if words)}"
        f"{html_table(cells)}{html_table([*listed, *more], head)}</div>"
    )


def _headline(values: CellValues) -> str:
    """What was valued, how, and how certain the values are."""
    method = values.info.get("method", "unknown")
    return f"{values._size_words}, method {method}, {certainty_words(values)}"


def _extremes(values: CellValues, units: Units) -> list[tuple[str, str, str, str]]:
    """The cells of lowest and highest value: which it is, value, row and column."""
    ends = ("lowest", "highest")
    flat = [int(values._first(1, highest=what == "highest")[0]) for what in ends]
    numbers = units.cells.numbers(values.values.ravel()[flat].tolist(), signed=True)
    found = []
    for what, number, at in zip(ends, numbers, flat, strict=True):
        i, j = divmod(at, values.shape[1])
        worth = f"{number} {units.cells.words}".rstrip()
        found.append((what, worth, str(values._shown_rows[i]), values.column_names[j]))
    return found
