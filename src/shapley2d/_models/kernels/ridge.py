"""Ridge regression for all prefixes: one elimination serves all prefixes of the columns."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numba
import numpy as np

from shapley2d._base.cache import CACHE
from shapley2d._models.kernels.scores import squared_error, weight_right

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints

ALPHA = 1.0
"""Penalty on the squared coefficients, as in scikit-learn; the intercept is free."""

ROUNDING = 1e-12
"""Share of a column's sum of squares: a remainder below it is rounding."""


@numba.njit(nogil=True, cache=CACHE, fastmath={"contract"})
def _add_scaled(out: Floats, weight: float, column: Floats) -> None:
    for t in range(out.size):
        out[t] += weight * column[t]


@numba.njit(nogil=True, cache=CACHE, fastmath={"contract"})
def _eliminate(system: Floats, k: int, sums: Floats, valid: Floats, mean: float) -> None:
    """Line ``k`` of the system, less all earlier lines."""
    line, here = system[k, k:], sums[k:]
    for t in range(here.size):
        line[t] = here[t]
    seen = line[here.size :]
    for t in range(seen.size):
        seen[t] = valid[t] - mean
    l = 0
    while l + 3 < k:  # four at a time, to read and write the line less often
        f0, f1, f2, f3 = system[l, k], system[l + 1, k], system[l + 2, k], system[l + 3, k]
        r0, r1 = system[l, k:], system[l + 1, k:]
        r2, r3 = system[l + 2, k:], system[l + 3, k:]
        for t in range(line.size):
            line[t] = line[t] - f0 * r0[t] - f1 * r1[t] - f2 * r2[t] - f3 * r3[t]
        l += 4
    while l < k:
        _add_scaled(line, -system[l, k], system[l, k:])
        l += 1
    pivot = line[0] + ALPHA
    root = math.sqrt(pivot) if pivot > ROUNDING * here[0] else math.nan
    for t in range(here.size):
        line[t] /= root
    inverse = 1.0 / root
    for t in range(seen.size):
        seen[t] *= inverse


@numba.njit(nogil=True, cache=CACHE, fastmath={"contract"})
def fill_grid(
    train: Floats,
    targets: Floats,
    valid: Floats,
    targets_valid: Floats,
    blocks: NDArray[np.int64],
    weights: Floats,
    chain: tuple[Ints, Ints, Ints, Ints],
    grid: Floats,
) -> None:
    """Scores for all prefixes of rows and columns.

    Numbers: ``targets`` (n, 1) and ``targets_valid``; squared errors times weights.

    Classes: ``targets`` (n, classes) are their indicators, ``blocks`` the validation rows of each;
    the weight of right answers. Targets of -1 and 1 are twice these less 1, so that the same class
    has the largest prediction. Of two classes only the second is regressed on: it wins beyond 1/2.

    A column has a line of sums of squares and products with all columns, with the targets, and of
    the validation rows; all less their means. Forward elimination as in Cholesky's factor makes
    predictions add up column by column. Where a column adds nothing to earlier ones but rounding,
    beside which the penalty is lost, it and all later ones are NaN.
    """
    rows, sizes, columns, ends = chain
    width, n_valid, n_targets = columns.size, valid.shape[1], targets.shape[1]
    both = width + n_targets
    classifies = blocks.size > 0
    means, off, sums = np.zeros(both), np.zeros(both), np.zeros((width, both))
    system, scores = np.zeros((width, both + n_valid)), np.zeros((n_targets, n_valid))
    totals = np.zeros(n_targets)
    present, right = np.zeros(n_targets, np.int64), np.zeros(n_valid, np.uint8)
    joined = 0
    for a in range(sizes.size):
        while joined < sizes[a]:
            row = rows[joined]
            joined += 1
            for k in range(both):
                x = train[row, columns[k]] if k < width else targets[row, k - width]
                off[k] = x - means[k]
                means[k] += off[k] / joined
            for l in range(both):
                scaled = (joined - 1.0) / joined * off[l]
                for k in range(min(l + 1, width)):
                    sums[k, l] += scaled * off[k]
            for c in range(n_targets):
                totals[c] += targets[row, c]
        n_present = 0
        for c in range(n_targets):
            if totals[c] != 0.0 or not classifies:
                present[n_present] = c
                n_present += 1
        first = 1 if n_present == 2 else 0
        for q in range(n_present):
            scores[present[q]] = totals[present[q]] / joined if q >= first else 0.5
        added = 0
        for b in range(ends.size):
            for k in range(added, ends[b]):
                _eliminate(system, k, sums[k], valid[columns[k]], means[k])
                for q in range(first, n_present):
                    c = present[q]
                    _add_scaled(scores[c], system[k, width + c], system[k, both:])
            added = ends[b]
            if added and math.isnan(system[added - 1, both]):
                grid[a, b] = math.nan
            elif classifies:
                grid[a, b] = weight_right(scores, present, n_present, blocks, weights, right)
            else:
                grid[a, b] = squared_error(scores[0], targets_valid, weights)
