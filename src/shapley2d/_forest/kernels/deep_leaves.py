"""Permutation sampling in leaves with many columns on their path: one random order of the columns.

Along an order the column subsets are nested, and a row is in play up to the first column whose
splits it does not pass. So rows differ by that position and by their label only. The values of an
order are unbiased: their mean over all orders is the sum over all subsets (Castro, Gomez and Tejada
2009, doi:10.1016/j.cor.2008.04.004).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np

from shapley2d._base.cache import CACHE
from shapley2d._forest.kernels.leaf_tables import error_coefficients, share_coefficients

if TYPE_CHECKING:
    from numpy.typing import NDArray


@numba.njit(nogil=True, cache=CACHE)
def add_orders(
    codes: NDArray[np.uint64],
    orders: NDArray[np.int64],
    columns: NDArray[np.int32],
    depths: NDArray[np.int64],
    labels: NDArray[np.int32],
    targets: NDArray[np.float64],
    leaf_weights: NDArray[np.float64],
    row_weights: NDArray[np.float64],
    steps: NDArray[np.float64],
    beside: NDArray[np.float64],
    values: NDArray[np.float64],
) -> None:
    """Add the values of all rows in some leaves, for one order of the columns of each leaf.

    Parameters
    ----------
    codes : ndarray of shape (leaves, n)
        The columns on the path of a leaf whose splits each row passes, bit by bit.
    orders : ndarray of shape (leaves, most columns)
        The order in which they join.
    columns : ndarray of shape (leaves, most columns)
        The columns, in the order of their bits.
    depths : ndarray of shape (leaves,)
        Their number.
    labels, targets : ndarray of shape (n,)
        Classes, empty in regression; numbers, empty in classification.
    leaf_weights : ndarray of shape (leaves, classes or 2)
        Of the validation rows in each leaf, as in
        :func:`~shapley2d._forest.kernels.leaf_values.fill_tables`.
    row_weights : ndarray
        ``share_weights`` or ``error_weights`` of :mod:`shapley2d._forest.weights`.
    steps : ndarray
        Row d has the weights of a step that joins s of d columns; 1 for the Shapley value.
    beside : ndarray
        Row d has the probability that the label joins s of d columns; empty where it is not valued.
    values : ndarray of shape (n, m), or (n, m + 1) with the label
        Is added to.
    """
    n, label = values.shape[0], values.shape[1] - 1
    classifies = labels.size > 0
    kinds = 2 if classifies else 3
    channels = leaf_weights.shape[1] if classifies else 3
    most = depths.max()
    counts, coefficients = np.empty((most + 1, kinds)), np.empty((most + 1, kinds))
    worth = np.empty((most + 1, channels))  # of a row under the first columns, by label
    gains = np.empty((most + 1, channels))  # what it gets for the step to them
    reached = np.empty(n, np.int64)
    for b in range(depths.size):
        d, order, code = depths[b], orders[b], codes[b]
        masses = leaf_weights[b]
        counts[:] = 0.0
        for i in range(n):
            r = 0
            while r < d and (code[i] >> np.uint64(order[r])) & np.uint64(1):
                r += 1
            reached[i] = r
            counts[r, 0] += 1.0
            if classifies:
                counts[r, 1] += masses[labels[i]]
            else:
                counts[r, 1] += targets[i]
                counts[r, 2] += targets[i] * targets[i]
        for r in range(d - 1, -1, -1):
            for k in range(kinds):
                counts[r, k] += counts[r + 1, k]
        if classifies:
            share_coefficients(counts, row_weights, d + 1, coefficients)
        else:
            error_coefficients(counts, row_weights, masses, d + 1, coefficients)
        for r in range(d + 1):
            for c in range(channels):
                if classifies:
                    worth[r, c] = coefficients[r, 0] + coefficients[r, 1] * masses[c]
                else:
                    worth[r, c] = coefficients[r, c]
                if r:
                    gains[r, c] = steps[d, r - 1] * (worth[r, c] - worth[r - 1, c])
        for i in range(n):
            r = reached[i]
            if classifies:
                c = labels[i]
                for k in range(r):
                    values[i, columns[b, order[k]]] += gains[k + 1, c]
                if r < d:
                    values[i, columns[b, order[r]]] -= steps[d, r] * worth[r, c]
                if beside.shape[0]:
                    for k in range(r + 1):
                        values[i, label] += beside[d, k] * worth[k, c]
            else:
                y = targets[i]
                for k in range(r):
                    gain = gains[k + 1, 0] + y * (gains[k + 1, 1] + y * gains[k + 1, 2])
                    values[i, columns[b, order[k]]] += gain
                lost = worth[r, 0] + y * (worth[r, 1] + y * worth[r, 2])
                if r < d:
                    values[i, columns[b, order[r]]] -= steps[d, r] * lost
                if beside.shape[0]:
                    for k in range(r + 1):
                        values[i, label] += beside[d, k] * (
                            worth[k, 0] + y * (worth[k, 1] + y * worth[k, 2])
                        )
