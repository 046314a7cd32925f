"""The figure, the tables and the headline of the experiment on mistyped ages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d_paper.harness.figures import COLOURS, line_with_band, new_figure
from shapley2d_paper.typos.work import AGES, CELLS, EVERY, GOAL, RAW, RAW_Z

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shapley2d_paper.harness.records import Records


_MORE = {RAW: "#5aa0d8", RAW_Z: "#e58ab5"}


def sizes_of(records: Records) -> list[int]:
    """The numbers of rows of the tables, the samples' first."""
    return sorted(records.distinct("table_rows"))


def draw(records: Records) -> Figure:
    """Curves over all cells and over ages only, for the samples; over both for the large table."""
    figure, axes = new_figure(1, 3, 11.5, 4.2)
    curves = records.where(what="curve")
    small, *large = sizes_of(records)
    for panel, scope in zip(axes[0], (EVERY, AGES), strict=False):
        part = curves.where(scope=scope, table_rows=small)
        for (method,), one in part.groups("method"):
            style: dict[str, Any] = {"color": {**COLOURS, **_MORE}[method], "linewidth": 1.4}
            line_with_band(panel, one, "inspected", "found", method, **style)
        _finish(panel, f"samples of {small:,} rows, {scope}", part, star=scope == EVERY)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), fontsize=8)
    axes[0, 0].set_ylabel("share of the typos found")
    panel = axes[0, 2]
    for size in large[:1]:
        part = curves.where(table_rows=size)
        for scope, dashes in ((EVERY, "-"), (AGES, ":")):
            line_with_band(
                panel,
                part.where(scope=scope),
                "inspected",
                "found",
                f"2D-KNN, {scope}",
                color=COLOURS["2D-KNN"],
                linestyle=dashes,
            )
        at = np.sort(part.where(scope=EVERY).numbers("inspected"))
        panel.plot(at, at / at.max(), color=COLOURS["random"], label="chance, all cells")
        panel.legend(fontsize=7, loc="upper left")
        _finish(panel, f"one table of {size:,} rows", part, star=True)
    return figure


def _finish(panel: Axes, title: str, part: Records, *, star: bool) -> None:
    panel.set_title(title, fontsize=9, loc="left")
    if star:
        panel.plot([CELLS], [GOAL], "k*", markersize=10, label="the paper: 80 % in 1,800", zorder=5)
    panel.set_xscale("log")
    panel.set(
        xlabel="cells inspected",
        ylim=(-0.02, 1.02),
        xlim=(10, max(part.numbers("inspected").max(), 11)),
    )


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """What each method needs, by size of the table."""
    made = []
    for size in sizes_of(records):
        part = records.where(what="score", table_rows=size)
        rows = []
        for (method,), one in part.where(scope=EVERY).groups("method"):
            ages = part.where(scope=AGES, method=method)
            rows.append(
                {
                    "method": str(method),
                    "cells to find 80 %": _number(one, "first_80"),
                    "found in 1,800 cells": f"{one.mean('found_1800'):.0%}",
                    "AUROC": f"{one.mean('auroc'):.3f}",
                    "ages only: cells to find 80 %": _number(ages, "first_80"),
                    "ages only: AUROC": f"{ages.mean('auroc'):.3f}",
                }
            )
        rows.sort(key=lambda row: row["AUROC"], reverse=True)
        cells, typos = part.where(scope=EVERY).mean("cells"), part.mean("typos")
        seeds = len(part.distinct("seed"))
        many = f", mean of {seeds} seeds (standard deviation)" if seeds > 1 else ""
        made.append((f"{size:,} rows, {cells:,.0f} cells, {typos:.0f} typos{many}", rows))
    return made


def _number(part: Records, name: str) -> str:
    text = f"{part.mean(name):,.0f}"
    return f"{text} ({part.spread(name):,.0f})" if len(part) > 1 else text


def headline(records: Records) -> str:
    """Cells that the methods need to find most typos."""
    parts = []
    for size in sizes_of(records):
        scores = records.where(what="score", table_rows=size, scope=EVERY)
        needs = [
            f"{method} {one.mean('first_80'):,.0f}"
            for method in ("2D-KNN", RAW, "1D", "2D-OOB distance", "z-score", RAW_Z, "random")
            if len(one := scores.where(method=method))
        ]
        parts.append(f"of {scores.mean('cells'):,.0f} cells ({size:,} rows): {', '.join(needs)}")
    return f"Cells to inspect until {GOAL:.0%} of the typos are found, {'; '.join(parts)}."
