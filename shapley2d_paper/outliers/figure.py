"""Detection curves of the injected outliers, and heatmaps of the benign rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d_paper.harness.figures import COLOURS, line_with_band, new_figure
from shapley2d_paper.harness.records import Records
from shapley2d_paper.outliers.scoring import SHARES, found_column
from shapley2d_paper.outliers.tables import ALL_ROWS, BENIGN_ROWS, TABLES
from shapley2d_paper.outliers.work import RAW

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_MORE = {RAW: "#5aa0d8", "published": "#000000"}

_HEATMAPS = (
    (RAW, "clean", "2D-KNN raw: benign rows of the authors' table, before the injection"),
    (RAW, "value", "2D-KNN raw, after it"),
    ("1D", "value", "1D, after it"),
)


def draw(records: Records) -> Figure:
    """Curves of every table, for all rows and benign rows; heatmaps of the authors' table where it is there."""
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
