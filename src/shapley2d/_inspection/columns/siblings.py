"""Entries that differ from those of a column that nearly always holds the same."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted
from shapley2d._inspection.columns.finding import ColumnFinding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._inspection.columns.finding import WrittenColumn

_EQUAL = 0.98  # at least this share of the rows, else the two columns are two things
_BY_CHANCE = 0.2  # the commonest entry has at most this share: rows hardly agree by chance
_MIN_ROWS = 50
_EITHER = 0.45  # chance of each of the two: one is wrong, nobody knows which, if any


def find_siblings(columns: Sequence[WrittenColumn]) -> list[ColumnFinding]:
    """Rows in which two columns differ that are equal nearly everywhere else.

    Examples
    --------
    >>> from shapley2d._inspection.columns.finding import written_columns
    >>> from shapley2d._tables.convert import as_table
    >>> net = [k % 37 for k in range(100)]
    >>> X = {"net": net, "paid": [*net[:70], 99, *net[71:]]}
    >>> [(one.columns, one.suggestions) for one in find_siblings(written_columns(as_table(X)))]
    [(('net', 'paid'), {70: '99'}), (('paid', 'net'), {70: '33'})]
    """
    varied = [
        column
        for column in columns
        if column.n_written >= _MIN_ROWS and column.counts.max() <= _BY_CHANCE * column.n_written
    ]
    places: dict[str, int] = {}
    texts = [
        np.array([*(places.setdefault(word, len(places)) for word in column.words), -1])[
            column.codes
        ]
        for column in varied
    ]
    found = []
    for j, k in combinations(range(len(varied)), 2):
        one, other = varied[j], varied[k]
        both = (texts[j] >= 0) & (texts[k] >= 0)
        differs = both & (texts[j] != texts[k])
        if not 0 < differs.sum() <= (1 - _EQUAL) * both.sum():
            continue
        rows = np.flatnonzero(differs)
        text = (
            f"{one.name!r} and {other.name!r} hold the same, except in "
            f"{counted(rows.size, 'row')} of {int(both.sum()):,}: check which of the two is right"
        )
        for about, like in ((one, other), (other, one)):
            suggestions = {i: like.word(i) for i in rows.tolist()}
            names = (about.name, like.name)
            found.append(ColumnFinding(names, "unequal", text, rows, suggestions, _EITHER))
    return found
