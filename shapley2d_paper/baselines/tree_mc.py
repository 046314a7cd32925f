"""The paper's 2D-MC: Monte Carlo over pairs of orders, with a decision tree on whole grids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from shapley2d import MonteCarlo
from shapley2d._base.defaults import TOLERANCE
from shapley2d._methods.method import Method, Option
from shapley2d._methods.score_facts import score_facts
from shapley2d_paper.baselines.checks import refuse_settings
from shapley2d_paper.baselines.tree import tree_games

if TYPE_CHECKING:
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


@dataclass(frozen=True, repr=False)
class TreeMC(Method):
    """2D-MC with a decision tree, as in the paper: no columns are worth 0.

    Parameters
    ----------
    max_permutations : int
        Stop after this many pairs of orders.
    tolerance : float
        Stop when the largest standard error is at most this share of the spread of the values.
    """

    name: ClassVar[str] = "tree_mc"
    summary: ClassVar[str] = "2D-MC with a decision tree, as in the paper: no columns are worth 0"
    how: ClassVar[str] = MonteCarlo.how
    total: ClassVar[str] = "the model's score"

    max_permutations: Annotated[int, Option("stop after this many permutations")] = 1000
    tolerance: Annotated[
        float, Option("the largest standard error, as a share of the values' spread", least=0)
    ] = TOLERANCE

    def solve(self, problem: Problem, run: Run) -> Estimate:
        """Monte Carlo values of the cells, as :class:`~shapley2d.MonteCarlo` samples them."""
        refuse_settings(self.name, problem, run)
        sampled = MonteCarlo(max_permutations=self.max_permutations, tolerance=self.tolerance)
        rows = [split.rows for split in problem.splits]
        estimate = sampled.solve_games(tree_games(problem), rows, problem.table.n_rows, run)
        return estimate.noting(model="tree", **score_facts(problem, "model"))
