"""Method ``"oob"``, 2D-OOB: how well trees that never saw a row predict it from a few columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.checks import check_number
from shapley2d._methods.options import KEPT
from shapley2d._methods.record import Method, Option, choice, whole

if TYPE_CHECKING:
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def solve(problem: Problem, run: Run, **options: Any) -> Estimate:
    """2D-OOB values of the cells of a table."""
    from shapley2d._methods.oob.cells import oob_cells

    return oob_cells(problem, run, **options)


METHOD = Method(
    name="oob",
    summary="2D-OOB, bagged trees: how well trees that never saw a row predict it from the column",
    solve=solve,
    comparison=True,
    options=(
        whole("n_trees", 1000, "how many trees to grow"),
        Option(
            "column_share",
            0.25,
            "the share of the columns that a tree sees, or a whole number of them",
            float,
            check=check_number,
            metavar="X",
        ),
        choice(
            "oob_score",
            ("correct", "distance"),
            "right predictions, or with the distance from the class's mean",
        ),
        *KEPT,
    ),
    how="out-of-bag performance of a bagged ensemble (2D-OOB)",
    meaning="the mean score of its row by trees that saw its column and never saw the row",
    total="",
    caution="The values are mean scores of trees, not contributions: a low one is suspect, "
    "its sign means nothing.",
    validates=False,
)
