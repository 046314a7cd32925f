"""The figure, the tables and the main result on injected outliers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d_paper.harness.figures import COLOURS, line_with_band, new_figure
from shapley2d_paper.harness.records import Records
from shapley2d_paper.outliers.tables import ALL_ROWS, BENIGN_ROWS, TABLES
from shapley2d_paper.outliers.work import RAW, SHARES, WITHIN, found_column

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_TIES = (
    "Cells of equal value come in random order: 'cells to find all' counts to the end of the last "
    "group of such cells that holds an outlier"
)


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """Scores of every method on every table, and the ranges of the values."""
    made = []
    scores = records.where(what="score")
    for table, title in TABLES.items():
        part = scores.where(table=table, rows=ALL_ROWS)
        shown = []
        for (method,), one in part.groups("method"):
            benign = scores.where(table=table, rows=BENIGN_ROWS, method=method)
            shown.append(
                {
                    "method": str(method),
                    "AUROC": _mean(one, "auroc", "{:.3f}"),
                    "average precision": _mean(one, "average_precision", "{:.3f}"),
                    "found in the first 5 %": _mean(one, found_column(WITHIN), "{:.0%}"),
                    "cells to find 90 %": _mean(one, "first_90", "{:.0%}"),
                    "cells to find all": _mean(one, "first_all", "{:.0%}"),
                    "benign rows: AUROC": _mean(benign, "auroc", "{:.3f}"),
                    "benign rows: found in the first 5 %": _mean(
                        benign, found_column(WITHIN), "{:.0%}"
                    ),
                }
            )
        if shown:
            shown.sort(key=lambda row: row["AUROC"], reverse=True)
            seeds = len(part.distinct("seed"))
            many = f", mean of {seeds} seeds (standard deviation)" if seeds > 1 else ""
            made.append((f"{title[0].upper()}{title[1:]}{many}. {_TIES}", shown))
    ranges = [
        {
            "table": TABLES[table],
            "values": method,
            "rows": rows,
            "lowest value": _change(one, "lowest", "{:.5f}"),
            "highest value": _change(one, "highest", "{:.5f}"),
            "lower than an outlier": _change(one, "place", "{:.0%}"),
        }
        for (table, method, rows), one in records.where(what="range").groups(
            "table", "method", "rows"
        )
    ]
    caption = (
        "Range of the values before and after the injection, and where the outliers lie in it: "
        "the share of cells with lower values, on average over the outliers"
    )
    rare = [
        {
            "table": TABLES[table],
            "rare among all rows": f"{part.mean('rare_of_all'):.0%}",
            "rare among the rows of the class": f"{part.mean('rare_of_class'):.0%}",
        }
        for (table,), part in records.where(what="rarity").groups("table")
    ]
    of = "Injected values that fewer than 5 % of the rows of the clean table have"
    return [*made, *((text, rows) for text, rows in ((caption, ranges), (of, rare)) if rows)]


def _mean(part: Records, name: str, form: str) -> str:
    if not len(part):
        return ""
    text = form.format(part.mean(name))
    return f"{text} ({form.format(part.spread(name))})" if len(part) > 1 else text


def _change(part: Records, name: str, form: str) -> str:
    return " to ".join(form.format(part.mean(f"{name}_{when}")) for when in ("before", "after"))


def headline(records: Records) -> str:
    """The share that 2D-KNN and 1D find in 5 % of the cells, and 2D-OOB on the authors' table."""
    scores = records.where(what="score", rows=ALL_ROWS)
    parts = []
    for table, title in TABLES.items():
        found = [
            f"{method} {one.mean(found_column(WITHIN)):.0%}"
            for method in (RAW, "1D", "2D-OOB distance", "z-score")
            if len(one := scores.where(table=table, method=method))
        ]
        if found:
            parts.append(f"{title}: {', '.join(found)}")
    text = f"Outliers found in the first {WITHIN:.0%} of the cells: {'; '.join(parts)}."
    plain, distance = (
        scores.where(table="authors", method=method) for method in ("2D-OOB", "2D-OOB distance")
    )
    if len(plain) and len(distance):
        text += (
            f" AUROC of 2D-OOB over all cells of the authors' table: {plain.mean('auroc'):.3f}, "
            f"with its distance term {distance.mean('auroc'):.3f}."
        )
    return text


_MORE = {RAW: "#5aa0d8", "published": "#000000"}

_HEATMAPS = (
    (RAW, "clean", "2D-KNN raw: benign rows of the authors' table, before the injection"),
    (RAW, "value", "2D-KNN raw, after it"),
    ("1D", "value", "1D, after it"),
)


def draw(records: Records) -> Figure:
    """Curves of every table, for all rows and benign rows; heatmaps of the authors' table."""
    with_maps = len(records.where(what="value")) > 0
    figure, axes = new_figure(5 if with_maps else 2, 3, 11.0, 12.0 if with_maps else 6.6)
    for j, (table, title) in enumerate(TABLES.items()):
        for i, rows in enumerate((ALL_ROWS, BENIGN_ROWS)):
            scores = records.where(what="score", table=table, rows=rows)
            _draw_curves(axes[i, j], scores, f"{title}, {rows}")
    axes[0, 0].set_ylabel("outliers found (%)")
    axes[1, 0].set_ylabel("outliers found (%)")
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
    panel.plot(
        [5], [90], "*", color="black", markersize=9, label="the paper: 90 % in 5 %", zorder=5
    )
    panel.set_xscale("log")
    ticks = (0.5, 1, 2, 5, 10, 20, 50, 100)
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    panel.set_xticks([], minor=True)
    panel.set(xlim=(0.5, 100), ylim=(-2, 102), xlabel="cells inspected (%)")


def _draw_map(
    figure: Figure, panel: Axes, records: Records, method: str, column: str, title: str
) -> None:
    """A heatmap with columns of the table down and rows across, outliers in a green frame."""
    from matplotlib.patches import Rectangle

    panel.set_title(title, fontsize=9, loc="left")
    panel.grid(visible=False)
    cells = records.where(what="value", method=method)
    if not len(cells):
        panel.set_axis_off()
        return
    names, rows = cells.distinct("column"), cells.distinct("row")
    values = cells.numbers(column).reshape(len(rows), len(names)).T
    # one extreme cell must not make all the others pale
    limit = float(np.quantile(np.abs(values), 0.995)) or 1.0
    image = panel.imshow(
        1000 * values, cmap="RdBu", vmin=-1000 * limit, vmax=1000 * limit, aspect="auto"
    )
    for k, row in enumerate(cells):
        if row["mark"]:
            i, j = divmod(k, len(names))
            panel.add_patch(
                Rectangle((i - 0.5, j - 0.5), 1, 1, fill=False, edgecolor="#12b312", linewidth=1.6)
            )
    panel.set_yticks(range(len(names)), [name.replace("_", " ") for name in names], fontsize=7)
    panel.set_xlabel("benign rows; outliers have a green frame", fontsize=8)
    figure.colorbar(image, ax=panel, pad=0.01, fraction=0.03, label="value (x 0.001)")
