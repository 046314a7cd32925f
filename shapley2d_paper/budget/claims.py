"""What the paper says of more and more outliers, judged by rule from the scores."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d_paper.budget.work import FIRST
from shapley2d_paper.harness.experiment import Claim, Judgement
from shapley2d_paper.outliers.tables import ALL_ROWS, BENIGN_ROWS, TABLES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d_paper.harness.experiment import Verdict
    from shapley2d_paper.harness.records import Records


_VERY_HIGH, _SLIGHTLY = 0.9, 0.1

_ERRORS = 2


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
        f"Very high means at least {_VERY_HIGH:.0%} of what {FIRST} cells can hold, which is no more than {bound:.0%} "
        f"of the injected errors at the highest rate. {len(high)} of {len(cases)} cases (kind, rows, rate) reach it, "
        f"{benign} of them among the cells of benign rows only, of which {FIRST} are {FIRST / cells:.0%}. The claim "
        "holds where all cases reach it, in part where some do.",
    )


def judge_decrease(records: Records) -> Judgement | None:
    """Whether detection falls slightly as more cells are corrupted: of what 200 cells can hold, and by the AUROC."""
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
            f"{TABLES[kind]}: found of what {FIRST} cells can hold {found[0]:.0%} to {found[1]:.0%}, AUROC "
            f"{areas[0]:.3f} to {areas[1]:.3f}"
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
        f"Two measures for each kind of outlier: what is found of that which {FIRST} cells can hold, and the AUROC. "
        f"From {rates[0]} % to {rates[-1]} % of the cells corrupted, {len(fallen)} of {len(falls)} fall by more than "
        f"{_ERRORS} standard errors over seeds, {slight} of them slightly, by up to {_SLIGHTLY}. The claim holds "
        "where all fall slightly, in part where some fall, and does not hold where none does. The plain share found "
        f"would fall in any case: at {rates[-1]} % {FIRST} cells can hold no more than {ceiling:.0%} of the errors.",
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
