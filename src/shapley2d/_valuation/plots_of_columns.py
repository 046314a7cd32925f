"""Plots of what columns add, and of one column's values against its entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_whole
from shapley2d._base.palette import LIGHT
from shapley2d._valuation.plots import axis_words, error_bars, make_axes, plain, signed
from shapley2d._valuation.report.payload import as_marked
from shapley2d._valuation.wording.units import Units, points_of
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from shapley2d._tables.table import Column
    from shapley2d._valuation.values import CellValues, Sums


def column_bars(valuation: CellValues, ax: Axes | None = None, *, max_columns: int = 20) -> Axes:
    """What each column adds, as bars with 95 % intervals, the most valuable first.

    Parameters
    ----------
    ax : Axes, optional
        Where to draw; a new figure by default.
    max_columns : int
        The columns with the largest sums are drawn.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> ax = value_game(lambda S, F: S.sum() * (F[0] + 2 * F[1]), 3, 2).plot_columns()
    >>> [float(bar.get_width()) for bar in ax.patches]
    [6.0, 3.0]
    """
    check_whole(max_columns, "max_columns", 1)
    return _bars(valuation, valuation._column_sums, max_columns, ax)


def _bars(valuation: CellValues, sums: Sums, most: int, ax: Axes | None) -> Axes:
    noun, names, values, reach = sums
    points = points_of(valuation.info)
    largest = np.sort(np.argsort(-np.abs(values), kind="stable")[:most])
    order = largest[np.argsort(-values[largest], kind="stable")]
    widths, spread = points.factor * values[order], points.factor * reach[order]
    ax = make_axes(ax, (7.0, 0.34 * order.size + 1.4))
    places = np.arange(order.size)
    ax.barh(places, widths, height=0.7, color=signed(widths))
    has_errors = error_bars(ax, widths, spread)
    ax.axvline(0, color=LIGHT["ink"], lw=0.8)
    ax.set_yticks(places, [plain(names[k]) for k in order])
    ax.set_ylim(order.size - 0.4, -0.6)
    words = axis_words(f"what the {noun} adds", points)
    ax.set_xlabel(f"{words}, with 95 % intervals" if has_errors else words)
    if order.size < values.size:
        ax.set_title(f"The largest {order.size:,} of {values.size:,} {noun}s")
    return ax


def entry_dots(
    valuation: CellValues,
    column: Any,
    ax: Axes | None = None,
    *,
    marked: Any = None,
    max_categories: int = 12,
) -> Axes:
    """The value of every cell of a column against its entry, one dot per row.

    Numbers and dates are on an axis, categories side by side, most frequent first. Entries that are
    missing, or do not match the column's type, have a place of their own.

    Parameters
    ----------
    column : object
        Name of the column.
    ax : Axes, optional
        Where to draw; a new figure by default.
    marked : boolean array of shape (n, m), or list of (row, column) positions, optional
        Cells to set apart, such as ``inspection.probability > 0.5``. They do not stretch the axis:
        those beyond the others' entries are drawn at its end. The eight lowest show their text.
    max_categories : int
        The most frequent categories have a place each; the rest share one.

    Examples
    --------
    >>> from shapley2d import value_cells
    >>> X, y = {"size": [1.0, 2.0, 70.0, 8.0, 9.0, 7.0]}, list("aaabbb")
    >>> v = value_cells(X, y, X, y, method="exact", progress=False)
    >>> ax = v.plot_entries("size", marked=[(2, 0)])
    >>> [len(dots.get_offsets()) for dots in ax.collections]
    [5, 1]
    """
    check_whole(max_categories, "max_categories", 1)
    j = _find_column(valuation, column)
    if valuation._table is None:
        raise InputError("plot_entries needs the entries of a table, which these values have not")
    of, unit = valuation._table.columns[j], Units.of(valuation).cells
    apart = as_marked(marked, valuation.shape)[:, j]
    ax, y = make_axes(ax, (7.0, 4.2)), unit.factor * valuation.values[:, j]
    is_number = of.kind in ("number", "date")
    x, names = _on_axis(of, apart) if is_number else _side_by_side(of, max_categories)
    style: dict[str, Any] = {"s": 12, "linewidths": 0, "rasterized": x.size > 5000}
    colour = np.where(y >= 0, LIGHT["bar-good"], LIGHT["bar-harm"])
    if not apart.all():
        ax.scatter(x[~apart], y[~apart], c=colour[~apart], alpha=0.6, **style)
    if apart.any():
        ax.scatter(
            x[apart], y[apart], s=46, facecolors="none", edgecolors=LIGHT["ink"], label="marked"
        )
        lowest = np.flatnonzero(apart)[np.argsort(y[apart], kind="stable")][:8]
        for i in lowest.tolist():
            text = valuation._entry(i, j)
            ax.annotate(
                "(missing)" if text is None else plain(text), (x[i], y[i]),
                xytext=(5, 5), textcoords="offset points", fontsize="small",
            )  # fmt: skip
        ax.legend(frameon=False)
    ax.axhline(0, color=LIGHT["ink"], lw=0.8, zorder=0)
    ax.set_ylabel(axis_words("value of the cell", unit))
    ax.set_xlabel(plain(valuation.column_names[j]))
    if names:
        ax.set_xticks(list(names), [plain(name, 16) for name in names.values()], rotation=30)
    return ax


def _on_axis(
    column: Column, apart: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], dict[float, str]]:
    """Where the entries of numbers or dates are drawn, and the ticks where these need words."""
    missing = np.isnan(column.entries)
    usual = column.entries[~apart & ~missing]
    low, high = (float(usual.min()), float(usual.max())) if usual.size else (0.0, 1.0)
    step = 0.06 * (high - low or 1.0)
    places = np.clip(column.entries, low - 2 * step, high + 2 * step)
    places[missing] = low - 4 * step + step * _jitter(column)[missing]
    dated, ticks = column.kind == "date", np.linspace(low, high, 5).tolist()
    if not dated and not missing.any():
        return places, {}
    names = {at: str(np.datetime64(round(at), "D")) if dated else f"{at:,.4g}" for at in ticks}
    return places, {low - 4 * step: f"no {column.kind}", **names} if missing.any() else names


def _side_by_side(column: Column, most: int) -> tuple[NDArray[np.float64], dict[float, str]]:
    """Where the entries of categories are drawn, the most frequent first, and their names."""
    missing = np.isnan(column.entries)
    found, code, count = np.unique(
        column.entries[~missing], return_inverse=True, return_counts=True
    )
    order = np.argsort(-count, kind="stable")
    names = {float(k): column._entry_text(float(found[at])) for k, at in enumerate(order[:most])}
    if found.size > most:
        names[float(most)] = f"{found.size - most:,} others"
    places = np.full(missing.size, float(len(names)))
    places[~missing] = np.minimum(np.argsort(order), most)[code]
    if missing.any():
        names[float(len(names))] = "missing"
    return places + _jitter(column), names


def _jitter(column: Column) -> NDArray[np.float64]:
    return np.random.default_rng(0).uniform(-0.25, 0.25, column.entries.size)


def _find_column(valuation: CellValues, column: Any) -> int:
    names = valuation.column_names
    if column in names:
        return names.index(column)
    known = ", ".join(repr(name) for name in names[:8]) + (", ..." if len(names) > 8 else "")
    raise InputError(
        "there is no column ", Setting("column", column).shown(repr),
        f": the columns are {known}",
    )  # fmt: skip
