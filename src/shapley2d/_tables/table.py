"""The boundary where a user's table comes in: typed columns, missing entries, checked once.

Inside the package a table is a list of columns of float64, whatever it was outside:

========== ==================================================== =========================
kind       from                                                 held as
========== ==================================================== =========================
number     integers, floats, decimals, durations                the number
boolean    booleans                                             0 or 1
date       dates and times                                      days since 1970
category   text, categoricals, anything else that is mixed      position in ``categories``
========== ==================================================== =========================

A missing entry is NaN in all of them. A column is one player however it is encoded later.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Kind = Literal["number", "category", "boolean", "date"]

_MILLISECONDS_PER_DAY = 86_400_000.0
_LARGEST = 1e150  # whose square is still a number


@dataclass(frozen=True)
class Column:
    """One typed column: its name, kind and entries (NaN where missing)."""

    name: str
    kind: Kind
    entries: NDArray[np.float64]
    categories: tuple[str, ...] = ()

    def text(self) -> list[str | None]:
        """The entries as a person would write them; None where missing."""
        present = ~np.isnan(self.entries)
        distinct, place = np.unique(self.entries[present], return_inverse=True)
        words = np.array([self._entry_text(entry) for entry in distinct.tolist()], dtype=object)
        texts = np.full(self.entries.size, None, dtype=object)
        texts[present] = words[place]
        return list(texts.tolist())

    def _entry_text(self, entry: float) -> str:
        if self.kind == "category":
            return self.categories[int(entry)]
        if self.kind == "boolean":
            return "true" if entry else "false"
        if self.kind == "date":
            stamp = np.datetime64(round(entry * _MILLISECONDS_PER_DAY), "ms")
            return str(stamp.astype("datetime64[D]") if entry.is_integer() else stamp.astype("datetime64[s]"))
        return str(int(entry)) if entry.is_integer() and abs(entry) < 2**53 else repr(entry)


@dataclass(frozen=True)
class Table:
    """A checked table of typed columns.

    Attributes
    ----------
    columns : tuple of Column
    row_names : ndarray of shape (n,)
        The labels of a pandas index, or positions.
    native : object
        The table as it came, for models that want it so.
    """

    columns: tuple[Column, ...]
    row_names: NDArray[Any]
    native: Any = field(repr=False, compare=False)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.row_names.size)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""
        return [column.name for column in self.columns]

    def take_rows(self, rows: NDArray[np.intp]) -> Table:
        """Return the table of some rows, in the given order."""
        columns = tuple(
            Column(column.name, column.kind, column.entries[rows], column.categories)
            for column in self.columns
        )
        return Table(columns, self.row_names[rows], native_rows(self.native, rows))


def native_rows(native: Any, rows: NDArray[np.intp]) -> Any:
    """Rows of a frame or of an array, as the kind of thing that came in."""
    if isinstance(native, np.ndarray):
        return native[rows]
    return nw.from_native(native, eager_only=True)[rows.tolist()].to_native()


def native_columns(native: Any, columns: NDArray[np.intp]) -> Any:
    """Columns of a frame or of an array, as the kind of thing that came in."""
    if isinstance(native, np.ndarray):
        return native[:, columns]
    return nw.from_native(native, eager_only=True)[:, columns.tolist()].to_native()


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
    _check_unique_names(data, name)
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    table = _from_frame(frame, name) if isinstance(frame, nw.DataFrame) else _from_array(data, name)
    for column in table.columns:
        infinite = np.flatnonzero(np.abs(column.entries) > _LARGEST)
        if infinite.size:
            size = (
                "an infinite number"
                if np.isinf(column.entries[infinite[0]])
                else f"a number beyond {_LARGEST:g}"
            )
            raise InputError(
                f"{name}: column {column.name!r} holds {size} in row {table.row_names[infinite[0]]}: "
                "replace it by a number or a missing entry"
            )
    return table


def _check_unique_names(data: Any, name: str) -> None:
    names = getattr(data, "column_names", getattr(data, "columns", None))
    if names is None or callable(names):
        return
    repeated = [str(key) for key, count in Counter(map(str, names)).items() if count > 1]
    if repeated:
        raise InputError(f"{name}: the column name {repeated[0]!r} occurs twice: rename one of them")


def _check_shape(n_rows: int, n_columns: int, name: str) -> None:
    if n_rows == 0:
        raise InputError(f"{name} is empty: found 0 sample(s) (shape=({n_rows}, {n_columns})) "
                         "while a minimum of 1 is required.")  # fmt: skip
    if n_columns == 0:
        raise InputError(f"{name} has no columns: found 0 feature(s) (shape=({n_rows}, 0)) "
                         "while a minimum of 1 is required.")  # fmt: skip


def _from_frame(frame: nw.DataFrame[Any], name: str) -> Table:
    _check_shape(frame.shape[0], frame.shape[1], name)
    columns = tuple(_from_series(frame.get_column(key), str(key), name) for key in frame.columns)
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


def _from_series(series: nw.Series[Any], key: str, name: str) -> Column:
    dtype = series.dtype
    if dtype.is_nested() or dtype == nw.Binary:
        raise InputError(f"{name}: column {key!r} holds {dtype}, not plain entries: drop it or unpack it")
    if dtype in (nw.Categorical, nw.Enum):
        return _as_category(_decoded(series), key)  # codes that the user calls nominal stay so
    missing = np.asarray(series.is_null().to_numpy(), dtype=bool)
    if dtype == nw.Boolean:
        return Column(key, "boolean", _filled(series, missing, fill=False))
    if dtype.is_numeric():
        return Column(key, "number", _filled(series, missing, fill=0))
    if dtype == nw.Duration:
        milliseconds = series.dt.total_milliseconds()
        return Column(key, "number", _filled(milliseconds, missing, fill=0) / _MILLISECONDS_PER_DAY)
    if dtype in (nw.Date, nw.Datetime):
        milliseconds = series.dt.timestamp("ms")
        return Column(key, "date", _filled(milliseconds, missing, fill=0) / _MILLISECONDS_PER_DAY)
    return _from_objects(series.to_list(), key, name)


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
    numbers = np.array(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
    numbers[missing] = np.nan
    return numbers


def _from_array(data: Any, name: str) -> Table:
    if isinstance(data, np.ma.MaskedArray):
        numeric = data.dtype.kind in "biuf"
        hidden = np.ma.getmaskarray(data)
        data = np.array(np.ma.getdata(data), dtype=np.float64 if numeric else object)
        data[hidden] = np.nan if numeric else None
    array = np.asarray(data)
    if array.dtype.kind in "US" and not isinstance(data, np.ndarray):
        array = np.asarray(data, dtype=object)  # a list of mixed entries: keep numbers numbers
    if array.ndim != 2:
        raise InputError(
            f"{name} must be a 2-D table, got an array of shape {array.shape}. Reshape your data: "
            f"{name}.reshape(-1, 1) for one column, {name}.reshape(1, -1) for one row"
        )
    _check_shape(array.shape[0], array.shape[1], name)
    if array.dtype.kind == "c":
        raise InputError(f"{name}: Complex data not supported: pass the real and imaginary parts as columns")
    names = [f"x{j}" for j in range(array.shape[1])]
    if array.dtype.kind in "biuf":
        kind: Kind = "boolean" if array.dtype.kind == "b" else "number"
        numbers = array.astype(np.float64)
        columns = [Column(key, kind, np.ascontiguousarray(numbers[:, j])) for j, key in enumerate(names)]
    elif array.dtype.kind == "M":
        columns = [Column(key, "date", _days(array[:, j])) for j, key in enumerate(names)]
    else:
        columns = [_from_objects(array[:, j].tolist(), key, name) for j, key in enumerate(names)]
    return Table(tuple(columns), np.arange(array.shape[0]), array)


def _days(stamps: NDArray[np.datetime64]) -> NDArray[np.float64]:
    missing = np.isnat(stamps)
    days = stamps.astype("datetime64[ms]").astype(np.int64) / _MILLISECONDS_PER_DAY
    days[missing] = np.nan
    return np.asarray(days)


def _from_objects(items: Sequence[Any], key: str, name: str) -> Column:
    """Type a column of Python objects by what it holds."""
    missing = np.array([is_missing(item) for item in items], dtype=bool)
    present = [item for item, gone in zip(items, missing, strict=True) if not gone]
    for row, item in enumerate(items):
        if isinstance(item, (list, tuple, dict, set, np.ndarray)):
            raise InputError(
                f"{name}: column {key!r}, row {row} holds a {type(item).__name__}, not a plain entry: argument "
                "must be a string or a number"
            )
    entries = np.full(len(items), np.nan)
    if not present:
        return Column(key, "number", entries)
    if all(isinstance(item, (bool, np.bool_)) for item in present):
        entries[~missing] = [float(item) for item in present]
        return Column(key, "boolean", entries)
    if all(is_number(item) for item in present):
        entries[~missing] = [float(item) for item in present]
        return Column(key, "number", entries)
    if all(isinstance(item, timedelta) for item in present):
        entries[~missing] = [item / timedelta(days=1) for item in present]
        return Column(key, "number", entries)
    if all(hasattr(item, "isoformat") and hasattr(item, "year") for item in present):
        entries[~missing] = _days(np.array([_naive(item) for item in present], dtype="datetime64[ms]"))
        return Column(key, "date", entries)
    return _as_category(items, key)


def _as_category(items: Sequence[Any], key: str) -> Column:
    labels = [None if is_missing(item) else str(item) for item in items]
    categories = tuple(sorted({label for label in labels if label is not None}))
    position = {label: float(code) for code, label in enumerate(categories)}
    entries = np.array([np.nan if label is None else position[label] for label in labels])
    return Column(key, "category", entries, categories)


def is_number(item: Any) -> bool:
    """Whether a Python object is a real number: an int, a float, a decimal, a fraction, but not a boolean.

    Examples
    --------
    >>> is_number(1.5), is_number(True), is_number("1")
    (True, False, False)
    """
    return isinstance(item, (Real, Decimal)) and not isinstance(item, (bool, np.bool_))


def is_missing(item: Any) -> bool:
    """None, NaN, NaT and pandas' NA are missing; they are the things that do not equal themselves."""
    if item is None:
        return True
    if isinstance(item, (str, bytes, int)):
        return False
    equal = item == item  # noqa: PLR0124
    return equal is not True and not (isinstance(equal, (bool, np.bool_)) and bool(equal))


