"""How close rows are to the mean of their class in a bootstrap: the distance term of 2D-OOB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDING = 1e-9  # distances over columns of variance 1 that differ by less do so by rounding


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
