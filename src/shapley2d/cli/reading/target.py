"""The target column of a file: which rows have one, and what they hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._base.entries import which_missing
from shapley2d._tables.column_warnings import looks_like_key
from shapley2d._tables.frames import objects, readable
from shapley2d._tables.target_entries import label_column, read_labels
from shapley2d._tables.texts.numbers import EXACT
from shapley2d.exceptions import InputError, Note

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.reading.files import Source

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
    column = source.table[target]
    with readable("y", column.type):
        if pa.types.is_dictionary(column.type):
            column, kind = column.cast(column.type.value_type), kind or "text"
        entries, strays = _read(column, kind, task)
    if not isinstance(entries, np.ndarray):
        gone = np.asarray(entries.is_null())
    elif entries.dtype.kind == "f":
        gone = np.isnan(entries)
    else:
        gone = which_missing(entries.tolist())
    rows = np.flatnonzero(~gone)
    if not rows.size:
        raise InputError(f"{source.path}: the target {target!r} is empty in all {len(column)} rows")
    if strays:
        shown = [
            f"{text[:40]!r} in {source.where(row)}" for row, text in list(strays.items())[:_SHOWN]
        ]
        more = ", ..." if len(strays) > _SHOWN else ""
        source.notes.append(
            Note(
                f"{source.path}: the target {target!r} holds numbers, but not in {len(strays)} of "
                f"{len(column)} rows ({', '.join(shown)}{more}): those rows are left out"
            )
        )
    missing = np.setdiff1d(np.flatnonzero(gone), list(strays))
    return TargetColumn(rows, _as_labels(entries.take(rows)), missing.astype(np.intp))


def _read(column: Any, kind: str | None, task: str) -> tuple[Any, dict[int, str]]:
    """The entries of all rows, text as categories; and those that are no numbers, by row."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        read = label_column(column, "y", kind=kind, task=task)
        if read.kind == "category":  # by its codes: a million texts one by one took a second
            codes = pa.array(read.entries, from_pandas=True).cast(pa.int32())
            words = pa.array(read.categories, pa.string())
            return pa.chunked_array([pa.DictionaryArray.from_arrays(codes, words)]), {}
    labels = read_labels(_as_vector(column), "y", kind=kind, task=task)
    return labels.entries, labels.strays


def _as_labels(entries: Any) -> Any:
    """Whole numbers as integers; text as categories, so that it is never read as numbers again."""
    if not isinstance(entries, np.ndarray):
        return entries
    items = entries.tolist() if entries.dtype.kind == "O" else []
    if set(map(type, items)) == {str}:
        return pa.chunked_array([pa.array(items, pa.string()).dictionary_encode()])
    whole = entries.dtype.kind == "f" and np.array_equal(entries, np.round(entries))
    return entries.astype(np.int64) if whole and (np.abs(entries) < EXACT).all() else entries


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
    if not column.null_count and (
        pa.types.is_integer(column.type) or pa.types.is_floating(column.type)
    ):
        return np.asarray(column.to_numpy())
    with readable("y", column.type):
        items = column.to_pylist()
    if pa.types.is_decimal(column.type) and column.type.scale == 0:
        items = [None if item is None else int(item) for item in items]
    return objects(items)
