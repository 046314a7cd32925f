"""More and more outliers: whether 2D-KNN still finds them when they are less rare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d.evaluation.detection import auroc, detection_curve
from shapley2d_paper.detectors.detectors import DETECTORS
from shapley2d_paper.harness.experiment import Claim, Experiment, Judgement, Piece
from shapley2d_paper.harness.figures import line_with_band, new_figure
from shapley2d_paper.outliers.figure import ALL_ROWS, BENIGN_ROWS, TABLES
from shapley2d_paper.outliers.work import planted_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from shapley2d_paper.harness.experiment import Row, Verdict
    from shapley2d_paper.harness.records import Records

RATES = (1, 2, 5, 10, 15)
"""Per cent of the cells that are planted."""

INSPECTED = (0, 25, 50, 75, 100, 150, 200, 250, 300, 400, 500, 600, 800, 1000, 1250, 1500, 1750, 2000)
"""Numbers of inspected cells after which it is noted how many planted ones have been met."""

KINDS = ("unlikely", "low-density")

_FIRST = 200
_VERY_HIGH, _SLIGHTLY = 0.9, 0.1
_ERRORS = 2
_SHADES = ("#9ecae1", "#6baed6", "#3182bd", "#08519c", "#06214d")


def pieces(quick: bool) -> list[Piece]:
    """One table per kind of outlier and seed, planted at every rate."""
    return [
        Piece(f"{kind}-{seed}", {"seed": seed, "kind": kind, "rates": list(RATES)})
        for kind in KINDS[: 1 if quick else None]
        for seed in range(1 if quick else 10)
    ]


def work(*, seed: int, kind: str, rates: list[int]) -> list[Row]:
    """Detection curves of all rows and of benign rows."""
    lines: list[Row] = []
    for rate in rates:
        planted = planted_table(kind, seed, rate / 100)
        suspicion = DETECTORS["2D-KNN"](planted.task)
        for scope, rows in ((ALL_ROWS, np.ones_like(planted.benign)), (BENIGN_ROWS, planted.benign)):
            scores, truth = suspicion[rows], planted.cells[rows]
            if not truth.any():
                continue
            mark: Row = {"kind": kind, "rows": scope, "rate": rate}
            counts = [count for count in INSPECTED if count < truth.size]
            found = detection_curve(scores, truth, counts)
            # nobody can find more planted cells than are inspected, or than there are
            first = detection_curve(scores, truth, [_FIRST])[0]
            lines.append(
                {
                    **mark,
                    "what": "score",
                    "planted": int(truth.sum()),
                    "cells": truth.size,
                    "auroc": auroc(scores, truth),
                    "found_first": float(first),
                    "at_most": min(1.0, _FIRST / int(truth.sum())),
                }
            )
            if scope == ALL_ROWS:
                lines += [
                    {**mark, "what": "curve", "inspected": count, "found": float(one)}
                    for count, one in zip(counts, found, strict=True)
                ]
    return lines


def draw(records: Records) -> Figure:
    """Curves for every rate, by kind of outlier, and what the first 200 cells hold at most."""
    kinds = records.distinct("kind")
    figure, axes = new_figure(1, len(kinds) + 1, 4.0 * (len(kinds) + 1), 3.9)
    for panel, kind in zip(axes[0], kinds, strict=False):
        panel.set_title(f"{TABLES[kind]}, all rows", fontsize=9, loc="left")
        for rate, shade in zip(RATES, _SHADES, strict=True):
            lines = records.where(what="curve", kind=kind, rate=rate)
            line_with_band(panel, lines, "inspected", "found", f"{rate} %", color=shade)
        panel.axvline(_FIRST, color="black", linestyle="--", linewidth=0.9)
        panel.annotate("the paper:\n'very high'\nat 200 cells", (_FIRST, 0.02), (230, 0.02), fontsize=7)
        panel.set(xlabel="cells inspected", ylabel="share of the planted cells found", ylim=(-0.02, 1.02))
        panel.legend(title="cells planted", fontsize=8, title_fontsize=8, loc="lower right")
    panel = axes[0, -1]
    panel.set_title("found in the first 200 cells", fontsize=9, loc="left")
    scores = records.where(what="score")
    styles = {ALL_ROWS: "o", BENIGN_ROWS: "s"}
    for (kind, rows), lines in scores.groups("kind", "rows"):
        colour = _SHADES[2] if kind == KINDS[0] else "#e07b00"
        style = {"color": colour, "marker": styles[rows], "markersize": 4}
        style["linestyle"] = "-" if rows == ALL_ROWS else ":"
        line_with_band(panel, lines, "rate", "found_first", f"{TABLES[kind]}, {rows}", **style)
    most = scores.where(rows=ALL_ROWS)
    ceiling = sorted((key[0], part.mean("at_most")) for key, part in most.groups("rate"))
    panel.plot(
        *zip(*ceiling, strict=True),
        color="black",
        linestyle="--",
        label="most that 200 cells can hold, all rows",
    )
    panel.set(xlabel="cells planted (%)", ylabel="share of the planted cells found", ylim=(-0.02, 1.02))
    panel.legend(fontsize=6.5, loc="lower left")
    return figure


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """What the first 200 cells hold, by rate."""
    made = []
    for (kind,), part in records.where(what="score").groups("kind"):
        lines = []
        for (rate,), one in part.where(rows=ALL_ROWS).groups("rate"):
            benign = part.where(rows=BENIGN_ROWS, rate=rate)
            lines.append(
                {
                    "cells planted": f"{rate} % ({one.mean('planted'):.0f})",
                    "found in the first 200": f"{one.mean('found_first'):.0%}",
                    "standard deviation": f"{one.spread('found_first'):.0%}" if len(one) > 1 else "",
                    "200 cells can hold at most": f"{one.mean('at_most'):.0%}",
                    "AUROC": f"{one.mean('auroc'):.3f}",
                    "benign rows: found in the first 200": f"{benign.mean('found_first'):.0%}",
                    "benign rows: AUROC": f"{benign.mean('auroc'):.3f}",
                }
            )
        seeds = len(part.distinct("seed"))
        many = f", mean of {seeds} seeds" if seeds > 1 else ""
        made.append((f"2D-KNN, {TABLES[kind]}{many}", lines))
    return made


def headline(records: Records) -> str:
    """What is found in the first 200 cells at the lowest and the highest rate."""
    scores = records.where(what="score", rows=ALL_ROWS)
    parts = [
        f"{TABLES[kind]}: "
        + ", ".join(f"{one.mean('found_first'):.0%} at {rate} %" for (rate,), one in part.groups("rate"))
        for (kind,), part in scores.groups("kind")
    ]
    return f"Planted cells that 2D-KNN finds in the first {_FIRST} cells; {'; '.join(parts)} planted."


def judge_high(records: Records) -> Judgement | None:
    """Whether detection is very high in the first 200 cells, compared with what 200 cells can hold."""
    scores = records.where(what="score")
    cases = [
        (kind, rows, rate, part.mean("found_first"), part.mean("at_most"))
        for (kind, rows, rate), part in scores.groups("kind", "rows", "rate")
    ]
    if not cases:
        return None
    high = [case for case in cases if case[3] >= _VERY_HIGH * case[4]]
    verdict: Verdict = "holds" if len(high) == len(cases) else "holds in part" if high else "does not hold"
    ranges = []
    for (kind, rows), _ in scores.groups("kind", "rows"):
        found = [case[3] for case in cases if case[:2] == (kind, rows)]
        ranges.append(f"{TABLES[kind]}, {rows} {min(found):.0%} to {max(found):.0%}")
    benign = sum(case[1] == BENIGN_ROWS for case in high)
    bound = min(case[4] for case in cases if case[1] == ALL_ROWS)
    cells = scores.where(rows=BENIGN_ROWS).mean("cells")
    return Judgement(
        verdict,
        "; ".join(ranges),
        f"Very high means at least {_VERY_HIGH:.0%} of what {_FIRST} cells can hold, which is no more than {bound:.0%} "
        f"of the planted cells at the highest rate. {len(high)} of {len(cases)} cases (kind, rows, rate) reach it, "
        f"{benign} of them among the cells of benign rows only, of which {_FIRST} are {_FIRST / cells:.0%}. The claim "
        "holds where all cases reach it, in part where some do.",
    )


def judge_decrease(records: Records) -> Judgement | None:
    """Whether detection falls slightly as more is planted: of what 200 cells can hold, and by the AUROC."""
    scores = records.where(what="score", rows=ALL_ROWS)
    rates = sorted(scores.distinct("rate"))
    if len(rates) < 2:
        return None
    falls, texts = [], []
    for (kind,), part in scores.groups("kind"):
        ends = [_measures(part.where(rate=rate)) for rate in (rates[0], rates[-1])]
        falls += [_fall(*(end[measure] for end in ends)) for measure in ("possible", "auroc")]
        found, areas = ([float(np.mean(end[measure])) for end in ends] for measure in ("possible", "auroc"))
        texts.append(
            f"{TABLES[kind]}: found of what {_FIRST} cells can hold {found[0]:.0%} to {found[1]:.0%}, AUROC "
            f"{areas[0]:.3f} to {areas[1]:.3f}"
        )
    fallen = [fall for fall, error in falls if fall > _ERRORS * error]
    slight = sum(fall <= _SLIGHTLY for fall in fallen)
    verdict: Verdict = "holds" if slight == len(falls) else "holds in part" if fallen else "does not hold"
    ceiling = scores.where(rate=rates[-1]).mean("at_most")
    return Judgement(
        verdict,
        "; ".join(texts),
        f"Two measures for each kind of outlier: what is found of that which {_FIRST} cells can hold, and the AUROC. "
        f"From {rates[0]} % to {rates[-1]} % planted, {len(fallen)} of {len(falls)} fall by more than {_ERRORS} "
        f"standard errors over seeds, {slight} of them slightly, by up to {_SLIGHTLY}. The claim holds where all fall "
        "slightly, in part where some fall, and does not hold where none does. The plain share found would fall in any "
        f"case: at {rates[-1]} % {_FIRST} cells can hold no more than {ceiling:.0%} of the planted ones.",
    )


def _measures(lines: Records) -> dict[str, NDArray[np.float64]]:
    """What is found of the possible, and the AUROC, for every seed."""
    return {
        "possible": lines.numbers("found_first") / lines.numbers("at_most"),
        "auroc": lines.numbers("auroc"),
    }


def _fall(before: NDArray[np.float64], after: NDArray[np.float64]) -> tuple[float, float]:
    """How much a mean falls, and the standard error of that; 0 for single figures."""
    error = sum(np.var(part, ddof=1) / part.size if part.size > 1 else 0.0 for part in (before, after))
    return float(before.mean() - after.mean()), float(np.sqrt(error))


EXPERIMENT = Experiment(
    name="budget",
    title="1 to 15 % of the cells planted",
    about=(
        "Breast Cancer, 241 rows x 9 columns, random splits of the bundled table, ten seeds (one seed and one kind in "
        "the quick run). 1, 2, 5, 10 and 15 % of the cells get values that fewer than 5 % of the rows have: of the "
        "rows of their class, or of all rows, as in `outliers`. 2D-KNN, exact, K = 10, default metric; cells are "
        "inspected from the lowest value on. Values are validated on 121 rows, half of those that do not train. The "
        "paper shows curves and no numbers. Where more cells are planted than are inspected, these cannot hold all of "
        "them: the tables say how many they can hold."
    ),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=(
        Claim(
            "Detection is very high within the first 200 inspected cells, whatever the rate",
            "curves, no number",
            judge_high,
        ),
        Claim("Detection decreases slightly with more outliers", "curves, no number", judge_decrease),
    ),
)
