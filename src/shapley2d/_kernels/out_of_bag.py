"""One tree on a bootstrap of the rows, and what it predicts for the rows out of bag."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.cart import grow_tree, make_scratch

if TYPE_CHECKING:
    from numpy.typing import NDArray


@numba.njit(nogil=True, cache=CACHE)
def predict_out_of_bag(
    presorted: tuple[Any, ...],
    target: tuple[Any, ...],
    counts: NDArray[np.int64],
    active: NDArray[np.intp],
    predicted: NDArray[np.float64],
) -> None:
    """Grow a tree on the rows in the bag and predict the others.

    It is the tree of :func:`~shapley2d._kernels.cart.grow_tree`, grown only where a row out of bag
    falls.

    Parameters
    ----------
    presorted : tuple
        Values of every column (p, n), and all rows sorted by every column.
    target : tuple
        Class codes, labels as numbers, and the number of classes, 0 in regression.
    counts : ndarray of shape (n,)
        How often the bootstrap has drawn each row.
    active : ndarray
        Columns that the tree may use.
    predicted : ndarray of shape (n,)
        Receives the predictions; left alone where a row is in the bag.
    """
    values, all_sorted = presorted
    size = counts.sum()
    work = np.empty(
        (active.size, size), np.int32
    )  # the bag sorted by every column, rows as often as drawn
    for k in range(active.size):
        _fill_bag(all_sorted[active[k]], counts, work[k])
    below = np.flatnonzero(counts == 0).astype(np.int32)
    leaves, scratch = make_scratch(size, below.size)
    averages = target[2] == 0
    count = grow_tree(values, target, work, active, values, below, leaves, scratch, averages)
    for leaf in range(count):
        for i in range(leaves.stretches[leaf, 0], leaves.stretches[leaf, 1]):
            predicted[below[i]] = leaves.predictions[leaf]


@numba.njit(nogil=True, cache=CACHE)
def _fill_bag(order: NDArray[np.int32], counts: NDArray[np.int64], out: NDArray[np.int32]) -> None:
    """Rows in the bag, in the order of all rows, each as often as it was drawn."""
    filled = 0
    for i in range(order.size):
        row = order[i]
        for _ in range(counts[row]):
            out[filled] = row
            filled += 1
