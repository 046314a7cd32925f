"""The paper's claim on convergence, judged by rule from the errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d_paper.data.splits import TITLES
from shapley2d_paper.harness.experiment import Claim, Judgement

if TYPE_CHECKING:
    from shapley2d_paper.harness.experiment import Verdict
    from shapley2d_paper.harness.records import Records


PERMUTATIONS = 500
"""What the paper runs, and takes for converged."""

LIMIT = 0.025
"""Standard error, relative to the range, that counts as converged: the package's default."""


def judge_convergence(records: Records) -> Judgement | None:
    """By the largest standard error relative to the range after 500 permutations."""
    done = records.where(permutations=PERMUTATIONS)
    knn = done.where(what="columns", method="permutations")
    tables = done.where(what="table")
    if not len(knn) or not len(tables):
        return None
    ratios = {f"2D-KNN, Wine {size_text(knn)}": knn.mean("ratio")}
    ratios |= {
        f"2D-MC, {TITLES[name]} {size_text(part)}": part.mean("ratio")
        for (name,), part in tables.groups("game")
    }
    converged = [name for name, ratio in ratios.items() if ratio <= LIMIT]
    verdict: Verdict = (
        "holds"
        if len(converged) == len(ratios)
        else "holds in part"
        if converged
        else "does not hold"
    )
    why = (
        f"Rule: converged means that the largest standard error is at most {LIMIT} of the range "
        f"of the values. True for {', '.join(converged) if converged else 'none of them'}; the "
        "claim holds if it is true for all, in part if for some. "
        f"{_more(ratios)}Two independent runs of {PERMUTATIONS} "
        f"permutations of 2D-MC correlate at {span_text(tables.numbers('agreement').tolist())}; "
        f"the true squared error of 2D-KNN after {PERMUTATIONS} column permutations is "
        f"{knn.mean('error'):.1%} of the squared values (correlation with the exact values "
        f"{knn.mean('correlation'):.4f})."
    )
    ours = "; ".join(f"{name}: {ratio:.3f}" for name, ratio in ratios.items())
    return Judgement(verdict, f"largest standard error / range after {PERMUTATIONS}: {ours}", why)


def _more(ratios: dict[str, float]) -> str:
    """How many permutations the worst would need; empty where all have converged."""
    worst = max(ratios.values())
    if worst <= LIMIT:
        return ""
    needed = _rounded(PERMUTATIONS * (worst / LIMIT) ** 2)
    return (
        "Errors fall with the root of the effort: the worst of these would take about "
        f"{needed} permutations. "
    )


def span_text(numbers: list[float]) -> str:
    """The lowest and the highest of some numbers."""
    low, high = f"{min(numbers):.2f}", f"{max(numbers):.2f}"
    return f"{low} to {high}" if low != high else low


def size_text(records: Records) -> str:
    """Rows and columns of a table."""
    return f"{records.rows[0]['n_rows']} x {records.rows[0]['n_columns']}"


def _rounded(number: float) -> str:
    digits = 1 - int(np.floor(np.log10(number)))
    return f"{round(number, digits):,.0f}"


CLAIMS = (
    Claim(
        "The values of each method converge within 500 permutations",
        "verified empirically; no figure is given",
        judge_convergence,
    ),
)
