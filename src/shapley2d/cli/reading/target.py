"""The target column of a file: which rows have one, and what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.entries import is_missing
from shapley2d._tables.column_warnings import looks_like_key
from shapley2d._tables.frames import objects
from shapley2d._tables.target_entries import label_column, listed, read_labels
from shapley2d.exceptions import InputError, Note

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._tables.reading.files import Source
    from shapley2d._tables.table import Column

_SHOWN = 3


@dataclass(frozen=True)
class TargetColumn:
    """A target, and the rows of the file that have one."""

    rows: NDArray[np.intp]  # positions in the file
    y: Any  # their entries: numbers, or labels to be taken as they stand
    missing: NDArray[np.intp]  # positions of rows without a target

    def rows_of(self, table: Any) -> Any:
        """The rows of a pyarrow table that have a target."""
        return table if self.rows.size == table.num_rows else table.take(self.rows)


def read_target(source: Source, target: str, *, kind: str | None, task: str) -> TargetColumn:
    """Read the target; rows whose entry does not match its type are left out, with a note."""
    import pyarrow as pa

    column = source.table[target]
    if pa.types.is_dictionary(column.type):
        column, kind = column.cast(column.type.value_type), kind or "text"
    labels = _read(column, kind, task)
    strays = np.array(list(labels.strays), dtype=np.intp)
    gone = labels.missing
    gone[strays] = False
    missing = np.flatnonzero(gone)
    kept = ~gone
    kept[strays] = False
    rows = np.flatnonzero(kept)
    if not rows.size:
        raise InputError(f"{source.path}: the target {target!r} is empty in all {len(column)} rows")
    if labels.strays:
        shown = [
            f"{text[:40]!r} in {source.where(row)}"
            for row, text in list(labels.strays.items())[:_SHOWN]
        ]
        more = ", ..." if len(labels.strays) > _SHOWN else ""
        source.notes.append(
            Note(
                f"{source.path}: the target {target!r} holds numbers, but not in "
                f"{len(labels.strays)} of {len(column)} rows ({', '.join(shown)}{more}): those "
                "rows are left out"
            )
        )
    return TargetColumn(rows, labels.take(rows), missing)


class _Read(NamedTuple):
    """A target's entries: which are missing, which are strays, and how to take those of rows."""

    missing: NDArray[np.bool_]
    strays: dict[int, str]
    take: Callable[[NDArray[np.intp]], Any]


def _read(column: Any, kind: str | None, task: str) -> _Read:
    import pyarrow as pa

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        read = label_column(column, "y", kind=kind, task=task)
        if read.kind == "category":  # by its codes: a million texts one by one took a second
            return _Read(np.isnan(read.entries), {}, lambda rows: _categories(read, rows))
    labels = read_labels(_as_vector(column), "y", kind=kind, task=task)
    return _Read(
        _missing(labels.entries), labels.strays, lambda rows: _entries(labels.entries[rows])
    )


def _categories(column: Column, rows: NDArray[np.intp]) -> Any:
    """Text as categories, so that it is never read as numbers again."""
    import pyarrow as pa

    codes = pa.array(column.entries[rows].astype(np.int32))
    words = pa.array(column.categories, pa.string())
    return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, words)])


def check_target(source: Source, target: str, y: Any) -> None:
    """Refuse a target that cannot be learnt."""
    if isinstance(y, np.ndarray) and y.dtype.kind != "O":
        distinct = [y[0].item()]  # numbers are no keys: one is enough
        same = bool((y == y[0]).all())
    else:
        distinct = y.unique().to_pylist() if hasattr(y, "unique") else list(set(y.tolist()))
        same = len(distinct) == 1
    if same:
        raise InputError(
            f"{source.path}: the target {target!r} is {str(distinct[0])!r} in every row: there is "
            "nothing to learn, choose another --target"
        )
    if isinstance(distinct[0], str) and looks_like_key(len(distinct), len(y)):
        raise InputError(
            f"{source.path}: the target {target!r} looks like a key ({len(distinct)} different "
            f"texts in {len(y)} rows): choose another --target"
        )


def _as_vector(column: Any) -> NDArray[Any]:
    import pyarrow as pa

    if not column.null_count and (
        pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    ):
        return np.asarray(column.to_numpy())
    items = listed(column.to_pylist, column.type, "y")
    if pa.types.is_decimal(column.type) and column.type.scale == 0:
        items = [None if item is None else int(item) for item in items]
    return objects(items)


def _missing(entries: NDArray[Any]) -> NDArray[np.bool_]:
    if entries.dtype.kind == "f":
        return np.asarray(np.isnan(entries))
    if entries.dtype.kind != "O":
        return np.zeros(entries.size, dtype=bool)
    if set(map(type, entries.tolist())) <= {str, type(None)}:
        return np.array([item is None for item in entries.tolist()], dtype=bool)
    return np.array([is_missing(item) for item in entries], dtype=bool)


def _entries(entries: NDArray[Any]) -> Any:
    """Numbers unchanged; text as categories, so that it is never read as numbers again."""
    import pyarrow as pa

    items = entries.tolist() if entries.dtype.kind == "O" else []
    if set(map(type, items)) == {str}:
        return pa.chunked_array([pa.array(items, pa.string()).dictionary_encode()])
    whole = entries.dtype.kind == "f" and np.array_equal(entries, np.round(entries))
    return entries.astype(np.int64) if whole and (np.abs(entries) < 2**53).all() else entries
