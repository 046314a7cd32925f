"""Run times as recorded, and the claim on them, judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d_paper.harness.experiment import Claim, Judgement
from shapley2d_paper.runtime.timing import PERMUTATIONS, TOLERANCE

if TYPE_CHECKING:
    from shapley2d_paper.harness.experiment import Verdict
    from shapley2d_paper.harness.records import Records

CELLS = (1_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""The sizes of the paper's table."""

PAPER_KNN = dict(zip(CELLS, (11, 25, 37, 44, 53, 88), strict=True))
"""The paper's seconds for 2D-KNN."""

PAPER_MC = dict(zip(CELLS, (280, 1661, 3127, 9258, 17786, 26209), strict=True))
"""The paper's seconds for 2D-MC."""

PAPER_EXACT = dict(
    zip(
        CELLS,
        ("1.5E+301 s", "2.0E+1505 s", "2.8E+3010 s", "5.6E+6020 s", "4.4E+15051 s", "1.4E+30103 s"),
        strict=True,
    )
)
"""The paper's projection for exact values."""

MODELS = {
    "tree": "decision tree, built in",
    "gaussian_nb": "naive Bayes, built in",
    "sklearn": "decision tree, scikit-learn",
}
"""The models of 2D-MC, for a reader."""


def speedups(records: Records, model: str) -> dict[int, float]:
    """How many times faster than Monte Carlo nearest neighbours are, by cells."""
    found = {}
    for (cells,), part in records.groups("cells"):
        knn, mc = part.where(what="knn"), part.where(what=model)
        if len(knn) and len(mc):
            found[cells] = mc.mean("projected") / knn.mean("seconds")
    return dict(sorted(found.items()))


def exact_digits(n_rows: int, n_columns: int, seconds_per_model: float) -> float:
    """Decimal logarithm of the seconds for all pairs of coalitions, one model each.

    Examples
    --------
    >>> round(exact_digits(10, 10, 1e-6), 2)
    0.02
    """
    return float((n_rows + n_columns) * np.log10(2) + np.log10(seconds_per_model))


def seconds_text(seconds: float) -> str:
    """Seconds with their unit."""
    return f"{number_text(seconds)} s"


def number_text(number: float) -> str:
    """A number to three digits, or to the last before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def time_text(records: Records, name: str = "seconds") -> str:
    """The mean time of some records; empty without any."""
    return seconds_text(records.mean(name)) if len(records) else ""


def judge_speed(records: Records) -> Judgement | None:
    """By our ratio of times beside the paper's, at every number of cells."""
    ours = speedups(records, "tree")
    if not ours:
        return None
    reached = [
        cells for cells, ratio in ours.items() if ratio >= PAPER_MC[cells] / PAPER_KNN[cells]
    ]
    verdict: Verdict = "does not hold"
    if min(ours.values()) > 1 and reached:
        verdict = "holds" if len(reached) == len(ours) else "holds in part"
    few, many = min(ours), max(ours)
    faster = [
        (
            PAPER_KNN[cells] / records.where(what="knn", cells=cells).mean("seconds"),
            PAPER_MC[cells] / records.where(what="tree", cells=cells).mean("projected"),
        )
        for cells in (few, many)
    ]
    why = (
        "Rule: our ratio is at least the paper's at every number of cells: it holds; at some: in "
        "part; at none, or a ratio of 1 or less anywhere: it does not hold. It is reached at "
        f"{_list(reached)} cells, of {_list(list(ours))}; the least ratio is "
        f"{number_text(min(ours.values()))}. Compared with the paper's times, on other hardware, "
        f"our 2D-KNN is {number_text(faster[0][0])} times as fast and our 2D-MC with the built-in "
        f"decision tree {number_text(faster[0][1])} times at {few:,} cells, "
        f"{number_text(faster[1][0])} and {number_text(faster[1][1])} times at {many:,}."
    )
    fits = speedups(records, "sklearn")
    if fits:
        why += f" Against fits of scikit-learn's tree the ratio is {_ratios(fits)}."
    bayes = speedups(records, "gaussian_nb")
    if bayes:
        why += f" Against the built-in naive Bayes it is {_ratios(bayes)}."
    runs = [text for text in (_same_precision(records, cells) for cells in ours) if text]
    if runs:
        why += f" To equal precision: {'; '.join(runs)}."
    return Judgement(
        verdict, f"{_ratios(ours)} ({PERMUTATIONS} permutations projected, all cores)", why
    )


def _same_precision(records: Records, cells: int) -> str:
    """The time of Monte Carlo to the tolerance of nearest neighbours, projected from a real run."""
    run, knn = records.where(what="run", cells=cells), records.where(what="knn", cells=cells)
    if not len(run) or not len(knn):
        return ""
    needed = run.mean("seconds") * (run.mean("ratio") / TOLERANCE) ** 2
    return (
        f"{run.rows[0]['permutations']} permutations of {cells:,} cells took {time_text(run)} to a "
        f"largest standard error of {run.mean('ratio'):.3f} of the range, {TOLERANCE} would take "
        f"some {seconds_text(needed)}, and 2D-KNN took {time_text(knn)} to {knn.mean('ratio'):.3f}"
    )


def _list(counts: list[int]) -> str:
    return ", ".join(f"{count:,}" for count in counts) or "none"


def _ratios(ratios: dict[int, float]) -> str:
    return ", ".join(
        f"{number_text(ratio)} x at {cells:,} cells" for cells, ratio in ratios.items()
    )


CLAIMS = (
    Claim(
        "2D-KNN is 25 times (1,000 cells) to 300 times (100,000 cells) faster than 2D-MC",
        "11 s against 280 s, 88 s against 26,209 s",
        judge_speed,
    ),
)
