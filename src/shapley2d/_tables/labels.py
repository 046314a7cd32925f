"""The entries of a target that is text: numbers with a few strays, or labels; dates are refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.entries import is_missing
from shapley2d._tables.texts.column import as_texts, text_column
from shapley2d._tables.texts.rule import MAX_CODES
from shapley2d.exceptions import InputError, Place, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Column


_EXACT = 2.0**53  # beyond, whole numbers become the same float


@dataclass(frozen=True)
class Labels:
    """A target's entries.

    Attributes
    ----------
    entries : ndarray of shape (n,)
        Numbers, or labels, None where one is missing.
    strays : dict of int to str
        Entries that are no numbers, by row, where the others are.
    """

    entries: NDArray[Any]
    strays: dict[int, str] = field(default_factory=dict)


def read_labels(
    entries: NDArray[Any], name: str, *, kind: str | None = None, task: str = "auto"
) -> Labels:
    """Read a target by the rule for columns of text.

    Parameters
    ----------
    entries : ndarray of shape (n,)
    name : str
        What to call the target in messages.
    kind : {None, "number", "text"}
        What it is known to hold.
    task : {"auto", "classification", "regression"}

    Examples
    --------
    >>> read_labels(np.array(["1.5", "2.5", "3.5", "4.5", "5.5", "?", "x"]), "y")
    Labels(entries=array([1.5, 2.5, 3.5, 4.5, 5.5, nan, nan]), strays={6: 'x'})
    """
    if entries.dtype.kind == "M":
        return _dates(entries, name, kind, task)
    if entries.dtype.kind not in "USO":
        return Labels(entries)
    items = entries.tolist()
    _check_plain(items, name)
    if str not in set(map(type, items)):
        present = [item for item in items if not is_missing(item)]
        dates = bool(present) and all(
            hasattr(item, "isoformat") and hasattr(item, "year") for item in present
        )
        return _dates(entries, name, kind, task) if dates else Labels(entries)
    texts = as_texts(items)
    if texts is None:
        texts = as_texts([None if is_missing(item) else str(item) for item in items])
    if kind == "text":
        return Labels(_texts(text_column(texts, name, kind="text")))
    column = text_column(texts, name)
    if column.kind == "date":
        return _dates(_texts(text_column(texts, name, kind="text")), name, kind, task)
    if kind == "number" or task == "regression":
        column = _forced(texts, column, name)
    if kind is None and task != "regression" and _are_long_codes(column, texts):
        column = text_column(texts, name, kind="text")
    if column.kind == "number" and not (task == "classification" and column.from_text.strays):
        return Labels(_numbers(column), column.from_text.strays)
    if column.kind == "number":
        column = text_column(texts, name, kind="text")
    return Labels(_texts(column))


def _check_plain(items: list[Any], name: str) -> None:
    for row, item in enumerate(items):
        if isinstance(item, (list, tuple, dict, set, np.ndarray)):
            raise InputError(
                Place(name),
                f" holds a {type(item).__name__} in row {row}, not a label or a number: choose another target",
            )


def _dates(entries: NDArray[Any], name: str, kind: str | None, task: str) -> Labels:
    if kind == "text" or (kind is None and task == "classification"):
        return Labels(entries)
    raise InputError(
        Place(name),
        " holds dates, which are neither numbers nor classes: predict a number (the days since the first one, say) or "
        "a class (the year, say), or set ",
        Setting("task", "classification"),
        " to take every date as a class",
    )


def _forced(texts: Any, column: Column, name: str) -> Column:
    if column.kind == "number":
        return column
    try:
        return text_column(texts, name, kind="number")
    except InputError:
        raise InputError(
            Place(name),
            " holds text, which regression cannot use: set ",
            Setting("task", "classification"),
        ) from None


def _are_long_codes(column: Column, texts: Any) -> bool:
    """Whether numbers are so few and so long that they are codes, which rounding would mix up."""
    if column.kind != "number" or column.from_text.strays:
        return False
    return (
        bool(np.nanmax(np.abs(column.entries), initial=0) >= _EXACT)
        and len(texts.unique()) <= MAX_CODES
    )


def _numbers(column: Column) -> NDArray[Any]:
    entries = column.entries
    whole = np.array_equal(entries, np.round(entries)) and bool((np.abs(entries) < _EXACT).all())
    return entries.astype(np.int64) if whole else entries


def _texts(column: Column) -> NDArray[Any]:
    texts = column.text()
    vector = np.empty(len(texts), dtype=object)
    vector[:] = texts
    return vector
