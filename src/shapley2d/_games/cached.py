"""A game that remembers: no utility of a pair of coalitions is computed twice."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._theory.coalitions import MaskCoalitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._theory.coalitions import Coalitions
    from shapley2d._theory.game import Game

MAX_CACHED = 2**18
"""Utilities that a game remembers; some 60 MB. Later ones are computed again."""

Cache = dict[tuple[bytes, bytes], float]

_MAX_WORKER_CACHES = 64
_worker_caches: dict[str, Cache] = {}


class CachedGame:
    """Utilities of another game, remembered by row coalition and column coalition.

    A copy of the game that is sent to a worker process finds what that worker has computed before,
    so that each process trains a pair of coalitions at most once.

    Parameters
    ----------
    game : Game
        A game with few enough players that coalitions recur.

    Attributes
    ----------
    n_computed : int
        Utilities computed in this process, of coalitions that have rows and columns.

    Examples
    --------
    >>> from shapley2d._theory.coalitions import SubsetCoalitions
    >>> from shapley2d._games.function import FunctionGame
    >>> game = CachedGame(FunctionGame(lambda S, F: S.sum() * F.sum(), 2, 2))
    >>> for _ in range(3):
    ...     utilities = game.utilities(SubsetCoalitions(2), SubsetCoalitions(2))
    >>> float(utilities.max()), game.n_computed
    (4.0, 9)
    """

    def __init__(self, game: Game) -> None:
        self._game = game
        self._key = uuid.uuid4().hex
        self._cache: Cache = {}
        self.n_rows = game.n_rows
        self.n_columns = game.n_columns
        self.n_computed = 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": {}}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._key not in _worker_caches and len(_worker_caches) >= _MAX_WORKER_CACHES:
            _worker_caches.clear()
        self._cache = _worker_caches.setdefault(self._key, {})

    def utilities(self, rows: Coalitions, columns: Coalitions) -> NDArray[np.float64]:
        """Matrix of utilities; only those that are not known yet are asked of the game."""
        row_masks, column_masks = rows.masks(), columns.masks()
        row_keys, column_keys = _keys(row_masks), _keys(column_masks)
        first_row = {key: a for a, key in reversed(list(enumerate(row_keys)))}
        first_column = {key: b for b, key in reversed(list(enumerate(column_keys)))}
        known: Cache = {}
        # column coalitions that lack the same row coalitions share a call, and with it the game's
        # work per column
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
            block = self._game.utilities(
                MaskCoalitions(row_masks[a]), MaskCoalitions(column_masks[b])
            )
            self.n_computed += int(
                row_masks[a].any(axis=1).sum() * column_masks[b].any(axis=1).sum()
            )
            for p, row_key in enumerate(absent_rows):
                for q, column_key in enumerate(absent_columns):
                    known[row_key, column_key] = float(block[p, q])
                    if len(self._cache) < MAX_CACHED:
                        self._cache[row_key, column_key] = float(block[p, q])
        return np.array([[known[r, c] for c in column_keys] for r in row_keys]).reshape(
            len(row_keys), len(column_keys)
        )


def _keys(masks: NDArray[np.bool_]) -> list[bytes]:
    return [packed.tobytes() for packed in np.packbits(masks, axis=1)]
