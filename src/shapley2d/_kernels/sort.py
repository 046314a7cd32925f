"""Rows in order of their integer distance, by sorts whose time does not grow with ties."""

from __future__ import annotations

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE

# Up to this many rows a shell sort beats clearing the buckets of a radix sort.
_FEW = 96
# Gaps of the shell sort (Ciura).
_GAPS = (57, 23, 10, 4, 1)


@numba.njit(nogil=True, cache=CACHE)
def sort_rows(keys, rows, spare_keys, spare_rows):  # type: ignore[no-untyped-def]
    """Sort rows by key, smallest first, in place.

    Parameters
    ----------
    keys, spare_keys : ndarray of shape (n,), int32 or int64, not negative
        The keys, and scratch.
    rows, spare_rows : ndarray of shape (n,), int32
        The rows that go with the keys, and scratch.
    """
    if keys.size <= _FEW:
        _shell_sort(keys, rows)
        return
    _, differing = _bits_in_use(keys)
    low, n_digits, bits = _digits(differing, keys.size)
    mask = (1 << bits) - 1
    counts = np.empty(1 << bits, np.int64)
    for digit in range(n_digits):
        shift = low + digit * bits
        counts.fill(0)
        for i in range(keys.size):
            counts[(keys[i] >> shift) & mask] += 1
        _starts(counts)
        for i in range(keys.size):
            value = (keys[i] >> shift) & mask
            place = counts[value]
            counts[value] = place + 1
            spare_keys[place] = keys[i]
            spare_rows[place] = rows[i]
        for i in range(keys.size):
            keys[i] = spare_keys[i]
            rows[i] = spare_rows[i]


@numba.njit(nogil=True, cache=CACHE)
def sort_packed_rows(keys, rows, packed, spare):  # type: ignore[no-untyped-def]
    """Sort rows by key, smallest first, in place: the same, half as long, where key and row fit one number.

    Parameters
    ----------
    keys : ndarray of shape (n,), int32 or int64, not negative
    rows : ndarray of shape (n,), int32
        The rows that go with the keys.
    packed, spare : ndarray of at least n int64
        Scratch.
    """
    n_rows = keys.size
    if n_rows <= _FEW:
        _shell_sort(keys, rows)
        return
    used, differing = _bits_in_use(keys)
    if differing == 0:
        return
    row_bits = _bit_length(_bits_in_use(rows)[0])
    if _bit_length(used) + row_bits > 63:
        sort_rows(keys, rows, np.empty_like(keys), np.empty_like(rows))
        return
    packed, spare = packed[:n_rows], spare[:n_rows]
    for i in range(n_rows):
        packed[i] = (np.int64(keys[i]) << row_bits) | rows[i]
    low, n_digits, bits = _digits(differing, n_rows)
    mask = np.uint64((1 << bits) - 1)
    counts = np.empty(1 << bits, np.int32)
    for digit in range(n_digits):
        shift = np.uint64(row_bits + low + digit * bits)
        counts.fill(0)
        for i in range(n_rows):
            counts[(np.uint64(packed[i]) >> shift) & mask] += np.int32(1)
        _starts(counts)
        for i in range(n_rows):
            number = packed[i]
            value = (np.uint64(number) >> shift) & mask
            place = counts[value]
            counts[value] = place + np.int32(1)
            # Unsigned, so that no index is checked for counting from the end.
            spare[np.uint32(place)] = number
        packed, spare = spare, packed
    row_mask = (np.int64(1) << row_bits) - 1
    for i in range(n_rows):
        keys[i] = packed[i] >> row_bits
        rows[i] = packed[i] & row_mask


@numba.njit(nogil=True, cache=CACHE)
def _shell_sort(keys, rows):  # type: ignore[no-untyped-def]
    n_rows = keys.size
    for gap in _GAPS:
        for i in range(gap, n_rows):
            key = keys[i]
            row = rows[i]
            place = i
            while place >= gap and keys[place - gap] > key:
                keys[place] = keys[place - gap]
                rows[place] = rows[place - gap]
                place -= gap
            keys[place] = key
            rows[place] = row


@numba.njit(nogil=True, cache=CACHE)
def _bits_in_use(keys):  # type: ignore[no-untyped-def]
    """The bits that any key has, and those in which not all keys agree."""
    some, every = keys[0], keys[0]
    for i in range(keys.size):
        some |= keys[i]
        every &= keys[i]
    return np.int64(some), np.int64(some ^ every)


@numba.njit(nogil=True, cache=CACHE)
def _digits(differing, n_rows):  # type: ignore[no-untyped-def]
    """Lowest bit, number and width of the digits of a radix sort on the given bits."""
    if differing == 0:
        return 0, 0, 1
    low = 0
    while not (differing >> low) & 1:
        low += 1
    span = _bit_length(differing) - low
    # Few rows do not pay for many buckets.
    widest = 11 if n_rows > 2048 else 8
    n_digits = (span + widest - 1) // widest
    return low, n_digits, (span + n_digits - 1) // n_digits


@numba.njit(nogil=True, cache=CACHE)
def _starts(counts):  # type: ignore[no-untyped-def]
    """Turn counts by bucket into the places at which buckets start."""
    place = counts[0] - counts[0]
    for value in range(counts.size):
        count = counts[value]
        counts[value] = place
        place += count


@numba.njit(nogil=True, cache=CACHE)
def _bit_length(number):  # type: ignore[no-untyped-def]
    bits = 0
    while number >> bits:
        bits += 1
    return bits
