"""A valuation as a short record, for programs and assistants."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.told import as_markdown, brief_number, brief_record, brief_text
from shapley2d._valuation.wording.certainty import certainty_words
from shapley2d._valuation.wording.sentences import (
    below_zero_words,
    measured_words,
    rare_words,
    score_words,
)
from shapley2d._valuation.wording.units import Units, unit_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._valuation.values import CellValues
    from shapley2d._valuation.wording.units import Unit


def told(valuation: CellValues) -> dict[str, Any]:
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


def told_in_markdown(valuation: CellValues) -> str:
    """What :meth:`to_dict` holds as Markdown; text from the table stands in fences.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> value_game(lambda S, F: S.sum() * F.sum(), 3, 2).to_markdown().splitlines()[0]
    '# shapley2d.valuation/1'
    """
    return as_markdown(told(valuation))


def _record(valuation: CellValues, n: int) -> dict[str, Any]:
    units, (heading, names, worth, reach) = Units.of(valuation), valuation._sums
    info, strays, rows = valuation.info, valuation._strays, valuation._shown_rows
    notes = [below_zero_words(valuation), rare_words(valuation)]
    row_sums = valuation.row_values, valuation._interval_factor * valuation.row_stderr
    return {
        "schema": "shapley2d.valuation/1",
        "version": brief_text((info.get("versions") or {}).get("shapley2d") or ""),
        "size": valuation._size_words,
        "method": brief_text(info.get("method") or ""),
        "measured": brief_text(measured_words(info), 400),
        "unit": unit_words(info),
        "score": brief_text(score_words(valuation), 400),
        "certainty": brief_text(certainty_words(valuation), 200),
        "exact": valuation.exact,
        "total": brief_number(valuation.total),
        "notes": [brief_text(note, 400) for note in notes if note],
        f"{heading}s": _sums(
            heading, names, (worth, reach), units.points, np.argsort(-worth, kind="stable")[:n]
        ),
        "lowest": _cells(valuation, valuation._first(n), units.cells),
        "highest": _cells(valuation, valuation._first(n, highest=True), units.cells),
        "lowest_rows": _sums(
            valuation._row_word,
            rows,
            row_sums,
            units.rows,
            np.argsort(row_sums[0], kind="stable")[:n],
        ),
        "n_strays": len(strays),
        "strays": [
            _brief({**_place(valuation, i, j), "entry": text, "expected type": expected})
            for i, j, text, expected in strays[:n]
        ],
    }


def _sums(
    noun: str,
    names: Sequence[Any] | NDArray[Any],
    sums: tuple[NDArray[np.float64], NDArray[np.float64]],
    unit: Unit,
    order: NDArray[np.intp],
) -> list[dict[str, Any]]:
    named = [{noun: names[k]} for k in order.tolist()]
    return _listed(named, sums[0][order].tolist(), sums[1][order].tolist(), unit)


def _place(valuation: CellValues, i: int, j: int) -> dict[str, Any]:
    return {valuation._row_word: valuation._shown_rows[i], "column": valuation.column_names[j]}


def _cells(valuation: CellValues, flat: NDArray[np.intp], unit: Unit) -> list[dict[str, Any]]:
    named: list[dict[str, Any]] = []
    for i, j in zip(*np.unravel_index(flat, valuation.shape), strict=True):
        known = {"entry": valuation._entry(i, j), "label": valuation._label(i)}
        texts = {key: text for key, text in known.items() if text is not None}
        named.append({**_place(valuation, i, j), **texts})
    reach = valuation._interval_factor * valuation.stderr.ravel()[flat]
    return _listed(named, valuation.values.ravel()[flat].tolist(), reach.tolist(), unit)


def _listed(
    named: list[dict[str, Any]], values: list[float], reach: list[float], unit: Unit
) -> list[dict[str, Any]]:
    """What is named, with its value, the ends of its interval, and the value as people read it."""
    found = []
    shown = unit.numbers(values, signed=True)
    for one, value, half, number in zip(named, values, reach, shown, strict=True):
        ends = {"low": brief_number(value - half), "high": brief_number(value + half)}
        worth = {"value": brief_number(value), **(ends if half else {})}
        found.append({**_brief(one), **worth, "shown": f"{number} {unit.words}".rstrip()})
    return found


def _brief(named: dict[str, Any]) -> dict[str, Any]:
    return {key: brief_text(text) for key, text in named.items()}
