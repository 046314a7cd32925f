"""Whole numbers in the ratio of given fractions, so that sums of them compare as exactly.

What a step of each column counts is a fraction, such as one over twice its variance. A distance is
a sum of fractions times whole numbers ``k``, and two distances tie where the difference
``w_1 d_1 + w_2 d_2 + ...`` is 0 for whole numbers ``d``. Three ways to compare such sums with whole
numbers ``W`` in place of the fractions ``w``:

1. The least common denominator: ``W = P w``. Nothing is rounded.
2. Where that is too large: a unit ``P`` for which all ``P w`` are nearly whole. If ``|d|`` is at
   most ``reach`` and the sum of ``reach * |P w - W|`` is below 1, then ``W_1 d_1 + W_2 d_2 + ...``
   is less than 1 from ``P (w_1 d_1 + w_2 d_2 + ...)``; being whole, it is 0 where that is 0, and
   where it is not 0 it has that sign. So no tie is broken and no order is reversed. (Distances that
   differ by less than ``1 / P`` could tie.) Lattice reduction finds such a ``P``; whether it is one
   is checked in exact fractions.
3. Where there is no such unit either, the fractions that reach farthest are rounded, and the others
   tried again. Which those are is returned.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

# Lattice reduction takes some 0.2 s for this many different weights, and as many cannot be met
# within 62 bits but for the smallest reach.
_MOST_DIFFERENT = 14

# What is left of the room, if it can be, for parts of steps: those need the square of their number.
_SPARE = 2**9


class Term(NamedTuple):
    """What one step counts, and how many steps two distances may differ by."""

    weight: Fraction
    reach: int


class WholeWeights(NamedTuple):
    """A unit, and which terms can be compared exactly when they are counted in it.

    Attributes
    ----------
    unit : Fraction
        What a weight of 1 counts; weights are multiplied by it and rounded.
    exact : frozenset of Fraction
        Weights whose sums compare as they should.
    proportional : bool
        Whether their products with the unit are whole, so that nothing was rounded.
    """

    unit: Fraction
    exact: frozenset[Fraction]
    proportional: bool


def whole_weights(terms: list[Term], largest_unit: Fraction) -> WholeWeights:
    """A unit up to a largest one in which sums of as many terms as possible compare exactly.

    Parameters
    ----------
    terms : list of Term
    largest_unit : Fraction
        The room that there is.

    Examples
    --------
    >>> third, half = Term(Fraction(1, 3), 1), Term(Fraction(1, 2), 1)
    >>> found = whole_weights([third, half], Fraction(100))
    >>> str(found.unit), found.proportional, sorted(map(str, found.exact))
    ('6', True, ['1/2', '1/3'])
    >>> primes = [Term(Fraction(1, p), 1) for p in (101, 103, 107, 109)]
    >>> found = whole_weights(primes, Fraction(10**8))
    >>> found.proportional, len(found.exact)  # the product of the primes is larger
    (False, 4)
    """
    reach: dict[Fraction, int] = {}
    for term in terms:
        reach[term.weight] = reach.get(term.weight, 0) + term.reach
    reach.pop(Fraction(0), None)
    kept = sorted(reach, key=lambda weight: (reach[weight], weight))
    while kept:
        unit = _least_denominator(kept)
        if unit <= largest_unit:
            return WholeWeights(unit, frozenset(kept), proportional=True)
        for room in (largest_unit / _SPARE, largest_unit):
            found = _nearly_whole([(weight, reach[weight]) for weight in kept], room)
            if found is not None:
                return WholeWeights(found, frozenset(kept), proportional=False)
        kept.pop()
    return WholeWeights(_short(largest_unit), frozenset(), proportional=False)


def _least_denominator(weights: list[Fraction]) -> Fraction:
    """The smallest unit in which all weights are whole."""
    common = math.lcm(*(weight.denominator for weight in weights))
    return Fraction(common, math.gcd(*(int(weight * common) for weight in weights)))


def _short(number: Fraction) -> Fraction:
    """A number a little smaller, of few digits."""
    exponent = number.numerator.bit_length() - number.denominator.bit_length() - 20
    return math.floor(number / Fraction(2) ** exponent) * Fraction(2) ** exponent


def _nearly_whole(terms: list[tuple[Fraction, int]], largest_unit: Fraction) -> Fraction | None:
    """A unit in which all weights are whole up to errors that cannot add up to 1."""
    first, _ = terms[-1]  # the farthest reach: whole in every unit that is tried
    others = terms[:-1]
    most = math.floor(largest_unit * first)
    # by Dirichlet's theorem there is one if the product of all reaches fits, and hardly otherwise
    few = 0 < len(others) < _MOST_DIFFERENT
    if not few or math.prod(reach for _, reach in others) > most:
        return None
    ratios = [(weight / first, reach) for weight, reach in others]
    fine = 2**11 * len(terms) * most
    basis = [[2**10, *(round(reach * ratio * fine) for ratio, reach in ratios)]]
    for k, (_, reach) in enumerate(others):
        basis.append([0] * (k + 1) + [-reach * fine] + [0] * (len(others) - k - 1))
    best = 0
    for vector in _reduced(basis):
        count = abs(vector[0]) // 2**10
        error = sum(reach * abs(count * r - round(count * r)) for r, reach in ratios)
        if best < count <= most and error < 1 and all(round(count * r) for r, _ in ratios):
            best = count
    return best / first if best else None


def _reduced(basis: list[list[int]]) -> list[list[int]]:
    """A basis of the same lattice with short vectors (Lenstra, Lenstra and Lovasz; whole numbers).

    Examples
    --------
    >>> _reduced([[1, 0, 1345], [0, 1, 35], [0, 0, 154]])
    [[2, -2, 2], [3, -1, -4], [3, 8, 3]]
    """
    rows = [list(row) for row in basis]
    size = len(rows)
    # Gram-Schmidt without fractions: scale[k] is the squared volume of the first k vectors
    scale = [1] + [0] * size
    along = [[0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            value = sum(a * b for a, b in zip(rows[i], rows[j], strict=True))
            for k in range(j):
                value = (scale[k + 1] * value - along[i][k] * along[j][k]) // scale[k]
            if j < i:
                along[i][j] = value
            else:
                scale[i + 1] = value

    def shorten(k: int, j: int) -> None:
        if 2 * abs(along[k][j]) <= scale[j + 1]:
            return
        times = (2 * along[k][j] + scale[j + 1]) // (2 * scale[j + 1])
        rows[k] = [a - times * b for a, b in zip(rows[k], rows[j], strict=True)]
        along[k][j] -= times * scale[j + 1]
        for i in range(j):
            along[k][i] -= times * along[j][i]

    k = 1
    while k < size:
        shorten(k, k - 1)
        slope = along[k][k - 1]
        if 4 * (scale[k + 1] * scale[k - 1] + slope * slope) < 3 * scale[k] * scale[k]:
            rows[k - 1], rows[k] = rows[k], rows[k - 1]
            for j in range(k - 1):
                along[k - 1][j], along[k][j] = along[k][j], along[k - 1][j]
            swapped = (scale[k - 1] * scale[k + 1] + slope * slope) // scale[k]
            for i in range(k + 1, size):
                old = along[i][k]
                along[i][k] = (scale[k + 1] * along[i][k - 1] - slope * old) // scale[k]
                along[i][k - 1] = (swapped * old + slope * along[i][k]) // scale[k + 1]
            scale[k] = swapped
            k = max(k - 1, 1)
        else:
            for j in range(k - 2, -1, -1):
                shorten(k, j)
            k += 1
    return rows
