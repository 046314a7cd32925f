"""Two statements of our own about who finds what, judged by the same rules as the paper's claims."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from shapley2d.paper.detection_means import (
    CELL_VALUES,
    DEVIATION,
    KIND_TITLES,
    METHODS,
    best,
    gain,
    methods_of,
    plantings,
)
from shapley2d.paper.experiment import Claim, Judgement

if TYPE_CHECKING:
    from shapley2d.paper.experiment import Verdict
    from shapley2d.paper.records import Records

_MARGIN = 0.01  # of AUROC: closer than this is a draw


def judge_harm(records: Records) -> Judgement | None:
    """Whether 2D-KNN beats every deviation detector on swapped values and on flipped labels."""
    kinds = ("swapped", "labels")
    ours = {kind: best(records, kind, ("2D-KNN",))[1] for kind in kinds}
    rivals = {(kind, method): best(records, kind, (method,)) for kind in kinds for method in DEVIATION}
    heights = {pair: height for pair, (name, height) in rivals.items() if name}
    if any(math.isnan(height) for height in ours.values()) or {kind for kind, _ in heights} != set(kinds):
        return None
    beaten = [pair for pair, height in heights.items() if ours[pair[0]] > height + _MARGIN]
    verdict: Verdict = "does not hold"
    if 2 * len(beaten) >= len(heights):
        verdict = "holds" if len(beaten) == len(heights) else "holds in part"
    strongest = {kind: best(records, kind, DEVIATION) for kind in kinds}
    names = {kind: ", ".join(method for other, method in beaten if other == kind) or "none" for kind in kinds}
    gains = {
        kind: (
            gain(records.where(method="2D-KNN", kind=kind), "more"),
            gain(plantings(records).where(kind=kind), "ceiling"),
        )
        for kind in kinds
    }
    return Judgement(
        verdict,
        "; ".join(
            f"{KIND_TITLES[kind]}: 2D-KNN {ours[kind]:.2f}, {rival} {height:.2f}"
            for kind, (rival, height) in strongest.items()
        ),
        f"2D-KNN is ahead by more than {_MARGIN} of mean AUROC in {len(beaten)} of {len(heights)} comparisons with "
        f"deviation detectors ({'; '.join(f'{KIND_TITLES[kind]}: {names[kind]}' for kind in kinds)}). To be ahead in "
        "all makes it hold, in half of them in part. Repairing what 2D-KNN finds first brings "
        + " and ".join(
            f"{some:+.2f} of {possible:+.2f} possible points of accuracy ({KIND_TITLES[kind]})"
            for kind, (some, possible) in gains.items()
        )
        + "."
        + _not_run(records),
    )


def judge_deviation(records: Records) -> Judgement | None:
    """Whether the best deviation detector beats the best cell value on tail values and on units."""
    kinds = ("tail", "units")
    pairs = {kind: (best(records, kind, DEVIATION), best(records, kind, CELL_VALUES)) for kind in kinds}
    if any(not name for pair in pairs.values() for name, _ in pair):
        return None
    won = [kind for kind in kinds if pairs[kind][0][1] > pairs[kind][1][1] + _MARGIN]
    verdict: Verdict = "holds" if len(won) == len(kinds) else "holds in part" if won else "does not hold"
    return Judgement(
        verdict,
        "; ".join(
            f"{KIND_TITLES[kind]}: {rival} {rival_height:.2f}, {value} {height:.2f}"
            for kind, ((rival, rival_height), (value, height)) in pairs.items()
        ),
        "The best deviation detector is ahead of the best cell value by more than "
        f"{_MARGIN} of mean AUROC on {' and '.join(KIND_TITLES[kind] for kind in won) or 'neither'}; both make it "
        "hold, one in part. 2D-OOB with its distance term counts as a cell value, though the term measures deviation."
        + _not_run(records),
    )


def _not_run(records: Records) -> str:
    missing = [method for method in METHODS if method not in methods_of(records)]
    return f" Not run, so not compared: {', '.join(missing)}." if missing else ""


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
