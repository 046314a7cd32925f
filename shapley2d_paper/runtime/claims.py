"""What the paper says of run times, judged by rule from ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d_paper.harness.experiment import Claim, Judgement
from shapley2d_paper.runtime.times import (
    PAPER_KNN,
    PAPER_MC,
    number_text,
    seconds_text,
    speedups,
    time_text,
)
from shapley2d_paper.runtime.timing import PERMUTATIONS, TOLERANCE

if TYPE_CHECKING:
    from shapley2d_paper.harness.experiment import Verdict
    from shapley2d_paper.harness.records import Records


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
        "Rule: our ratio is at least the paper's at every number of cells: it holds; at some: in part; at none, or a "
        f"ratio of 1 or less anywhere: it does not hold. It is at {_list(reached)} cells, of {_list(list(ours))}; the "
        f"least ratio is {number_text(min(ours.values()))}. Beside the paper's times, on other hardware, our 2D-KNN is "
        f"{number_text(faster[0][0])} times as fast and our 2D-MC with the built-in decision tree "
        f"{number_text(faster[0][1])} times at {few:,} cells, {number_text(faster[1][0])} and "
        f"{number_text(faster[1][1])} times at {many:,}."
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
    """What Monte Carlo would take to the tolerance of nearest neighbours, from a real run; empty without one."""
    run, knn = records.where(what="run", cells=cells), records.where(what="knn", cells=cells)
    if not len(run) or not len(knn):
        return ""
    needed = run.mean("seconds") * (run.mean("ratio") / TOLERANCE) ** 2
    return (
        f"{run.rows[0]['permutations']} permutations of {cells:,} cells took {time_text(run)} to a largest standard "
        f"error of {run.mean('ratio'):.3f} of the range, {TOLERANCE} would take some {seconds_text(needed)}, and "
        f"2D-KNN took {time_text(knn)} to {knn.mean('ratio'):.3f}"
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
