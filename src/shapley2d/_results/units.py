"""Units and sentences in which people read values: points of the score, multiples of an average.

Values stay in the units of the utility everywhere else; only what is shown is scaled. The command
line, the report, the notebook and ``repr`` all take their figures from here.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.precision import interval_factor
from shapley2d._base.words import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._results.valuation import Valuation

_FLAT = 0.01
"""Below this share of the mean size of a cell, the average cell is too close to 0 to count by."""

_TAIL = 0.025  # of a 95 % interval, on either side
_MINUS, _TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"


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
        The rarest class and the largest, where the score hardly counts the rarest.
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
            rarest if isinstance(rarest, dict) else None,
        )

    def level(self, utility: float, decimals: int) -> str:
        """A score: ``71.5 %``."""
        return f"{self.shift + self.factor * utility:,.{decimals}f}{' %' if self.per_cent else ''}"

    def gain(self, value: float, decimals: int) -> str:
        """A difference of scores: ``10.5 points``."""
        return f"{self.factor * value:,.{decimals}f}{' points' if self.per_cent else ''}"

    def decimals(self, value: float) -> int:
        """Decimals that show a difference with two digits or more, in per cent at least one."""
        size = abs(self.factor * value)
        if not 0 < size < math.inf:
            return 1
        digits = 1 if self.per_cent else 2
        return min(max(digits - math.floor(math.log10(size)), int(self.per_cent)), 6)


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
        Points of the score; the values themselves where the score is not in per cent.
    columns, rows, cells : Unit
        What their values are shown in.
    average : float or None
        The value of an average cell that ``rows`` and ``cells`` count by; None where they are in
        points, as of blocks, or where the average is too close to 0.
    """

    score: Score | None
    points: Unit
    columns: Unit
    rows: Unit
    cells: Unit
    average: float | None

    @classmethod
    def of(cls, valuation: Valuation) -> Units:
        """The units of a result."""
        score = Score.of(valuation.info)
        points = points_of(valuation.info)
        average = _average(valuation) if score is not None else None
        if average is None:
            return cls(score, points, points, points, points, None)
        rows = Unit(1 / (average * valuation.shape[1]), "x average row")
        return cls(score, points, points, rows, Unit(1 / average, "x average cell"), average)


def _average(valuation: Valuation) -> float | None:
    if valuation.kind == "blocks" or not sums_to_score(valuation):
        return None
    average = valuation.total / valuation.values.size
    return average if average > _FLAT * float(np.abs(valuation.values).mean()) else None


def sums_to_score(valuation: Valuation) -> bool:
    """Whether the sum of all values means something."""
    shapley = valuation.info.get("semivalue") == ["shapley"] * 2
    return bool(_about(valuation).get("total")) and shapley


def _about(valuation: Valuation) -> dict[str, str]:
    return valuation.info.get("about") or {}


def figure(number: float, digits: int = 3, *, signed: bool = False) -> str:
    """A number to some digits, without an exponent unless it is tiny or huge.

    Examples
    --------
    >>> figure(0.01234), figure(-38.66), figure(12345.6, signed=True), figure(2.5e-9)
    ('0.0123', '-38.7', '+12,346', '2.5e-09')
    """
    sign = "+" if signed else ""
    size = abs(number)
    if size == 0 or not math.isfinite(number):
        return "0" if size == 0 else str(number)
    if not 1e-6 <= size < 1e9:
        return f"{number:{sign}.{digits}g}"
    decimals = max(digits - 1 - math.floor(math.log10(size)), 0)
    return f"{number:{sign},.{decimals}f}"


def typeset(words: str) -> str:
    """A sentence with the signs that a page has for minus and times.

    Examples
    --------
    >>> typeset("-3.9 x average cell") == "\N{MINUS SIGN}3.9 \N{MULTIPLICATION SIGN} average cell"
    True
    """
    return re.sub(r"(?<!\w)-(?=\d)", _MINUS, words).replace(" x ", f" {_TIMES} ")


def score_words(valuation: Valuation) -> str:
    """The score, the baseline and what the columns add; empty where the sum has no meaning."""
    noun = valuation.kind.removesuffix("s")
    words = _about(valuation).get("total")
    if not words or not sums_to_score(valuation):
        return ""
    score, total = Score.of(valuation.info), valuation.total
    if score is None:
        return f"All {noun} values sum to {figure(total, 4)}, {words}."
    decimals = score.decimals(total)
    summed = f"the sum of all {noun} values"
    baseline = valuation.info.get("baseline_utility")
    if not isinstance(baseline, float):
        level, start = score.level(total, decimals), score.level(0.0, 0)
        return (
            f"Score {level} ({score.name}). Counted from {start}, "
            f"{summed} is {score.gain(total, decimals)}."
        )
    level, start = score.level(total + baseline, decimals), score.level(baseline, decimals)
    adds = "the columns and the label add" if valuation.info.get("label") else "the columns add"
    sentence = (
        f"Score {level} ({score.name}); {_baseline(words)} {start}; "
        f"{adds} {score.gain(total, decimals)}, {summed}."
    )
    if score.squared:
        if score.shift + score.factor * baseline < 0:
            sentence += " Below 0 % is worse than predicting the mean."
        off, blind = (figure(math.sqrt(max(-one, 0.0))) for one in (total + baseline, baseline))
        sentence += f" Root mean squared error: {off} instead of {blind}, in units of the target."
    return sentence


