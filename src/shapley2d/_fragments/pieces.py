"""Pieces of a table as contributors give them: files, frames, or one table and who owns what."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.arrow import pa, pc
from shapley2d._base.entries import as_text, is_missing
from shapley2d._base.words import counted, did_you_mean, entry_text
from shapley2d._tables.align import index_of
from shapley2d._tables.column_warnings import warn_of_reading
from shapley2d._tables.convert import as_table
from shapley2d._tables.intake import as_frame, is_path, names_of, opened, without_column
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shapley2d._base.arrays import Bools
    from shapley2d._tables.table import Column, Table

Files = "Mapping[str, Any] | Sequence[Any]"


@dataclass(frozen=True, eq=False)
class Piece:
    """What one contributor gives: typed columns, and the id of every row."""

    name: str
    ids: Any  # a pyarrow array of text, each once
    columns: dict[str, Column]
    held: dict[str, Bools]  # the entries of every column that the contributor holds

    def holds(self, name: str) -> bool:
        """Whether it holds any entry of a column."""
        return name in self.held and bool(self.held[name].any())


def make_piece(name: str, ids: Any, table: Table) -> Piece:
    """The piece of who holds every entry of a table."""
    columns = {column.name: column for column in table.columns}
    held = {key: ~np.isnan(column.entries) for key, column in columns.items()}
    return Piece(name, ids, columns, held)


def whole_piece(name: str, data: Any, on: str | None, kinds: Mapping[str, str] | None) -> Piece:
    """The piece of who holds every entry of a table, with the ids of its column or its index."""
    keys = None
    if on is not None:
        data, keys = without_column(data, on, name, "on")
    table = as_table(data, name, kinds)
    warn_of_reading(table, name)
    return make_piece(name, row_ids(table.row_names if keys is None else keys, name), table)


def named_fragments(fragments: Any) -> dict[str, Any]:
    """The fragments by the names of their contributors."""
    if hasattr(fragments, "items") and not hasattr(fragments, "columns"):
        named = {as_text(name): one for name, one in fragments.items()}
        if len(named) < len(fragments):
            raise InputError("fragments has two names that read the same: rename one")
    elif isinstance(fragments, (list, tuple)):
        named = {}
        for k, one in enumerate(fragments, start=1):
            name = _file_name(one) if is_path(one) else f"contributor {k}"
            if name in named:
                raise InputError(
                    f"fragments holds two files named {name!r}: pass a dict with a name for each"
                )
            named[name] = one
    else:
        raise InputError(
            "fragments must be a dict or a list of tables or paths, one for each "
            "contributor; one assembled table needs owners"
        )
    check_names(named)
    return named


def check_names(names: Collection[str]) -> None:
    if "" in names:
        raise InputError("a contributor has an empty name: name it")
    count = len(names)
    if count < 2:
        raise InputError(
            f"there {'is 1 contributor' if count else 'are no contributors'}: to compare what "
            "each is worth takes at least two"
        )


def _file_name(path: Any) -> str:
    name = Path(os.fspath(path)).name
    return name.split(".")[0] or name


def read_piece(name: str, data: Any, on: str | None, kinds: Mapping[str, str] | None) -> Piece:
    """Read the fragment of one contributor."""
    data = opened(data)
    names = names_of(data)
    if on is None and index_of(as_frame(data)) is None:
        raise InputError(
            f"{name} does not say which row is which: name the id column by "
            f"on{_id_hint(names)}"
        )  # fmt: skip
    if on is not None and on not in names:
        raise InputError(
            f"{name} has no id column {on!r}{did_you_mean(on, names) or only_has(names)}"
        )
    if not {*names} - {on}:
        raise InputError(f"{name} has no columns besides the ids: leave this file out")
    own = {key: kind for key, kind in (kinds or {}).items() if key in names}
    return whole_piece(name, data, on, own or None)


def _id_hint(names: Sequence[str]) -> str:
    near = [key for key in names if key.lower() in ("id", "key") or key.lower().endswith("_id")]
    return f", such as {near[0]!r}" if near else ""


def only_has(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return f": it has {shown}{', ...' if len(names) > 5 else ''}"


def row_ids(keys: Any, name: str) -> Any:
    """The ids of rows as text: 7, 7.0 and '7' are the same id."""
    ids = _as_texts(keys)
    ids = pc.if_else(pc.equal(pc.utf8_trim_whitespace(ids), ""), None, ids)
    if ids.null_count:
        row = int(np.flatnonzero(np.asarray(pc.is_null(ids)))[0])
        raise InputError(
            f"{name} has no id in {counted(ids.null_count, 'row')}, first in row {row + 1} "
            "(counted from 1): fill it, or drop that row"
        )  # fmt: skip
    if pc.count_distinct(ids).as_py() < len(ids):
        twice = [one for one in pc.value_counts(ids).to_pylist() if one["counts"] > 1]
        raise InputError(
            f"{name}: the id {twice[0]['values']!r} stands in {twice[0]['counts']} "
            f"rows{f' ({len(twice):,} ids stand more than once)' if len(twice) > 1 else ''}: "
            "give each row an id of its own, or drop the repeated rows"
        )  # fmt: skip
    return ids


def _as_texts(keys: Any) -> Any:
    keys = nw.from_native(keys, series_only=True, pass_through=True)
    if isinstance(keys, np.ndarray):
        plain = keys.dtype.kind in "iu"
        array = pa.array(keys if plain else [id_text(item) for item in keys.tolist()])
    elif keys.dtype.is_integer() or keys.dtype == nw.String:
        array = keys.to_arrow()
        array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    else:
        array = pa.array([id_text(item) for item in keys.to_list()])
    return array.cast(pa.string())


def id_text(item: Any) -> str | None:
    """The id of a row as text; None where it is missing."""
    if is_missing(item):
        return None
    return entry_text(item) if isinstance(item, float) else as_text(item)


def label_piece(y: Any, labels: Any, on: str | None) -> tuple[str, Piece | None]:
    """The name of the target, and everybody's labels where they are given apart.

    ``y``: the name of a column, that some fragments or ``labels`` hold; or the labels themselves,
    a series with the ids as its index.
    """
    if isinstance(y, str):
        if labels is None:
            return y, None
        piece = read_piece("labels", labels, on, None)
        if y not in piece.columns:
            raise InputError(f"labels has no column {y!r}{did_you_mean(y, piece.columns)}")
        return y, replace(piece, name="")
    if labels is not None:
        raise InputError("labels are given, so y must be the name of their column")
    name = as_text(getattr(y, "name", None) or "(label)")
    table, index = as_table({name: y}, "y"), index_of(y)
    if index is None and on is not None:
        raise InputError(
            "y does not say which label is whose: pass a series with the ids as its index, "
            "or a table by labels"
        )  # fmt: skip
    ids = row_ids(table.row_names if index is None else np.asarray(index), "y")
    return name, make_piece("", ids, table)
