"""The utility of K nearest neighbours for any coalition of rows and columns, without a model.

    h(S, F) = mean over validation rows of the share of the min(K, |S|) nearest rows of S that have
    their label,

the utility behind the closed form of method ``"knn"`` (for rows: Jia et al., VLDB 2019); in
regression minus the squared error of the mean of these rows. See :mod:`shapley2d._knn.few_rows` for
``votes="k"``, which divides by K. Rows at the same distance are averaged over
all their orders; without any column all rows are, so that their labels alone predict. See
:mod:`shapley2d._knn.metric` for the distance, categories and missing entries included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.few_rows import FewRows
from shapley2d._knn.fixed_point import Distances
from shapley2d._knn.kernels.rows import make_room, subset_codes
from shapley2d._knn.kernels.utility import Nearest, add_utilities
from shapley2d._knn.metric import measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.problem import Split

_COALITIONS = 16  # of columns, whose distances are in memory at a time


class KnnGame:
    """The K-nearest-neighbour utility as a game.

    The rows are sorted once for every validation row and column coalition; a row coalition then
    only looks at them until it has met K of its members. So ask for many row coalitions at once.
    No columns are worth a vote among all rows of the coalition, which tie. Right votes are divided
    by the votes there are (``votes="share"``) or by K (``"k"``). No rows are worth a guess, 1 /
    classes or the error of the mean of all training targets; with ``"k"`` 0 votes, i.e. 0, and in
    regression that error too.
    """

    compiled = True
    takes_all_rows = True

    def __init__(
        self,
        split: Split,
        *,
        n_neighbors: int,
        metric: str = "auto",
        votes: str = "k",
    ) -> None:
        columns = measure(split.train, split.valid, metric)
        self.n_rows, self.n_columns = columns.n_rows, columns.n_columns
        classifies = split.y.task == "classification"
        self.guesses = votes == "share"  # no rows are worth one, wherever values count from
        guess = FewRows.of(split, n_neighbors).guess
        self._nothing = guess if self.guesses or not classifies else 0.0
        y, y_valid = (one.codes.astype(np.float64) for one in (split.y, split.y_valid))
        centre = 0.0 if classifies else float(np.mean(y))
        self._nearest = Nearest(
            y - centre,
            y_valid - centre,
            n_neighbors,
            classifies,
            self.guesses,
            split.weights / split.weights.mean(),
        )
        self._distances = Distances(columns)

    def utilities(self, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Matrix of utilities."""
        groups, row_masks = _common_members(rows)
        total, n_valid = np.zeros((len(rows), len(columns))), len(self._nearest.y_valid)
        shape = (self.n_rows, self.n_columns, _COALITIONS)
        room = make_room(*shape, classifies=self._nearest.classifies, ranks_all=True)
        for first in range(0, len(columns), _COALITIONS):
            some = columns[first : first + _COALITIONS]
            found, masks = np.zeros((len(row_masks), len(some))), (row_masks, subset_codes(some))
            asked = self._distances.entries, self._distances.seen(some), self._nearest
            add_utilities(*asked, groups, masks, room, found)
            total[:, first : first + len(some)] = found / n_valid
        total[~rows.any(axis=1)] = self._nothing
        return total


def _common_members(masks: NDArray[np.bool_]) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Groups of rows that are in the same coalitions, and the coalitions as masks over groups.

    Blocks of rows make a mask of thousands of rows a mask of a few groups, which stays in the
    fastest memory.
    """
    packed = np.ascontiguousarray(np.packbits(masks, axis=0).T)
    if not packed.shape[1]:
        return np.zeros(masks.shape[1], dtype=np.int32), np.zeros((0, 1), dtype=bool)
    keys = packed.view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, groups = np.unique(keys, return_index=True, return_inverse=True)
    return groups.astype(np.int32), np.ascontiguousarray(masks[:, first])
