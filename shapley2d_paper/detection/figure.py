"""The detection benchmark in one figure: which method finds what, where, at what cost, and what a repair brings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d_paper.data.splits import TITLES
from shapley2d_paper.detection.means import (
    CELL_VALUES,
    DEVIATION,
    KIND_TITLES,
    SIGN,
    complete,
    corrupted_tables,
    gain,
    kinds_of,
    marked,
    methods_of,
    typical_seconds,
)
from shapley2d_paper.harness.figures import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shapley2d_paper.harness.records import Records

_SHORTEST = 1e-4  # seconds: a clock may say 0, and the axis is logarithmic


def draw(records: Records) -> Figure:
    """Four panels: AUROC by kind and by dataset, precision against time, and what a repair gains."""
    figure, axes = new_figure(2, 2, 11.0, 9.0)
    methods, datasets = methods_of(records), records.distinct("dataset")
    _heatmap(
        axes[0, 0],
        methods,
        {KIND_TITLES[kind]: records.where(kind=kind) for kind in kinds_of(records)},
        "AUROC by kind of error, mean over datasets and seeds",
    )
    _heatmap(
        axes[0, 1],
        methods,
        {TITLES[name]: records.where(dataset=name) for name in datasets},
        "AUROC by dataset, mean over kinds and seeds",
    )
    _cost(axes[1, 0], records, methods)
    _repairs(axes[1, 1], records, methods)
    if len(complete(records)) < len(methods):
        figure.supxlabel(
            f"{SIGN} not run on every table: its mean is over the others", fontsize="small"
        )
    return figure


def _heatmap(axes: Axes, methods: list[str], columns: dict[str, Records], title: str) -> None:
    heights = np.array(
        [
            [part.where(method=method).mean("auroc") for part in columns.values()]
            for method in methods
        ]
    )
    axes.imshow(heights, cmap="RdBu", vmin=0.0, vmax=1.0, aspect="auto")  # white is chance
    for j, part in enumerate(columns.values()):
        compared = [method in complete(part) for method in methods]
        most = max(heights[compared, j], default=np.nan)
        for i, (height, whole) in enumerate(zip(heights[:, j], compared, strict=True)):
            if np.isnan(height):
                continue
            best = whole and f"{height:.2f}" == f"{most:.2f}"
            colour, weight = (
                "white" if abs(height - 0.5) > 0.29 else "black",
                "bold" if best else "normal",
            )
            text = f"{height:.2f}" if whole else f"{height:.2f}{SIGN}"
            axes.text(j, i, text, ha="center", va="center", color=colour, weight=weight)
    axes.set_xticks(range(len(columns)), [name.replace(" ", "\n", 1) for name in columns])
    axes.set_yticks(range(len(methods)), methods)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.set_title(f"{title}\nbest of a column in bold; 0.5 is chance", loc="left")


def _cost(axes: Axes, records: Records, methods: list[str]) -> None:
    for method in methods:
        part = records.where(method=method)
        marker = "s" if method in DEVIATION else "o" if method in CELL_VALUES else "x"
        at = max(typical_seconds(part), _SHORTEST)
        height = part.mean("average_precision")
        axes.plot(
            at,
            height,
            marker,
            color=COLOURS[method],
            markersize=8,
            linestyle="",
            label=marked(records, method),
        )
    axes.set_xscale("log")
    axes.set_xlabel("CPU seconds for one table, one core")
    axes.set_ylabel("average precision, mean over everything")
    axes.set_title("Precision against time (squares: deviation detectors)", loc="left")
    axes.legend(loc="upper center", bbox_to_anchor=(0.45, -0.14), ncols=4)


def _repairs(axes: Axes, records: Records, methods: list[str]) -> None:
    from matplotlib.lines import Line2D

    labels = {
        "once": "as many cells inspected as are corrupted (2 %; labels 10 %)",
        "more": "2.5 times as many (5 %; labels 25 %)",
    }
    for place, method in enumerate(methods):
        part = records.where(method=method)
        gains = [gain(part, to) for to in labels]
        axes.plot(gains, [place, place], color=COLOURS[method], linewidth=1.5)
        for at, fill in zip(gains, ("white", COLOURS[method]), strict=True):
            axes.plot(at, place, "o", color=COLOURS[method], markerfacecolor=fill, markersize=7)
    axes.axvline(0.0, color="grey", linewidth=0.8)
    axes.axvline(gain(corrupted_tables(records), "ceiling"), color="black", linestyle="--")
    axes.set_yticks(range(len(methods)), [marked(records, method) for method in methods])
    axes.invert_yaxis()
    axes.set_xlabel("points of test accuracy gained, mean over everything")
    axes.set_title("Repairing what was found (tree and KNN)", loc="left")
    dots = [
        Line2D([], [], color="black", marker="o", linestyle="", markerfacecolor=fill, label=label)
        for fill, label in zip(("white", "black"), labels.values(), strict=True)
    ]
    dots.append(Line2D([], [], color="black", linestyle="--", label="every error repaired"))
    axes.legend(handles=dots, loc="upper center", bbox_to_anchor=(0.4, -0.14))
