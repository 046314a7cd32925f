"""Reading a table as an inspection does: nothing is refused that can be a finding."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._inspection.tables.marks import inspected_column
from shapley2d._tables.convert import MAX_MAGNITUDE, typed_table
from shapley2d._tables.kinds import as_category
from shapley2d._tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shapley2d._tables.table import Column


def inspected_table(
    data: Any, name: str = "X", kinds: Mapping[str, str] | None = None, like: Table | None = None
) -> Table:
    """A table as of :func:`~shapley2d._tables.convert.as_table`, for an inspection.

    Infinite numbers and those beyond :data:`MAX_MAGNITUDE` count as entries of another kind, as
    text does, and words and bounds among numbers as missing.
    """
    if isinstance(data, Table):
        return data
    table = typed_table(data, name, kinds, like, inspected_column)
    return replace(table, columns=tuple(map(beyond_as_strays, table.columns)))


def beyond_as_strays(column: Column) -> Column:
    """The column with numbers beyond :data:`MAX_MAGNITUDE` as entries of another kind."""
    rows = np.flatnonzero(np.abs(column.entries) > MAX_MAGNITUDE)
    if not rows.size:
        return column
    texts = {i: repr(float(column.entries[i])) for i in rows.tolist()}
    entries = column.entries.copy()
    entries[rows] = np.nan
    if np.isnan(entries).all():  # nothing that they could be strays of
        return as_category(column.text(), column.name)
    read = replace(column.from_text, strays=column.from_text.strays | texts)
    return replace(column.with_entries(entries), from_text=read)
