"""Tables whose rows are put together from the cells of other rows, or that lack some cells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def take_cells(table: Table, index: Sequence[NDArray[np.intp]]) -> Table:
    """The table whose columns have the entries of other rows.

    Parameters
    ----------
    table : Table
    index : sequence of ndarray
        For each column the rows whose entries it takes; all of the same length.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> mixed = take_cells(as_table([[1, 10], [2, 20]]), [np.array([0, 1]), np.array([1, 0])])
    >>> [column.entries.tolist() for column in mixed.columns], mixed.native.tolist()
    ([[1.0, 2.0], [20.0, 10.0]], [[1, 20], [2, 10]])
    """
    columns = tuple(column.take(rows) for column, rows in zip(table.columns, index, strict=True))
    return Table(columns, table.row_names[index[0]], _native_cells(table.native, index))


def _native_cells(native: Any, index: Sequence[NDArray[np.intp]]) -> Any:
    if isinstance(native, np.ndarray):
        return native[np.array(index).T, np.arange(len(index))]
    frame = nw.from_native(native, eager_only=True)
    rows = frame[index[0].tolist()]
    mixed = {
        name: frame[name][taken.tolist()] for name, taken in zip(frame.columns, index, strict=True)
    }
    return rows.with_columns(
        *(
            nw.new_series(name, series.to_list(), series.dtype, backend=frame.implementation)
            for name, series in mixed.items()
        )
    ).to_native()


def blank_cells(table: Table, gone: NDArray[np.bool_]) -> Table:
    """The table with some cells missing; models that take a frame as it is see them still.

    Parameters
    ----------
    table : Table
    gone : ndarray of bool of shape (rows, columns)

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> blank_cells(as_table([[1, 10], [2, 20]]), np.array([[True, False], [False, False]])).columns[0].entries
    array([nan,  2.])
    """
    columns = tuple(
        replace(column, entries=np.where(mask, np.nan, column.entries))
        for column, mask in zip(table.columns, gone.T, strict=True)
    )
    return replace(table, columns=columns)
