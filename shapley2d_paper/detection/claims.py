"""Two statements of our own about which method finds what, judged by the same rules as the paper's claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d_paper.detection.means import (
    CELL_VALUES,
    DEVIATION,
    KIND_TITLES,
    METHODS,
    SIGN,
    best_comparison,
    comparisons,
    gain,
    lacking,
    marked,
    methods_of,
)
from shapley2d_paper.harness.experiment import Claim, Judgement

if TYPE_CHECKING:
    from shapley2d_paper.detection.means import Comparison
    from shapley2d_paper.harness.experiment import Verdict
    from shapley2d_paper.harness.records import Records

_MARGIN = 0.01  # of AUROC: closer than this is a draw


def judge_harm(records: Records) -> Judgement | None:
    """Whether 2D-KNN beats every deviation detector on swapped values and on flipped labels."""
    kinds = ("swapped", "labels")
    made = {kind: comparisons(records, kind, "2D-KNN", DEVIATION) for kind in kinds}
    if not all(made.values()):
        return None
    ahead = {kind: [one for one in made[kind] if one.lead > _MARGIN] for kind in kinds}
    n_ahead, n_made = (sum(map(len, each.values())) for each in (ahead, made))
    verdict: Verdict = "does not hold"
    if 2 * n_ahead >= n_made:
        verdict = "holds" if n_ahead == n_made else "holds in part"
    names = "; ".join(
        f"{KIND_TITLES[kind]}: {', '.join(one.other for one in ahead[kind]) or 'none'}"
        for kind in kinds
    )
    ours = {kind: records.where(method="2D-KNN", kind=kind) for kind in kinds}
    repaired = " and ".join(
        f"{gain(part, 'more'):+.2f} of {gain(part, 'ceiling'):+.2f} possible points of accuracy "
        f"({KIND_TITLES[kind]})"
        for kind, part in ours.items()
    )
    return Judgement(
        verdict,
        "; ".join(
            _text(records, kind, min(made[kind], key=lambda one: one.lead)) for kind in kinds
        ),
        f"2D-KNN is ahead by more than {_MARGIN} of mean AUROC in {n_ahead} of {n_made} comparisons with deviation "
        f"detectors ({names}). To be ahead in all makes it hold, in half of them in part. Repairing what 2D-KNN finds "
        f"first brings {repaired}.{_not_run(records)}",
    )


def judge_deviation(records: Records) -> Judgement | None:
    """Whether the best deviation detector beats the best cell value on tail values and on units."""
    kinds = ("tail", "units")
    found = {kind: best_comparison(records, kind, DEVIATION, CELL_VALUES) for kind in kinds}
    made = {kind: comparison for kind, comparison in found.items() if comparison is not None}
    if len(made) < len(kinds):
        return None
    ahead = [kind for kind, comparison in made.items() if comparison.lead > _MARGIN]
    verdict: Verdict = (
        "holds" if len(ahead) == len(kinds) else "holds in part" if ahead else "does not hold"
    )
    return Judgement(
        verdict,
        "; ".join(_text(records, kind, comparison) for kind, comparison in made.items()),
        "The best deviation detector is ahead of the best cell value by more than "
        f"{_MARGIN} of mean AUROC on {' and '.join(KIND_TITLES[kind] for kind in ahead) or 'neither'}; both make it "
        "hold, one in part. 2D-OOB with its distance term counts as a cell value, though the term measures deviation."
        + _not_run(records),
    )


def _text(records: Records, kind: str, comparison: Comparison) -> str:
    method, other = (
        marked(records.where(kind=kind), name) for name in (comparison.method, comparison.other)
    )
    return f"{KIND_TITLES[kind]}: {method} {comparison.auroc:.2f}, {other} {comparison.other_auroc:.2f}"


def _not_run(records: Records) -> str:
    """Which methods were not run at all, or not on every table."""
    missing = [method for method in METHODS if method not in methods_of(records)]
    partly = [method for method in methods_of(records) if lacking(records, method)]
    text = ""
    if partly:
        text += f" Not run on every table ({SIGN}), and compared on those that both have: {', '.join(partly)}."
    if missing:
        text += f" Not run, so not compared: {', '.join(missing)}."
    return text


CLAIMS = (
    Claim(
        "(not in the paper) 2D-KNN finds harmful cells that deviation detectors miss: swapped values, flipped labels",
        "-",
        judge_harm,
    ),
    Claim(
        "(not in the paper) Deviation detectors beat cell values on tail values and units",
        "-",
        judge_deviation,
    ),
)
"""Statements to judge."""
