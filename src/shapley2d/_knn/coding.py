"""Columns of numbers on their own grids, and the packing of coded columns into arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.in_threads import map_columns
from shapley2d._knn.distances import IntegerColumns
from shapley2d._knn.grid import find_grid

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Column

ROOM = 2.0**62
"""The largest distance."""

LEAST_WEIGHT = 2.0**10
"""Smaller whole weights would be too far from what they stand for."""

_MOST_STEPS = 2.0**30


class Numbers:
    """A column of numbers, counted from the smallest one in steps of their grid; of their range if there is none.

    Attributes
    ----------
    name : str
    train, valid : ndarray of float
        The entries; NaN where missing.
    whole : bool
        Whether they are whole numbers of steps.
    step : float
        How far apart in the table two entries are that differ by 1 here.
    extent : float
        The largest entry within bounds.

    Parameters
    ----------
    train, valid : Column
    lowest, highest : float
        Entries beyond these do not matter for the grid and the range: they will be cut.
    """

    def __init__(
        self, train: Column, valid: Column, lowest: float = -np.inf, highest: float = np.inf
    ) -> None:
        self.name = train.name
        self.train, self.valid = train.entries, valid.entries
        self.whole, self.step, self.extent = True, 1.0, 0.0
        both = np.unique(present(np.concatenate([self.train, self.valid])))
        both = both[(both >= lowest) & (both <= highest)]
        if not both.size:
            return
        # made smaller where differences might overflow
        shrink = 0.25 if max(abs(both[0]), abs(both[-1])) > 2.0**1000 else 1.0
        self.train, self.valid, both = self.train * shrink, self.valid * shrink, both * shrink
        grid = find_grid(both, _MOST_STEPS)
        self.whole, step = grid is not None, grid or float(both[-1] - both[0])
        with np.errstate(over="ignore"):  # what is out of bounds may be any number of steps away
            self.train, self.valid, both = (
                np.rint(steps) if self.whole else steps
                for steps in (
                    (entries - both[0]) / step for entries in (self.train, self.valid, both)
                )
            )
        self.step, self.extent = step / shrink, float(both[-1])

    def coded(self, root: float, missing: int, least: float = LEAST_WEIGHT) -> Coded:
        """Code the numbers so that a difference of a step counts ``root**2``.

        Parameters
        ----------
        root : float
        missing : int
            Distance of a missing entry.
        least : float
            How small a weight may be before entries are rounded instead.
        """
        if self.whole and (root == 0.0 or root**2 >= least):
            return Coded(self.train, self.valid, round(root**2), missing)
        return Coded(self.train * root, self.valid * root, 1, missing, rounded=True)


@dataclass
class Coded:
    """A column in code: numbers, what a difference counts, and how far missing entries are."""

    train: NDArray[np.float64]
    valid: NDArray[np.float64]
    weight: int
    missing: int
    nominal: bool = False
    rounded: bool = False  # whether the numbers are to be rounded


def present(entries: NDArray[np.float64]) -> NDArray[np.float64]:
    """The entries that are there, sorted: sums over them have the same bits for any order of the rows."""
    return np.sort(entries[~np.isnan(entries)])


def pack(coded: list[Coded], unit: float) -> IntegerColumns:
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
