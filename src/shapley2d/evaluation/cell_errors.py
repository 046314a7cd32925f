"""Errors in cells, one function per kind: a clean table in, its numbers with errors out.

When several kinds go into one table, each changes only *free* cells, which no other kind has
changed. What is rare or typical is always measured on the clean table.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import gaussian_filter1d

from shapley2d._base.words import counted
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d._base.arrays import Bools, Floats, Ints

_BESIDE = {  # the keys beside, above and below on a number pad
    "7": "84", "8": "795", "9": "86", "4": "571", "5": "4682", "6": "593", "1": "24", "2": "1350",
    "3": "26", "0": "2",
}  # fmt: skip

AGE_TYPOS = {17: 71, 71: 17, 18: 81, 81: 18, 19: 91, 91: 19}
"""The typing errors of the paper: ages with swapped digits."""

_GRADES = 20  # a column of at most this many different whole numbers is graded
_RARE = 0.05  # share of rows, or of the peak density, below which a value is rare
_BINS = 512  # of the density estimate
_UNIT_FACTORS = (2.54, 2.2046, 60.0, 1000.0)  # inch to cm, kg to lb, hours to minutes, kilo


@dataclass(frozen=True)
class CleanTable:
    """A table before errors are injected."""

    numbers: Floats  # (n, m)
    labels: Ints  # (n,)
    categorical: Bools  # (m,)
    free: Bools  # (n, m): the cells that may change

    def present(self, j: int) -> Floats:
        """The entries of a column that are not missing."""
        column = self.numbers[:, j]
        return column[~np.isnan(column)]

    def whole(self, j: int) -> bool:
        """Whether a column holds whole numbers only."""
        entries = self.present(j)
        return bool((entries == np.round(entries)).all())

    def graded(self, j: int) -> bool:
        """Whether a column holds categories, or few different whole numbers."""
        return bool(self.categorical[j]) or (
            self.whole(j) and np.unique(self.present(j)).size <= _GRADES
        )


def _cell_by_cell(
    clean: CleanTable, wanted: int, rng: np.random.Generator, draw: Callable[[int, int], float]
) -> Floats:
    """Change cells in random order; ``draw`` gives a new value, or NaN to skip the cell."""
    numbers = clean.numbers.copy()
    for flat in rng.permutation(numbers.size):
        i, j = divmod(int(flat), numbers.shape[1])
        new = draw(i, j) if clean.free[i, j] else np.nan
        if np.isnan(new) or new == numbers[i, j]:
            continue
        numbers[i, j] = new
        wanted -= 1
        if wanted == 0:
            break
    return numbers


def unlikely(clean: CleanTable, wanted: int, rng: np.random.Generator) -> Floats:
    """Values that are rare among the rows of the same label."""
    return _rare(clean, clean.labels, wanted, rng)


def low_density(clean: CleanTable, wanted: int, rng: np.random.Generator) -> Floats:
    """Values that are rare among all rows."""
    return _rare(clean, np.zeros_like(clean.labels), wanted, rng)


def _rare(clean: CleanTable, groups: Ints, wanted: int, rng: np.random.Generator) -> Floats:
    """Values that are rare in the row's group."""

    @cache
    def candidates(j: int, group: int) -> tuple[Floats, float]:
        """Rare values, and the width of the interval around each."""
        members = clean.numbers[groups == group, j]
        members = members[~np.isnan(members)]
        if np.ptp(clean.present(j)) == 0:  # nothing is rare
            return np.zeros(0), 0.0
        if clean.graded(j):
            values = np.unique(clean.present(j))
            shares = (members[:, None] == values).mean(axis=0)
            return values[shares < _RARE], 0.0
        grid, density = _density(members, clean.present(j))
        if clean.whole(j):
            values = np.unique(clean.present(j))
            return values[np.interp(values, grid, density) < _RARE * density.max()], 0.0
        low = density < _RARE * density.max()
        return grid[low], float(grid[1] - grid[0])

    def draw(i: int, j: int) -> float:
        values, step = candidates(j, int(groups[i]))
        values = values[values != clean.numbers[i, j]]
        return float(rng.choice(values) + step * rng.uniform(-0.5, 0.5)) if values.size else np.nan

    return _cell_by_cell(clean, wanted, rng, draw)


def _density(members: Floats, column: Floats) -> tuple[Floats, Floats]:
    """Kernel density of the members, on a grid of the column's range plus three bandwidths.

    The grid has no negative numbers if the column has none.
    """
    spreads = (members.std(), np.ptp(np.percentile(members, [25, 75])) / 1.349)
    # if all members are equal, the column's spread
    spread = min((one for one in spreads if one > 0), default=column.std())
    width = 0.9 * spread * members.size**-0.2
    low, high = column.min() - 3 * width, column.max() + 3 * width
    edges = np.linspace(max(low, 0.0) if column.min() >= 0 else low, high, _BINS + 1)
    counts = np.histogram(members, edges)[0].astype(np.float64)
    density = gaussian_filter1d(counts, width / (edges[1] - edges[0]), mode="constant")
    return (edges[1:] + edges[:-1]) / 2, density


def tail(clean: CleanTable, wanted: int, rng: np.random.Generator) -> Floats:
    """Numbers three to five standard deviations from the column's mean."""
    means, spreads = np.nanmean(clean.numbers, axis=0), np.nanstd(clean.numbers, axis=0)
    whole = [clean.whole(j) for j in range(means.size)]
    positive = np.nanmin(clean.numbers, axis=0) >= 0

    def draw(i: int, j: int) -> float:  # noqa: ARG001 - every row of a column has the same tail
        if clean.categorical[j] or spreads[j] == 0:
            return np.nan
        step = rng.choice([-1.0, 1.0]) * rng.uniform(3, 5) * spreads[j]
        if positive[j] and means[j] + step < 0:
            step = -step
        new = means[j] + step
        # rounded away from the mean, to stay three standard deviations off
        return float((np.ceil(new) if step > 0 else np.floor(new)) if whole[j] else new)

    return _cell_by_cell(clean, wanted, rng, draw)


