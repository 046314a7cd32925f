"""Distances of training rows from one validation row: exact integers, or their leading digits.

Distances have 64 bits, of which bins need few. The *leading digits* of a dissimilarity are what is
left of it, in 32 bits, without its last ``shift`` bits (or with as many zeros more, where it is
negative); those of a distance are the sum of its columns'. They are too small by less than one for
every column that has lost something.
"""

from __future__ import annotations

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE


@numba.njit(nogil=True, cache=CACHE)
def column_dissimilarities(train, valid, measures, shift, used, begin, end, out):  # type: ignore[no-untyped-def]
    """Write by how much the rows ``begin .. end - 1`` differ from one validation row, by column.

    Parameters
    ----------
    train : ndarray of shape (m, n), int64
    valid : ndarray of shape (m,), same dtype
        The entries of the validation row.
    measures : tuple
        Whether a column is nominal, its weight, and what a missing entry counts, the latter two in
        the dtype of the entries; see :class:`~shapley2d._knn.distances.IntegerColumns`.
    shift : int
        How many last bits to leave out, or to add; 0 where ``out`` has 64 bits.
    used : ndarray of bool of shape (m,)
        The columns.
    begin, end : int
    out : ndarray of shape (m, end - begin at least), int64 or int32
        Written from its front on.
    """
    nominal, weight, missing = measures
    n_rows = end - begin
    # The most negative number stands for a missing entry.
    absent = -np.iinfo(train.dtype).max - 1
    for j in range(used.size):
        if not used[j]:
            continue
        entries = train[j, begin:end]
        distances = out[j]
        entry = valid[j]
        step = weight[j]
        far = first_bits(missing[j], shift)
        if entry == absent:
            for i in range(n_rows):
                distances[i] = far
        elif nominal[j]:
            apart = first_bits(step, shift)
            for i in range(n_rows):
                unequal = apart if entries[i] != entry else 0
                distances[i] = far if entries[i] == absent else unequal
        else:
            for i in range(n_rows):
                difference = entries[i] - entry
                square = first_bits(step * difference * difference, shift)
                distances[i] = far if entries[i] == absent else square


@numba.njit(nogil=True, cache=CACHE, inline="always")
def first_bits(distance, shift):  # type: ignore[no-untyped-def]
    """The leading digits of a number."""
    return (distance << max(-shift, 0)) >> max(shift, 0)


@numba.njit(nogil=True, cache=CACHE)
def distances_of_rows(train, valid, measures, coalition, rows, out):  # type: ignore[no-untyped-def]
    """Write the exact distances of the listed training rows over the columns of one coalition.

    Parameters
    ----------
    train, valid, measures
        As in :func:`column_dissimilarities`.
    coalition : ndarray of bool of shape (m,)
    rows : ndarray of int
    out : ndarray of int64, as many as rows at least
    """
    nominal, weight, missing = measures
    absent = -np.iinfo(train.dtype).max - 1
    for h in range(rows.size):
        out[h] = 0
    for j in range(coalition.size):
        if not coalition[j]:
            continue
        entries, entry, step, far = train[j], valid[j], weight[j], missing[j]
        if entry == absent:
            for h in range(rows.size):
                out[h] += far
        elif nominal[j]:
            for h in range(rows.size):
                other = entries[rows[h]]
                unequal = step if other != entry else 0
                out[h] += far if other == absent else unequal
        else:
            for h in range(rows.size):
                other = entries[rows[h]]
                out[h] += far if other == absent else step * (other - entry) * (other - entry)


@numba.njit(nogil=True, cache=CACHE)
def coalition_distances(dissimilarities, coalitions, begin, end, out):  # type: ignore[no-untyped-def]
    """Add up the columns of each of some coalitions, for the rows ``begin .. end - 1``.

    Of a coalition and the one behind it, where that has all other columns, the smaller is added up
    and taken from the sum of all columns: exact, as all numbers are whole.

    Parameters
    ----------
    dissimilarities : ndarray of shape (m, end - begin at least), int64 or int32
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
        one, two = out[c, begin:end], out[c + 1, begin:end]
        if not has_whole:
            _add_columns(dissimilarities, coalitions[c], one)
            _add_columns(dissimilarities, coalitions[c + 1], two)
            for i in range(whole.size):
                whole[i] = one[i] + two[i]
            has_whole = True
        else:
            small, large = (one, two) if 2 * size <= n_columns else (two, one)
            _add_columns(dissimilarities, coalitions[c if 2 * size <= n_columns else c + 1], small)
            for i in range(whole.size):
                large[i] = whole[i] - small[i]
        c += 2


@numba.njit(nogil=True, cache=CACHE)
def _add_columns(dissimilarities, coalition, sums):  # type: ignore[no-untyped-def]
    """Write the sum of the columns of a coalition."""
    n_rows = sums.size
    members = np.flatnonzero(coalition)
    size = members.size
    first = size % 4
    # four at a time, to touch the sums less often
    if first == 0:
        sums.fill(0)
    elif first == 1:
        one = dissimilarities[members[0]]
        for i in range(n_rows):
            sums[i] = one[i]
    elif first == 2:
        one, two = dissimilarities[members[0]], dissimilarities[members[1]]
        for i in range(n_rows):
            sums[i] = one[i] + two[i]
    else:
        one, two, three = (
            dissimilarities[members[0]],
            dissimilarities[members[1]],
            dissimilarities[members[2]],
        )
        for i in range(n_rows):
            sums[i] = one[i] + two[i] + three[i]
    for k in range(first, size, 4):
        one, two = dissimilarities[members[k]], dissimilarities[members[k + 1]]
        three, four = dissimilarities[members[k + 2]], dissimilarities[members[k + 3]]
        for i in range(n_rows):
            sums[i] += one[i] + two[i] + three[i] + four[i]


# Rows of which all columns stay in the second cache while several coalitions add them up.
_TILE = 1024


@numba.njit(nogil=True, cache=CACHE)
def distances_from(train, valid, measures, shift, coalitions, out):  # type: ignore[no-untyped-def]
    """Distances of all training rows from one validation row, under each of some coalitions.

    Dissimilarities live for a tile of rows only: they stay in the cache, and memory does not grow
    with the columns.

    Parameters
    ----------
    train, valid, measures, shift
        As in :func:`column_dissimilarities`.
    coalitions : ndarray of bool of shape (c, m)
    out : ndarray of shape (c at least, n), int64 or int32
    """
    n_columns, n_rows = train.shape
    tile = np.empty((n_columns, _TILE), out.dtype)
    used = np.zeros(n_columns, np.bool_)
    for c in range(len(coalitions)):
        used |= coalitions[c]
    for begin in range(0, n_rows, _TILE):
        end = min(begin + _TILE, n_rows)
        column_dissimilarities(train, valid, measures, shift, used, begin, end, tile)
        coalition_distances(tile, coalitions, begin, end, out)
