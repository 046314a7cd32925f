"""All findings about the columns of a table.

To add one, write a function from a :class:`WrittenColumn` to a :class:`ColumnFinding` or None in
``shapes.py`` (how entries are written), ``codes_and_dates.py`` (what they mean), ``spellings.py``,
or, for several columns, ``rules.py``, ``siblings.py``, ``duplicates.py`` or
``marks_for_missing.py``, and call it from that file's ``find_...`` function, which is called here.
The page, the command line and ``repair`` show and apply it like the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.columns.codes_and_dates import find_codes_and_dates, weigh_codes
from shapley2d._inspection.columns.duplicates import find_duplicates
from shapley2d._inspection.columns.finding import ColumnFinding, written_columns
from shapley2d._inspection.columns.marks_for_missing import find_marks_for_missing
from shapley2d._inspection.columns.notations import find_notations
from shapley2d._inspection.columns.rules import find_rules
from shapley2d._inspection.columns.shapes import find_shapes
from shapley2d._inspection.columns.siblings import find_siblings
from shapley2d._inspection.columns.spellings import find_spellings
from shapley2d._inspection.columns.spilled import find_spilled
from shapley2d._tables.column_warnings import find_keys

if TYPE_CHECKING:
    from shapley2d._tables.table import Column, Table


def find_in_columns(table: Table) -> list[ColumnFinding]:
    """Problems of whole columns: units, formats, spellings, codes, date orders, keys, broken rules.

    The likeliest wrong come first, mere facts last; otherwise they are in the order of columns.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> X = {"size": ["12.0 oz", "12.0 oz.", "16.0 oz", "12.0 ounce"] * 5}
    >>> [finding.kind for finding in find_in_columns(as_table(X))]
    ['units']
    """
    columns = written_columns(table)
    keys = {key.name: key.why for key in find_keys(table)}
    found = [
        _about(name, "key", f"{name!r} looks like a key, {why}: nothing can be learned from it")
        for name, why in keys.items()
    ]
    for column in columns:
        found += _find_constant(column.column)
        found += find_codes_and_dates(column)
        found += find_notations(column)
        shapes = find_shapes(column)
        found += shapes
        if not any(finding.kind in ("units", "suffix") for finding in shapes):
            found += find_spellings(column)
    found += find_marks_for_missing(columns)
    others = [column for column in columns if column.name not in keys]
    found += find_spilled(others)
    found += find_rules(others)
    found += find_siblings(columns)
    found += find_duplicates(columns, keys)
    place = {name: k for k, name in enumerate(table.column_names)}
    facts = ("key", "constant", "empty")

    def order(one: ColumnFinding) -> tuple[bool, float, bool, int]:
        return one.kind in facts, -one.probability, not one.suggestions, place[one.columns[0]]

    return sorted(weigh_codes(found), key=order)


def _find_constant(column: Column) -> list[ColumnFinding]:
    name, entries = column.name, column.entries
    known = entries[~np.isnan(entries)]
    if not known.size:
        return [_about(name, "empty", f"{name!r} is empty throughout: drop it")]
    if known.size == entries.size > 1 and (known == known[0]).all():
        return [_about(name, "constant", f"{name!r} is the same in every row: drop it")]
    return []


def _about(name: str, kind: str, text: str) -> ColumnFinding:
    return ColumnFinding((name,), kind, text, rows=np.zeros(0, dtype=np.intp))
