"""What the methods share that train a model."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from shapley2d._methods.method import Method, Option
from shapley2d._models.by_name import MODELS, check_model
from shapley2d._models.wrapped import RememberedGame, stop_at

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Ints
    from shapley2d._methods.run import Run
    from shapley2d._models.game_draws import GameDraws
    from shapley2d._models.model_games import ProblemGames
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game

MODEL = Option(
    "the name of a model; or a scikit-learn estimator", check=check_model, words=tuple(MODELS)
)
"""The option of methods that train a model."""

PREPROCESS = Option(
    "auto encodes the table as numbers, one-hot where needed; none passes it on unchanged, as a "
    "pipeline with a ColumnTransformer always gets it",
    python_only=True,
)
"""How a table is prepared for it."""


class ModelMethod(Method):
    """What the methods share that train a ``model``."""

    model: Any

    @abstractmethod
    def draws_of(
        self, games: Sequence[Game], rows: Sequence[Ints | slice], n_rows: int, run: Run
    ) -> GameDraws:
        """The draws of games, each with its rows of the result; the mean over them."""

    def games(self, problem: Problem, run: Run) -> ProblemGames:
        """The games of the model, one for every split."""
        from shapley2d._models.model_games import model_games

        return model_games(self, problem, run)

    def draws(self, problem: Problem, run: Run) -> GameDraws:
        """The draws of the model's games."""
        found = self.games(problem, run)
        games = found.games
        if problem.grouped:  # of few players coalitions come again
            games = [
                game if getattr(game, "compiled", False) else RememberedGame(game) for game in games
            ]
        draws = self.draws_of(games, found.rows, found.n_rows, run)
        draws.known = found.info
        self.check_time(draws, run)
        if run.limit is not None:
            stop_at(games, run.limit.at_latest())
        return draws

    def check_time(self, draws: GameDraws, run: Run) -> None:
        """Refuse a time limit that is too short for any result, where that is known."""

    def score(self, problem: Problem, run: Run) -> float:
        """The score of the model trained on the whole table, less the baseline."""
        from shapley2d._theory.game import gain_of_all

        from_zero = problem.baseline == "zero"
        return gain_of_all(self.games(problem, run).games, from_zero=from_zero)
