"""The entries of a target as the user passed it: one vector of numbers or labels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.entries import as_text, is_missing, is_number, which_missing, with_texts
from shapley2d._base.warnings import warn
from shapley2d._tables.align import in_order
from shapley2d._tables.frames import entries_of, objects, readable
from shapley2d._tables.intake import collected
from shapley2d._tables.texts.column import as_texts, text_column
from shapley2d._tables.texts.numbers import EXACT
from shapley2d._tables.texts.stray_rule import MAX_CODES
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Column

_SEVERAL = (list, tuple, dict, set, np.ndarray)  # not one label


def as_vector(y: Any, name: str, table: Any = None) -> tuple[NDArray[Any], str | None, bool]:
    """The entries, the name of the series, and whether its labels need no further reading.

    They are in the order of the rows of ``table``, a frame.
    """
    series = as_series(y, name, table)
    if isinstance(series, nw.Series):
        with readable(name, series.dtype):
            items = with_texts(entries_of(series))
        key = None if series.name is None else as_text(series.name)
        if series.dtype.is_numeric() and not which_missing(items).any():
            numbers = series.cast(nw.Float64) if series.dtype == nw.Decimal else series
            return np.asarray(numbers.to_numpy()), key, True
        return object_vector(items), key, series.dtype in (nw.Categorical, nw.Enum)
    if hasattr(y, "to_pylist"):
        with readable(name, y.type):
            items = with_texts(y.to_pylist())
        return object_vector(items), None, hasattr(y, "dictionary")
    if y is None:
        raise InputError(
            f"{name} is missing: give the labels or numbers to predict, or the name of "
            "their column; y should be a 1d array"
        )
    try:
        vector = np.asarray(y)
    except ValueError:
        raise InputError(f"{name} must be 1-D, got a list of lists of different lengths") from None
    if vector.ndim == 2 and vector.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        message = "A column-vector y was passed when a 1d array was expected: use y.ravel()"
        warn(DataConversionWarning(message))
        vector = vector.ravel()
    if vector.ndim != 1:
        raise InputError(f"{name} must be 1-D, got an array of shape {vector.shape}")
    if vector.dtype.kind in "OUS":
        vector = object_vector(with_texts(vector.tolist()))
    return vector, None, hasattr(y, "categories")


def as_series(y: Any, name: str = "y", table: Any = None) -> Any:
    """A series or a frame of one column as a narwhals series; anything else unchanged.

    It is in the order of the rows of ``table``, a frame.
    """
    if y is None:
        return None
    y = collected(y, name)
    frame = nw.from_native(y, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        if frame.shape[1] != 1:
            raise InputError(
                f"{name} must be 1-D, got a table of {frame.shape[1]} columns: pass one of them"
            )
        series = frame.get_column(frame.columns[0])
    else:
        series = nw.from_native(y, series_only=True, pass_through=True)
    return in_order(series, table, name) if isinstance(series, nw.Series) else series


def object_vector(items: list[Any]) -> NDArray[Any]:
    if items and all(type(item) is bool for item in items):
        return np.array(items)
    if items and all(is_number(item) for item in items):
        whole = all(isinstance(item, (int, np.integer)) for item in items)
        return np.array(
            [np.nan if is_missing(item) else item for item in items],
            dtype=None if whole else np.float64,
        )
    return objects(items)


@dataclass(frozen=True)
class Labels:
    """A target's entries."""

    entries: NDArray[Any]  # (n,): numbers, or labels with None where one is missing
    # entries that are not numbers, by row, where the others are
    strays: dict[int, str] = field(default_factory=dict)


def read_labels(
    entries: NDArray[Any], name: str, *, kind: str | None = None, task: str = "auto"
) -> Labels:
    """Read a target by the rule for columns of text; dates are refused.

    ``kind`` is "number" or "text" where it is known; messages call the target ``name``.
    """
    if entries.dtype.kind == "M":
        return _dates(entries, name, kind, task)
    if entries.dtype.kind not in "USO":
        return Labels(entries)
    items = entries.tolist()
    kinds = set(map(type, items))
    if any(issubclass(kind, _SEVERAL) for kind in kinds):
        _refuse_several(items, name)
    if str not in kinds:
        present = [item for item in items if not is_missing(item)]
        dates = bool(present) and all(
            hasattr(item, "isoformat") and hasattr(item, "year") for item in present
        )
        return _dates(entries, name, kind, task) if dates else Labels(entries)
    texts = as_texts(items)
    if texts is None:
        texts = as_texts([None if is_missing(item) else str(item) for item in items])
    column = label_column(texts, name, kind=kind, task=task)
    if column.kind == "number":
        return Labels(label_numbers(column), column.from_text.strays)
    return Labels(objects(column.text()))


def label_column(texts: Any, name: str, *, kind: str | None = None, task: str = "auto") -> Column:
    """A target of text as a column, by the rule of :func:`read_labels`: numbers or categories."""
    if kind == "text":
        return text_column(texts, name, kind="text")
    column = text_column(texts, name)
    if column.kind == "date":
        column = text_column(texts, name, kind="text")
        _dates(objects(column.text()), name, kind, task)
        return column
    if kind == "number" or task == "regression":
        column = _forced(texts, column, name)
    if kind is None and task != "regression" and _are_long_codes(column, texts):
        column = text_column(texts, name, kind="text")
    if column.kind == "number" and task == "classification" and column.from_text.strays:
        column = text_column(texts, name, kind="text")
    return column


def _refuse_several(items: list[Any], name: str) -> None:
    row, item = next((row, item) for row, item in enumerate(items) if isinstance(item, _SEVERAL))
    raise InputError(
        f"{name} holds a {type(item).__name__} in row {row}, not a label or a number: "
        "choose another target"
    )


def _dates(entries: NDArray[Any], name: str, kind: str | None, task: str) -> Labels:
    if kind == "text" or (kind is None and task == "classification"):
        return Labels(entries)
    raise InputError(
        f"{name} holds dates, which are neither numbers nor classes: predict a number (such "
        "as days since the first date) or a class (such as the year), or set "
        "task='classification' to use every date as a class"
    )


def _forced(texts: Any, column: Column, name: str) -> Column:
    if column.kind == "number":
        return column
    try:
        return text_column(texts, name, kind="number")
    except InputError:
        raise InputError(
            f"{name} holds text, which regression cannot use: set task='classification'"
        ) from None


def _are_long_codes(column: Column, texts: Any) -> bool:
    """Whether the numbers are long and few, so that they are codes that rounding would mix up."""
    if column.kind != "number" or column.from_text.strays:
        return False
    longest = float(np.nanmax(np.abs(column.entries), initial=0))
    return longest >= EXACT and len(texts.unique()) <= MAX_CODES


def label_numbers(column: Column) -> NDArray[Any]:
    """The numbers of a target, as integers where all are whole."""
    entries = column.entries
    whole = np.array_equal(entries, np.round(entries)) and bool((np.abs(entries) < EXACT).all())
    return entries.astype(np.int64) if whole else entries
