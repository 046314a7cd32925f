"""What the page shows of the planted outliers: detection curves, heatmaps of the benign rows, and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d_paper.harness.figures import COLOURS, line_with_band, new_figure
from shapley2d_paper.harness.records import Records

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TABLES = {
    "authors": "the authors' table",
    "unlikely": "values unlikely for their class",
    "low-density": "values rare in their column",
}
"""The tables with planted cells, for a reader."""

ALL_ROWS, BENIGN_ROWS = "all rows", "benign rows"
"""Which rows' cells are ranked: those of all rows, or, as in the authors' notebook, those of benign rows only."""

RAW = "2D-KNN raw"
"""2D-KNN on squared differences of the raw numbers, as in the paper; "2D-KNN" is the package's default metric."""

WITHIN = 0.05
"""The share of the cells within which the paper finds most of the planted ones."""

SHARES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Shares of the cells after which it is noted how many planted ones have been met."""

_MORE = {RAW: "#5aa0d8", "published": "#000000"}
_HEATMAPS = (
    (RAW, "clean", "2D-KNN raw: benign rows of the authors' table, before the planting"),
    (RAW, "value", "2D-KNN raw, after it"),
    ("1D", "value", "1D, after it"),
)
_TIES = (
    "Cells of equal value come in random order: 'cells to find all' counts to the end of the last group of such cells "
    "that holds a planted one"
)


def found_column(share: float) -> str:
    """The column that holds the share of planted cells found.

    Examples
    --------
    >>> found_column(0.05), found_column(0.005)
    ('found_5', 'found_0.5')
    """
    return f"found_{100 * share:g}"


def draw(records: Records) -> Figure:
    """Curves of every table, for all rows and benign rows; heatmaps of the authors' table where it is there."""
    with_maps = len(records.where(what="value")) > 0
    figure, axes = new_figure(5 if with_maps else 2, 3, 11.0, 12.0 if with_maps else 6.6)
    for j, (table, title) in enumerate(TABLES.items()):
        for i, rows in enumerate((ALL_ROWS, BENIGN_ROWS)):
            scores = records.where(what="score", table=table, rows=rows)
            _draw_curves(axes[i, j], scores, f"{title}, {rows}")
    axes[0, 0].set_ylabel("planted cells found (%)")
    axes[1, 0].set_ylabel("planted cells found (%)")
    handles: dict[str, Any] = {}
    for panel in axes[:2].flat:
        handles.update(dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True)))
    figure.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=5, fontsize=8)
    if with_maps:
        grid = axes[0, 0].get_gridspec()
        grid.set_height_ratios([1.5, 1.5, 1, 1, 1])
        for panel in axes[2:].flat:
            panel.remove()
        for i, (method, column, title) in enumerate(_HEATMAPS):
            _draw_map(figure, figure.add_subplot(grid[2 + i, :]), records, method, column, title)
    return figure


def _draw_curves(panel: Axes, scores: Records, title: str) -> None:
    panel.set_title(title, fontsize=9, loc="left")
    points = Records(
        [
            {"method": row["method"], "share": 100 * share, "found": 100 * row[found_column(share)]}
            for row in scores
            for share in SHARES
        ]
        + [{"method": row["method"], "share": 100.0, "found": 100.0} for row in scores]
    )
    for (method,), part in points.groups("method"):
        style: dict[str, Any] = {"color": {**COLOURS, **_MORE}[method], "linewidth": 1.3}
        if method == "published":
            style["linestyle"] = "--"
        line_with_band(panel, part, "share", "found", method, **style)
    panel.plot([5], [90], "*", color="black", markersize=9, label="the paper: 90 % in 5 %", zorder=5)
    panel.set_xscale("log")
    ticks = (0.5, 1, 2, 5, 10, 20, 50, 100)
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.set_xticks([], minor=True)
    panel.set(xlim=(0.5, 100), ylim=(-2, 102), xlabel="cells inspected (%)")


