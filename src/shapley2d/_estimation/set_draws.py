"""Draws of a game of two axes whose utilities have error lines: all sets, or random orders.

Both are numbered lists. A draw depends on its number alone, so it may be computed by any worker;
:mod:`shapley2d._estimation.old_total` adds them up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from shapley2d._base.streams import generator
from shapley2d._estimation.old_total import Draw
from shapley2d._theory.semivalues import marginal_weights, size_probabilities

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


def subsets(n: int, start: int = 0, stop: int | None = None) -> Bools:
    """All sets of ``n`` players, or some of them, as masks; number 0 is empty."""
    numbers = np.arange(start, 2**n if stop is None else min(stop, 2**n))
    return (numbers[:, None] >> np.arange(n) & 1).astype(bool)


def set_weights(masks: Bools, semivalue: Semivalue) -> Floats:
    """What a set counts in the value of each player where all sets are evaluated."""
    joins = marginal_weights(semivalue, masks.shape[1])
    size = masks.sum(axis=1)
    return np.where(masks, np.append(0.0, joins)[size, None], -np.append(joins, 0.0)[size, None])


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
        self._steps = [
            size * size_probabilities(one, size)
            for one, size in zip(semivalues, sizes, strict=True)
        ]

    def __call__(self, number: int) -> Draw:
        game, random = self._game, generator(self._seed, "draw", number)
        order = random.permutation(game.n_rows)
        columns = random.permutation(game.n_columns)
        places, column_places = np.argsort(order), np.argsort(columns)
        rows = places < np.arange(1, game.n_rows + 1)[:, None]
        values = np.zeros((game.n_rows, game.n_columns, 1 + game.n_lines))
        before = np.zeros((game.n_rows, 1 + game.n_lines))
        for k, (column, step) in enumerate(zip(columns, self._steps[1], strict=True), start=1):
            worth = np.stack([game.utility(mask, column_places < k) for mask in rows])
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
