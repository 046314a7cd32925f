"""Method ``"oob"``, 2D-OOB: how well trees that never saw a row predict it from a few columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.checks import check_number
from shapley2d._methods.options import KEPT
from shapley2d._methods.record import Method, Option, choice, whole

if TYPE_CHECKING:
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.price import Price
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def solve(problem: Problem, run: Run, **options: Any) -> Estimate:
    """2D-OOB values of the cells of a table."""
    from shapley2d._methods.oob.cells import oob_cells

    return oob_cells(problem, run, **options)


def price(
    problem: Problem, run: Run, *, n_trees: int, column_share: Any, oob_score: str, **_: Any
) -> Price:
    """What a run will take."""
    from shapley2d._methods.oob.cells import check_oob
    from shapley2d._methods.oob.trees import Trees, columns_drawn
    from shapley2d._methods.work_price import price_pieces

    check_oob(problem, run, oob_score)
    table = problem.table
    n_drawn = columns_drawn(column_share, table.n_columns)
    trees = Trees(table, problem.target, int(n_trees), n_drawn, oob_score, run.seed)

    def grow(count: int) -> float:
        some = trees.after(0, count)
        for number in range(some.n_pieces):
            some(number)
        return float(count)

    cells = float(table.n_rows) * table.n_columns
    return price_pieces(
        grow,
        int(n_trees),
        "trees",
        most=int(n_trees),
        pieces=trees.n_pieces,
        memory=4.0 * n_trees * table.n_rows + 60 * cells,
        n_jobs=run.n_jobs,
    )


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
    price=price,
)
