"""Distances of all training rows from one validation row, as exact integers."""

from __future__ import annotations

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE


@numba.njit(nogil=True, cache=CACHE)
def column_dissimilarities(train, valid, measures, out):  # type: ignore[no-untyped-def]
    """Write the dissimilarity of every column and training row from one validation row into ``out``.

    Parameters
    ----------
    train : ndarray of shape (m, n), int32 or int64
    valid : ndarray of shape (m,), same dtype
        The entries of the validation row.
    measures : tuple
        Whether a column is nominal, its weight, and what a missing entry counts, the latter two in the dtype of the
        entries; see :class:`~shapley2d._knn.distances.IntegerColumns`.
    out : ndarray of shape (m, n), same dtype
    """
    nominal, weight, missing = measures
    n_columns, n_rows = train.shape
    # The most negative number stands for a missing entry.
    absent = -np.iinfo(train.dtype).max - 1
    for j in range(n_columns):
        entries = train[j]
        distances = out[j]
        entry = valid[j]
        far = missing[j]
        step = weight[j]
        if entry == absent:
            for i in range(n_rows):
                distances[i] = far
        elif nominal[j]:
            for i in range(n_rows):
                unequal = step if entries[i] != entry else 0
                distances[i] = far if entries[i] == absent else unequal
        else:
            for i in range(n_rows):
                difference = entries[i] - entry
                distances[i] = far if entries[i] == absent else step * difference * difference


@numba.njit(nogil=True, cache=CACHE)
def coalition_distances(dissimilarities, coalition, out):  # type: ignore[no-untyped-def]
    """Add up the dissimilarities of the columns in a coalition, three at a time to touch the sums less often."""
    members = np.empty(coalition.size, np.int64)
    size = 0
    for j in range(coalition.size):
        if coalition[j]:
            members[size] = j
            size += 1
    out.fill(0)
    start = size % 3
    for k in range(start):
        one = dissimilarities[members[k]]
        for i in range(out.size):
            out[i] += one[i]
    for k in range(start, size, 3):
        one = dissimilarities[members[k]]
        two = dissimilarities[members[k + 1]]
        three = dissimilarities[members[k + 2]]
        for i in range(out.size):
            out[i] += one[i] + two[i] + three[i]
