"""Lazy frames: queries whose rows are not there yet, collected once, at the boundary.

Rows are taken in the order in which the engine hands them out. Polars and Dask keep that of their
source; engines of SQL need not, unless the query sorts.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from shapley2d._base.warnings import warn
from shapley2d.exceptions import InputWarning, Place

LARGE_BYTES = 2**30
"""From here on, as numbers of eight bytes each, a warning says how much is about to be collected."""

_COUNTS = ("polars", "duckdb", "ibis")  # they count rows without reading what is in them
_KEEPS_ORDER = ("polars", "dask")


def collected(data: Any, name: str = "X") -> Any:
    """The rows of a lazy frame, in memory; anything else as it is.

    Polars' come as its own frame, Dask's as that of pandas with its index where it is unique,
    others as Arrow.

    Parameters
    ----------
    data : object
    name : str
        What to call it in messages.

    Examples
    --------
    >>> import polars as pl
    >>> collected(pl.LazyFrame({"a": [1, 2]})).shape
    (2, 1)
    """
    if (
        type(data).__module__.startswith("dask.")
        and hasattr(data, "compute")
        and not hasattr(data, "columns")
    ):
        return data.compute()  # a column of Dask's
    frame = _lazy(data)
    if frame is None:
        return data
    engine = engine_of(frame)
    if engine in _COUNTS:
        _warn_if_large(frame, engine, name)
    if engine == "dask":
        found = frame.collect(backend="pandas").to_native()
        return found if found.index.is_unique else found.reset_index(drop=True)
    return frame.collect(backend="polars" if engine == "polars" else "pyarrow").to_native()


def warn_of_two_queries(X: Any, y: Any, names: tuple[str, str]) -> None:
    """Say so where a table and its target are two queries whose rows may come in different orders."""
    table, target = _lazy(X), _lazy(y)
    if table is None or target is None or engine_of(table) in _KEEPS_ORDER:
        return
    warn(
        InputWarning(
            Place(names[0]),
            " and ",
            Place(names[1]),
            f" are two queries of {engine_of(table)}, which need not hand out their rows in the same order: query both "
            "at once, and give the target by the name of its column",
        )
    )


def engine_of(frame: nw.LazyFrame[Any]) -> str:
    """The name of the library behind a lazy frame."""
    return str(frame.implementation)


def _lazy(data: Any) -> nw.LazyFrame[Any] | None:
    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.NarwhalsError:  # a name that occurs twice; whoever looks next says so
        return None
    return frame if isinstance(frame, nw.LazyFrame) else None


def _warn_if_large(frame: nw.LazyFrame[Any], engine: str, name: str) -> None:
    n_columns = len(frame.collect_schema().names())
    n_rows = int(frame.select(nw.len()).collect(backend="pyarrow").to_native()["len"][0].as_py())
    size = 8 * n_rows * n_columns
    if size < LARGE_BYTES:
        return
    warn(
        InputWarning(
            Place(name),
            f" is a query of {engine}: its {n_rows:,} rows x {n_columns:,} columns are collected into memory, "
            f"{size / 2**30:,.1f} GB as numbers; query a random part of the rows, or fewer columns, for less",
        )
    )
