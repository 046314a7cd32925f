"""More and more outliers: whether 2D-KNN still finds them when they are less rare."""

from __future__ import annotations

from shapley2d_paper.budget.claims import CLAIMS
from shapley2d_paper.budget.page import KINDS, RATES, draw, headline, tables
from shapley2d_paper.budget.work import work
from shapley2d_paper.harness.experiment import Experiment, Piece


def pieces(quick: bool) -> list[Piece]:
    """One table per kind of outlier and seed, corrupted at every rate."""
    return [
        Piece(f"{kind}-{seed}", {"seed": seed, "kind": kind, "rates": list(RATES)})
        for kind in KINDS[: 1 if quick else None]
        for seed in range(1 if quick else 10)
    ]


EXPERIMENT = Experiment(
    name="budget",
    title="1 to 15 % of the cells corrupted",
    about=(
        "Breast Cancer, 241 rows x 9 columns, random splits of the bundled table, ten seeds (one seed and one kind in "
        "the quick run). 1, 2, 5, 10 and 15 % of the cells get values that fewer than 5 % of the rows have: of the "
        "rows of their class, or of all rows, as in `outliers`. 2D-KNN, exact, K = 10, default metric; cells are "
        "inspected from the lowest value on. Values are validated on 121 rows, half of those that do not train. The "
        "paper shows curves and no numbers. Where more cells are corrupted than are inspected, these cannot hold all "
        "of them: the tables say how many they can hold."
    ),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=CLAIMS,
)
