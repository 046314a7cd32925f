"""Fields of a table whose rows are taken when they are read.

Most methods never read the user's frame, and some read few of the entries: taking those of five
folds of a million rows took seconds and gigabytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import narwhals.stable.v2 as nw
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

T = TypeVar("T")


class _RowsLater(NamedTuple):
    """Rows of an array or a frame that nobody has asked for yet."""

    whole: Any
    rows: NDArray[np.intp]


def on_demand(*names: str) -> Callable[[type[T]], type[T]]:
    """Make fields of a dataclass take their rows when they are read.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @on_demand("entries")
    ... @dataclass(frozen=True)
    ... class Column:
    ...     entries: np.ndarray
    >>> whole = Column(np.array([5, 6, 7]))
    >>> Column(rows_later(whole, "entries", np.array([2, 0]))).entries.tolist()
    [7, 5]
    """

    def install(record: type[T]) -> type[T]:
        for name in names:
            setattr(record, name, _OnDemand(name))
        return record

    return install


class _OnDemand:
    """A field that holds an array or a frame, or some rows of one to be taken."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, holder: Any, owner: Any = None) -> Any:
        if holder is None:
            raise AttributeError(self._name)
        kept = holder.__dict__[self._name]
        if isinstance(kept, _RowsLater):
            kept = holder.__dict__[self._name] = native_rows(*kept)
        return kept

    def __set__(self, holder: Any, value: Any) -> None:
        holder.__dict__[self._name] = value


def rows_later(holder: Any, name: str, rows: NDArray[np.intp]) -> Any:
    """Some rows of the field of this name, for a field of another record that is on demand too.

    Parameters
    ----------
    holder : dataclass
    name : str
        Of a field that is read on demand.
    rows : ndarray
    """
    kept = holder.__dict__[name]
    if isinstance(kept, _RowsLater):
        return _RowsLater(kept.whole, kept.rows[rows])
    return _RowsLater(kept, rows)


def native_rows(native: Any, rows: NDArray[np.intp]) -> Any:
    """Rows of a frame or an array, as the same type."""
    if isinstance(native, np.ndarray):
        return native[rows]
    return nw.from_native(native, eager_only=True)[rows.tolist()].to_native()
