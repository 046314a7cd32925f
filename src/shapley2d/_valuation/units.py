"""Units in which people read values: points of the score, of rows and cells for many such ones.

Values stay in the units of the utility everywhere else; only what is shown is scaled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.json_record import make_of
from shapley2d._base.words import figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Floats


@dataclass(frozen=True)
class Unit:
    """What values are shown in: ``factor * value``, and the words that go with it."""

    factor: float = 1.0
    words: str = ""

    def numbers(self, values: Sequence[float], *, signed: bool = False) -> list[str]:
        """Values of one list in the unit, all with the decimals of the largest; points with one.

        >>> Unit(100.0, "points").numbers([0.1798, -0.0021, -0.0001], signed=True)
        ['+18.0', '-0.2', '0.0']
        >>> Unit().numbers([0.1798, -0.0021])
        ['0.180', '-0.002']
        """
        decimals = self.decimals(values)
        return [_written(self.factor * one, decimals, signed=signed) for one in values]

    def spreads(self, reach: Sequence[float], values: Sequence[float]) -> list[str]:
        """Half the widths of intervals of a list of values, with its decimals; empty where 0.

        >>> Unit(100.0, "points").spreads([0.012, 0.0001, 0.0], [0.1798, 0.01, 0.0])
        ['1.2', '', '']
        """
        decimals = self.decimals(values)
        halves = [_written(self.factor * half, decimals, 2) for half in reach]
        return [half if half.strip("0.") else "" for half in halves]

    def decimals(self, values: Sequence[float]) -> int | None:
        """How many decimals a list needs; None where they would be too many, or are of no use."""
        largest = max((abs(self.factor * value) for value in values), default=0.0)
        if not 1e-6 <= largest < 1e9:
            return None
        power = math.floor(math.log10(largest))
        return max(1 - power, 1) if self.words else max(2 - power, 0)

    def text(self, value: float, digits: int = 3, *, signed: bool = False) -> str:
        """A value with its unit; an error has two digits."""
        return f"{figure(self.factor * value, digits, signed=signed)} {self.words}".rstrip()


@dataclass(frozen=True)
class Score:
    """The score of a run, as its record describes it: ``shift + factor * utility`` is shown."""

    name: str
    says: str = ""  # what it is, in a sentence
    factor: float = 1.0
    shift: float = 0.0
    per_cent: bool = False  # so that differences are points
    squared: bool = False  # whether the utility is minus the mean squared error
    # the rarest class, its share and the number of classes, where the score hardly counts it
    rarest: dict[str, Any] | None = None

    @classmethod
    def of(cls, info: dict[str, Any]) -> Score | None:
        """The score of a record; None for a game of the user's own."""
        return None if info.get("score") is None else make_of(cls, info["score"])

    @property
    def points(self) -> Unit:
        """The unit of differences; utilities themselves where the score is not in per cent."""
        return Unit(self.factor, "points" if self.per_cent else "")

    def level(self, utility: float, decimals: int) -> str:
        """A score: ``71.5 %``."""
        return _written(self.shift + self.factor * utility, decimals) + " %" * self.per_cent

    def gain(self, value: float, *, signed: bool = False) -> str:
        """A difference of scores: ``10.5 points``."""
        shown = _written(self.factor * value, self.decimals(value), signed=signed)
        return f"{shown} {self.points.words}".rstrip()

    def decimals(self, value: float) -> int:
        """Decimals that show a difference with two digits or more, in per cent at least one."""
        found = self.points.decimals([value])
        return 1 if found is None else min(found, 6)


def _written(number: float, decimals: int | None, digits: int = 3, *, signed: bool = False) -> str:
    """A number with these decimals, or with these digits; no sign without a size."""
    if decimals is None:
        return figure(number, digits, signed=signed)
    number = round(number, decimals) + 0.0
    return f"{number:{'+' if signed and number else ''},.{decimals}f}"


def points_of(info: dict[str, Any]) -> Unit:
    """Points of the score of a record; the values themselves where it is not in per cent.

    >>> points_of({"score": {"name": "accuracy", "factor": 100.0, "per_cent": True}}).text(0.012)
    '1.20 points'
    """
    score = Score.of(info)
    return Unit() if score is None else score.points


def unit_words(info: dict[str, Any]) -> str:
    """The utility's own unit, in which frames, files and JSON keep all values.

    >>> unit_words({"score": {"name": "accuracy", "factor": 100.0, "per_cent": True}})
    'accuracy; 1 is 100 points of the score'
    """
    score = Score.of(info)
    if score is None:
        return "utility of the game"
    name = "minus the mean squared error" if score.squared else score.name
    return f"{name}; 1 is {score.factor:.6g} points of the score" if score.per_cent else name


@dataclass(frozen=True)
class Units:
    """The units of a result: of sums of columns, of rows and of cells."""

    points: Unit  # of the score; the values themselves where that is not in per cent
    rows: Unit  # points, or points per 1,000 such rows
    cells: Unit

    @classmethod
    def of(cls, points: Unit, rows: Floats, cells: Floats) -> Units:
        """The units for values of these sizes."""
        return cls(points, _for_many(points, rows, "rows"), _for_many(points, cells, "cells"))


def _for_many(points: Unit, values: Floats, nouns: str) -> Unit:
    """Points, of as many such cells as it takes for the largest to have a tenth of a point."""
    largest = points.factor * float(np.abs(values).max(initial=0.0))
    for count in (1_000, 1_000_000):
        if not points.words or not 0 < largest < 0.1:
            break
        largest *= 1_000
        points = Unit(points.factor * 1_000, f"points per {count:,} such {nouns}")
    return points
