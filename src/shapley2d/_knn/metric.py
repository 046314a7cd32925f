"""How far apart two entries of a column are, as integers that add up exactly.

``metric="auto"``
    Columns count alike, whatever they hold.

    - *Numbers and dates*: measured from the median in units of the interquartile range (the normal
      distribution's, so that a unit is a standard deviation there; of the median deviation of the
      entries that deviate at all where that range is empty, as in a column of mostly zeros), cut at
      three units so that a heavy tail cannot drown the rest, squared, and scaled so that two random
      training rows are 1 apart on average.
    - *Categories and booleans*: 0 if equal, 1 if not. A category that training never shows differs
      from all.
    - *Missing entries*: as far from any entry, missing or not, as two random training rows are on
      average.

    The scale and the median come from the training rows.

``metric="sqeuclidean"``
    Squared differences of the raw numbers, as in the paper.

    Columns on commensurable grids get weights that are whole squares, so nothing is rounded.
    Otherwise all columns share one resolution, a part of the largest range. A column that is too
    small for it would vanish; then columns are divided by scale, and the distance is a number with
    a digit per scale: smaller columns decide between rows that are equally far in the larger ones,
    which is all that they could do in floating point either, and where they are alone they count
    in full.

Either way a column whose numbers lie on a grid (whole numbers, cents, standardised counts: see
:mod:`shapley2d._knn.grid`) is counted in steps of that grid, and its squared differences get a
whole weight, so that distances that are equal tie and others keep their order. Where the cut of
``"auto"`` falls between two numbers of the grid, it is at the outer one. Numbers on no grid are
rounded as finely as 62 bits allow, and what that can change is bounded
(:func:`shapley2d._knn.rounding.rounding_bound`).

To add a metric, write a function that codes two tables and add it to ``METRICS``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.in_threads import map_columns
from shapley2d._base.warnings import warn
from shapley2d._base.words import one_of
from shapley2d._knn.distances import CodedColumn, IntegerColumns, pack
from shapley2d._knn.grid import LEAST_WEIGHT, ROOM, GridNumbers, common_step, present
from shapley2d.exceptions import InputError, InputWarning, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._tables.table import Column, Table

_CUT = 3.0  # robust standard deviations at which numbers are cut: 0.3 % of a normal column
_NORMAL_IQR = 1.3489795003921634  # interquartile range of a standard normal
_NOTICED = 1e-3  # share of distinct numbers that count as equal: warn beyond it

# Of metric="sqeuclidean", where columns of very different ranges share 62 bits:
_LEAST_OF_MANY = 2.0**6  # the smallest weight, where several scales share the bits
_FEWEST_LEVELS = 2.0**12  # a column on no grid with fewer would nearly vanish
_MOST_SCALES = 3  # 20 bits each
_LARGE_RATIO = 2.0**12  # between the ranges of two columns, for a cut between scales


def integer_columns(train: Table, valid: Table, metric: str = "auto") -> IntegerColumns:
    """Code a training and a validation table for integer distances.

    Parameters
    ----------
    train, valid : Table
        Tables with the same columns (see :func:`shapley2d._tables.kinds.match_columns`).
    metric : {"auto", "sqeuclidean"}

    Returns
    -------
    IntegerColumns

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> table = as_table([[1.5, 3], [2.0, 4]])
    >>> columns = integer_columns(table, table, "sqeuclidean")
    >>> columns.train.tolist(), columns.weight.tolist(), columns.unit
    ([[0, 1], [0, 1]], [1, 4], 4.0)
    """
    if metric not in METRICS:
        raise InputError(Setting("metric", metric), f" is not known: use {one_of(tuple(METRICS))}")
    check_metric(metric, train)
    return METRICS[metric].code(train, valid)


def check_metric(metric: str, table: Table) -> None:
    """Refuse text where the metric takes the differences of numbers."""
    if METRICS[metric].takes_text:
        return
    for column in table.columns:
        if column.kind == "category":
            raise InputError(
                Setting("metric", metric),
                f" takes numbers only, but column {column.name!r} holds text: use ",
                Setting("metric", "auto"),
                " or drop the column",
            )


class Metric(NamedTuple):
    """How a training and a validation table are coded."""

    code: Callable[[Table, Table], IntegerColumns]
    takes_text: bool


class _Robust(GridNumbers):
    """Numbers cut at three units, and the scale at which two random rows are 1 apart."""

    def __init__(self, train: Column, valid: Column) -> None:
        self.scale = 0.0
        there = present(train.entries)
        if not there.size or there[0] == there[-1]:
            super().__init__(train, valid)
            return
        centre, reach = _middle(there)
        # one absurd number must not coarsen all others, so what lies well beyond the cut has no
        # part in the grid
        super().__init__(train, valid, centre - 2 * reach, centre + 2 * reach)
        there = present(self.train)
        centre, reach = _middle(there)
        lowest, highest = centre - reach, centre + reach
        if self.whole:  # cut at a number of the grid
            lowest, highest = math.floor(lowest + 1e-9), math.ceil(highest - 1e-9)
        self.train, self.valid = (
            np.clip(self.train, lowest, highest),
            np.clip(self.valid, lowest, highest),
        )
        self.scale = 1 / (2 * float(np.var(np.clip(there, lowest, highest))))
        both = present(np.concatenate([self.train, self.valid]))
        self.train, self.valid = self.train - both[0], self.valid - both[0]
        self.extent = float(both[-1] - both[0])


def _middle(entries: NDArray[np.float64]) -> tuple[float, float]:
    """The median of sorted numbers, and three robust standard deviations."""
    low, centre, high = np.percentile(entries, [25, 50, 75])
    off = np.abs(entries - centre)
    return float(centre), _CUT * float((high - low) / _NORMAL_IQR or np.median(off[off > 0]))


def _auto(train: Table, valid: Table) -> IntegerColumns:
    """Code tables so that all columns count alike."""
    pairs = list(zip(train.columns, valid.columns, strict=True))
    robust = map_columns(
        lambda pair: None if pair[0].kind in ("category", "boolean") else _Robust(*pair),
        pairs,
        train.n_rows,
    )
    # the largest distances of all columns decide how large a unit fits
    most = math.fsum(1.0 if c is None else max(1.0, c.extent**2 * c.scale) for c in robust)
    unit = 2.0 ** math.floor(math.log2(ROOM / max(most, 1.0)) - 0.05)
    coded = []
    for (t, v), numbers in zip(pairs, robust, strict=True):
        if numbers is None:
            missing = round(unit * _mean_mismatch(t.entries))
            coded.append(CodedColumn(t.entries, v.entries, round(unit), missing, nominal=True))
        else:
            missing = round(unit) if numbers.scale else 0
            coded.append(numbers.coded(math.sqrt(unit * numbers.scale), missing))
    columns = pack(coded, unit)
    _tell_of_lost_digits(train, columns)
    return columns


def _mean_mismatch(entries: NDArray[np.float64]) -> float:
    """Chance that two random training rows differ."""
    codes = entries[~np.isnan(entries)].astype(np.intp)
    if not codes.size:
        return 1.0
    counts = np.sort(np.bincount(codes))
    return 1.0 - float(np.sum((counts / codes.size) ** 2))


def _tell_of_lost_digits(train: Table, columns: IntegerColumns) -> None:
    for j, (entries, _) in columns.unrounded.items():
        numbers = np.unique(present(entries))
        if numbers.size - np.unique(np.rint(numbers)).size > _NOTICED * numbers.size:
            warn(
                InputWarning(
                    f"column {train.columns[j].name!r} has numbers that differ by less than "
                    "distances can resolve, next to others that are far apart: those count as "
                    "equal. Round it, or transform it (its logarithm, its ranks)"
                )
            )


def _raw(train: Table, valid: Table) -> IntegerColumns:
    """Code tables of numbers for squared Euclidean distances."""
    columns = [GridNumbers(t, v) for t, v in zip(train.columns, valid.columns, strict=True)]
    scales = _divide(columns)
    coded: dict[int, CodedColumn] = {}
    below, unit = 1, 1.0
    for part in scales:  # from the smallest on
        resolution = _Resolution(part, ROOM ** (1 / len(scales)))
        unit = resolution.unit
        most = 0
        for numbers in part:
            code, farthest = resolution.code(
                numbers, LEAST_WEIGHT if len(scales) == 1 else _LEAST_OF_MANY
            )
            coded[id(numbers)] = replace(
                code, weight=code.weight * below, missing=code.missing * below
            )
            most += farthest
        below *= most + 1
    return pack([coded[id(numbers)] for numbers in columns], unit)


class _Resolution:
    """How finely the columns of one scale are coded, given the room that their distances have."""

    def __init__(self, columns: list[GridNumbers], room: float) -> None:
        moving = [c for c in columns if c.extent]
        # measured by the largest range, so that nothing overflows
        self._largest = largest = max((c.extent * c.step for c in moving), default=1.0)
        # the sum of the largest squared differences, and of the missing entries', which are no
        # larger than half
        diagonal = 1.5 * math.fsum((c.extent * (c.step / largest)) ** 2 for c in moving) or 1.0
        self._levels = math.sqrt(room / diagonal) * (1 - 2.0**-8)
        self.exact = False
        steps = sorted({0.0, *(c.step / largest for c in moving if c.whole)})
        step = common_step(np.array(steps)) if len(steps) > 1 else None
        if step is not None:
            finest = 1 / step
            # a whole power of two, so that weights of columns on the grid stay whole squares
            spare = (
                0 if all(c.whole for c in moving) else math.floor(math.log2(self._levels / finest))
            )
            if finest <= self._levels:
                self.exact = True
                self._levels = finest * 2.0**spare

    @property
    def unit(self) -> float:
        """What a squared difference of 1 counts."""
        per_number = self._levels / self._largest
        return per_number * per_number

    def starves(self, numbers: GridNumbers) -> bool:
        """Whether a column would nearly vanish."""
        if not numbers.extent or (self.exact and numbers.whole):
            return False
        return numbers.extent * self._root(numbers) < _FEWEST_LEVELS

    def _root(self, numbers: GridNumbers) -> float:
        return numbers.step / self._largest * self._levels if numbers.extent else 0.0

    def code(self, numbers: GridNumbers, least: float) -> tuple[CodedColumn, int]:
        """A coded column, and the farthest that two of its entries are apart."""
        root = self._root(numbers)
        there = present(numbers.train)
        missing = round(2 * float(np.var(there)) * root**2) if there.size else 0
        if self.exact and numbers.whole:
            code = CodedColumn(numbers.train, numbers.valid, round(root) ** 2, missing)
        else:
            code = numbers.coded(root, missing, least)
        extent = math.ceil(
            max(np.nanmax(code.train, initial=0.0), np.nanmax(code.valid, initial=0.0))
        )
        return code, max(code.weight * extent**2, missing)


def _divide(columns: list[GridNumbers]) -> list[list[GridNumbers]]:
    """Columns by scale, the smallest first; one scale where its resolution serves all."""
    resolution = _Resolution(columns, ROOM)
    starved = [c for c in columns if resolution.starves(c)]
    if not starved:
        return [columns]
    largest = max(columns, key=lambda c: c.extent * c.step)
    names = ", ".join(repr(c.name) for c in starved)
    warn(
        InputWarning(
            f"differences in {names} are too small to count beside those in "
            f"{largest.name!r} under ",
            Setting("metric", "sqeuclidean"),
            ": they decide only between rows that are equally far otherwise. Rescale the columns, "
            "or use ",
            Setting("metric", "auto"),
            ", under which all count alike",
        )
    )
    ordered = sorted(columns, key=lambda c: c.extent * c.step)
    ranges = [c.extent * c.step for c in ordered]
    ratios = {k: ranges[k] / ranges[k - 1] for k in range(1, len(ranges)) if ranges[k - 1]}
    cuts = sorted(ratios, key=lambda k: ratios[k], reverse=True)[: _MOST_SCALES - 1]
    cuts = sorted(k for k in cuts if ratios[k] >= _LARGE_RATIO or k == cuts[0])
    return [ordered[i:j] for i, j in zip([0, *cuts], [*cuts, len(ordered)], strict=True)]


METRICS = {"auto": Metric(_auto, takes_text=True), "sqeuclidean": Metric(_raw, takes_text=False)}
