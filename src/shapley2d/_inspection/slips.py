"""Typing errors that explain the cells most likely wrong, in words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.columns.finding import SAME_KEY
from shapley2d._inspection.columns.typed import MOST_SUSPECTS, Slips

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Floats
    from shapley2d._inspection.cells import Expected
    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._tables.table import Column

_SUSPECT = 0.05  # entries examined: all from this probability on


Cell = tuple[int, int]


def explain_suspects(
    columns: Sequence[Column],
    expected: Sequence[Expected],
    probability: Floats,
    findings: Sequence[ColumnFinding] = (),
) -> tuple[dict[Cell, str], dict[Cell, tuple[str | None, float]], tuple[Expected, ...]]:
    """The slips that explain the entries most likely wrong, or the last ones of longer columns.

    The slips in words and the entries that were meant, with how likely each is right, by row and
    column; and what is expected, with the entries that were meant.
    """
    known = columns[0].entries.size - len(probability) if columns else 0  # rows that are not judged
    notes, spelt = _found(columns, findings, known)
    # suspect for their format: what they say is right
    place = {column.name: j for j, column in enumerate(columns)}
    explained = notes.keys() | {
        (i - known, place[one.columns[0]])
        for one in findings
        if one.kind == "formats" and one.probability
        for i in one.suggestions
    }
    suggested: dict[Cell, tuple[str | None, float]] = {}
    slips: dict[int, Slips] = {}
    meant = {j: expected[j].entries.copy() for _, j in spelt}
    for (i, j), code in spelt.items():
        meant[j][i] = code
    for i, j in _most_likely(probability):
        entry = float(columns[j].entries[known + i])
        low, high = expected[j].low, expected[j].high
        if low is None or high is None or np.isnan(entry) or (i, j) in explained:
            continue
        slips[j] = slips.get(j) or Slips.of(columns[j])
        found = slips[j].explain(
            entry, float(low[i]), float(high[i]), float(expected[j].entries[i])
        )
        if found is not None:
            slip, number, sure = found
            meant.setdefault(j, expected[j].entries.copy())
            meant[j][i] = number
            typed, text = slips[j].texts(known + i, number)
            notes[i, j] = f"{slip}: {typed} for {text}"
            suggested[i, j] = text, sure
    return (
        {cell: note for cell, note in notes.items() if probability[cell] >= _SUSPECT},
        suggested,
        tuple(
            replace(one, entries=meant[j]) if j in meant else one for j, one in enumerate(expected)
        ),
    )


def _most_likely(probability: Floats) -> list[Cell]:
    """The cells to explain, the likeliest wrong first."""
    cells = np.argwhere(probability >= _SUSPECT)
    order = np.argsort(-probability[tuple(cells.T)], kind="stable")[:MOST_SUSPECTS]
    return [(i, j) for i, j in cells[order].tolist()]


def _found(
    columns: Sequence[Column], findings: Sequence[ColumnFinding], known: int
) -> tuple[dict[Cell, str], dict[Cell, int]]:
    """What findings explain, in words, and the categories that were meant, by row and column."""
    place = {column.name: j for j, column in enumerate(columns)}
    found: dict[Cell, str] = {}
    spelt: dict[Cell, int] = {}
    for finding in findings:
        j = place[finding.columns[0]]
        if finding.kind == "repeated key":
            found |= {(i - known, j): SAME_KEY for i in finding.rows.tolist() if i >= known}
        if finding.kind != "spellings" or columns[j].kind != "category":
            continue
        codes = {word: code for code, word in enumerate(columns[j].categories)}
        times = np.bincount(columns[j].entries[~np.isnan(columns[j].entries)].astype(np.intp))
        for i, word in finding.suggestions.items():
            if word in codes and i >= known:
                spelt[i - known, j] = codes[word]
                found[i - known, j] = f"a rare spelling of {word!r} ({times[codes[word]]:,} x)"
    return found, spelt
