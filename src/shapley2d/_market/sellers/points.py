"""How far rows lie apart, measured by the validation rows alone.

A seller must not be able to change the yardstick: centres and spreads of the columns come from the
validation rows, and a column that is constant there does not count.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.robust import centre_and_spread

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.table import Table

_CUT = 5.0  # robust standard deviations at which numbers are cut, so that no tail decides alone
_DIGITS = range(-3, 13)  # decimals that numbers may be rounded to; beyond, they are unrounded
_ROUNDED = 0.9  # share of rows with no more decimals, from which on a column is rounded


@dataclass(frozen=True, eq=False)
class Points:
    """Rows of the training table, then those of the validation table."""

    numbers: Floats  # (rows, number columns), as they were read; NaN where missing
    number_of: Ints  # the column of the table that each of them is
    # centre and spread of each among the validation rows; a spread of 0 if it is constant there
    units: Floats
    codes: Ints  # (rows, other columns): a missing entry is a category, too
    code_of: Ints

    @classmethod
    def of(cls, table: Table, valid: Table) -> Points:
        """Rows of two tables with the same columns as points."""
        pairs = zip(table.columns, valid.columns, strict=True)
        entries = np.column_stack(
            [np.append(mine.entries, theirs.entries) for mine, theirs in pairs]
        )
        words = np.array([column.kind in ("category", "boolean") for column in table.columns])
        tested = [valid.columns[j].entries for j in np.flatnonzero(~words)]
        units = [centre_and_spread(column[~np.isnan(column)]) for column in tested]
        return cls(
            entries[:, ~words],
            np.flatnonzero(~words),
            np.array(units).reshape(-1, 2).T,
            np.nan_to_num(entries[:, words], nan=-1).astype(np.intp),
            np.flatnonzero(words),
        )

    def take_columns(self, columns: Bools) -> Points:
        """The rows in some of the columns."""
        number, code = columns[self.number_of], columns[self.code_of]
        return Points(
            self.numbers[:, number],
            self.number_of[number],
            self.units[:, number],
            self.codes[:, code],
            self.code_of[code],
        )

    def rounded_like(self, rows: Ints) -> Points:
        """All rows with as many decimals as some have, so that rounding alone makes none alike."""
        numbers = self.numbers.copy()
        for j, entries in enumerate(self.numbers[rows].T):
            there = entries[~np.isnan(entries)]
            for digits in _DIGITS:
                if there.size and (np.round(there, digits) == there).mean() >= _ROUNDED:
                    numbers[:, j] = np.round(numbers[:, j], digits)
                    break
        return replace(self, numbers=numbers)

    @cached_property
    def _places(self) -> Floats:
        """Numbers in units in which two random validation rows are 1 apart, and where they miss."""
        counts = self.units[1] > 0
        numbers = self.numbers[:, counts]
        gone = np.isnan(numbers)
        scaled = np.clip((numbers - self.units[0, counts]) / self.units[1, counts], -_CUT, _CUT)
        # with the 0 in its place, a gap is about as far from a number as two numbers are
        gaps = gone[:, gone.any(axis=0)]
        return np.asarray(np.hstack([np.where(gone, 0.0, scaled), gaps]) / np.sqrt(2))

    def distances(self, rows: Ints, others: Ints) -> Floats:
        """Distances of rows to other rows; equal rows are exactly 0 apart.

        Squared, they are sums over the columns: of squared differences of numbers, and of 1 where
        categories differ or only one entry is missing.
        """
        from scipy.spatial.distance import cdist

        places = self._places
        if places.shape[1]:
            squared = cdist(places[rows], places[others], "sqeuclidean")
        else:
            squared = np.zeros((rows.size, others.size))
        for codes in self.codes.T:
            squared += codes[rows][:, None] != codes[others]
        return np.asarray(np.sqrt(squared))

    @property
    def lines(self) -> Floats:
        """Rows as numbers; those that are 0 apart are equal."""
        return np.hstack([self._places, self.codes])
