"""Frames of the caller's library: which one it is, making one, and plain Arrow types."""

from __future__ import annotations

import importlib.util
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.arrow import one_chunk, pa, pc
from shapley2d._base.entries import with_texts
from shapley2d._tables.table import Table
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

_UNREADABLE = (OverflowError, ValueError, KeyError, NotImplementedError)
"""What libraries raise for years, zones, numbers and bytes that Python has no objects for."""

FRAME_KINDS = ("pandas", "polars", "pyarrow")


def frame_kind(data: Any) -> str:
    """The library of a frame; for anything else pandas where it is installed, pyarrow otherwise."""
    if isinstance(data, Table):
        data = data.native
    frame = nw.from_native(data, pass_through=True)
    if isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        name = str(frame.implementation)
        if name in FRAME_KINDS:
            return name
    return "pandas" if importlib.util.find_spec("pandas") else "pyarrow"


@contextmanager
def readable(what: str, kind: Any) -> Iterator[None]:
    """Entries of a type are read here: where their library fails to, that is the user's to know."""
    try:
        yield
    except InputError:
        raise
    except _UNREADABLE as error:
        raise InputError(
            f"{what} holds {kind} entries that cannot be read ({error}): correct or drop them"
        ) from error


def make_frame(columns: dict[str, Any], kind: str) -> Any:
    """Make a frame of some library from columns."""
    as_lists = "O" if kind == "pandas" else "OUS"  # arrays that the library does not take
    plain = {
        key: part.tolist() if isinstance(part, np.ndarray) and part.dtype.kind in as_lists else part
        for key, part in columns.items()
    }
    return nw.from_dict(plain, backend=cast("Any", kind)).to_native()


def objects(items: list[Any]) -> NDArray[Any]:
    """Items as a column of objects; None stays None."""
    column = np.empty(len(items), dtype=object)
    column[:] = items
    return column


def with_names(frame: Any) -> Any:
    """A frame whose names of columns can be written; only pandas takes others."""
    names = list(nw.from_native(frame, eager_only=True).columns)
    written = with_texts(names)
    if written != names:
        frame = frame.copy(deep=False)
        frame.columns = written
    return frame


def plain_types(table: Any) -> Any:
    """A pyarrow table with views and run-end-encoded columns as plain types.

    Not all functions of pyarrow accept the newer types.
    """
    columns = table.columns
    for k, column in enumerate(columns):
        if pa.types.is_run_end_encoded(column.type):
            columns[k] = pc.run_end_decode(column)
        kind = _plain_type(columns[k].type)
        if kind != columns[k].type:
            columns[k] = columns[k].cast(kind)
    return with_columns(table, columns)


def with_columns(table: Any, columns: list[Any]) -> Any:
    """A pyarrow table with other columns of the same names; one by one this would be quadratic."""
    fields = [
        field.with_type(column.type) for field, column in zip(table.schema, columns, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields, table.schema.metadata))


def _plain_type(kind: Any) -> Any:
    if pa.types.is_dictionary(kind):
        inner = _plain_type(kind.value_type)
        return kind if inner == kind.value_type else inner
    # by name: older versions of pyarrow have no views
    views = {"string_view": pa.string, "binary_view": pa.binary}
    return views[str(kind)]() if str(kind) in views else kind


def entries_of(series: nw.Series[Any]) -> list[Any]:
    """The entries of a series, those of a categorical one as what they stand for.

    By the dictionary of Arrow: pandas lists dates in categories as whole numbers, and a label that
    repeats is one object.
    """
    if series.dtype not in (nw.Categorical, nw.Enum):
        return series.to_list()
    try:
        array = one_chunk(series.to_arrow())
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):  # categories of several types
        return series.to_list()
    words = objects([*array.dictionary.to_pylist(), None])
    return list(words[np.asarray(array.indices.cast(pa.int64()).fill_null(-1))])
