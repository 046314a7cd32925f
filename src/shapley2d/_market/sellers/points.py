"""How far rows lie apart, measured by the validation rows alone.

A seller must not be able to change the yardstick: centres and spreads of the columns come from the
validation rows, and a column that is constant there does not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.robust import centre_and_spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Column, Table

_CUT = 5.0  # robust standard deviations at which numbers are cut, so that no tail decides alone


@dataclass(frozen=True)
class Points:
    """Rows of the training table, then those of the validation table.

    Attributes
    ----------
    numbers : ndarray of shape (rows, number columns)
        Numbers in units in which two random validation rows are 1 apart; 0 where missing.
    number_of : ndarray of int
        The column that every column of ``numbers`` comes from; a column with gaps has two.
    codes : ndarray of shape (rows, other columns)
        Categories; a missing entry is a category, too.
    code_of : ndarray of int
        The column that every column of ``codes`` comes from.
    """

    numbers: NDArray[np.float64]
    number_of: NDArray[np.intp]
    codes: NDArray[np.intp]
    code_of: NDArray[np.intp]

    @classmethod
    def of(cls, table: Table, valid: Table) -> Points:
        """Rows of two tables with the same columns as points."""
        numbers, number_of, codes, code_of = [], [], [], []
        for j, (mine, theirs) in enumerate(zip(table.columns, valid.columns, strict=True)):
            entries = np.append(mine.entries, theirs.entries)
            if mine.kind in ("category", "boolean"):
                codes.append(np.where(np.isnan(entries), -1, entries).astype(np.intp))
                code_of.append(j)
                continue
            for line in _coordinates(entries, theirs):
                numbers.append(line)
                number_of.append(j)
        n = table.n_rows + valid.n_rows
        return cls(
            np.column_stack(numbers) if numbers else np.empty((n, 0)),
            np.array(number_of, dtype=np.intp),
            np.column_stack(codes) if codes else np.empty((n, 0), dtype=np.intp),
            np.array(code_of, dtype=np.intp),
        )

    def take_columns(self, columns: NDArray[np.bool_]) -> Points:
        """The rows in some of the columns."""
        number, code = columns[self.number_of], columns[self.code_of]
        return Points(
            self.numbers[:, number], self.number_of[number], self.codes[:, code], self.code_of[code]
        )

    def distances(self, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Distances of rows to other rows; equal rows are exactly 0 apart.

        Squared, they are sums over the columns: of squared differences of numbers, and of 1 where
        categories differ or only one entry is missing.
        """
        from scipy.spatial.distance import cdist

        if self.numbers.shape[1]:
            squared = cdist(self.numbers[rows], self.numbers[others], "sqeuclidean")
        else:
            squared = np.zeros((rows.size, others.size))
        for codes in self.codes.T:
            squared += codes[rows][:, None] != codes[others]
        return np.asarray(np.sqrt(squared))


def _coordinates(entries: NDArray[np.float64], valid: Column) -> list[NDArray[np.float64]]:
    """A column of numbers as coordinates: the numbers, and where entries are missing."""
    there = valid.entries[~np.isnan(valid.entries)]
    gone = np.isnan(entries)
    lines = []
    centre, spread = centre_and_spread(there)
    if spread:
        places = np.clip((entries - centre) / spread, -_CUT, _CUT)
        lines.append(np.where(gone, 0.0, places / np.sqrt(2)))
    if gone.any():  # with the 0 above, a gap is about as far from a number as two numbers are
        lines.append(gone * np.sqrt(0.5))
    return lines
