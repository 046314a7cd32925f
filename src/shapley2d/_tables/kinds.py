"""What the user says that a column holds."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shapley2d._tables.table import Column, FromText
from shapley2d._tables.texts.column import text_column
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

KINDS = ("number", "date", "text")
"""What the option ``kinds`` may say of a column."""


def check_kinds(kinds: Mapping[Any, str] | None, names: Iterable[str]) -> dict[str, str]:
    """Check the option ``kinds`` against the names of the columns.

    Examples
    --------
    >>> check_kinds({"zip": "text"}, ["zip", "age"])
    {'zip': 'text'}
    >>> check_kinds({"zap": "text"}, ["zip", "age"])
    Traceback (most recent call last): shapley2d.exceptions.InputError: kinds={'zap': 'text'}: there
    is no column 'zap' (did you mean 'zip'?)
    """
    if kinds is None:
        return {}
    if not hasattr(kinds, "items"):
        raise InputError(Setting("kinds", kinds), " must be a dict from columns to ", *_words())
    known = list(names)
    for key, kind in kinds.items():
        if str(key) not in known:
            near = difflib.get_close_matches(str(key), known, 1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            raise InputError(
                Setting("kinds", {key: kind}), f": there is no column {str(key)!r}{hint}"
            )
        if kind not in KINDS:
            raise InputError(Setting("kinds", {key: kind}), ": a column holds ", *_words())
    return {str(key): kind for key, kind in kinds.items()}


def _words() -> list[str]:
    return [", ".join(f"'{word}'" for word in KINDS[:-1]), f" or '{KINDS[-1]}'"]


def as_kind(column: Column, kind: str) -> Column:
    """The column as the kind that the user wants, whatever it was."""
    wanted = {"number": "number", "date": "date", "text": "category"}[kind]
    asked = FromText(asked=True)
    if column.kind == wanted:
        return column if column.from_text.asked else replace(column, from_text=asked)
    if wanted == "number" and column.kind != "category":
        return Column(column.name, "number", column.entries, (), asked)
    if wanted == "date" and column.kind != "category":
        raise InputError(
            Setting("kinds", {column.name: kind}),
            f": column {column.name!r} holds {column.kind}s, which are not dates: give it dates, or text such as "
            "'2024-02-29'",
        )
    import pyarrow as pa

    return text_column(pa.array(column.text(), pa.string()), column.name, kind=kind)
