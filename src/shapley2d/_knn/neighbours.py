"""The row values of K nearest neighbours: weighted sums of phi(F) over column subsets F.

phi(F) are the row values of the K-nearest-neighbour game under a column subset F, in closed form
(Jia et al. 2019, arXiv:1908.08619). Rows at the same distance share their ranks: their values are
the mean over all their orders. Up to 1,024 training rows all are ranked. Of more rows the nearest
512 are, and the others share a rank with those whose distance begins with the same ten bits behind
the point, as if they tied.

Compiled kernels add up a subset's row values, validation row after validation row, in one thread;
so the number of threads changes no bit. A GPU is another way to compute the same
(:mod:`shapley2d._knn.gpu`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shapley2d._base.in_threads import map_in_threads
from shapley2d._knn.fixed_point import Distances
from shapley2d._knn.kernels.rows import (
    NEAR,
    add_values,
    make_room,
    subset_codes,
)
from shapley2d._knn.rank_weights import rank_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._knn.metric import Columns
    from shapley2d._theory.semivalues import Semivalue

_NUMBERS = 2**24  # row values of some subsets that are in memory at a time: 128 MB,
_BLOCK = (16, 1024)  # of this many subsets at least and at most
_KEYS = 2**21  # bins of rows that a thread has in memory, in as many subsets,
_SUBSETS = (8, 64)  # at least and at most
_TILE = 2**14  # rows that are multiplied with the weights of subsets at a time


class Neighbours:
    """The K-nearest-neighbour game of a training and a validation table, rows sorted by label.

    ``y`` (n,), ``y_valid`` (T,): codes of labels, -1 for one that no training row has; or targets.
        In regression the utility is minus the squared error of the mean of the K nearest, where
        neighbours that are not there count as the mean of ``y``.
    ``valid_weights`` (T,): what each validation row counts, in any unit; None if all count alike.

    ``order``: the rows of the table in the order of the game, which results have.

    >>> from shapley2d._knn.metric import Columns
    >>> train, none = np.array([[0.0, 1.0, 3.0], [0.0, 0.0, 5.0]]), np.zeros(2)
    >>> columns = Columns(train, np.zeros((2, 1)), none > 0, none + 1, none)
    >>> task = {"task": "classification", "n_neighbors": 1}
    >>> rows = Neighbours(columns, np.array([0, 1, 0]), np.array([0]), **task)
    >>> rows.values(np.array([[True, False], [False, True]])).round(4)
    array([[ 0.8333, -0.1667,  0.3333],
           [ 0.5833, -0.4167,  0.3333]])
    """

    rows_at_a_time = 1
    """Validation rows that are computed side by side: chunks have at least as many."""

    on_gpu = False

    def __init__(
        self,
        columns: Columns,
        y: NDArray[Any],
        y_valid: NDArray[Any],
        *,
        task: Literal["classification", "regression"],
        n_neighbors: int,
        semivalue: Semivalue = "shapley",
        valid_weights: Floats | None = None,
    ) -> None:
        self.n_rows, self.n_valid = n, n_valid = columns.n_rows, columns.n_valid
        self.classifies, self.n_neighbors = task == "classification", n_neighbors
        self.order = np.argsort(y, kind="stable")  # so that rows of one label are a run
        self.y, self.y_valid = y[self.order], y_valid
        if not self.classifies:
            centre = float(np.mean(self.y))
            self.y, self.y_valid = self.y - centre, y_valid - centre
        weights = np.ones(n_valid) if valid_weights is None else valid_weights
        self.valid_weights = weights / weights.mean()
        self.distances, self.n_columns = Distances(columns, self.order), columns.n_columns
        self.ranks = rank_weights(semivalue, n, n_neighbors)
        # first and last row (exclusive) with the label of each validation row
        ends = [np.searchsorted(self.y, self.y_valid, side) for side in ("left", "right")]
        self.runs = np.stack(ends, axis=1).astype(np.int64)
        near = max(NEAR, n_neighbors)
        self.near = n if n <= 2 * near else near  # rows that are ranked, at least: all who vote
        self.inverse = np.append(0.0, 1.0 / np.arange(1, n + 1))

    @property
    def influence(self) -> Floats:
        """About how much every validation row can change in the values.

        Its weight times what one neighbour is off by, in the mean over the training rows: the
        squared difference of their targets, or 1 where the labels differ. So rows of a rare class
        can change more than those of the usual one, whose neighbours are right anyway.
        """
        off = 1 - (self.runs[:, 1] - self.runs[:, 0]) / self.n_rows
        if not self.classifies:
            off = self.y_valid.astype(np.float64) ** 2 + np.mean(np.square(self.y))
        return np.asarray(self.valid_weights * off)

    @property
    def block_size(self) -> int:
        """Subsets whose row values are in memory at a time."""
        return int(np.clip(_NUMBERS // self.n_rows, *_BLOCK))

    def __call__(
        self,
        subsets: Bools,
        weights: Floats,
        chunk: Ints,
        *,
        stop: Bools | None = None,
        n_threads: int = 1,
    ) -> Floats:
        """Weighted sums of phi(F), mean over some validation rows: (lines, n).

        Without any column all rows tie: a vote among all of them. Weights of validation rows have
        the mean 1 over all of them; so random chunks are unbiased.

        ``subsets`` (B, m); ``weights`` (lines, B).
        ``chunk``: the validation rows.
        ``stop``: a flag; the sums are no longer wanted once it is set.
        """
        total = np.zeros((len(weights), self.n_rows))
        most = int(np.clip(_KEYS // self.n_rows, *_SUBSETS))
        stop = np.zeros(1, dtype=np.bool_) if stop is None else stop
        for first in range(0, len(subsets), self.block_size):
            block = slice(first, first + self.block_size)
            some, of_lines = subsets[block], weights[:, block] / len(chunk)
            sums = np.zeros((len(some), self.n_rows))

            def evaluate(part: slice, some: Bools = some, sums: Floats = sums) -> None:
                self._add_phi(some[part], chunk, stop, sums[part])

            def add(tile: slice, sums: Floats = sums, of_lines: Floats = of_lines) -> None:
                total[:, tile] += of_lines @ sums[:, tile]

            rounds = -(-len(some) // (most * n_threads))  # of all threads, with as much to do
            _in_threads(evaluate, len(some), -(-len(some) // (rounds * n_threads)), n_threads)
            _in_threads(add, self.n_rows, _TILE, n_threads)
        return total

    def _add_phi(self, subsets: Bools, chunk: Ints, stop: Bools, sums: Floats) -> None:
        """Add phi under some subsets, summed over the chosen validation rows."""
        room = make_room(
            self.n_rows, self.n_columns, len(subsets),
            classifies=self.classifies, ranks_all=self.n_rows == self.near,
        )  # fmt: skip
        single, beyond, *pairs, alone = self.ranks
        of_valid = self.runs[chunk], self.y_valid[chunk], self.valid_weights[chunk]
        votes: tuple[Any, ...] = None, *of_valid
        weights: tuple[Any, ...] = (single, beyond, self.inverse), None
        if not self.classifies:
            votes = self.y, *of_valid
            weights = weights[0], (*pairs, float(self.n_neighbors), alone)
        seen, codes = self.distances.seen(subsets, chunk), subset_codes(subsets)
        add_values(self.distances.entries, seen, self.near, votes, weights, codes, room, stop, sums)

    def values(self, subsets: Bools, chunk: Ints | None = None) -> Floats:
        """phi(F) under each of some subsets, mean over validation rows, rows as in the table."""
        chunk = np.arange(self.n_valid) if chunk is None else chunk
        return self(subsets, np.eye(len(subsets)), chunk)[:, np.argsort(self.order)]


def _in_threads(task: Callable[[slice], None], count: int, step: int, n_threads: int) -> None:
    """Run a task on parts of a range."""
    parts = [slice(start, start + step) for start in range(0, count, step)]
    for _ in map_in_threads(task, parts, n_threads) if n_threads > 1 else map(task, parts):
        pass
