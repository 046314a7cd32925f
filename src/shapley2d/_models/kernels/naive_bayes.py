"""Naive Bayes for all prefixes: a row adds to running sums, a column adds log-likelihoods."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numba
import numpy as np

from shapley2d._base.cache import CACHE
from shapley2d._models.kernels.scores import weight_right

if TYPE_CHECKING:
    from numpy.typing import NDArray

VAR_SMOOTHING = 1e-9
"""Part of the largest variance that is added to all variances, as in scikit-learn."""


@numba.njit(nogil=True, cache=CACHE, fastmath={"contract"})
def fill_grid(
    train: NDArray[np.float64],
    codes: NDArray[np.int64],
    valid: NDArray[np.float64],
    blocks: NDArray[np.int64],
    weights: NDArray[np.float64],
    rows: NDArray[np.intp],
    sizes: NDArray[np.intp],
    columns: NDArray[np.intp],
    ends: NDArray[np.intp],
    grid: NDArray[np.float64],
) -> None:
    """The weight of right answers for all prefixes."""
    n_classes, width, n_valid = blocks.size - 1, columns.size, valid.shape[1]
    counts = np.zeros(n_classes, np.int64)
    means, squares = np.zeros((n_classes, width)), np.zeros((n_classes, width))
    mean, square = np.zeros(width), np.zeros(width)
    present = np.zeros(n_classes, np.int64)
    scores = np.zeros((n_classes, n_valid))
    right = np.zeros(n_valid, np.uint8)
    joined = 0
    for a in range(sizes.size):
        while joined < sizes[a]:
            row = rows[joined]
            joined += 1
            c = codes[row]
            counts[c] += 1
            for k in range(width):  # running means and squared deviations (Welford)
                x = train[row, columns[k]]
                off = x - means[c, k]
                means[c, k] += off / counts[c]
                squares[c, k] += off * (x - means[c, k])
                off = x - mean[k]
                mean[k] += off / joined
                square[k] += off * (x - mean[k])
        n_present = 0
        for c in range(n_classes):
            if counts[c]:
                present[n_present] = c
                n_present += 1
        largest, added, smoothing = 0.0, 0, -1.0
        for b in range(ends.size):
            for k in range(added, ends[b]):
                largest = max(largest, square[k] / joined)
            if VAR_SMOOTHING * largest == 0.0:
                grid[a, b] = weight_right(scores, present, 1, blocks, weights, right)  # the first
                continue
            if VAR_SMOOTHING * largest != smoothing:  # the earlier columns' variances change too
                smoothing = VAR_SMOOTHING * largest
                added = 0
                for q in range(n_present):
                    scores[present[q]] = math.log(counts[present[q]] / joined)
            for k in range(added, ends[b]):
                column = valid[columns[k]]
                for q in range(n_present):
                    c = present[q]
                    variance = squares[c, k] / counts[c] + smoothing
                    add_log_density(column, means[c, k], variance, scores[c])
            added = ends[b]
            grid[a, b] = weight_right(scores, present, n_present, blocks, weights, right)


@numba.njit(nogil=True, cache=CACHE, fastmath={"contract"})
def add_log_density(
    x: NDArray[np.float64], mean: float, variance: float, scores: NDArray[np.float64]
) -> None:
    """Add the log of a normal density at every x."""
    constant = 0.5 * math.log(2.0 * math.pi * variance)
    half = 0.5 / variance
    for t in range(x.size):
        off = x[t] - mean
        scores[t] -= constant + off * off * half
