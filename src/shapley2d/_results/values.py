"""The data of a result: what every cell is worth, how certain that is, and where it came from."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.precision import interval_factor
from shapley2d._tables.texts.column import typed_again
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._tables.table import Column, Table

_UNCOMPARED = ("info", "history", "frame", "table", "target")


@dataclass(frozen=True, repr=False, eq=False)
class Values:
    """Values of the cells of a table with their errors; see :class:`~shapley2d.Valuation` for the attributes."""

    values: NDArray[np.float64]
    stderr: NDArray[np.float64]
    row_names: NDArray[Any]
    column_names: list[str]
    row_stderr: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    column_stderr: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    info: dict[str, Any] = field(default_factory=dict)
    history: list[tuple[int, float]] = field(default_factory=list)
    frame: str = "pandas"
    table: Table | None = None
    target: NDArray[Any] | None = None
    dof: float = math.inf

    def __post_init__(self) -> None:
        n, m = self.values.shape
        for name, size in (("row_stderr", n), ("column_stderr", m)):
            if not getattr(self, name).size:
                object.__setattr__(self, name, np.zeros(size))
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
                    f"values of shape {(n, m)} do not fit {name}, which has {given} instead of {wanted}"
                )

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(
            _equal(getattr(self, part.name), getattr(other, part.name))
            for part in fields(self)
            if part.name not in _UNCOMPARED
        )

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
    def rows(self) -> NDArray[np.float64]:
        """1D values of the rows: sums over the columns."""
        return np.asarray(self.values.sum(axis=1))

    @property
    def columns(self) -> NDArray[np.float64]:
        """1D values of the columns: sums over the rows."""
        return np.asarray(self.values.sum(axis=0))

    @property
    def exact(self) -> bool:
        """Whether the values carry no sampling error: not one that was not seen, as where all draws are alike."""
        return math.isinf(self.dof) and not self.stderr.any()

    @property
    def caveat(self) -> str:
        """What keeps the standard errors and intervals from being trusted, in words; empty where nothing does."""
        return str(self.info.get("caveat") or "")

    @property
    def interval_factor(self) -> float:
        """Half the width of a 95 % interval in standard errors: Student's quantile for ``dof``, 1.96 for many."""
        return interval_factor(self.dof)

    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends of the 95 % intervals of all values.

        Examples
        --------
        >>> import numpy as np
        >>> v = Values(np.array([[1.0]]), np.array([[0.1]]), np.array([0]), ["x"], dof=9)
        >>> [float(end[0, 0].round(3)) for end in v.interval()]
        [0.774, 1.226]
        """
        half = self.interval_factor * self.stderr
        return self.values - half, self.values + half

    def describe(self) -> str:
        """One line on how certain the values are."""
        if self.exact:
            return str((self.info.get("about") or {}).get("certainty") or "exact")
        words = f"standard error at most {self.stderr.max():.2g}"
        return f"{words}, but {self.caveat}" if self.caveat else words

    @cached_property
    def contents(self) -> list[list[str | None]] | None:
        """The table's entries as text, one list per column; None where the valuation has no table."""
        return None if self.table is None else [column.text() for column in self.table.columns]

    @cached_property
    def labels(self) -> list[str] | None:
        """The target of every row as text; None where the valuation has none."""
        return None if self.target is None else [str(label) for label in self.target.tolist()]

    def numbers(self, column: int) -> NDArray[np.float64] | None:
        """Entries of the column at a position as numbers, NaN where missing; None for text and where unknown.

        Dates count in days since 1970, booleans as 0 and 1.
        """
        if (
            self.table is None
            or self.contents is None
            or self.table.columns[column].kind == "category"
        ):
            return None
        return self._typed[column].entries

    @cached_property
    def _typed(self) -> list[Column]:
        """The columns of the table; those read back from a file, which holds text, with their numbers again."""
        columns = () if self.table is None else self.table.columns
        return [column if not column.categories else typed_again(column) for column in columns]

    @cached_property
    def stray_entries(self) -> list[tuple[int, int, str, str]]:
        """Entries that are not what their columns hold: row and column by position, the text, the column's kind.

        The first of every column comes first.
        """
        strays = [
            (count, i, j, text, column.kind)
            for j, column in enumerate(self._typed)
            for count, (i, text) in enumerate(column.from_text.strays.items())
        ]
        return [
            (i, j, text, kind)
            for _, i, j, text, kind in sorted(strays, key=lambda stray: (stray[0], stray[2]))
        ]

    def row_position(self, row: Any) -> int:
        """Position of a row given by its name."""
        try:
            wanted = str(row)
        except Exception:  # noqa: BLE001  (a row may be anything at all)
            wanted = ""
        found = [k for k, name in enumerate(self.row_names.tolist()) if str(name) == wanted]
        if not found:
            shown = Setting("row", row).shown(repr)
            raise InputError(
                f"there is no row {shown}: rows are named {_examples(self.row_names.tolist())}"
            )
        return found[0]

    def column_position(self, column: str) -> int:
        """Position of a column given by its name."""
        if column not in self.column_names:
            raise InputError(
                f"there is no column {column!r}: columns are {_examples(self.column_names)}"
            )
        return self.column_names.index(column)


def _equal(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, other))
    return bool(one == other)


def _examples(names: Sequence[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown + (", ..." if len(names) > 5 else "")
