"""Weighted sums of the cells of a table, by blocks of row groups and column groups.

An owner's region is a union of blocks, so its sum needs only sums of blocks, and no array is as
large as owners x rows x columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BlockSums:
    """Sums of cells with one weight per block.

    ``weights`` (k, row groups, column groups): weights of the blocks in each of k sums.
    ``rows, columns``: the group of every row and of every column.

    >>> halves = np.array([[[1.0], [0.0]], [[0.0], [0.5]]])
    >>> sums = BlockSums(halves, np.array([0, 1, 1]), np.array([0, 0]))
    >>> sums.of(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).tolist()
    [3.0, 9.0]
    """

    weights: Floats
    rows: NDArray[np.intp]
    columns: NDArray[np.intp]

    @classmethod
    def of_blocks(cls, weights: Floats) -> BlockSums:
        """Sums in which every cell is a block."""
        return cls(weights, np.arange(weights.shape[1]), np.arange(weights.shape[2]))

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns of the table."""
        return self.rows.size, self.columns.size

    def blocks(self, values: Floats) -> Floats:
        """Sums over every block, (row groups, column groups), in floating-point arithmetic."""
        sums = self.by_row_group(values)
        blocks = np.zeros((len(sums), self.weights.shape[2]))
        for column, group in enumerate(self.columns.tolist()):
            blocks[:, group] += sums[:, column]
        return blocks

    def of(self, values: Floats) -> Floats:
        """The sums, in floating-point arithmetic."""
        return np.asarray(np.tensordot(self.weights, self.blocks(values), axes=2))

    def squared(self, variances: Floats) -> Floats:
        """Variances of the sums, if the errors of cells are independent with these variances."""
        return np.asarray(np.tensordot(self.weights**2, self.blocks(variances), axes=2))

    def rounded_once(self, values: Floats) -> Floats:
        """The sums, each computed exactly and rounded once.

        So the bits of a sum depend on its own cells alone, not on their order and not on how the
        rest of the table is divided.
        """
        found = np.empty(len(self))
        for k, weights in enumerate(self.weights):
            parts = [
                weights[i, j] * self._cells(values, i, j) for i, j in np.argwhere(weights).tolist()
            ]
            found[k] = math.fsum(np.concatenate(parts).tolist()) if parts else 0.0
        return found

    def blocks_rounded_once(self, values: Floats) -> Floats:
        """Sums over every block, computed exactly and rounded once."""
        found = np.empty(self.weights.shape[1:])
        for i, j in np.ndindex(*found.shape):
            found[i, j] = math.fsum(self._cells(values, i, j).tolist())
        return found

    def by_row_group(self, values: NDArray[np.floating]) -> Floats:
        """Sums over the rows of every group: (row groups, ...) from (rows, ...)."""
        flat = values.reshape(len(values), -1)
        size = self.weights.shape[1]
        sums = np.empty((size, flat.shape[1]))
        for column in range(flat.shape[1]):
            sums[:, column] = np.bincount(self.rows, weights=flat[:, column], minlength=size)
        return sums.reshape(size, *values.shape[1:])

    def take_rows(self, rows: NDArray[np.intp]) -> BlockSums:
        """Sums over some of the rows, in the same blocks."""
        return replace(self, rows=self.rows[rows])

    def take_columns(self, columns: NDArray[np.intp]) -> BlockSums:
        """Sums over some of the columns, in the same blocks."""
        return replace(self, columns=self.columns[columns])

    def _cells(self, values: Floats, i: int, j: int) -> Floats:
        rows, columns = self._members
        return values[np.ix_(rows[i], columns[j])].ravel()

    @cached_property
    def _members(self) -> tuple[list[NDArray[np.intp]], list[NDArray[np.intp]]]:
        """Rows of every row group, and columns of every column group."""
        _, n, m = self.weights.shape
        return _members(self.rows, n), _members(self.columns, m)


def _members(labels: NDArray[np.intp], count: int) -> list[NDArray[np.intp]]:
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=count))
    return np.split(order, ends[:-1])
