"""What Python, notebooks and programs read of a valuation: lines, tables, and a short record."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.told import as_markdown, brief_number, brief_record, brief_text
from shapley2d._base.words import counted, html_table, took_words
from shapley2d._valuation.facts import Facts
from shapley2d._valuation.typeset import typeset
from shapley2d._valuation.units import Units, unit_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Floats
    from shapley2d._valuation.units import Unit
    from shapley2d._valuation.values import CellValues


_ENDS = ("lowest", "highest")


def summary_lines(values: CellValues) -> list[str]:
    """The printed summary: headline, score, columns, and the cells of lowest and highest value."""
    facts, units = Facts.of(values), Units.of(values)
    record = _record(values, facts, 6)
    lines = [
        f"{type(values).__name__} of {_headline(values, facts)}",
        f"  {facts.score if units.score and facts.score else f'total    {values.total:+.5g}'}",
        *(f"  note     {note}" for note in facts.notes),
    ]
    if units.score is not None:
        key, listed, more = _main(values, record)
        named = ", ".join(f"{one[key]} {_number(one, units.points)}" for one in listed)
        lines.append(f"  {f'{key}s':<8} {named}{more and f' {more}'} {units.points.words}".rstrip())
    if took := took_words(values.info.get("seconds")):
        lines.append(f"  took     {took}")
    word = values._row_word
    for what in _ENDS:
        cell = record[what][0]
        lines.append(
            f"  {what:<8} {cell['shown']} at {word} {cell[word]}, column {cell['column']!r}"
        )
    if strays := record["n_strays"]:
        lines.append(f"  strays   {counted(strays, 'entry', 'entries')} to check first, see strays")
    return lines


def summary_html(values: CellValues) -> str:
    """The short tables that a notebook shows."""
    facts, units = Facts.of(values), Units.of(values)
    record = _record(values, facts, 20)
    noun, word, points = values._nouns[0][0], values._row_word, units.points
    named = "" if values._grouped else f"{word} "
    cells = [
        (f"{what} {noun}", typeset(cell["shown"]), f"{named}{cell[word]}, {cell['column']}")
        for what in _ENDS
        for cell in record[what][:1]
    ]
    heading, found, more = _main(values, record)
    reach = [(one["high"] - one["low"]) / 2 if one.get("low") is not None else 0 for one in found]
    halves = points.spreads(reach, [one["value"] for one in found])
    listed = [
        (one[heading], typeset(_number(one, points)), half and f"± {half}")
        for one, half in zip(found, halves, strict=True)
    ]
    if more:
        listed.append((f"{more} {heading}s", "", ""))
    scored = typeset(facts.score) if units.score else ""
    head = (heading, points.words or "value", "95 %" if any(halves) else "")
    said = [scored or f"total {values.total:+.5g}", *facts.notes]
    return (
        f"<div><p><b>{type(values).__name__}</b> of {html.escape(_headline(values, facts))}</p>"
        f"{''.join(f'<p>{html.escape(words)}</p>' for words in said)}"
        f"{html_table(cells)}{html_table(listed, head)}</div>"
    )


def _headline(values: CellValues, facts: Facts) -> str:
    """What was valued, how, and how certain the values are."""
    return f"{values._size_words}, method {values.info.get('method')}, {facts.certainty}"


def _main(values: CellValues, record: dict[str, Any]) -> tuple[str, list[dict[str, Any]], str]:
    """The columns of a record, or the rows where it has these; what they are; how many are left."""
    word = values._sums(values._main_axis)[0]
    left = values.shape[values._main_axis] - len(record[f"{word}s"])
    return word, record[f"{word}s"], f"and {left} more" if left else ""


def _number(one: dict[str, Any], unit: Unit) -> str:
    """A value as people read it, in a list with the unit at its head or its end."""
    return str(one["shown"].removesuffix(f" {unit.words}"))


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
    facts = Facts.of(valuation)
    return brief_record(lambda n: _record(valuation, facts, n))


def to_markdown(valuation: CellValues) -> str:
    """What :meth:`to_dict` holds as Markdown; text from the table stands in fences.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> value_game(lambda S, F: S.sum() * F.sum(), 3, 2).to_markdown().splitlines()[0]
    '# shapley2d.valuation/1'
    """
    return as_markdown(to_dict(valuation))


def _record(valuation: CellValues, facts: Facts, n: int) -> dict[str, Any]:
    """The brief record of a valuation; its lists have ``n`` entries at most."""
    units, info = Units.of(valuation), valuation.info
    axis, strays = valuation._main_axis, valuation._strays

    def sums(axis: int, unit: Unit, sign: int) -> list[dict[str, Any]]:
        word, names, worth, errors = valuation._sums(axis)
        order = np.argsort(sign * worth, kind="stable")[:n]
        return _valued(
            valuation, [{word: names[k]} for k in order], worth[order], errors[order], unit
        )

    def cells(*, highest: bool) -> list[dict[str, Any]]:
        flat = valuation._first(n, highest=highest)
        named = [
            _place(valuation, i, j)
            | {"entry": valuation._entry(i, j), "label": valuation._label(i)}
            for i, j in (divmod(at, valuation.shape[1]) for at in flat.tolist())
        ]
        worth, errors = valuation.values.ravel()[flat], valuation.stderr.ravel()[flat]
        return _valued(valuation, named, worth, errors, units.cells)

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
        f"{valuation._sums(axis)[0]}s": sums(axis, units.points, -1),
        "lowest": cells(highest=False),
        "highest": cells(highest=True),
        "lowest_rows": sums(0, units.rows, 1),
        "n_strays": len(strays),
        "strays": [
            _brief(_place(valuation, i, j) | {"entry": text, "expected type": expected})
            for i, j, text, expected in strays[:n]
        ],
    }


def _place(valuation: CellValues, i: int, j: int) -> dict[str, Any]:
    return {valuation._row_word: valuation._shown_rows[i], "column": valuation.column_names[j]}


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
        said = {"value": brief_number(value), **(ends if half else {})}
        found.append(_brief(one) | said | {"shown": f"{number} {unit.words}".rstrip()})
    return found


def _brief(named: dict[str, Any]) -> dict[str, Any]:
    return {key: brief_text(text) for key, text in named.items() if text is not None}
