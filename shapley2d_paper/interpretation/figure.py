"""Two pairs of rows worth the same, and how much the cells of all pairs agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d_paper.harness.figures import COLOURS, new_figure
from shapley2d_paper.interpretation.page import WITHIN, counts_of, shown_table
from shapley2d_paper.interpretation.work import ALIKE, UNLIKE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shapley2d_paper.harness.records import Records, Row


_SECOND = "#e07b00"


def draw(records: Records) -> Figure:
    """Bars of the cells of two pairs, and the correlations of all pairs."""
    figure, axes = new_figure(1, 3, 11.0, 4.0)
    shown = records.where(table=shown_table(records))
    for panel, kind, title in (
        (axes[0, 0], "alike", "A) worth the same, for the same reasons"),
        (axes[0, 1], "unlike", "B) worth the same, for other reasons"),
    ):
        panel.set_title(title, fontsize=9, loc="left")
        if pair := shown.where(what="pair", kind=kind).rows:
            _draw_pair(panel, pair[0], shown.where(what="cell", kind=kind), names=kind == "alike")
    panel = axes[0, 2]
    panel.set_title("C) how much the cells of two rows agree", fontsize=9, loc="left")
    every, with_pairs = records.where(what="histogram"), counts_of(records).distinct("table")
    for column, histogram, label, colour in (
        (
            "near",
            every.where(lambda row: row["table"] in with_pairs),
            f"pairs of nearly the same 1D value\n(within {WITHIN:.0%} of the standard deviation)",
            "2D-KNN",
        ),
        ("all", every, "all pairs", "random"),
    ):
        points = sorted((key[0], part.mean(column)) for key, part in histogram.groups("from"))
        if points:
            starts, shares = map(np.array, zip(*points, strict=True))
            panel.stairs(
                100 * shares, [*starts, 1.0], color=COLOURS[colour], label=label, linewidth=1.5
            )
    for at, label in ((ALIKE, "alike"), (UNLIKE, "unlike")):
        panel.axvline(at, color="black", linewidth=0.8, linestyle=":")
        panel.annotate(
            label,
            (at, 0.77),
            xycoords=("data", "axes fraction"),
            xytext=(-3, 0),
            textcoords="offset points",
            ha="right",
            fontsize=8,
        )
    panel.set(
        xlabel="correlation of their cell values", ylabel="share of the pairs (%)", xlim=(-1, 1)
    )
    panel.set_ylim(top=1.45 * panel.get_ylim()[1])
    panel.legend(fontsize=7, loc="upper left")
    return figure


def _draw_pair(panel: Axes, pair: Row, cells: Records, *, names: bool) -> None:
    place = np.arange(len(cells))
    for shift, which, colour in ((-0.2, "a", COLOURS["2D-KNN"]), (0.2, "b", _SECOND)):
        panel.barh(
            place + shift,
            1000 * cells.numbers(f"value_{which}"),
            height=0.38,
            color=colour,
            label=f"row {pair[f'row_{which}']}, 1D value {1000 * pair[f'value_{which}']:.3f}",
        )
    panel.set_yticks(
        place, [name.replace("_", " ") for name in cells.distinct("column")] if names else []
    )
    panel.set_ylim(len(cells) + 1.2, -0.6)
    panel.axvline(0, color="black", linewidth=0.6)
    panel.set_xlabel("value of the cell (x 0.001)")
    panel.legend(
        fontsize=7,
        loc="lower right",
        title=f"correlation {pair['correlation']:.2f}",
        title_fontsize=7,
    )
