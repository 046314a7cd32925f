"""Rows that agree, numbered in the order of the first of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np

from shapley2d._base.cache import CACHE

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FACTOR = np.uint64(0x9E3779B97F4A7C15)


def split_groups(
    groups: NDArray[np.int32], codes: NDArray[np.int32], n_codes: int
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
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
    bits = max(4, (2 * n - 1).bit_length())
    # made outside: code that makes arrays compiles slowly
    keys, numbers = np.full(1 << bits, -1, np.int64), np.empty(1 << bits, np.int32)
    split, first, size = np.empty(n, np.int32), np.empty(n, np.int32), np.zeros(n, np.int32)
    found = _split(groups, codes, n_codes, 64 - bits, keys, numbers, split, first, size)
    return split, first[:found].copy(), size[:found].copy()


@numba.njit(nogil=True, cache=CACHE)
def _split(
    groups: NDArray[np.int32],
    codes: NDArray[np.int32],
    n_codes: int,
    shift: int,
    keys: NDArray[np.int64],
    numbers: NDArray[np.int32],
    split: NDArray[np.int32],
    first: NDArray[np.int32],
    size: NDArray[np.int32],
) -> int:
    """Fill the last three; return the number of groups. The room of keys is a power of two."""
    found = 0
    for i in range(groups.size):
        key = np.int64(groups[i]) * n_codes + codes[i]
        slot = np.int64((np.uint64(key) * _FACTOR) >> np.uint64(shift))
        while keys[slot] != key and keys[slot] >= 0:
            slot = (slot + 1) & (keys.size - 1)
        if keys[slot] < 0:
            keys[slot] = key
            numbers[slot] = found
            first[found] = i
            found += 1
        split[i] = numbers[slot]
        size[numbers[slot]] += 1
    return found
