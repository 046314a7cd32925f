"""The result that users get: the value of every cell and how certain it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_choice, check_flag, check_whole
from shapley2d._tables.frames import FRAME_KINDS, make_frame, objects
from shapley2d._valuation.comparison import compare
from shapley2d._valuation.contributors import alone, best_sets, payments, receipt, without
from shapley2d._valuation.explain import explain_row
from shapley2d._valuation.plots import beeswarm, heatmap, waterfall
from shapley2d._valuation.plots_of_columns import column_bars, entry_dots
from shapley2d._valuation.report.write import open_report, write_report
from shapley2d._valuation.storage import read_valuation, save_valuation
from shapley2d._valuation.sum_by import sum_by
from shapley2d._valuation.told import told, told_in_markdown
from shapley2d._valuation.values import CellValues
from shapley2d._valuation.what_if import what_if
from shapley2d._valuation.wording.certainty import certainty_words
from shapley2d._valuation.wording.summaries import summary_html, summary_lines
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate


@dataclass(frozen=True, repr=False, eq=False)
class Valuation(CellValues):
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
    row_values, column_values : ndarray of shape (n,) and (m,)
        1D values of the rows and of the columns: sums of their cells.
    row_stderr, column_stderr : ndarray of shape (n,) and (m,)
        Standard errors of these sums.
    total : float
        Sum of all values.
    total_stderr : float
        Standard error of the total, or an upper bound of it where a method gives none.
    info : dict
        How the values came about: method, settings, data sizes, versions. Plain JSON values.
    history : list of (int, float)
        Convergence: evaluations so far, and the largest standard error relative to the spread.
    dof : float
        Degrees of freedom behind the standard errors, infinite where they are exact.

    Notes
    -----
    Two valuations are equal if their values, errors and names are; how they came about does not
    count.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> v = value_game(lambda S, F: S.sum() * F.sum(), 3, 2)
    >>> round(v.total, 6), v.row_values.round(6).tolist(), v.column_values.round(6).tolist()
    (6.0, [2.0, 2.0, 2.0], [3.0, 3.0])
    """

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
        half = self._interval_factor * self.stderr
        return self.values - half, self.values + half

    def describe(self) -> str:
        """One line on how certain the values are."""
        return certainty_words(self)

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
        return self._cells(self._first(n), contents=contents)

    def highest(self, n: int = 10, *, contents: bool = False) -> Any:
        """The ``n`` cells of highest value, as a frame like :meth:`lowest`."""
        check_whole(n, "n", 0)
        return self._cells(self._first(n, highest=True), contents=contents)

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
        found = self._strays
        columns = {
            **self._row_columns(np.array([i for i, *_ in found], dtype=np.intp)),
            "column": [self.column_names[j] for _, j, *_ in found],
            "content": [text for *_, text, _ in found],
            "kind": [kind for *_, kind in found],
        }
        return make_frame(columns, self._frame)

    sum_by = sum_by
    payments = payments
    best_sets = best_sets
    receipt = receipt
    alone = property(alone)
    without = property(without)
    explain_row = explain_row
    what_if = what_if
    compare = compare
    plot_columns = column_bars
    plot_entries = entry_dots
    plot_heatmap = heatmap
    plot_waterfall = waterfall
    plot_beeswarm = beeswarm
    to_html = write_report
    open = open_report
    to_dict = told
    to_markdown = told_in_markdown
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
        found = read_valuation(path, Valuation)
        return found if frame is None else replace(found, _frame=frame)

    @classmethod
    def _of(cls, estimate: Estimate, **more: Any) -> Valuation:
        """The numbers that a method found, with the names and the record that go with them."""
        sums = ("row_stderr", "column_stderr", "total_stderr", "dof", "history")
        found = {name: getattr(estimate, name) for name in ("values", "stderr", *sums)}
        return cls(**found, **more)

    def _cells(self, flat: NDArray[np.intp], *, contents: bool) -> Any:
        check_flag(contents, "contents")
        i, j = np.unravel_index(flat, self.shape)
        names = np.array(self.column_names, dtype=object)
        columns: dict[str, Any] = {**self._row_columns(i), "column": names[j]}
        if contents:
            if self._contents is None:
                raise InputError(
                    Setting("contents", value=True),
                    " needs the entries of a table, which these values do not come with",
                )
            cells = zip(i.tolist(), j.tolist(), strict=True)
            columns["content"] = objects([self._contents[b][a] for a, b in cells])
            if self._labels is not None:
                columns["label"] = objects([self._labels[a] for a in i.tolist()])
        columns |= {"value": self.values[i, j], "stderr": self.stderr[i, j]}
        return make_frame(columns, self._frame)

    def __repr__(self) -> str:
        told = self._fragments
        return "\n".join(summary_lines(self) if told is None else told.lines(self))

    def _repr_html_(self) -> str:
        return summary_html(self, self._sums)
