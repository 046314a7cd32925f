"""Row values of small tables, by kernels that take seconds to compile."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.in_threads import map_in_threads, stop_flag
from shapley2d._kernels.knn_small import add_small_classification, add_small_regression
from shapley2d._knn.row_axis import RowAxis

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.row_axis import RowGame

SMALL_GAME = 2.0**29
"""Triples of row, validation row and column subset of the largest game that is called small.

These kernels compute as many in the time that the kernels of large tables take to compile.
"""

_COALITIONS = 32  # of a piece, at least: they share the dissimilarities of its validation rows
_PIECE = 1 << 20  # such triples between two looks at whether to stop: some 20 ms
_ROWS = 16  # validation rows of a piece, at most


class SmallTable(RowAxis):
    """Row values by kernels that compile quickly; the number of threads does not change them.

    Parameters
    ----------
    game : RowGame
    n_threads : int
    """

    def __init__(self, game: RowGame, *, n_threads: int = 1) -> None:
        super().__init__(game)
        self.n_threads = n_threads
        self._runs, self._inverse = game.runs(), game.inverse

    def on_one_thread(self) -> SmallTable:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return self if self.n_threads == 1 else SmallTable(self.game, n_threads=1)

    def sums(
        self,
        coalitions: NDArray[np.bool_],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        total = np.zeros((len(coalitions), self.n_rows))
        pieces, stop = self._pieces(len(coalitions), chosen), stop_flag()

        def evaluate(piece: tuple[slice, NDArray[np.integer]]) -> NDArray[np.float64]:
            return self._values(coalitions[piece[0]], piece[1], stop)

        results = map_in_threads(evaluate, pieces, self.n_threads, stop=stop)
        for done, sums in enumerate(results, start=1):
            total[pieces[done - 1][0]] += sums
            if progress is not None:
                progress(done / len(pieces))
        return total

    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        m, stop = self.n_columns, stop_flag()

        def evaluate(piece: tuple[slice, NDArray[np.integer]]) -> NDArray[np.float64]:
            numbers = np.arange(piece[0].start, min(piece[0].stop, 1 << m))
            coalitions = (numbers[:, None] >> np.arange(m)) & 1 > 0
            size = coalitions.sum(axis=1)
            weights = np.where(coalitions, weights_in[size][:, None], -weights_out[size][:, None])
            # not a library's product, whose bits may vary with its threads
            return np.asarray(
                np.einsum("fj,fi->ji", weights, self._values(coalitions, piece[1], stop))
            )

        total = np.zeros((m, self.n_rows))
        pieces = self._pieces(1 << m, chosen)
        for part in map_in_threads(evaluate, pieces, self.n_threads, stop=stop):
            total += part
        return total

    def walk_rows(self) -> int:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return max(4, (_PIECE << 4) // (self.n_rows << self.n_columns))

    def _piece_size(self, n_subsets: int) -> tuple[int, int]:
        """Validation rows and column subsets of a piece, at most."""
        rows = int(np.clip(_PIECE // (self.n_rows * _COALITIONS), 1, _ROWS))
        return rows, int(np.clip(_PIECE // (self.n_rows * rows), 1, n_subsets))

    def _pieces(
        self, n_subsets: int, chosen: NDArray[np.integer]
    ) -> list[tuple[slice, NDArray[np.integer]]]:
        """Column subsets and validation rows of each piece, whatever the number of threads."""
        rows, block = self._piece_size(n_subsets)
        return [
            (slice(start, start + block), chosen[first : first + rows])
            for first, start in product(range(0, len(chosen), rows), range(0, n_subsets, block))
        ]

    def _values(
        self, coalitions: NDArray[np.bool_], chosen: NDArray[np.integer], stop: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Row values under each of the coalitions, summed over the chosen validation rows."""
        game, weights = self.game, self.game.weights
        sums = np.zeros((len(coalitions), game.n_rows))
        if stop[0]:
            return sums
        apart, worth = _dissimilarities(game, chosen), game.valid_weights[chosen]
        if game.classifies:
            add_small_classification(
                apart, coalitions, self._runs[chosen], worth,
                weights.single, weights.single_beyond, self._inverse, sums,
            )  # fmt: skip
        else:
            add_small_regression(
                apart, coalitions, game.y, game.y_valid[chosen], worth,
                float(game.n_neighbors), weights.alone, (*weights[:5], self._inverse), sums,
            )  # fmt: skip
        return sums


def _dissimilarities(game: RowGame, chosen: NDArray[np.integer]) -> NDArray[np.int64]:
    """Dissimilarity of the chosen validation rows from every training row, by column: (T, m, n)."""
    nominal, weight, missing = (part.astype(np.int64)[:, None] for part in game.measures)
    absent = np.iinfo(game.train.dtype).min
    entries = game.valid[chosen].astype(np.int64)[:, :, None]
    gone = (game.train == absent) | (entries == absent)
    apart = np.where(gone, 0, game.train.astype(np.int64) - entries)
    return np.where(gone, missing, weight * np.where(nominal > 0, apart != 0, apart * apart))
