"""The method ``MonteCarlo``: permutation sampling over pairs of a row order and a column order.

Cells are valued as in 2D-Shapley (Liu et al., ICML 2023); sampled permutations estimate Shapley
values without bias (Castro, Gomez and Tejada, 2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from shapley2d._base.defaults import TOLERANCE
from shapley2d._methods.method import MOST, PRECISE, Option
from shapley2d._models.model_method import MODEL, PREPROCESS, ModelMethod
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Ints
    from shapley2d._methods.run import Run
    from shapley2d._models.game_draws import GameDraws
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game


@dataclass(frozen=True, repr=False)
class MonteCarlo(ModelMethod):
    """Any model, sampled: Monte Carlo over random orders of rows and columns.

    2D-MC, Algorithm 1 of the paper (Liu et al., ICML 2023).

    Rows join in a random order, columns in another; what a cell adds when its row and its column
    have both joined is one draw of its value. Each draw trains a model for every pair of a row and
    a column. Draws are averaged until they are precise enough.

    Parameters
    ----------
    model : str, scikit-learn estimator or KNN
        The name of a model, such as ``"tree"``, ``"ridge"`` or ``"knn"``; or an
        estimator; or ``KNN(...)`` for nearest neighbours with other options.
    max_draws : int
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
    >>> v = value_cells(X, y, X, y, method=MonteCarlo("ridge", max_draws=20, tolerance=0))
    >>> v.column_values.round(6).tolist()
    [0.5, 0.0]
    """

    name: ClassVar[str] = "mc"
    summary: ClassVar[str] = (
        "any model, sampled: Monte Carlo over random orders of rows and columns"
    )
    how: ClassVar[str] = "Monte Carlo over random orders of rows and columns"

    model: Annotated[Any, MODEL] = "tree"
    max_draws: Annotated[int, MOST] = 1000
    tolerance: Annotated[float, PRECISE] = TOLERANCE
    truncation: Annotated[
        float | None,
        Option("add no more rows once the score is this close to the full score; biased", least=0),
    ] = None
    preprocess: Annotated[Literal["auto", "none"], PREPROCESS] = "auto"

    def draws(self, problem: Problem, run: Run) -> GameDraws:
        """Random orders of a model's rows and columns."""
        if problem.grouped and self.truncation is not None:
            raise InputError(
                "truncation does not go with groups, whose subsets are few: leave it out"
            )
        return super().draws(problem, run)

    def check_time(self, draws: GameDraws, run: Run) -> None:
        """Refuse a time limit in which too few draws for a first result can be made."""
        from shapley2d._models.training_time import check_time

        check_time(draws, run)

    def draws_of(
        self, games: Sequence[Game], rows: Sequence[Ints | slice], n_rows: int, run: Run
    ) -> GameDraws:
        """Random orders of the players of games."""
        from shapley2d._models.game_draws import Orders

        return Orders(
            games,
            rows,
            n_rows,
            run.semivalues,
            seed=run.seed,
            most=self.max_draws,
            truncation=self.truncation,
        )
