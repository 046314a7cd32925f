"""Plots of a valuation with matplotlib, its ``plot_...`` methods: Axes to draw on in, Axes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_choice, check_whole
from shapley2d._base.palette import DIVERGING, LIGHT
from shapley2d._base.words import shorten
from shapley2d._valuation.explain import find_row
from shapley2d._valuation.wording.units import Units
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from shapley2d._valuation.values import CellValues
    from shapley2d._valuation.wording.units import Unit


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
    ax = make_axes(ax, (7.0, 6.0))
    from matplotlib.colors import LinearSegmentedColormap

    colours = LinearSegmentedColormap.from_list("shapley2d", [LIGHT[name] for name in DIVERGING])
    row_order, column_order = _order(valuation, rows, columns)
    units = Units.of(valuation)
    ordered = units.cells.factor * valuation.values[np.ix_(row_order, column_order)]
    shown = largest_in_magnitude(largest_in_magnitude(ordered, max_rows, 0), max_columns, 1)
    limit = units.cells.factor * (colour_limit(valuation.values) if limit is None else limit)
    n, m = valuation.shape
    image = ax.imshow(
        shown, cmap=colours, vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest",
        extent=(-0.5, m - 0.5, n - 0.5, -0.5),
    )  # fmt: skip
    _name_ticks(ax.yaxis, valuation._shown_rows[row_order].tolist(), most=24)
    _name_ticks(ax.xaxis, [valuation.column_names[j] for j in column_order], rotation=90)
    ax.set_ylabel(
        {"original": "rows", "value": "rows, most harmful first", "label": "rows, by label"}[rows]
    )
    of_columns = units.points.factor * valuation.column_values[column_order]
    of_rows = units.rows.factor * valuation.row_values[row_order]
    _margin_bars(ax, of_columns, max_columns, (0, 1.02, 1, 0.15), across=True)
    _margin_bars(ax, of_rows, max_rows, (1.02, 0, 0.15, 1), across=False)
    below, above = bool(shown.min() < -limit), bool(shown.max() > limit)
    extend = "both" if below and above else "min" if below else "max" if above else "neither"
    bar = ax.figure.colorbar(image, cax=ax.inset_axes((1.2, 0, 0.03, 1)), extend=extend)
    bar.set_label(axis_words("value of a cell", units.cells))
    return ax


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
    i, points = find_row(valuation, row, line), Units.of(valuation).rows
    values = points.factor * valuation.values[i]
    order = np.argsort(-np.abs(values), kind="stable")
    if order.size > max_columns:
        order = order[: max(1, max_columns - 1)]
    steps = values[order].tolist()
    errors = (points.factor * valuation.stderr[i, order]).tolist()
    labels = [_cell_label(valuation, i, j) for j in order.tolist()]
    if order.size < values.size:
        steps.append(float(values.sum() - values[order].sum()))
        errors.append(0.0)  # unknown: the errors of a row's cells are correlated
        labels.append(f"{values.size - order.size} other columns")
    ax = make_axes(ax, (7.0, 0.34 * len(steps) + 1.6))
    ends = np.cumsum(steps)
    total = float(values.sum())
    positions = np.arange(len(steps) + 1)
    starts = np.append(ends - steps, 0.0)
    widths = np.append(steps, total)
    ax.barh(positions, widths, left=starts, height=0.7, color=signed(widths))
    of_row = points.factor * valuation.row_stderr[i]
    spread = valuation._interval_factor * np.append(errors, of_row)
    error_bars(ax, starts + widths, spread)
    ax.vlines(ends, positions[:-1] + 0.35, positions[1:] - 0.35, color=LIGHT["muted"], lw=0.8)
    ax.axvline(0, color=LIGHT["ink"], lw=0.8)
    ax.set_yticks(positions, [*labels, "the row's value"])
    ax.set_ylim(positions.size - 0.4, -0.6)
    words = axis_words("value", points)
    ax.set_xlabel(words if valuation.exact else f"{words}, with 95 % intervals")
    label = "" if valuation._labels is None else f", labelled {plain(valuation._labels[i])}"
    ax.set_title(f"{valuation._row_word.capitalize()} {plain(valuation._shown_rows[i])}{label}")
    return ax


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
    ax = make_axes(ax, (7.0, 0.4 * columns.size + 1.6))
    points = Units.of(valuation).cells
    x = points.factor * valuation.values[:, columns].T.ravel()
    y = np.concatenate([k + _swarm(valuation.values[:, j]) for k, j in enumerate(columns)])
    ranks = np.concatenate([_ranks(valuation, int(j)) for j in columns])
    known = np.isfinite(ranks)
    style: dict[str, Any] = {"s": 9, "linewidths": 0, "rasterized": x.size > 5000}
    if not known.all():
        ax.scatter(x[~known], y[~known], color=LIGHT["muted"], **style)
    if known.any():
        dots = ax.scatter(
            x[known], y[known], c=ranks[known], cmap="viridis", vmin=0, vmax=1, **style
        )
        bar = ax.figure.colorbar(dots, ax=ax, ticks=[0, 1], aspect=40, pad=0.02)
        bar.ax.set_yticklabels(["low", "high"])
        bar.set_label("entry, by rank in its column")
    ax.axvline(0, color=LIGHT["ink"], lw=0.8, zorder=0)
    ax.set_yticks(range(columns.size), [plain(valuation.column_names[j]) for j in columns])
    ax.set_ylim(columns.size - 0.4, -0.6)
    ax.set_xlabel(axis_words("value of a cell", points))
    return ax


def largest_in_magnitude(values: NDArray[np.float64], n: int, axis: int = 0) -> NDArray[np.float64]:
    """Shorten an axis to ``n`` lines, each showing its neighbour of largest magnitude."""
    length = values.shape[axis]
    if length <= n:
        return values
    starts = np.arange(n) * length // n
    high = np.maximum.reduceat(values, starts, axis=axis)
    low = np.minimum.reduceat(values, starts, axis=axis)
    return np.where(high >= -low, high, low)


def colour_limit(values: NDArray[np.float64]) -> float:
    """End of a colour scale that a few extreme cells do not stretch.

    The 99.5 % quantile of the magnitudes above 0: a larger one lets single errors fade the rest.
    """
    magnitudes = np.abs(values[values != 0])
    return float(np.quantile(magnitudes, 0.995)) if magnitudes.size else 1.0


def tolerance_of(valuation: CellValues) -> float | None:
    """The tolerance of the run, where its record has one."""
    settings = valuation.info.get("settings") or {}
    tolerance = valuation.info.get("tolerance", settings.get("tolerance"))
    return float(tolerance) if isinstance(tolerance, (int, float)) and tolerance > 0 else None


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


def _order(valuation: CellValues, rows: str, columns: str) -> tuple[NDArray[np.intp], ...]:
    """Rows and columns in the order in which they are drawn."""
    check_choice(rows, "rows", ("original", "value", "label"))
    check_choice(columns, "columns", ("original", "value"))
    if rows == "label" and valuation._labels is None:
        raise InputError(
            Setting("rows", "label"), " needs the target, which this valuation does not hold"
        )
    row_order, column_order = (np.arange(size) for size in valuation.shape)
    if rows == "value":
        row_order = np.argsort(valuation.row_values, kind="stable")
    if rows == "label":
        row_order = np.lexsort((valuation.row_values, np.array(valuation._labels, dtype=np.str_)))
    if columns == "value":
        column_order = np.argsort(-valuation.column_values, kind="stable")
    return row_order, column_order


def _margin_bars(
    ax: Axes,
    sums: NDArray[np.float64],
    most: int,
    bounds: tuple[float, float, float, float],
    *,
    across: bool,
) -> None:
    """Bars of the sums along one side of a heatmap, in step with its lines."""
    shown = largest_in_magnitude(sums, most)
    width = sums.size / shown.size
    centres = (np.arange(shown.size) + 0.5) * width - 0.5
    bars = ax.inset_axes(bounds)
    if across:
        bars.bar(centres, shown, width=width, color=signed(shown))
        bars.set(xlim=(-0.5, sums.size - 0.5), xticks=[], ylabel="sum")
    else:
        bars.barh(centres, shown, height=width, color=signed(shown))
        bars.set(ylim=(sums.size - 0.5, -0.5), yticks=[], xlabel="sum")
        bars.tick_params(axis="x", labelrotation=90)
    bars.locator_params(axis="y" if across else "x", nbins=3)
    bars.spines[["top", "right"]].set_visible(False)


def axis_words(what: str, unit: Unit) -> str:
    """What an axis shows and in which unit: points of the score, of many such cells if small."""
    of_score = " of the score" * (unit.words == "points")
    return f"{what}, {unit.words}{of_score}" if unit.words else what


def error_bars(ax: Axes, ends: NDArray[np.float64], spread: NDArray[np.float64]) -> bool:
    """Intervals at the ends of bars; whether there are any."""
    shown = (spread > 0) & np.isfinite(spread)  # a single draw has no known error
    if shown.any():
        ax.errorbar(
            ends[shown], np.flatnonzero(shown), xerr=spread[shown],
            fmt="none", ecolor=LIGHT["ink"], capsize=2, lw=1,
        )  # fmt: skip
    return bool(shown.any())


def _name_ticks(axis: Any, names: Sequence[Any], most: int = 40, rotation: float = 0) -> None:
    step = -(-len(names) // most)
    positions = range(0, len(names), step)
    axis.set_ticks(positions, [plain(names[k]) for k in positions], rotation=rotation)


def signed(values: Sequence[float] | NDArray[np.float64]) -> list[str]:
    """Blue for worth, red for harm."""
    return [LIGHT["bar-good" if value >= 0 else "bar-harm"] for value in values]


def _cell_label(valuation: CellValues, i: int, j: int) -> str:
    name, content = plain(valuation.column_names[j]), valuation._entry(i, j)
    if valuation._table is None:
        return name
    return f"{name} = {'(missing)' if content is None else plain(content)}"


def _ranks(valuation: CellValues, j: int) -> NDArray[np.float64]:
    """Ranks of a column's entries between 0 and 1; NaN where they are missing or not numbers."""
    from scipy.stats import rankdata

    ranks = np.full(valuation.shape[0], np.nan)
    column = None if valuation._table is None else valuation._table.columns[j]
    if column is None or column.kind == "category":
        return ranks
    numbers = column.entries
    known = np.isfinite(numbers)
    ranks[known] = (rankdata(numbers[known]) - 1) / max(1, np.count_nonzero(known) - 1)
    return ranks


def _swarm(values: NDArray[np.float64], bins: int = 80) -> NDArray[np.float64]:
    """Offsets that put dots of nearly the same value side by side, within 0.4 of the middle."""
    span = np.ptp(values)
    slots = np.floor((values - values.min()) / (span or 1.0) * (bins - 1)).astype(np.intp)
    order = np.argsort(slots, kind="stable")
    counts = np.bincount(slots, minlength=bins)
    place = np.empty(values.size)
    place[order] = np.arange(values.size) - np.repeat(np.cumsum(counts) - counts, counts)
    side = np.where(place % 2 == 0, 1, -1) * np.ceil(place / 2)  # 0, -1, 1, -2, 2, ...
    return np.asarray(side * min(0.08, 0.8 / max(1, counts.max())))
