"""The result that users get: the value of every cell and how certain it is."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from shapley2d._base.checks import check_choice, check_flag, check_whole
from shapley2d._base.precision import interval_factor
from shapley2d._base.words import counted, format_seconds, printable
from shapley2d._results.explain import explain_row, similar_rows
from shapley2d._results.plan import took_words
from shapley2d._results.plots import beeswarm, convergence, heatmap, waterfall
from shapley2d._results.report import write_report
from shapley2d._results.row_words import RowWords
from shapley2d._results.units import Units, figure, score_words, typeset
from shapley2d._results.valuation_storage import read_valuation, save_valuation
from shapley2d._results.what_if import what_if
from shapley2d._tables.frames import FRAME_KINDS, make_frame
from shapley2d._tables.table import number_text
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from shapley2d._tables.table import Table

_UNCOMPARED = ("info", "history", "frame", "table", "target", "held")
_SHOWN_COLUMNS = 20  # in a notebook
_SUMMED_COLUMNS = 6  # in one printed line


@dataclass(frozen=True, repr=False, eq=False)
class Valuation(RowWords):
    """The value of every cell of a table, with standard errors.

    Attributes
    ----------
    values : ndarray of shape (n, m)
        What each cell adds to the model's performance.
    stderr : ndarray of shape (n, m)
        Standard errors of ``values``: the square roots of their estimated variances, zeros where
        they are exact. ``interval()`` has the 95 % intervals.
    row_names : ndarray of shape (n,)
        Labels of a pandas index, or positions counted from 0. Where a file was read, people read
        ``lines`` instead.
    column_names : list of str
    row_stderr, column_stderr : ndarray of shape (n,) and (m,)
        Standard errors of the sums ``row_values`` and ``column_values``.
    info : dict
        How the values came about: method, settings, data sizes, versions. Plain JSON values.
    history : list of (int, float)
        Convergence: evaluations so far, and the largest standard error relative to the spread.
    frame : str
        The kind of frame that the methods return: ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
    table : Table or None
        The typed columns that were valued, for reports and explanations; None where there is no
        table, as for a game.
    target : ndarray or None
        The labels or numbers that go with them.
    dof : float
        Degrees of freedom behind the standard errors, infinite where they are exact.
    held : object
        The trees of a forest, for :meth:`what_if`; None otherwise. In memory only.

    Notes
    -----
    Two valuations are equal if their values, errors and names are; how they came about does not
    count.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> v = value_game(lambda S, F: S.sum() * F.sum(), 3, 2)
    >>> round(v.total, 6), v.rows.round(6).tolist(), v.column_values.round(6).tolist()
    (6.0, [2.0, 2.0, 2.0], [3.0, 3.0])
    """

    kind: ClassVar[str] = "cells"

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
    held: Any = None

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
                    f"values of shape {(n, m)} do not fit {name}, "
                    f"which has {given} instead of {wanted}"
                )

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(
            _equal(getattr(self, part.name), getattr(other, part.name))
            for part in fields(self)
            if part.name not in _UNCOMPARED
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "held": None}

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
        return None if self.table is None else self.table.lines

    @property
    def columns(self) -> list[str]:
        """The names of the columns, as of a frame; ``column_values`` has what they are worth."""
        return self.column_names

    @property
    def row_values(self) -> NDArray[np.float64]:
        """1D values of the rows: sums over the columns."""
        return np.asarray(self.values.sum(axis=1))

    @property
    def rows(self) -> NDArray[np.float64]:
        """The same as :attr:`row_values`."""
        return self.row_values

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
    def interval_factor(self) -> float:
        """Half the width of a 95 % interval in standard errors: Student's quantile for ``dof``."""
        return interval_factor(self.dof)

    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends of the 95 % intervals of all values.

        Examples
        --------
        >>> import numpy as np
        >>> from shapley2d import Valuation
        >>> v = Valuation(np.array([[1.0]]), np.array([[0.1]]), np.array([0]), ["x"], dof=9)
        >>> [float(end[0, 0].round(3)) for end in v.interval()]
        [0.774, 1.226]
        """
        half = self.interval_factor * self.stderr
        return self.values - half, self.values + half

    def describe(self) -> str:
        """One line on how certain the values are."""
        if self.exact:
            return "exact"
        unit = Units.of(self).cells
        worst = f"{figure(unit.factor * float(self.stderr.max()), 2)} {unit.words}".rstrip()
        words = f"standard error at most {worst}"
        if self.info.get("time_up"):
            words += f" after {format_seconds(self.info['max_time'])}, the time limit"
        return f"{words}, but {self.caveat}" if self.caveat else words

    @cached_property
    def contents(self) -> list[list[str | None]] | None:
        """The table's entries as text, one list per column; None without a table."""
        return None if self.table is None else [column.text() for column in self.table.columns]

    @cached_property
    def labels(self) -> list[str] | None:
        """The target of every row as text; None without a target."""
        return None if self.target is None else [label_text(one) for one in self.target.tolist()]

    def lowest(self, n: int = 10, *, contents: bool = False) -> Any:
        """The ``n`` cells of lowest value, i.e. the most harmful, as a frame like :meth:`to_frame`.

        Parameters
        ----------
        n : int
        contents : bool
            Show the cells' entries and the labels of their rows too, as the command line does.

        Examples
        --------
        >>> from shapley2d import value_game
        >>> v = value_game(lambda S, F: 2.0 * S[0] * F[1] - S[1] * F[0], 2, 2)
        >>> v.lowest(1).values.tolist()
        [[1, '0', -1.0, 0.0]]
        """
        check_whole(n, "n", 0)
        order = first_places(self.values, n)
        return self._cells(order, contents=contents)

    def highest(self, n: int = 10, *, contents: bool = False) -> Any:
        """The ``n`` cells of highest value, as a frame like :meth:`lowest`."""
        check_whole(n, "n", 0)
        order = first_places(-self.values, n)
        return self._cells(order, contents=contents)

    def to_frame(self, *, contents: bool = False) -> Any:
        """All cells as a tidy frame with the columns ``row``, ``column``, ``value`` and ``stderr``.

        Where a file was read, ``line`` beside ``row`` is the line where the row starts.

        Parameters
        ----------
        contents : bool
            Add the columns ``content``, the cell's entry as text, and ``label``, the target of its
            row.

        Examples
        --------
        >>> from shapley2d import value_game
        >>> value_game(lambda S, F: S.sum() * F.sum(), 2, 1).to_frame().values.tolist()
        [[0, '0', 1.0, 0.0], [1, '0', 1.0, 0.0]]
        """
        return self._cells(np.arange(self.values.size), contents=contents)

    @property
    def strays(self) -> Any:
        """Entries to check first: those that do not match their column's type.

        They are treated as missing. A frame of ``row``, ``column``, ``content`` and ``kind``, the
        type of the column; empty where there are none.

        Examples
        --------
        >>> import warnings
        >>> from shapley2d import value_cells
        >>> X, y = [["1"], ["2"], ["3"], ["7"], ["8"], ["9x"]], list("aaabbb")
        >>> with warnings.catch_warnings(action="ignore"):
        ...     v = value_cells(X, y, cv=2)
        >>> v.strays.values.tolist()
        [[5, 'x0', '9x', 'number']]
        """
        found = [] if self.table is None else self.table.strays
        columns = {
            **self.row_columns(np.array([i for i, *_ in found], dtype=np.intp)),
            "column": [self.column_names[j] for _, j, *_ in found],
            "content": [text for *_, text, _ in found],
            "kind": [kind for *_, kind in found],
        }
        return make_frame(columns, self.frame)

    explain_row = explain_row
    similar_rows = similar_rows
    what_if = what_if
    plot_heatmap = heatmap
    plot_waterfall = waterfall
    plot_beeswarm = beeswarm
    plot_convergence = convergence
    to_html = write_report
    save = save_valuation

    @classmethod
    def load(cls, path: str | os.PathLike[str], frame: str | None = None) -> Valuation:
        """Read a valuation that :meth:`save` wrote.

        Parameters
        ----------
        path : path-like
        frame : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame that its methods return; by default that of the table that was valued.
        """
        if frame is not None:
            check_choice(frame, "frame", FRAME_KINDS)
        kind, known = read_valuation(path)
        if frame is not None:
            known["frame"] = frame
        subclasses: list[type[Valuation]] = Valuation.__subclasses__()
        made_of = next((one for one in subclasses if one.kind == kind), Valuation)
        return made_of(**known)

    def _cells(self, flat: NDArray[np.intp], *, contents: bool) -> Any:
        check_flag(contents, "contents")
        i, j = np.unravel_index(flat, self.values.shape)
        names = np.array(self.column_names, dtype=object)
        columns: dict[str, Any] = {**self.row_columns(i), "column": names[j]}
        if contents:
            if self.contents is None:
                raise InputError(
                    Setting("contents", value=True),
                    " needs the entries of a table, which these values do not come with",
                )
            cells = zip(i.tolist(), j.tolist(), strict=True)
            columns["content"] = _texts([self.contents[b][a] for a, b in cells])
            if self.labels is not None:
                columns["label"] = _texts([self.labels[a] for a in i.tolist()])
        columns |= {"value": self.values[i, j], "stderr": self.stderr[i, j]}
        return make_frame(columns, self.frame)

    def _extremes(self) -> list[tuple[str, str, str, float]]:
        cells = []
        places = {"lowest": int(self.values.argmin()), "highest": int(self.values.argmax())}
        for what, flat in places.items():
            i, j = divmod(flat, self.shape[1])
            cells.append((what, self.shown_row(i), self.column_names[j], float(self.values[i, j])))
        return cells

    def __repr__(self) -> str:
        n, m = self.shape
        method = self.info.get("method", "unknown method")
        table = f"{counted(n, 'row')} x {counted(m, 'column')}"
        lines = [f"Valuation of {table}, method {method}, {self.describe()}"]
        units = Units.of(self)
        summed = "" if units.score is None else score_words(self)
        lines.append(f"  {summed}" if summed else f"  total    {self.total:+.5g}")
        if units.score is not None:
            order = np.argsort(-self.column_values, kind="stable")
            first = order[:_SUMMED_COLUMNS].tolist()
            numbers = units.columns.numbers(self.column_values[first].tolist(), signed=True)
            named = ", ".join(
                f"{printable(self.column_names[j])} {number}"
                for j, number in zip(first, numbers, strict=True)
            )
            left = m - _SUMMED_COLUMNS
            more = f" and {left} more" if left > 0 else ""
            lines.append(f"  columns  {named}{more} {units.columns.words}".rstrip())
        lines += [f"  took     {took}"] if (took := took_words(self.info)) else []
        for what, row, column, value in self._extremes():
            lines.append(
                f"  {what:<8} {units.cells.text(value, signed=True)} at {self.row_word} "
                f"{printable(row)}, column {column!r}"
            )
        if self.table is not None and (count := len(self.table.strays)):
            entries = counted(count, "entry", "entries")
            lines.append(f"  strays   {entries} to check first, see strays")
        return "\n".join(lines)

    def _sums(self) -> tuple[str, list[str], NDArray[np.float64], NDArray[np.float64]]:
        """What a notebook lists: a heading, names, values and half the widths of intervals."""
        return (
            "column",
            self.column_names,
            self.column_values,
            self.interval_factor * self.column_stderr,
        )

    def _repr_html_(self) -> str:
        """The short table that a notebook shows."""
        n, m = self.shape
        noun, units = self.kind.removesuffix("s"), Units.of(self)
        axes = ("row group", "column group") if noun == "block" else ("row", "column")
        method = html.escape(str(self.info.get("method", "")))
        row_word = "" if noun == "block" else f"{self.row_word} "
        cells = "".join(
            f"<tr><td>{what} {noun}</td><td>{typeset(units.cells.text(value, signed=True))}</td>"
            f"<td>{row_word}{html.escape(row)}, {html.escape(column)}</td></tr>"
            for what, row, column, value in self._extremes()
        )
        heading, names, values, spreads = self._sums()
        order = np.argsort(-values, kind="stable")
        factor = units.columns.factor
        sums = "".join(
            f"<tr><td>{html.escape(names[j])}</td>"
            f"<td>{typeset(units.columns.number(values[j], signed=True))}</td>"
            f"<td>&plusmn; {factor * spreads[j]:.2g}</td></tr>"
            for j in order[:_SHOWN_COLUMNS]
        )
        left = order.size - _SHOWN_COLUMNS
        more = f"<tr><td colspan='3'>and {left} more {heading}s</td></tr>" if left > 0 else ""
        summed = "" if units.score is None else score_words(self)
        total = f"; total {self.total:+.5g}" if not summed else ""
        return (
            f"<div><p><b>{type(self).__name__}</b> of {counted(n, axes[0])} &times; "
            f"{counted(m, axes[1])}, "
            f"method {method}, {html.escape(self.describe())}{total}</p>"
            + (f"<p>{html.escape(typeset(summed))}</p>" if summed else "")
            + f"<table><tbody>{cells}</tbody></table>"
            f"<table><thead><tr><th>{heading}</th>"
            f"<th>{units.columns.words or 'value'}</th><th>95 %</th></tr></thead>"
            f"<tbody>{sums}{more}</tbody></table></div>"
        )


def label_text(label: Any) -> str:
    """A label as text; whole numbers without a decimal point, as the file has them.

    Examples
    --------
    >>> label_text(114687.0), label_text("yes"), label_text(0.5)
    ('114687', 'yes', '0.5')
    """
    return number_text(label) if isinstance(label, float) else str(label)


def _equal(one: Any, other: Any) -> bool:
    if one is None or other is None:
        return one is other
    if isinstance(one, np.ndarray):
        return bool(np.array_equal(one, other))
    return bool(one == other)


def _texts(texts: list[str | None]) -> NDArray[Any]:
    """Texts as a column; None stays None."""
    column = np.empty(len(texts), dtype=object)
    column[:] = texts
    return column


def first_places(values: NDArray[np.float64], n: int) -> NDArray[np.intp]:
    """Where the ``n`` lowest numbers are, lowest first, of equal ones the first.

    Examples
    --------
    >>> first_places(np.array([[2.0, 1.0], [0.5, 1.0]]), 2).tolist()
    [2, 1]
    """
    flat = values.ravel()
    if n < flat.size:
        few = np.flatnonzero(flat <= np.partition(flat, n)[n])
        return few[np.argsort(flat[few], kind="stable")][:n]
    return np.argsort(flat, kind="stable")
