"""Draws of a game of two axes whose utilities have error lines: all sets, or random orders.

Both are numbered lists. A draw depends on its number alone, so it may be computed by any worker;
:mod:`shapley2d._estimation.old_total` adds them up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from shapley2d._base.streams import generator
from shapley2d._estimation.old_total import Draw
from shapley2d._theory.axes import nested, set_weights, step_weights, subsets

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._theory.semivalues import Semivalue


class LinedGame(Protocol):
    """A game of two axes; ``utility`` is a number, then its error lines."""

    n_rows: int
    n_columns: int
    n_lines: int

    def utility(self, rows: Bools, columns: Bools, /) -> Floats: ...


SETS = 8
"""Sets of contributors in a draw."""


class AllSets:
    """Every set of contributors under every set of columns: a draw has a few of the former."""

    def __init__(self, game: LinedGame, semivalues: tuple[Semivalue, Semivalue]) -> None:
        self._game, self._semivalues = game, semivalues
        self._columns = subsets(game.n_columns)[1:]
        self._of_columns = set_weights(self._columns, semivalues[1])
        self.count = -(-(2**game.n_rows) // SETS)

    def __call__(self, number: int) -> Draw:
        game = self._game
        rows = subsets(game.n_rows, number * SETS, (number + 1) * SETS)
        of_rows = set_weights(rows, self._semivalues[0])
        values = np.zeros((game.n_rows, game.n_columns, 1 + game.n_lines))
        under_all = []
        for mask, weights in zip(rows, of_rows, strict=True):
            worth = np.stack([game.utility(mask, columns) for columns in self._columns])
            values += weights[:, None, None] * np.tensordot(self._of_columns, worth, (0, 0))
            under_all.append(worth[-1])
        return Draw(values, *scored_sets(game, rows, np.stack(under_all)))


class Orders:
    """A random order of contributors and one of columns: second differences of nested sets."""

    def __init__(self, game: LinedGame, semivalues: tuple[Semivalue, Semivalue], seed: int) -> None:
        self._game, self._seed = game, seed
        sizes = game.n_rows, game.n_columns
        self._steps = [step_weights(size, one) for one, size in zip(semivalues, sizes, strict=True)]

    def __call__(self, number: int) -> Draw:
        game, random = self._game, generator(self._seed, "draw", number)
        order = random.permutation(game.n_rows)
        columns = random.permutation(game.n_columns)
        places, rows = np.argsort(order), nested(order)[1:]
        values = np.zeros((game.n_rows, game.n_columns, 1 + game.n_lines))
        before = np.zeros((game.n_rows, 1 + game.n_lines))
        under = zip(columns, nested(columns)[1:], self._steps[1], strict=True)
        for column, chosen, step in under:
            worth = np.stack([game.utility(mask, chosen) for mask in rows])
            values[order, column] = step * np.diff(worth - before, axis=0, prepend=0.0)
            before = worth
        values *= self._steps[0][places][:, None, None]
        return Draw(values, *scored_sets(game, rows, before), places)


def scored_sets(game: LinedGame, sets: Bools, worth: Floats) -> tuple[Bools, Floats]:
    """Sets of contributors under all columns: scores, their errors, and those of what they lose."""
    everything = np.ones(game.n_columns, dtype=bool)
    whole = game.utility(np.ones(game.n_rows, dtype=bool), everything)
    own, lost = ((one[:, 1:] ** 2).sum(axis=1) for one in (worth, whole - worth))
    return sets, np.stack([worth[:, 0], np.sqrt(own), np.sqrt(lost)], axis=1)
