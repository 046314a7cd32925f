"""Row values on the processor: compiled kernels in threads."""

from __future__ import annotations

from collections import deque
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from joblib import effective_n_jobs

from shapley2d._kernels.knn_columns import add_values, add_walk, walk_weights
from shapley2d._kernels.knn_row_games import (
    ExactClassification,
    ExactRegression,
    FastClassification,
    FastRegression,
)
from shapley2d._knn.bin_errors import drop_variation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Future

    from numpy.typing import NDArray

    from shapley2d._knn.row_axis import RowGame

R = TypeVar("R")
_Table = tuple["NDArray[Any]", "NDArray[Any]", tuple["NDArray[Any]", ...]]

# Coalitions that share one computation of a validation row's column dissimilarities.
_BLOCK = 16
# Row-coalition pairs after which a lane of the walk hands in its sums.
_LANE_WORK = 1 << 21
_LANE_ROWS = 64
_WALK_WORK = 2**28  # row-coalition pairs that a walk should be given at a time


class Threads:
    """Row values by all cores; the result does not depend on their number.

    Parameters
    ----------
    game : RowGame
    tolerance : float, optional
        How far off the value of a row may be for one validation row, where far rows are left in bins; without it
        all rows are ranked.
    n_jobs : int, optional
        Threads; all cores by default.
    """

    def __init__(self, game: RowGame, *, tolerance: float | None = None, n_jobs: int | None = None) -> None:
        self.n_rows, self.n_columns = game.n_rows, game.n_columns
        self._game, self._tolerance = game, tolerance
        self._threads = effective_n_jobs(-1 if n_jobs is None else n_jobs)
        self._inverse, self._runs = game.inverse, game.runs()
        self._factors = game.valid_weights.tolist()
        if tolerance is not None:
            self._variation = drop_variation(game.weights.single)
            self._variation_pair = drop_variation(game.weights.pair)

    def sums(
        self,
        coalitions: NDArray[np.bool_],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        total = np.zeros((len(coalitions), self.n_rows))
        block = max(1, min(_BLOCK, -(-len(coalitions) // self._threads)))
        starts = range(0, len(coalitions), block)

        def evaluate(start: int, stop: Event) -> None:
            part = coalitions[start : start + block]
            for t in chosen:
                if stop.is_set():
                    return
                factor = self._factors[t]
                add_values(*self._table(t), self._kernel_game(t), factor, part, total[start : start + block])

        for done, _ in enumerate(_ordered_results(evaluate, starts, self._threads), start=1):
            if progress is not None:
                progress(done / len(starts))
        return total

    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        weights = walk_weights(weights_in, weights_out)
        # The length of a lane depends on the table alone, never on the number of threads, so neither do the sums.
        length = int(np.clip(_LANE_WORK // (self.n_rows << self.n_columns), 1, _LANE_ROWS))

        def evaluate(start: int, stop: Event) -> NDArray[np.float64]:
            lane = np.zeros((self.n_columns, self.n_rows))
            for t in chosen[start : start + length]:
                if stop.is_set():
                    break
                add_walk(*self._table(t), self._kernel_game(t), self._factors[t], weights, lane)
            return lane

        total = np.zeros((self.n_columns, self.n_rows))
        for lane in _ordered_results(evaluate, range(0, len(chosen), length), self._threads):
            total += lane
        return total

    def walk_rows(self) -> int:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return max(4, _WALK_WORK // (self.n_rows << self.n_columns))

    def _table(self, t: int) -> _Table:
        """What the distances from validation row ``t`` are computed from."""
        return self._game.train, self._game.valid[t], self._game.measures

    def _kernel_game(
        self, t: int
    ) -> ExactClassification | FastClassification | ExactRegression | FastRegression:
        """The row game of validation row ``t``, as the kernels take it."""
        game, weights = self._game, self._game.weights
        if game.task == "classification":
            first, last = self._runs[t].tolist()
            classification = ExactClassification(
                first, last, weights.single, weights.single_beyond, self._inverse
            )
            if self._tolerance is None:
                return classification
            return FastClassification(*classification, self._variation, self._tolerance)
        regression = ExactRegression(
            game.y,
            float(game.y_valid[t]),
            float(game.n_neighbors),
            weights.alone,
            (*weights[:5], self._inverse),
        )
        if self._tolerance is None:
            return regression
        return FastRegression(
            *regression,
            self._variation,
            self._variation_pair,
            1.0 / max(game.magnitude, np.finfo(np.float64).tiny),
            self._tolerance,
        )


def _ordered_results(task: Callable[[int, Event], R], items: Iterable[int], threads: int) -> Iterator[R]:
    """Run a task on every item in threads and yield the results in the order of the items.

    At most two results per thread are waiting at any time. Where the consumer stops, or Ctrl-C arrives, running
    tasks see the event set and end after the kernel call they are in.
    """
    stop = Event()
    if threads == 1:
        for item in items:
            yield task(item, stop)
        return
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                waiting.append(pool.submit(task, item, stop))
                if len(waiting) >= 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)
