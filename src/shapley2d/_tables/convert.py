"""The boundary where a user's table comes in: every column is given a kind and checked once."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.entries import is_missing, is_number
from shapley2d._tables.arrow_types import plain_types
from shapley2d._tables.table import MILLISECONDS_PER_DAY, Column, Kind, Table
from shapley2d._tables.whole_numbers import warn_of_rounding
from shapley2d.exceptions import InputError, Place

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MAX_MAGNITUDE = 1e150
"""The largest number that a table may hold: its square is still a number."""


def as_table(data: Any, name: str = "X") -> Table:
    """Check a table and give every column a kind.

    Parameters
    ----------
    data : 2-D array, or a pandas, polars or pyarrow table
    name : str
        What to call it in messages.

    Returns
    -------
    Table

    Examples
    --------
    >>> table = as_table([[1, 2], [3, 4]])
    >>> table.column_names, table.columns[0].kind
    (['x0', 'x1'], 'number')
    """
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise TypeError(f"{name} is a sparse matrix, which is not supported: pass {name}.toarray()")
    if isinstance(data, (nw.DataFrame, nw.LazyFrame)):
        data = data.to_native()
    if hasattr(data, "collect") and hasattr(data, "lazy"):
        data = data.collect()  # a lazy polars frame
    if nw.dependencies.is_pyarrow_table(data):
        data = plain_types(data)
    _check_unique_names(data, name)
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    table = _from_frame(frame, name) if isinstance(frame, nw.DataFrame) else _from_array(data, name)
    for column in table.columns:
        infinite = np.flatnonzero(np.abs(column.entries) > MAX_MAGNITUDE)
        if infinite.size:
            size = (
                "an infinite number"
                if np.isinf(column.entries[infinite[0]])
                else f"a number beyond {MAX_MAGNITUDE:g}"
            )
            raise InputError(
                Place(name),
                f": column {column.name!r} holds {size} in row {table.row_names[infinite[0]]}: "
                "replace it by a number or a missing entry",
            )
    return table


def _check_unique_names(data: Any, name: str) -> None:
    names = getattr(data, "column_names", getattr(data, "columns", None))
    if names is None or callable(names):
        return
    repeated = [str(key) for key, count in Counter(map(str, names)).items() if count > 1]
    if repeated:
        raise InputError(Place(name), f": the column name {repeated[0]!r} occurs twice: rename one of them")


def _check_shape(n_rows: int, n_columns: int, name: str) -> None:
    if n_rows == 0:
        raise InputError(Place(name), f" is empty: found 0 sample(s) (shape=({n_rows}, {n_columns})) "
                         "while a minimum of 1 is required.")  # fmt: skip
    if n_columns == 0:
        raise InputError(Place(name), f" has no columns: found 0 feature(s) (shape=({n_rows}, 0)) "
                         "while a minimum of 1 is required.")  # fmt: skip


def _from_frame(frame: nw.DataFrame[Any], name: str) -> Table:
    _check_shape(frame.shape[0], frame.shape[1], name)
    columns = tuple(_readable(frame.get_column(key), str(key), name) for key in frame.columns)
    return Table(columns, _row_names(frame), frame.to_native())


def _row_names(frame: nw.DataFrame[Any]) -> NDArray[Any]:
    positions = np.arange(frame.shape[0])
    index = nw.maybe_get_index(frame)
    if index is None:
        return positions
    names = np.asarray(index)
    if names.size and isinstance(names[0], tuple):  # a MultiIndex
        names = np.array([str(label) for label in names], dtype=object)
    if names.dtype.kind in "mM":
        names = names.astype("datetime64[us]" if names.dtype.kind == "M" else "timedelta64[us]")
    return positions if np.array_equal(names, positions) else names


def _readable(series: nw.Series[Any], key: str, name: str) -> Column:
    """A column; what the frame's own library cannot convert is named instead of passed on."""
    try:
        return _from_series(series, key, name)
    except InputError:
        raise
    except (OverflowError, ValueError, NotImplementedError) as error:
        raise InputError(
            Place(name),
            f": column {key!r} holds {series.dtype} entries that cannot be read ({error}): correct or drop them",
        ) from error


