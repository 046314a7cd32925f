"""Errors planted in a clean table, so that one knows which cells a detector should find.

A table is an array of numbers (categories as whole-number codes, NaN where an entry is missing), the labels of its
rows and a mask that says which columns are categories. A column is *graded* if it holds categories, or whole numbers
of which no more than 20 differ; any other is *continuous*. The kinds of errors:

============= ========================================================================================================
unlikely      a value that is unlikely for its class. Graded: one of the column's values that fewer than 5 % of the rows
              of the class have. Continuous: a value where the class's density (a Gaussian kernel estimate) is below 5 %
              of its peak; in a column of whole numbers one of those that occur
low-density   the same with the distribution of all rows, as the paper has it
tail          numbers only: the mean plus or minus 3 to 5 standard deviations of the column. Whole numbers stay whole,
              and columns without negative numbers stay so
swapped       the entry of another row in the same column, exchanged for this one; the rows are of different classes
              where possible
typo          numbers: two digits transposed, a digit doubled, dropped or replaced by a key next to it, or the decimal
              point slipped; categories: another category
units         part of one numeric column times a factor between two units, at most half of its entries
labels        another label; no cell changes
============= ========================================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.ndimage import gaussian_filter1d

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_GRADES = 20
_RARE = 0.05
_BINS = 512
_UNIT_FACTORS = (2.54, 2.2046, 60.0, 1000.0)  # inches, pounds, minutes, thousands
_KEYS = ("789", "456", "123", " 0 ")  # a number pad

AGE_TYPOS = {17: 71, 71: 17, 18: 81, 81: 18, 19: 91, 91: 19}
"""The ages that the paper's typing errors take for each other."""


@dataclass(frozen=True)
class Spoiled:
    """A table with planted errors.

    Attributes
    ----------
    numbers : ndarray of shape (n, m)
    labels : ndarray of shape (n,)
    cells : ndarray of bool, shape (n, m)
        The cells that differ from the clean table.
    rows : ndarray of bool, shape (n,)
        The rows whose label differs.
    """

    numbers: NDArray[np.float64]
    labels: NDArray[np.intp]
    cells: NDArray[np.bool_]
    rows: NDArray[np.bool_]


@dataclass(frozen=True)
class _Clean:
    numbers: NDArray[np.float64]
    labels: NDArray[np.intp]
    categorical: NDArray[np.bool_]

    def present(self, j: int) -> NDArray[np.float64]:
        column = self.numbers[:, j]
        return column[~np.isnan(column)]

    def whole(self, j: int) -> bool:
        entries = self.present(j)
        return bool((entries == np.round(entries)).all())

    def graded(self, j: int) -> bool:
        return bool(self.categorical[j]) or (self.whole(j) and np.unique(self.present(j)).size <= _GRADES)


def plant(
    kind: str,
    numbers: NDArray[np.float64],
    labels: NDArray[np.intp],
    categorical: NDArray[np.bool_],
    share: float,
    rng: np.random.Generator,
) -> Spoiled:
    """Plant errors of one kind in a share of the cells, or of the labels.

    Every changed cell differs from the original. Their number is the share, rounded (for ``"swapped"`` down to an even
    number), or as many as the table allows if that is at least half of it.

    Parameters
    ----------
    kind : {"unlikely", "low-density", "tail", "swapped", "typo", "units", "labels"}
    numbers : ndarray of shape (n, m)
    labels : ndarray of shape (n,)
    categorical : ndarray of bool, shape (m,)
    share : float
        Of the cells; for ``"labels"`` of the rows.
    rng : numpy generator

    Returns
    -------
    Spoiled

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> numbers = rng.normal(size=(50, 4))
    >>> labels = np.arange(50) % 2
    >>> spoiled = plant("tail", numbers, labels, np.zeros(4, dtype=bool), 0.05, rng)
    >>> int(spoiled.cells.sum()), bool((spoiled.numbers != numbers)[spoiled.cells].all())
    (10, True)
    """
    if kind not in KINDS:
        raise InputError(f"kind={kind!r} is not known: use one of {', '.join(map(repr, KINDS))}")
    if not 0 < share < 1:
        raise InputError(f"share={share!r} must lie between 0 and 1")
    clean = _Clean(np.asarray(numbers, dtype=np.float64), np.asarray(labels), np.asarray(categorical))
    if np.isnan(clean.numbers).all(axis=0).any():
        raise InputError("a column has no entry at all: leave it out")
    wanted = round(share * (clean.labels.size if kind == "labels" else clean.numbers.size))
    if kind == "swapped":
        wanted -= wanted % 2
    if wanted == 0:
        raise InputError(f"share={share!r} of this table is no error at all: raise the share")
    if kind == "labels":
        spoiled, spoiled_labels = clean.numbers.copy(), _flip(clean.labels, wanted, rng)
    else:
        spoiled, spoiled_labels = _PLANTERS[kind](clean, wanted, rng), clean.labels.copy()
    cells = (spoiled != clean.numbers) & ~np.isnan(clean.numbers)
    rows = spoiled_labels != clean.labels
    planted = int(cells.sum() + rows.sum())
    if 2 * planted < wanted:
        raise InputError(
            f"only {planted} of {wanted} errors of kind {kind!r} fit in this table: lower the share"
        )
    return Spoiled(spoiled, spoiled_labels, cells, rows)


