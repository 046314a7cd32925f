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
    keys, spare_keys : ndarray of shape (n,), int64, not negative
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
    """Sort rows by key, smallest first, in place: the same, half as long.

    Where they fit, key and row travel in one number. Of longer keys, the leading bits do, which
    tell most rows apart; rows that agree in them are neighbours then, and are sorted by all their
    bits. So keys of 64 bits take little longer than keys of 32.

    Parameters
    ----------
    keys : ndarray of shape (n,), int64, not negative
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
    packed, spare = packed[:n_rows], spare[:n_rows]
    low, n_digits, bits = _digits(differing, n_rows)
    row_bits = _bit_length(_bits_in_use(rows)[0])
    if n_digits <= 3 and _bit_length(used) + row_bits <= 63:
        for i in range(n_rows):
            packed[i] = (np.int64(keys[i]) << row_bits) | rows[i]
        packed, spare = _sort_digits(packed, spare, row_bits + low, n_digits, bits)
        row_mask = (np.int64(1) << row_bits) - 1
        for i in range(n_rows):
            keys[i] = packed[i] >> row_bits
            rows[i] = packed[i] & row_mask
        return
    low, place_mask = _sort_places(keys, differing, packed, spare)
    for i in range(n_rows):
        place = np.uint64(packed[i] & place_mask)
        spare[i] = keys[place]
        packed[i] = rows[place]
    for i in range(n_rows):
        keys[i] = spare[i]
        rows[i] = packed[i]
    _sort_runs(keys, rows, low)


@numba.njit(nogil=True, cache=CACHE)
def rank_rows(distances, keys, rows, packed, spare):  # type: ignore[no-untyped-def]
    """Write the distances in order, smallest first, to ``keys``, and their rows to ``rows``.

    Parameters
    ----------
    distances : ndarray of shape (n,), int64, not negative
    keys : ndarray of shape (n,), same dtype
    rows : ndarray of shape (n,), int32
    packed, spare : ndarray of shape (n,), int64
        Scratch.
    """
    n_rows = distances.size
    used, differing = _bits_in_use(distances)
    _, n_digits, _ = _digits(differing, n_rows)
    if n_rows <= _FEW or (n_digits <= 3 and _bit_length(used) + _bit_length(n_rows) <= 63):
        for i in range(n_rows):
            keys[i] = distances[i]
            rows[i] = i
        sort_packed_rows(keys, rows, packed, spare)
        return
    low, place_mask = _sort_places(distances, differing, packed, spare)
    for i in range(n_rows):
        place = np.uint64(packed[i] & place_mask)
        rows[i] = place
        keys[i] = distances[place]
    _sort_runs(keys, rows, low)


@numba.njit(nogil=True, cache=CACHE)
def _sort_places(keys, differing, packed, spare):  # type: ignore[no-untyped-def]
    """Put the keys' leading bits, and their places in the bits below, into ``packed``, in order.

    Returns the lowest of the leading bits, and a mask of the places.
    """
    n_rows = keys.size
    _, _, bits = _digits(differing, n_rows)
    low = max(_bit_length(differing) - 2 * bits, 0)
    place_bits = _bit_length(n_rows - 1)
    lead_mask = (np.int64(1) << (2 * bits)) - 1
    for i in range(n_rows):
        packed[i] = (((np.int64(keys[i]) >> low) & lead_mask) << place_bits) | i
    # two rounds, after which the numbers are back where they were
    _sort_digits(packed, spare, place_bits, 2, bits)
    return low, (np.int64(1) << place_bits) - 1


@numba.njit(nogil=True, cache=CACHE)
def _sort_digits(packed, spare, low, n_digits, bits):  # type: ignore[no-untyped-def]
    """Sort numbers by the given digits, and return them and the scratch."""
    mask = np.uint64((1 << bits) - 1)
    counts = np.empty(1 << bits, np.int32)
    for digit in range(n_digits):
        shift = np.uint64(low + digit * bits)
        counts.fill(0)
        for i in range(packed.size):
            counts[(np.uint64(packed[i]) >> shift) & mask] += np.int32(1)
        _starts(counts)
        for i in range(packed.size):
            number = packed[i]
            value = (np.uint64(number) >> shift) & mask
            place = counts[value]
            counts[value] = place + np.int32(1)
            # Unsigned, so that no index is checked for counting from the end.
            spare[np.uint32(place)] = number
        packed, spare = spare, packed
    return packed, spare


@numba.njit(nogil=True, cache=CACHE)
def _sort_runs(keys, rows, low):  # type: ignore[no-untyped-def]
    """Sort by all bits what is sorted by the bits from ``low`` on."""
    n_rows = keys.size
    i = 1
    while i < n_rows:
        if keys[i] >= keys[i - 1]:
            i += 1
            continue
        lead = keys[i] >> low
        begin = i - 1
        while begin > 0 and keys[begin - 1] >> low == lead:
            begin -= 1
        end = i + 1
        while end < n_rows and keys[end] >> low == lead:
            end += 1
        if end - begin > _FEW:
            part = slice(begin, end)
            sort_rows(
                keys[part],
                rows[part],
                np.empty(end - begin, keys.dtype),
                np.empty(end - begin, rows.dtype),
            )
        else:
            insertion_sort(keys, rows, begin, end)
        i = end


@numba.njit(nogil=True, cache=CACHE)
def insertion_sort(keys, rows, begin, end):  # type: ignore[no-untyped-def]
    """Sort the few rows of the places ``begin .. end - 1`` by key."""
    for i in range(begin + 1, end):
        key = keys[i]
        row = rows[i]
        place = i
        while place > begin and keys[place - 1] > key:
            keys[place] = keys[place - 1]
            rows[place] = rows[place - 1]
            place -= 1
        keys[place] = key
        rows[place] = row


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