def swapped(clean: CleanTable, wanted: int, rng: np.random.Generator) -> Floats:
    """Entries of two rows swapped in one column; the rows differ in class if possible."""
    numbers, free = clean.numbers.copy(), clean.free.copy()
    for flat in rng.permutation(numbers.size):
        if wanted <= 0:
            break
        i, j = divmod(int(flat), numbers.shape[1])
        if not free[i, j]:
            continue
        partners = free[:, j] & (clean.numbers[:, j] != clean.numbers[i, j])
        other_class = partners & (clean.labels != clean.labels[i])
        rows = np.flatnonzero(other_class if other_class.any() else partners)
        if not rows.size:
            continue
        k = rng.choice(rows)
        numbers[[i, k], j] = clean.numbers[[k, i], j]
        free[[i, k], j] = False
        wanted -= 2
    return numbers


def typo(clean: CleanTable, wanted: int, rng: np.random.Generator) -> Floats:
    """Numbers with a typing error; categories replaced by another."""
    categories = {
        j: np.unique(clean.present(j)) for j in np.flatnonzero(clean.categorical).tolist()
    }
    whole = [clean.whole(j) for j in range(clean.numbers.shape[1])]

    def draw(i: int, j: int) -> float:
        entry = float(clean.numbers[i, j])
        if j in categories:
            values = categories[j][categories[j] != entry]
        else:
            values = np.array(mistype_number(entry, whole=whole[j]))
        return float(rng.choice(values)) if values.size else np.nan

    return _cell_by_cell(clean, wanted, rng, draw)


def units(clean: CleanTable, wanted: int, rng: np.random.Generator) -> Floats:
    """Part of one numeric column in another unit."""
    numbers = clean.numbers.copy()
    numeric = np.flatnonzero(~clean.categorical & (np.nanstd(clean.numbers, axis=0) > 0))
    continuous = [j for j in numeric.tolist() if not clean.graded(j)] or numeric.tolist()
    # zero is zero in any unit, and the wrong unit must not become the typical one
    eligible = clean.free & (clean.numbers != 0)
    room = np.count_nonzero(eligible, axis=0) // 2
    enough = [j for j in continuous if room[j] >= min(wanted, room[continuous].max())]
    if not enough:
        return numbers
    j = int(rng.choice(enough))
    column = clean.numbers[:, j]
    rows = rng.choice(np.flatnonzero(eligible[:, j]), min(wanted, room[j]), replace=False)
    factor = rng.choice(_UNIT_FACTORS)
    new = (
        np.round(column[rows] * factor)
        if clean.whole(j)
        else column[rows] * factor ** rng.choice([-1, 1])
    )
    numbers[rows, j] = new
    return numbers


def mistype_ages(ages: Floats, count: int, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Mistype some ages: swap 17 and 71, 18 and 81, 19 and 91.

    Parameters
    ----------
    ages : ndarray of shape (n,)
    count : int
        Ages to change, drawn at random from those six.
    rng : numpy generator

    Returns
    -------
    ages : ndarray of shape (n,)
    changed : ndarray of bool, shape (n,)

    Examples
    --------
    >>> ages, changed = mistype_ages(np.array([17.0, 40.0, 81.0]), 2, np.random.default_rng(0))
    >>> ages
    array([71., 40., 18.])
    """
    eligible = np.flatnonzero(np.isin(ages, list(AGE_TYPOS)))
    if eligible.size < count:
        raise InputError(f"only {counted(eligible.size, 'age')} can be mistyped, not {count}")
    changed = np.zeros(ages.size, dtype=bool)
    changed[rng.choice(eligible, count, replace=False)] = True
    mistyped = ages.copy()
    mistyped[changed] = [AGE_TYPOS[int(age)] for age in ages[changed]]
    return mistyped, changed


def mistype_number(entry: float, *, whole: bool) -> list[float]:
    """All results, or all whole ones, of one typing error in a number of up to six digits.

    >>> mistype_number(17.0, whole=True)
    [1.0, 7.0, 14.0, 18.0, 27.0, 47.0, 71.0, 117.0, 170.0, 177.0]
    """
    text = np.format_float_positional(abs(entry), precision=6, fractional=False, trim="-")
    slips = {str(Decimal(text).scaleb(1)), str(Decimal(text).scaleb(-1))}
    for k, digit in enumerate(text):
        if digit == ".":
            continue
        before, after = text[:k], text[k + 1 :]
        slips.update((before + digit + digit + after, before + after))
        slips.update(before + key + after for key in _BESIDE[digit])
        if after[:1].isdigit():
            slips.add(before + after[0] + digit + after[1:])
    sign = -1.0 if entry < 0 else 1.0
    numbers = {sign * float(slip) for slip in slips if slip.strip(".")}
    numbers -= {sign * float(text), entry}
    return sorted(number for number in numbers if not whole or number.is_integer())


CELL_ERRORS: dict[str, Callable[[CleanTable, int, np.random.Generator], Floats]] = {
    "unlikely": unlikely,
    "low-density": low_density,
    "tail": tail,
    "swapped": swapped,
    "typo": typo,
    "units": units,
}
"""The kinds of errors in cells."""
