"""Payments: an amount divided in proportion to value, to the cent, with intervals.

Who is worth less than nothing is paid 0, and the others share the whole amount in proportion.
"""

from __future__ import annotations

import math
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.entries import is_number
from shapley2d._base.precision import LEVEL
from shapley2d._base.words import shown
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Floats

UNTRUSTED = (
    "there is no validation table, so the contributors' own rows test each other, and rows that "
    "one of them invents vouch for each other: give a validation table that no contributor has "
    "seen, or set trusted=True if everybody's rows are trusted as a test"
)
"""The message where payments are asked for without a validation table."""

_DRAWS = 20_000  # behind an interval
_MOST = 10**14  # units: floats represent each of them


def units_of(total: Any, digits: int = 2) -> int:
    """An amount as a whole number of its smallest units."""
    try:
        amount = Decimal(str(total)) if is_number(total) else Decimal("nan")
    except InvalidOperation:
        amount = Decimal("nan")
    if not amount.is_finite() or amount <= 0:
        raise InputError(f"pay={shown(total)} must be a positive number")
    units = amount.scaleb(digits)
    if units != units.to_integral_value():
        raise InputError(f"pay={shown(total)} has more than {digits} decimals: round it")
    if units > _MOST:
        raise InputError(
            f"pay={shown(total)} is too large to divide to the cent: divide thousands instead"
        )
    return int(units)


def divide(units: int, values: Sequence[float], names: Sequence[str]) -> list[int]:
    """Units in proportion to the positive values; they add up exactly.

    The highest value comes first, equal ones in the order of their names. The running sum of shares
    is rounded, so that nobody gains by being counted as several.

    >>> divide(100, [3.0, -1.0, 1.0], ["a", "b", "c"])
    [75, 0, 25]
    """
    parts = [max(Fraction(float(value)), Fraction(0)) for value in values]
    whole = sum(parts, Fraction(0))
    if whole <= 0:
        raise InputError(
            "nobody is worth more than 0, so there is nothing to divide in proportion to"
        )
    amounts, running, before = [0] * len(parts), Fraction(0), 0
    for k in sorted(range(len(parts)), key=lambda k: (-parts[k], names[k])):
        running += units * parts[k] / whole
        after = math.floor(running + Fraction(1, 2))
        amounts[k], before = after - before, after
    return amounts


def payment_interval(values: Floats, covariance: Floats, dof: float) -> tuple[Floats, Floats]:
    """95 % intervals of the shares, by simulation.

    Values are drawn from Student's distribution around their estimates with the covariance of
    their errors, and divided as the amount is; a draw in which nobody is worth more than 0 counts
    as beyond either end.
    """
    random, n = np.random.default_rng(0), values.size
    scales, directions = np.linalg.eigh(covariance)
    spread = directions * np.sqrt(np.maximum(scales, 0.0))
    half = random.standard_normal((_DRAWS // 2, n)) @ spread.T
    if not math.isinf(dof):
        half /= np.sqrt(random.chisquare(dof, (len(half), 1)) / dof)
    draws = np.maximum(values + np.concatenate([half, -half]), 0.0)  # antithetic: less noise
    whole = draws.sum(axis=1, keepdims=True)
    shares = draws / np.where(whole > 0, whole, 1.0)
    ends = (1 - LEVEL) / 2, (1 + LEVEL) / 2
    low = np.quantile(np.where(whole > 0, shares, 0.0), ends[0], axis=0)
    high = np.quantile(np.where(whole > 0, shares, 1.0), ends[1], axis=0)
    return low, high
