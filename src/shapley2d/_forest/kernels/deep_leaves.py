"""Permutation sampling in leaves with many columns on their path: one random order of the columns.

Along an order the column subsets are nested, and a row is in play up to the first column whose
splits it does not pass. So rows differ by that position, their kind and their number only. The
values of an order are unbiased: their mean over all orders is the sum over all subsets (Castro,
Gomez and Tejada 2009, doi:10.1016/j.cor.2008.04.004).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._base.cache import CACHE
from shapley2d._forest.kernels.leaf_tables import row_coefficients

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints


@numba.njit(nogil=True, cache=CACHE)
def add_orders(
    codes: NDArray[np.uint64],
    orders: Ints,
    columns: NDArray[np.int32],
    depths: Ints,
    rows: tuple[Any, ...],
    leaf_weights: Floats,
    weights: tuple[Any, ...],
    values: Floats,
) -> None:
    """Add the values of all rows in some leaves, for one order of the columns of each leaf.

    ``codes`` (leaves, n): the columns on the path of a leaf whose splits each row passes, bit by
        bit.
    ``orders`` (leaves, most columns): the order in which they join.
    ``columns`` (leaves, most columns): the columns, in the order of their bits.
    ``depths`` (leaves,): their number.
    ``rows``: kinds, numbers and plays (n,).
    ``leaf_weights`` (leaves, kinds): as in
        :func:`~shapley2d._forest.kernels.leaf_values.fill_tables`.
    ``weights``: ``mean_weights`` of :mod:`shapley2d._forest.weights`; in row d the weights of a
        step that joins s of d columns, 1 for the Shapley value; and in row d the probability that
        the label joins s of d columns, empty where it is not valued.
    ``values`` (n, m + 1), or (n, m + 2): is added to; the label's come before the last column.
    """
    kinds, numbers, plays = rows
    row_weights, steps, beside = weights
    n, label = values.shape[0], values.shape[1] - 2
    most = depths.max()
    counts, coefficients = np.empty((most + 1, 2)), np.empty((most + 1, 2))
    gains = np.empty((most + 1, 2))  # what a row gets for the step to the first columns
    reached = np.empty(n, np.int64)
    for b in range(depths.size):
        d, order, code = depths[b], orders[b], codes[b]
        counts[:] = 0.0
        for i in range(n):
            r = 0
            while r < d and (code[i] >> np.uint64(order[r])) & np.uint64(1):
                r += 1
            reached[i] = r
            counts[r, 0] += plays[i]
            counts[r, 1] += leaf_weights[b, kinds[i]] * numbers[i]
        for r in range(d - 1, -1, -1):
            for k in range(2):
                counts[r, k] += counts[r + 1, k]
        for r in range(d + 1):
            pair = row_coefficients(counts[r, 0], counts[r, 1], row_weights)
            coefficients[r, 0], coefficients[r, 1] = pair
        for r in range(1, d + 1):
            for k in range(2):
                gains[r, k] = steps[d, r - 1] * (coefficients[r, k] - coefficients[r - 1, k])
        for i in range(n):
            if plays[i] == 0.0:
                continue
            r, u = reached[i], leaf_weights[b, kinds[i]] * numbers[i]
            for k in range(r):
                values[i, columns[b, order[k]]] += gains[k + 1, 0] + gains[k + 1, 1] * u
            if r < d:
                lost = coefficients[r, 0] + coefficients[r, 1] * u
                values[i, columns[b, order[r]]] -= steps[d, r] * lost
            if beside.shape[0]:
                for k in range(r + 1):
                    worth = coefficients[k, 0] + coefficients[k, 1] * u
                    values[i, label] += beside[d, k] * worth
