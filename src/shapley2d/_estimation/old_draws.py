"""Numbered Monte Carlo draws of a matrix of values, by permutation sampling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.streams import generator
from shapley2d._theory.axes import step_weights
from shapley2d._theory.game import nested_utilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._estimation.batches import Work
    from shapley2d._theory.game import Game
    from shapley2d._theory.semivalues import Semivalue


class PermutationDraws:
    """One random order of the rows and one of the columns per draw.

    ``seed``: with a draw's number, the seed of its random orders.
    """

    def __init__(self, game: Game, semivalues: tuple[Semivalue, Semivalue], seed: int) -> None:
        self._game = game
        self._steps = [
            step_weights(size, semivalue)
            for size, semivalue in zip((game.n_rows, game.n_columns), semivalues, strict=True)
        ]
        self._seed = seed

    def __call__(self, number: int) -> Floats:
        random = generator(self._seed, "draw", number)
        rows = random.permutation(self._game.n_rows)
        columns = random.permutation(self._game.n_columns)
        utilities = nested_utilities(self._game, rows, columns)
        of_rows, of_columns = self._steps
        values = np.empty((rows.size, columns.size))
        gains = np.diff(np.diff(utilities, axis=1), axis=0)
        values[np.ix_(rows, columns)] = gains * of_rows[:, None] * of_columns
        return values


class MeanDraws:
    """Draws of a cross-valuation: the mean of its games' draws, each over its own rows.

    ``rows``: the rows of the whole table behind the rows of each game; the others get 0.
    """

    def __init__(self, draws: Sequence[Work], rows: Sequence[Ints], n_rows: int) -> None:
        self._draws = draws
        self._rows = rows
        self._n_rows = n_rows

    def __call__(self, number: int) -> Floats:
        parts = [draw(number) for draw in self._draws]
        mean = np.zeros((self._n_rows, parts[0].shape[1]))
        for part, rows in zip(parts, self._rows, strict=True):
            mean[rows] += part / len(parts)
        return mean
