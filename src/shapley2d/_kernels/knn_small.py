"""Row values of small tables, in code that compiles five times faster than that of large ones.

Putting rows in order is all that differs: one plain function instead of bins, several sorts and
four column subsets at a time. Values come from the same functions
(:mod:`shapley2d._kernels.knn_tie_groups`).
"""

from __future__ import annotations

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.tie_groups import ranked_classification, ranked_regression

_LEADING = 24  # bits that tell nearly all rows of a small table apart

_MANY_ROWS = 1024  # from here on longer digits cost less than more of them
_CROWD = 12  # rows of a bucket that are quickly put in order


@numba.njit(nogil=True, cache=CACHE)
def _order_rows(apart, coalition, keys, rows, spare, counts):  # type: ignore[no-untyped-def]
    """Add up the columns of a coalition, and put the rows in order of their distance.

    Rows at the same distance keep their order. Rows are dealt into about as many buckets as there
    are rows, by the leading bits of how much farther than the nearest they are, and then moved past
    the few before them that are farther. Where a bucket is crowded, a radix sort takes over, first
    by the leading bits, and by all of them where those leave rows out of order. Of the two arrays
    of rows, the one that has them in order is returned.
    """
    n_columns, n_rows = apart.shape
    for i in range(n_rows):
        keys[i] = 0
        rows[i] = i
    for j in range(n_columns):
        if coalition[j]:
            for i in range(n_rows):
                keys[i] += apart[j, i]
    nearest, farthest = keys[0], keys[0]
    for i in range(n_rows):
        nearest = min(nearest, keys[i])
        farthest = max(farthest, keys[i])
    if nearest == farthest:
        return rows
    bits = 8 if n_rows < _MANY_ROWS else 11
    shift = 0
    while (farthest - nearest) >> (shift + bits):
        shift += 1
    most = 0
    for value in range(1 << bits):
        counts[value] = 0
    for i in range(n_rows):
        value = (keys[i] - nearest) >> shift
        counts[value] += 1
        most = max(most, counts[value])
    if most <= _CROWD or shift == 0:
        place = 0
        for value in range(1 << bits):
            count = counts[value]
            counts[value] = place
            place += count
        for i in range(n_rows):
            value = (keys[i] - nearest) >> shift
            spare[counts[value]] = i
            counts[value] += 1
        if shift == 0:
            return spare
        for i in range(1, n_rows):
            row = spare[i]
            key = keys[row]
            k = i
            while k > 0 and keys[spare[k - 1]] > key:
                spare[k] = spare[k - 1]
                k -= 1
            spare[k] = row
        return spare
    for i in range(n_rows):
        keys[i] -= nearest
    differing = farthest - nearest
    bits = 6 if n_rows < _MANY_ROWS else 8
    buckets = 1 << bits
    low = 0
    while differing >> (low + _LEADING):
        low += 1
    while True:
        shift = low
        while shift < 63 and differing >> shift:
            for value in range(buckets):
                counts[value] = 0
            for i in range(n_rows):
                counts[(keys[i] >> shift) & (buckets - 1)] += 1
            place = 0
            for value in range(buckets):
                count = counts[value]
                counts[value] = place
                place += count
            for i in range(n_rows):
                row = rows[i]
                value = (keys[row] >> shift) & (buckets - 1)
                spare[counts[value]] = row
                counts[value] += 1
            rows, spare = spare, rows
            shift += bits
        if low == 0:
            return rows
        low = 0
        for i in range(1, n_rows):
            if keys[rows[i - 1]] > keys[rows[i]]:
                break
        else:
            return rows


@numba.njit(nogil=True, cache=CACHE)
def add_small_classification(apart, coalitions, runs, worth, single, beyond, inverse, sums):  # type: ignore[no-untyped-def]
    """Add the row values under each of the coalitions, for T validation rows, to ``sums``.

    Parameters
    ----------
    apart : ndarray of shape (T, m, n), int64
        Dissimilarity of every validation row, column and training row.
    coalitions : ndarray of shape (B, m), bool
    runs : ndarray of shape (T, 2)
        First and last row (exclusive) with the label of each validation row.
    worth : ndarray of shape (T,)
        Weights of the validation rows.
    single, beyond, inverse : ndarray of shape (n + 1,)
        As in :func:`~shapley2d._kernels.knn_tie_groups.ranked_classification`.
    sums : ndarray of shape (B, n)
    """
    n_rows = apart.shape[2]
    keys = np.empty(n_rows, np.int64)
    first_room, second_room = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    counts = np.empty(2048, np.int64)
    ranked, values = np.empty(n_rows, np.int64), np.empty(n_rows)
    for c in range(len(coalitions)):
        for t in range(len(apart)):
            rows = _order_rows(apart[t], coalitions[c], keys, first_room, second_room, counts)
            for rank in range(n_rows):
                ranked[rank] = keys[rows[rank]]
            ranked_classification(ranked, rows, 0.0, runs[t], single, beyond, inverse, values)
            for i in range(n_rows):
                sums[c, i] += worth[t] * values[i]


@numba.njit(nogil=True, cache=CACHE)
def add_small_regression(apart, coalitions, z, targets, worth, k, alone, tables, sums):  # type: ignore[no-untyped-def]
    """Add row values in regression, by centred targets of training (``z``) and validation rows.

    Parameters
    ----------
    apart, coalitions, worth, sums
        As in :func:`add_small_classification`.
    z, targets : ndarray of shape (n,), (T,)
    k, alone : float
        The number of neighbours, and the weight of the empty coalition.
    tables : tuple
        As in :func:`~shapley2d._kernels.knn_tie_groups.group_quadratic`.
    """
    n_rows = apart.shape[2]
    keys = np.empty(n_rows, np.int64)
    first_room, second_room = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    counts = np.empty(2048, np.int64)
    ranked, values = np.empty(n_rows, np.int64), np.empty(n_rows)
    room, no_tails = np.empty((2, n_rows)), (0.0, 0.0, 0.0)
    for c in range(len(coalitions)):
        for t in range(len(apart)):
            rows = _order_rows(apart[t], coalitions[c], keys, first_room, second_room, counts)
            for rank in range(n_rows):
                ranked[rank] = keys[rows[rank]]
            ranked_regression(ranked, rows, no_tails, z, targets[t], k, alone, tables, room, values)
            for i in range(n_rows):
                sums[c, i] += worth[t] * values[i]
