"""The paper's 2D-MC: Monte Carlo over pairs of orders, with a decision tree on whole grids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from shapley2d import MonteCarlo
from shapley2d._base.defaults import TOLERANCE
from shapley2d._methods.method import PRECISE, Method, Option
from shapley2d._methods.score_facts import score_facts
from shapley2d._models.game_draws import Orders
from shapley2d_paper.baselines.checks import refuse_settings
from shapley2d_paper.baselines.tree import tree_games

if TYPE_CHECKING:
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


@dataclass(frozen=True, repr=False)
class TreeMC(Method):
    """2D-MC with a decision tree, as in the paper: no columns are worth 0.

    Parameters
    ----------
    max_draws : int
        Stop after this many pairs of orders.
    tolerance : float
        Stop when the largest standard error is at most this share of the spread of the values.
    """

    name: ClassVar[str] = "tree_mc"
    summary: ClassVar[str] = "2D-MC with a decision tree, as in the paper: no columns are worth 0"
    how: ClassVar[str] = MonteCarlo.how
    total: ClassVar[str] = "the model's score"

    max_draws: Annotated[int, Option("stop after this many permutations")] = 1000
    tolerance: Annotated[float, PRECISE] = TOLERANCE

    def draws(self, problem: Problem, run: Run) -> Orders:
        """Random orders of rows and of columns, as :class:`~shapley2d.MonteCarlo` draws them."""
        refuse_settings(self.name, scoring=problem.scoring)
        games, rows = tree_games(problem), [split.rows for split in problem.splits]
        asked = (games, rows, problem.table.n_rows, run.semivalues)
        draws = Orders(*asked, seed=run.seed, most=self.max_draws)
        draws.known = {"model": "tree", **score_facts(problem, "model")}
        return draws
