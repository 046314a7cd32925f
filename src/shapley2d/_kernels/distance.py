"""Distances of all training rows from one validation row, as exact integers."""

from __future__ import annotations

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE


@numba.njit(nogil=True, cache=CACHE)
def column_dissimilarities(train, valid, measures, begin, end, out):  # type: ignore[no-untyped-def]
    """Write the dissimilarities of all columns and of the training rows ``begin .. end - 1`` from one validation row.

    Parameters
    ----------
    train : ndarray of shape (m, n), int64
    valid : ndarray of shape (m,), same dtype
        The entries of the validation row.
    measures : tuple
        Whether a column is nominal, its weight, and what a missing entry counts, the latter two in the dtype of the
        entries; see :class:`~shapley2d._knn.distances.IntegerColumns`.
    begin, end : int
    out : ndarray of shape (m, end - begin at least), same dtype
        Written from its front on.
    """
    nominal, weight, missing = measures
    n_columns, n_rows = train.shape[0], end - begin
    # The most negative number stands for a missing entry.
    absent = -np.iinfo(train.dtype).max - 1
    for j in range(n_columns):
        entries = train[j, begin:end]
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
def coalition_distances(dissimilarities, coalitions, begin, end, out):  # type: ignore[no-untyped-def]
    """Add up the dissimilarities of the columns in each of some coalitions, for the rows ``begin .. end - 1``.

    Of a coalition and the one behind it, where that has all other columns, the smaller is added up and taken from the
    sum of all columns: exact, as all numbers are whole.

    Parameters
    ----------
    dissimilarities : ndarray of shape (m, end - begin at least), int64
        Those of these rows, from its front on.
    coalitions : ndarray of bool of shape (c, m)
    begin, end : int
    out : ndarray of shape (c at least, n), same dtype
    """
    n_columns = coalitions.shape[1]
    whole = np.empty(end - begin, out.dtype)
    has_whole = False
    c = 0
    while c < len(coalitions):
        size, others = 0, 0
        for j in range(n_columns):
            size += coalitions[c, j]
            if c + 1 < len(coalitions):
                others += coalitions[c, j] != coalitions[c + 1, j]
        if others < n_columns:
            _add_columns(dissimilarities, coalitions[c], out[c, begin:end])
            c += 1
            continue
        if not has_whole:
            _add_columns(dissimilarities, coalitions[c], whole)
            _add_columns(dissimilarities, coalitions[c + 1], out[c + 1, begin:end])
            for i in range(whole.size):
                out[c, begin + i] = whole[i]
                whole[i] += out[c + 1, begin + i]
            has_whole = True
        else:
            small = c if 2 * size <= n_columns else c + 1
            large = 2 * c + 1 - small
            _add_columns(dissimilarities, coalitions[small], out[small, begin:end])
            for i in range(whole.size):
                out[large, begin + i] = whole[i] - out[small, begin + i]
        c += 2


@numba.njit(nogil=True, cache=CACHE)
def _add_columns(dissimilarities, coalition, sums):  # type: ignore[no-untyped-def]
    """Write the sum of the columns of a coalition."""
    members = np.empty(coalition.size, np.int64)
    size = 0
    for j in range(members.size):
        if coalition[j]:
            members[size] = j
            size += 1
    sums.fill(0)
    first = size % 3
    for k in range(first):
        one = dissimilarities[members[k]]
        for i in range(sums.size):
            sums[i] += one[i]
    # three at a time, to touch the sums less often
    for k in range(first, size, 3):
        one = dissimilarities[members[k]]
        two = dissimilarities[members[k + 1]]
        three = dissimilarities[members[k + 2]]
        for i in range(sums.size):
            sums[i] += one[i] + two[i] + three[i]


# Rows of which all columns stay in the second cache while several coalitions add them up.
_TILE = 1024


@numba.njit(nogil=True, cache=CACHE)
def distances_from(train, valid, measures, coalitions, out):  # type: ignore[no-untyped-def]
    """Distances of all training rows from one validation row, over the columns in each of some coalitions.

    Dissimilarities live for a tile of rows only: they stay in the cache, and memory does not grow with the columns.

    Parameters
    ----------
    train, valid, measures
        As in :func:`column_dissimilarities`.
    coalitions : ndarray of bool of shape (c, m)
    out : ndarray of shape (c at least, n), dtype of the entries
    """
    n_columns, n_rows = train.shape
    tile = np.empty((n_columns, _TILE), train.dtype)
    for begin in range(0, n_rows, _TILE):
        end = min(begin + _TILE, n_rows)
        column_dissimilarities(train, valid, measures, begin, end, tile)
        coalition_distances(tile, coalitions, begin, end, out)
