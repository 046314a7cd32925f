"""All findings about columns, and what they say about single cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.columns.numbers import find_in_numbers
from shapley2d._inspection.columns.rules import find_rules, find_spilled
from shapley2d._inspection.columns.shapes import find_shapes
from shapley2d._inspection.columns.spellings import find_spellings
from shapley2d._inspection.columns.written import written_columns
from shapley2d._inspection.findings import ColumnFinding
from shapley2d._tables.column_warnings import find_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._tables.table import Table


def find_in_columns(table: Table) -> tuple[ColumnFinding, ...]:
    """What is off about whole columns: units, formats, spellings, codes, date orders, keys, rules that rows break.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> X = {"size": ["12.0 oz", "12.0 oz.", "16.0 oz", "12.0 ounce"] * 5}
    >>> [finding.kind for finding in find_in_columns(as_table(X))]
    ['units']
    """
    columns = written_columns(table)
    keys = find_keys(table)
    found: list[ColumnFinding] = [_key(key.name, key.why) for key in keys]
    for column in columns:
        found += _constant(column.name, column.column.entries)
        found += find_in_numbers(column)
        shapes = find_shapes(column)
        found += shapes
        if not any(finding.kind in ("units", "suffix") for finding in shapes):
            found += find_spellings(column)
    names = {key.name for key in keys}
    telling = [column for column in columns if column.name not in names]
    found += find_spilled(telling)
    found += find_rules(telling)
    place = {name: k for k, name in enumerate(table.column_names)}
    return tuple(sorted(found, key=lambda finding: place[finding.columns[0]]))


def _key(name: str, why: str) -> ColumnFinding:
    nowhere = np.zeros(0, dtype=np.intp)
    return ColumnFinding(
        (name,), "key", f"{name!r} looks like a key, {why}: nothing can be learned from it", nowhere
    )


def _constant(name: str, entries: NDArray[np.float64]) -> list[ColumnFinding]:
    known = entries[~np.isnan(entries)]
    nowhere = np.zeros(0, dtype=np.intp)
    if not known.size:
        return [ColumnFinding((name,), "empty", f"{name!r} is empty throughout: drop it", nowhere)]
    if known.size == entries.size > 1 and (known == known[0]).all():
        return [
            ColumnFinding(
                (name,), "constant", f"{name!r} says the same in every row: drop it", nowhere
            )
        ]
    return []


def cell_probabilities(
    found: Sequence[ColumnFinding], names: Sequence[str], n_rows: int
) -> tuple[NDArray[np.float64], dict[tuple[int, int], str]]:
    """For every cell the largest probability that a finding gives it, and what that finding would write there.

    Returns
    -------
    probability : ndarray of shape (n, m)
        0 where no finding speaks.
    suggestions : dict of (int, int) to str
        By row and column.
    """
    place = {name: k for k, name in enumerate(names)}
    probability = np.zeros((n_rows, len(names)))
    suggestions: dict[tuple[int, int], str] = {}
    for finding in found:
        j = place[finding.columns[0]]
        chances = (
            np.full(finding.rows.size, finding.probability)
            if finding.chances is None
            else finding.chances
        )
        more = chances > probability[finding.rows, j]
        rows = finding.rows[more]
        probability[rows, j] = chances[more]
        for i in rows.tolist():
            suggestions.pop((i, j), None)
            if i in finding.suggestions:
                suggestions[i, j] = finding.suggestions[i]
    return probability, suggestions
