"""Row values on the processor: compiled kernels, which take some column subsets per thread.

A subset's sums are added up by one thread, validation row after validation row, so the number of
threads changes no bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.in_threads import count_threads, map_in_threads, stop_flag
from shapley2d._kernels.knn_rows import (
    add_classification,
    add_regression,
    make_room,
    subset_codes,
)
from shapley2d._knn.game import RowValues
from shapley2d._knn.lens import bins_and_slack

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from shapley2d._knn.game import Floats, RowGame, Subsets

_KEYS = 2**21  # bins of rows that a thread has in memory, in as many subsets,
_SUBSETS = (8, 64)  # at least and at most
_TILE = 2**14  # rows that are multiplied with the weights of subsets at a time


class Processor(RowValues):
    """Row values by compiled kernels.

    Parameters
    ----------
    game : RowGame
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it.
    """

    def __init__(self, game: RowGame, n_jobs: int | None = None) -> None:
        super().__init__(game)
        self._n_threads = count_threads(n_jobs)

    def _contract(
        self, blocks: Iterable[tuple[Subsets, Floats]], n_lines: int, chosen: NDArray[np.intp]
    ) -> Floats:
        total = np.zeros((n_lines, self.n_rows))
        tiles = [slice(start, start + _TILE) for start in range(0, self.n_rows, _TILE)]
        for subsets, weights in blocks:
            sums = self._sums(subsets, chosen)

            def add(tile: slice, sums: Floats = sums, weights: Floats = weights) -> None:
                total[:, tile] += weights @ sums[:, tile]

            for _ in map_in_threads(add, tiles, self._n_threads):
                pass
        return total

    def _sums(self, subsets: Subsets, chosen: NDArray[np.intp]) -> Floats:
        """Phi under every subset, summed over the chosen validation rows: (B, n)."""
        game, count = self.game, len(subsets)
        sums = np.zeros((count, self.n_rows))
        most = int(np.clip(_KEYS // self.n_rows, *_SUBSETS))
        rounds = -(-count // (most * self._n_threads))  # of all threads, with as much to do
        at_a_time = max(-(-count // (rounds * self._n_threads)), 1)
        codes, stop = subset_codes(subsets), stop_flag()
        lows, slacks = bins_and_slack(game.lens, subsets)
        weights, inverse, kernel = game.weights, game.inverse, add_classification
        y: tuple[object, ...] = (game.runs, game.valid_weights)
        tables: tuple[object, ...] = (weights.single, weights.single_beyond, inverse)
        if not game.classifies:
            kernel, tables = add_regression, (*weights[:5], inverse)
            y = (game.y, game.y_valid, game.valid_weights, float(game.n_neighbors), weights.alone)
        entries = (game.by_column, game.by_row, game.nominal)

        def evaluate(start: int) -> None:
            part = slice(start, start + at_a_time)
            room = make_room(
                self.n_rows,
                self.n_columns,
                at_a_time,
                classifies=game.classifies,
                ranks_all=self.n_rows <= game.near,
            )
            seen = (game.lens, *(np.ascontiguousarray(one[:, part]) for one in (lows, slacks)))
            kernel(entries, seen, game.near, chosen, y, tables, codes[part], room, stop, sums[part])

        starts = range(0, count, at_a_time)
        for _ in map_in_threads(evaluate, starts, self._n_threads, stop=stop):
            pass
        return sums