def _from_series(series: nw.Series[Any], key: str, name: str) -> Column:
    dtype = series.dtype
    if dtype.is_nested() or dtype == nw.Binary:
        raise InputError(
            Place(name), f": column {key!r} holds {dtype}, not plain entries: drop it or unpack it"
        )
    if dtype in (nw.Categorical, nw.Enum):
        return as_category(_decoded(series), key)  # codes that the user calls nominal stay so
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if dtype == nw.Boolean:
        return Column(key, "boolean", _filled(series, missing, fill=False))
    if dtype.is_numeric():
        numbers = _filled(series, missing, fill=0)
        if not dtype.is_float():
            warn_of_rounding(numbers, lambda: series.drop_nulls().n_unique(), key, name)
        return Column(key, "number", numbers)
    if isinstance(dtype, (nw.Datetime, nw.Duration)) and dtype.time_unit == "s":
        _check_milliseconds(series, key, name)
    if dtype == nw.Duration:
        milliseconds = series.dt.total_milliseconds()
        return Column(key, "number", _filled(milliseconds, missing, fill=0) / MILLISECONDS_PER_DAY)
    if dtype in (nw.Date, nw.Datetime):
        milliseconds = series.dt.timestamp("ms")
        return Column(key, "date", _filled(milliseconds, missing, fill=0) / MILLISECONDS_PER_DAY)
    return _from_objects(series.to_list(), key, name)


def _check_milliseconds(series: nw.Series[Any], key: str, name: str) -> None:
    """Refuse seconds of which the milliseconds are beyond 64 bits and would come back as other times."""
    seconds = np.abs(np.asarray(series.drop_nulls().cast(nw.Int64).to_numpy(), dtype=np.float64))
    if seconds.size and seconds.max() > 2**63 / 1000:
        raise InputError(
            Place(name),
            f": column {key!r} holds a time of {seconds.max():.3g} seconds: correct it or drop the column",
        )


def _decoded(series: nw.Series[Any]) -> list[Any]:
    """Entries of a categorical column."""
    if not series.implementation.is_pyarrow():
        return series.to_list()
    native = series.to_native()
    entries: list[Any] = native.cast(native.type.value_type).to_pylist()  # ten times faster than one by one
    return entries


def _filled(series: nw.Series[Any], missing: NDArray[np.bool_], fill: float | bool) -> NDArray[np.float64]:
    if missing.any():
        series = series.fill_null(fill)
    if series.dtype.is_integer() and not series.implementation.is_polars():
        numbers = np.array(series.to_numpy(), dtype=np.float64)  # pyarrow's own cast refuses to round
    else:
        numbers = np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    numbers[missing] = np.nan
    return numbers


def _from_array(data: Any, name: str) -> Table:
    if isinstance(data, np.ma.MaskedArray):
        numeric = data.dtype.kind in "biuf"
        hidden = np.ma.getmaskarray(data)
        data = np.array(np.ma.getdata(data), dtype=np.float64 if numeric else object)
        data[hidden] = np.nan if numeric else None
    array = _as_array(data, name)
    if array.dtype.kind in "US" and not isinstance(data, np.ndarray):
        array = np.asarray(data, dtype=object)  # a list of mixed entries: keep numbers numbers
    if array.ndim != 2:
        raise InputError(
            Place(name),
            f" must be a 2-D table, got an array of shape {array.shape}. Reshape your data: "
            f"{name}.reshape(-1, 1) for one column, {name}.reshape(1, -1) for one row",
        )
    _check_shape(array.shape[0], array.shape[1], name)
    if array.dtype.kind == "c":
        raise InputError(
            Place(name), ": Complex data not supported: pass the real and imaginary parts as columns"
        )
    names = [f"x{j}" for j in range(array.shape[1])]
    if array.dtype.kind in "biuf":
        kind: Kind = "boolean" if array.dtype.kind == "b" else "number"
        numbers = array.astype(np.float64)
        columns = [Column(key, kind, np.ascontiguousarray(numbers[:, j])) for j, key in enumerate(names)]
        if array.dtype.kind in "iu":
            for j, column in enumerate(columns):
                warn_of_rounding(column.entries, partial(_count, array[:, j]), column.name, name)
    elif array.dtype.kind == "M":
        columns = [Column(key, "date", _days(array[:, j])) for j, key in enumerate(names)]
    else:
        columns = [_from_objects(array[:, j].tolist(), key, name) for j, key in enumerate(names)]
    return Table(tuple(columns), np.arange(array.shape[0]), array)


