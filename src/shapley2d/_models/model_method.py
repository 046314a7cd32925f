"""What the methods share that train a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d._methods.method import Method, Option
from shapley2d._models.by_name import MODELS, check_model

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

    def games(self, problem: Problem, run: Run, threads: int = 1) -> ProblemGames:
        """The games of the model, one for every split."""
        from shapley2d._models.model_games import model_games

        return model_games(self, problem, run, threads)

    def score(self, problem: Problem, run: Run) -> float:
        """The score of the model trained on the whole table, less the baseline."""
        from shapley2d._estimation.exact import gain_of_all

        threads = -1 if run.n_jobs is None else run.n_jobs
        return gain_of_all(self.games(problem, run, threads).games)
