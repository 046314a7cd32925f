"""Rows of nearly the same 1D value: some for the same reasons, some for quite different ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d_paper.harness.experiment import Claim, Experiment, Judgement, Piece
from shapley2d_paper.interpretation.figure import draw
from shapley2d_paper.interpretation.page import WITHIN, counts_of, headline, tables
from shapley2d_paper.interpretation.work import ALIKE, UNLIKE, work

if TYPE_CHECKING:
    from shapley2d_paper.harness.records import Records


def pieces(quick: bool) -> list[Piece]:
    """The authors' table, and splits of the bundled one."""
    seeds = 1 if quick else 10
    return [
        Piece("authors", {"seed": 0, "table": "authors", "within": WITHIN}),
        *(
            Piece(f"split-{s}", {"seed": s, "table": "split", "within": WITHIN})
            for s in range(seeds)
        ),
    ]


def judge(records: Records) -> Judgement | None:
    """Whether every split has pairs of both kinds."""
    counts = counts_of(records)
    if not len(counts):
        return None
    without = len(records.where(what="count")) - len(counts)
    left_out = (
        f" Splits without pairs of nearly the same 1D value, left out: {without}."
        if without
        else ""
    )
    both = [bool(row["alike"]) and bool(row["unlike"]) for row in counts]
    one = [bool(row["alike"]) or bool(row["unlike"]) for row in counts]
    verdict = "holds" if all(both) else "holds in part" if any(one) else "does not hold"
    return Judgement(
        verdict,  # type: ignore[arg-type]
        f"alike {counts.mean('alike'):.0%}, unlike {counts.mean('unlike'):.0%} of such pairs",
        f"{sum(both)} of {len(both)} splits have pairs of both kinds: cells that correlate by {ALIKE} or more, and by "
        f"{UNLIKE} or less. The claim holds where all splits have both, in part where some have either. Pairs of "
        f"identical rows are left out. Among all pairs, whatever their 1D values, "
        f"{counts.mean('all_alike'):.0%} are alike and {counts.mean('all_unlike'):.0%} unlike.{left_out}",
    )


EXPERIMENT = Experiment(
    name="interpretation",
    title="What is behind a 1D value",
    about=(
        "2D-KNN values (K = 10, exact) of the clean Breast Cancer table: the authors' split where it is at hand, and "
        "ten random splits of the bundled table (one in the quick run). The authors' split is validated on their 242 "
        "test rows, a split of ours on 121 rows, half of those that do not train. All pairs of rows are looked "
        f"through whose 1D values, the sums of their cells, differ by less than {WITHIN:.0%} of the standard deviation "
        "of the 1D values. The figure shows the pair whose cells correlate most and the pair whose cells correlate "
        "least. "
        "The paper shows one pair of each kind and does not say how they were found or how common they are. "
        "Pairs of rows with the same content are left out, since their cells are equal for certain."
    ),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=(
        Claim(
            "Two rows of nearly the same 1D value may have cells of nearly the same values, or of unrelated ones",
            "one example of each",
            judge,
        ),
    ),
)
