"""Kinds of columns: as the user sets them, and validation columns matched to training columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._base.entries import as_text
from shapley2d._base.warnings import warn_input
from shapley2d._base.words import did_you_mean, first_of, shown
from shapley2d._tables.table import Column, FromText, Kind, Table, native_columns
from shapley2d._tables.texts.column import category_column, text_column, texts_of
from shapley2d._tables.texts.numbers import plain_numbers
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

KINDS = ("number", "date", "text")
"""What the option ``kinds`` accepts for a column."""

KIND_PLURALS = {"number": "numbers", "category": "text", "boolean": "booleans", "date": "dates"}
"""What columns of each kind hold, for messages."""

_KINDS = "'number', 'date' or 'text'"


def check_kinds(kinds: Mapping[Any, str] | None, names: Iterable[str]) -> dict[str, str]:
    """Check the option ``kinds`` against the names of the columns."""
    if kinds is None:
        return {}
    if not hasattr(kinds, "items"):
        raise InputError(f"kinds={shown(kinds)} must be a dict from columns to {_KINDS}")
    known = list(names)
    for key, kind in kinds.items():
        name = as_text(key)
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError(f"kinds={shown({key: kind})}: there is no column {name!r}{hint}")
        if kind not in KINDS:
            raise InputError(f"kinds={shown({key: kind})}: a column holds {_KINDS}")
    return {as_text(key): kind for key, kind in kinds.items()}


def as_kind(column: Column, kind: str) -> Column:
    """The column as the kind that the user set, whatever it was read as."""
    kinds: dict[str, Kind] = {"number": "number", "date": "date", "text": "category"}
    wanted = kinds[kind]
    if column.kind == wanted or (wanted == "number" and column.kind != "category"):
        return replace(column, kind=wanted, from_text=replace(column.from_text, asked=True))
    if wanted == "date" and column.kind != "category":
        raise InputError(
            f"kinds={shown({column.name: kind})}: column {column.name!r} holds "
            f"{column.kind}s, not dates: pass dates, or text such as '2024-02-29'"
        )
    return text_column(pa.array(column.text(), pa.string()), column.name, kind=kind)


def as_category(items: Sequence[Any], key: str) -> Column:
    """A column of categories, whatever its entries are."""
    encoded = texts_of(items).dictionary_encode()
    codes = np.asarray(encoded.indices.fill_null(-1))
    return category_column(encoded.dictionary, codes, key, FromText())


def match_columns(valid: Table, train: Table, name: str = "X_valid") -> Table:
    """Give a validation table the columns, kinds and category codes of the training table.

    Unseen categories get codes of their own, so that they equal nothing in training.
    """
    named = not isinstance(train.native, np.ndarray) and not isinstance(valid.native, np.ndarray)
    if named:
        places = {key: j for j, key in enumerate(valid.column_names)}
        wanted = dict.fromkeys(train.column_names)
        absent = [key for key in wanted if key not in places]
        extra = [key for key in places if key not in wanted]
        if absent or extra:
            parts = [
                f"{what} {first_of([*map(repr, keys)])}"
                for what, keys in (("lacks", absent), ("adds", extra))
                if keys
            ]
            raise InputError(
                f"{name} must have the columns of the training table, but it "
                f"{' and '.join(parts)}: rename or drop them"
            )
        order = [places[key] for key in wanted]
        if order != sorted(order):
            valid = replace(
                valid,
                columns=tuple(valid.columns[j] for j in order),
                frame=native_columns(valid.native, np.array(order)),
                rows=None,
            )
    elif valid.n_columns != train.n_columns:
        raise InputError(
            f"{name} has {valid.n_columns} columns, but the training table has {train.n_columns}"
        )
    columns = tuple(
        match_column(v, t, name) for v, t in zip(valid.columns, train.columns, strict=True)
    )
    return replace(valid, columns=columns)


def _warn_of_numbers_as_text(column: Column, train: Column, name: str) -> None:
    """Warn where numbers validate, but text among the training entries makes text of them.

    Who brings that text decides how everybody's entries are compared.
    """
    if train.from_text.asked or len(column.categories) < 2 or not _are_numbers(column.categories):
        return
    text = next((word for word in train.categories if not _are_numbers((word,))), None)
    if text is None:  # numbers there, too, which the user passed as categories
        return
    warn_input(
        f"{name}: column {train.name!r} holds numbers, but in the training table text is among "
        f"them ({text[:40]!r}), so that numbers are compared as text, equal or not: remove that "
        f"text, or set kinds={shown({train.name: 'number'})}; to keep it as text, set "
        f"kinds={shown({train.name: 'text'})}"
    )


def _are_numbers(words: Sequence[str]) -> bool:
    return plain_numbers(pa.array(words, pa.string())) is not None


def match_column(column: Column, train: Column, name: str) -> Column:
    """Give a column the kind and the category codes of the training column."""
    if column.kind != train.kind:
        if np.isnan(train.entries).all():  # nothing to compare with
            return Column(
                train.name, train.kind, np.full(column.entries.size, np.nan), train.categories
            )
        if train.kind == "category" and set(column.text()) & set(train.categories):
            return match_column(as_category(column.text(), column.name), train, name)
        blank = np.isnan(column.entries).all()
        numeric = {column.kind, train.kind} <= {"number", "boolean"}
        if not blank and not numeric:
            raise InputError(
                f"{name}: column {train.name!r} holds {KIND_PLURALS[column.kind]}, but in "
                f"the training table it holds {KIND_PLURALS[train.kind]}: give both the "
                "same type"
            )
        return Column(train.name, train.kind, column.entries, train.categories)
    if column.kind != "category":
        return Column(train.name, train.kind, column.entries)
    _warn_of_numbers_as_text(column, train, name)
    categories = tuple(dict.fromkeys((*train.categories, *column.categories)))
    codes = {label: code for code, label in enumerate(categories)}
    recode = np.array([*(codes[label] for label in column.categories), np.nan], dtype=np.float64)
    entries = recode[np.nan_to_num(column.entries, nan=-1.0).astype(np.intp)]
    return Column(train.name, "category", entries, categories)
