"""Naive Bayes after each cell that joins: the cell changes one column of one class."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.scores import count_right
from shapley2d._kernels.sweep_naive_bayes import VAR_SMOOTHING, add_log_density

if TYPE_CHECKING:
    from numpy.typing import NDArray


@numba.njit(nogil=True, cache=CACHE)
def follow_cells(
    entries: NDArray[np.float64],
    absent: NDArray[np.float64],
    starts: NDArray[np.intp],
    codes: NDArray[np.int64],
    valid: NDArray[np.float64],
    blocks: NDArray[np.int64],
    order: NDArray[np.intp],
    start: int,
    stop: tuple[float, float],
    out: NDArray[np.float64],
) -> None:
    """Right predictions after each cell that joins, from position ``start`` on."""
    width, n_rows = entries.shape
    n_columns, n_classes, n_valid = starts.size - 1, blocks.size - 1, valid.shape[1]
    now = np.empty_like(entries)
    for k in range(width):
        now[k] = absent[k]
    counts = np.zeros(n_classes, np.int64)
    for row in range(n_rows):
        counts[codes[row]] += 1
    present = np.flatnonzero(counts)
    spreads = np.zeros(width)  # variance of every column over all rows
    densities = np.zeros((n_classes, width, n_valid))
    scores = np.zeros((n_classes, n_valid))
    right = np.zeros(n_valid, np.uint8)
    smoothing = 0.0
    # columns of a class whose densities are out of date
    stale = np.zeros((n_classes, width), np.bool_)
    changed = True
    for position in range(order.size + 1):
        if position >= start:
            if not changed:
                out[position - start] = out[position - start - 1]
            elif VAR_SMOOTHING * spreads.max() == 0.0 or present.size == 1:
                out[position - start] = blocks[present[0] + 1] - blocks[present[0]]
            else:
                if VAR_SMOOTHING * spreads.max() != smoothing:
                    smoothing = VAR_SMOOTHING * spreads.max()
                    stale[:] = True
                _rescore(now, codes, counts, present, valid, smoothing, stale, densities, scores)
                out[position - start] = count_right(scores, present, present.size, blocks, right)
            if abs(out[position - start] - stop[0]) <= stop[1]:
                out[position - start :] = out[position - start]
                break
        if position < order.size:
            row, column = order[position] // n_columns, order[position] % n_columns
            changed = position < start
            for k in range(starts[column], starts[column + 1]):
                if entries[k, row] != now[k, row]:
                    changed = True
                    now[k, row] = entries[k, row]
                    spreads[k] = _variance(now[k], codes, -1, n_rows)[1]
                    stale[codes[row], k] = True


@numba.njit(nogil=True, cache=CACHE)
def _rescore(
    now: NDArray[np.float64],
    codes: NDArray[np.int64],
    counts: NDArray[np.int64],
    present: NDArray[np.intp],
    valid: NDArray[np.float64],
    smoothing: float,
    stale: NDArray[np.bool_],
    densities: NDArray[np.float64],
    scores: NDArray[np.float64],
) -> None:
    """Log-likelihoods of the classes that have changed, summed anew so that no rounding adds up."""
    for c in present:
        if not stale[c].any():
            continue
        scores[c] = math.log(counts[c] / codes.size)
        for k in range(now.shape[0]):
            if stale[c, k]:
                mean, variance = _variance(now[k], codes, c, counts[c])
                densities[c, k] = 0.0
                add_log_density(valid[k], mean, variance + smoothing, densities[c, k])
                stale[c, k] = False
            scores[c] += densities[c, k]


@numba.njit(nogil=True, cache=CACHE)
def _variance(
    x: NDArray[np.float64], codes: NDArray[np.int64], own: int, count: int
) -> tuple[float, float]:
    """Mean and variance over the ``count`` rows of class ``own``, or of all if it is negative.

    Entries are taken relative to the first, so that a constant column has a variance of exactly 0.
    """
    first, seen, total = 0.0, False, 0.0
    for i in range(x.size):
        if own < 0 or codes[i] == own:
            if not seen:
                first, seen = x[i], True
            total += x[i] - first
    centre = total / count
    squares = 0.0
    for i in range(x.size):
        if own < 0 or codes[i] == own:
            off = x[i] - first - centre
            squares += off * off
    return first + centre, squares / count
