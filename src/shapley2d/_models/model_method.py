"""What the methods share that train a model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from shapley2d._methods.method import Method, Option
from shapley2d._models.by_name import MODELS, check_model, knn_of
from shapley2d._models.wrapped import CachedGame

if TYPE_CHECKING:
    from shapley2d._methods.run import Run
    from shapley2d._models.model_games import ProblemGames
    from shapley2d._tables.problem import Problem

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

    def games(self, problem: Problem, run: Run, threads: int = 1) -> ProblemGames:
        """The games of the model, one for every split."""
        from shapley2d._models.model_games import model_games

        return model_games(self, problem, run, threads)

    def games_and_run(self, problem: Problem, run: Run) -> tuple[ProblemGames, Run]:
        """The games of a problem, and the run for them.

        Groups are few players of many rows. Nearest neighbours sort these rows once for many
        subsets of groups, so that threads share a game; a process trains any other model once for
        a pair of subsets.
        """
        if not problem.grouped:
            return self.games(problem, run), run
        if knn_of(self.model) is None:
            found = self.games(problem, run)
            return replace(found, games=[CachedGame(game) for game in found.games]), run
        threads = -1 if run.n_jobs is None else run.n_jobs
        found = self.games(problem, run, 1 if run.cluster is not None else threads)
        return found, replace(run, n_jobs=1)

    def score(self, problem: Problem, run: Run) -> float:
        """The score of the model trained on the whole table, less the baseline."""
        from shapley2d._estimation.exact import gain_of_all

        threads = -1 if run.n_jobs is None else run.n_jobs
        return gain_of_all(self.games(problem, run, threads).games)
