"""Ridge regression for all prefixes: one Cholesky factor serves all prefixes of the columns."""

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
def _join(
    x: Floats,
    y: Floats,
    columns: Ints,
    count: int,
    means: Floats,
    y_means: Floats,
    gram: Floats,
    products: Floats,
    off: Floats,
) -> None:
    """Take in row number ``count``: a rank-one update of centred sums of squares and products."""
    share = (count - 1.0) / count
    for k in range(columns.size):
        off[k] = x[columns[k]] - means[k]
        means[k] += off[k] / count
    for c in range(y.size):
        y_off = y[c] - y_means[c]
        y_means[c] += y_off / count
        for k in range(columns.size):
            products[c, k] += share * y_off * off[k]
    for k in range(columns.size):
        scaled = share * off[k]
        for l in range(k + 1):
            gram[k, l] += scaled * off[l]


@numba.njit(nogil=True, cache=CACHE, fastmath={"contract"})
def _factor(gram: Floats, factor: Floats) -> None:
    """Lower Cholesky factor of ``gram`` plus the penalty; leading blocks serve column prefixes.

    A column that adds nothing to earlier ones but rounding, beside which the penalty is lost, has
    no factor: it and all later ones are NaN.
    """
    for k in range(gram.shape[0]):
        for l in range(k + 1):
            total = gram[k, l]
            for q in range(l):
                total -= factor[k, q] * factor[l, q]
            if l < k:
                factor[k, l] = total / factor[l, l]
            elif total + ALPHA > ROUNDING * gram[k, k]:
                factor[k, k] = math.sqrt(total + ALPHA)
            else:
                factor[k, k] = math.nan


@numba.njit(nogil=True, cache=CACHE, fastmath={"contract"})
def _solve_forward(factor: Floats, products: Floats, k: int) -> float:
    """Entry ``k`` of the solution z of L z = products, which already holds the earlier entries."""
    total = products[k]
    for l in range(k):
        total -= factor[k, l] * products[l]
    return float(total / factor[k, k])


@numba.njit(nogil=True, cache=CACHE, fastmath={"contract"})
def _basis(x: Floats, mean: float, factor: Floats, k: int, basis: Floats) -> None:
    """Column ``k`` of (X - mean) L^-T, the validation rows in a basis where predictions add up."""
    out = basis[k]
    for t in range(x.size):
        out[t] = x[t] - mean
    l = 0
    while l + 3 < k:  # four at a time, to read and write the column less often
        f0, f1, f2, f3 = factor[k, l], factor[k, l + 1], factor[k, l + 2], factor[k, l + 3]
        b0, b1, b2, b3 = basis[l], basis[l + 1], basis[l + 2], basis[l + 3]
        for t in range(x.size):
            out[t] = out[t] - f0 * b0[t] - f1 * b1[t] - f2 * b2[t] - f3 * b3[t]
        l += 4
    while l < k:
        f0, b0 = factor[k, l], basis[l]
        for t in range(x.size):
            out[t] -= f0 * b0[t]
        l += 1
    inverse = 1.0 / factor[k, k]
    for t in range(x.size):
        out[t] *= inverse


@numba.njit(nogil=True, cache=CACHE, fastmath={"contract"})
def _add_scaled(out: Floats, weight: float, column: Floats) -> None:
    for t in range(out.size):
        out[t] += weight * column[t]


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
    """Scores for all prefixes of rows and columns; NaN where the factor is.

    Numbers: ``targets`` (n, 1) and ``targets_valid``; squared errors times weights.

    Classes: ``targets`` (n, classes) are their indicators, ``blocks`` the validation rows of each;
    the weight of right answers. Targets of -1 and 1 are twice these less 1, so that the same class
    has the largest prediction. Of two classes only the second is regressed on: it wins beyond 1/2.
    """
    rows, sizes, columns, ends = chain
    width, n_valid, n_targets = columns.size, valid.shape[1], targets.shape[1]
    classifies = blocks.size > 0
    sums, present = np.zeros(n_targets), np.zeros(n_targets, np.int64)
    means, y_means, off = np.zeros(width), np.zeros(n_targets), np.zeros(width)
    gram, factor = np.zeros((width, width)), np.zeros((width, width))
    products, solution = np.zeros((n_targets, width)), np.zeros((n_targets, width))
    basis, scores = np.zeros((width, n_valid)), np.zeros((n_targets, n_valid))
    right = np.zeros(n_valid, np.uint8)
    joined = 0
    for a in range(sizes.size):
        while joined < sizes[a]:
            row = rows[joined]
            joined += 1
            _join(train[row], targets[row], columns, joined, means, y_means, gram, products, off)
            for c in range(n_targets):
                sums[c] += targets[row, c]
        n_present = 0
        for c in range(n_targets):
            if sums[c] != 0.0 or not classifies:
                present[n_present] = c
                n_present += 1
        _factor(gram, factor)
        first = 1 if n_present == 2 else 0
        for q in range(n_present):
            scores[present[q]] = sums[present[q]] / joined if q >= first else 0.5
            solution[present[q]] = products[present[q]]
        added = 0
        for b in range(ends.size):
            for k in range(added, ends[b]):
                _basis(valid[columns[k]], means[k], factor, k, basis)
                for q in range(first, n_present):
                    c = present[q]
                    solution[c, k] = _solve_forward(factor, solution[c], k)
                    _add_scaled(scores[c], solution[c, k], basis[k])
            added = ends[b]
            if added and not factor[added - 1, added - 1] > 0.0:
                grid[a, b] = math.nan
            elif classifies:
                grid[a, b] = weight_right(scores, present, n_present, blocks, weights, right)
            else:
                grid[a, b] = squared_error(scores[0], targets_valid, weights)