def swap_ages(
    ages: NDArray[np.float64], count: int, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Mistype some ages: 17 and 71, 18 and 81, 19 and 91 for each other.

    Parameters
    ----------
    ages : ndarray of shape (n,)
    count : int
        Ages to change, drawn at random from those that can be mistyped so.
    rng : numpy generator

    Returns
    -------
    ages : ndarray of shape (n,)
    changed : ndarray of bool, shape (n,)

    Examples
    --------
    >>> ages, changed = swap_ages(np.array([17.0, 40.0, 81.0]), 2, np.random.default_rng(0))
    >>> ages
    array([71., 40., 18.])
    """
    eligible = np.flatnonzero(np.isin(ages, list(AGE_TYPOS)))
    if eligible.size < count:
        raise InputError(f"only {eligible.size} ages can be mistyped, wanted {count}")
    changed = np.zeros(ages.size, dtype=bool)
    changed[rng.choice(eligible, count, replace=False)] = True
    mistyped = ages.copy()
    mistyped[changed] = [AGE_TYPOS[int(age)] for age in ages[changed]]
    return mistyped, changed


def _flip(labels: NDArray[np.intp], wanted: int, rng: np.random.Generator) -> NDArray[np.intp]:
    classes, codes = np.unique(labels, return_inverse=True)
    if classes.size < 2:
        raise InputError("labels of one class cannot be flipped")
    rows = rng.choice(labels.size, wanted, replace=False)
    codes[rows] = (codes[rows] + rng.integers(1, classes.size, size=wanted)) % classes.size
    return np.asarray(classes[codes])


def _cell_by_cell(
    clean: _Clean, wanted: int, rng: np.random.Generator, draw: Callable[[int, int], float]
) -> NDArray[np.float64]:
    """Visit the cells in random order and change those for which ``draw`` has another value, NaN if it has none."""
    spoiled = clean.numbers.copy()
    for flat in rng.permutation(spoiled.size):
        i, j = divmod(int(flat), spoiled.shape[1])
        new = np.nan if np.isnan(spoiled[i, j]) else draw(i, j)
        if np.isnan(new) or new == spoiled[i, j]:
            continue
        spoiled[i, j] = new
        wanted -= 1
        if wanted == 0:
            break
    return spoiled


def _unlikely(clean: _Clean, wanted: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return _rare(clean, clean.labels, wanted, rng)


def _low_density(clean: _Clean, wanted: int, rng: np.random.Generator) -> NDArray[np.float64]:
    return _rare(clean, np.zeros_like(clean.labels), wanted, rng)


def _rare(
    clean: _Clean, groups: NDArray[np.intp], wanted: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Values that are rare in the group of their row."""

    @cache
    def candidates(j: int, group: int) -> tuple[NDArray[np.float64], float]:
        """Rare values, and how far around them one may go."""
        members = clean.numbers[groups == group, j]
        members = members[~np.isnan(members)]
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


def _density(
    members: NDArray[np.float64], column: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Kernel estimate of the members' density, on a grid over the column's range and three bandwidths more.

    Where the column has no negative number the grid has none.
    """
    spreads = (members.std(), np.ptp(np.percentile(members, [25, 75])) / 1.349)
    # members that are all the same have the column's spread
    spread = min((one for one in spreads if one > 0), default=column.std())
    width = 0.9 * spread * members.size**-0.2
    low, high = column.min() - 3 * width, column.max() + 3 * width
    edges = np.linspace(max(low, 0.0) if column.min() >= 0 else low, high, _BINS + 1)
    counts = np.histogram(members, edges)[0].astype(np.float64)
    density = gaussian_filter1d(counts, width / (edges[1] - edges[0]), mode="constant")
    return (edges[1:] + edges[:-1]) / 2, density


def _tail(clean: _Clean, wanted: int, rng: np.random.Generator) -> NDArray[np.float64]:
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
        # away from the mean, so that it stays three standard deviations off
        return float((np.ceil(new) if step > 0 else np.floor(new)) if whole[j] else new)

    return _cell_by_cell(clean, wanted, rng, draw)


def _swapped(clean: _Clean, wanted: int, rng: np.random.Generator) -> NDArray[np.float64]:
    spoiled = clean.numbers.copy()
    free = ~np.isnan(spoiled)
    for flat in rng.permutation(spoiled.size):
        if wanted <= 0:
            break
        i, j = divmod(int(flat), spoiled.shape[1])
        if not free[i, j]:
            continue
        partners = free[:, j] & (clean.numbers[:, j] != clean.numbers[i, j])
        other_class = partners & (clean.labels != clean.labels[i])
        rows = np.flatnonzero(other_class if other_class.any() else partners)
        if not rows.size:
            continue
        k = rng.choice(rows)
        spoiled[[i, k], j] = clean.numbers[[k, i], j]
        free[[i, k], j] = False
        wanted -= 2
    return spoiled


def _typo(clean: _Clean, wanted: int, rng: np.random.Generator) -> NDArray[np.float64]:
    categories = {j: np.unique(clean.present(j)) for j in np.flatnonzero(clean.categorical).tolist()}
    whole = [clean.whole(j) for j in range(clean.numbers.shape[1])]

    def draw(i: int, j: int) -> float:
        entry = float(clean.numbers[i, j])
        values = categories[j][categories[j] != entry] if j in categories else mistyped(entry, whole=whole[j])
        return float(rng.choice(values)) if len(values) else np.nan

    return _cell_by_cell(clean, wanted, rng, draw)


def mistyped(entry: float, *, whole: bool) -> list[float]:
    """What one slip of the finger makes of a number, written with up to six digits.

    Examples
    --------
    >>> mistyped(17.0, whole=True)
    [1.0, 7.0, 14.0, 18.0, 27.0, 47.0, 71.0, 117.0, 170.0, 177.0]
    """
    text = np.format_float_positional(abs(entry), precision=6, fractional=False, trim="-")
    slips = {str(Decimal(text).scaleb(1)), str(Decimal(text).scaleb(-1))}
    for k, digit in enumerate(text):
        if digit == ".":
            continue
        before, after = text[:k], text[k + 1 :]
        slips.update((before + digit + digit + after, before + after))
        slips.update(before + key + after for key in _neighbours(digit))
        if after[:1].isdigit():
            slips.add(before + after[0] + digit + after[1:])
    sign = -1.0 if entry < 0 else 1.0
    numbers = {sign * float(slip) for slip in slips if slip.strip(".")}
    numbers -= {sign * float(text), entry}
    return sorted(number for number in numbers if not whole or number.is_integer())


@cache
def _neighbours(digit: str) -> tuple[str, ...]:
    """The keys beside, above and below on a number pad."""
    (row,) = (row for row, keys in enumerate(_KEYS) if digit in keys)
    column = _KEYS[row].index(digit)
    around = ((row, column - 1), (row, column + 1), (row - 1, column), (row + 1, column))
    keys = (_KEYS[r][c] for r, c in around if 0 <= r < len(_KEYS) and 0 <= c < 3)
    return tuple(key for key in keys if key.isdigit())


def _units(clean: _Clean, wanted: int, rng: np.random.Generator) -> NDArray[np.float64]:
    spoiled = clean.numbers.copy()
    numeric = np.flatnonzero(~clean.categorical & (np.nanstd(clean.numbers, axis=0) > 0))
    continuous = [j for j in numeric.tolist() if not clean.graded(j)] or numeric.tolist()
    # zero is zero in any unit, and the wrong unit must not become the usual one
    room = {j: int(np.count_nonzero(clean.present(j))) // 2 for j in continuous}
    enough = [j for j in continuous if room[j] >= wanted]
    if not enough:
        most = max(room.values(), default=0)
        enough = [j for j in continuous if room[j] == most]
    if not enough:
        return spoiled
    j = int(rng.choice(enough))
    column = clean.numbers[:, j]
    rows = rng.choice(np.flatnonzero(~np.isnan(column) & (column != 0)), min(wanted, room[j]), replace=False)
    factor = rng.choice(_UNIT_FACTORS)
    if clean.whole(j):
        spoiled[rows, j] = np.round(column[rows] * factor)
    else:
        spoiled[rows, j] = column[rows] * factor ** rng.choice([-1, 1])
    return spoiled


_PLANTERS: dict[str, Callable[[_Clean, int, np.random.Generator], NDArray[np.float64]]] = {
    "unlikely": _unlikely,
    "low-density": _low_density,
    "tail": _tail,
    "swapped": _swapped,
    "typo": _typo,
    "units": _units,
}

KINDS = (*_PLANTERS, "labels")
"""The kinds of errors that :func:`plant` knows."""
