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
from shapley2d._tables.column_warnings import warn_of_reading
from shapley2d._tables.convert import as_table
from shapley2d._tables.intake import as_frame, is_path, names_of, opened, without_column
from shapley2d.exceptions import InputError, Place, Setting

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from shapley2d._base.arrays import Bools, Ints
    from shapley2d._tables.table import Column

Files = "Mapping[str, Any] | Sequence[Any]"


@dataclass(frozen=True, eq=False)
class Piece:
    """What one contributor gives: typed columns, and the id of every row."""

    name: str
    ids: Any  # a pyarrow array of text, each once
    columns: dict[str, Column]
    held: dict[str, Bools]  # the entries of every column that the contributor holds

    def where(self, row: int) -> str:
        """A row, for a message."""
        return f"row {self.ids[row].as_py()!r}"


def named_fragments(fragments: Any) -> dict[str, Any]:
    """The fragments by the names of their contributors."""
    if hasattr(fragments, "items") and not hasattr(fragments, "columns"):
        named = {as_text(name): one for name, one in fragments.items()}
        if len(named) < len(fragments):
            raise InputError(Setting("fragments"), " has two names that read the same: rename one")
    elif isinstance(fragments, (list, tuple)):
        named = {}
        for k, one in enumerate(fragments, start=1):
            name = _file_name(one) if is_path(one) else f"contributor {k}"
            if name in named:
                raise InputError(
                    Setting("fragments"),
                    f" holds two files named {name!r}: pass a dict with a name for each",
                )
            named[name] = one
    else:
        raise InputError(
            Setting("fragments"),
            " must be a dict or a list of tables or paths, one for each contributor; one "
            "assembled table needs ",
            Setting("owners"),
        )
    _check_names(named)
    return named


def _check_names(names: Collection[str]) -> None:
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
    if on is None:
        if not _has_index(data):
            raise InputError(
                Place(name), " does not say which row is which: name the id column by ",
                Setting("on"), _id_hint(names),
            )  # fmt: skip
        keys = None
    else:
        if on not in names:
            raise InputError(
                Place(name), f" has no id column {on!r}", did_you_mean(on, names) or _has(names)
            )
        data, keys = without_column(data, on, name, "on")
    if len(names) == (on is not None):
        raise InputError(Place(name), " has no columns besides the ids: leave this file out")
    own = None if kinds is None else {key: kinds[key] for key in kinds if key in names}
    table = as_table(data, name, own or None)
    warn_of_reading(table, name)
    ids = row_ids(table.row_names if keys is None else keys, name)
    return Piece(
        name,
        ids,
        {column.name: column for column in table.columns},
        {column.name: ~np.isnan(column.entries) for column in table.columns},
    )


def _has_index(data: Any) -> bool:
    frame = nw.from_native(as_frame(data), eager_only=True, pass_through=True)
    return isinstance(frame, nw.DataFrame) and nw.maybe_get_index(frame) is not None


def _id_hint(names: Sequence[str]) -> str:
    near = [key for key in names if key.lower() in ("id", "key") or key.lower().endswith("_id")]
    return f", such as {near[0]!r}" if near else ""


def _has(names: Sequence[str]) -> str:
    shown = ", ".join(map(repr, names[:5]))
    return f": it has {shown}{', ...' if len(names) > 5 else ''}"


def row_ids(keys: Any, name: str) -> Any:
    """The ids of rows as text: 7, 7.0 and '7' are the same id."""
    ids = _as_texts(keys)
    ids = pc.if_else(pc.equal(pc.utf8_trim_whitespace(ids), ""), None, ids)
    if ids.null_count:
        row = int(np.flatnonzero(np.asarray(pc.is_null(ids)))[0])
        raise InputError(
            Place(name), f" has no id in {counted(ids.null_count, 'row')}, first in row ",
            f"{row + 1} (counted from 1): fill it, or drop that row",
        )  # fmt: skip
    counts = pc.value_counts(ids)
    twice = np.flatnonzero(np.asarray(counts.field("counts")) > 1)
    if twice.size:
        raise InputError(
            Place(name), f": the id {counts.field('values')[int(twice[0])].as_py()!r} stands in "
            f"{counts.field('counts')[int(twice[0])].as_py()} rows",
            f" ({len(twice):,} ids stand more than once)" if len(twice) > 1 else "",
            ": give each row an id of its own, or drop the repeated rows",
        )  # fmt: skip
    return ids


