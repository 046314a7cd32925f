"""Columns as integers, so that distances add up exactly, in any order and on any device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.in_threads import map_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class CodedColumn:
    """A column in code: numbers, what a difference counts, and how far missing entries are."""

    train: NDArray[np.float64]
    valid: NDArray[np.float64]
    weight: int
    missing: int
    nominal: bool = False
    rounded: bool = False  # whether the numbers are to be rounded


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
    unrounded : dict of int to (ndarray, ndarray)
        The codes before they were rounded, with NaN for missing entries, of the columns whose
        numbers lie on no grid that integers can hold. Without any, distances are those of exact
        arithmetic.
    """

    train: NDArray[np.int64]
    valid: NDArray[np.int64]
    nominal: NDArray[np.bool_]
    weight: NDArray[np.int64]
    missing: NDArray[np.int64]
    unit: float = 1.0
    unrounded: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = field(
        default_factory=dict
    )

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
            total += self._dissimilarities(int(j), t)
        return total

    def unrounded_distances(self, t: int, coalition: NDArray[np.bool_]) -> NDArray[np.longdouble]:
        """The same before any entry was rounded."""
        rounded = [j for j in self.unrounded if coalition[j]]
        exact = coalition.copy()
        exact[rounded] = False
        total = self.distances(t, exact).astype(np.longdouble)
        for j in rounded:
            train, valid = self.unrounded[j]
            apart = self.weight[j] * (train.astype(np.longdouble) - valid[t]) ** 2
            total += np.where(np.isnan(apart), self.missing[j], apart)
        return total

    def _dissimilarities(self, j: int, t: int) -> NDArray[np.int64]:
        train, entry = self.train[j], int(self.valid[j, t])
        gone = train == self.missing_code
        if entry == self.missing_code:
            return np.full(self.n_rows, self.missing[j])
        apart = np.where(gone, 0, train) - entry
        measure = (apart != 0).astype(np.int64) if self.nominal[j] else apart**2
        return np.where(gone, int(self.missing[j]), int(self.weight[j]) * measure)


def pack(coded: list[CodedColumn], unit: float) -> IntegerColumns:
    """Put coded columns into arrays."""
    absent = np.iinfo(np.int64).min

    def lines(tables: list[NDArray[np.float64]]) -> NDArray[np.int64]:
        found = np.empty((len(tables), tables[0].size if tables else 0), dtype=np.int64)

        def fill(j: int) -> None:
            gone = np.isnan(tables[j])
            found[j] = np.rint(np.where(gone, 0.0, tables[j]))
            found[j, gone] = absent

        map_columns(fill, range(len(tables)), found.shape[1])
        return found

    return IntegerColumns(
        lines([column.train for column in coded]),
        lines([column.valid for column in coded]),
        np.array([column.nominal for column in coded]),
        np.array([column.weight for column in coded], dtype=np.int64),
        np.array([column.missing for column in coded], dtype=np.int64),
        unit,
        {j: (column.train, column.valid) for j, column in enumerate(coded) if column.rounded},
    )
