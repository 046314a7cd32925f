"""What a device needs to know to compute row values, and what it has to offer: one interface for processor and GPU.

Everything above it (means over validation rows, the column axis, errors, stopping) is written once,
in :class:`~shapley2d._knn.rows.RowValues` and in what uses that.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.rank_weights import RankWeights


@dataclass(frozen=True)
class RowGame:
    """The K-nearest-neighbour game of a training and a validation table, rows in order of their labels.

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
        What each validation row counts in the sums over them; ones by default.
    """

    task: Literal["classification", "regression"]
    n_neighbors: int
    weights: RankWeights
    train: NDArray[Any]
    valid: NDArray[Any]
    measures: tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
    y: NDArray[Any]
    y_valid: NDArray[Any]
    valid_weights: NDArray[np.float64] = field(default_factory=lambda: np.ones(0))

    def __post_init__(self) -> None:
        if not self.valid_weights.size:
            object.__setattr__(self, "valid_weights", np.ones(len(self.y_valid)))

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self.train.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.train.shape[0])

    @property
    def magnitude(self) -> float:
        """The largest target, in regression."""
        return float(max(np.abs(self.y).max(), np.abs(self.y_valid).max(initial=0.0)))

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


class RowAxis(Protocol):
    """Row values of a game, computed somewhere."""

    def sums(
        self,
        coalitions: NDArray[np.bool_],
        chosen: NDArray[np.integer],
        progress: Callable[[float], None] | None = None,
    ) -> NDArray[np.float64]:
        """Row values under each of B column coalitions, summed over the chosen validation rows, weighted: (B, n)."""
        ...

    def walk(
        self,
        weights_in: NDArray[np.float64],
        weights_out: NDArray[np.float64],
        chosen: NDArray[np.integer],
    ) -> NDArray[np.float64]:
        """The sum over all coalitions F of ``W[F, j] phi(F)``, and over the chosen validation rows, weighted: (m, n).

        ``W[F, j]`` is ``weights_in[|F|]`` for a column j in F, and ``-weights_out[|F|]`` for one
        outside.
        """
        ...

    def walk_rows(self) -> int:
        """How many validation rows a walk should be given at least, and in multiples of."""
        ...
