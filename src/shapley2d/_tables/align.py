"""Which entry belongs to which row: by the labels of an index where both sides have one.

Only pandas has an index. The same labels in another order put the entries in order, as pandas
itself does. Other labels are refused, unless one side has the default index, 0, 1, 2, ... without
a name: that numbers rows and names none, so the entries go by position, as arrays do.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw

from shapley2d._base.arrow import pa
from shapley2d._base.entries import with_texts
from shapley2d._base.words import shown
from shapley2d._tables.frames import entries_of, plain_types, readable
from shapley2d._tables.intake import collected
from shapley2d.exceptions import InputError


def index_of(data: Any) -> Any:
    """The pandas index of a frame or a series; None where there is none."""
    known = nw.from_native(data, eager_only=True, allow_series=True, pass_through=True)
    return nw.maybe_get_index(known) if isinstance(known, (nw.DataFrame, nw.Series)) else None


def in_order(given: Any, table: Any, option: str) -> Any:
    """A narwhals series or frame, one entry per row of a frame, in the order of its rows.

    Messages call what was given ``option``.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"a": [1, 2]}, index=["one", "two"])
    >>> y = nw.from_native(pd.Series([20, 10], index=["two", "one"]), series_only=True)
    >>> in_order(y, X, "y").to_list()
    [10, 20]
    """
    ours, theirs = index_of(table), index_of(given)
    if ours is None or theirs is None or ours.equals(theirs):
        return given
    unique = ours.is_unique and theirs.is_unique
    if unique and len(ours) == len(theirs):
        order = theirs.get_indexer(ours)
        if (order >= 0).all():
            return given[order.tolist()]
    if _is_default(ours) or _is_default(theirs):
        return given
    absent, extra = ours[~ours.isin(theirs)], theirs[~theirs.isin(ours)]
    if len(absent):
        wrong = f" has no row {shown(absent[0])} in its index, which its table has"
    elif len(extra):
        wrong = f" has the row {shown(extra[0])} in its index, which its table does not have"
    else:
        both = [*ours[ours.duplicated()], *theirs[theirs.duplicated()]]
        wrong = (
            f" has the rows of its table in another order, and {shown(both[0])} more than once in "
            "its index, so which is which is not known"
        )
    raise InputError(
        f"{option}{wrong}: give both the same index, or pass {option}.to_numpy() to go by position"
    )


def _is_default(index: Any) -> bool:
    """Whether an index is the one that pandas gives to rows without labels."""
    is_range = type(index).__name__ == "RangeIndex" and index.name is None
    return is_range and (index.start, index.step) == (0, 1)


def as_series(y: Any, name: str = "y", table: Any = None) -> Any:
    """A series, a frame of one column or an Arrow array as a narwhals series; else unchanged.

    It is in the order of the rows of ``table``, a frame.
    """
    if y is None:
        return None
    y = collected(y, name)
    if isinstance(y, (pa.Array, pa.ChunkedArray)):
        y = plain_types(pa.table([y], [""])).column(0)
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


def series_items(series: nw.Series[Any], option: str) -> list[Any]:
    """The entries of a series, text as text that can be written."""
    with readable(option, series.dtype):
        return with_texts(entries_of(series))
