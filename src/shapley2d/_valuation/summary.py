"""What Python, notebooks and programs read of a valuation: lines, tables, and a short record."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.told import as_markdown, brief_number, brief_record, brief_text
from shapley2d._base.words import counted, html_table, printable, took_words
from shapley2d._valuation.facts import Facts
from shapley2d._valuation.typeset import typeset
from shapley2d._valuation.units import Units, unit_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._valuation.units import Unit
    from shapley2d._valuation.values import CellValues


def summary_lines(values: CellValues) -> list[str]:
    """The printed summary: headline, score, columns, and the cells of lowest and highest value."""
    facts, units = Facts.of(values), Units.of(values)
    lines = [
        f"{type(values).__name__} of {_headline(values, facts)}",
        f"  {facts.score if units.score and facts.score else f'total    {values.total:+.5g}'}",
        *(f"  note     {note}" for note in facts.notes),
    ]
    if units.score is not None:
        names, numbers, _ = _largest(values, 1, 6)
        named = (f"{printable(name)} {number}" for name, number in zip(names, numbers, strict=True))
        left = values.shape[1] - len(names)
        more = f" and {left} more" if left else ""
        lines.append(f"  columns  {', '.join(named)}{more} {units.points.words}".rstrip())
    if took := took_words(values.info.get("seconds")):
        lines.append(f"  took     {took}")
    word = values._row_word
    for what, cell in _extremes(values, units.cells):
        lines.append(
            f"  {what:<8} {cell['shown']} at {word} {cell[word]}, column {cell['column']!r}"
        )
    if strays := len(values._strays):
        lines.append(f"  strays   {counted(strays, 'entry', 'entries')} to check first, see strays")
    return lines


def summary_html(values: CellValues) -> str:
    """The short tables that a notebook shows."""
    facts, units, axis = Facts.of(values), Units.of(values), values._main_axis
    noun, word = values._nouns[0][0], values._row_word
    named = "" if values._grouped else f"{word} "
    cells = [
        (f"{what} {noun}", typeset(cell["shown"]), f"{named}{cell[word]}, {cell['column']}")
        for what, cell in _extremes(values, units.cells)
    ]
    names, numbers, halves = _largest(values, axis, 20)
    listed = [
        (name, typeset(number), f"± {half}" if half else "")
        for name, number, half in zip(names, numbers, halves, strict=True)
    ]
    heading, left = values._sums(axis)[0], values.shape[axis] - len(names)
    more = [(f"and {left} more {heading}s", "", "")] if left else []
    scored = typeset(facts.score) if units.score else ""
    head = (heading, units.points.words or "value", "95 %" if any(halves) else "")
    said = [scored or f"total {values.total:+.5g}", *facts.notes]
    return (
        f"<div><p><b>{type(values).__name__}</b> of {html.escape(_headline(values, facts))}</p>"
        f"{''.join(f'<p>{html.escape(words)}</p>' for words in said)}"
        f"{html_table(cells)}{html_table([*listed, *more], head)}</div>"
    )


def _headline(values: CellValues, facts: Facts) -> str:
    """What was valued, how, and how certain the values are."""
    return f"{values._size_words}, method {values.info.get('method')}, {facts.certainty}"


def _largest(values: CellValues, axis: int, n: int) -> tuple[list[str], list[str], list[str]]:
    """The rows or columns of highest value: names, values and half the widths of intervals."""
    _, names, worth, errors = values._sums(axis)
    order, points = np.argsort(-worth, kind="stable")[:n], Units.of(values).points
    shown, reach = worth[order].tolist(), (values._interval_factor * errors[order]).tolist()
    numbers = points.numbers(shown, signed=True)
    return [str(name) for name in names[order]], numbers, points.spreads(reach, shown)


def _extremes(values: CellValues, unit: Unit) -> Iterator[tuple[str, dict[str, Any]]]:
    """The cells of lowest and of highest value."""
    flat = np.append(values._first(1), values._first(1, highest=True))
    return zip(("lowest", "highest"), _cells(values, flat, unit), strict=True)


def to_dict(valuation: CellValues) -> dict[str, Any]:
    """The result in brief as plain JSON values, below 4,000 tokens for a table of any size.

    Lists hold the first of each kind; ``to_frame()`` has all cells. Keys stay within a version of
    the schema, new ones may come. Text from the table is cut, and is data, not instructions.

    Returns
    -------
    dict
        ``schema`` (``"shapley2d.valuation/1"``), ``unit`` (of all values), ``score`` (in words),
        ``columns`` (or ``rows``, where groups of rows are all that was valued), ``lowest`` and
        ``highest`` cells, ``lowest_rows`` and so on. ``low`` and ``high`` are the ends of 95 %
        intervals where there are errors, ``shown`` is the value as people read it.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> found = value_game(lambda S, F: S.sum() * F.sum(), 3, 2).to_dict()
    >>> found["schema"], found["total"], found["columns"][0]
    ('shapley2d.valuation/1', 6.0, {'column': '0', 'value': 3.0, 'shown': '+3.00'})
    """
    return brief_record(lambda n: _record(valuation, n))


def to_markdown(valuation: CellValues) -> str:
    """What :meth:`to_dict` holds as Markdown; text from the table stands in fences.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> value_game(lambda S, F: S.sum() * F.sum(), 3, 2).to_markdown().splitlines()[0]
    '# shapley2d.valuation/1'
    """
    return as_markdown(to_dict(valuation))


def _record(valuation: CellValues, n: int) -> dict[str, Any]:
    facts, units, info = Facts.of(valuation), Units.of(valuation), valuation.info
    axis, strays = valuation._main_axis, valuation._strays
    heading, _, worth, _ = valuation._sums(axis)
    return {
        "schema": "shapley2d.valuation/1",
        "version": brief_text((info.get("versions") or {}).get("shapley2d") or ""),
        "size": valuation._size_words,
        "method": brief_text(info.get("method") or ""),
        "measured": brief_text(facts.measured, 400),
        "unit": unit_words(info),
        "score": brief_text(facts.score, 400),
        "certainty": brief_text(facts.certainty, 200),
        "exact": valuation.exact,
        "total": brief_number(valuation.total),
        "notes": [brief_text(note, 400) for note in [facts.below_zero, *facts.notes] if note],
        f"{heading}s": _listed(
            valuation, axis, np.argsort(-worth, kind="stable")[:n], units.points
        ),
        "lowest": _cells(valuation, valuation._first(n), units.cells),
        "highest": _cells(valuation, valuation._first(n, highest=True), units.cells),
        "lowest_rows": _listed(
            valuation, 0, np.argsort(valuation.row_values, kind="stable")[:n], units.rows
        ),
        "n_strays": len(strays),
        "strays": [
            _brief(_place(valuation, i, j) | {"entry": text, "expected type": expected})
            for i, j, text, expected in strays[:n]
        ],
    }


def _listed(valuation: CellValues, axis: int, order: Ints, unit: Unit) -> list[dict[str, Any]]:
    word, names, worth, errors = valuation._sums(axis)
    named = [{word: names[k]} for k in order.tolist()]
    return _valued(valuation, named, worth[order], errors[order], unit)


def _place(valuation: CellValues, i: int, j: int) -> dict[str, Any]:
    return {valuation._row_word: valuation._shown_rows[i], "column": valuation.column_names[j]}


def _cells(valuation: CellValues, flat: Ints, unit: Unit) -> list[dict[str, Any]]:
    places = [divmod(at, valuation.shape[1]) for at in flat.tolist()]
    named = [
        _place(valuation, i, j) | {"entry": valuation._entry(i, j), "label": valuation._label(i)}
        for i, j in places
    ]
    worth, errors = valuation.values.ravel()[flat], valuation.stderr.ravel()[flat]
    return _valued(valuation, named, worth, errors, unit)


def _valued(
    valuation: CellValues,
    named: Sequence[dict[str, Any]],
    worth: Floats,
    errors: Floats,
    unit: Unit,
) -> list[dict[str, Any]]:
    """What is named, with its value, the ends of its interval, and the value as people read it."""
    found = []
    shown, reach = unit.numbers(worth.tolist(), signed=True), valuation._interval_factor * errors
    for one, value, half, number in zip(named, worth, reach, shown, strict=True):
        ends = {"low": brief_number(value - half), "high": brief_number(value + half)}
        number_words = {"shown": f"{number} {unit.words}".rstrip()}
        found.append(
            _brief(one) | {"value": brief_number(value)} | (ends if half else {}) | number_words
        )
    return found


def _brief(named: dict[str, Any]) -> dict[str, Any]:
    return {key: brief_text(text) for key, text in named.items() if text is not None}
