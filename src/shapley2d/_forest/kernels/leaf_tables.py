"""Values of cells in one leaf, for every code: sums over all column subsets by recursion.

A code has a bit for every column on the path, set if a row passes its splits. A leaf predicts the
mean of a number u over its rows, so the value of a row under the columns F is ``beta + alpha u``
with coefficients that depend on F alone: on the rows in play, whose codes contain F. With ``A(q)``
and ``B(q)`` the sums over F in q of a coefficient times ``p(|F|)`` and ``p(|F| - 1)``, a row with
code q has in column j

    B(q) - B(q - j) - A(q - j)     if it fits j,     - A(q)     if not,

so two sums over subsets, of d 2^d steps each (fast zeta transforms), serve all columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np

from shapley2d._base.cache import INNER

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats


@numba.njit(**INNER)
def row_coefficients(count: float, total: float, weights: Floats) -> tuple[float, float]:
    """Coefficients ``beta`` and ``alpha`` of the value of a row in a mean.

    ``count, total``: the rows in play, and the sum of their numbers u.
    ``weights`` (2, n + 1): :func:`~shapley2d._forest.weights.mean_weights`.
    """
    c = np.int64(count)
    later = weights[1, c] / (c - 1 if c > 1 else 1)
    return -later * total, weights[0, c] + later * c


@numba.njit(**INNER)
def cell_coefficients(
    work: Floats, n_bits: int, row_weights: Floats, joins: Floats, beside: Floats, worth: Floats
) -> None:
    """Fill ``beta`` and ``alpha`` of a row's cells, for every code that rows have.

    ``work`` (2^d, 9): for every code the rows that have it, and the sum of their numbers u; the
        rest is scratch: ``A`` and ``B`` of both coefficients, the label's sums, and the number of
        the rows.
    ``n_bits``: the number d of columns on the path.
    ``row_weights``: as of :func:`row_coefficients`.
    ``joins``: row d has ``p(s; d)``, for a column that joins s others.
    ``beside``: row d has ``p(s; d)``, for the label that joins s columns; empty where it is not
        valued.
    ``worth`` (2^d pairs of lines, at least d or d + 1): receives them, the label's after those of
        the columns.
    """
    for q in range(1 << n_bits):
        work[q, 8] = work[q, 0]
    for b in range(n_bits):  # sums over all codes that contain q: the rows in play
        bit = 1 << b
        for q in range(1 << n_bits):
            if not q & bit:
                work[q, 0] += work[q | bit, 0]
                work[q, 1] += work[q | bit, 1]
    for q in range(1 << n_bits):
        size, rest = 0, q
        while rest:
            rest &= rest - 1
            size += 1
        beta, alpha = row_coefficients(work[q, 0], work[q, 1], row_weights)
        without = joins[n_bits, size] if size < n_bits else 0.0
        with_it = joins[n_bits, size - 1] if size else 0.0
        of_label = beside[n_bits + 1, size] if beside.size else 0.0
        work[q, 2], work[q, 3] = without * beta, without * alpha
        work[q, 4], work[q, 5] = with_it * beta, with_it * alpha
        work[q, 6], work[q, 7] = of_label * beta, of_label * alpha
    n_sums = 8 if beside.size else 6
    for b in range(n_bits):  # sums over all codes that q contains
        bit = 1 << b
        for q in range(1 << n_bits):
            if q & bit:
                for k in range(2, n_sums):
                    work[q, k] += work[q ^ bit, k]
    for q in range(1 << n_bits):
        if work[q, 8] == 0.0:  # of long paths most have none
            continue
        for k in range(2):
            for j in range(n_bits):
                low = q & ~(1 << j)
                gained = work[q, 4 + k] - work[low, 4 + k]  # 0 where the row does not fit j
                worth[2 * q + k, j] = gained - work[low, 2 + k]
            worth[2 * q + k, n_bits] = work[q, 6 + k]
