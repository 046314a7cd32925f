"""2D leave-one-out: the table without a row, without a column and without both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from shapley2d import OneDraw
from shapley2d._methods.method import Method
from shapley2d._methods.score_facts import score_facts
from shapley2d_paper.baselines.checks import refuse_semivalue, refuse_settings
from shapley2d_paper.baselines.tree import tree_games

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game


@dataclass(frozen=True, repr=False)
class LOO(Method):
    """2D leave-one-out with a decision tree: the table without a row, a column, and both."""

    name: ClassVar[str] = "loo"
    summary: ClassVar[str] = (
        "2D leave-one-out with a decision tree: the table without a row, a column, and both"
    )
    how: ClassVar[str] = "leaving out one row and one column at a time"
    meaning: ClassVar[str] = (
        "what the whole table's performance owes to its row and its column together"
    )
    total: ClassVar[str] = ""

    def draws(self, problem: Problem, run: Run) -> OneDraw:
        """2D leave-one-out values of the cells, the mean over the splits."""
        asked = {"checkpoint": run.checkpoint, "cluster": run.cluster}
        refuse_settings(self.name, scoring=problem.scoring, **asked)
        refuse_semivalue(self.name, run, "it only looks at the whole table")
        games = tree_games(problem)
        values = np.zeros((problem.table.n_rows, games[0].n_columns))
        for game, split in zip(games, problem.splits, strict=True):
            values[split.rows] += leave_one_out(game)
        facts = {"model": "tree", **score_facts(problem, "model")}
        return OneDraw(values / len(games), facts=facts)


def leave_one_out(game: Game) -> NDArray[np.float64]:
    """What every row and column add together to all the others: h(N, M) - h(N-i, M) - ....

    Examples
    --------
    >>> from shapley2d._models.games import FunctionGame
    >>> leave_one_out(FunctionGame(lambda S, F: S.sum() * F.sum(), 2, 3)).tolist()
    [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """
    utilities = game.utilities(_all_but_one(game.n_rows), _all_but_one(game.n_columns))
    without_row = utilities[0] - utilities[1:]
    return np.asarray(without_row[:, :1] - without_row[:, 1:])


def _all_but_one(n_players: int) -> NDArray[np.bool_]:
    """All players, then all without player 0, all without player 1, and so on."""
    return np.vstack([np.ones(n_players, dtype=bool), ~np.eye(n_players, dtype=bool)])
