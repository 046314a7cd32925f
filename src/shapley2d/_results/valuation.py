"""The result: what every cell is worth, how certain that is, and where it came from."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._tables.frames import make_frame
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from shapley2d._tables.table import Table


@dataclass(frozen=True, repr=False)
class Valuation:
    """The value of every cell of a table, with standard errors.

    Attributes
    ----------
    values : ndarray of shape (n, m)
        What each cell adds to the model's performance.
    stderr : ndarray of shape (n, m)
        Standard errors of ``values``; zeros where they are exact.
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

    Examples
    --------
    >>> from shapley2d import value_game
    >>> v = value_game(lambda S, F: S.sum() * F.sum(), 3, 2)
    >>> round(v.total, 6), v.rows.round(6).tolist(), v.columns.round(6).tolist()
    (6.0, [2.0, 2.0, 2.0], [3.0, 3.0])
    """

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

    def __post_init__(self) -> None:
        n, m = self.values.shape
        if not self.row_stderr.size:
            object.__setattr__(self, "row_stderr", np.zeros(n))
        if not self.column_stderr.size:
            object.__setattr__(self, "column_stderr", np.zeros(m))
        shapes = (self.stderr.shape, len(self.row_names), len(self.column_names))
        if shapes != ((n, m), n, m):
            raise InputError(
                f"values of shape {(n, m)} do not fit errors, row names and column names: {shapes}"
            )

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return (self.values.shape[0], self.values.shape[1])

    @property
    def total(self) -> float:
        """Sum of all values; for the Shapley value the performance of the model on the whole table."""
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
        """Whether the values carry no sampling error."""
        return not self.stderr.any()

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
        if self.table is None or self.contents is None or self.table.columns[column].kind == "category":
            return None
        if not self.table.columns[column].categories:
            return self.table.columns[column].entries
        return _parse_numbers(self.contents[column])  # read back from a file, which holds text

    def lowest(self, k: int = 10) -> Any:
        """The ``k`` cells of least value, i.e. those that hurt most, as a frame like :meth:`to_frame`.

        Examples
        --------
        >>> from shapley2d import value_game
        >>> v = value_game(lambda S, F: 2.0 * S[0] * F[1] - S[1] * F[0], 2, 2)
        >>> v.lowest(1).values.tolist()
        [[1, '0', -1.0, 0.0]]
        """
        return self._cells(np.argsort(self.values, axis=None, kind="stable")[: _count(k)])

    def highest(self, k: int = 10) -> Any:
        """The ``k`` cells of greatest value, as a frame like :meth:`to_frame`."""
        return self._cells(np.argsort(-self.values, axis=None, kind="stable")[: _count(k)])

    def to_frame(self) -> Any:
        """All cells as a tidy frame with the columns ``row``, ``column``, ``value`` and ``stderr``.

        Examples
        --------
        >>> from shapley2d import value_game
        >>> value_game(lambda S, F: S.sum() * F.sum(), 2, 1).to_frame().values.tolist()
        [[0, '0', 1.0, 0.0], [1, '0', 1.0, 0.0]]
        """
        return self._cells(np.arange(self.values.size))

    def _cells(self, flat: NDArray[np.intp]) -> Any:
        i, j = np.unravel_index(flat, self.values.shape)
        names = np.array(self.column_names, dtype=object)
        columns = {
            "row": self.row_names[i],
            "column": names[j],
            "value": self.values[i, j],
            "stderr": self.stderr[i, j],
        }
        return make_frame(columns, self.frame)

    def row_position(self, row: Any) -> int:
        """Position of a row given by its name."""
        found = [k for k, name in enumerate(self.row_names.tolist()) if str(name) == str(row)]
        if not found:
            raise InputError(f"there is no row {row!r}: rows are named {_examples(self.row_names.tolist())}")
        return found[0]

    def column_position(self, column: str) -> int:
        """Position of a column given by its name."""
        if column not in self.column_names:
            raise InputError(f"there is no column {column!r}: columns are {_examples(self.column_names)}")
        return self.column_names.index(column)

    def explain_row(self, row: Any) -> Any:
        """A row's value as the sum of its cells. See :func:`shapley2d._results.explain.explain_row`."""
        from shapley2d._results.explain import explain_row

        return explain_row(self, row)

    def similar_rows(self, row: Any, k: int = 5, *, within: float | None = None) -> Any:
        """Rows of nearly the same value, by how much their cells agree."""
        from shapley2d._results.explain import similar_rows

        return similar_rows(self, row, k, within=within)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the valuation, its record and the table's entries to a Parquet file.

        The file is a tidy table (``row``, ``column``, ``value``, ``stderr``, ``content``, ``label``) that any
        Parquet reader opens. It appears whole or not at all.
        """
        from shapley2d._results.storage import save_valuation

        save_valuation(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Valuation:
        """Read a valuation that :meth:`save` wrote."""
        from shapley2d._results.storage import load_valuation

        return load_valuation(path)

    def to_html(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a self-contained report: one HTML file that opens in any browser, offline.

        Options are those of :func:`shapley2d._results.report.write_report`, such as ``marked`` and ``title``.
        """
        from shapley2d._results.report import write_report

        write_report(self, path, **options)

    def plot_heatmap(self, ax: Axes | None = None, **options: Any) -> Axes:
        """All values as colours, with the row and column sums as bars. See :func:`shapley2d._results.plots.heatmap`."""
        from shapley2d._results import plots

        return plots.heatmap(self, ax=ax, **options)

    def plot_waterfall(self, row: Any, ax: Axes | None = None, **options: Any) -> Axes:
        """A row's value as the sum of its cells. See :func:`shapley2d._results.plots.waterfall`."""
        from shapley2d._results import plots

        return plots.waterfall(self, row, ax=ax, **options)

    def plot_beeswarm(self, ax: Axes | None = None, **options: Any) -> Axes:
        """The spread of values within every column. See :func:`shapley2d._results.plots.beeswarm`."""
        from shapley2d._results import plots

        return plots.beeswarm(self, ax=ax, **options)

    def plot_convergence(self, ax: Axes | None = None, **options: Any) -> Axes:
        """How the error shrank with the work. See :func:`shapley2d._results.plots.convergence`."""
        from shapley2d._results import plots

        return plots.convergence(self, ax=ax, **options)

    def describe(self) -> str:
        """One line on how certain the values are."""
        if self.exact:
            return "exact"
        return f"standard error at most {self.stderr.max():.2g}"

    def _extremes(self) -> list[tuple[str, Any, str, float]]:
        cells = []
        for what, flat in (("lowest", int(self.values.argmin())), ("highest", int(self.values.argmax()))):
            i, j = divmod(flat, self.shape[1])
            cells.append((what, self.row_names[i], self.column_names[j], float(self.values[i, j])))
        return cells

    def __repr__(self) -> str:
        n, m = self.shape
        method = self.info.get("method", "unknown method")
        lines = [f"Valuation of {n} rows x {m} columns, method {method}, {self.describe()}"]
        lines.append(f"  total    {self.total:+.5g}")
        for what, row, column, value in self._extremes():
            lines.append(f"  {what:<8} {value:+.3g} at row {row}, column {column!r}")
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
            f"<td>&plusmn; {1.96 * self.column_stderr[j]:.2g}</td></tr>"
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


def _count(k: int) -> int:
    if k < 0:
        raise InputError(f"k={k} must not be negative")
    return k


def _parse_numbers(texts: list[str | None]) -> NDArray[np.float64] | None:
    numbers = np.full(len(texts), np.nan)
    for i, text in enumerate(texts):
        if text is None:
            continue
        try:
            numbers[i] = text == "true" if text in ("true", "false") else float(text)
        except ValueError:
            try:
                numbers[i] = np.datetime64(text, "ms").astype(np.int64) / 86_400_000
            except ValueError:
                return None
    return numbers


def _examples(names: Sequence[Any]) -> str:
    shown = ", ".join(repr(name) for name in names[:5])
    return shown + (", ..." if len(names) > 5 else "")
