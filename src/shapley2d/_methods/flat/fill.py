"""What stands in for an absent cell: its column's mean, or its most frequent entry."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._tables.encoding import encode_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Column, Table


class StandIn(NamedTuple):
    """What stands in for absent cells of a column: an entry, and the row with the nearest one."""

    entry: float
    row: int


def stand_in(column: Column) -> StandIn:
    """The mean of a column of numbers or dates; the most frequent entry (or first tied) of others.

    A column without a single entry has none to stand in; its cells are missing either way.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> [stand_in(column) for column in as_table([[1, "b"], [4, "a"], [4, "b"]]).columns]
    [StandIn(entry=3.0, row=1), StandIn(entry=1.0, row=0)]
    """
    known = column.entries[~np.isnan(column.entries)]
    if not known.size:
        return StandIn(np.nan, 0)
    if column.kind in ("category", "boolean"):
        codes, counts = np.unique(known, return_counts=True)
        entry = codes[np.argmax(counts)]
    else:
        # rounding must not move the mean of a constant column away from it
        entry = np.clip(known.mean(), known.min(), known.max())
    return StandIn(float(entry), int(np.nanargmin(np.abs(column.entries - entry))))


@dataclass(frozen=True)
class EncodedCells:
    """Encoded tables, with the row of numbers that stands in for absent cells.

    Attributes
    ----------
    train, valid : ndarray of shape (n, width) and (T, width)
        With all cells present.
    absent : ndarray of shape (width,)
        What a row without any cell looks like.
    starts : ndarray of shape (m + 1,)
        The encoded columns of column j are ``starts[j] .. starts[j + 1] - 1``.
    """

    train: NDArray[np.float64]
    valid: NDArray[np.float64]
    absent: NDArray[np.float64]
    starts: NDArray[np.intp]

    def matters(self) -> NDArray[np.bool_]:
        """Which cells (n, m) differ from what stands in for them."""
        same = (self.train == self.absent) | (np.isnan(self.train) & np.isnan(self.absent))
        return np.stack([~same[:, a:b].all(axis=1) for a, b in self._spans()], axis=1)

    def _spans(self) -> zip[tuple[int, int]]:
        return zip(self.starts[:-1].tolist(), self.starts[1:].tolist(), strict=True)


def encode_cells(train: Table, valid: Table, *, keep_missing: bool) -> EncodedCells:
    """Encode both tables, and the row that stands in for absent cells.

    Parameters
    ----------
    train, valid : Table
    keep_missing : bool
        Whether a missing number stays missing while its cell is present; otherwise the column's
        mean is put there (0 in a column without a single number). A missing category has no 1 in
        any of its columns, in either case.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> table = as_table([["red", 1.0], ["blue", None], ["red", 5.0]])
    >>> encode_cells(table, table, keep_missing=False).train.tolist()
    [[0.0, 1.0, 1.0], [1.0, 0.0, 3.0], [0.0, 1.0, 5.0]]
    >>> encode_cells(table, table, keep_missing=False).absent.tolist()
    [0.0, 1.0, 3.0]
    """
    encoded = encode_tables(train, valid)
    starts = np.searchsorted(encoded.owners, np.arange(train.n_columns + 1)).astype(np.intp)
    absent = np.empty(encoded.owners.size)
    for column, start, stop in zip(train.columns, starts[:-1], starts[1:], strict=True):
        entry, row = stand_in(column)
        absent[start:stop] = encoded.train[row, start:stop] if column.kind == "category" else entry
    if keep_missing:
        return EncodedCells(encoded.train, encoded.valid, absent, starts)
    absent = np.nan_to_num(absent, nan=0.0)
    filled = [np.where(np.isnan(x), absent, x) for x in (encoded.train, encoded.valid)]
    return EncodedCells(filled[0], filled[1], absent, starts)


class NativeCells:
    """The user's table, an array or a frame, with absent cells filled.

    Whole numbers become floats, since the mean stands in for them; entries that are present,
    missing ones too, are not changed otherwise. Dates, durations and decimals are filled with the
    entry nearest to the mean, so that the column keeps its type.

    Parameters
    ----------
    train : Table

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> cells = NativeCells(as_table([[1, "b"], [5, "a"], [3, "b"]]))
    >>> cells.filled(np.array([[True, True], [False, False], [False, True]])).tolist()
    [[1, 'b'], [3.0, 'b'], [3.0, 'b']]
    """

    def __init__(self, train: Table) -> None:
        self._table = train
        self._stand_ins = [stand_in(column) for column in train.columns]
        self._averaged = [self._is_averaged(j) for j in range(train.n_columns)]

    def matters(self) -> NDArray[np.bool_]:
        """Which cells (n, m) differ from what stands in for them."""
        apart = []
        for j, column in enumerate(self._table.columns):
            entry, row = self._stand_ins[j]
            if not self._averaged[j]:
                entry = column.entries[row]
            same = (column.entries == entry) | (np.isnan(column.entries) & np.isnan(entry))
            apart.append(~same)
        return np.stack(apart, axis=1)

    def filled(self, present: NDArray[np.bool_]) -> Any:
        """The table with some cells ``present`` (n, m) and stand-ins elsewhere."""
        native = self._table.native
        if not isinstance(native, np.ndarray):
            frame = nw.from_native(native, eager_only=True)
            parts = [
                self._series(frame[:, j], j, present[:, j]) for j in range(self._table.n_columns)
            ]
            return frame.with_columns(*parts).to_native()
        table = np.empty(native.shape, np.float64 if native.dtype.kind in "iuf" else native.dtype)
        for j, (entry, row) in enumerate(self._stand_ins):
            absent = np.float64(entry) if self._averaged[j] else native[row, j]
            table[:, j] = np.where(present[:, j], native[:, j], absent)
        return table

    def _series(self, series: nw.Series[Any], j: int, present: NDArray[np.bool_]) -> nw.Series[Any]:
        entry, row = self._stand_ins[j]
        if not self._averaged[j]:
            source = np.where(present, np.arange(present.size), row)
            taken: nw.Series[Any] = series[source.tolist()]
            return taken.alias(series.name)
        numbers = series if series.dtype == nw.Object else series.cast(nw.Float64)
        backend = series.implementation
        # entry by entry from one series or the other: missing entries stay as the frame has them
        return numbers.zip_with(
            nw.new_series(series.name, present, nw.Boolean, backend=backend),
            nw.new_series(
                series.name, np.full(present.size, entry), numbers.dtype, backend=backend
            ),
        )

    def _is_averaged(self, j: int) -> bool:
        """Whether the mean stands in: for numbers, as Python objects too."""
        native, column = self._table.native, self._table.columns[j]
        if np.isnan(self._stand_ins[j].entry):  # all entries are missing
            return False
        if isinstance(native, np.ndarray):
            if native.dtype != object:
                return native.dtype.kind in "iuf"
            items = native[:, j].tolist()
        else:
            series = nw.from_native(native, eager_only=True)[:, j]
            if series.dtype != nw.Object:
                return bool(series.dtype.is_integer() or series.dtype.is_float())
            items = series.to_list()
        known = [
            item for item, entry in zip(items, column.entries, strict=True) if not np.isnan(entry)
        ]
        return column.kind == "number" and all(isinstance(item, Real) for item in known)
