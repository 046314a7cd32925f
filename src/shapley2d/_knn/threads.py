"""Row values on the processor: compiled kernels in threads."""

from __future__ import annotations

from itertools import product
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.in_threads import map_in_threads, stop_flag
from shapley2d._kernels.bins import LANES
from shapley2d._kernels.knn_columns import add_values, add_walk, walk_weights
from shapley2d._kernels.knn_row_games import (
    ExactClassification,
    ExactRegression,
    FastClassification,
    FastRegression,
)
from shapley2d._knn.far_bins import drop_variation, leading_digits
from shapley2d._knn.row_axis import RowAxis

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.row_axis import RowGame

# Sums over validation rows are cut into pieces whose size depends on the table alone, never on the
# number of threads, and are added up in the order of the pieces: so threads change no bit. Smaller
# pieces cost more Python between the kernels, larger ones leave threads idle at the end and are
# slower to stop. All sizes below count row values; they were chosen with benchmarks/knn.py kernel.
_PIECES = 8  # parts of the validation rows, where there are as many
_PIECE_WORK = (2**18, 2**19)  # training rows times validation rows of a piece, at least and at most
_PIECE_ROWS = (8, 32)  # validation rows at most, of large and of small tables
_BLOCK = 32  # column subsets that share the column dissimilarities of a validation row
_BLOCK_WORK = 2**23  # training rows times column subsets of a piece: its room in memory
_LANE_WORK = 1 << 21  # row values after which a lane of the walk hands in its sums
_LANE_ROWS = 64
_WALK_WORK = 2**28  # row values that a walk should be given at a time


