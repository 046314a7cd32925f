"""Copies of tables and columns of any library with other entries, of the same types if they fit.

A column that has no place for a new entry is widened: whole numbers to fractions where no digit is
lost, all else to text (Python objects in pandas and NumPy).
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._base.entries import as_text, is_missing, is_number
from shapley2d._inspection.tables.arrow_entries import replaced
from shapley2d._tables.texts.numbers import EXACT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray


Changes = dict[str, dict[int, str | None]]
"""New entries as text, by column and row; None for a missing one."""

Part = dict[int, str | None]
"""The new entries of one column."""

_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")
_KINDS = {
    "i": "integer", "u": "integer", "f": "float", "b": "boolean", "M": "datetime", "m": "duration"
}  # fmt: skip


def change_cells(native: Any, changes: Mapping[str, Mapping[int, str | None]]) -> Any:
    """A copy of a frame or an array with some entries replaced, of the same types if they fit.

    ``changes`` maps columns (x0, x1, ... of an array) to new entries as text, by row; None for a
    missing one.
    """
    parts = {name: dict(part) for name, part in changes.items() if part}
    if isinstance(native, np.ndarray):
        columns = {int(name[1:]): _in_array(native[:, int(name[1:])], part)
                   for name, part in parts.items()}  # fmt: skip
        kinds = {column.dtype for column in columns.values()} | {native.dtype}
        kind = object if np.dtype(object) in kinds else np.result_type(*kinds)
        if kind == np.float64 and not _fit_floats(native.ravel().tolist()):
            kind = object
        changed = native.astype(kind)
        for j, column in columns.items():
            changed[:, j] = column
        return changed
    frame = nw.from_native(native, eager_only=True)
    for key in frame.columns:
        if str(key) in parts:
            new = _change_series(frame.get_column(key), parts[str(key)])
            frame = frame.with_columns(new.alias(key))
    return frame.to_native()


def change_vector(y: Any, changes: Mapping[int, str | None]) -> Any:
    """A copy of a target of any type with some entries replaced."""
    if not changes:
        return y
    part = dict(changes)
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _change_series(series, part).to_native()
    frame = nw.from_native(y, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return change_cells(y, {str(frame.columns[0]): part})
    array = np.asarray(y)
    changed = _in_array(array.ravel(), part).reshape(array.shape)
    return changed if isinstance(y, np.ndarray) else type(y)(changed.tolist())


def _change_series(series: nw.Series[Any], part: Part) -> nw.Series[Any]:
    native, own = series.to_native(), series.implementation
    if own.is_pyarrow():
        changed = _in_arrow(native, part)
    elif own.is_polars():
        changed = _in_polars(native, part)
    else:
        changed = _in_pandas(native, part, series)
    return nw.from_native(changed, series_only=True)


def _in_arrow(column: Any, part: Part) -> Any:
    with suppress(ValueError):
        return replaced(column, part)
    with suppress(ValueError):
        if pa.types.is_integer(column.type) and _fit_floats(column.to_pylist()):
            return replaced(column.cast(pa.float64()), part)
    return pa.chunked_array([pa.array(_texts(column.to_pylist(), part), pa.string())])


def _in_polars(series: Any, part: Part) -> Any:
    import polars as pl

    if series.dtype == pl.Object:
        items = [part.get(row, item) for row, item in enumerate(series.to_list())]
        return pl.Series(items, dtype=pl.Object)
    changed = pl.Series(_in_arrow(pa.chunked_array([series.to_arrow()]), part))
    if isinstance(series.dtype, (pl.Categorical, pl.Enum)):
        changed = changed.cast(pl.String)
        if isinstance(series.dtype, pl.Categorical) or {*changed.drop_nulls()} <= {
            *series.dtype.categories
        }:
            return changed.cast(series.dtype)
    return changed


def _in_pandas(series: Any, part: Part, typed: nw.Series[Any]) -> Any:
    import pandas as pd

    if isinstance(series.dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    if isinstance(series.dtype, np.dtype):
        return pd.Series(_in_array(series.to_numpy(), part), series.index, name=series.name)
    if isinstance(series.dtype, pd.CategoricalDtype):
        # by position: pandas does not find Arrow's dates among its own categories
        places = {as_text(name): k for k, name in enumerate(series.cat.categories)}
        distinct = (text for text in dict.fromkeys(part.values()) if text is not None)
        new = [text for text in distinct if text not in places]
        places |= {text: len(places) + k for k, text in enumerate(new)}
        changed = series.cat.add_categories(new) if new else series
        codes = changed.cat.codes.to_numpy().copy()
        codes[[*part]] = [-1 if text is None else places[text] for text in part.values()]
        held = pd.Categorical.from_codes(codes, dtype=changed.dtype)
        return pd.Series(held, series.index, name=series.name)
    kind = _kind(typed)
    values, needed = _values(part.values(), kind)
    zone = getattr(series.dtype, "tz", None)
    try:
        changed = series.copy() if needed == kind else series.astype("float64")
        for row, value in zip(part, values, strict=True):
            changed.iat[row] = pd.NA if value is None else _in_zone(value, zone)
    except (TypeError, ValueError, OverflowError):  # its type has no place for it
        changed = series.astype(object)
        for row, value in zip(part, values, strict=True):
            changed.iat[row] = value
    return changed


def _in_array(array: NDArray[Any], part: Part) -> NDArray[Any]:
    kind = _KINDS.get(array.dtype.kind, "text")
    is_object = array.dtype.kind == "O"
    items = array.tolist() if is_object or kind == "integer" else []
    if is_object:
        kind = _kind_of_objects(items)
    values, needed = _values(part.values(), kind)
    rows, gone = [*part], None in values
    if is_object:
        zone = next((item.tzinfo for item in items if getattr(item, "tzinfo", None)), None)
        values, changed = [_in_zone(value, zone) for value in values], array.copy()
    elif kind == "integer" and (gone or needed == "float") and _fit_floats(items):
        changed = array.astype(np.float64)
    elif needed != kind or (gone and array.dtype.kind in "iubUS"):
        changed = array.astype(object)
        values = [*part.values()] if needed == "float" else values  # others would be rounded
    elif kind == "text":
        widest = max(len(str(value)) for value in values)
        changed = array.astype(np.result_type(array.dtype, np.dtype(f"U{widest}")))
    else:
        changed = array.copy()
    try:
        for row, value in zip(rows, values, strict=True):
            changed[row] = np.nan if value is None and changed.dtype.kind == "f" else value
    except (ValueError, TypeError, OverflowError):  # its type has no place for it
        changed = array.astype(object)
        for row, value in zip(rows, values, strict=True):
            changed[row] = value
    return changed


def _texts(items: list[Any], part: Part) -> list[str | None]:
    """Entries as text, some of them new."""
    return [
        part[row] if row in part else None if is_missing(item) else as_text(item)
        for row, item in enumerate(items)
    ]


def _fit_floats(items: Iterable[Any]) -> bool:
    """Whether floats hold all of some whole numbers exactly."""
    return all(is_missing(item) or abs(int(item)) <= EXACT for item in items)


def _kind(series: nw.Series[Any]) -> str:
    dtype = series.dtype
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "decimal" if dtype.is_decimal() else "float"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    kinds = (nw.Boolean, nw.Date, nw.Datetime, nw.Duration, nw.Time)
    known = next((kind.__name__.lower() for kind in kinds if dtype == kind), None)
    return known or _kind_of_objects(series.to_list())


def _kind_of_objects(items: list[Any]) -> str:
    """The most common kind of some Python objects."""
    counts = Counter(_kind_of_object(item) for item in items if not is_missing(item))
    return counts.most_common(1)[0][0] if counts else "text"


def _kind_of_object(item: Any) -> str:
    kinds: Any = {(bool, np.bool_): "boolean", (int, np.integer): "integer", Decimal: "decimal"}
    kinds |= {datetime: "datetime", date: "date", timedelta: "duration", time: "time"}
    known: str | None = next((kinds[one] for one in kinds if isinstance(item, one)), None)
    return known or ("float" if is_number(item) else "text")


def _values(texts: Iterable[str | None], kind: str) -> tuple[list[Any], str]:
    """Texts as Python objects of a kind, or of the narrowest wider kind that fits them all."""
    texts = list(texts)
    while kind != "text":
        try:
            return [None if text is None else _parsed(text.strip(), kind) for text in texts], kind
        except (ValueError, OverflowError, InvalidOperation):
            kind = "float" if kind == "integer" else "text"
    return texts, "text"


def _parsed(text: str, kind: str) -> Any:
    if kind == "integer":
        number = float(text)
        if not number.is_integer():
            raise ValueError(text)
        return int(text) if text.lstrip("+-").isdecimal() else int(number)
    if kind == "float":
        return float(text)
    if kind == "boolean":
        if text.lower() not in (*_TRUE, *_FALSE):
            raise ValueError(text)
        return text.lower() in _TRUE
    if kind == "decimal":
        return Decimal(text)
    if kind == "duration":  # tables hold them in days
        return timedelta(days=float(text))
    if kind == "time":
        return time.fromisoformat(text)
    stamp = datetime.fromisoformat(text)
    return stamp if kind == "datetime" else stamp.date()


def _in_zone(value: Any, zone: Any) -> Any:
    """A time in UTC, as times are read and shown, in the zone of its column."""
    if zone is None or not isinstance(value, datetime):
        return value
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(zone)
