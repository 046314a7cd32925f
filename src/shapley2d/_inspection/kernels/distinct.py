"""Rows that agree, numbered in the order of the first of each."""

from __future__ import annotations

import numba
import numpy as np

from shapley2d._base.cache import CACHE

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


@numba.njit(nogil=True, cache=CACHE)
def split_groups(groups, codes, n_codes):  # type: ignore[no-untyped-def]
    """Split groups of rows by one more column.

    Parameters
    ----------
    groups : ndarray of shape (n,), int32
        A number for every row.
    codes : ndarray of shape (n,), int32
        The column's entries, ``0 .. n_codes - 1``.
    n_codes : int

    Returns
    -------
    split : ndarray of shape (n,), int32
        Rows have the same number where both their groups and their codes are the same.
    first : ndarray of shape (g,), int32
        The first row of every group.
    size : ndarray of shape (g,), int32
    """
    n = groups.size
    bits = 4
    while (1 << bits) < 2 * n:
        bits += 1
    room = 1 << bits
    keys = np.full(room, -1, np.int64)
    numbers = np.empty(room, np.int32)
    split = np.empty(n, np.int32)
    first = np.empty(n, np.int32)
    size = np.zeros(n, np.int32)
    found = 0
    for i in range(n):
        key = np.int64(groups[i]) * n_codes + codes[i]
        slot = np.int64((np.uint64(key) * _FACTOR) >> np.uint64(64 - bits))
        while keys[slot] != key and keys[slot] >= 0:
            slot = (slot + 1) & (room - 1)
        if keys[slot] < 0:
            keys[slot] = key
            numbers[slot] = found
            first[found] = i
            found += 1
        split[i] = numbers[slot]
        size[numbers[slot]] += 1
    return split, first[:found].copy(), size[:found].copy()
