"""How much more often than by chance two entries stand in the same rows."""

from __future__ import annotations

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE


@numba.njit(nogil=True, cache=CACHE)
def most_company(order, starts, codes, counts, firsts, others):  # type: ignore[no-untyped-def]
    """The largest ratio over other columns, for every entry of a column; 1 where none is larger.

    Half a row is added to both numbers of rows.

    Parameters
    ----------
    order : ndarray of shape (n,)
        The rows, those with the same entry of the column one after the other.
    starts : ndarray of shape (groups + 1,)
        Where the rows of each entry start in this order.
    codes : ndarray of int32, shape (columns, n)
        The entries of all columns as numbers.
    counts : ndarray
        The number of rows with each code, column after column.
    firsts : ndarray of shape (columns,)
        Where those of each column start.
    others : ndarray
        The other columns to look at.

    Returns
    -------
    ndarray of shape (n,)
    """
    n = order.size
    most = np.ones(n)
    held = np.zeros(n, np.int32)  # rows of the group with each code of the other column
    for k in others:
        other = codes[k]
        for group in range(starts.size - 1):
            rows = order[starts[group] : starts[group + 1]]
            if rows.size < 2:
                continue
            for i in rows:
                held[other[i]] += 1
            for i in rows:
                by_chance = (rows.size - 1.0) * (counts[firsts[k] + other[i]] - 1.0) / (n - 1.0)
                most[i] = max(most[i], (held[other[i]] - 0.5) / (by_chance + 0.5))
            for i in rows:
                held[other[i]] = 0
    return most
