"""The method ``Exact``: every subset of rows under all of columns (Liu et al., ICML 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from shapley2d._models.model_method import MODEL, PREPROCESS, ModelMethod
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Ints
    from shapley2d._methods.run import Run
    from shapley2d._models.game_draws import GameDraws
    from shapley2d._theory.game import Game

MAX_EXACT_UTILITIES = 2**24
"""``Exact`` refuses games with more utilities than this: even at 1 ms each they take hours."""


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

    model: Annotated[Any, MODEL] = "tree"
    preprocess: Annotated[Literal["auto", "none"], PREPROCESS] = "auto"

    def draws_of(
        self, games: Sequence[Game], rows: Sequence[Ints | slice], n_rows: int, run: Run
    ) -> GameDraws:
        """All coalitions of games, in blocks."""
        from shapley2d._models.game_draws import AllSets

        check_exact(games)
        return AllSets(games, rows, n_rows, run.semivalues)


def check_exact(games: Sequence[Game]) -> None:
    """Refuse games with too many coalitions to evaluate all of them."""
    for game in games:
        players = game.n_rows + game.n_columns
        if 2**players > MAX_EXACT_UTILITIES:
            raise InputError(
                f"exact values of {game.n_rows} rows x {game.n_columns} columns need 2^{players} "
                f"utilities, more than 2^{MAX_EXACT_UTILITIES.bit_length() - 1}: use method='mc' "
                "or method='knn', or value groups (row_groups, column_groups)"
            )
