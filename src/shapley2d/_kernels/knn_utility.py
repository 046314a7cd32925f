"""Utilities of K nearest neighbours, for many row coalitions under many column coalitions."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray  # noqa: TC002  (numba reads the named tuple's annotations)

from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.distance import coalition_distances, column_dissimilarities
from shapley2d._kernels.sort import rank_rows


class Nearest(NamedTuple):
    """What the K nearest rows are judged by.

    Attributes
    ----------
    y, y_valid : ndarray of float64
        Codes of the classes, or numbers less the mean of the training rows.
    k : int
    classifies : bool
    ties : bool
        Whether rows without any column all tie; otherwise such coalitions are left out.
    factors : ndarray of float64
        What each validation row counts.
    """

    y: NDArray[np.float64]
    y_valid: NDArray[np.float64]
    k: int
    classifies: bool
    ties: bool
    factors: NDArray[np.float64]


@numba.njit(nogil=True, cache=CACHE)
def add_utilities(table, nearest, groups, masks, sums):  # type: ignore[no-untyped-def]
    """Add the utilities of all pairs of coalitions for some validation rows.

    Parameters
    ----------
    table : tuple
        Training rows (m, n), validation rows (T, m), and how their columns are measured.
    nearest : Nearest
    groups : ndarray of shape (n,), int32
        A number for every training row; rows with the same number are in the same coalitions.
    masks : tuple of two ndarrays of bool
        Row coalitions over those numbers, and column coalitions.
    sums : ndarray of shape (row coalitions, column coalitions)
        Receives the utilities, summed over the validation rows.
    """
    train, valid, measures = table
    row_masks, column_masks = masks
    y, y_valid, k = nearest.y, nearest.y_valid, nearest.k
    n_rows = train.shape[1]
    apart = np.empty_like(train)
    every = np.ones(len(train), np.bool_)
    distances, keys = np.empty(n_rows, train.dtype), np.empty(n_rows, train.dtype)
    rows = np.empty(n_rows, np.int32)
    packed, spare = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    near_groups, near_y = np.empty(n_rows, np.int32), np.empty(n_rows)
    for t in range(valid.shape[0]):
        factor = nearest.factors[t]
        column_dissimilarities(train, valid[t], measures, 0, every, 0, n_rows, apart)
        for b in range(column_masks.shape[0]):
            if not nearest.ties and not column_masks[b].any():
                continue
            coalition_distances(
                apart, column_masks[b : b + 1], 0, n_rows, distances.reshape(1, n_rows)
            )
            rank_rows(distances, keys, rows, packed, spare)
            for r in range(n_rows):
                near_groups[r] = groups[rows[r]]
                near_y[r] = y[rows[r]]
                if nearest.classifies:
                    near_y[r] = 1.0 if near_y[r] == y_valid[t] else 0.0
            for a in range(row_masks.shape[0]):
                if row_masks[a].any():
                    votes = nearest_votes(keys, near_groups, near_y, row_masks[a], k)
                    utility = utility_of_votes(votes, y_valid[t], k, nearest.classifies)
                    sums[a, b] += factor * utility


@numba.njit(nogil=True, cache=CACHE)
def nearest_votes(keys, groups, y, mask, k):  # type: ignore[no-untyped-def]
    """The votes of the ``k`` nearest members of a coalition.

    Returns
    -------
    count, total : int, float
        Members that surely vote, and the sum of their ``y``.
    size, part, squares : int, float, float
        Tied members of whom ``k - count`` vote, and the sums of ``y`` and of its squares; 0 where
        no group is divided. Only the last tie group that is reached can be.
    """
    total = 0.0
    count = 0
    r = 0
    while r < keys.size and count < k:
        key = keys[r]
        size, part, squares = 0, 0.0, 0.0
        while r < keys.size and keys[r] == key:
            if mask[groups[r]]:
                size += 1
                part += y[r]
                squares += y[r] * y[r]
            r += 1
        if count + size > k:
            return count, total, size, part, squares
        count += size
        total += part
    return count, total, 0, 0.0, 0.0


@numba.njit(nogil=True, cache=CACHE)
def utility_of_votes(votes, target, k, classifies):  # type: ignore[no-untyped-def]
    """The utility of neighbours, mean over the orders of tied ones.

    In classification ``y`` is 1 for a match; in regression the utility is minus the squared error
    of the mean, whose part that is left to chance counts by its variance.
    """
    count, total, size, part, squares = votes
    variance = 0.0
    if size > 0:
        mean, taken = part / size, k - count
        total += taken * mean
        if size > taken:
            variance = taken * (size - taken) / (size - 1) * max(squares / size - mean * mean, 0.0)
    if classifies:
        return total / k
    return -((total / k - target) ** 2) - variance / (k * k)
