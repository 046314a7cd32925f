"""The methods ``Exact`` and ``MonteCarlo``: any model or function, by all subsets or random orders.

Cells are valued as in 2D-Shapley (Liu et al., ICML 2023); sampled permutations estimate Shapley
values without bias (Castro, Gomez and Tejada, 2009).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from shapley2d._base.defaults import TOLERANCE
from shapley2d._methods.method import MOST, PRECISE, Method, Option
from shapley2d._models.by_name import MODELS, check_model
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Ints
    from shapley2d._estimation.draws import Draws
    from shapley2d._methods.run import Run
    from shapley2d._models.game_draws import GameDraws
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game

MAX_EXACT_UTILITIES = 2**24
"""``Exact`` refuses games with more utilities than this: even at 1 ms each they take hours."""

AnyModel = Annotated[
    Any,
    Option(
        "the name of a model; or a scikit-learn estimator", check=check_model, words=tuple(MODELS)
    ),
]
Preprocess = Annotated[
    Literal["auto", "none"],
    Option(
        "auto encodes the table as numbers, one-hot where needed; none passes it on unchanged, as "
        "a pipeline with a ColumnTransformer always gets it",
        python_only=True,
    ),
]


class ModelMethod(Method):
    """What the methods share that train a ``model``, or ask any game."""

    model: AnyModel

    def games(
        self, problem: Problem, run: Run
    ) -> tuple[list[Any], list[Ints], int, dict[str, Any]]:
        """The games of the model, one for every split, with what goes with them."""
        from shapley2d._models.model_games import model_games

        return model_games(self, problem, run)

    def draws(self, problem: Problem, run: Run) -> Draws:
        """The draws of the model's games."""
        games, rows, n_rows, info = self.games(problem, run)
        draws = self.draws_of(games, rows, n_rows, run)
        draws.known = info
        return draws

    def score(self, problem: Problem, run: Run) -> float:
        """The score of the model trained on the whole table, less the baseline."""
        from shapley2d._theory.game import gain_of_all

        games, *_ = self.games(problem, run)
        return gain_of_all(games, from_zero=problem.baseline == "zero")


@dataclass(frozen=True, repr=False)
class Exact(ModelMethod):
    """Any model, trained on every subset of rows and columns: for a dozen of them in all.

    Parameters
    ----------
    model : str, scikit-learn estimator or KNN
        The name of a model, such as ``"tree"``, ``"ridge"`` or ``"knn"``; or an
        estimator; or ``KNN(...)`` for nearest neighbours with other options.
    preprocess : {"auto", "none"}
        ``"auto"`` encodes the table as numbers, one-hot where needed; ``"none"`` passes it on
        unchanged, as a pipeline with a ``ColumnTransformer`` always gets it.

    Examples
    --------
    >>> from shapley2d import Exact, value_cells
    >>> X, y = [[0, 5], [1, 5], [9, 5], [8, 5]], ["low", "low", "high", "high"]
    >>> value_cells(X, y, X, y, method=Exact("ridge")).column_values.round(6).tolist()
    [0.5, 0.0]
    """

    name: ClassVar[str] = "exact"
    summary: ClassVar[str] = (
        "any model, trained on every subset: for a dozen rows and columns in all"
    )
    how: ClassVar[str] = "every subset of rows and columns"

    model: AnyModel = "tree"
    preprocess: Preprocess = "auto"

    def draws_of(
        self, games: Sequence[Game], rows: Sequence[Ints | slice], n_rows: int, run: Run
    ) -> GameDraws:
        """All coalitions of games, in blocks."""
        from shapley2d._models.game_draws import AllSets

        for game in games:
            players = game.n_rows + game.n_columns
            if 2**players > MAX_EXACT_UTILITIES:
                raise InputError(
                    f"exact values of {game.n_rows} rows x {game.n_columns} columns need "
                    f"2^{players} utilities, more than 2^{MAX_EXACT_UTILITIES.bit_length() - 1}: "
                    "use method='mc' or method='knn', or value groups (row_groups, column_groups)"
                )
        return AllSets(games, rows, n_rows, run.semivalues)


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

    model: AnyModel = "tree"
    max_draws: Annotated[int, MOST] = 1000
    tolerance: Annotated[float, PRECISE] = TOLERANCE
    truncation: Annotated[
        float | None,
        Option("add no more rows once the score is this close to the full score; biased", least=0),
    ] = None
    preprocess: Preprocess = "auto"

    def draws(self, problem: Problem, run: Run) -> Draws:
        """Random orders of a model's rows and columns, if there is time for a first result."""
        from shapley2d._models.model_games import check_time

        if problem.grouped and self.truncation is not None:
            raise InputError(
                "truncation does not go with groups, whose subsets are few: leave it out"
            )
        draws = super().draws(problem, run)
        check_time(draws, run)
        return draws

    def draws_of(
        self, games: Sequence[Game], rows: Sequence[Ints | slice], n_rows: int, run: Run
    ) -> GameDraws:
        """Random orders of the players of games."""
        from shapley2d._models.game_draws import Orders

        asked, most = (games, rows, n_rows, run.semivalues), self.max_draws
        return Orders(*asked, seed=run.seed, most=most, truncation=self.truncation)
