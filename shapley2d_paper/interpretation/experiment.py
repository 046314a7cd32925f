"""Rows of nearly the same 1D value: some for the same reasons, some for quite different ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d_paper.harness.experiment import Claim, Experiment, Judgement, Piece
from shapley2d_paper.harness.figures import COLOURS, new_figure
from shapley2d_paper.interpretation.work import ALIKE, AUTHORS, UNLIKE, work

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shapley2d_paper.harness.records import Records, Row

WITHIN = 0.01
"""1D values are nearly the same within this share of their standard deviation."""


def shown_table(records: Records) -> str | None:
    """The table to show pairs of: the authors' where it is there."""
    tables = records.where(what="pair").distinct("table")
    return AUTHORS if AUTHORS in tables else next(iter(tables), None)


def counts_of(records: Records) -> Records:
    """The counts of the tables that have pairs of nearly the same 1D value."""
    return records.where(lambda row: row["what"] == "count" and row["pairs"] > 0)


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """The pairs that are shown, and how common such pairs are."""
    shown = shown_table(records)
    pairs = [
        {
            "cells": str(row["kind"]),
            "rows": f"{row['row_a']} and {row['row_b']}",
            "same class": "yes" if row["same_class"] else "no",
            "1D values": f"{row['value_a']:.6f}, {row['value_b']:.6f}",
            "correlation": f"{row['correlation']:.2f}",
            "rank correlation": f"{row['rank_correlation']:.2f}",
            "cosine": f"{row['cosine']:.2f}",
        }
        for row in records.where(what="pair", table=shown)
    ]
    counts = []
    for table, part in (
        ("the authors' split", counts_of(records).where(table=AUTHORS)),
        ("splits of ours, mean", counts_of(records).where(lambda row: row["table"] != AUTHORS)),
    ):
        if len(part):
            counts.append(
                {
                    "table": f"{table} ({len(part)})" if len(part) > 1 else table,
                    "pairs of nearly the same 1D value": f"{part.mean('pairs'):.0f}",
                    f"alike (correlation from {ALIKE})": f"{part.mean('alike'):.0%}",
                    f"unlike (up to {UNLIKE})": f"{part.mean('unlike'):.0%}",
                    "alike among all pairs": f"{part.mean('all_alike'):.0%}",
                    "unlike among all pairs": f"{part.mean('all_unlike'):.0%}",
                }
            )
    made = [
        (f"The most alike and the least alike pair of nearly the same 1D value, {shown}", pairs),
        ("How common such pairs are", counts),
    ]
    return [(caption, rows) for caption, rows in made if rows]


def headline(records: Records) -> str:
    """How common either kind is."""
    counts = counts_of(records)
    if not len(counts):
        return "No two rows have nearly the same 1D value."
    return (
        f"Of {counts.mean('pairs'):.0f} pairs of rows with nearly the same 1D value (mean of "
        f"{_splits(len(counts))}), {counts.mean('alike'):.0%} have cells alike and "
        f"{counts.mean('unlike'):.0%} unrelated or opposed ones."
    )


def _splits(count: int) -> str:
    return f"{count} split{'s' * (count > 1)}"


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


def pieces(quick: bool) -> list[Piece]:
    """The authors' table, and splits of the bundled one."""
    seeds = 1 if quick else 10
    return [
        Piece("authors", {"seed": 0, "table": "authors", "within": WITHIN}),
        *(
            Piece(f"split-{s}", {"seed": s, "table": "split", "within": WITHIN})
            for s in range(seeds)
        ),
    ]


def judge(records: Records) -> Judgement | None:
    """Whether every split has pairs of both kinds."""
    counts = counts_of(records)
    if not len(counts):
        return None
    without = len(records.where(what="count")) - len(counts)
    left_out = (
        f" Splits without pairs of nearly the same 1D value, left out: {without}."
        if without
        else ""
    )
    both = [bool(row["alike"]) and bool(row["unlike"]) for row in counts]
    one = [bool(row["alike"]) or bool(row["unlike"]) for row in counts]
    verdict = "holds" if all(both) else "holds in part" if any(one) else "does not hold"
    return Judgement(
        verdict,  # type: ignore[arg-type]
        f"alike {counts.mean('alike'):.0%}, unlike {counts.mean('unlike'):.0%} of such pairs",
        f"{sum(both)} of {len(both)} splits have pairs of both kinds: cells that correlate by "
        f"{ALIKE} or more, and by {UNLIKE} or less. The claim holds where all splits have both, in "
        "part where some have either. Pairs of identical rows are left out. Among all pairs, "
        f"whatever their 1D values, {counts.mean('all_alike'):.0%} are alike and "
        f"{counts.mean('all_unlike'):.0%} unlike.{left_out}",
    )


EXPERIMENT = Experiment(
    name="interpretation",
    title="What is behind a 1D value",
    about=(
        "2D-KNN values (K = 10, exact) of the clean Breast Cancer table: the authors' split where "
        "it is at hand, and ten random splits of the bundled table (one in the quick run). The "
        "authors' split is validated on their 242 test rows, a split of ours on 121 rows, half of "
        "those that do not train. All pairs of rows are looked through whose 1D values, the sums "
        f"of their cells, differ by less than {WITHIN:.0%} of the standard deviation of the 1D "
        "values. The figure shows the pair whose cells correlate most and the pair whose cells "
        "correlate least. The paper shows one pair of each kind and does not say how they were "
        "found or how common they are. Pairs of rows with the same content are left out, since "
        "their cells are equal for certain."
    ),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=(
        Claim(
            "Two rows of nearly the same 1D value may have cells of nearly the same values, or of "
            "unrelated ones",
            "one example of each",
            judge,
        ),
    ),
)
