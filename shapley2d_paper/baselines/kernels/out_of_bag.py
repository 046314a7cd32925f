"""2D-OOB: one tree on a bootstrap of the rows, and what it predicts for the rows out of bag.

:func:`add_closeness` is the distance term of its score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._base.cache import CACHE
from shapley2d_paper.baselines.kernels.cart import grow_tree, make_scratch

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDING = 1e-9  # distances over columns of variance 1 that differ by less do so by rounding


@numba.njit(nogil=True, cache=CACHE)
def predict_out_of_bag(
    presorted: tuple[Any, ...],
    target: tuple[Any, ...],
    counts: NDArray[np.int64],
    active: NDArray[np.intp],
    predicted: NDArray[np.float64],
) -> None:
    """Grow a tree on the rows in the bag and predict the others.

    It is the tree of :func:`~shapley2d_paper.baselines.kernels.cart.grow_tree`, grown only where a
    row out of bag falls.

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
    # the bag sorted by every column, rows as often as drawn
    work = np.empty((active.size, size), np.int32)
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


@numba.njit(nogil=True, cache=CACHE)
def add_closeness(
    scaled: NDArray[np.float64],
    target: tuple[Any, ...],
    counts: NDArray[np.int64],
    active: NDArray[np.intp],
    scores: NDArray[np.float64],
) -> None:
    """Add to every row's score how close it is to the mean of its class in the bag.

    With d the Euclidean distance over the ``active`` columns, it is (max d - d) / (max d - min d),
    the extremes being those of the rows in the bag: 1 for a row as close as the closest of them, 0
    for one as far as the farthest, less beyond. Where all are equally far, each is as close as the
    closest. A row whose class is not in the bag is measured from the mean of all of it.
    """
    codes, _, n_classes = target
    n_rows, width = counts.size, active.size
    means, sizes = np.zeros((n_classes + 1, width)), np.zeros(n_classes + 1)
    for i in range(n_rows):
        c = codes[i]
        sizes[c] += counts[i]
        for k in range(width):
            means[c, k] += counts[i] * scaled[active[k], i]
    sizes[n_classes] = n_rows
    for c in range(n_classes):
        means[n_classes] += means[c]
    for c in range(n_classes + 1):
        for k in range(width):
            means[c, k] /= max(sizes[c], 1.0)
    distances = np.zeros(n_rows)
    nearest, farthest = np.inf, 0.0
    for i in range(n_rows):
        c = codes[i] if sizes[codes[i]] else n_classes
        for k in range(width):
            distances[i] += (scaled[active[k], i] - means[c, k]) ** 2
        distances[i] = np.sqrt(distances[i])
        if counts[i]:
            nearest, farthest = min(nearest, distances[i]), max(farthest, distances[i])
    if farthest - nearest > _ROUNDING:
        scores += (farthest - distances) / (farthest - nearest)
    else:
        scores += 1.0
