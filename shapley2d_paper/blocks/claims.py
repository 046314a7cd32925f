"""What the paper says of blocks, judged by rule from the correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d_paper.blocks.links import find_link
from shapley2d_paper.harness.experiment import Claim, Judgement

if TYPE_CHECKING:
    from shapley2d_paper.blocks.links import Interval, Link
    from shapley2d_paper.harness.experiment import Verdict
    from shapley2d_paper.harness.records import Records


MEASURES = {
    "accuracy": "decision tree",
    "balanced accuracy": "decision tree",
    "Gini": "logistic regression",
}
"""Measures of performance, and the model that each is measured with."""

STRONG = 0.5  # mean rank correlation from which on "grows with" is a fair description

TENDENCY = 0.6  # share of pairs in the same order from which on one may speak of a tendency; chance is a half


def judge_growth(records: Records) -> Judgement | None:
    """By the rank correlation within splits, for the paper's measure and for the one that moves most."""
    links = {measure: find_link(records.where(measure=measure)) for measure in ("accuracy", "Gini")}
    found = {measure: link for measure, link in links.items() if link is not None}
    if len(found) < len(links):
        return None
    passed = [
        measure
        for measure, link in found.items()
        if link.ranked[0] >= STRONG and link.ranked[1] > 0
    ]
    verdict: Verdict = (
        "holds" if len(passed) == len(found) else "holds in part" if passed else "does not hold"
    )
    figures = "; ".join(
        f"{measure} ({MEASURES[measure]}): mean rank correlation {interval_text(link.ranked)}, "
        f"positive in {link.n_positive} of {link.n_splits} splits"
        for measure, link in found.items()
    )
    why = (
        f"Rule: the rank correlation within a split is {STRONG} or more on average and its 95 % interval, over splits, "
        f"lies above 0. It does so for {' and '.join(passed) if passed else 'neither measure'}; both make it hold, one "
        f"in part. {_in_pairs(found)} {_not_judged(records)}"
    )
    return Judgement(verdict, figures, why.strip())


def _in_pairs(links: dict[str, Link]) -> str:
    """How often the better of two blocks is worth more, and what that makes of the claim."""
    orders = " and ".join(f"{link.in_order:.0%} ({measure})" for measure, link in links.items())
    text = f"Of two blocks of a split, the better performer has the higher value in {orders} of the cases"
    shares = [link.in_order for link in links.values()]
    if min(shares) == 1:
        return f"{text}, without exception."
    what = "a tendency and no law" if min(shares) >= TENDENCY else "no more than a weak tendency"
    return f"{text}: {what}, for a block also earns by what it adds to others."


def _not_judged(records: Records) -> str:
    link = find_link(records.where(measure="balanced accuracy"))
    if link is None:
        return ""
    return (
        "Balanced accuracy is shown and not judged, as it would count the paper's tree twice; its mean rank "
        f"correlation is {interval_text(link.ranked)}."
    )


def interval_text(figure: Interval) -> str:
    """A figure with its interval."""
    return f"{figure[0]:.2f} [{figure[1]:.2f}, {figure[2]:.2f}]"


CLAIMS = (
    Claim(
        "The value of a block grows with the performance of a model trained on the block (Credit)",
        "a figure of rising lines, one per random split; no correlation is given",
        judge_growth,
    ),
)