class Threads(RowAxis):
    """Row values by the compiled kernels; the result does not depend on the number of threads.

    Parameters
    ----------
    game : RowGame
    tolerance : float, optional
        How far off the value of a row may be for one validation row, where far rows are left in
        bins; without it all rows are ranked.
    n_threads : int
    """

    def __init__(
        self, game: RowGame, *, tolerance: float | None = None, n_threads: int = 1
    ) -> None:
        super().__init__(game)
        self.n_threads = n_threads
        self.is_binned = tolerance is not None
        self._tolerance = tolerance
        self._table = (game.train, game.valid, game.measures, _kernel_game(game, tolerance))

    def ranked(self) -> Threads:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return Threads(self.game, n_threads=self.n_threads) if self.is_binned else self

    def on_one_thread(self) -> Threads:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        if self.n_threads == 1:
            return self
        return Threads(self.game, tolerance=self._tolerance, n_threads=1)

    def sums(
        self,
        coalitions: NDArray[np.bool_],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        total = np.zeros((len(coalitions), self.n_rows))
        length = self._piece_rows(len(chosen))
        order = complements_together(coalitions)
        parts = max(-(-len(chosen) // length), 1)
        most = coalitions_at_a_time(self.n_rows)
        block = _even(len(coalitions), most, -(-self.n_threads // parts))
        blocks = [order[start : start + block] for start in range(0, len(order), block)]
        in_order = [OrderedSum(total, lines) for lines in blocks]

        stop = stop_flag()

        def evaluate(piece: tuple[int, int]) -> None:
            part, number = piece
            rows = chosen[part * length : (part + 1) * length]
            sums, lines = in_order[number].room(part)
            add_values(
                *self._table,
                self.game.valid_weights,
                rows,
                coalitions[blocks[number]],
                sums,
                lines,
                stop,
            )
            in_order[number].add(part, sums)

        pieces = list(product(range(parts), range(len(blocks))))
        results = map_in_threads(evaluate, pieces, self.n_threads, stop=stop)
        for done, _ in enumerate(results, start=1):
            if progress is not None:
                progress(done / len(pieces))
        return total

    def _piece_rows(self, n_chosen: int) -> int:
        """Validation rows of a piece."""
        least, most = (int(work // self.n_rows) for work in _PIECE_WORK)
        most = int(np.clip(most, *_PIECE_ROWS))
        return int(np.clip(-(-n_chosen // _PIECES), min(max(least, 1), most), most))

    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        weights = walk_weights(weights_in, weights_out)
        length = int(np.clip(_LANE_WORK // (self.n_rows << self.n_columns), 1, _LANE_ROWS))

        stop = stop_flag()

        def evaluate(start: int) -> NDArray[np.float64]:
            lane = np.zeros((self.n_columns, self.n_rows))
            add_walk(
                *self._table,
                self.game.valid_weights,
                chosen[start : start + length],
                weights,
                lane,
                stop,
            )
            return lane

        total = np.zeros((self.n_columns, self.n_rows))
        starts = range(0, len(chosen), length)
        for lane in map_in_threads(evaluate, starts, self.n_threads, stop=stop):
            total += lane
        return total

    def walk_rows(self) -> int:
        """See :class:`~shapley2d._knn.row_axis.RowAxis`."""
        return max(4, _WALK_WORK // (self.n_rows << self.n_columns))


class OrderedSum:
    """A sum of numbered tables that threads finish in any order, added in order of their numbers.

    Parameters
    ----------
    total : ndarray of shape (at least c, n)
        Receives the sum.
    lines : ndarray of int of shape (c,)
        Its lines.

    Examples
    --------
    >>> total = np.zeros((1, 2))
    >>> in_order = OrderedSum(total, np.array([0]))
    >>> in_order.add(1, np.array([[1.0, 2.0]])); total  # number 0 comes first
    array([[0., 0.]])
    >>> first, lines = in_order.room(0)
    >>> first[lines] += [3.0, 4.0]
    >>> in_order.add(0, first); total
    array([[4., 6.]])
    """

    def __init__(self, total: NDArray[np.float64], lines: NDArray[np.intp]) -> None:
        self._total, self._lines = total, lines
        self._waiting: dict[int, NDArray[np.float64]] = {}
        self._next = 0
        self._lock = Lock()

    def room(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Zeros for a summand, with their lines; the first is added up where the sum will be."""
        if number == 0:
            return self._total, self._lines
        return np.zeros((len(self._lines), self._total.shape[1])), np.arange(len(self._lines))

    def add(self, number: int, summand: NDArray[np.float64]) -> None:
        """Take the summand of a number, counted from 0."""
        with self._lock:
            self._waiting[number] = summand
            while (ready := self._waiting.pop(self._next, None)) is not None:
                if ready is not self._total:
                    for place, line in zip(self._lines, ready, strict=True):
                        self._total[place] += line
                self._next += 1


def coalitions_at_a_time(n_rows: int) -> int:
    """Column subsets that a thread takes at a time at most: their sums are in memory."""
    return int(np.clip(_BLOCK_WORK // n_rows, LANES, _BLOCK))


def complements_together(coalitions: NDArray[np.bool_]) -> NDArray[np.intp]:
    """The order in which every column subset is followed by its complement, if it is listed.

    Examples
    --------
    >>> complements_together(np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 0]], dtype=bool))
    array([0, 2, 1, 3])
    """
    places: dict[bytes, int] = {}
    for place, coalition in enumerate(coalitions):
        places.setdefault(coalition.tobytes(), place)
    order, taken = [], np.zeros(len(coalitions), dtype=np.bool_)
    for place, coalition in enumerate(coalitions):
        if taken[place]:
            continue
        other = places.get((~coalition).tobytes(), place)
        both = [place] if other == place or taken[other] else [place, other]
        taken[both] = True
        order += both
    return np.array(order, dtype=np.intp)


def _even(count: int, most: int, shares: int) -> int:
    """The size of blocks, at most ``most`` and in whole lanes, that share the work evenly.

    Examples
    --------
    >>> _even(64, 16, 1), _even(64, 16, 16), _even(37, 16, 2)
    (16, 4, 12)
    """
    blocks = -(-count // most)
    blocks = max(-(-blocks // shares) * shares, 1)
    return max(-(-count // (blocks * LANES)), 1) * LANES


def _kernel_game(
    game: RowGame, tolerance: float | None
) -> ExactClassification | FastClassification | ExactRegression | FastRegression:
    """The row game of all validation rows, as the kernels take it."""
    weights, inverse = game.weights, game.inverse
    if game.classifies:
        runs = game.runs().astype(np.int64)
        classification = ExactClassification(runs, weights.single, weights.single_beyond, inverse)
        if tolerance is None:
            return classification
        variation = drop_variation(weights.single)
        ranks = np.stack([weights.single, weights.single_beyond, variation, 0 * variation], axis=1)
        return FastClassification(*classification, ranks, tolerance, leading_digits(game))
    regression = ExactRegression(
        game.y, game.y_valid, float(game.n_neighbors), weights.alone, (*weights[:5], inverse)
    )
    if tolerance is None:
        return regression
    return FastRegression(
        *regression,
        drop_variation(weights.single),
        drop_variation(weights.pair),
        1.0 / max(game.magnitude, np.finfo(np.float64).tiny),
        tolerance,
        leading_digits(game),
    )
