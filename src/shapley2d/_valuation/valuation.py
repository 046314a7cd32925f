"""The result that users get: the value of every cell and how certain it is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shapley2d._base.checks import check_choice
from shapley2d._tables.frames import FRAME_KINDS
from shapley2d._valuation import contributors, plots, summary, views
from shapley2d._valuation.comparison import compare
from shapley2d._valuation.facts import certainty_words
from shapley2d._valuation.report.write import open_report, write_report
from shapley2d._valuation.storage import read_valuation, save_valuation
from shapley2d._valuation.values import CellValues
from shapley2d._valuation.what_if import what_if

if TYPE_CHECKING:
    import os

    import numpy as np
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
    Frames are of the caller's kind: of pandas, polars or pyarrow.

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

    describe = certainty_words
    to_frame = views.to_frame
    lowest = views.lowest
    highest = views.highest
    rows = views.rows
    lowest_rows = views.lowest_rows
    highest_rows = views.highest_rows
    columns = views.columns
    sum_by = views.sum_by
    explain_row = views.explain_row
    strays = property(views.strays)
    payments = contributors.payments
    best_sets = contributors.best_sets
    receipt = contributors.receipt
    alone = property(contributors.alone)
    without = property(contributors.without)
    what_if = what_if
    compare = compare
    plot_columns = plots.column_bars
    plot_entries = plots.entry_dots
    plot_heatmap = plots.heatmap
    plot_waterfall = plots.waterfall
    plot_beeswarm = plots.beeswarm
    to_html = write_report
    open = open_report
    to_dict = summary.to_dict
    to_markdown = summary.to_markdown
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

    def __repr__(self) -> str:
        told = self._fragments
        return "\n".join(summary.summary_lines(self) if told is None else told.lines(self))

    def _repr_html_(self) -> str:
        return summary.summary_html(self)
