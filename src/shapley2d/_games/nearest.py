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

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from joblib import effective_n_jobs

from shapley2d._base.in_threads import map_in_threads
from shapley2d._kernels.knn_utility import Nearest, add_utilities
from shapley2d._knn.cuda.weight_levels import check_levels, weight_levels
from shapley2d._knn.few_rows import FewRows
from shapley2d._knn.metric import integer_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.cuda.ranked import Utilities
    from shapley2d._knn.distances import IntegerColumns
    from shapley2d._tables.problem import Split
    from shapley2d._theory.coalitions import Coalitions

_CHUNK = 32  # validation rows whose utilities are added up together, whatever the number of threads


class KnnGame:
    """The K-nearest-neighbour utility as a game.

    The rows are sorted once for every validation row and column coalition; a row coalition then
    only looks at them until it has met K of its members. So ask for many row coalitions at once.
    ``y`` and ``y_valid`` are codes of classes, or numbers. With ``baseline="labels"`` no columns
    are worth a vote among all rows of the coalition, which tie; with ``"zero"`` 0. Right votes are
    divided by the votes there are (``votes="share"``) or by K (``"k"``). No rows are worth a guess,
    1 / classes or the error of the mean of all training targets; with ``"k"`` 0 votes, i.e. 0, and
    in regression that error too (0 where the baseline is 0). The utilities do not depend on
    ``n_jobs``; ``device`` is a GPU to compute on.
    """

    def __init__(
        self,
        columns: IntegerColumns,
        y: NDArray[np.generic],
        y_valid: NDArray[np.generic],
        *,
        task: Literal["classification", "regression"],
        n_neighbors: int,
        baseline: str = "labels",
        votes: str = "k",
        n_classes: int | None = None,
        valid_weights: NDArray[np.float64] | None = None,
        n_jobs: int | None = None,
        device: Device | None = None,
    ) -> None:
        self.n_rows, self.n_columns = columns.n_rows, columns.n_columns
        self._classifies = task == "classification"
        centre = 0.0 if self._classifies else float(np.mean(y.astype(np.float64)))
        self._y = y.astype(np.float64) - centre
        self._y_valid = y_valid.astype(np.float64) - centre
        self._train = np.ascontiguousarray(columns.train)
        self._valid = np.ascontiguousarray(columns.valid.T)
        self._measures = columns.measures
        self._k = int(n_neighbors)
        self._ties = baseline != "zero"
        if self._classifies and n_classes is None:
            n_classes = int(y.astype(np.intp).max(initial=0)) + 1
        self._few = FewRows.of(
            y,
            y_valid,
            n_neighbors=self._k,
            n_classes=n_classes if self._classifies else None,
            valid_weights=valid_weights,
        )
        self._shares = votes == "share"
        guesses = self._shares or (self._ties and not self._classifies)
        self._nothing = self._few.guess if guesses else 0.0
        alike = np.ones(len(self._y_valid))
        self._factors = alike if valid_weights is None else valid_weights / valid_weights.mean()
        self._n_jobs = n_jobs
        self._on_device: list[tuple[float, Utilities]] | None = None
        if device is not None:
            from shapley2d._knn.cuda.ranked import Utilities

            check_levels(self._factors)
            self._on_device = [
                (
                    factor,
                    Utilities(
                        self._train,
                        np.ascontiguousarray(self._valid[places]),
                        self._measures,
                        self._y,
                        self._y_valid[places],
                        task=task,
                        n_neighbors=self._k,
                        device=device,
                    ),
                )
                for factor, places in weight_levels(self._factors)
            ]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_on_device": None}  # other processes do not share the GPU

    def utilities(self, rows: Coalitions, columns: Coalitions) -> NDArray[np.float64]:
        """Matrix of utilities."""
        masks = rows.masks()
        groups, row_masks = _common_members(masks)
        column_masks = np.ascontiguousarray(columns.masks())
        total = np.zeros((len(rows), len(columns)))
        if self._on_device is not None:
            for factor, part in self._on_device:
                total += factor * part.sums(groups, row_masks, column_masks)
            if not self._ties:
                total[:, ~column_masks.any(axis=1)] = 0.0
        else:

            def evaluate(start: int) -> NDArray[np.float64]:
                return self._chunk(start, groups, row_masks, column_masks)

            starts = range(0, len(self._valid), _CHUNK)
            for chunk in map_in_threads(evaluate, starts, effective_n_jobs(self._n_jobs)):
                total += chunk
        total /= len(self._valid)
        counts = column_masks.any(axis=1) | self._ties  # no columns are worth 0 where none tie
        if self._shares:
            sizes = masks.sum(axis=1)
            few = np.flatnonzero((sizes > 0) & (sizes < self._k))
            worth = np.array([self._few.worth[mask].sum() for mask in masks[few]])
            total[few] += np.outer(self._few.utilities(sizes[few], worth), counts)
        total[~masks.any(axis=1)] = self._nothing * counts
        return total

    def _chunk(
        self,
        start: int,
        groups: NDArray[np.int32],
        row_masks: NDArray[np.bool_],
        column_masks: NDArray[np.bool_],
    ) -> NDArray[np.float64]:
        sums = np.zeros((len(row_masks), len(column_masks)))
        part = slice(start, start + _CHUNK)
        table = (self._train, self._valid[part], self._measures)
        judged = (self._y, self._y_valid[part], self._k, self._classifies, self._ties)
        nearest = Nearest(*judged, self._factors[part])
        add_utilities(table, nearest, groups, (row_masks, column_masks), sums)
        return sums


def knn_game(
    split: Split,
    *,
    n_neighbors: int,
    metric: str = "auto",
    baseline: str = "labels",
    votes: str = "k",
    n_jobs: int | None = 1,
    device: Device | None = None,
) -> KnnGame:
    """The game of a split, by default in one thread: workers share draws, not games.

    See :class:`KnnGame` for the parameters.
    """
    return KnnGame(
        integer_columns(split.train, split.valid, metric),
        split.y.codes,
        split.y_valid.codes,
        task=split.y.task,
        n_neighbors=n_neighbors,
        baseline=baseline,
        votes=votes,
        n_classes=split.y.classes.size if split.y.task == "classification" else None,
        valid_weights=split.valid_weights,
        n_jobs=n_jobs,
        device=device,
    )


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
