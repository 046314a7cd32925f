"""K nearest neighbours: distances grow column by column, the nearest are kept row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._games.nearest import KnnGame
from shapley2d._kernels.distance import column_dissimilarities
from shapley2d._knn.metric import integer_columns
from shapley2d._theory.coalitions import NestedCoalitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.problem import Split
    from shapley2d._theory.coalitions import Coalitions


class KnnSweep(KnnGame):
    """The K-nearest-neighbour utility of method ``"knn"``, swept over the grid of a permutation pair.

    The share of right labels among the K nearest, rows at the same distance being averaged over all their orders; in
    regression minus the squared error of their mean. See :mod:`shapley2d._games.nearest` for the definition and
    :mod:`shapley2d._knn.metric` for the distance, categories and missing entries included. Coalitions that are not
    those of two permutations are left to :class:`~shapley2d._games.nearest.KnnGame`, which gives the same utilities.

    Parameters
    ----------
    split : Split
        Training and validation rows, checked.
    n_neighbors : int
    metric : {"auto", "sqeuclidean"}

    Examples
    --------
    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[0], [1], [8], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> game = KnnSweep(split, n_neighbors=1)
    >>> game.utilities(NestedCoalitions([0, 2, 1, 3]), NestedCoalitions([0]))[:, 1]
    array([0. , 0.5, 1. , 1. , 1. ])
    """

    model = "knn"

    def __init__(self, split: Split, *, n_neighbors: int = 10, metric: str = "auto", n_jobs: int = 1) -> None:
        super().__init__(
            integer_columns(split.train, split.valid, metric),
            split.y.codes,
            split.y_valid.codes,
            task=split.y.task,
            n_neighbors=n_neighbors,
            n_jobs=n_jobs,
        )

    def utilities(self, rows: Coalitions, columns: Coalitions) -> NDArray[np.float64]:
        """Matrix of utilities; no rows or no columns are worth 0."""
        if not isinstance(rows, NestedCoalitions) or not isinstance(columns, NestedCoalitions):
            return super().utilities(rows, columns)
        order = columns.order
        train = np.ascontiguousarray(self._train[order][:, rows.order])
        valid = np.ascontiguousarray(self._valid[:, order])
        table = (train, valid, self._mismatch[order], self._missing[order])
        sums = np.zeros((order.size, rows.order.size))
        _fill(table, self._y[rows.order], self._y_valid, self._k, self._classifies, sums)
        grid = np.zeros((len(rows), len(columns)))
        grid[1:, 1:] = sums.T / len(self._valid)
        return grid


@numba.njit(nogil=True, cache=True)
def _fill(
    table: tuple[Any, ...],
    y: NDArray[np.float64],
    y_valid: NDArray[np.float64],
    k: int,
    classifies: bool,
    sums: NDArray[np.float64],
) -> None:
    """Add up the utilities of all prefixes over the validation rows, (columns, rows)."""
    train, valid, mismatch, missing = table
    width, n_rows = train.shape
    apart = np.empty_like(train)
    distances = np.empty(n_rows, train.dtype)
    keys, worth, right = np.empty(k + 1, train.dtype), np.empty(k + 1), np.empty(n_rows)
    for t in range(valid.shape[0]):
        column_dissimilarities(train, valid[t], mismatch, missing, apart)
        for i in range(n_rows):
            right[i] = y[i]
            if classifies:
                right[i] = 1.0 if y[i] == y_valid[t] else 0.0
        distances[:] = 0
        for b in range(width):
            for i in range(n_rows):
                distances[i] += apart[b, i]
            _sweep_rows(distances, right, y_valid[t], k, classifies, keys, worth, sums[b])


@numba.njit(nogil=True, cache=True)
def _sweep_rows(
    distances: NDArray[np.int64],
    right: NDArray[np.float64],
    target: float,
    k: int,
    classifies: bool,
    keys: NDArray[np.int64],
    worth: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    """Add the utilities of one validation row while the training rows join.

    ``keys[:count]`` are the distances, ascending, of the fewer than k rows that are surely among the k nearest;
    ``limit`` is that of the tied rows of which only some may be, whose number and sums are kept.
    """
    count, total = 0, 0.0
    limit, size, part, squares = np.iinfo(distances.dtype).max, 0, 0.0, 0.0
    utility = 0.0 if classifies else -(target * target)
    for i in range(distances.size):
        key = distances[i]
        if key <= limit:
            if key == limit:
                size += 1
                part += right[i]
                squares += right[i] * right[i]
            else:
                place = count
                while place > 0 and keys[place - 1] > key:
                    keys[place], worth[place] = keys[place - 1], worth[place - 1]
                    place -= 1
                keys[place], worth[place] = key, right[i]
                count += 1
                total += right[i]
                if count == k:  # the farthest become the tied ones, the former tied ones are out
                    limit, size, part, squares = keys[k - 1], 0, 0.0, 0.0
                    while count > 0 and keys[count - 1] == limit:
                        count -= 1
                        size += 1
                        part += worth[count]
                        squares += worth[count] * worth[count]
                        total -= worth[count]
            utility = _utility(target, k, classifies, count, total, size, part, squares)
        sums[i] += utility


@numba.njit(nogil=True, cache=True)
def _utility(
    target: float,
    k: int,
    classifies: bool,
    count: int,
    total: float,
    size: int,
    part: float,
    squares: float,
) -> float:
    """Utility of ``count`` sure neighbours and k - count of ``size`` tied ones."""
    variance = 0.0
    if size > 0:
        mean, taken = part / size, k - count
        total += taken * mean
        if size > taken:
            variance = taken * (size - taken) / (size - 1) * max(squares / size - mean * mean, 0.0)
    if classifies:
        return total / k
    return -((total / k - target) ** 2) - variance / (k * k)
