"""All findings about the columns of a table.

To add one, write a generator of :class:`ColumnFinding` from one :class:`ColumnView` or from all,
in the file that fits (``missing``, ``far``, ``notations``, ``shapes``, ``spellings``,
``duplicates``, ``rules``, ``arithmetic``), and call it here. The page, the command line and
``repair`` then show and apply it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.columns.arithmetic import find_arithmetic
from shapley2d._inspection.columns.duplicates import find_duplicates, find_siblings, find_spilled
from shapley2d._inspection.columns.far import find_far
from shapley2d._inspection.columns.finding import UNSURE, fact
from shapley2d._inspection.columns.missing import find_codes, find_marks_for_missing, weigh_codes
from shapley2d._inspection.columns.notations import find_date_orders, find_notations
from shapley2d._inspection.columns.rules import find_rules
from shapley2d._inspection.columns.shapes import find_shapes
from shapley2d._inspection.columns.spellings import find_spellings
from shapley2d._inspection.columns.view import column_views
from shapley2d._tables.column_warnings import find_keys
from shapley2d.exceptions import cut_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.columns.view import ColumnView
    from shapley2d._tables.table import Column, Table


def find_in_columns(table: Table, written: list[ColumnView] | None = None) -> list[ColumnFinding]:
    """Problems of whole columns: units, formats, spellings, codes, date orders, keys, broken rules.

    The likeliest wrong come first, mere facts last; otherwise they are in the order of columns.

    >>> from shapley2d._tables.convert import as_table
    >>> X = {"size": ["12.0 oz", "12.0 oz.", "16.0 oz", "12.0 ounce"] * 5}
    >>> [finding.kind for finding in find_in_columns(as_table(X))]
    ['units']
    """
    columns = column_views(table) if written is None else written
    keys = {key.name: key.why for key in find_keys(table)}
    found = [
        fact(name, "key", f"{name!r} looks like a key, {why}: nothing can be learned from it")
        for name, why in keys.items()
    ]
    for column in columns:
        found += _find_constant(column.column)
        codes = list(find_codes(column))
        found += codes
        if column.name not in keys:
            found += find_far(column, [row for one in codes for row in one.rows])
        found += _find_swallowed(column, table.n_columns)
        found += find_date_orders(column)
        found += find_notations(column)
        shapes = list(find_shapes(column))
        found += shapes
        if not any(finding.kind in ("units", "suffix") for finding in shapes):
            found += find_spellings(column)
    found += find_marks_for_missing(columns)
    others = [column for column in columns if column.name not in keys]
    found += find_spilled(others)
    with_unit = {finding.columns[0] for finding in found if finding.kind in ("units", "suffix")}
    found += find_rules(others, with_unit)
    found += find_arithmetic(columns)
    found += find_siblings(columns)
    found += find_duplicates(columns, keys)
    place = {name: k for k, name in enumerate(table.column_names)}

    def order(one: ColumnFinding) -> tuple[bool, float, bool, int]:
        is_fact = one.kind in ("key", "constant", "empty")
        return is_fact, -one.probability, not one.suggestions, place[one.columns[0]]

    brief = [replace(one, text=cut_names(one.text)) for one in weigh_codes(found)]
    return sorted(brief, key=order)


def _find_constant(column: Column) -> Iterator[ColumnFinding]:
    name, entries = column.name, column.entries
    known = entries[~np.isnan(entries)]
    if not known.size:
        yield fact(name, "empty", f"{name!r} is empty throughout: drop it")
    elif known.size == entries.size > 1 and (known == known[0]).all():
        yield fact(name, "constant", f"{name!r} is the same in every row: drop it")


def _find_swallowed(column: ColumnView, width: int) -> Iterator[ColumnFinding]:
    """Entries whose lines are rows of the file: a quote was not closed where its entry ends."""
    rows = column.rows(column.where(lambda word: "\n" in word and _are_rows(word, width)))
    if rows.size:
        yield column.finding(
            "swallowed rows",
            f"{column.entries(rows, 'holds', 'hold')} lines that look like other rows, "
            f"{column.example(rows)}: close the quote where the entry ends, and read the file "
            "again",
            rows,
            chance=UNSURE,
        )


def _are_rows(text: str, width: int) -> bool:
    """Whether all lines have the separators of a row; the first and the last are parts of one.

    The table has this width, or its file one column more: the label.
    """
    first, *inner, last = text.splitlines()
    for mark in ",;\t|":
        counts = {line.count(mark) for line in (*inner, first + last)}
        if inner and len(counts) == 1 and max(width - 1, 2) <= counts.pop() <= width:
            return True
    return False
