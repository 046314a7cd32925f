"""Nearest neighbours for all prefixes of rows and columns.

Distances grow column by column; the nearest are kept while rows join.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.distance import column_dissimilarities
from shapley2d._kernels.knn_utility import utility_of_votes

if TYPE_CHECKING:
    from numpy.typing import NDArray


@numba.njit(nogil=True, cache=CACHE)
def fill_grid(
    table: tuple[Any, ...],
    y: NDArray[np.float64],
    y_valid: NDArray[np.float64],
    factors: NDArray[np.float64],
    k: int,
    classifies: bool,
    sums: NDArray[np.float64],
) -> None:
    """Add up the utilities of all prefixes over the weighted validation rows: (columns, rows)."""
    train, valid, measures = table
    width, n_rows = train.shape
    apart = np.empty_like(train)
    every = np.ones(len(train), np.bool_)
    distances = np.empty(n_rows, train.dtype)
    keys, worth, right = np.empty(k + 1, train.dtype), np.empty(k + 1), np.empty(n_rows)
    for t in range(valid.shape[0]):
        column_dissimilarities(train, valid[t], measures, 0, every, 0, train.shape[1], apart)
        for i in range(n_rows):
            right[i] = y[i]
            if classifies:
                right[i] = 1.0 if y[i] == y_valid[t] else 0.0
        distances[:] = 0
        for b in range(width):
            for i in range(n_rows):
                distances[i] += apart[b, i]
            _sweep_rows(
                distances, right, y_valid[t], factors[t], k, classifies, keys, worth, sums[b]
            )


@numba.njit(nogil=True, cache=CACHE)
def _sweep_rows(
    distances: NDArray[np.int64],
    right: NDArray[np.float64],
    target: float,
    factor: float,
    k: int,
    classifies: bool,
    keys: NDArray[np.int64],
    worth: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None:
    """Add the utilities of one validation row while the training rows join.

    ``keys[:count]`` are the distances, ascending, of the fewer than k rows that are surely among
    the k nearest; ``limit`` is that of the tied rows of which only some may be, whose number and
    sums are kept.
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
            votes = count, total, size, part, squares
            utility = utility_of_votes(votes, target, k, classifies)
        sums[i] += factor * utility