def _baseline(words: str) -> str:
    """The words for the baseline, up to its score."""
    guess = words.rpartition(", ")[2].removeprefix("that of ")
    return "the labels alone give" if "labels alone" in guess else f"{guess} gives"


def score_meaning(valuation: Valuation) -> str:
    """What the score is, in a sentence; empty where nothing is known."""
    score = Score.of(valuation.info)
    return f"{score.name.capitalize()}: {score.says}." if score is not None and score.says else ""


def average_words(valuation: Valuation) -> str:
    """What an average row and an average cell add; empty where values are not counted by them."""
    units = Units.of(valuation)
    if units.average is None or units.score is None:
        return ""
    row, cell = units.average * valuation.shape[1], units.average
    unit = " points" if units.score.per_cent else ""
    return (
        f"An average row adds {units.points.number(row)}{unit}, "
        f"an average cell {units.points.number(cell)}."
    )


def below_zero_words(valuation: Valuation, *, errors_known: bool = True) -> str:
    """How many cells are below 0 beyond their error, and how many chance alone would give.

    Parameters
    ----------
    valuation : Valuation
    errors_known : bool
        Whether the standard errors are numbers.
    """
    values, noun = valuation.values, valuation.kind.removesuffix("s")
    size, points = values.size, Units.of(valuation).points
    negative = int(np.count_nonzero(values < 0))
    several = f"{noun}s"
    if not valuation.exact and errors_known:
        reach = valuation.interval_factor * valuation.stderr
        sure = int(np.count_nonzero(values + reach < 0))
        unsure = int(np.count_nonzero(valuation.stderr))
        words = (
            f"{sure:,} of {size:,} {several} {plural(sure, 'is', 'are')} below 0 by more than "
            f"{plural(sure, 'its', 'their')} error (95 % interval)"
        )
        if noun == "cell":
            words += (
                f"; if no cell were worth anything, chance alone would put about "
                f"{round(_TAIL * unsure):,} there"
            )
        elif holds := int(np.count_nonzero(np.abs(values) <= reach)):
            words += f"; for {holds:,} the interval holds 0"
        return f"{words}."
    if not negative:
        return f"No {noun} is below 0."
    taken, added = points.text(-values[values < 0].sum()), points.number(values[values > 0].sum())
    words = (
        f"{negative:,} of {size:,} {several} {plural(negative, 'is', 'are')} below 0: "
        f"{plural(negative, 'it takes', 'together they take')} away {taken}, the others add "
        f"{added}."
    )
    if noun == "cell":
        words += " In a column that adds nothing roughly half of the cells are below 0 by chance."
    return words


def worth_words(valuation: Valuation, value: float) -> str:
    """What a value means, in words that can be repeated.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> worth_words(value_game(lambda S, F: S.sum() * F.sum(), 2, 2), -0.5)
    'takes away 0.500'
    """
    units, noun = Units.of(valuation), valuation.kind.removesuffix("s")
    points = units.points.text(abs(value))
    if units.average is None:
        return f"{'takes away' if value < 0 else 'adds'} {points}"
    times = units.cells.number(abs(value))
    if value < 0:
        return f"takes away {times} times what an average {noun} adds ({points})"
    return f"adds {times} times as much as an average {noun} ({points})"


def trees_words(valuation: Valuation) -> str:
    """How much the columns' values would change with other trees; empty if unknown.

    Two forests of as many trees each differ by the root of 2 times the standard errors over trees.
    """
    known, score = valuation.info.get("other_trees"), Score.of(valuation.info)
    if not isinstance(known, dict) or score is None or valuation.kind != "cells":
        return ""
    errors, values = np.array(known["stderr"], dtype=np.float64), valuation.column_values
    if errors.shape != values.shape or errors.size < 2:
        return ""
    change = math.sqrt(4 / math.pi) * errors  # the mean of the absolute difference
    order = np.argsort(-values, kind="stable")
    gaps = -np.diff(values[order])
    apart = gaps > interval_factor() * np.sqrt(
        2 * (errors[order][:-1] ** 2 + errors[order][1:] ** 2)
    )
    stays = "their order can change"
    if apart.all():
        stays = "their order stays the same"
    elif apart[0]:
        stays = f"{valuation.column_names[order[0]]!r} stays first"
    most = int(change.argmax())
    mean, largest = (
        score.gain(one, score.decimals(one)) for one in (float(change.mean()), float(change[most]))
    )
    return (
        f"With other trees than these {known['n_trees']:,} the columns would change by {mean} on "
        f"average; {valuation.column_names[most]!r} most, by {largest}; {stays}."
    )


def rare_words(valuation: Valuation) -> str:
    """What the score measures where a class is rare, and what to use instead; else empty."""
    score = Score.of(valuation.info)
    if score is None or not score.rarest:
        return ""
    rare, large = score.rarest, str(score.rarest.get("largest"))
    share, most = float(rare["share"]), float(rare["largest_share"])
    return (
        f"Only {100 * share:.1f} % of the validation rows are {rare['label']!r}: the score is "
        f"almost all about {large!r}, and a model that always answers {large!r} is right in "
        f"{100 * most:.1f} % of them. Set scoring to balanced_accuracy to let all classes count "
        "the same."
    )
