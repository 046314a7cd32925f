"""Utilities of K nearest neighbours, for many row coalitions under many column coalitions."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray  # noqa: TC002  (numba reads the named tuple's annotations)

from shapley2d._base.cache import CACHE
from shapley2d._knn.kernels.rows import BINS, measure_rows, sort_near


class Nearest(NamedTuple):
    """What the K nearest rows are judged by.

    Attributes
    ----------
    y, y_valid : ndarray of float64
        Codes of the classes, or numbers less the mean of the training rows.
    k : int
    classifies : bool
    shares : bool
        Whether votes are divided by those there are, not by K.
    factors : ndarray of float64
        What each validation row counts.
    """

    y: NDArray[np.float64]
    y_valid: NDArray[np.float64]
    k: int
    classifies: bool
    shares: bool
    factors: NDArray[np.float64]


@numba.njit(nogil=True, cache=CACHE)
def add_utilities(entries, seen, nearest, groups, masks, room, sums):  # type: ignore[no-untyped-def]
    """Add the utilities of all pairs of coalitions for all validation rows.

    Parameters
    ----------
    entries, seen : tuple
        As of :func:`~shapley2d._knn.kernels.rows.add_values`.
    nearest : Nearest
    groups : ndarray of shape (n,), int32
        A number for every training row; rows with the same number are in the same coalitions.
    masks : tuple of two ndarrays
        Row coalitions over those numbers, and column coalitions as codes of groups of columns.
    room : Room
        That of rows which are all ranked.
    sums : ndarray of shape (row coalitions, column coalitions)
        Receives the utilities, summed over the validation rows.
    """
    terms, lows, slacks = seen
    row_masks, codes = masks
    y, k, n_rows = nearest.y, nearest.k, len(nearest.y)
    levels, near_groups = np.empty(n_rows, np.int32), np.empty(n_rows, np.int32)
    near_y = np.empty(n_rows)
    for t in range(len(terms)):
        target = nearest.y_valid[t]
        measure_rows(entries, terms[t], lows[t], codes, room)
        for b in range(len(codes)):
            sort_near(b, BINS, entries, terms[t], codes, room)
            level = 0
            for r in range(n_rows):
                if r > 0 and room.distances[r] - room.distances[r - 1] > slacks[t, b]:
                    level += 1
                levels[r] = level
                row = room.rows[r]
                near_groups[r] = groups[row]
                near_y[r] = y[row]
                if nearest.classifies:
                    near_y[r] = 1.0 if y[row] == target else 0.0
            for a in range(row_masks.shape[0]):
                if row_masks[a].any():
                    votes = nearest_votes(levels, near_groups, near_y, row_masks[a], k)
                    utility = utility_of_votes(votes, target, k, nearest)
                    sums[a, b] += nearest.factors[t] * utility


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
def utility_of_votes(votes, target, k, nearest):  # type: ignore[no-untyped-def]
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
    elif nearest.shares:
        k = count
    if nearest.classifies:
        return total / k
    return -((total / k - target) ** 2) - variance / (k * k)
