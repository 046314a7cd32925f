"""What the paper says of mistyped ages, judged by rule from the scores."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from shapley2d_paper.harness.experiment import Claim, Judgement
from shapley2d_paper.typos.page import sizes_of
from shapley2d_paper.typos.work import AGES, CELLS, EVERY, GOAL

if TYPE_CHECKING:
    from shapley2d_paper.harness.experiment import Verdict
    from shapley2d_paper.harness.records import Records


_TIMES = 4  # as many cells as 2D-KNN needs
_PAPERS_PERMUTATIONS = 500


def judge(records: Records) -> Judgement | None:
    """Whether 2D-KNN finds 80 % within 1,800 cells, on samples and on the large table, and 1D needs four times more."""
    sizes = sizes_of(records)
    scores = records.where(what="score", scope=EVERY)
    sample = scores.where(table_rows=sizes[0]) if sizes else scores
    ours, flat = sample.where(method="2D-KNN"), sample.where(method="1D")
    if not len(ours) or not len(flat):
        return None
    needed, needed_flat, cells = ours.mean("first_80"), flat.mean("first_80"), ours.mean("cells")
    tests = {
        f"2D-KNN needs at most {CELLS:,} cells on samples of {sizes[0]:,} rows": needed <= CELLS,
        f"1D needs at least {_TIMES} times as many as 2D-KNN there": needed_flat >= _TIMES * needed,
    }
    large = ""
    for size in sizes[1:]:
        if len(one := scores.where(table_rows=size, method="2D-KNN")):
            count = one.mean("first_80")
            tests[f"2D-KNN needs at most {CELLS:,} cells on the table of {size:,} rows too"] = (
                count <= CELLS
            )
            large += (
                f"On {size:,} rows 2D-KNN needs {count:,.0f} of {one.mean('cells'):,.0f} cells. "
            )
    met = list(tests.values())
    verdict: Verdict = "holds" if all(met) else "holds in part" if any(met) else "does not hold"
    others = [
        f"{method} {one.mean('first_80'):,.0f}"
        for (method,), one in sample.groups("method")
        if method not in ("2D-KNN", "1D")
    ]
    ages = records.where(what="score", scope=AGES, table_rows=sizes[0], method="2D-KNN")
    chance = _chance(ours)
    asked = "; ".join(f"{test}: {'yes' if passed else 'no'}" for test, passed in tests.items())
    return Judgement(
        verdict,
        f"2D-KNN {needed:,.0f} of {cells:,.0f} cells, 1D {needed_flat:,.0f} ({needed_flat / needed:.1f} times as many)",
        f"{asked}. The claim holds where all of these are met, in part where some are; the paper does not say how many "
        f"rows it valued. A random order needs {chance:.0%} of the cells on average, so a 1D of no use at all "
        f"meets the second test once 2D-KNN needs at most {chance / _TIMES:.0%} (here {needed / cells:.0%}). "
        f"{_budget(flat)}{large}Others on the samples: {', '.join(others) or 'none'}. Among the ages alone 2D-KNN "
        f"needs {ages.mean('first_80'):,.0f} of {ages.mean('cells'):,.0f} cells.",
    )


def _chance(part: Records) -> float:
    """The share of the cells that a random order needs to meet 80 % of the typos, on average."""
    typos, cells = part.mean("typos"), part.mean("cells")
    return math.ceil(GOAL * typos - 1e-9) / (typos + 1) * (cells + 1) / cells


def _budget(flat: Records) -> str:
    """How far 1D's permutations are from the paper's."""
    permutations = flat.mean("permutations")
    if permutations >= _PAPERS_PERMUTATIONS:
        return f"Permutations of 1D: {permutations:.0f}. "
    return (
        f"1D is undersampled (permutations: {permutations:.0f}; the paper: {_PAPERS_PERMUTATIONS}): part of its "
        "order is noise, how much was not recorded. "
    )


CLAIMS = (
    Claim(
        "80 % of the mistyped ages are found within 1,800 inspected cells, and 1D needs four times as many",
        "under 1,800; 4 times",
        judge,
    ),
)
