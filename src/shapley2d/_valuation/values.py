"""The numbers of a result: values, errors and names, their sums, and the table they belong to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.precision import interval_factor
from shapley2d._base.words import counted, entry_text
from shapley2d._tables.row_words import RowWords
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Kind, Table

Nouns = tuple[str, str]
Sums = tuple[str, list[str], "NDArray[np.float64]", "NDArray[np.float64]"]
"""What is listed with its worth: a noun, names, values and half the widths of intervals."""


@dataclass(frozen=True, repr=False, eq=False)
class CellValues(RowWords):
    """What plots, pages, files and words read of a :class:`~shapley2d.Valuation`."""

    values: NDArray[np.float64]
    stderr: NDArray[np.float64]
    row_names: NDArray[Any]
    column_names: list[str]
    row_stderr: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    column_stderr: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    info: dict[str, Any] = field(default_factory=dict, compare=False)
    history: list[tuple[int, float]] = field(default_factory=list, compare=False)
    dof: float = math.inf
    total_stderr: float = math.nan
    _frame: str = field(default="pandas", compare=False)  # the kind that the methods return
    # the typed columns that were valued, and their labels or numbers; None as for a game
    _table: Table | None = field(default=None, compare=False)
    _target: NDArray[Any] | None = field(default=None, compare=False)
    _held: Any = field(default=None, compare=False)  # trees, for ``what_if``; in memory only
    _fragments: Any = field(default=None, compare=False)  # who held what, of values of fragments

    def __post_init__(self) -> None:
        n, m = self.values.shape
        for name, size in (("row_stderr", n), ("column_stderr", m)):
            if not getattr(self, name).size:
                object.__setattr__(self, name, np.zeros(size))
        if math.isnan(self.total_stderr):  # at most this: errors of sums may all have one sign
            most = float(min(self.row_stderr.sum(), self.column_stderr.sum()))
            object.__setattr__(self, "total_stderr", most)
        sizes = {
            "stderr": (self.stderr.shape, (n, m)),
            "row_names": (len(self.row_names), n),
            "column_names": (len(self.column_names), m),
            "row_stderr": (len(self.row_stderr), n),
            "column_stderr": (len(self.column_stderr), m),
        }
        for name, (given, wanted) in sizes.items():
            if given != wanted:
                raise InputError(
                    f"values of shape {(n, m)} do not fit {name}, "
                    f"which has {given} instead of {wanted}"
                )

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(
            _equal(getattr(self, part.name), getattr(other, part.name))
            for part in fields(self)
            if part.compare
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_held": None}

    __hash__ = None  # type: ignore[assignment]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return (self.values.shape[0], self.values.shape[1])

    @property
    def total(self) -> float:
        """Sum of all values; ``info["about"]["total"]`` has in words what it is."""
        return float(self.values.sum())

    @property
    def lines(self) -> NDArray[np.int64] | None:
        """The line of the file where each row starts; None where no file was read."""
        return None if self._table is None else self._table.lines

    @property
    def row_values(self) -> NDArray[np.float64]:
        """1D values of the rows: sums over the columns."""
        return np.asarray(self.values.sum(axis=1))

    @property
    def column_values(self) -> NDArray[np.float64]:
        """1D values of the columns: sums over the rows."""
        return np.asarray(self.values.sum(axis=0))

    @property
    def exact(self) -> bool:
        """Whether nothing was sampled; draws that all agree still leave an unknown error."""
        return math.isinf(self.dof) and not self.stderr.any()

    @property
    def caveat(self) -> str:
        """Why the standard errors cannot be trusted, in words; empty where they can."""
        return str(self.info.get("caveat") or "")

    @property
    def _grouped(self) -> bool:
        """Whether the players of an axis are others than single rows and columns."""
        return bool(self.info.get("players"))

    @property
    def _nouns(self) -> tuple[Nouns, Nouns, Nouns]:
        """Singular and plural of what was valued, of its rows and of its columns."""
        rows, columns = self.info.get("players") or ("row", "column")
        return (
            ("block" if self._grouped else "cell", "blocks" if self._grouped else "cells"),
            (rows, _several(rows)),
            (columns, _several(columns)),
        )

    @property
    def _size_words(self) -> str:
        (n, m), (_, rows, columns) = self.shape, self._nouns
        return f"{counted(n, *rows)} x {counted(m, *columns)}"

    @property
    def _column_sums(self) -> Sums:
        spreads = self._interval_factor * self.column_stderr
        return "column", self.column_names, self.column_values, spreads

    @property
    def _sums(self) -> Sums:
        """What a summary lists: the columns, or groups of rows where these are all there is."""
        if not self._grouped or self.shape[1] > 1:
            return self._column_sums
        names = [str(name) for name in self.row_names]
        return "row", names, self.row_values, self._interval_factor * self.row_stderr

    @property
    def _interval_factor(self) -> float:
        """Half the width of a 95 % interval in standard errors: Student's quantile for ``dof``."""
        return interval_factor(self.dof)

    @property
    def _errors_known(self) -> bool:
        """Whether every standard error is a number; a single draw has no known error."""
        errors = (self.stderr, self.row_stderr, self.column_stderr)
        return all(bool(np.isfinite(part).all()) for part in errors)

    @cached_property
    def _contents(self) -> list[list[str | None]] | None:
        """The table's entries as text, one list per column; None without a table."""
        return None if self._table is None else [column.text() for column in self._table.columns]

    @cached_property
    def _labels(self) -> list[str] | None:
        """The target of every row as text; None without a target."""
        return None if self._target is None else [_label(one) for one in self._target.tolist()]

    @property
    def _strays(self) -> list[tuple[int, int, str, Kind]]:
        """Row, column, text and expected kind of the entries that do not match their column."""
        return [] if self._table is None else self._table.strays

    @property
    def _convergence(self) -> list[tuple[int, float]]:
        """The history, as far as a logarithmic plot can show it."""
        return [(count, ratio) for count, ratio in self.history if count > 0 and 0 < ratio < np.inf]

    def _entry(self, i: int, j: int) -> str | None:
        """The entry of one cell: all of a million rows as text take half a minute."""
        if self._table is None:
            return None
        return self._table.columns[j].take(np.array([i])).text()[0]

    def _label(self, i: int) -> str | None:
        """The target of one row as text."""
        return None if self._target is None else _label(self._target[i : i + 1].tolist()[0])

    def _first(self, n: int, *, highest: bool = False) -> NDArray[np.intp]:
        """Flat positions of the ``n`` lowest or highest cells, of equal ones the first."""
        flat = (-self.values if highest else self.values).ravel()
        if n >= flat.size:
            return np.argsort(flat, kind="stable")
        few = np.flatnonzero(flat <= np.partition(flat, n)[n])
        return few[np.argsort(flat[few], kind="stable")][:n]


def _several(noun: str) -> str:
    """The plural of a noun, which may be followed by "of" and others."""
    first, of, others = noun.partition(" of ")
    return f"{first}s{of}{others}"


def _label(label: Any) -> str:
    """A label as text; whole numbers without a decimal point, as the file has them."""
    return entry_text(label) if isinstance(label, float) else str(label)


def _equal(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, other))
    return bool(one == other)
