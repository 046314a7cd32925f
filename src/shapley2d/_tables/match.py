"""A validation table brought to the columns, kinds and category codes of the training table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._tables.convert import as_category
from shapley2d._tables.table import Column, Kind, Table, native_columns
from shapley2d.exceptions import InputError, Place

if TYPE_CHECKING:
    from collections.abc import Sequence


def match_columns(valid: Table, train: Table, name: str = "X_valid") -> Table:
    """Bring a validation table to the columns, kinds and category codes of the training table.

    Categories that training never shows get codes of their own, so that they equal nothing in
    training.
    """
    named = not isinstance(train.native, np.ndarray) and not isinstance(valid.native, np.ndarray)
    if named:
        by_name = {column.name: column for column in valid.columns}
        absent = [key for key in train.column_names if key not in by_name]
        extra = [key for key in by_name if key not in set(train.column_names)]
        if absent or extra:
            parts = [f"lacks {_quoted(absent)}"] * bool(absent) + [f"adds {_quoted(extra)}"] * bool(
                extra
            )
            raise InputError(
                Place(name),
                f" must have the columns of the training table, but it {' and '.join(parts)}",
            )
        order = [valid.column_names.index(key) for key in train.column_names]
        if order != sorted(order):
            native = native_columns(valid.native, np.array(order))
            valid = Table(
                tuple(by_name[key] for key in train.column_names), valid.row_names, native
            )
    elif valid.n_columns != train.n_columns:
        raise InputError(
            Place(name),
            f" has {valid.n_columns} columns, but the training table has {train.n_columns}",
        )
    columns = tuple(_recode(v, t, name) for v, t in zip(valid.columns, train.columns, strict=True))
    return Table(columns, valid.row_names, valid.native)


def _recode(column: Column, train: Column, name: str) -> Column:
    if column.kind != train.kind:
        if np.isnan(train.entries).all():  # nothing to compare with
            return Column(
                train.name, train.kind, np.full(column.entries.size, np.nan), train.categories
            )
        if train.kind == "category" and set(column.text()) & set(train.categories):
            return _recode(as_category(column.text(), column.name), train, name)
        blank = np.isnan(column.entries).all()
        numeric = {column.kind, train.kind} <= {"number", "boolean"}
        if not blank and not numeric:
            raise InputError(
                Place(name),
                f": column {train.name!r} holds {_plural(column.kind)}, but in the training table it holds "
                f"{_plural(train.kind)}: give both the same type",
            )
        return Column(train.name, train.kind, column.entries, train.categories)
    if column.kind != "category":
        return Column(train.name, train.kind, column.entries)
    position = {label: code for code, label in enumerate(train.categories)}
    unseen = [label for label in column.categories if label not in position]
    codes = {label: code for code, label in enumerate((*train.categories, *unseen))}
    recode = np.array([codes[label] for label in column.categories] or [0], dtype=np.float64)
    entries = np.full(column.entries.size, np.nan)
    present = ~np.isnan(column.entries)
    entries[present] = recode[column.entries[present].astype(np.intp)]
    return Column(train.name, "category", entries, (*train.categories, *unseen))


def _plural(kind: Kind) -> str:
    return {"number": "numbers", "category": "text", "boolean": "booleans", "date": "dates"}[kind]


def _quoted(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")
