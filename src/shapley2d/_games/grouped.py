"""Games whose players are groups of rows and groups of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._theory.coalitions import GroupedCoalitions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from shapley2d._theory.coalitions import Coalitions
    from shapley2d._theory.game import Game


class GroupedGame:
    """A game whose players are groups of rows and groups of columns of another game.

    Parameters
    ----------
    game : Game
        A game over single rows and columns.
    row_labels, column_labels : array-like of int
        The group, 0 to the number of groups minus 1, of every row and of every column.

    Examples
    --------
    >>> from shapley2d._games.function import FunctionGame
    >>> from shapley2d._theory.coalitions import SubsetCoalitions
    >>> game = GroupedGame(FunctionGame(lambda S, F: S.sum() * F.sum(), 3, 2), [0, 0, 1], [0, 0])
    >>> game.utilities(SubsetCoalitions(2), SubsetCoalitions(1))[:, 1]
    array([0., 4., 2., 6.])
    """

    def __init__(self, game: Game, row_labels: ArrayLike, column_labels: ArrayLike) -> None:
        self._game = game
        self._row_labels = np.asarray(row_labels, dtype=np.intp)
        self._column_labels = np.asarray(column_labels, dtype=np.intp)
        self.n_rows = int(self._row_labels.max()) + 1
        self.n_columns = int(self._column_labels.max()) + 1

    def utilities(self, rows: Coalitions, columns: Coalitions) -> NDArray[np.float64]:
        """Matrix of utilities of coalitions of groups."""
        return self._game.utilities(
            GroupedCoalitions(rows, self._row_labels),
            GroupedCoalitions(columns, self._column_labels),
        )
