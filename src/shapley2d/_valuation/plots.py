"""Plots of a valuation with matplotlib, its ``plot_...`` methods: Axes to draw on in, Axes out."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_choice, check_whole
from shapley2d._base.palette import DIVERGING, LIGHT
from shapley2d._base.words import shorten, shown
from shapley2d._valuation.report.payload import as_marked, colour_limit
from shapley2d._valuation.views import find_row
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from shapley2d._base.arrays import Floats
    from shapley2d._tables.table import Column
    from shapley2d._valuation.units import Unit
    from shapley2d._valuation.values import CellValues, Part


_ROW_ORDERS = {
    "original": "rows",
    "value": "rows, most harmful first",
    "label": "rows, by label",
}


def heatmap(
    valuation: CellValues,
    ax: Axes | None = None,
    *,
    rows: str = "original",
    columns: str = "original",
    max_rows: int = 256,
    max_columns: int = 400,
    limit: float | None = None,
) -> Axes:
    """All values as colours, blue for valuable, red for harmful; row and column sums as bars.

    Parameters
    ----------
    ax : Axes, optional
        Where to draw; a new figure by default.
    rows : {"original", "value", "label"}
        Order of the rows: as given, most harmful first, or by the target and then by value.
    columns : {"original", "value"}
        Order of the columns: as given, or most valuable first.
    max_rows, max_columns : int
        With more rows or columns than this, neighbours share a line. It shows the one that is
        largest in magnitude, so that a lone bad cell is never averaged away.
    limit : float, optional
        Value at the ends of the colour scale, in the units of ``values``; by default the 99.5 %
        quantile of the magnitudes. Axes are in points of the score, of 1,000 such cells or rows
        where these are many.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> ax = value_game(lambda S, F: S.sum() * F.sum(), 3, 2).plot_heatmap()
    >>> ax.images[0].get_array().shape
    (3, 2)
    """
    check_whole(max_rows, "max_rows", 1)
    check_whole(max_columns, "max_columns", 1)
    check_choice(rows, "rows", _ROW_ORDERS)
    check_choice(columns, "columns", ("original", "value"))
    labels = valuation._labels
    if rows == "label" and labels is None:
        raise InputError("rows='label' needs the target, which this valuation does not hold")
    ax = make_axes(ax, (7.0, 6.0))
    from matplotlib.colors import LinearSegmentedColormap

    units, (n, m) = valuation._units, valuation.shape
    of_rows, of_columns = valuation.row_values, valuation.column_values
    by: dict[str, Any] = {"original": (range(n),), "value": (of_rows,), "label": (of_rows, labels)}
    i = np.lexsort(by[rows])
    j = np.argsort(-of_columns, kind="stable") if columns == "value" else np.arange(m)
    seen = largest_in_magnitude(valuation.values[np.ix_(i, j)], max_rows)
    limit = units.cells.factor * (colour_limit(valuation.values) if limit is None else limit)
    image = ax.imshow(
        units.cells.factor * largest_in_magnitude(seen, max_columns, 1),
        LinearSegmentedColormap.from_list("shapley2d", [LIGHT[name] for name in DIVERGING]),
        vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest",
        extent=(-0.5, m - 0.5, n - 0.5, -0.5),
    )  # fmt: skip
    _name_ticks(ax.yaxis, valuation._shown_rows[i].tolist(), 24)
    _name_ticks(ax.xaxis, [valuation.column_names[k] for k in j], 40, rotation=90)
    ax.set_ylabel(_ROW_ORDERS[rows])
    _margin(ax, units.points.factor * of_columns[j], max_columns, above=True)
    _margin(ax, units.rows.factor * of_rows[i], max_rows, above=False)
    bar = ax.figure.colorbar(image, cax=ax.inset_axes((1.2, 0, 0.03, 1)), extend="both")
    bar.set_label(axis_words("value of a cell", units.cells))
    return ax


def _margin(ax: Axes, sums: Floats, most: int, *, above: bool) -> None:
    """Sums as bars without gaps beside a map; blue above 0, red below."""
    side = ax.inset_axes((0, 1.02, 1, 0.15) if above else (1.02, 0, 0.15, 1))
    shown = largest_in_magnitude(sums, most)
    edges = np.linspace(-0.5, sums.size - 0.5, shown.size + 1)
    for worth, colour in ((shown.clip(min=0), "bar-good"), (shown.clip(max=0), "bar-harm")):
        side.stairs(
            worth, edges, fill=True, color=LIGHT[colour],
            orientation="vertical" if above else "horizontal",
        )  # fmt: skip
    if above:
        side.set(xlim=ax.get_xlim(), xticks=[], ylabel="sum")
    else:
        side.set(ylim=ax.get_ylim(), yticks=[], xlabel="sum")
    side.spines[["top", "right"]].set_visible(False)
    side.tick_params(axis="x", labelrotation=90)
    side.locator_params(nbins=3)


def waterfall(
    valuation: CellValues,
    row: Any = None,
    ax: Axes | None = None,
    *,
    line: int | None = None,
    max_columns: int = 12,
) -> Axes:
    """A row's value as the sum of its cells, largest in magnitude first.

    Parameters
    ----------
    row : object
        Name of the row.
    ax : Axes, optional
    line : int, optional
        The line where it starts in the file that was read, instead of its name.
    max_columns : int
        Cells drawn one by one; the rest share a bar.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> ax = value_game(lambda S, F: S.sum() * F.sum(), 3, 2).plot_waterfall(0)
    >>> float(ax.patches[-1].get_width())
    2.0
    """
    check_whole(max_columns, "max_columns", 1)
    i, (m,) = find_row(valuation, row, line), valuation.values[0].shape
    values, errors = valuation.values[i], valuation.stderr[i]
    order = np.argsort(-np.abs(values), kind="stable")
    shown = order if m <= max_columns else order[: max(1, max_columns - 1)]
    names = [_cell_label(valuation, i, j) for j in shown.tolist()]
    steps, errors = values[shown], errors[shown]
    if shown.size < m:
        names.append(f"{m - shown.size} other columns")
        steps = np.append(steps, values[order[shown.size :]].sum())
        errors = np.append(errors, 0.0)  # unknown: the errors of a row's cells are correlated
    bars = valuation._part("rows")._replace(
        values=np.append(steps, values.sum()), stderr=np.append(errors, valuation.row_stderr[i])
    )
    starts = np.append(np.cumsum(steps) - steps, 0.0)
    ax = _bars(bars, ax, [*names, "the row's value"], "value", starts)
    label = "" if valuation._labels is None else f", labelled {plain(valuation._labels[i])}"
    ax.set_title(f"{valuation._row_word.capitalize()} {plain(valuation._shown_rows[i])}{label}")
    return ax


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
    part, values = valuation._part("columns"), valuation.column_values
    order = np.argsort(-np.abs(values), kind="stable")[:max_columns]
    order = order[np.lexsort((order, -values[order]))]
    names = [plain(valuation.column_names[j]) for j in order]
    ax = _bars(part.take(order), ax, names, "what the column adds")
    if order.size < values.size:
        ax.set_title(f"The largest {order.size:,} of {values.size:,} columns")
    return ax


def _bars(
    part: Part, ax: Axes | None, names: list[str], what: str, starts: Floats | float = 0.0
) -> Axes:
    """Bars from above to below, with intervals at their ends where there are errors."""
    ax, at = make_axes(ax, (7.0, 0.34 * len(names) + 1.4)), np.arange(len(names))
    factor = part.unit.factor
    left, widths, reach = factor * starts, factor * part.values, factor * part.half
    ax.barh(at, widths, left=left, height=0.7, color=signed(widths))
    known = (reach > 0) & np.isfinite(reach)  # a single draw has no known error
    style: dict[str, Any] = {"fmt": "none", "ecolor": LIGHT["ink"], "capsize": 2, "lw": 1}
    if known.any():
        ax.errorbar((left + widths)[known], at[known], xerr=reach[known], **style)
    _name_lines(ax, names)
    words = axis_words(what, part.unit)
    ax.set_xlabel(f"{words}, with 95 % intervals" if known.any() else words)
    return ax


def _name_lines(ax: Axes, names: list[str]) -> None:
    """Names from above to below, and a line at 0."""
    ax.axvline(0, color=LIGHT["ink"], lw=0.8, zorder=0)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)


def beeswarm(valuation: CellValues, ax: Axes | None = None, *, max_columns: int = 20) -> Axes:
    """The spread of values within every column: one dot per cell, coloured by its entry's rank.

    Parameters
    ----------
    ax : Axes, optional
    max_columns : int
        The columns whose cells are largest in magnitude are drawn.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> ax = value_game(lambda S, F: S.sum() * F.sum(), 3, 2).plot_beeswarm()
    >>> len(ax.collections[0].get_offsets())
    6
    """
    check_whole(max_columns, "max_columns", 1)
    columns = np.argsort(-np.abs(valuation.values).sum(axis=0), kind="stable")[:max_columns]
    ax, unit = make_axes(ax, (7.0, 0.4 * columns.size + 1.6)), valuation._units.cells
    from matplotlib import colormaps

    ranks = np.array([_ranks(valuation, int(j)) for j in columns])
    dots = ax.scatter(
        unit.factor * valuation.values[:, columns].T,
        [k + _swarm(valuation.values[:, j]) for k, j in enumerate(columns)],
        c=ranks, vmin=0, vmax=1, plotnonfinite=True,
        cmap=colormaps["viridis"].with_extremes(bad=LIGHT["muted"]), **_dots(ranks.size),
    )  # fmt: skip
    if np.isfinite(ranks).any():
        bar = ax.figure.colorbar(dots, ax=ax, ticks=[0, 1], aspect=40, pad=0.02)
        bar.ax.set_yticklabels(["low", "high"])
        bar.set_label("entry, by rank in its column")
    _name_lines(ax, [plain(valuation.column_names[j]) for j in columns])
    ax.set_xlabel(axis_words("value of a cell", unit))
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
    names = valuation.column_names
    if column not in names:
        known = ", ".join(map(repr, names[:8])) + (", ..." if len(names) > 8 else "")
        raise InputError(f"there is no column {shown(column)}: the columns are {known}")
    if valuation._table is None:
        raise InputError("plot_entries needs the entries of a table, which these values have not")
    j, unit = names.index(column), valuation._units.cells
    apart = as_marked(marked, valuation.shape)[:, j]
    ax, y = make_axes(ax, (7.0, 4.2)), unit.factor * valuation.values[:, j]
    of = valuation._table.columns[j]
    x, ticks = _places(of, apart) if of.kind in ("number", "date") else _sides(of, max_categories)
    ax.scatter(x[~apart], y[~apart], c=signed(y[~apart]), alpha=0.6, **_dots(x.size))
    if apart.any():
        ax.scatter(
            x[apart], y[apart], s=46, facecolors="none", edgecolors=LIGHT["ink"], label="marked"
        )
        for i in np.flatnonzero(apart)[np.argsort(y[apart], kind="stable")][:8].tolist():
            ax.annotate(
                _entry_label(valuation, i, j), (x[i], y[i]),
                xytext=(5, 5), textcoords="offset points", fontsize="small",
            )  # fmt: skip
        ax.legend(frameon=False)
    ax.axhline(0, color=LIGHT["ink"], lw=0.8, zorder=0)
    ax.set_ylabel(axis_words("value of the cell", unit))
    ax.set_xlabel(plain(column))
    if ticks:
        ax.set_xticks([*ticks], [plain(name, 16) for name in ticks.values()], rotation=30)
    return ax


def _places(column: Column, apart: Any) -> tuple[Floats, dict[float, str]]:
    """Where the entries of numbers or dates are drawn, and the ticks where these need words."""
    missing = np.isnan(column.entries)
    usual = column.entries[~apart & ~missing]
    low, high = (float(usual.min()), float(usual.max())) if usual.size else (0.0, 1.0)
    step = 0.06 * (high - low or 1.0)
    places = np.clip(column.entries, low - 2 * step, high + 2 * step)
    places[missing] = low - 4 * step + step * _jitter(missing.size)[missing]
    dated = column.kind == "date"
    ticks = {low - 4 * step: f"no {column.kind}"} if missing.any() else {}
    if dated or ticks:
        for at in np.linspace(low, high, 5).tolist():
            ticks[at] = str(np.datetime64(round(at), "D")) if dated else f"{at:,.4g}"
    return places, ticks


def _sides(column: Column, most: int) -> tuple[Floats, dict[float, str]]:
    """Where the entries of categories are drawn, the most frequent first, and their names."""
    texts = column.text()
    found = [text for text, _ in Counter(texts).most_common() if text is not None]
    place: dict[str | None, int] = {text: min(k, most) for k, text in enumerate(found)}
    names = found[:most] + [f"{len(found) - most:,} others"] * (len(found) > most)
    place[None] = len(names)
    names += ["missing"] * (None in texts)
    sides = np.array([place[text] for text in texts]) + _jitter(len(texts))
    return sides, {float(k): name for k, name in enumerate(names)}


def _jitter(size: int) -> Floats:
    return np.random.default_rng(0).uniform(-0.25, 0.25, size)


def _dots(size: int) -> dict[str, Any]:
    """How dots look; many of them are pixels in a file of vectors."""
    return {"s": 10, "linewidths": 0, "rasterized": size > 5000}


def largest_in_magnitude(values: Floats, n: int, axis: int = 0) -> Floats:
    """Shorten an axis to ``n`` lines, each showing its neighbour of largest magnitude."""
    length = values.shape[axis]
    if length <= n:
        return values
    starts = np.arange(n) * length // n
    high = np.maximum.reduceat(values, starts, axis=axis)
    low = np.minimum.reduceat(values, starts, axis=axis)
    return np.where(high >= -low, high, low)


def plain(text: Any, most: int = 28) -> str:
    """Text from a table as one short line that matplotlib does not read as a formula."""
    line = " ".join(str(text).split())
    return shorten(line, most).replace("$", r"\$")


def make_axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The Axes to draw on, those of a new figure where none are given."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise InputError("plots need matplotlib: pip install 'shapley2d[plots]'") from error
    return plt.subplots(figsize=size, layout="constrained")[1]


def axis_words(what: str, unit: Unit) -> str:
    """What an axis shows and in which unit: points of the score, of many such cells if small."""
    of_score = " of the score" * (unit.words == "points")
    return f"{what}, {unit.words}{of_score}" if unit.words else what


def _name_ticks(axis: Any, names: Sequence[Any], most: int, rotation: float = 0) -> None:
    positions = range(0, len(names), -(-len(names) // most))
    axis.set_ticks(positions, [plain(names[k]) for k in positions], rotation=rotation)


def signed(values: Floats) -> list[str]:
    """Blue for worth, red for harm."""
    return [LIGHT["bar-good" if value >= 0 else "bar-harm"] for value in values]


def _entry_label(valuation: CellValues, i: int, j: int) -> str:
    content = valuation._entry(i, j)
    return "(missing)" if content is None else plain(content)


def _cell_label(valuation: CellValues, i: int, j: int) -> str:
    name = plain(valuation.column_names[j])
    return name if valuation._table is None else f"{name} = {_entry_label(valuation, i, j)}"


def _ranks(valuation: CellValues, j: int) -> Floats:
    """Ranks of a column's entries, from 0 to 1; NaN where they are missing or not numbers."""
    column = None if valuation._table is None else valuation._table.columns[j]
    if column is None or column.kind == "category":
        return np.full(len(valuation), np.nan)
    distinct, place = np.unique(column.entries, return_inverse=True)
    last = max(1, np.isfinite(distinct).sum() - 1)
    return np.where(np.isnan(column.entries), np.nan, place / last)


def _swarm(values: Floats, bins: int = 80) -> Floats:
    """Offsets within 0.4 of the middle, the wider the more values are nearly the same."""
    counts, edges = np.histogram(values, bins)
    share = counts / max(10, counts.max())
    return np.asarray(1.6 * _jitter(values.size) * share[np.digitize(values, edges[1:-1])])