def _naive(stamp: Any) -> Any:
    """A date or a time without its zone, which numpy cannot hold."""
    if getattr(stamp, "tzinfo", None) is None:
        return stamp
    return (stamp - stamp.utcoffset()).replace(tzinfo=None)


def match_columns(valid: Table, train: Table, name: str = "X_valid") -> Table:
    """Bring a validation table to the columns, kinds and category codes of the training table.

    Categories that training never shows get codes of their own, so that they equal nothing in training.
    """
    named = not isinstance(train.native, np.ndarray) and not isinstance(valid.native, np.ndarray)
    if named:
        by_name = {column.name: column for column in valid.columns}
        absent = [key for key in train.column_names if key not in by_name]
        extra = [key for key in by_name if key not in set(train.column_names)]
        if absent or extra:
            parts = [f"lacks {_quoted(absent)}"] * bool(absent) + [f"adds {_quoted(extra)}"] * bool(extra)
            raise InputError(
                f"{name} must have the columns of the training table, but it {' and '.join(parts)}"
            )
        order = [valid.column_names.index(key) for key in train.column_names]
        if order != sorted(order):
            native = native_columns(valid.native, np.array(order))
            valid = Table(tuple(by_name[key] for key in train.column_names), valid.row_names, native)
    elif valid.n_columns != train.n_columns:
        raise InputError(
            f"{name} has {valid.n_columns} columns, but the training table has {train.n_columns}"
        )
    columns = tuple(_recode(v, t, name) for v, t in zip(valid.columns, train.columns, strict=True))
    return Table(columns, valid.row_names, valid.native)


def _recode(column: Column, train: Column, name: str) -> Column:
    if column.kind != train.kind:
        if np.isnan(train.entries).all():  # nothing to compare with
            return Column(train.name, train.kind, np.full(column.entries.size, np.nan), train.categories)
        if train.kind == "category" and set(column.text()) & set(train.categories):
            return _recode(_as_category(column.text(), column.name), train, name)
        blank = np.isnan(column.entries).all()
        numeric = {column.kind, train.kind} <= {"number", "boolean"}
        if not blank and not numeric:
            raise InputError(
                f"{name}: column {train.name!r} holds {_plural(column.kind)}, but in the training table it holds "
                f"{_plural(train.kind)}: give both the same type"
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
