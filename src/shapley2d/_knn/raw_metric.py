"""Squared differences of the raw numbers, as exact as integers of 62 bits can be.

Columns on commensurable grids get weights that are whole squares, so nothing is rounded. Otherwise
all columns share one resolution, a part of the largest range. A column that is too small for it
would vanish; then columns are divided by scale, and the distance is a number with a digit per
scale: smaller columns decide between rows that are equally far in the larger ones, which is all
that they could do in floating point either, and where they are alone they count in full.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.warnings import warn
from shapley2d._knn.coding import LEAST_WEIGHT, ROOM, Coded, Numbers, pack, present
from shapley2d._knn.grid import common_step
from shapley2d.exceptions import InputError, InputWarning, Setting

if TYPE_CHECKING:
    from shapley2d._knn.distances import IntegerColumns
    from shapley2d._tables.table import Table

_LEAST_OF_MANY = 2.0**6  # weight, where several scales share the room
_FEWEST_LEVELS = 2.0**12  # of a column of numbers on no grid
_MOST_SCALES = 3
_LARGE_RATIO = 2.0**12


def check_numbers(table: Table) -> None:
    """Refuse text, of which no difference can be taken."""
    for column in table.columns:
        if column.kind == "category":
            raise InputError(
                Setting("metric", "sqeuclidean"),
                f" takes numbers only, but column {column.name!r} holds text: use ",
                Setting("metric", "auto"),
                " or drop the column",
            )


def raw_columns(train: Table, valid: Table) -> IntegerColumns:
    """Code tables of numbers for squared Euclidean distances; see :func:`shapley2d._knn.metric.integer_columns`."""
    check_numbers(train)
    columns = [Numbers(t, v) for t, v in zip(train.columns, valid.columns, strict=True)]
    scales = _divide(columns)
    coded: dict[int, Coded] = {}
    below, unit = 1, 1.0
    for part in scales:  # from the smallest on
        resolution = _Resolution(part, ROOM ** (1 / len(scales)))
        unit = resolution.unit
        most = 0
        for numbers in part:
            code, farthest = resolution.code(
                numbers, LEAST_WEIGHT if len(scales) == 1 else _LEAST_OF_MANY
            )
            code.weight, code.missing = code.weight * below, code.missing * below
            coded[id(numbers)] = code
            most += farthest
        below *= most + 1
    return pack([coded[id(numbers)] for numbers in columns], unit)


class _Resolution:
    """How finely the columns of one scale are coded, given the room that their distances have."""

    def __init__(self, columns: list[Numbers], room: float) -> None:
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

    def starves(self, numbers: Numbers) -> bool:
        """Whether a column would nearly vanish."""
        if not numbers.extent or (self.exact and numbers.whole):
            return False
        return numbers.extent * self._root(numbers) < _FEWEST_LEVELS

    def _root(self, numbers: Numbers) -> float:
        return numbers.step / self._largest * self._levels if numbers.extent else 0.0

    def code(self, numbers: Numbers, least: float) -> tuple[Coded, int]:
        """A coded column, and the farthest that two of its entries are apart."""
        root = self._root(numbers)
        there = present(numbers.train)
        missing = round(2 * float(np.var(there)) * root**2) if there.size else 0
        if self.exact and numbers.whole:
            code = Coded(numbers.train, numbers.valid, round(root) ** 2, missing)
        else:
            code = numbers.coded(root, missing, least)
        extent = math.ceil(
            max(np.nanmax(code.train, initial=0.0), np.nanmax(code.valid, initial=0.0))
        )
        return code, max(code.weight * extent**2, missing)


def _divide(columns: list[Numbers]) -> list[list[Numbers]]:
    """Columns by scale, the smallest first; one scale where its resolution serves all."""
    resolution = _Resolution(columns, ROOM)
    starved = [c for c in columns if resolution.starves(c)]
    if not starved:
        return [columns]
    largest = max(columns, key=lambda c: c.extent * c.step)
    names = ", ".join(repr(c.name) for c in starved)
    warn(
        InputWarning(
            f"differences in {names} are too small to count beside those in {largest.name!r} under ",
            Setting("metric", "sqeuclidean"),
            ": they decide only between rows that are equally far otherwise. Rescale the columns, or use ",
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
