"""The result that users get: its data, and what can be done with it."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_choice, check_flag, check_whole
from shapley2d._base.printable import printable
from shapley2d._results.plan import took_words
from shapley2d._results.values import Values
from shapley2d._tables.frames import FRAME_KINDS, make_frame
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import os

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

_KINDS: dict[str, type[Valuation]] = {}  # by the word that files keep


@dataclass(frozen=True, repr=False, eq=False)
class Valuation(Values):
    """The value of every cell of a table, with standard errors.

    Attributes
    ----------
    values : ndarray of shape (n, m)
        What each cell adds to the model's performance.
    stderr : ndarray of shape (n, m)
        Standard errors of ``values``: the square roots of their estimated variances, zeros where
        they are exact. ``interval()`` has the 95 % intervals.
    row_names : ndarray of shape (n,)
    column_names : list of str
    row_stderr, column_stderr : ndarray of shape (n,) and (m,)
        Standard errors of the sums ``rows`` and ``columns``.
    info : dict
        How the values came about: method, settings, data sizes, versions. Plain JSON values.
    history : list of (int, float)
        Convergence: evaluations, and the largest standard error relative to the spread by then.
    frame : str
        The kind of frame that the methods return: ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
    table : Table or None
        The typed columns that were valued, for reports and explanations; None where there is no
        table, as for a game.
    target : ndarray or None
        The labels or numbers that go with them.
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
    >>> round(v.total, 6), v.rows.round(6).tolist(), v.columns.round(6).tolist()
    (6.0, [2.0, 2.0, 2.0], [3.0, 3.0])
    """

    def __init_subclass__(cls, kind: str = "", **more: Any) -> None:
        super().__init_subclass__(**more)
        if kind:
            _KINDS[kind] = cls

    def lowest(self, k: int = 10, *, contents: bool = False) -> Any:
        """The ``k`` cells of least value, i.e. those that hurt most, as a frame like :meth:`to_frame`.

        Parameters
        ----------
        k : int
        contents : bool
            Show what the cell says and the label of its row too, as the command line does.

        Examples
        --------
        >>> from shapley2d import value_game
        >>> v = value_game(lambda S, F: 2.0 * S[0] * F[1] - S[1] * F[0], 2, 2)
        >>> v.lowest(1).values.tolist()
        [[1, '0', -1.0, 0.0]]
        """
        return self._cells(
            np.argsort(self.values, axis=None, kind="stable")[: _count(k)], contents=contents
        )

    def highest(self, k: int = 10, *, contents: bool = False) -> Any:
        """The ``k`` cells of greatest value, as a frame like :meth:`lowest`."""
        return self._cells(
            np.argsort(-self.values, axis=None, kind="stable")[: _count(k)], contents=contents
        )

    def to_frame(self, *, contents: bool = False) -> Any:
        """All cells as a tidy frame with the columns ``row``, ``column``, ``value`` and ``stderr``.

        Parameters
        ----------
        contents : bool
            Add the columns ``content``, what the cell says as text, and ``label``, the target of
            its row.

        Examples
        --------
        >>> from shapley2d import value_game
        >>> value_game(lambda S, F: S.sum() * F.sum(), 2, 1).to_frame().values.tolist()
        [[0, '0', 1.0, 0.0], [1, '0', 1.0, 0.0]]
        """
        return self._cells(np.arange(self.values.size), contents=contents)

    @property
    def strays(self) -> Any:
        """Entries to check first: those that are not what their column holds, such as text among numbers.

        They count as missing. A frame of ``row``, ``column``, ``content`` and ``kind``, which is
        what the column holds; empty where there are none.

        Examples
        --------
        >>> import warnings
        >>> from shapley2d import value_cells
        >>> with warnings.catch_warnings(action="ignore"):
        ...     v = value_cells([["1"], ["2"], ["3"], ["7"], ["8"], ["9x"]], list("aaabbb"), cv=2)
        >>> v.strays.values.tolist()
        [[5, 'x0', '9x', 'number']]
        """
        found = self.stray_entries
        columns = {
            "row": self.row_names[np.array([i for i, *_ in found], dtype=np.intp)],
            "column": [self.column_names[j] for _, j, *_ in found],
            "content": [text for *_, text, _ in found],
            "kind": [kind for *_, kind in found],
        }
        return make_frame(columns, self.frame)

    def _cells(self, flat: NDArray[np.intp], *, contents: bool) -> Any:
        check_flag(contents, "contents")
        i, j = np.unravel_index(flat, self.values.shape)
        names = np.array(self.column_names, dtype=object)
        columns = {"row": self.row_names[i], "column": names[j]}
        if contents:
            columns |= self._said(i, j)
        columns |= {"value": self.values[i, j], "stderr": self.stderr[i, j]}
        return make_frame(columns, self.frame)

    def _said(self, i: NDArray[np.intp], j: NDArray[np.intp]) -> dict[str, Any]:
        """What some cells say, and the labels of their rows."""
        if self.contents is None:
            raise InputError(
                Setting("contents", value=True),
                " needs the entries of a table, which these values do not come with",
            )
        said = {
            "content": _texts(
                [self.contents[b][a] for a, b in zip(i.tolist(), j.tolist(), strict=True)]
            )
        }
        if self.labels is not None:
            said["label"] = _texts([self.labels[a] for a in i.tolist()])
        return said

    def explain_row(self, row: Any) -> Any:
        """A row's value as the sum of its cells."""
        from shapley2d._results.explain import explain_row

        return explain_row(self, row)

    def similar_rows(self, row: Any, k: int = 5, *, within: float | None = None) -> Any:
        """Rows of nearly the same value, by how much their cells agree."""
        from shapley2d._results.explain import similar_rows

        return similar_rows(self, row, k, within=within)

    def save(self, path: str | os.PathLike[str], precision: str = "double") -> None:
        """Write the valuation, its record and the table's entries to a Parquet file.

        The file is a tidy table (``row``, ``column``, ``value``, ``stderr``, ``content``,
        ``label``) that any Parquet reader opens. It appears whole or not at all.

        Parameters
        ----------
        path : path-like
        precision : {"double", "single"}
            Of values and standard errors: all 16 digits, or 7 of them, which take about half of the
            space.
        """
        from shapley2d._results.storage import save_valuation

        save_valuation(self, path, precision)

    @classmethod
    def load(cls, path: str | os.PathLike[str], frame: str | None = None) -> Valuation:
        """Read a valuation that :meth:`save` wrote.

        Parameters
        ----------
        path : path-like
        frame : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame that its methods return; by default that of the table that was valued.
        """
        from shapley2d._results.storage import read_fields

        if frame is not None:
            check_choice(frame, "frame", FRAME_KINDS)
        kind, fields = read_fields(path)
        if frame is not None:
            fields["frame"] = frame
        return _KINDS[kind](**fields)

    def to_html(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a self-contained report: one HTML file that opens in any browser, offline.

        Parameters
        ----------
        path : path-like
        **options
            ``marked``: cells to mark, a boolean array or (row, column) positions. ``title``.
            ``payments``: for blocks, a frame of ``owner``, ``value``, ``amount``, ``low`` and
            ``high``. ``n_lowest``: how many cells to list. ``max_cells``: a larger table is shown
            by the rows with its most extreme cells.
        """
        from shapley2d._results.report import write_report

        write_report(self, path, **options)

    def plot_heatmap(self, ax: Axes | None = None, **options: Any) -> Axes:
        """All values as colours, with the row and column sums as bars."""
        from shapley2d._results import plots

        return plots.heatmap(self, ax=ax, **options)

    def plot_waterfall(self, row: Any, ax: Axes | None = None, **options: Any) -> Axes:
        """A row's value as the sum of its cells."""
        from shapley2d._results import plots

        return plots.waterfall(self, row, ax=ax, **options)

    def plot_beeswarm(self, ax: Axes | None = None, **options: Any) -> Axes:
        """The spread of values within every column."""
        from shapley2d._results import plots

        return plots.beeswarm(self, ax=ax, **options)

    def plot_convergence(self, ax: Axes | None = None, **options: Any) -> Axes:
        """How the error shrank with the work."""
        from shapley2d._results import plots

        return plots.convergence(self, ax=ax, **options)

    def _extremes(self) -> list[tuple[str, Any, str, float]]:
        cells = []
        for what, flat in (
            ("lowest", int(self.values.argmin())),
            ("highest", int(self.values.argmax())),
        ):
            i, j = divmod(flat, self.shape[1])
            cells.append((what, self.row_names[i], self.column_names[j], float(self.values[i, j])))
        return cells

    def __repr__(self) -> str:
        n, m = self.shape
        method = self.info.get("method", "unknown method")
        lines = [f"Valuation of {n} rows x {m} columns, method {method}, {self.describe()}"]
        lines.append(f"  total    {self.total:+.5g}")
        lines += [f"  took     {took}"] if (took := took_words(self.info)) else []
        for what, row, column, value in self._extremes():
            lines.append(
                f"  {what:<8} {value:+.3g} at row {printable(str(row))}, column {column!r}"
            )
        if self.stray_entries:
            lines.append(f"  strays   {len(self.stray_entries)} entries to check first, see strays")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The short table that a notebook shows."""
        n, m = self.shape
        method = html.escape(str(self.info.get("method", "")))
        cells = "".join(
            f"<tr><td>{what} cell</td><td>{value:+.3g}</td><td>row {html.escape(str(row))}, "
            f"{html.escape(column)}</td></tr>"
            for what, row, column, value in self._extremes()
        )
        order = np.argsort(-self.columns, kind="stable")
        sums = "".join(
            f"<tr><td>{html.escape(self.column_names[j])}</td><td>{self.columns[j]:+.3g}</td>"
            f"<td>&plusmn; {self.interval_factor * self.column_stderr[j]:.2g}</td></tr>"
            for j in order[:20]
        )
        more = f"<tr><td colspan='3'>and {m - 20} more columns</td></tr>" if m > 20 else ""
        return (
            f"<div><p><b>Valuation</b> of {n} rows &times; {m} columns, method {method}, "
            f"{html.escape(self.describe())}; total {self.total:+.5g}</p>"
            f"<table><tbody>{cells}</tbody></table>"
            f"<table><thead><tr><th>column</th><th>value</th><th>95 %</th></tr></thead>"
            f"<tbody>{sums}{more}</tbody></table></div>"
        )


def _texts(texts: list[str | None]) -> NDArray[Any]:
    """Texts as a column; None stays None."""
    column = np.empty(len(texts), dtype=object)
    column[:] = texts
    return column


def _count(k: int) -> int:
    check_whole(k, "k", 0)
    return k


_KINDS["cells"] = Valuation
