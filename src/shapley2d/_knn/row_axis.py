"""One interface for every place where row values are computed: threads, a small table, a GPU.

Everything above it (means over validation rows, the column axis, errors, stopping) is written once,
in :class:`~shapley2d._knn.row_values.RowValues` and what uses that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shapley2d._base.in_threads import map_in_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.rank_weights import RankWeights

# Of a contraction on the processor: row values in memory at a time (256 MB of them, within these
# numbers of column subsets), and rows of one matrix product, small enough for several threads.
_BLOCK_NUMBERS = 2**25
_BLOCK = (16, 128)
TILE = 2**14
"""Rows that are multiplied with the weights of column subsets at a time."""


@dataclass(frozen=True)
class RowGame:
    """The K-nearest-neighbour game of a training and a validation table, rows sorted by label.

    Rows of one label lie together, so that a validation row's matches are one run of rows.

    Attributes
    ----------
    task : {"classification", "regression"}
    n_neighbors : int
    weights : RankWeights
        What a rank is worth.
    train : ndarray of shape (m, n), int64
    valid : ndarray of shape (T, m), same dtype
    measures : tuple of ndarray
        Of :class:`~shapley2d._knn.distances.IntegerColumns`.
    y, y_valid : ndarray
        Labels; in regression, targets less the mean of ``y``.
    valid_weights : ndarray of shape (T,), float64
        What each validation row counts in the sums over them.
    """

    task: Literal["classification", "regression"]
    n_neighbors: int
    weights: RankWeights
    train: NDArray[Any]
    valid: NDArray[Any]
    measures: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
    y: NDArray[Any]
    y_valid: NDArray[Any]
    valid_weights: NDArray[np.float64]

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self.train.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.train.shape[0])

    @property
    def n_valid(self) -> int:
        """Number of validation rows."""
        return int(self.valid.shape[0])

    @property
    def classifies(self) -> bool:
        """Whether the task is classification."""
        return self.task == "classification"

    @property
    def all_vote(self) -> bool:
        """Whether every row is a neighbour: then distances decide nothing."""
        return self.n_neighbors >= self.n_rows

    @property
    def magnitude(self) -> float:
        """The largest target in regression; 1 in classification."""
        if self.classifies:
            return 1.0
        return float(max(np.abs(self.y).max(), np.abs(self.y_valid).max(initial=0.0)))

    @property
    def value_bound(self) -> float:
        """No value is larger, for targets of at most 1."""
        k = self.n_neighbors
        # what one of K neighbours can change, and in regression the error of no rows
        return 1.0 / k if self.classifies else 8.0 / k + 2 * abs(self.weights.alone)

    @property
    def inverse(self) -> NDArray[np.float64]:
        """``1 / g`` for every size of a tie group; 0 for none."""
        inverse = np.zeros(self.n_rows + 1)
        inverse[1:] = 1.0 / np.arange(1, self.n_rows + 1)
        return inverse

    def runs(self) -> NDArray[np.int32]:
        """First and last row (exclusive) with the label of each validation row."""
        ends = [np.searchsorted(self.y, self.y_valid, side) for side in ("left", "right")]
        return np.stack(ends, axis=1).astype(np.int32)


class RowAxis(ABC):
    """Row values of a game, computed somewhere.

    An axis never changes: :meth:`ranked` and :meth:`on_one_thread` make others.

    Parameters
    ----------
    game : RowGame

    Attributes
    ----------
    is_binned : bool
        Whether far rows share bins as if they tied, so that values carry an error.
    n_threads : int
        Threads of the processor that compute; 1 on a GPU.
    rows_at_a_time : int
        Validation rows that are computed side by side: give :meth:`contracted` at least as many.
    finer : RowAxis or None
        The same with near rows ranked, where this one has all rows in bins.
    squares_at_most : int
        Error lines of a column that :meth:`contracted_squares` has room for; 0 if it cannot.
    """

    is_binned: bool = False
    n_threads: int = 1
    rows_at_a_time: int = 1
    finer: RowAxis | None = None
    squares_at_most: int = 0

    def __init__(self, game: RowGame) -> None:
        self.game = game
        self.n_rows, self.n_columns = game.n_rows, game.n_columns

    @abstractmethod
    def sums(
        self,
        coalitions: NDArray[np.bool_],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """Row values under each of B column subsets: (B, n).

        They are summed over the chosen validation rows, each times its weight.
        """

    @abstractmethod
    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """The sum over all column subsets F of ``W[F, j] phi(F)``: (m, n).

        ``W[F, j]`` is ``weights_in[|F|]`` for a column j in F, and ``-weights_out[|F|]`` for one
        outside. As in :meth:`sums`, phi is summed over the chosen validation rows.
        """

    @abstractmethod
    def walk_rows(self) -> int:
        """How many validation rows a walk should be given at least, and in multiples of."""

    def walked(
        self,
        weights_in: NDArray[np.float64],  # noqa: ARG002
        weights_out: NDArray[np.float64],  # noqa: ARG002
    ) -> RowAxis:
        """An axis with the :meth:`sums` that a walk of these weights adds up.

        On a GPU a walk may have other bins than listed subsets; what bins change is judged by its
        own.
        """
        return self

    def contracted(
        self,
        coalitions: NDArray[np.bool_],
        weights: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """What :meth:`sums` gives times weights of shape (lines, B), never all in memory.

        Returns
        -------
        ndarray of shape (lines, n)
        """
        total = np.zeros((len(weights), self.n_rows))
        step = int(np.clip(_BLOCK_NUMBERS // self.n_rows, *_BLOCK))
        tiles = [slice(start, start + TILE) for start in range(0, self.n_rows, TILE)]
        for start in range(0, len(coalitions), step):
            block = slice(start, start + step)
            sums = self.sums(coalitions[block], chosen)
            factors = np.ascontiguousarray(weights[:, block])

            def add(
                tile: slice,
                sums: NDArray[np.float64] = sums,
                factors: NDArray[np.float64] = factors,
            ) -> None:
                total[:, tile] += factors @ sums[:, tile]

            for _ in map_in_threads(add, tiles, self.n_threads):
                pass
        return total

    def contracted_squares(
        self,
        coalitions: NDArray[np.bool_],
        weights: NDArray[np.float64],
        chosen: NDArray[np.integer],
        error_lines: int,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Weighted sums with squares added up, where :attr:`squares_at_most` allows it.

        The first m lines of the weights give values, the other ``error_lines`` times m are squared.

        Returns
        -------
        ndarray of shape (2 m, n)
            Values, and for each the sum of squares.
        ndarray of shape (error_lines, m)
            The sums of the error lines over the rows.
        """
        raise NotImplementedError(f"{type(self).__name__} squares no lines")

    def ranked(self) -> RowAxis:
        """The axis of the game with all rows ranked."""
        return self

    def on_one_thread(self) -> RowAxis:
        """The axis on one thread of the processor; on a GPU, itself."""
        return self
