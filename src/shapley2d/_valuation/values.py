"""The numbers of a result: values, errors and names, their sums, and the table they belong to."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.checks import check_whole
from shapley2d._base.precision import interval_factor
from shapley2d._base.words import counted, entry_text
from shapley2d._tables.frames import objects
from shapley2d._tables.row_words import RowWords
from shapley2d._valuation.run_facts import RunFacts
from shapley2d._valuation.units import Unit, Units, points_of
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._tables.table import Kind, Table

Nouns = tuple[str, str]

_NONE = np.zeros(0)
_EQUAL = (
    *("values", "stderr", "row_names", "column_names"),
    *("row_stderr", "column_stderr", "dof", "total_stderr"),
)


class Part(NamedTuple):
    """The cells, the rows or the columns, in order; or some of them."""

    values: NDArray[np.float64]
    stderr: NDArray[np.float64]
    factor: float
    """Half the width of a 95 % interval in standard errors."""
    unit: Unit
    """What people read them in."""
    named: Callable[[NDArray[np.intp]], dict[str, Any]]
    """The columns of a frame that name those at these positions."""

    @property
    def half(self) -> NDArray[np.float64]:
        """Half the widths of the 95 % intervals."""
        return self.factor * self.stderr

    @property
    def numbers(self) -> list[str]:
        """The values as people read them, in a list with the unit at its head or its end."""
        return self.unit.numbers(self.values.tolist(), signed=True)

    @property
    def names(self) -> dict[str, Any]:
        """What people know them by: rows that have a line by that."""
        found = self.named(np.arange(self.values.size))
        if "line" in found:
            del found["row"]
        return found

    def first(self, n: int, *, highest: bool = False) -> NDArray[np.intp]:
        """Positions of the ``n`` lowest or highest, of equal ones the first."""
        check_whole(n, "n", 0)
        key, last = (-self.values if highest else self.values), min(n, self.values.size - 1)
        few = np.flatnonzero(key <= np.partition(key, last)[last])
        return few[np.argsort(key[few], kind="stable")][:n]

    def take(self, at: NDArray[np.intp]) -> Part:
        """Those at these positions."""
        values, stderr = self.values[at], self.stderr[at]
        return self._replace(values=values, stderr=stderr, named=lambda k: self.named(at[k]))


@dataclass(frozen=True, repr=False, eq=False)
class CellValues(RowWords):
    """What plots, pages, files and words read of a :class:`~shapley2d.Valuation`."""

    values: NDArray[np.float64]
    stderr: NDArray[np.float64]
    row_names: NDArray[Any]
    column_names: list[str]
    row_stderr: NDArray[np.float64] = field(default_factory=lambda: _NONE)
    column_stderr: NDArray[np.float64] = field(default_factory=lambda: _NONE)
    info: dict[str, Any] = field(default_factory=dict)
    history: list[tuple[int, float]] = field(default_factory=list)
    dof: float = math.inf
    total_stderr: float = math.nan
    _frame: str = "pandas"  # the kind that the methods return
    # the typed columns that were valued, and their labels or numbers; None as for a game
    _table: Table | None = None
    _target: NDArray[Any] | None = None
    _held: Any = None  # trees, for ``what_if``; in memory only
    _fragments: Any = None  # who held what, of values of fragments

    def __post_init__(self) -> None:
        n, m = self.values.shape
        for name, *wanted in (
            *(("stderr", n, m), ("row_names", n), ("column_names", m)),
            *(("row_stderr", n), ("column_stderr", m)),
        ):
            if getattr(self, name) is _NONE:
                object.__setattr__(self, name, np.zeros(wanted))
            size = [*np.shape(getattr(self, name))]
            if size != wanted:
                given, fits = (" x ".join(map(str, one)) for one in (size, wanted))
                raise InputError(
                    f"values of shape {(n, m)} do not fit {name}, "
                    f"which has {given} instead of {fits}"
                )
        if math.isnan(self.total_stderr):  # at most this: errors of sums may all have one sign
            most = float(min(self.row_stderr.sum(), self.column_stderr.sum()))
            object.__setattr__(self, "total_stderr", most)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CellValues):
            return NotImplemented
        return all(np.array_equal(getattr(self, one), getattr(other, one)) for one in _EQUAL)

    def __len__(self) -> int:
        return len(self.values)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_held": None}

    __hash__ = None  # type: ignore[assignment]

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return (self.values.shape[0], self.values.shape[1])

    @property
    def total(self) -> float:
        """Sum of all values (Axiom 4 of the paper); ``info["about"]["total"]`` says what it is."""
        return float(self.values.sum())

    @property
    def lines(self) -> NDArray[np.int64] | None:
        """The line of the file where each row starts; None where no file was read."""
        return None if self._table is None else self._table.lines

    @property
    def row_values(self) -> NDArray[np.float64]:
        """1D values of the rows: sums over the columns (Corollary 3.4 of the paper)."""
        return np.asarray(self.values.sum(axis=1))

    @property
    def column_values(self) -> NDArray[np.float64]:
        """1D values of the columns: sums over the rows (Corollary 3.4 of the paper)."""
        return np.asarray(self.values.sum(axis=0))

    @property
    def exact(self) -> bool:
        """Whether nothing was sampled; draws that all agree still leave an unknown error."""
        return math.isinf(self.dof) and not self.stderr.any()

    @property
    def caveat(self) -> str:
        """Why the standard errors cannot be trusted, in words; empty where they can."""
        return self._run.caveat

    @cached_property
    def _run(self) -> RunFacts:
        """The facts of the run that people read."""
        return RunFacts.of(self.info)

    @cached_property
    def _units(self) -> Units:
        """What people read values in; those of groups, of which there are few, in points."""
        points = points_of(self.info)
        if self._grouped:
            return Units(points, points, points)
        return Units.of(points, self.row_values, self.values)

    @property
    def _grouped(self) -> bool:
        """Whether the players of an axis are others than single rows and columns."""
        return bool(self._run.players)

    @property
    def _nouns(self) -> tuple[Nouns, Nouns, Nouns]:
        """Singular and plural of what was valued, of its rows and of its columns."""
        rows, columns = (
            (one, one.replace("group of ", "groups of ") if " " in one else f"{one}s")
            for one in self._run.players or ("row", "column")
        )
        return ("block", "blocks") if self._grouped else ("cell", "cells"), rows, columns

    @property
    def _size_words(self) -> str:
        (n, m), (_, rows, columns) = self.shape, self._nouns
        return f"{counted(n, *rows)} x {counted(m, *columns)}"

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

    def _part(self, what: str) -> Part:
        """The ``"cells"``, row by row, the ``"rows"`` or the ``"columns"``."""
        columns, m, factor = objects(self.column_names), self.shape[1], self._interval_factor
        units = self._units
        if what == "rows":
            return Part(self.row_values, self.row_stderr, factor, units.rows, self._row_columns)
        if what == "columns":
            sums = self.column_values, self.column_stderr
            return Part(*sums, factor, units.points, lambda at: {"column": columns[at]})
        return Part(
            self.values.ravel(), self.stderr.ravel(), factor, units.cells,
            lambda at: {**self._row_columns(at // m), "column": columns[at % m]},
        )  # fmt: skip

    @property
    def _main(self) -> str:
        """What a summary lists: the columns, or groups of rows where these are all there is."""
        return "rows" if self._grouped and self.shape[1] == 1 else "columns"

    def _entry(self, i: int, j: int) -> str | None:
        """The entry of one cell: all of a million rows as text take half a minute."""
        if self._table is None:
            return None
        return self._table.columns[j].take(np.array([i])).text()[0]

    def _label(self, i: int) -> str | None:
        """The target of one row as text."""
        return None if self._target is None else _label(self._target[i : i + 1].tolist()[0])


def _label(label: Any) -> str:
    """A label as text; whole numbers without a decimal point, as the file has them."""
    return entry_text(label) if isinstance(label, float) else str(label)