def _as_texts(keys: Any) -> Any:
    series = nw.from_native(keys, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        if series.dtype.is_integer() or series.dtype == nw.String:
            array = series.to_arrow()
            array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
            return array.cast(pa.string())
        keys = series.to_list()
    elif isinstance(keys, np.ndarray) and keys.dtype.kind in "iu":
        return pa.array(keys).cast(pa.string())
    items = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
    texts = [
        None if is_missing(item) else entry_text(item) if isinstance(item, float) else as_text(item)
        for item in items
    ]
    return pa.array(texts, pa.string())


def owned_pieces(
    data: Any, owners: Any, on: str | None, target: str | None, kinds: Mapping[str, str] | None
) -> list[Piece]:
    """The pieces of one assembled table, of which ``owners`` says who holds what.

    ``owners``: names in the shape of the table, None where nobody holds a cell; or claims, a table
    with the columns ``owner``, ``row`` and ``column``.
    """
    data = opened(data)
    keys = None
    if on is not None:
        data, keys = without_column(data, on, "X", "on")
    table = as_table(data, "X", kinds)
    warn_of_reading(table)
    ids = row_ids(table.row_names if keys is None else keys, "X")
    # the target is everybody's unless somebody claims it
    columns = [column for column in table.columns if column.name != target]
    names = [column.name for column in columns]
    claims = _claims(owners)
    if claims is None:
        masks = _by_cell(owners, table.n_rows, names, target, table.column_names)
    else:
        masks = _by_claim(claims, ids, table.column_names)
    _check_names(masks)
    everybody = {} if target is None or target not in table.column_names else {target}
    claimed = any(target in mask for mask in masks.values())
    pieces = []
    for owner, mask in masks.items():
        chosen = [column for column in table.columns if column.name in mask]
        held = {c.name: mask[c.name] & ~np.isnan(c.entries) for c in chosen}
        pieces.append(Piece(owner, ids, {c.name: c for c in chosen}, held))
    if everybody and not claimed:
        label = next(column for column in table.columns if column.name == target)
        there = ~np.isnan(label.entries)
        pieces.append(Piece("", ids, {label.name: label}, {label.name: there}))
    return pieces


def _claims(owners: Any) -> list[tuple[str, Any, Any]] | None:
    """Claims as (owner, row, column); None where ``owners`` are names in the shape of a table."""
    owners = opened(owners)
    names = names_of(owners)
    if not {"owner", "row", "column"} <= set(names):
        if "owner" in names:
            raise InputError(
                Setting("owners"), " must have the columns 'owner', 'row' and 'column'", _has(names)
            )
        return None
    frame = nw.from_native(as_frame(owners, "owners"), eager_only=True)
    parts = [frame.get_column(key).to_list() for key in ("owner", "row", "column")]
    for k, owner in enumerate(parts[0]):
        if is_missing(owner):
            raise InputError(
                Setting("owners"), f": claim {k + 1} (counted from 1) has no owner: name it"
            )
    return [(as_text(owner), row, column) for owner, row, column in zip(*parts, strict=True)]


def _by_claim(
    claims: list[tuple[str, Any, Any]], ids: Any, columns: list[str]
) -> dict[str, dict[str, Bools]]:
    """What every owner claims; an empty row or column means all of them."""
    place = {text: k for k, text in enumerate(ids.to_pylist())}
    masks: dict[str, dict[str, Bools]] = {}
    for k, (owner, row, column) in enumerate(claims, start=1):
        rows, names = _named(row), _named(column)
        unknown = [name for name in names if name not in columns]
        if unknown:
            raise InputError(
                Setting("owners"), f": claim {k}, of {owner!r}, names the column {unknown[0]!r}",
                did_you_mean(unknown[0], columns) or ", which the table does not have",
            )  # fmt: skip
        lost = [one for one in rows if one not in place]
        if lost:
            raise InputError(
                Setting("owners"), f": claim {k}, of {owner!r}, names the row {lost[0]!r}",
                ", which is not an id of the table",
            )  # fmt: skip
        mine = masks.setdefault(owner, {})
        chosen: Ints | slice = np.array([place[one] for one in rows]) if rows else slice(None)
        for name in names or columns:
            mine.setdefault(name, np.zeros(len(place), dtype=bool))[chosen] = True
    return masks


def _named(entry: Any) -> list[str]:
    """The rows or columns that a claim names, several as a list or separated by semicolons."""
    if isinstance(entry, (list, tuple, np.ndarray)):
        return [as_text(one) for one in entry]
    if is_missing(entry):
        return []
    text = entry_text(entry) if isinstance(entry, float) else as_text(entry)
    return [part.strip() for part in text.split(";") if part.strip()]


def _by_cell(
    owners: Any, n: int, names: list[str], target: str | None, columns: list[str]
) -> dict[str, dict[str, Bools]]:
    """What every owner holds, by names in the shape of the table, with or without its target."""
    frame = nw.from_native(as_frame(owners, "owners"), eager_only=True, pass_through=True)
    array = np.asarray(frame.to_numpy() if isinstance(frame, nw.DataFrame) else frame, dtype=object)
    shapes = {(n, len(names)): names, (n, len(columns)): columns}
    if array.shape not in shapes:
        raise InputError(
            Setting("owners"), f" has the shape {array.shape}, but the table has {(n, len(names))}",
            "" if target is None else " without its target",
            ": pass one name for every cell, or claims with the columns 'owner', 'row', 'column'",
        )  # fmt: skip
    keys = shapes[array.shape]
    texts = np.array([None if is_missing(one) else as_text(one) for one in array.ravel()])
    texts = texts.reshape(array.shape)
    found = sorted({text for text in texts.ravel() if text is not None})
    return {
        owner: {
            key: texts[:, j] == owner for j, key in enumerate(keys) if (texts[:, j] == owner).any()
        }
        for owner in found
    }


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
            raise InputError(
                Place("labels"), f" has no column {y!r}", did_you_mean(y, piece.columns)
            )
        return y, _only(piece, y)
    if labels is not None:
        raise InputError(
            Setting("labels"), " are given, so ", Place("y"), " must be the name of their column"
        )
    name = as_text(getattr(y, "name", None) or "(label)")
    series = nw.from_native(y, series_only=True, pass_through=True)
    table = as_table({name: y}, "y")
    index = None if not isinstance(series, nw.Series) else nw.maybe_get_index(series)
    if index is None and on is not None:
        raise InputError(
            Place("y"), " does not say which label is whose: pass a series with the ids as its "
            "index, or a table by ", Setting("labels"),
        )  # fmt: skip
    ids = row_ids(np.arange(table.n_rows) if index is None else np.asarray(index), "y")
    column = table.columns[0]
    return name, Piece("", ids, {name: column}, {name: ~np.isnan(column.entries)})


def _only(piece: Piece, name: str) -> Piece:
    """A piece with one of its columns, which is nobody's in particular."""
    return replace(
        piece, name="", columns={name: piece.columns[name]}, held={name: piece.held[name]}
    )
