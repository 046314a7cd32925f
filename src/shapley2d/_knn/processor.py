"""Row values, on the processor: compiled kernels, which take some column subsets per thread.

A subset's sums are added up by one thread, validation row after validation row, so the number of
threads changes no bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.in_threads import count_threads, map_in_threads, stop_flag
from shapley2d._knn.game import RowGame, RowValues
from shapley2d._knn.kernels.rows import add_classification, add_regression, make_room, subset_codes
from shapley2d._knn.lens import bins_and_slack

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._knn.device import Device
    from shapley2d._knn.game import Floats, Subsets
    from shapley2d._knn.metric import Columns

_KEYS = 2**21  # bins of rows that a thread has in memory, in as many subsets,
_SUBSETS = (8, 64)  # at least and at most
_TILE = 2**14  # rows that are multiplied with the weights of subsets at a time


class Processor(RowValues):
    """Row values by compiled kernels.

    ``n_jobs``: threads; all cores by default. The result does not depend on it.
    """

    def __init__(
        self, game: RowGame, n_jobs: int | None = None, limit: TimeLimit | None = None
    ) -> None:
        super().__init__(game)
        self._n_threads, self._limit = count_threads(n_jobs), limit

    def _contract(
        self, blocks: Iterable[tuple[Subsets, Floats]], n_lines: int, chosen: NDArray[np.intp]
    ) -> Floats:
        game, n_threads = self.game, self._n_threads
        total = np.zeros((n_lines, self.n_rows))
        tiles = [slice(start, start + _TILE) for start in range(0, self.n_rows, _TILE)]
        most = int(np.clip(_KEYS // self.n_rows, *_SUBSETS))
        ranks, inverse, kernel = game.weights, game.inverse, add_classification
        y: tuple[object, ...] = (game.runs, game.valid_weights)
        tables: tuple[object, ...] = (ranks.single, ranks.single_beyond, inverse)
        if not game.classifies:
            kernel, tables = add_regression, (*ranks[:5], inverse)
            y = (game.y, game.y_valid, game.valid_weights, float(game.n_neighbors), ranks.alone)
        entries = (game.by_column, game.by_row, game.nominal)
        ranks_all = self.n_rows <= game.near
        for subsets, weights in blocks:
            count = len(subsets)
            rounds = -(-count // (most * n_threads))  # of all threads, with as much to do
            at_a_time = max(-(-count // (rounds * n_threads)), 1)
            sums, codes = np.zeros((count, self.n_rows)), subset_codes(subsets)
            seen, stop = bins_and_slack(game.lens, subsets), stop_flag()

            def evaluate(  # phi under some subsets, summed over the chosen validation rows
                part: slice,
                sums: Floats = sums,
                codes: NDArray[np.uint8] = codes,
                seen: tuple[NDArray[np.int64], Floats] = seen,
                stop: NDArray[np.bool_] = stop,
            ) -> None:
                own = codes[part]
                shape = (self.n_rows, self.n_columns, len(own))
                room = make_room(*shape, classifies=game.classifies, ranks_all=ranks_all)
                by_lens = (game.lens, *(np.ascontiguousarray(one[:, part]) for one in seen))
                kernel(entries, by_lens, game.near, chosen, y, tables, own, room, stop, sums[part])

            def add(tile: slice, sums: Floats = sums, weights: Floats = weights) -> None:
                total[:, tile] += weights @ sums[:, tile]

            parts = [slice(start, start + at_a_time) for start in range(0, count, at_a_time)]
            for _ in map_in_threads(evaluate, parts, n_threads, stop=stop, limit=self._limit):
                pass
            for _ in map_in_threads(add, tiles, n_threads):
                pass
        return total


def row_values(
    columns: Columns,
    y: NDArray[np.generic],
    y_valid: NDArray[np.generic],
    *,
    n_jobs: int | None = None,
    limit: TimeLimit | None = None,
    device: Device | None = None,
    **asked: Any,
) -> RowValues:
    """The row values of a training and a validation table.

    ``columns, y, y_valid, **asked``: see :meth:`~shapley2d._knn.game.RowGame.of`.
    ``n_jobs``: threads of the processor; all cores by default. The result does not depend on it.
    ``limit``: when the processor drops work under way; a GPU finishes it.
    ``device``: a GPU; without one the processor computes.

    >>> import numpy as np
    >>> from shapley2d._knn.metric import Columns
    >>> train = np.array([[0.0, 1.0, 3.0], [0.0, 0.0, 5.0]])
    >>> none = np.zeros(2)
    >>> rows = row_values(
    ...     Columns(train, np.zeros((2, 1)), none > 0, none + 1, none),
    ...     np.array([0, 1, 0]),
    ...     np.array([0]),
    ...     task="classification",
    ...     n_neighbors=1,
    ... )
    >>> rows.values(np.array([[True, False], [False, True]])).round(4)
    array([[ 0.8333, -0.1667,  0.3333],
           [ 0.5833, -0.4167,  0.3333]])
    """
    game = RowGame.of(columns, y, y_valid, **asked)
    if device is None:
        return Processor(game, n_jobs, limit)
    from shapley2d._knn.gpu import GpuRows

    return GpuRows(game, device)
