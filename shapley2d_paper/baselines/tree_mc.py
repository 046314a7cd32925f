"""The paper's 2D-MC: Monte Carlo over pairs of orders, with a decision tree on whole grids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d._methods.options import MAX_PERMUTATIONS, TOLERANCE
from shapley2d._methods.record import Method
from shapley2d._methods.score_facts import score_facts
from shapley2d._models import monte_carlo as mc
from shapley2d_paper.baselines.tree import tree_games

if TYPE_CHECKING:
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def solve(problem: Problem, run: Run, *, max_permutations: int, tolerance: float) -> Estimate:
    """Monte Carlo values of the cells, as ``method="mc"`` samples them."""
    estimate = mc.solve_games(
        tree_games(problem),
        [split.rows for split in problem.splits],
        problem.table.n_rows,
        run,
        max_permutations=max_permutations,
        tolerance=tolerance,
        checkpoint=None,
        cluster=None,
    )
    return estimate.noting(model="tree", **score_facts(problem, None, "model"))


TREE_MC = Method(
    name="tree_mc",
    summary="2D-MC with a decision tree, as in the paper: no columns are worth 0",
    solve=solve,
    options=(MAX_PERMUTATIONS, TOLERANCE),
    how="Monte Carlo over random orders of rows and columns",
    total="the model's score",
)
