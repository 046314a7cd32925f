"""Games around another game: of groups of players, with the label as a column, with a memory."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._theory.game import nested_utilities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._theory.game import Game

MAX_CACHED = 2**18
"""Utilities that a game remembers, about 60 MB. Later ones are computed again."""

Cache = dict[tuple[bytes, bytes], float]

_worker_caches: dict[str, Cache] = {}


class GroupedGame:
    """A game whose players are sets of rows and sets of columns of another game."""

    def __init__(self, game: Game, row_labels: ArrayLike, column_labels: ArrayLike) -> None:
        self._game = game
        self._row_labels = np.asarray(row_labels, dtype=np.intp)
        self._column_labels = np.asarray(column_labels, dtype=np.intp)
        self.n_rows = int(self._row_labels.max()) + 1
        self.n_columns = int(self._column_labels.max()) + 1

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities of coalitions of groups."""
        return self._game.utilities(rows[:, self._row_labels], columns[:, self._column_labels])


class LabelGame:
    """A game with the label as its last column: without it, columns are worth what no rows are.

    For what a feature is worth beside the label, see
    :func:`shapley2d._theory.semivalues.feature_semivalue`.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self.n_rows = game.n_rows
        self.n_columns = game.n_columns + 1
        none = (np.zeros((1, size), dtype=bool) for size in (game.n_rows, game.n_columns))
        self._nothing = game.utilities(*none).item()

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities; only column coalitions with the label are asked of the game."""
        labelled = columns[:, -1]
        matrix = np.full((len(rows), len(columns)), self._nothing)
        if labelled.any():
            matrix[:, labelled] = self._game.utilities(rows, columns[labelled, :-1])
        return matrix

    def grid(self, row_order: Ints, column_order: Ints, start: int = 0) -> Floats:
        """Utilities of nested coalitions; only those with the label are asked of the game."""
        before = int(np.argmax(column_order == self.n_columns - 1))  # columns that join earlier
        features = np.delete(column_order, before)
        labelled = nested_utilities(self._game, row_order, features, max(start - 1, before))
        without = np.full((self.n_rows + 1, max(before + 1 - start, 0)), self._nothing)
        return np.concatenate([without, labelled], axis=1)


class CachedGame:
    """Utilities of another game, remembered by row coalition and column coalition.

    A copy of the game that is sent to a worker process finds what that worker has computed before,
    so that each process trains a pair of coalitions at most once. Copies take along
    what was known when :meth:`share` was called.
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._key = uuid.uuid4().hex
        self._cache: Cache = {}
        self._shared: Cache = {}
        self.n_rows = game.n_rows
        self.n_columns = game.n_columns

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._key not in _worker_caches and len(_worker_caches) >= 64:  # bounds the memory
            _worker_caches.clear()
        self._cache = _worker_caches.setdefault(self._key, dict(self._shared))

    def share(self) -> None:
        """Give what is known now to all copies."""
        self._shared = dict(self._cache)

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities; only those that are not known yet are asked of the game."""
        row_keys, column_keys = _keys(rows), _keys(columns)
        first_row = {key: a for a, key in reversed(list(enumerate(row_keys)))}
        first_column = {key: b for b, key in reversed(list(enumerate(column_keys)))}
        known: Cache = {}
        # columns that lack the same rows share a call, and with it the game's work per column
        lacking: dict[tuple[bytes, ...], list[bytes]] = {}
        for column_key in first_column:
            absent = []
            for row_key in first_row:
                utility = self._cache.get((row_key, column_key))
                if utility is None:
                    absent.append(row_key)
                else:
                    known[row_key, column_key] = utility
            if absent:
                lacking.setdefault(tuple(absent), []).append(column_key)
        for absent_rows, absent_columns in lacking.items():
            a = [first_row[key] for key in absent_rows]
            b = [first_column[key] for key in absent_columns]
            block = self._game.utilities(rows[a], columns[b])
            for p, row_key in enumerate(absent_rows):
                for q, column_key in enumerate(absent_columns):
                    known[row_key, column_key] = block[p, q]
                    if len(self._cache) < MAX_CACHED:
                        self._cache[row_key, column_key] = block[p, q]
        return np.array([[known[r, c] for c in column_keys] for r in row_keys]).reshape(
            len(row_keys), len(column_keys)
        )


def _keys(masks: Bools) -> list[bytes]:
    return [packed.tobytes() for packed in np.packbits(masks, axis=1)]
