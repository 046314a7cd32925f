"""The package's own table: typed columns of float64, whatever the user passed.

========== ==================================================== =========================
kind       from                                                 held as
========== ==================================================== =========================
number     integers, floats, decimals, durations                the number
boolean    booleans                                             0 or 1
date       dates and times                                      days since 1970
category   text, categoricals, anything else that is mixed      position in ``categories``
========== ==================================================== =========================

Text that holds numbers, booleans or dates gets that kind (``texts/``). A missing entry is NaN in
all kinds. A column is one player, however it is encoded later.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.words import entry_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

Kind = Literal["number", "category", "boolean", "date"]

MILLISECONDS_PER_DAY = 86_400_000.0


def as_days(times: NDArray[Any]) -> NDArray[np.float64]:
    """Times as days since 1970, or durations in days, to the millisecond; NaN where missing."""
    whole = times.astype(f"{times.dtype.kind}8[ms]").astype(np.int64)
    return np.where(np.isnat(times), np.nan, whole / MILLISECONDS_PER_DAY)


@dataclass(frozen=True)
class FromText:
    """How a column of text was read as numbers or dates."""

    # entries that are neither missing nor of the column's kind, by row; treated as missing
    strays: dict[int, str] = field(default_factory=dict)
    # the notation, where it had to be decided: ``"decimal commas"``, ``"thousands commas"``, ``"day
    # first"`` or ``"month first"``
    notation: str = ""
    example: str = ""  # an entry in that notation and its meaning, where that is not obvious
    remark: str = ""  # anything else that the user should know
    asked: bool = False  # whether the user set the kind of the column
    # number of distinct numbers before rounding made some equal; 0 if it made none equal
    distinct: int = 0
    # decimals that nearly all numbers are written with, zeros included; 0 where they have as many
    # as they need
    places: int = 0
    unit: str = ""  # the unit of measure that all numbers have
    # the distinct texts, None last, and the position of each entry among them, -1 where missing.
    # Kept only where entries are not written as Python writes them, as in ``$1,200``
    words: NDArray[Any] | None = None
    codes: NDArray[np.int32] | None = None
    # texts that count as missing, as ``N/A`` does, and the rows of each
    marks: dict[str, NDArray[np.intp]] = field(default_factory=dict)

    def take(self, rows: NDArray[np.intp]) -> FromText:
        """The reading of some rows."""
        codes = None if self.codes is None else self.codes[rows]
        place = np.flatnonzero(np.isin(rows, list(self.strays))) if self.strays else ()
        return replace(
            self,
            codes=codes,
            strays={int(k): self.strays[int(rows[k])] for k in place},
            marks={word: np.flatnonzero(np.isin(rows, at)) for word, at in self.marks.items()},
        )


@dataclass(frozen=True)
class Column:
    """One typed column: name, kind, entries (NaN where missing), and how its text was read."""

    name: str
    kind: Kind
    held: NDArray[np.float64]  # the entries, or those of a longer column
    categories: tuple[str, ...] = ()
    from_text: FromText = field(default=FromText(), compare=False)
    # the rows of ``held`` that are the column's; all by default. They are taken when ``entries`` is
    # read: a plan reads few of the entries of five folds
    rows: NDArray[np.intp] | None = None

    @cached_property
    def entries(self) -> NDArray[np.float64]:
        """The entries, NaN where missing."""
        return self.held if self.rows is None else self.held[self.rows]

    def with_entries(self, entries: NDArray[np.float64]) -> Column:
        """The column with other entries."""
        return replace(self, held=entries, rows=None)

    def text(self) -> list[str | None]:
        """The entries as text, as the user wrote them where that is known; None where missing."""
        if self.from_text.words is not None and self.from_text.codes is not None:
            return [*self.from_text.words.take(self.from_text.codes).tolist()]
        distinct, place = np.unique(self.entries, return_inverse=True)  # a missing one is the last
        words = [
            None if np.isnan(entry) else self._entry_text(entry) for entry in distinct.tolist()
        ]
        texts = np.array([*words, None], dtype=object)[place]
        texts[list(self.from_text.strays)] = list(self.from_text.strays.values())
        return list(texts.tolist())

    def written(self) -> list[str | None]:
        """The entries as text, with those that count as missing; None where a cell is empty."""
        texts = self.text()
        for word, rows in self.from_text.marks.items():
            for row in rows.tolist():
                texts[row] = word
        return texts

    def take(self, rows: NDArray[np.intp]) -> Column:
        """The column for some rows, in the given order."""
        own = rows if self.rows is None else self.rows[rows]
        return replace(self, from_text=self.from_text.take(rows), rows=own)

    def _entry_text(self, entry: float) -> str | None:
        if np.isnan(entry):
            return None
        if self.kind == "category":
            return self.categories[int(entry)]
        if self.kind == "boolean":
            return "true" if entry else "false"
        if self.kind == "date":
            stamp = np.datetime64(round(entry * MILLISECONDS_PER_DAY), "ms")
            return str(stamp.astype(f"datetime64[{'D' if entry.is_integer() else 's'}]"))
        return entry_text(entry)


@dataclass(frozen=True)
class Table:
    """A checked table of typed columns."""

    columns: tuple[Column, ...]
    row_names: NDArray[Any]  # (n,): the labels of a pandas index, or positions
    frame: Any = field(default=None, repr=False, compare=False)  # the user's table, or a longer one
    # (n,): where each row starts in the file that was read; None where there was none, or a column
    # names the rows
    lines: NDArray[np.int64] | None = None
    # the rows of ``frame`` that are the table's; all by default
    rows: NDArray[np.intp] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def native(self) -> Any:
        """The user's table, for models that take it unencoded."""
        return self.frame if self.rows is None else native_rows(self.frame, self.rows)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.row_names.size)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return self.n_rows, self.n_columns

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""
        return [column.name for column in self.columns]

    @property
    def strays(self) -> list[tuple[int, int, str, Kind]]:
        """Entries that do not match their column's type: row, column, text and that type.

        Rows and columns by position. The first one of every column comes first.
        """
        found = [
            (count, j, i, text, column.kind)
            for j, column in enumerate(self.columns)
            for count, (i, text) in enumerate(column.from_text.strays.items())
        ]
        return [
            (i, j, text, kind) for _, j, i, text, kind in sorted(found, key=lambda one: one[:2])
        ]

    def take_rows(self, rows: NDArray[np.intp]) -> Table:
        """The table of some rows, in the given order."""
        columns = tuple(column.take(rows) for column in self.columns)
        lines = None if self.lines is None else self.lines[rows]
        own = rows if self.rows is None else self.rows[rows]
        return Table(columns, self.row_names[rows], self.frame, lines, own)


def native_rows(native: Any, rows: NDArray[np.intp]) -> Any:
    """Rows of a frame or an array, as the same type."""
    if isinstance(native, np.ndarray):
        return native[rows]
    return nw.from_native(native, eager_only=True)[rows.tolist()].to_native()


def native_columns(native: Any, columns: NDArray[np.intp]) -> Any:
    """Columns of a frame or an array, as the same type."""
    if isinstance(native, np.ndarray):
        return native[:, columns]
    return nw.from_native(native, eager_only=True)[:, columns.tolist()].to_native()
