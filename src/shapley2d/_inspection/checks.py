"""What an inspection found, as a schema of pandera that checks other tables.

A check of a column follows from what is right in it: entries that are likely wrong, and those that
accepted findings name, are left out. Numbers get the range of the others, categories their list,
texts their shapes, keys are unique, and columns that are never empty stay so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import shown
from shapley2d._inspection.binning import MOST_CATEGORIES
from shapley2d._inspection.columns.finding import RARE
from shapley2d._inspection.columns.view import shape_of
from shapley2d._inspection.tables.marks import is_bound
from shapley2d._inspection.tables.read import inspected_table
from shapley2d._tables.column_warnings import looks_like_key
from shapley2d._tables.table import Table
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from shapley2d._base.arrays import Bools
    from shapley2d._inspection.inspected import InspectedCells
    from shapley2d._tables.table import Column


def pandera_schema(inspection: InspectedCells, findings: Collection[int] | None) -> Any:
    """The schema; see :meth:`shapley2d.Inspection.to_pandera`."""
    try:
        import pandera.pandas as pa  # type: ignore[import-not-found]
    except ImportError:
        raise InputError('to_pandera needs pandera: pip install "shapley2d[pandera]"') from None
    every = range(len(inspection.findings))
    accepted = every if findings is None else findings
    if not {*accepted} <= {*every}:
        raise InputError(
            f"findings={shown(findings)} must be positions of the {len(every)} findings"
        )
    cells, m = inspection._cells, inspection.shape[1]
    wrong = cells.standing_out[:, :m].copy()
    names = inspection.column_names
    for place in accepted:
        one = inspection.findings[place]
        if one.columns[0] in names:
            wrong[one.rows[one.row_chances >= 0.5], names.index(one.columns[0])] = True
    # rows judged by a trusted table: its own are right, too, and stand before them
    known = cells.written_like or cells.columns
    columns = {}
    for j, name in enumerate(names):
        column = known[j]
        before = np.ones(column.entries.size - len(wrong), dtype=bool)
        right = np.concatenate([before, ~wrong[:, j]])
        texts = column.written()
        tests = _tests(column, texts, right)
        checks = [pa.Check(test, name=words, error=words) for words, test in tests]
        has_empty = any(texts[i] is None for i in np.flatnonzero(right).tolist())
        unique = _is_key(column, right)
        columns[name] = pa.Column(None, checks, nullable=has_empty, unique=unique)
    return pa.DataFrameSchema(columns, strict=False)


def _is_key(column: Column, right: Bools) -> bool:
    entries = column.entries[right & ~np.isnan(column.entries)]
    distinct = np.unique(entries).size
    is_text = column.kind == "category"
    return is_text and distinct == entries.size and looks_like_key(distinct, distinct)


def _tests(
    column: Column, texts: list[str | None], right: Bools
) -> list[tuple[str, Callable[[Any], Any]]]:
    """What entries of a column must be, in words, and a test of a series without empty cells."""
    there = right & ~np.isnan(column.entries)
    if not there.any():
        return []
    known = {text for text, is_right in zip(texts, right, strict=True) if is_right and text}
    if column.kind in ("number", "date"):
        low, high = float(column.entries[there].min()), float(column.entries[there].max())
        ends = (np.flatnonzero(there & (column.entries == end))[0] for end in (low, high))
        words = " to ".join(str(texts[int(end)]) for end in ends)
        return [(words, lambda series: _within(series, column, low, high))]
    if len(known) <= MOST_CATEGORIES * there.sum():
        listed = ", ".join(sorted(known)[:5]) + (", ..." if len(known) > 5 else "")
        return [(f"one of {listed}", lambda series: series.map(lambda one: _text(one) in known))]
    shapes = {shape_of(text) for text in known}
    if len(shapes) > RARE * len(known) + 1:  # free text
        return []
    words = f"written as {', '.join(sorted(shapes)[:5])}"
    return [(words, lambda series: series.map(lambda one: shape_of(_text(one)) in shapes))]


def _text(entry: Any) -> str:
    return str(entry).lower() if isinstance(entry, (bool, np.bool_)) else str(entry)


def _within(series: Any, column: Column, low: float, high: float) -> Any:
    """Whether entries, read as the column was, lie in a range; what cannot be read does not."""
    like = Table((column,), np.arange(column.entries.size))
    with without_warnings():
        found = inspected_table({column.name: series.to_list()}, like=like).columns[0]
    if found.kind != column.kind:
        return series.map(lambda _: False)
    inside, known = (found.entries >= low) & (found.entries <= high), column.from_text.marks
    for word, rows in found.from_text.marks.items():
        inside[rows] = word in known or (is_bound(word) and any(map(is_bound, known)))
    return type(series)(inside, index=series.index)