def _as_array(data: Any, name: str) -> NDArray[Any]:
    try:
        return np.asarray(data)
    except ValueError:
        widths = sorted({len(row) if hasattr(row, "__len__") else 0 for row in data})
        raise InputError(
            Place(name),
            f" must be a 2-D table, but its rows have different lengths ({', '.join(map(str, widths[:5]))})",
        ) from None


def _count(numbers: Any) -> int:
    return len(set(numbers.tolist()))


def _days(stamps: NDArray[np.datetime64]) -> NDArray[np.float64]:
    missing = np.isnat(stamps)
    days = stamps.astype("datetime64[ms]").astype(np.int64) / MILLISECONDS_PER_DAY
    days[missing] = np.nan
    return np.asarray(days)


def _from_objects(items: Sequence[Any], key: str, name: str) -> Column:
    """Type a column of Python objects by what it holds."""
    missing = np.array([is_missing(item) for item in items], dtype=bool)
    present = [item for item, gone in zip(items, missing, strict=True) if not gone]
    for row, item in enumerate(items):
        if isinstance(item, (list, tuple, dict, set, np.ndarray)):
            raise InputError(
                Place(name),
                f": column {key!r}, row {row} holds a {type(item).__name__}, not a plain entry: argument "
                "must be a string or a number",
            )
    entries = np.full(len(items), np.nan)
    if not present:
        return Column(key, "number", entries)
    if all(isinstance(item, (bool, np.bool_)) for item in present):
        entries[~missing] = [float(item) for item in present]
        return Column(key, "boolean", entries)
    if all(is_number(item) for item in present):
        try:
            entries[~missing] = [float(item) for item in present]
        except OverflowError:
            raise InputError(
                Place(name), f": column {key!r} holds a number beyond {MAX_MAGNITUDE:g}: replace it"
            ) from None
        warn_of_rounding(entries, lambda: len(set(present)), key, name)
        return Column(key, "number", entries)
    if all(isinstance(item, timedelta) for item in present):
        entries[~missing] = [item / timedelta(days=1) for item in present]
        return Column(key, "number", entries)
    if all(hasattr(item, "isoformat") and hasattr(item, "year") for item in present):
        entries[~missing] = _days(np.array([_naive(item) for item in present], dtype="datetime64[ms]"))
        return Column(key, "date", entries)
    return as_category(items, key)


def as_category(items: Sequence[Any], key: str) -> Column:
    labels = [None if is_missing(item) else str(item) for item in items]
    categories = tuple(sorted({label for label in labels if label is not None}))
    position = {label: float(code) for code, label in enumerate(categories)}
    entries = np.array([np.nan if label is None else position[label] for label in labels])
    return Column(key, "category", entries, categories)


def _naive(stamp: Any) -> Any:
    """A date or a time without its zone, which numpy cannot hold."""
    if getattr(stamp, "tzinfo", None) is None:
        return stamp
    return (stamp - stamp.utcoffset()).replace(tzinfo=None)
