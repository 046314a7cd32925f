"""Distances before anything was rounded: in what order they are, and which of them are equal."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._knn.distances import TrueColumn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.distances import IntegerColumns

# Two sums of fractions are equal if they leave the same rest by a prime; others do so once in
# 2^62 times by these two together. Products of rests fit 64 bits.
_PRIMES = (2**31 - 1, 2**31 - 19)
_LEAST_EXPONENT = -1073  # of numpy.frexp, for the smallest float above 0


class TrueDistances:
    """What the distances of a coded table stand for.

    Parameters
    ----------
    columns : IntegerColumns

    Attributes
    ----------
    relative_error : float
        By how much the floats can be off.
    """

    def __init__(self, columns: IntegerColumns) -> None:
        self._coded = columns
        self.relative_error = float((columns.n_columns + 8) * np.finfo(np.longdouble).eps)

    def _column(self, j: int) -> TrueColumn:
        # not kept: a table of floats beside the code would take as much memory again
        return self._coded.unrounded.get(j) or _as_true(self._coded, j)

    def by_column(self, t: NDArray[np.integer]) -> NDArray[np.longdouble]:
        """Dissimilarities of every training row from validation rows, by column: (m, T, n)."""
        return np.stack([_dissimilarity(self._column(j), t) for j in range(self._coded.n_columns)])

    def rests_by_column(self, t: NDArray[np.integer]) -> NDArray[np.int64]:
        """The rests of these, one for each prime: (primes, m, T, n)."""
        every = np.arange(self._coded.n_rows)
        columns = [self._column(j) for j in range(self._coded.n_columns)]
        return np.array(
            [[_rest_dissimilarities(c, t, every, prime) for c in columns] for prime in _PRIMES]
        )

    @staticmethod
    def reduced(sums: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sums of rests (primes, ...) as rests again."""
        return np.stack([part % prime for part, prime in zip(sums, _PRIMES, strict=True)])

    def of_rows(self, t: int, coalition: NDArray[np.bool_]) -> NDArray[np.longdouble]:
        """Distance of every training row from a validation row over the columns of a coalition."""
        total = np.zeros(self._coded.n_rows, dtype=np.longdouble)
        for j in np.flatnonzero(coalition):
            total += _dissimilarity(self._column(int(j)), np.array([t]))[0]
        return total

    def rests(
        self, t: int, coalition: NDArray[np.bool_], rows: NDArray[np.intp]
    ) -> NDArray[np.int64]:
        """Numbers that are equal where the distances of training rows are: one per row."""
        sums = np.zeros((len(_PRIMES), rows.size), dtype=np.int64)
        for j in np.flatnonzero(coalition):
            column = self._column(int(j))
            for k, prime in enumerate(_PRIMES):
                sums[k] += _rest_dissimilarities(column, np.array([t]), rows, prime)[0]
        return joined(self.reduced(sums))


def joined(rests: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rests by both primes as one number."""
    return np.asarray((rests[0] << 31) | rests[1])


def _rest_dissimilarities(
    column: TrueColumn, t: NDArray[np.integer], rows: NDArray[np.intp], prime: int
) -> NDArray[np.int64]:
    """Dissimilarities of training rows from validation rows modulo a prime: (T, rows)."""
    train, valid = column.train[rows], column.valid[t]
    apart = np.abs(_rests(train, prime) - _rests(valid, prime)[:, None])
    square = (apart != 0).astype(np.int64) if column.nominal else apart * apart % prime
    gone = np.isnan(train) | np.isnan(valid)[:, None]
    return np.where(
        gone, _rest(column.missing, prime), square * _rest(column.weight, prime) % prime
    )


@lru_cache(maxsize=1024)
def _rest(fraction: Fraction, prime: int) -> int:
    return fraction.numerator * pow(fraction.denominator, -1, prime) % prime


def _rests(numbers: NDArray[np.float64], prime: int) -> NDArray[np.int64]:
    """Floats, which are whole multiples of powers of two, modulo a prime; 0 where missing."""
    mantissas, exponents = np.frexp(np.where(np.isfinite(numbers), numbers, 0.0))
    whole = (mantissas * 2.0**53).astype(np.int64) % prime
    return np.asarray(whole * _powers(prime)[exponents - _LEAST_EXPONENT] % prime)


@lru_cache
def _powers(prime: int) -> NDArray[np.int64]:
    """Powers of two modulo a prime, of 53 less than every exponent that a float can have."""
    exponents = range(_LEAST_EXPONENT, 1025)
    return np.array([pow(2, exponent - 53, prime) for exponent in exponents], dtype=np.int64)


def _dissimilarity(column: TrueColumn, t: NDArray[np.integer]) -> NDArray[np.longdouble]:
    train, valid = column.train.astype(np.longdouble), column.valid[t].astype(np.longdouble)
    apart: NDArray[Any] = train[None, :] - valid[:, None]
    gone = np.isnan(apart)
    measure = apart != 0 if column.nominal else apart * apart
    return np.where(gone, _as_float(column.missing), _as_float(column.weight) * measure)


@lru_cache(maxsize=1024)
def _as_float(fraction: Fraction) -> np.longdouble:
    """A fraction to the last digit of a long double, however small or large it is."""
    if not fraction:
        return np.longdouble(0)
    exponent = fraction.numerator.bit_length() - fraction.denominator.bit_length()
    scaled = fraction / Fraction(2) ** exponent
    high = float(scaled)
    both = np.longdouble(high) + np.longdouble(float(scaled - Fraction(high)))
    return np.longdouble(np.ldexp(both, exponent))


def _as_true(columns: IntegerColumns, j: int) -> TrueColumn:
    """What a column stands for whose code is not rounded."""
    train, valid = (
        np.where(part == columns.missing_code, np.nan, part.astype(np.float64))
        for part in (columns.train[j], columns.valid[j])
    )
    weight, missing = Fraction(int(columns.weight[j])), Fraction(int(columns.missing[j]))
    return TrueColumn(train, valid, weight, missing, nominal=bool(columns.nominal[j]))
