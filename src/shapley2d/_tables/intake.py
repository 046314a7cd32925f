"""Tables as users pass them (files, queries, Arrow, dicts, records), as a frame or an array.

A lazy frame is a query that has not been executed; it is collected once, here. Rows keep the order
in which the engine returns them: Polars and Dask keep the order of their source, SQL engines only
with an explicit sort.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._base.entries import as_text, with_texts
from shapley2d._base.warnings import warn_input
from shapley2d._base.words import counted, did_you_mean, shown
from shapley2d._tables.frames import frame_kind, make_frame, plain_types, readable, with_names
from shapley2d._tables.reading.files import Source, read_table
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


LARGE_BYTES = 2**30
"""A warning says how much a query is about to collect from this size on, at 8 bytes a number."""

_COUNTS = ("polars", "duckdb", "ibis")  # engines that count rows without reading them
_KEEPS_ORDER = ("polars", "dask")


def is_path(data: Any) -> bool:
    """Whether a table is given as the path of a file."""
    return isinstance(data, (str, os.PathLike))


def opened(data: Any) -> Any:
    """A file in the place of its path, its notes as warnings; anything else unchanged.

    A :class:`Source` is a table like any other here, which knows the lines of its rows.
    """
    if not is_path(data):
        return data
    source = read_table(os.fspath(data))
    for note in source.notes:
        warn_input(note)
    return source


def as_frame(data: Any, name: str = "X") -> Any:
    """A frame that narwhals knows; arrays and lists unchanged."""
    if isinstance(data, (nw.DataFrame, nw.LazyFrame)):
        data = data.to_native()
    if isinstance(data, Source):
        return data.table
    if isinstance(data, np.ndarray):
        return data
    if hasattr(data, "toarray") and hasattr(data, "nnz"):
        raise TypeError(f"{name} is a sparse matrix, which is not supported: pass {name}.toarray()")
    data = collected(data, name)
    if nw.dependencies.is_pyarrow_table(data):
        data = plain_types(data)
    _check_unique_names(data, name)
    if isinstance(nw.from_native(data, eager_only=True, pass_through=True), nw.DataFrame):
        return with_names(data)
    if isinstance(data, dict):
        return _from_columns(data, name)
    is_list = isinstance(data, (list, tuple)) and bool(data)
    if is_list and all(isinstance(record, dict) for record in data):
        return _from_records(data, name)
    return _from_arrow(data)


def names_columns(data: Any) -> bool:
    """Whether a frame names its columns by texts, as scikit-learn asks of feature names."""
    names = getattr(data, "column_names", getattr(data, "columns", None))
    if names is None or callable(names):
        return False
    return all(isinstance(name, str) for name in names)


def names_of(data: Any) -> list[str]:
    """Names of the columns of a table; none where it has no names."""
    frame = nw.from_native(as_frame(data), eager_only=True, pass_through=True)
    return frame.columns if isinstance(frame, nw.DataFrame) else []


def _check_unique_names(data: Any, name: str) -> None:
    names = getattr(data, "column_names", getattr(data, "columns", None))
    if names is None or callable(names):
        return
    repeated = [str(key) for key, count in Counter(map(str, names)).items() if count > 1]
    if repeated:
        raise InputError(
            f"{name}: the column name {repeated[0]!r} occurs twice: rename one of them"
        )


def with_targets(X: Any, y: Any, X_valid: Any, y_valid: Any) -> tuple[Any, Any, Any, Any]:
    """The tables and their targets, which may be given by the name of a column."""
    if not isinstance(y, str):
        if isinstance(X, Source) or is_path(X):
            raise InputError(
                "y must be the name of the column to predict where X is the path of a file"
            )
        return X, y, X_valid, y_valid
    X, target = without_column(X, y, "X")
    if X_valid is not None and (y_valid is None or isinstance(y_valid, str)):
        X_valid, y_valid = without_column(X_valid, y if y_valid is None else y_valid, "X_valid")
    return X, target, X_valid, y_valid


def without_column(data: Any, key: str, name: str, option: str = "y") -> tuple[Any, Any]:
    """Split off the column that an option names: the rest of the table, and the column."""
    data = opened(data)
    frame = nw.from_native(as_frame(data, name), eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        raise InputError(
            f"{option}={shown(key)} names a column, but {name} has no names: pass the entries"
        )
    key = as_text(key)
    names = {as_text(column): column for column in frame.columns}  # pandas has whole numbers, too
    if key not in names:
        hint = did_you_mean(key, names)
        use = "to predict" if option == "y" else f"for {option}"
        raise InputError(f"{name} has no column {shown(key)} {use}{hint}")
    rest = frame.drop(names[key]).to_native()
    rest = replace(data, table=rest) if isinstance(data, Source) else rest
    return rest, frame.get_column(names[key]).to_native()


def _from_arrow(data: Any) -> Any:
    """The Arrow table of anything that exports one, such as a DuckDB relation; else unchanged."""
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        with suppress(pa.ArrowInvalid, pa.ArrowTypeError):  # values, not rows
            return pa.table(data)
        return data
    for method in ("to_arrow_table", "fetch_arrow_table", "arrow"):
        if callable(getattr(data, method, None)):
            given = getattr(data, method)()
            return given.read_all() if hasattr(given, "read_all") else given
    return data


def _from_columns(columns: Mapping[Any, Any], name: str) -> Any:
    plain = {as_text(key): _as_list(part, as_text(key), name) for key, part in columns.items()}
    lengths = {key: len(part) for key, part in plain.items()}
    if len(set(lengths.values())) > 1:
        one = next(iter(lengths))
        other = next(key for key in lengths if lengths[key] != lengths[one])
        raise InputError(
            f"{name}: column {one!r} has {counted(lengths[one], 'entry', 'entries')}, but "
            f"column {other!r} has {lengths[other]:,}"
        )
    return _frame(plain)


def _as_list(part: Any, key: str, name: str) -> list[Any]:
    series = nw.from_native(part, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        with readable(f"{name}: column {key!r}", series.dtype):
            return series.to_list()
    if hasattr(part, "to_pylist"):
        with readable(f"{name}: column {key!r}", part.type):
            return list(part.to_pylist())
    if hasattr(part, "__array__"):
        part = np.asarray(part)
    single = not hasattr(part, "__len__") or getattr(part, "ndim", 1) == 0
    if single or isinstance(part, (str, bytes)):
        raise InputError(
            f"{name}: column {key!r} is a single {type(part).__name__}, not a list of entries"
        )
    return list(part)


def _from_records(records: Sequence[Mapping[Any, Any]], name: str) -> Any:
    keys = dict.fromkeys(key for record in records for key in record)
    if not keys:
        raise InputError(f"{name} has no columns: its records are empty")
    return _frame({as_text(key): [record.get(key) for record in records] for key in keys})


def _frame(columns: dict[str, list[Any]]) -> Any:
    """A frame of the columns; one of mixed types counts as text."""
    kind = frame_kind(None)
    if kind != "pandas":  # which holds any objects
        columns = {
            key: [None if item is None else str(item) for item in part] if _is_mixed(part) else part
            for key, part in columns.items()
        }
    try:
        return make_frame(columns, kind)
    except UnicodeEncodeError:
        return make_frame({key: with_texts(part) for key, part in columns.items()}, kind)


def _is_mixed(part: list[Any]) -> bool:
    """Whether text stands beside entries of other types."""
    kinds = {type(item) for item in part} - {type(None)}
    return str in kinds and len(kinds) > 1


def collected(data: Any, name: str = "X") -> Any:
    """Collect a lazy frame into memory; anything else is returned unchanged.

    Polars gives a Polars frame, Dask a pandas frame (with its index if that is unique), and other
    engines an Arrow table.
    """
    of_dask = type(data).__module__.startswith("dask.") and hasattr(data, "compute")
    if of_dask and not hasattr(data, "columns"):  # a single column
        return data.compute()
    frame = _lazy(data)
    if frame is None:
        return data
    engine = str(frame.implementation)
    if engine in _COUNTS:
        _warn_if_large(frame, engine, name)
    if engine == "dask":
        found = frame.collect(backend="pandas").to_native()
        return found if found.index.is_unique else found.reset_index(drop=True)
    return frame.collect(backend="polars" if engine == "polars" else "pyarrow").to_native()


def warn_of_two_queries(X: Any, y: Any, names: tuple[str, str]) -> None:
    """Warn if a table and its target are two queries whose rows may come in different orders."""
    table, target = _lazy(X), _lazy(y)
    if table is None or target is None:
        return
    if (engine := str(table.implementation)) in _KEEPS_ORDER:
        return
    warn_input(
        f"{names[0]} and {names[1]} are two {engine} queries, which may return their rows in "
        "different orders: query both at once and name the target's column"
    )


def _lazy(data: Any) -> nw.LazyFrame[Any] | None:
    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.NarwhalsError:  # a repeated column name, which is refused later
        return None
    return frame if isinstance(frame, nw.LazyFrame) else None


def _warn_if_large(frame: nw.LazyFrame[Any], engine: str, name: str) -> None:
    n_columns = len(frame.collect_schema().names())
    n_rows = int(frame.select(nw.len()).collect(backend="pyarrow").to_native()["len"][0].as_py())
    size = 8 * n_rows * n_columns
    if size < LARGE_BYTES:
        return
    warn_input(
        f"{name} is a {engine} query: collecting its {n_rows:,} rows x {n_columns:,} columns "
        f"takes {size / 2**30:,.1f} GB as numbers; query fewer columns or a random sample of "
        "rows"
    )