def _draw_map(figure: Figure, panel: Axes, records: Records, method: str, column: str, title: str) -> None:
    """A heatmap with columns of the table down and rows across, planted cells in a green frame."""
    from matplotlib.patches import Rectangle

    panel.set_title(title, fontsize=9, loc="left")
    panel.grid(visible=False)
    lines = records.where(what="value", method=method)
    if not len(lines):
        panel.set_axis_off()
        return
    names, rows = lines.distinct("column"), lines.distinct("row")
    values = lines.numbers(column).reshape(len(rows), len(names)).T
    # one extreme cell must not make all the others pale
    limit = float(np.quantile(np.abs(values), 0.995)) or 1.0
    image = panel.imshow(1000 * values, cmap="RdBu", vmin=-1000 * limit, vmax=1000 * limit, aspect="auto")
    for k, row in enumerate(lines):
        if row["mark"]:
            i, j = divmod(k, len(names))
            panel.add_patch(
                Rectangle((i - 0.5, j - 0.5), 1, 1, fill=False, edgecolor="#12b312", linewidth=1.6)
            )
    panel.set_yticks(range(len(names)), [name.replace("_", " ") for name in names], fontsize=7)
    panel.set_xlabel("benign rows; planted cells have a green frame", fontsize=8)
    figure.colorbar(image, ax=panel, pad=0.01, fraction=0.03, label="value (x 0.001)")


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """Scores of every method on every table, and the ranges of the values."""
    made = []
    scores = records.where(what="score")
    for table, title in TABLES.items():
        part = scores.where(table=table, rows=ALL_ROWS)
        lines = []
        for (method,), one in part.groups("method"):
            benign = scores.where(table=table, rows=BENIGN_ROWS, method=method)
            lines.append(
                {
                    "method": str(method),
                    "AUROC": _mean(one, "auroc", "{:.3f}"),
                    "average precision": _mean(one, "average_precision", "{:.3f}"),
                    "found in the first 5 %": _mean(one, found_column(WITHIN), "{:.0%}"),
                    "cells to find 90 %": _mean(one, "first_90", "{:.0%}"),
                    "cells to find all": _mean(one, "first_all", "{:.0%}"),
                    "benign rows: AUROC": _mean(benign, "auroc", "{:.3f}"),
                    "benign rows: found in the first 5 %": _mean(benign, found_column(WITHIN), "{:.0%}"),
                }
            )
        if lines:
            lines.sort(key=lambda line: line["AUROC"], reverse=True)
            seeds = len(part.distinct("seed"))
            many = f", mean of {seeds} seeds (standard deviation)" if seeds > 1 else ""
            made.append((f"{title[0].upper()}{title[1:]}{many}. {_TIES}", lines))
    ranges = [
        {
            "table": TABLES[table],
            "values": method,
            "rows": rows,
            "lowest value": _change(one, "lowest", "{:.5f}"),
            "highest value": _change(one, "highest", "{:.5f}"),
            "lower than a planted cell": _change(one, "place", "{:.0%}"),
        }
        for (table, method, rows), one in records.where(what="range").groups("table", "method", "rows")
    ]
    caption = (
        "Range of the values before and after the planting, and where the planted cells lie in it: the share of cells "
        "with lower values, on average over the planted cells"
    )
    rare = [
        {
            "table": TABLES[table],
            "rare among all rows": f"{part.mean('rare_of_all'):.0%}",
            "rare among the rows of the class": f"{part.mean('rare_of_class'):.0%}",
        }
        for (table,), part in records.where(what="rarity").groups("table")
    ]
    of = "Planted values that fewer than 5 % of the rows of the clean table have"
    return [*made, *((text, lines) for text, lines in ((caption, ranges), (of, rare)) if lines)]


def _mean(part: Records, name: str, form: str) -> str:
    if not len(part):
        return ""
    text = form.format(part.mean(name))
    return f"{text} ({form.format(part.spread(name))})" if len(part) > 1 else text


def _change(part: Records, name: str, form: str) -> str:
    return " to ".join(form.format(part.mean(f"{name}_{when}")) for when in ("before", "after"))
