"""More and more outliers: whether 2D-KNN still finds them when they are less rare."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d_paper.budget.work import FIRST, work
from shapley2d_paper.harness.experiment import Claim, Experiment, Judgement, Piece
from shapley2d_paper.harness.figures import line_with_band, new_figure
from shapley2d_paper.outliers.tables import ALL_ROWS, BENIGN_ROWS, TABLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from shapley2d_paper.harness.experiment import Verdict
    from shapley2d_paper.harness.records import Records

_VERY_HIGH, _SLIGHTLY = 0.9, 0.1

_ERRORS = 2


def judge_high(records: Records) -> Judgement | None:
    """Whether detection is very high in the first 200 cells, out of what 200 cells can hold."""
    scores = records.where(what="score")
    cases = [
        (kind, rows, rate, part.mean("found_first"), part.mean("at_most"))
        for (kind, rows, rate), part in scores.groups("kind", "rows", "rate")
    ]
    if not cases:
        return None
    high = [case for case in cases if case[3] >= _VERY_HIGH * case[4]]
    verdict: Verdict = (
        "holds" if len(high) == len(cases) else "holds in part" if high else "does not hold"
    )
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
        f"Very high means at least {_VERY_HIGH:.0%} of what {FIRST} cells can hold, which is no "
        f"more than {bound:.0%} of the injected errors at the highest rate. {len(high)} of "
        f"{len(cases)} cases (kind, rows, rate) reach it, {benign} of them among the cells of "
        f"benign rows only, of which {FIRST} are {FIRST / cells:.0%}. The claim holds where all "
        "cases reach it, in part where some do.",
    )


def judge_decrease(records: Records) -> Judgement | None:
    """Whether detection falls slightly with more errors: in the first 200 cells, and by AUROC."""
    scores = records.where(what="score", rows=ALL_ROWS)
    rates = sorted(scores.distinct("rate"))
    if len(rates) < 2:
        return None
    falls, texts = [], []
    for (kind,), part in scores.groups("kind"):
        ends = [_measures(part.where(rate=rate)) for rate in (rates[0], rates[-1])]
        falls += [_fall(*(end[measure] for end in ends)) for measure in ("possible", "auroc")]
        found, areas = (
            [float(np.mean(end[measure])) for end in ends] for measure in ("possible", "auroc")
        )
        texts.append(
            f"{TABLES[kind]}: found of what {FIRST} cells can hold {found[0]:.0%} to "
            f"{found[1]:.0%}, AUROC {areas[0]:.3f} to {areas[1]:.3f}"
        )
    fallen = [fall for fall, error in falls if fall > _ERRORS * error]
    slight = sum(fall <= _SLIGHTLY for fall in fallen)
    verdict: Verdict = (
        "holds" if slight == len(falls) else "holds in part" if fallen else "does not hold"
    )
    ceiling = scores.where(rate=rates[-1]).mean("at_most")
    return Judgement(
        verdict,
        "; ".join(texts),
        f"Two measures for each kind of outlier: what is found of that which {FIRST} cells can "
        f"hold, and the AUROC. From {rates[0]} % to {rates[-1]} % of the cells corrupted, "
        f"{len(fallen)} of {len(falls)} fall by more than {_ERRORS} standard errors over seeds, "
        f"{slight} of them slightly, by up to {_SLIGHTLY}. The claim holds where all fall "
        "slightly, in part where some fall, and does not hold where none does. The plain share "
        f"found would fall in any case: at {rates[-1]} % {FIRST} cells can hold no more than "
        f"{ceiling:.0%} of the errors.",
    )


def _measures(records: Records) -> dict[str, NDArray[np.float64]]:
    """What is found of the possible, and the AUROC, for every seed."""
    return {
        "possible": records.numbers("found_first") / records.numbers("at_most"),
        "auroc": records.numbers("auroc"),
    }


def _fall(before: NDArray[np.float64], after: NDArray[np.float64]) -> tuple[float, float]:
    """How much a mean falls, and the standard error of that; 0 for single figures."""
    error = sum(
        np.var(part, ddof=1) / part.size if part.size > 1 else 0.0 for part in (before, after)
    )
    return float(before.mean() - after.mean()), float(np.sqrt(error))


CLAIMS = (
    Claim(
        "Detection is very high within the first 200 inspected cells, whatever the rate",
        "curves, no number",
        judge_high,
    ),
    Claim("Detection decreases slightly with more outliers", "curves, no number", judge_decrease),
)

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
    return (
        f"Injected errors that 2D-KNN finds in the first {FIRST} cells; "
        f"{'; '.join(parts)} of the cells corrupted."
    )


def pieces(quick: bool) -> list[Piece]:
    """One table per kind of outlier and seed, corrupted at every rate."""
    return [
        Piece(f"{kind}-{seed}", {"seed": seed, "kind": kind, "rates": list(RATES)})
        for kind in KINDS[: 1 if quick else None]
        for seed in range(1 if quick else 10)
    ]


EXPERIMENT = Experiment(
    name="budget",
    title="1 to 15 % of the cells corrupted",
    about=(
        "Breast Cancer, 241 rows x 9 columns, random splits of the bundled table, ten seeds (one "
        "seed and one kind in the quick run). 1, 2, 5, 10 and 15 % of the cells get values that "
        "fewer than 5 % of the rows have: of the rows of their class, or of all rows, as in "
        "`outliers`. 2D-KNN, exact, K = 10, default metric; cells are inspected from the lowest "
        "value on. Values are validated on 121 rows, half of those that do not train. The paper "
        "shows curves and no numbers. Where more cells are corrupted than are inspected, these "
        "cannot hold all of them: the tables say how many they can hold."
    ),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=CLAIMS,
)
