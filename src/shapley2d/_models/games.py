"""Games of a function, and around another game: of groups, with the label as a column, remembered.

A game with a ``pause`` calls it before everything that may take long. Draws put theirs there, which
raises where results are no longer wanted (:mod:`shapley2d._models.game_draws`).
"""

from __future__ import annotations

import math
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import counted
from shapley2d.exceptions import UtilityError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._theory.game import Game

MAX_REMEMBERED = 2**18
"""Utilities that a game remembers, about 60 MB; then it begins again."""


def no_pause(utilities: int = 1) -> None:
    """What a game calls that nobody runs, before so many utilities."""


class FunctionGame:
    """A game given by a function of two boolean masks.

    ``function(S, F)`` is the utility of rows ``S`` under columns ``F``, two boolean masks. It is
    not asked about coalitions without rows or without columns, which are worth 0 by definition.
    """

    pause: Callable[..., None] = staticmethod(no_pause)

    def __init__(
        self, function: Callable[[Bools, Bools], float], n_rows: int, n_columns: int
    ) -> None:
        self.function, self.n_rows, self.n_columns = function, n_rows, n_columns

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities, one call of the function for each pair of coalitions."""
        matrix = np.zeros((len(rows), len(columns)))
        some = (np.flatnonzero(masks.any(axis=1)) for masks in (rows, columns))
        for a, b in product(*some):
            matrix[a, b] = self._call(rows[a], columns[b])
        return matrix

    def _call(self, row_mask: Bools, column_mask: Bools) -> float:
        self.pause()
        try:
            utility = float(self.function(row_mask.copy(), column_mask.copy()))
        except Exception as error:
            raise UtilityError(
                f"the game failed on {describe_coalition(row_mask, column_mask)}: {error}"
            ) from error
        if not math.isfinite(utility):
            raise UtilityError(
                f"the game returned {utility} on {describe_coalition(row_mask, column_mask)}"
            )
        return utility


class PausingGame:
    """Somebody else's game, asked row by row, so that a run can stop in between."""

    pause: Callable[..., None] = staticmethod(no_pause)

    def __init__(self, game: Game) -> None:
        self.game, self.n_rows, self.n_columns = game, game.n_rows, game.n_columns

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities."""
        found = []
        for row in rows:
            self.pause()
            found.append(self.game.utilities(row[None], columns)[0])
        return np.array(found)


class AroundGame:
    """A game that asks another one, and is like it in all that it does not say itself."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def __getattr__(self, name: str) -> Any:
        if name == "game":  # not there yet, while it is unpickled
            raise AttributeError(name)
        return getattr(self.game, name)


class GroupedGame(AroundGame):
    """A game whose players are sets of rows and sets of columns of another game."""

    def __init__(self, game: Game, row_labels: ArrayLike, column_labels: ArrayLike) -> None:
        super().__init__(game)
        self._labels = np.asarray(row_labels, np.intp), np.asarray(column_labels, np.intp)
        self.n_rows, self.n_columns = (int(labels.max()) + 1 for labels in self._labels)

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities of coalitions of groups."""
        of_rows, of_columns = self._labels
        return self.game.utilities(rows[:, of_rows], columns[:, of_columns])


class LabelGame(AroundGame):
    """A game with the label as its last column: without it, columns are worth what no rows are.

    ``from_zero``: whether no rows are worth 0, and not a guess, nor the label without features what
    it alone predicts.

    For what a feature is worth beside the label, see
    :func:`shapley2d._theory.semivalues.feature_semivalue`.
    """

    def __init__(self, game: Game, *, from_zero: bool = False) -> None:
        super().__init__(game)
        self.n_columns = game.n_columns + 1
        none = (np.zeros((1, size), dtype=bool) for size in (game.n_rows, game.n_columns))
        self._nothing = 0.0 if from_zero else game.utilities(*none).item()
        self._from_zero = from_zero

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities; only column coalitions with the label are asked of the game."""
        features, labelled = columns[:, :-1], columns[:, -1]
        matrix = np.full((len(rows), len(columns)), self._nothing)
        if labelled.any():
            matrix[:, labelled] = self.game.utilities(rows, features[labelled])
        if self._from_zero:
            matrix[:, ~features.any(axis=1)] = 0.0
        return matrix


class RememberedGame(AroundGame):
    """A game whose utilities are remembered by row coalition and column coalition.

    Few players meet again and again. A worker process remembers what it has computed itself.
    """

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._known = dict[tuple[bytes, bytes], float]()

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_known": {}}

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities; only those that are not known yet are asked of the game."""
        matrix = np.empty((len(rows), len(columns)))
        for (b, column), (a, row) in product(enumerate(columns), enumerate(rows)):
            key = row.tobytes(), column.tobytes()
            if key not in self._known:
                if len(self._known) >= MAX_REMEMBERED:
                    self._known.clear()
                self._known[key] = self.game.utilities(row[None], column[None]).item()
            matrix[a, b] = self._known[key]
        return matrix


def innermost(game: Any) -> Any:
    """The game that others are around, which knows where it can pause."""
    while isinstance(game, AroundGame):
        game = game.game
    return game


def describe_coalition(
    row_mask: Bools,
    column_mask: Bools,
    row_names: NDArray[np.generic] | None = None,
    column_names: list[str] | None = None,
) -> str:
    """Name a coalition in a message, by its first few rows and columns."""

    def listed(mask: Bools, names: Any, what: str) -> str:
        members = np.flatnonzero(mask)
        shown = [str(k if names is None else names[k]) for k in members[:5]]
        dots = ", ..." if members.size > 5 else ""
        return f"{counted(members.size, what)} ({', '.join(shown)}{dots})"

    return f"{listed(row_mask, row_names, 'row')} and {listed(column_mask, column_names, 'column')}"
