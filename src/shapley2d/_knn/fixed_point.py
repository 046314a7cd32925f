"""Fixed-point distances: dissimilarities in whole numbers that add up exactly, in any order.

For every validation row and column this module finds the few *terms* with which a kernel makes the
dissimilarity of any training entry ``u`` from the validation entry ``v``:

- a number is as far as ``weight (u - v)^2``, measured from the nearest training entry:
  ``scale (near - u) (mirror - u)`` with ``mirror = 2 v - near``. All rows are nearer by the same,
  so the order is that of the squares, and a validation entry far outside loses no digit;
- a missing ``u`` is ``gap`` away, less the same; where that is below 0, all others are ``base``
  farther instead (and beside a ``base`` that is far larger than they differ by, they tie). Beside
  a missing ``v`` all rows are equally far: 0;
- another category is ``scale`` away, the same one 0.

Each is rounded to whole units, a unit being a power of two near 2^-40 of the largest dissimilarity
(``reach``) of that row and column, or more where the entries themselves are not known so well. Sums
of whole numbers below 2^53 are exact in any order. Rounding moves equal dissimilarities apart by
one unit at most, so distances are equal that differ by at most two units per column: mirrored,
scaled, permuted and duplicated columns tie as they should. What can go wrong is that two distances
tie that differ by 1e-11 of the largest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.in_threads import map_columns
from shapley2d._knn.kernels.rows import first_bins

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._knn.metric import Columns

NEAREST, MIRROR, SCALE, BASE, GAP, UNIT, REACH = range(7)
"""Places of the terms of a column."""

_UNITS = 2.0**-40  # a unit, relative to the largest dissimilarity
_DIGITS = 2.0**-50  # of an entry, relative to the largest: beyond are errors of its decimal form


class Distances:
    """The distances between validation and training rows under any column subset.

    ``entries``: training entries by column (m, n) and by row (n, m), and which columns are
        categories.
    ``terms`` (T, m, 7): of every validation row and column.

    >>> from shapley2d._knn.metric import Columns
    >>> numbers = np.array([[1.0, 2.0, 5.0]]), np.array([[3.0]])
    >>> seen = Distances(Columns(*numbers, np.array([False]), np.ones(1), np.zeros(1)))
    >>> near, mirror = seen.terms[0, 0, [NEAREST, MIRROR]]
    >>> (near - numbers[0]) * (mirror - numbers[0])  # 1 less than the squares
    array([[3., 0., 3.]])
    """

    def __init__(self, columns: Columns, order: Ints | slice = slice(None)) -> None:
        by_row = np.ascontiguousarray(columns.train.T[order])
        self.entries = np.ascontiguousarray(by_row.T), by_row, columns.nominal
        self.terms = terms = np.zeros((columns.n_valid, columns.n_columns, 7))

        def fill(j: int) -> None:
            entries, v, missing = columns.train[j], columns.valid[j], columns.missing[j]
            there, seen = np.unique(entries[~np.isnan(entries)]), ~np.isnan(v)
            gaps = bool(np.isnan(entries).any())
            if there.size:
                found = _categories if columns.nominal[j] else _numbers
                terms[seen, j] = found(there, v[seen], columns.weight[j], missing if gaps else None)

        map_columns(fill, range(columns.n_columns), columns.n_rows)

    def seen(
        self, subsets: NDArray[np.bool_], chunk: Ints | slice = slice(None)
    ) -> tuple[Floats, NDArray[np.int64], Floats]:
        """What some validation rows see under some column subsets.

        Their terms, and (T, B) the number of the first bin, by the farthest that a row can be, and
        by how much distances may differ that are equal, as rounding moves an entry by a unit at
        most.
        """
        terms, members = self.terms[chunk], subsets.T.astype(np.float64)
        reach, unit = (
            np.ascontiguousarray(terms[:, :, place]) @ members for place in (REACH, UNIT)
        )
        return terms, first_bins(reach), 2.0 * unit


def _categories(there: Floats, v: Floats, weight: float, missing: float | None) -> Floats:  # noqa: ARG001
    """The terms of a column of categories: (T, 7)."""
    terms, gap = np.zeros((v.size, 7)), missing or 0.0
    reach = max(weight, gap)
    unit = _power(np.array(_UNITS * reach))
    terms[:, NEAREST] = v
    terms[:, [SCALE, GAP, UNIT, REACH]] = weight, gap, unit, reach + unit
    return terms


def _numbers(there: Floats, v: Floats, weight: float, missing: float | None) -> Floats:
    """The terms of a column of numbers: (T, 7).

    ``there``: the training entries, sorted, each once.
    ``weight``: what a squared difference counts.
    ``missing``: how far a missing entry is from any other; None where no training row has one.
    """
    after = np.clip(np.searchsorted(there, v), 1, max(there.size - 1, 1))
    low, high = there[after - 1], there[np.minimum(after, there.size - 1)]
    near = np.where(v - low <= high - v, low, high)
    mirror = 2 * v - near
    farthest = np.maximum(*((near - u) * (mirror - u) for u in (there[0], there[-1])))
    gap = np.zeros(v.size) if missing is None else missing - weight * (near - v) ** 2
    base = np.maximum(-gap, 0.0)
    reach = np.maximum(base + weight * farthest, gap)
    # the last digits of an entry, times the slope of its dissimilarity
    ends = there[[0, -1]]
    noise = weight * np.abs(ends).max() * np.abs(v[:, None] - ends).max(axis=1)
    unit = _power(np.maximum(_UNITS * reach, _DIGITS * noise))
    scale = np.full(v.size, weight)
    return np.stack([near, mirror, scale, base, np.maximum(gap, 0.0), unit, reach + unit], axis=1)


def _power(numbers: Floats) -> Floats:
    """The next power of two from each number on; 0 where it is 0.

    >>> _power(np.array([3.0, 4.0, 0.0]))
    array([4., 4., 0.])
    """
    share, exponent = np.frexp(numbers)
    return np.where(numbers > 0, np.ldexp(1.0, exponent - (share == 0.5)), 0.0)
