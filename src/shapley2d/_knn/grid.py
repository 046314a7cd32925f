"""The grid that the numbers of a column lie on: cents, whole years, standardised counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.distances import CodedColumn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Column

ROOM = 2.0**62
"""The largest distance: sums of 64-bit integers with a sign must not overflow."""

LEAST_WEIGHT = 2.0**10
"""Smaller whole weights would be too far from what they stand for."""

_MOST_STEPS = 2.0**30  # of a column: squares of steps must leave room for weights
_MAX_DECIMALS = 15
_EXACT_WHOLE = 2.0**53
_ULP = 2.0**-52
# Rounding errors, relative to the largest entry, that numbers may carry which were computed from
# numbers on a grid.
_NOISE = (2 * _ULP, 2048 * _ULP)
# From eight entries on, numbers that fit a grid to the larger noise do not do so by chance.
_MANY = 8
_MAX_ROUNDS = 64


class GridNumbers:
    """A column of numbers, in steps of its grid from the smallest; in ranges if it has no grid.

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

    def coded(self, root: float, missing: int, least: float = LEAST_WEIGHT) -> CodedColumn:
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
            return CodedColumn(self.train, self.valid, round(root**2), missing)
        return CodedColumn(self.train * root, self.valid * root, 1, missing, rounded=True)


def present(entries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entries that are not missing, sorted: their sums do not depend on the order of rows."""
    return np.sort(entries[~np.isnan(entries)])


def find_grid(entries: NDArray[np.float64], most_steps: float) -> float | None:
    """The step of the coarsest grid on which all numbers lie, up to floating-point rounding.

    Decimal numbers are recognised by their digits. Others may be multiples of any step, such as
    whole numbers that were standardised; those are accepted only if the grid takes no two different
    numbers for one.

    Parameters
    ----------
    entries : ndarray of float
        Sorted, without repetition, without NaN, of a size far from overflow.
    most_steps : float
        Grids with more steps from the smallest to the largest number are of no use.

    Returns
    -------
    float or None

    Examples
    --------
    >>> find_grid(np.array([0.1, 0.3, 0.7]), 1e6)
    0.2
    >>> round(find_grid((np.array([1, 4, 6, 8, 10, 12, 14, 16]) - 7.3) / 2.9, 1e6), 4)
    0.3448
    >>> find_grid(np.sqrt(np.arange(20)), 1e6) is None
    True
    """
    if entries.size < 2:
        return 1.0
    step = _decimal_step(entries)
    if step is None:
        for noise in _NOISE[: 2 if entries.size >= _MANY else 1]:
            step = step or common_step(entries, noise, most_steps)
    return None if step is None or entries[-1] - entries[0] > most_steps * step else step


def _decimal_step(entries: NDArray[np.float64]) -> float | None:
    """The grid of numbers that are the nearest ones to decimals of a few places."""
    largest = max(abs(float(entries[0])), abs(float(entries[-1])))
    few = entries[:: max(1, entries.size // 256)]
    for places in range(max(_places(float(x)) for x in few[:3]), _MAX_DECIMALS + 1):
        tens = 10.0**places
        if largest * tens >= _EXACT_WHOLE:
            return None
        if _are_multiples(few, tens) and _are_multiples(entries, tens):
            whole = np.rint(entries * tens).astype(np.int64)
            return int(np.gcd.reduce(np.diff(whole))) / tens
    return None


def _are_multiples(entries: NDArray[np.float64], tens: float) -> bool:
    return bool(np.all(np.rint(entries * tens) / tens == entries))


def _places(number: float) -> int:
    """Decimal places of the shortest way to write a number.

    Examples
    --------
    >>> _places(0.25), _places(30.0), _places(1e-7)
    (2, 0, 7)
    """
    digits, _, exponent = repr(number).partition("e")
    fraction = digits.partition(".")[2].rstrip("0")
    return max(len(fraction) - int(exponent or 0), 0)


def common_step(
    entries: NDArray[np.float64], noise: float = _NOISE[0], most_steps: float = 2.0**20
) -> float | None:
    """The greatest common divisor of all differences, by Euclid's algorithm on rounded numbers.

    Parameters
    ----------
    entries : ndarray of float
        Sorted, without repetition, at least two.
    noise : float
        Errors that the numbers may have, relative to the largest.
    most_steps : float
        How many steps there may be from the smallest to the largest.

    Returns
    -------
    float or None
    """
    if entries.size > 512:  # most columns that lie on no grid show it early
        few = entries[:: entries.size // 256]
        if common_step(few, noise, most_steps) is None:
            return None
    gaps = np.diff(entries)
    extent = float(entries[-1] - entries[0])
    off = noise * float(np.abs(entries[[0, -1]]).max())
    step = float(gaps.min())
    for _ in range(_MAX_ROUNDS):
        if step <= 16 * off or extent > most_steps * step:
            return None
        multiples = np.rint(gaps / step)
        slack = 4 * off * (1 + multiples)
        if float(slack.max()) > step / 8:
            return None
        rest = np.abs(gaps - multiples * step)
        if np.all(rest <= slack):
            steps = np.cumsum(multiples)
            step = extent / float(steps[-1])
            error = np.abs(entries[1:] - entries[0] - step * steps)
            return step if float(error.max()) <= 8 * off else None
        step = float(rest[rest > slack].min())
    return None
