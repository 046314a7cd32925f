"""Games around another game: of groups of players, with the label as a column, with a memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._models.cell_game import CellGame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._theory.game import Game

MAX_REMEMBERED = 2**18
"""Utilities that a game remembers, about 60 MB. Later ones are computed again."""


class _Around:
    """A game that asks another one."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.compiled: bool = getattr(game, "compiled", False)
        self.takes_all_rows: bool = getattr(game, "takes_all_rows", False)
        self.guesses: bool = getattr(game, "guesses", False)


class GroupedGame(_Around):
    """A game whose players are sets of rows and sets of columns of another game."""

    def __init__(self, game: Game, row_labels: ArrayLike, column_labels: ArrayLike) -> None:
        super().__init__(game)
        self._row_labels = np.asarray(row_labels, dtype=np.intp)
        self._column_labels = np.asarray(column_labels, dtype=np.intp)
        self.n_rows = int(self._row_labels.max()) + 1
        self.n_columns = int(self._column_labels.max()) + 1

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities of coalitions of groups."""
        return self.game.utilities(rows[:, self._row_labels], columns[:, self._column_labels])


class LabelGame(_Around):
    """A game with the label as its last column: without it, columns are worth what no rows are.

    ``from_zero``: whether no rows are worth 0, and not a guess, nor the label without features what
    it alone predicts.

    For what a feature is worth beside the label, see
    :func:`shapley2d._theory.semivalues.feature_semivalue`.
    """

    def __init__(self, game: Game, *, from_zero: bool = False) -> None:
        super().__init__(game)
        self.n_rows = game.n_rows
        self.n_columns = game.n_columns + 1
        none = (np.zeros((1, size), dtype=bool) for size in (game.n_rows, game.n_columns))
        self._nothing = 0.0 if from_zero else game.utilities(*none).item()
        self._from_zero = from_zero

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities; only column coalitions with the label are asked of the game."""
        labelled = columns[:, -1]
        matrix = np.full((len(rows), len(columns)), self._nothing)
        if labelled.any():
            matrix[:, labelled] = self.game.utilities(rows, columns[labelled, :-1])
        if self._from_zero:
            matrix[:, ~columns[:, :-1].any(axis=1)] = 0.0
        return matrix


class RememberedGame(_Around):
    """A game whose utilities are remembered by row coalition and column coalition.

    Few players meet again and again. A worker process remembers what it has computed itself.
    """

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._known = dict[tuple[bytes, bytes], float]()
        self.n_rows, self.n_columns = game.n_rows, game.n_columns

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_known": {}}

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities; only those that are not known yet are asked of the game."""
        matrix = np.empty((len(rows), len(columns)))
        for b, column in enumerate(columns):
            keys = [(row.tobytes(), column.tobytes()) for row in rows]
            new = [a for a, key in enumerate(keys) if key not in self._known]
            found = {}
            if new:
                worth = self.game.utilities(rows[new], columns[b : b + 1])[:, 0].tolist()
                found = dict(zip([keys[a] for a in new], worth, strict=True))
            if len(self._known) < MAX_REMEMBERED:
                self._known |= found
            matrix[:, b] = [found[key] if key in found else self._known[key] for key in keys]
        return matrix


def stop_at(games: Sequence[Any], limit: TimeLimit) -> None:
    """Train no more than the limit allows, in games of models, with or without others around."""
    for game in games:
        inner = game
        while isinstance(inner, _Around):
            inner = inner.game
        if isinstance(inner, CellGame):
            inner.limit = limit
