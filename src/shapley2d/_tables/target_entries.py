"""The entries of a target as the user passed it: one vector of numbers or labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

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


class Entries(NamedTuple):
    """What a series or an Arrow array holds."""

    items: list[Any]
    name: str | None = None
    nominal: bool = False  # whether they are categories, whatever they look like
    numbers: NDArray[Any] | None = None  # the same, where all are numbers and none is missing


def read_series(given: Any, option: str, table: Any = None) -> Entries | None:
    """The entries of a series, a frame of one column or an Arrow array; None of anything else.

    They are in the order of the rows of ``table``, a frame.
    """
    series = as_series(given, option, table)
    if isinstance(series, nw.Series):
        with readable(option, series.dtype):
            items = with_texts(entries_of(series))
        name = None if series.name is None else as_text(series.name)
        numbers = None
        if series.dtype.is_numeric() and not which_missing(items).any():
            plain = series.cast(nw.Float64) if series.dtype == nw.Decimal else series
            numbers = np.asarray(plain.to_numpy())
        return Entries(items, name, series.dtype in (nw.Categorical, nw.Enum), numbers)
    if hasattr(given, "to_pylist"):
        with readable(option, given.type):
            return Entries(with_texts(given.to_pylist()), nominal=hasattr(given, "dictionary"))
    return None


def as_vector(y: Any, name: str, table: Any = None) -> tuple[NDArray[Any], str | None, bool]:
    """The entries, the name of the series, and whether its labels need no further reading.

    They are in the order of the rows of ``table``, a frame.
    """
    read = read_series(y, name, table)
    if read is not None:
        if read.numbers is not None:
            return read.numbers, read.name, True
        return object_vector(read.items), read.name, read.nominal
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


def read_labels(
    entries: NDArray[Any], name: str, *, numbers: bool = False, task: str = "auto"
) -> tuple[NDArray[Any], dict[int, str]]:
    """Read a target by the rule for columns of text; dates are refused unless they are classes.

    Gives numbers, or labels with None where one is missing, and the entries that are not numbers,
    by row, where the others are. ``numbers`` says that they are known to be numbers; messages call
    the target ``name``.
    """
    if entries.dtype.kind not in "MUSO":
        return entries, {}
    items = entries.tolist()
    kinds = set(map(type, items))
    for row, item in enumerate(items if any(issubclass(one, _SEVERAL) for one in kinds) else ()):
        if isinstance(item, _SEVERAL):
            raise InputError(
                f"{name} holds a {type(item).__name__} in row {row}, not a label or a number: "
                "choose another target"
            )
    as_classes = task == "classification" and not numbers
    if entries.dtype.kind == "M" or str not in kinds:
        if not as_classes and _are_dates(entries):
            raise _refused_dates(name)
        return entries, {}
    texts = as_texts(items)
    if texts is None:
        texts = as_texts([None if is_missing(item) else str(item) for item in items])
    column = text_column(texts, name)
    if column.kind == "date" and not as_classes:
        raise _refused_dates(name)
    if column.kind != "number" and (numbers or task == "regression"):
        column = _forced(texts, name)
    elif column.kind == "date" or (
        column.kind == "number"
        and not (numbers or task == "regression")
        and (as_classes if column.from_text.strays else _are_long_codes(column, texts))
    ):
        column = text_column(texts, name, kind="text")
    if column.kind == "number":
        return _whole_if_possible(column.entries), column.from_text.strays
    return objects(column.text()), {}


def _are_dates(entries: NDArray[Any]) -> bool:
    if entries.dtype.kind == "M":
        return True
    present = [item for item in entries.tolist() if not is_missing(item)]
    return bool(present) and all(
        hasattr(item, "isoformat") and hasattr(item, "year") for item in present
    )


def _refused_dates(name: str) -> InputError:
    return InputError(
        f"{name} holds dates, which are neither numbers nor classes: predict a number (such "
        "as days since the first date) or a class (such as the year), or set "
        "task='classification' to use every date as a class"
    )


def _forced(texts: Any, name: str) -> Column:
    try:
        return text_column(texts, name, kind="number")
    except InputError:
        raise InputError(
            f"{name} holds text, which regression cannot use: set task='classification'"
        ) from None


def _are_long_codes(column: Column, texts: Any) -> bool:
    """Whether numbers are long and few, so that they are codes that rounding would mix up."""
    longest = float(np.nanmax(np.abs(column.entries), initial=0))
    return longest >= EXACT and len(texts.unique()) <= MAX_CODES


def _whole_if_possible(entries: NDArray[Any]) -> NDArray[Any]:
    """Numbers as integers where all are whole."""
    whole = np.array_equal(entries, np.round(entries)) and bool((np.abs(entries) < EXACT).all())
    return entries.astype(np.int64) if whole else entries
