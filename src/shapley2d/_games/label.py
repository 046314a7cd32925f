"""The label as one more column: a coalition of columns without it is worth what no rows are.

The label's column comes last. For what a feature is worth beside it, see
:func:`shapley2d._theory.semivalues.feature_semivalue`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._theory.coalitions import MaskCoalitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._theory.coalitions import Coalitions
    from shapley2d._theory.game import Game


class LabelGame:
    """A game with the label as its last column; without the label nothing can be learned, as without rows.

    Parameters
    ----------
    game : Game
        The game over the features, in which the label is always known.

    Examples
    --------
    >>> from shapley2d._theory.coalitions import SubsetCoalitions
    >>> from shapley2d._games.function import FunctionGame
    >>> game = LabelGame(FunctionGame(lambda S, F: S.sum() * F.sum(), 1, 1))
    >>> game.utilities(SubsetCoalitions(1), SubsetCoalitions(2))[1]
    array([0., 0., 0., 1.])
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self.n_rows = game.n_rows
        self.n_columns = game.n_columns + 1
        none = (
            MaskCoalitions(np.zeros((1, size), dtype=bool))
            for size in (game.n_rows, game.n_columns)
        )
        self._nothing = float(game.utilities(*none)[0, 0])

    def utilities(self, rows: Coalitions, columns: Coalitions) -> NDArray[np.float64]:
        """Matrix of utilities; only column coalitions with the label are asked of the game."""
        masks = columns.masks()
        labelled = np.flatnonzero(masks[:, -1])
        matrix = np.full((len(rows), len(columns)), self._nothing)
        if labelled.size:
            matrix[:, labelled] = self._game.utilities(rows, MaskCoalitions(masks[labelled, :-1]))
        return matrix
