"""Two statements of our own about who finds what, judged by the same rules as the paper's claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d_paper.detection.means import (
    CELL_VALUES,
    DEVIATION,
    KIND_TITLES,
    METHODS,
    SIGN,
    duels,
    gain,
    hardest,
    lacking,
    marked,
    methods_of,
)
from shapley2d_paper.harness.experiment import Claim, Judgement

if TYPE_CHECKING:
    from shapley2d_paper.detection.means import Duel
    from shapley2d_paper.harness.experiment import Verdict
    from shapley2d_paper.harness.records import Records

_MARGIN = 0.01  # of AUROC: closer than this is a draw


def judge_harm(records: Records) -> Judgement | None:
    """Whether 2D-KNN beats every deviation detector on swapped values and on flipped labels."""
    kinds = ("swapped", "labels")
    fought = {kind: duels(records, kind, "2D-KNN", DEVIATION) for kind in kinds}
    if not all(fought.values()):
        return None
    won = {kind: [duel for duel in fought[kind] if duel.lead > _MARGIN] for kind in kinds}
    n_won, n_fought = (sum(map(len, each.values())) for each in (won, fought))
    verdict: Verdict = "does not hold"
    if 2 * n_won >= n_fought:
        verdict = "holds" if n_won == n_fought else "holds in part"
    names = "; ".join(
        f"{KIND_TITLES[kind]}: {', '.join(duel.rival for duel in won[kind]) or 'none'}" for kind in kinds
    )
    ours = {kind: records.where(method="2D-KNN", kind=kind) for kind in kinds}
    repaired = " and ".join(
        f"{gain(lines, 'more'):+.2f} of {gain(lines, 'ceiling'):+.2f} possible points of accuracy "
        f"({KIND_TITLES[kind]})"
        for kind, lines in ours.items()
    )
    return Judgement(
        verdict,
        "; ".join(_told(records, kind, min(fought[kind], key=lambda duel: duel.lead)) for kind in kinds),
        f"2D-KNN is ahead by more than {_MARGIN} of mean AUROC in {n_won} of {n_fought} comparisons with deviation "
        f"detectors ({names}). To be ahead in all makes it hold, in half of them in part. Repairing what 2D-KNN finds "
        f"first brings {repaired}.{_not_run(records)}",
    )


def judge_deviation(records: Records) -> Judgement | None:
    """Whether the best deviation detector beats the best cell value on tail values and on units."""
    kinds = ("tail", "units")
    found = {kind: hardest(records, kind, DEVIATION, CELL_VALUES) for kind in kinds}
    fought = {kind: duel for kind, duel in found.items() if duel is not None}
    if len(fought) < len(kinds):
        return None
    won = [kind for kind, duel in fought.items() if duel.lead > _MARGIN]
    verdict: Verdict = "holds" if len(won) == len(kinds) else "holds in part" if won else "does not hold"
    return Judgement(
        verdict,
        "; ".join(_told(records, kind, duel) for kind, duel in fought.items()),
        "The best deviation detector is ahead of the best cell value by more than "
        f"{_MARGIN} of mean AUROC on {' and '.join(KIND_TITLES[kind] for kind in won) or 'neither'}; both make it "
        "hold, one in part. 2D-OOB with its distance term counts as a cell value, though the term measures deviation."
        + _not_run(records),
    )


def _told(records: Records, kind: str, duel: Duel) -> str:
    method, rival = (marked(records.where(kind=kind), name) for name in (duel.method, duel.rival))
    return f"{KIND_TITLES[kind]}: {method} {duel.height:.2f}, {rival} {duel.rival_height:.2f}"


def _not_run(records: Records) -> str:
    """Which methods were not run at all, or not on every table."""
    missing = [method for method in METHODS if method not in methods_of(records)]
    partly = [method for method in methods_of(records) if lacking(records, method)]
    text = ""
    if partly:
        text += (
            f" Not run on every table ({SIGN}), and compared on those that both have: {', '.join(partly)}."
        )
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
