"""A user's table becomes a ``Table``: every column gets a kind and is checked once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.arrow import one_chunk, pa
from shapley2d._base.entries import as_text, is_missing, is_number, with_texts
from shapley2d._tables.frames import entries_of, readable, with_columns
from shapley2d._tables.intake import as_frame, opened
from shapley2d._tables.kinds import as_category, as_kind, check_kinds
from shapley2d._tables.reading.files import Source
from shapley2d._tables.row_words import row_words
from shapley2d._tables.table import MILLISECONDS_PER_DAY, Column, Kind, Table, as_days
from shapley2d._tables.texts.column import as_texts, series_texts, text_column, texts_of
from shapley2d._tables.texts.numbers import are_long, as_digits
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

Reader = Callable[[Any], Column]
"""Makes a column from a pyarrow array of text."""

_SEVERAL = (list, tuple, dict, set, np.ndarray)  # not one entry

MAX_MAGNITUDE = 1e150
"""The largest number in a table: its square is still finite."""


def as_table(
    data: Any,
    name: str = "X",
    kinds: Mapping[str, str] | None = None,
    like: Table | None = None,
) -> Table:
    """Check a table of any kind, or the file at a path, and give every column a kind.

    ``kinds`` sets the kinds of some columns by name; ``like`` is the training table, whose columns
    decide how text is read. Numbers beyond :data:`MAX_MAGNITUDE` are refused. Messages call the
    table ``name``.
    """
    if isinstance(data, Table):
        return data
    source = opened(data)
    table = typed_table(source, name, kinds, like)
    for column in table.columns:
        beyond = np.flatnonzero(np.abs(column.entries) > MAX_MAGNITUDE)
        if beyond.size:
            is_inf = np.isinf(column.entries[beyond[0]])
            size = "an infinite number" if is_inf else f"a number beyond {MAX_MAGNITUDE:g}"
            raise InputError(
                f"{name}: column {column.name!r} holds {size} in "
                f"{row_words(table, beyond[0])}: replace it by a number or a missing entry"
            )
    return with_typed_native(table) if isinstance(source, Source) else table


def typed_table(
    data: Any,
    name: str,
    kinds: Mapping[str, str] | None,
    like: Table | None,
    read: Callable[..., Column] = text_column,
) -> Table:
    """A table of any kind with a kind for every column; ``read`` makes one of text."""
    source = opened(data)
    data = as_frame(source, name)
    frame = nw.from_native(data, eager_only=True, pass_through=True)
    entries: dict[str, Any]
    if named := isinstance(frame, nw.DataFrame):
        shape, native, row_names = frame.shape, frame.to_native(), _row_names(frame)
        entries = {as_text(key): frame.get_column(key) for key in frame.columns}
    else:
        native = _as_array(data, name)
        shape, row_names = native.shape, np.arange(len(native))
        entries = {f"x{j}": native[:, j] for j in range(native.shape[1])}
    _check_shape(*shape, name)
    asked, twins = check_kinds(kinds, entries), _twins([*entries], like, named=named)

    def make(key: str, notation: str = "") -> Column:
        reader = partial(read, notation=notation, like=twins.get(key))
        return typed_column(entries[key], key, name, asked.get(key), reader)

    columns = {key: make(key) for key in entries}
    notations = {key: column.from_text.notation for key, column in columns.items()}
    if "decimal commas" in notations.values():  # then 1,234 hardly means a thousand elsewhere
        doubtful = [key for key in columns if notations[key] == "thousands commas"]
        columns |= {key: make(key, "decimal commas") for key in doubtful}
    lines = source.lines if isinstance(source, Source) else None
    return Table((*columns.values(),), row_names, native, lines)


def _check_shape(n_rows: int, n_columns: int, name: str) -> None:
    if n_rows == 0:
        found = f"0 sample(s) (shape=({n_rows}, {n_columns}))"  # the words of scikit-learn
        raise InputError(f"{name} is empty: found {found} while a minimum of 1 is required.")
    if n_columns == 0:
        found = f"0 feature(s) (shape=({n_rows}, 0))"
        raise InputError(f"{name} has no columns: found {found} while a minimum of 1 is required.")


def _twins(names: list[str], like: Table | None, *, named: bool) -> dict[str, Column]:
    """The columns of the training table, under the names that they have in this one."""
    if like is None:
        return {}
    if named and not isinstance(like.native, np.ndarray):
        return {column.name: column for column in like.columns}
    return dict(zip(names, like.columns, strict=False))


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
    if names.dtype.kind == "O":
        names = names.copy()
        names[:] = with_texts(names)
    return positions if np.array_equal(names, positions) else names


def typed_column(
    entries: Any,
    key: str,
    name: str,
    kind: str | None = None,
    read: Callable[..., Column] = text_column,
) -> Column:
    """A series, an array or a list of entries as a column, of the kind that is asked for."""
    reader = partial(read, key=key, kind=kind)
    if isinstance(entries, nw.Series):
        with readable(f"{name}: column {key!r}", entries.dtype):
            column = _from_series(entries, key, name, reader)
    elif isinstance(entries, np.ndarray):
        column = _from_vector(entries, key, name, reader)
    else:
        column = _from_objects(entries, key, name, reader)
    return column if kind is None else as_kind(column, kind)


def _from_series(series: nw.Series[Any], key: str, name: str, read: Reader) -> Column:
    dtype = series.dtype
    if dtype.is_nested() or dtype == nw.Binary:
        raise InputError(
            f"{name}: column {key!r} holds {dtype}, not plain entries: drop it or unpack it"
        )
    if dtype in (nw.Categorical, nw.Enum):
        return as_category(entries_of(series), key)  # even if the categories are numbers
    # pyarrow lacks the long numbers
    objects = dtype in (nw.Object, nw.Unknown, nw.Int128, nw.UInt128)
    array = None if objects else series_texts(series)
    if array is None:
        return _from_objects(series.to_list(), key, name, read)
    return _from_arrow(array, key, name, read)


def _from_arrow(array: Any, key: str, name: str, read: Reader) -> Column:
    """A column by the type of a pyarrow array; what is no number or date is text."""
    array, kind = one_chunk(array), array.type
    if kind in (pa.string(), pa.large_string()):
        return read(array)
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_duration(kind):
        days = _days(array.to_numpy(zero_copy_only=False), key, name)
        return Column(key, "number" if pa.types.is_duration(kind) else "date", days)
    is_whole = pa.types.is_integer(kind) or pa.types.is_decimal(kind)
    if is_whole or kind == pa.null() or pa.types.is_boolean(kind) or pa.types.is_floating(kind):
        numbers = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        if is_whole and are_long(numbers):
            return read(as_texts(as_digits(array.to_pylist())))
        return Column(key, "boolean" if pa.types.is_boolean(kind) else "number", np.array(numbers))
    return read(texts_of(array.to_pylist()))


def _from_objects(items: Sequence[Any], key: str, name: str, read: Reader) -> Column:
    """Find the kind of a column of Python objects; any text makes it a column of text."""
    types = set(map(type, items))
    if any(issubclass(one, _SEVERAL) for one in types):
        row = next(k for k, item in enumerate(items) if isinstance(item, _SEVERAL))
        raise InputError(
            f"{name}: column {key!r}, row {row} holds a {type(items[row]).__name__}, not a "
            "plain entry: argument must be a string or a number"
        )
    if date in types:  # pyarrow drops the times of others
        midnight = time()
        items = [datetime.combine(i, midnight) if type(i) is date else i for i in items]
    array = None
    with suppress(TypeError, ValueError, OverflowError, NotImplementedError):
        array = pa.array(items, from_pandas=True)
    if array is not None:
        return _from_arrow(array, key, name, read)
    known = [None if is_missing(item) else item for item in items]
    if not all(item is None or is_number(item) for item in known):
        return read(texts_of(known))
    try:
        numbers = np.array([np.nan if item is None else float(item) for item in known])
    except OverflowError:
        raise InputError(
            f"{name}: column {key!r} holds a number beyond {MAX_MAGNITUDE:g}: replace it"
        ) from None
    exact = all(isinstance(item, (int, np.integer, Decimal, type(None))) for item in known)
    if exact and are_long(numbers):
        return read(as_texts(as_digits(known)))
    return Column(key, "number", numbers)


def _from_vector(vector: NDArray[Any], key: str, name: str, read: Reader) -> Column:
    if vector.dtype.kind in "mM":  # pyarrow lacks some units
        kind: Kind = "date" if vector.dtype.kind == "M" else "number"
        return Column(key, kind, _days(vector, key, name))
    if vector.dtype.kind in "biuf":
        vector = vector.astype(np.float64) if vector.dtype.kind == "f" else vector
        return _from_arrow(pa.array(vector), key, name, read)
    return _from_objects(vector.tolist(), key, name, read)


def _as_array(data: Any, name: str) -> NDArray[Any]:
    """A table without names as an array of two dimensions."""
    if isinstance(data, np.ma.MaskedArray):
        numeric = data.dtype.kind in "biuf"
        filled: Any = data.astype(np.float64 if numeric else object)
        data = filled.filled(np.nan if numeric else None)
    try:
        array = np.asarray(data)
    except ValueError:
        widths = sorted({len(row) if hasattr(row, "__len__") else 0 for row in data})
        raise InputError(
            f"{name} must be a 2-D table, but its rows have different lengths "
            f"({', '.join(map(str, widths[:5]))})"
        ) from None
    if not isinstance(data, np.ndarray):  # a list, in which numbers and booleans stay what they are
        objects = np.asarray(data, dtype=object)
        booleans = (isinstance(item, (bool, np.bool_)) for item in objects.flat)
        if array.dtype.kind in "US" or (array.dtype.kind in "iuf" and any(booleans)):
            array = objects
    if array.ndim != 2:
        raise InputError(
            f"{name} must be a 2-D table, got an array of shape {array.shape}. Reshape your "
            f"data: {name}.reshape(-1, 1) for one column, {name}.reshape(1, -1) for one row"
        )
    if array.dtype.kind == "c":
        raise InputError(
            f"{name}: Complex data not supported: pass the real and imaginary parts as columns"
        )
    return array


def _days(times: NDArray[Any], key: str, name: str) -> NDArray[np.float64]:
    """Times in days, unless they are too far from 1970."""
    unit, _ = np.datetime_data(times.dtype)
    if unit == "s":  # whose milliseconds may overflow 64 bits, which would give other times
        most = np.abs(times[~np.isnat(times)].astype(np.float64)).max(initial=0.0)
        if most > 2**63 / 1000:
            raise InputError(
                f"{name}: column {key!r} holds a time of {most:.3g} seconds: "
                "correct it or drop the column"
            )
    return as_days(times)


def with_typed_native(table: Table) -> Table:
    """The table of a file with a native table whose columns have the types that were found."""
    texts = (pa.string(), pa.large_string())
    columns = [
        _as_arrow(column) if there.type in texts else there
        for column, there in zip(table.columns, table.native.columns, strict=True)
    ]
    return replace(table, frame=with_columns(table.native, columns), rows=None)


def _as_arrow(column: Column) -> Any:
    if column.kind == "category":
        return pa.array(column.text(), pa.string())
    if column.kind == "date":
        milliseconds = pa.array(np.round(column.entries * MILLISECONDS_PER_DAY), from_pandas=True)
        return milliseconds.cast(pa.int64()).cast(pa.timestamp("ms"))
    entries = pa.array(column.entries, from_pandas=True)
    return entries.cast(pa.bool_()) if column.kind == "boolean" else entries
