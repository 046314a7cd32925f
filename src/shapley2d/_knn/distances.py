"""Columns as integers, so that distances add up exactly, in any order and on any device."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.in_threads import map_columns

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray


@dataclass(frozen=True)
class TrueColumn:
    """A column before anything was rounded: what its code stands for.

    Attributes
    ----------
    train, valid : ndarray of float
        Numbers, NaN where missing.
    weight, missing : Fraction
        What a squared difference of 1 counts, or one category instead of another; and how far a
        missing entry is from any other.
    nominal : bool
    """

    train: NDArray[np.float64]
    valid: NDArray[np.float64]
    weight: Fraction
    missing: Fraction
    nominal: bool = False


@dataclass(frozen=True)
class CodedColumn:
    """A column in code: whole numbers (NaN where missing), what a difference counts, and the truth.

    ``exact`` says whether ranks by the code are ranks by what it stands for.
    """

    train: NDArray[np.float64]
    valid: NDArray[np.float64]
    weight: int
    missing: int
    true: TrueColumn
    exact: bool

    @property
    def is_true(self) -> bool:
        """Whether the code is what it stands for."""
        true = self.true
        return (
            self.exact
            and self.weight == true.weight
            and (self.missing == true.missing or not np.isnan(self.train).any())
        )


@dataclass(frozen=True)
class IntegerColumns:
    """Two tables, coded so that the distance of a training and a validation row is an integer.

    The dissimilarity of a training entry ``u`` and a validation entry ``v`` of column ``j`` is

    - ``missing[j]`` where either of them is missing (coded as the smallest number),
    - ``weight[j] * (u != v)`` where ``nominal[j]`` (categories),
    - ``weight[j] * (u - v) ** 2`` otherwise (numbers).

    Attributes
    ----------
    train : ndarray of shape (m, n), int64
        One contiguous line per column.
    valid : ndarray of shape (m, T), int64
    nominal : ndarray of shape (m,), bool
    weight : ndarray of shape (m,), int64
    missing : ndarray of shape (m,), int64
        Distance of a missing entry from any other entry.
    unit : float
        The integer that stands for a dissimilarity of 1.
    unrounded : dict of int to TrueColumn
        What the columns stand for whose code is rounded. Without any, rows rank as they do by exact
        arithmetic.
    """

    train: NDArray[np.int64]
    valid: NDArray[np.int64]
    nominal: NDArray[np.bool_]
    weight: NDArray[np.int64]
    missing: NDArray[np.int64]
    unit: float = 1.0
    unrounded: dict[int, TrueColumn] = field(default_factory=dict)

    @property
    def missing_code(self) -> int:
        """The code of a missing entry."""
        return int(np.iinfo(self.train.dtype).min)

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self.train.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.train.shape[0])

    @property
    def n_valid(self) -> int:
        """Number of validation rows."""
        return int(self.valid.shape[1])

    @property
    def measures(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """``nominal``, ``weight`` and ``missing`` as the kernels take them."""
        return self.nominal, self.weight, self.missing

    def distances(self, t: int, coalition: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Distance of every training row from validation row ``t`` over the columns of a coalition.

        Parameters
        ----------
        t : int
        coalition : ndarray of shape (m,), bool

        Returns
        -------
        ndarray of shape (n,), int64
        """
        total = np.zeros(self.n_rows, dtype=np.int64)
        for j in np.flatnonzero(coalition):
            total += self.dissimilarities(int(j), slice(t, t + 1))[0]
        return total

    def dissimilarities(self, j: int, rows: slice = slice(None)) -> NDArray[np.int64]:
        """Dissimilarity of every training row from validation rows in a column: (T, n).

        Parameters
        ----------
        j : int
        rows : slice
            The validation rows.
        """
        train, valid = self.train[j][None, :], self.valid[j, rows][:, None]
        gone = (train == self.missing_code) | (valid == self.missing_code)
        apart = np.where(gone, 0, train - valid)
        measure = (apart != 0).astype(np.int64) if self.nominal[j] else apart**2
        return np.where(gone, int(self.missing[j]), int(self.weight[j]) * measure)


def pack(coded: list[CodedColumn], unit: Fraction) -> IntegerColumns:
    """Put coded columns into arrays."""
    absent = np.iinfo(np.int64).min

    def lines(tables: list[NDArray[np.float64]]) -> NDArray[np.int64]:
        found = np.empty((len(tables), tables[0].size if tables else 0), dtype=np.int64)

        def fill(j: int) -> None:
            gone = np.isnan(tables[j])
            found[j] = np.where(gone, 0.0, tables[j])
            found[j, gone] = absent

        map_columns(fill, range(len(tables)), found.shape[1])
        return found

    return IntegerColumns(
        lines([column.train for column in coded]),
        lines([column.valid for column in coded]),
        np.array([column.true.nominal for column in coded]),
        np.array([column.weight for column in coded], dtype=np.int64),
        np.array([column.missing for column in coded], dtype=np.int64),
        _as_float(unit),
        # where some are rounded, so is what others count beside them
        {
            j: column.true
            for j, column in enumerate(coded)
            if not all(other.exact for other in coded) and not column.is_true
        },
    )


def _as_float(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:  # of numbers like 1e-160, whose squares hardly are any
        return math.inf
