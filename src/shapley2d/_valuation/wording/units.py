"""Units in which people read values: points of the score, multiples of an average cell.

Values stay in the units of the utility everywhere else; only what is shown is scaled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._valuation.values import CellValues


@dataclass(frozen=True)
class Score:
    """The score of a run, as its record describes it.

    Attributes
    ----------
    name, says : str
        What it is called, and what it is in a sentence.
    factor, shift : float
        ``shift + factor * utility`` is what is shown.
    per_cent : bool
        Whether that is per cent, so that differences are points.
    squared : bool
        Whether the utility is minus the mean squared error.
    rarest : dict
        The rarest class, its share and the number of classes, where the score hardly counts it.
    """

    name: str
    says: str = ""
    factor: float = 1.0
    shift: float = 0.0
    per_cent: bool = False
    squared: bool = False
    rarest: dict[str, Any] | None = None

    @classmethod
    def of(cls, info: dict[str, Any]) -> Score | None:
        """The score of a record; None for a game of the user's own."""
        known = info.get("score")
        if not isinstance(known, dict) or not isinstance(known.get("name"), str):
            return None
        factor, shift = known.get("factor", 1.0), known.get("shift", 0.0)
        if not all(isinstance(one, (int, float)) and math.isfinite(one) for one in (factor, shift)):
            return None  # a file may hold anything
        rarest = known.get("rarest")
        return cls(
            known["name"],
            str(known.get("says") or ""),
            float(factor),
            float(shift),
            known.get("per_cent") is True,
            known.get("squared") is True,
            rarest if _is_rare(rarest) else None,
        )

    def level(self, utility: float, decimals: int) -> str:
        """A score: ``71.5 %``."""
        return f"{self.shift + self.factor * utility:,.{decimals}f}{' %' if self.per_cent else ''}"

    def gain(self, value: float, decimals: int | None = None) -> str:
        """A difference of scores: ``10.5 points``."""
        decimals = self.decimals(value) if decimals is None else decimals
        return f"{self.factor * value:,.{decimals}f}{' points' if self.per_cent else ''}"

    def decimals(self, value: float) -> int:
        """Decimals that show a difference with two digits or more, in per cent at least one."""
        size = abs(self.factor * value)
        if not 0 < size < math.inf:
            return 1
        digits = 1 if self.per_cent else 2
        return min(max(digits - math.floor(math.log10(size)), int(self.per_cent)), 6)


def _is_rare(record: Any) -> bool:
    """Whether a record of a rare class has what is said of it; a file may hold anything."""
    if not isinstance(record, dict) or "label" not in record:
        return False
    share, count = record.get("share"), record.get("n_classes")
    return isinstance(share, float) and 0 <= share <= 1 and isinstance(count, int) and count > 0


@dataclass(frozen=True)
class Unit:
    """What values are shown in: ``factor * value``, and the words that go with it."""

    factor: float = 1.0
    words: str = ""

    def number(self, value: float, *, signed: bool = False) -> str:
        """A value in the unit, to three digits."""
        return figure(self.factor * value, signed=signed)

    def numbers(self, values: Sequence[float], *, signed: bool = False) -> list[str]:
        """Values of one list in the unit, all with the decimals of the largest.

        Examples
        --------
        >>> Unit(100.0, "points").numbers([0.1798, -0.0021], signed=True)
        ['+18.0', '-0.2']
        """
        shown = [self.factor * value for value in values]
        largest = max((abs(one) for one in shown), default=0.0)
        if not 1e-6 <= largest < 1e9:
            return [figure(one, signed=signed) for one in shown]
        decimals, sign = max(2 - math.floor(math.log10(largest)), 0), "+" if signed else ""
        # -0.0 would be a sign without a size
        return [f"{round(one, decimals) + 0.0:{sign},.{decimals}f}" for one in shown]

    def text(self, value: float, *, signed: bool = False) -> str:
        """A value with its unit."""
        return f"{self.number(value, signed=signed)} {self.words}".rstrip()

    def error(self, value: float) -> str:
        """An error with its unit, to two digits."""
        return f"{figure(self.factor * value, 2)} {self.words}".rstrip()


def points_of(info: dict[str, Any]) -> Unit:
    """Points of the score of a record; the values themselves where it is not in per cent.

    Examples
    --------
    >>> points_of({"score": {"name": "accuracy", "factor": 100.0, "per_cent": True}}).text(0.012)
    '1.20 points'
    """
    score = Score.of(info)
    return Unit() if score is None else Unit(score.factor, "points" if score.per_cent else "")


@dataclass(frozen=True)
class Units:
    """The units of one result.

    Attributes
    ----------
    score : Score or None
    points : Unit
        Points of the score, also the unit of columns; the values themselves where the score is not
        in per cent.
    rows, cells : Unit
        What their values are shown in.
    average : float or None
        The value of an average cell that ``rows`` and ``cells`` count by; None where they are in
        points, as of blocks, or where the average is too close to 0.
    """

    score: Score | None
    points: Unit
    rows: Unit
    cells: Unit
    average: float | None

    @classmethod
    def of(cls, values: CellValues) -> Units:
        """The units of a result."""
        score, points = Score.of(values.info), points_of(values.info)
        average = values.total / values.values.size
        counted_by = score is not None and values._kind == "cells" and sums_to_score(values)
        if not counted_by or average <= 0.01 * float(np.abs(values.values).mean()):
            return cls(score, points, points, points, None)
        rows = Unit(1 / (average * values.shape[1]), "x average row")
        return cls(score, points, rows, Unit(1 / average, "x average cell"), average)


def sums_to_score(values: CellValues) -> bool:
    """Whether the sum of all values means something."""
    shapley = values.info.get("semivalue") == ["shapley"] * 2
    return bool((values.info.get("about") or {}).get("total")) and shapley
