"""The method ``MonteCarlo``: permutation sampling over pairs of a row order and a column order.

Cells are valued as in 2D-Shapley (Liu et al., ICML 2023); sampled permutations estimate Shapley
values without bias (Castro, Gomez and Tejada, 2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from shapley2d._base.defaults import TOLERANCE
from shapley2d._methods.method import PRECISE, Option
from shapley2d._models.model_method import MODEL, PREPROCESS, ModelMethod
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Ints
    from shapley2d._estimation.batches import Work
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game


@dataclass(frozen=True, repr=False)
class MonteCarlo(ModelMethod):
    """Any model, sampled: Monte Carlo over random orders of rows and columns.

    Rows join in a random order, columns in another; what a cell adds when its row and its column
    have both joined is one draw of its value. Each draw trains a model for every pair of a row and
    a column. Draws are averaged until they are precise enough.

    Parameters
    ----------
    model : str, scikit-learn estimator or KNN
        The name of a model, such as ``"tree"``, ``"ridge"``, ``"logistic"`` or ``"knn"``; or an
        estimator; or ``KNN(...)`` for nearest neighbours with other options.
    max_permutations : int
        Stop after this many pairs of orders.
    tolerance : float
        Stop when the largest standard error is at most this share of the spread of the values.
    truncation : float, optional
        Add no more rows once the score is this close to the full score; biased.
    preprocess : {"auto", "none"}
        ``"auto"`` encodes the table as numbers, one-hot where needed; ``"none"`` passes it on
        unchanged, as a pipeline with a ``ColumnTransformer`` always gets it.

    Examples
    --------
    >>> from shapley2d import MonteCarlo, value_cells
    >>> X, y = [[0, 5], [1, 5], [9, 5], [8, 5]], ["low", "low", "high", "high"]
    >>> v = value_cells(X, y, X, y, method=MonteCarlo("ridge", max_permutations=20, tolerance=0))
    >>> v.column_values.round(6).tolist()
    [0.5, 0.0]
    """

    name: ClassVar[str] = "mc"
    summary: ClassVar[str] = (
        "any model, sampled: Monte Carlo over random orders of rows and columns"
    )
    how: ClassVar[str] = "Monte Carlo over random orders of rows and columns"

    model: Annotated[Any, MODEL] = "tree"
    max_permutations: Annotated[int, Option("stop after this many permutations")] = 1000
    tolerance: Annotated[float, PRECISE] = TOLERANCE
    truncation: Annotated[
        float | None,
        Option("add no more rows once the score is this close to the full score; biased", least=0),
    ] = None
    preprocess: Annotated[Literal["auto", "none"], PREPROCESS] = "auto"

    def solve(self, problem: Problem, run: Run) -> Estimate:
        """Monte Carlo values of a model's cells."""
        from shapley2d._models.training_time import check_time

        if problem.grouped and self.truncation is not None:
            raise InputError(
                Setting("truncation"),
                " does not go with groups, whose subsets are few: leave it out",
            )
        parts, run = self.games_and_run(problem, run)
        check_time(parts.games, run, self.model)
        known = {
            "problem": problem,
            "model": self.model,
            "preprocess": self.preprocess,
            "truncation": self.truncation,
        }
        estimate = self.solve_games(parts.games, parts.rows, parts.n_rows, run, known)
        return estimate.noting(**parts.info)

    def solve_games(
        self,
        games: Sequence[Game],
        rows: Sequence[Ints],
        n_rows: int,
        run: Run,
        known: dict[str, Any] | None = None,
    ) -> Estimate:
        """Monte Carlo values of games, the mean over them."""
        from shapley2d._estimation.monte_carlo import monte_carlo
        from shapley2d._methods.identity import open_checkpoint

        kept = open_checkpoint(run, games, n_rows=n_rows, **{"method": "mc", **(known or {})})
        estimate = monte_carlo(
            permutation_draws(games, rows, n_rows, run),
            tolerance=self.tolerance,
            max_draws=self.max_permutations,
            n_jobs=run.n_jobs,
            progress=run.progress,
            title="Monte Carlo",
            checkpoint=kept,
            cluster=run.cluster,
            limit=run.limit,
        )
        run.warn_of_precision(estimate, self.tolerance, "max_permutations", self.max_permutations)
        return estimate


def permutation_draws(games: Sequence[Game], rows: Sequence[Ints], n_rows: int, run: Run) -> Work:
    """Draws of one game, or of the mean over games that each have their own rows."""
    from shapley2d._base.streams import draw_seeds
    from shapley2d._estimation.old_draws import MeanDraws, PermutationDraws

    draws = [
        PermutationDraws(game, run.semivalues, seed)
        for game, seed in zip(games, draw_seeds(run.seed, len(games)), strict=True)
    ]
    return MeanDraws(draws, rows, n_rows)
