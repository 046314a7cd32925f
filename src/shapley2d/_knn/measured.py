"""What the training rows say of a column, and the code that follows from it.

Nothing here looks at a validation row but to code that row: what it is worth does not depend on
which others there are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._knn.distances import CodedColumn, TrueColumn
from shapley2d._knn.grid import NO_GRID
from shapley2d._knn.whole_weights import Term, WholeWeights, whole_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._knn.grid import Grid

ROOM = 2**62
"""The largest distance: sums of 64-bit integers with a sign must not overflow."""

_LEAST_WEIGHT = 2**10  # smaller whole weights would be too far from what they stand for
_SURE_WEIGHT = 2**20  # a weight that is rounded can be divided down to this
# Validation entries may lie between the places of the training grid: tenths and halves of its steps
# have places of their own where there is room, and then as many more as make 20 bits.
_PARTS = (10, 2, 1)
_MOST_PARTS = 2**20
_MOST_DECIMALS = 10**4  # parts of steps that are needed for the last decimal place


class Scale(NamedTuple):
    """What distances are counted in.

    Attributes
    ----------
    whole : WholeWeights
    fine : int
        Parts that every step of a grid is divided into.
    room : Fraction
        How large the code of one column's distance may be, beyond its most.
    """

    whole: WholeWeights
    fine: int
    room: Fraction

    @property
    def unit(self) -> Fraction:
        """The number that stands for a dissimilarity of 1."""
        return self.whole.unit * self.fine**2

    def count(self, weight: Fraction) -> int:
        """The whole number for a weight; those that compare exactly are multiples of the parts."""
        if self.is_exact(weight):
            return round(self.whole.unit * weight) * self.fine**2
        return round(self.unit * weight)

    def is_exact(self, weight: Fraction) -> bool:
        """Whether distances compare as they should as far as this weight goes."""
        return not weight or weight in self.whole.exact


@dataclass(frozen=True)
class NominalColumn:
    """Categories: one or another."""

    name: str
    train: NDArray[np.float64]
    valid: NDArray[np.float64]
    missing: Fraction  # the chance that two random training rows differ

    weight = most = utmost = Fraction(1)
    finer = 1
    is_whole = True

    @property
    def terms(self) -> list[Term]:
        """What distances are sums of."""
        return [Term(self.weight, 1), *_gap_term(self.train, self.missing)]

    def coded(self, scale: Scale) -> CodedColumn:
        """The column in code."""
        weight, missing = scale.count(self.weight), scale.count(self.missing)
        true = TrueColumn(
            self.train, self.valid, scale.unit, scale.unit * self.missing, nominal=True
        )
        exact = all(scale.is_exact(term.weight) for term in self.terms)
        return CodedColumn(self.train, self.valid, weight, missing, true, exact)


@dataclass(frozen=True)
class NumberColumn:
    """Numbers, whose squared differences count.

    Attributes
    ----------
    name : str
    train, valid : ndarray of float
        The entries as they are, NaN where missing.
    cuts : bool
        Whether the cut belongs to the metric. Otherwise it is one for want of room.
    grid : Grid
        Where they lie. Numbers on no grid are measured by its origin and its step all the same.
    is_whole : bool
        Whether training entries within the bounds are whole numbers of steps.
    weight, missing : Fraction
        What a squared step counts, and a missing entry.
    lowest, highest : float
        Where entries are cut, in steps; of numbers on no grid, as numbers.
    farthest : float
        Steps that a training and a validation entry may be apart, to reckon with.
    """

    name: str
    train: NDArray[np.float64]
    valid: NDArray[np.float64]
    cuts: bool
    grid: Grid = NO_GRID
    is_whole: bool = True
    weight: Fraction = Fraction(0)
    missing: Fraction = Fraction(0)
    lowest: float = 0.0
    highest: float = 0.0
    farthest: float = 0.0

    @property
    def most(self) -> Fraction:
        """The largest dissimilarity."""
        return max(self.weight * Fraction(self.farthest) ** 2, self.missing)

    @property
    def utmost(self) -> Fraction:
        """The largest dissimilarity that a validation entry within the cut can have."""
        if not (self.cuts and self.is_whole):
            return self.most
        return max(self.weight * Fraction(self.highest - self.lowest) ** 2, self.missing)

    @property
    def finer(self) -> int:
        """Parts of a step that meet all numbers with as many decimals."""
        return self.grid.finer if self.is_whole else 1

    @property
    def terms(self) -> list[Term]:
        """What distances are sums of, as far as they can tie with those of other columns."""
        gaps = _gap_term(self.train, self.missing) if self.is_whole or self.cuts else []
        return [Term(self.weight, math.ceil(self.farthest) ** 2), *gaps] if self.is_whole else gaps

    def coded(self, scale: Scale) -> CodedColumn:
        """The column in code."""
        if not self.weight:
            return self._constant(scale)
        if self.is_whole and (self._fits(scale) or scale.unit * self.weight >= _LEAST_WEIGHT):
            return self._counted(scale)
        return self._rounded(scale)

    def _fits(self, scale: Scale) -> bool:
        """Whether the weights of its steps and gaps compare exactly."""
        return all(scale.is_exact(term.weight) for term in self.terms)

    def _constant(self, scale: Scale) -> CodedColumn:
        """A column whose training entries do not differ: neither do distances."""
        train, valid = (np.where(np.isnan(part), part, 0.0) for part in (self.train, self.valid))
        true = TrueColumn(train, valid, Fraction(0), scale.unit * self.missing)
        return CodedColumn(train, valid, 0, scale.count(self.missing), true, exact=True)

    def _counted(self, scale: Scale) -> CodedColumn:
        """The column in parts of its steps, whose squares get a whole weight."""
        size, fits = scale.unit * self.weight, self._fits(scale)
        if fits:
            fine, weight = scale.fine, round(scale.whole.unit * self.weight)
        else:
            fine = next(parts for parts in _PARTS if parts == 1 or size >= _SURE_WEIGHT * parts**2)
            weight = round(size / fine**2)
        train, valid = (self.grid.places(part, fine) for part in (self.train, self.valid))
        if self.cuts:
            low, high = self.lowest * fine, self.highest * fine
            train, valid = np.clip(train, low, high), np.clip(valid, low, high)
        code = self._within(train, np.rint(valid), weight, scale)
        there = valid[~np.isnan(valid)]
        exact = fits and bool(np.all(code[~np.isnan(valid)] == there))
        if exact and not scale.whole.proportional:  # what is certified is places of the grid
            far = max(
                np.nanmax(train) - np.min(there, initial=np.inf),
                np.max(there, initial=-np.inf) - np.nanmin(train),
            )
            exact = bool(np.all(there % fine == 0) and far <= self.farthest * fine)
        true = TrueColumn(train, valid, size / fine**2, scale.unit * self.missing)
        return CodedColumn(train, code, weight, scale.count(self.missing), true, exact)

    def _rounded(self, scale: Scale) -> CodedColumn:
        """The column with its numbers rounded, as finely as there is room."""
        size = scale.unit * self.weight
        tables = [self.train, self.valid]
        if self.is_whole:
            tables = [self.grid.places(part) for part in tables]
        if self.cuts:
            tables = [np.clip(part, self.lowest, self.highest) for part in tables]
        places = tables
        if not self.is_whole:
            with np.errstate(over="ignore"):
                places = [(part - self.grid.origin) / self.grid.step for part in tables]
            # in a unit of about a step, so that squares are ordinary numbers
            exponent = math.frexp(self.grid.step)[1]
            tables = [np.ldexp(part, -exponent) for part in tables]
            size /= (self.grid.exact_step / Fraction(2) ** exponent) ** 2
        root = math.sqrt(scale.unit * self.weight)
        train, valid = (np.rint(part * root) for part in places)
        valid = self._within(train, valid, 1, scale)
        true = TrueColumn(tables[0], tables[1], size, scale.unit * self.missing)
        return CodedColumn(train, valid, 1, scale.count(self.missing), true, exact=False)

    def _within(
        self,
        train: NDArray[np.float64],
        valid: NDArray[np.float64],
        weight: int,
        scale: Scale,
    ) -> NDArray[np.float64]:
        """Validation entries no farther from training entries than there is room."""
        allowed = (self.most * scale.unit + scale.room) * Fraction(256, 255)
        reach = math.isqrt(max(int(allowed / weight), 1))
        return np.clip(valid, np.nanmax(train) - reach, np.nanmin(train) + reach)


Measured = NominalColumn | NumberColumn


def _gap_term(train: NDArray[np.float64], missing: Fraction) -> list[Term]:
    # where the validation entry is missing, all training rows are equally far
    return [Term(missing, 1)] if np.isnan(train).any() else []


def find_scale(columns: Sequence[Measured], room: int = ROOM) -> Scale:
    """The unit in which distances of the columns fit, and compare as exactly as they can."""
    most = sum((column.most for column in columns), Fraction(0)) or Fraction(1)
    # rounding to whole weights and places makes distances a little larger
    room -= room // 256
    largest = room / most
    whole = whole_weights([term for column in columns for term in column.terms], largest)
    if not whole.exact:
        return Scale(whole, 1, Fraction(0))
    spare, on_grids = math.isqrt(int(largest / whole.unit)), all(c.is_whole for c in columns)
    if on_grids:
        # finer parts are for what is left where validation entries up to the cut have room;
        # numbers on no grid need the parts more
        utmost = sum((column.utmost for column in columns), Fraction(0)) or Fraction(1)
        spare = math.isqrt(int(room / utmost / whole.unit)) or spare
    decimals = math.lcm(*(column.finer for column in columns))
    base = decimals if decimals <= min(spare, _MOST_DECIMALS) else 1
    fine = base * next(parts for parts in _PARTS if base * parts <= spare or parts == 1)
    if on_grids:
        fine <<= max(min(spare, _MOST_PARTS) // fine, 1).bit_length() - 1
    else:  # numbers on no grid are coded the more finely
        fine *= max(spare // fine, 1)
    left = room - most * whole.unit * fine**2
    return Scale(whole, fine, left / max(len(columns), 1))
