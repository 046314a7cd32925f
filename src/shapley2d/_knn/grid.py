"""The grid that the numbers of a column lie on: cents, whole years, standardised counts."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_MAX_DECIMALS = 15
_EXACT_WHOLE = 2.0**53
_ULP = 2.0**-52
# Rounding errors, relative to the largest entry, that numbers may carry which were computed from
# numbers on a grid.
_NOISE = (2 * _ULP, 2048 * _ULP)
# From eight entries on, numbers that fit a grid to the larger noise do not do so by chance.
_MANY = 8
_MAX_ROUNDS = 64
_A_LITTLE = 1 + 1e-6  # a step is not known to the last digit
# In steps: nothing farther from a place counts as being there, whatever the noise.
_NEAR = 2.0**-6


class Grid(NamedTuple):
    """Numbers that are whole multiples of a step from an origin, up to floating-point rounding.

    Attributes
    ----------
    origin, step : float
    exact_step : Fraction
        The step; where it was found by rounding, the float.
    finer : int
        How many of the last decimal place make a step; 1 where the numbers are no decimals.
    noise : float
        By how much numbers may be off, in steps.
    """

    origin: float
    step: float
    exact_step: Fraction
    finer: int
    noise: float

    def places(self, entries: NDArray[np.float64], fine: int = 1) -> NDArray[np.float64]:
        """Where entries lie, in parts of a step: whole numbers if ``fine`` parts of it meet them.

        Parameters
        ----------
        entries : ndarray of float
            Any numbers; NaN stays NaN.
        fine : int
            The parts that a step has.

        Examples
        --------
        >>> grid = find_grid(np.array([0.1, 0.3, 0.7]), 1e6)
        >>> grid.places(np.array([0.7, 0.2, -0.1, 0.25]), 2).round(9).tolist()
        [6.0, 1.0, -2.0, 1.5]
        """
        with np.errstate(over="ignore", invalid="ignore"):
            steps = (entries - self.origin) / self.step
            # far out numbers are known less well
            noise = np.maximum(self.noise, np.abs(steps) * 8 * _ULP)
            whole = np.rint(steps)
            parts = steps * fine
            there = np.abs(steps - whole) <= np.minimum(noise, _NEAR)
            near = np.abs(parts - np.rint(parts)) <= np.minimum(noise * fine, _NEAR)
            return np.where(there, whole * fine, np.where(near, np.rint(parts), parts))


NO_GRID = Grid(0.0, 1.0, Fraction(1), 1, 0.0)
"""Of a column without two different numbers."""


def present(entries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entries that are not missing, sorted: their sums do not depend on the order of rows."""
    return np.sort(entries[~np.isnan(entries)])


def sorted_sum(numbers: NDArray[np.float64]) -> float:
    """The sum of numbers as :func:`math.fsum` has it, but for its last bit once in a blue moon.

    Numbers are added in pairs, and these again; what rounding takes from every sum is known exactly
    and added at the end. A list of floats takes ten times as long, and holds Python's lock.

    Examples
    --------
    >>> sorted_sum(np.array([-1e16, 1.0, 1e16])), sorted_sum(np.full(10, 0.1))
    (1.0, 1.0)
    """
    lost = 0.0
    while numbers.size > 1:
        odd = numbers[-1:] if numbers.size % 2 else numbers[:0]
        first, second = numbers[: numbers.size - odd.size].reshape(-1, 2).T
        added = first + second
        rest = added - first
        lost += float(((first - (added - rest)) + (second - rest)).sum())
        numbers = np.concatenate([added, odd])
    return float(numbers.sum()) + lost


def find_grid(entries: NDArray[np.float64], most_steps: float) -> Grid | None:
    """The coarsest grid on which all numbers lie, up to floating-point rounding.

    Decimal numbers are recognised by their digits. Others may be multiples of any step, such as
    whole numbers that were standardised; those are accepted only if the grid takes no two different
    numbers for one.

    Parameters
    ----------
    entries : ndarray of float
        Sorted, without repetition, without NaN, of a size far from overflow; at least one.
    most_steps : float
        Grids with more steps from the smallest to the largest number are of no use.

    Returns
    -------
    Grid or None

    Examples
    --------
    >>> find_grid(np.array([0.1, 0.3, 0.7]), 1e6).exact_step
    Fraction(1, 5)
    >>> round(find_grid((np.array([1, 4, 6, 8, 10, 12, 14, 16]) - 7.3) / 2.9, 1e6).step, 4)
    0.3448
    >>> find_grid(np.sqrt(np.arange(20)), 1e6) is None
    True
    """
    origin, extent = float(entries[0]), float(entries[-1] - entries[0])
    largest = float(np.abs(entries[[0, -1]]).max())
    decimal = _decimal_step(entries)
    if decimal is not None:
        exact, finer = decimal
        step = float(exact)
        if extent <= most_steps * step:
            return Grid(origin, step, exact, finer, 8 * _NOISE[0] * largest / step)
    if entries.size > 1:
        for noise in _NOISE[: 2 if entries.size >= _MANY else 1]:
            found = common_step(entries, noise, most_steps)
            if found is not None:
                return Grid(origin, found, Fraction(found), 1, 8 * noise * largest / found)
    return None


def _decimal_step(entries: NDArray[np.float64]) -> tuple[Fraction, int] | None:
    """The step of decimals of a few places, and how many of the last place it has."""
    largest = max(abs(float(entries[0])), abs(float(entries[-1])))
    few = entries[:: max(1, entries.size // 256)]
    for places in range(max(_places(float(x)) for x in few[:3]), _MAX_DECIMALS + 1):
        tens = 10.0**places
        if largest * tens >= _EXACT_WHOLE:
            return None
        if _are_multiples(few, tens) and _are_multiples(entries, tens):
            whole = np.rint(entries * tens).astype(np.int64)
            steps = int(np.gcd.reduce(np.diff(whole))) if whole.size > 1 else 1
            return Fraction(steps, 10**places), steps
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
    offsets = entries[1:] - entries[0]
    extent, off = float(offsets[-1]), noise * float(np.abs(entries[[0, -1]]).max())
    parts, unsure = np.unique(np.diff(entries)), 2 * off
    for _ in range(_MAX_ROUNDS):
        step = float(parts[0])
        if step <= 32 * unsure or extent > most_steps * step * _A_LITTLE:
            return None
        counts = np.rint(parts / step)
        slack = unsure * (1 + counts)
        rest = np.abs(parts - counts * step)
        # how often the step goes into long gaps is not known while it is not known well itself
        sure = slack <= step / 16
        new = sure & (rest > slack)
        if new.any():
            unsure = float(slack[new].max())
            parts = np.unique(np.concatenate([[step], rest[new], parts[~sure]]))
            continue
        refined = _refined(step, unsure, offsets, off)
        fits = refined is not None and extent <= most_steps * refined * _A_LITTLE
        return refined if fits else None
    return None


def _refined(step: float, unsure: float, offsets: NDArray[np.float64], off: float) -> float | None:
    """The step that fits all offsets, found from the near ones on; None if none does."""
    known = 0
    while known < offsets.size:
        # so far out the number of steps is certain
        certain = step / (16 * unsure) * step if unsure else np.inf
        reach = int(np.searchsorted(offsets, certain, side="right"))
        if reach <= known:
            return None
        known = reach
        count = float(np.rint(offsets[known - 1] / step))
        step, unsure = float(offsets[known - 1]) / count, 2 * off / count
    error = np.abs(offsets - step * np.rint(offsets / step))
    return step if float(error.max()) <= 8 * off < step / 2 else None
