"""The figure, the tables and the headline of the experiment with more and more outliers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d_paper.budget.work import FIRST
from shapley2d_paper.harness.figures import line_with_band, new_figure
from shapley2d_paper.outliers.tables import ALL_ROWS, BENIGN_ROWS, TABLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shapley2d_paper.harness.records import Records


RATES = (1, 2, 5, 10, 15)
"""Per cent of the cells that are corrupted."""

KINDS = ("unlikely", "low-density")
"""The kinds of outliers."""

_SHADES = ("#9ecae1", "#6baed6", "#3182bd", "#08519c", "#06214d")


def draw(records: Records) -> Figure:
    """Curves for every rate, by kind of outlier, and what the first 200 cells hold at most."""
    kinds = records.distinct("kind")
    figure, axes = new_figure(1, len(kinds) + 1, 4.0 * (len(kinds) + 1), 3.9)
    for panel, kind in zip(axes[0], kinds, strict=False):
        panel.set_title(f"{TABLES[kind]}, all rows", fontsize=9, loc="left")
        for rate, shade in zip(RATES, _SHADES, strict=True):
            part = records.where(what="curve", kind=kind, rate=rate)
            line_with_band(panel, part, "inspected", "found", f"{rate} %", color=shade)
        panel.axvline(FIRST, color="black", linestyle="--", linewidth=0.9)
        panel.annotate(
            "the paper:\n'very high'\nat 200 cells", (FIRST, 0.02), (230, 0.02), fontsize=7
        )
        panel.set(
            xlabel="cells inspected",
            ylabel="share of the injected errors found",
            ylim=(-0.02, 1.02),
        )
        panel.legend(title="cells corrupted", fontsize=8, title_fontsize=8, loc="lower right")
    panel = axes[0, -1]
    panel.set_title("found in the first 200 cells", fontsize=9, loc="left")
    scores = records.where(what="score")
    styles = {ALL_ROWS: "o", BENIGN_ROWS: "s"}
    for (kind, rows), part in scores.groups("kind", "rows"):
        colour = _SHADES[2] if kind == KINDS[0] else "#e07b00"
        style = {"color": colour, "marker": styles[rows], "markersize": 4}
        style["linestyle"] = "-" if rows == ALL_ROWS else ":"
        line_with_band(panel, part, "rate", "found_first", f"{TABLES[kind]}, {rows}", **style)
    most = scores.where(rows=ALL_ROWS)
    ceiling = sorted((key[0], one.mean("at_most")) for key, one in most.groups("rate"))
    panel.plot(
        *zip(*ceiling, strict=True),
        color="black",
        linestyle="--",
        label="most that 200 cells can hold, all rows",
    )
    panel.set(
        xlabel="cells corrupted (%)",
        ylabel="share of the injected errors found",
        ylim=(-0.02, 1.02),
    )
    panel.legend(fontsize=6.5, loc="lower left")
    return figure


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """What the first 200 cells hold, by rate."""
    made = []
    for (kind,), part in records.where(what="score").groups("kind"):
        rows = []
        for (rate,), one in part.where(rows=ALL_ROWS).groups("rate"):
            benign = part.where(rows=BENIGN_ROWS, rate=rate)
            rows.append(
                {
                    "cells corrupted": f"{rate} % ({one.mean('injected'):.0f})",
                    "found in the first 200": f"{one.mean('found_first'):.0%}",
                    "standard deviation": f"{one.spread('found_first'):.0%}"
                    if len(one) > 1
                    else "",
                    "200 cells can hold at most": f"{one.mean('at_most'):.0%}",
                    "AUROC": f"{one.mean('auroc'):.3f}",
                    "benign rows: found in the first 200": f"{benign.mean('found_first'):.0%}",
                    "benign rows: AUROC": f"{benign.mean('auroc'):.3f}",
                }
            )
        seeds = len(part.distinct("seed"))
        many = f", mean of {seeds} seeds" if seeds > 1 else ""
        made.append((f"2D-KNN, {TABLES[kind]}{many}", rows))
    return made


def headline(records: Records) -> str:
    """What is found in the first 200 cells at the lowest and the highest rate."""
    scores = records.where(what="score", rows=ALL_ROWS)
    parts = [
        f"{TABLES[kind]}: "
        + ", ".join(
            f"{one.mean('found_first'):.0%} at {rate} %" for (rate,), one in part.groups("rate")
        )
        for (kind,), part in scores.groups("kind")
    ]
    return f"Injected errors that 2D-KNN finds in the first {FIRST} cells; {'; '.join(parts)} of the cells corrupted."
