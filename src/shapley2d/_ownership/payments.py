"""Payments: an amount divided in proportion to value, to the cent, with intervals.

Owners of negative value receive nothing (rule ``"zero"``; the others share the whole amount in
proportion to their values) or pay in (rule ``"owe"``; the others receive more). Either way the
amounts add up to the total.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_choice
from shapley2d._base.entries import is_number
from shapley2d._base.precision import LEVEL, interval_factor
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

RULES = ("zero", "owe")

_SIMULATIONS = 20_000  # draws behind an interval; more make it smoother and slower
_MAX_DIGITS = 12


def settle_rule(negative: str | None, players: object) -> str:
    """The rule for negative values, if the user sets none.

    Sums of cells do not change when an owner splits up; payments do not either, but only if
    negative values owe. Otherwise an owner could hide harmful cells in a shell that is paid
    nothing.

    Examples
    --------
    >>> settle_rule(None, "cells"), settle_rule(None, "groups"), settle_rule("zero", "cells")
    ('owe', 'zero', 'zero')
    """
    if negative is not None:
        return negative
    return "owe" if players == "cells" else "zero"


def divide_total(
    total: Any, values: Sequence[float], *, negative: str = "zero", digits: int = 2
) -> list[float]:
    """Divide an amount in proportion to values, rounded so that it adds up exactly.

    Shares are rounded down to units of the last digit, and the remaining units go to the largest
    remainders, the first among equals. A total with more digits is rounded to ``digits`` first.

    Parameters
    ----------
    total : number
        The amount to divide; positive.
    values : sequence of float
    negative : {"zero", "owe"}
        What negative values receive: nothing, or their negative share.
    digits : int
        Decimals of the amounts: 2 for cents.

    Returns
    -------
    list of float

    Examples
    --------
    >>> divide_total(100, [1.0, 1.0, 1.0])
    [33.34, 33.33, 33.33]
    >>> divide_total(100, [3.0, -1.0], negative="zero")
    [100.0, 0.0]
    >>> divide_total(100, [3.0, -1.0], negative="owe")
    [150.0, -50.0]
    """
    units = _whole_units(total, digits)
    check_choice(negative, "negative", RULES)
    if not np.isfinite(values).all():
        raise InputError("a value is not finite, so the total cannot be divided")
    parts = [Fraction(float(value)) for value in values]
    if negative == "zero":
        parts = [max(part, Fraction(0)) for part in parts]
    whole = sum(parts, Fraction(0))
    if whole <= 0:
        if negative == "zero":
            raise InputError("no value is above 0, so the total cannot be divided in proportion")
        raise InputError(
            "the values sum to 0 or less, so the total cannot be divided in proportion: use ",
            Setting("negative", "zero"),
        )
    quotas = [units * part / whole for part in parts]
    amounts = [quota.numerator // quota.denominator for quota in quotas]
    order = sorted(range(len(parts)), key=lambda k: (amounts[k] - quotas[k], k))
    for k in order[: units - sum(amounts)]:
        amounts[k] += 1
    return [float(Fraction(amount, 10**digits)) for amount in amounts]


def payment_intervals(
    total: Any,
    values: NDArray[np.float64],
    covariance: NDArray[np.float64],
    *,
    negative: str = "zero",
    digits: int = 2,
    dof: float = math.inf,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """95 % intervals of the amounts, by simulation.

    Values are drawn from Student's distribution around their estimates, with the covariance of
    their errors; the rule is applied to every draw, and the middle 95 % of the amounts are the
    interval. So intervals respect that the amounts share one total, and that none is negative under
    the rule ``"zero"``. Draws with nothing to share count as beyond either end.

    Parameters
    ----------
    total, negative, digits
        As in :func:`divide_total`.
    values : ndarray of shape (k,)
    covariance : ndarray of shape (k, k)
        Of the errors of the values.
    dof : float
        Degrees of freedom behind the covariance.

    Returns
    -------
    low, high : ndarray of shape (k,)

    Examples
    --------
    >>> payment_intervals(90, np.array([1.0, 2.0]), np.zeros((2, 2)))
    (array([30., 60.]), array([30., 60.]))
    """
    amounts = np.array(divide_total(total, values.tolist(), negative=negative, digits=digits))
    if not covariance.any():
        return amounts, amounts.copy()
    if not np.isfinite(covariance).all():
        raise InputError(
            "the standard errors are not known: value the blocks with at least two permutations"
        )
    if negative == "owe":
        _check_sum(float(values.sum()), covariance, dof)
    scale, directions = np.linalg.eigh(covariance)
    factor = directions * np.sqrt(np.maximum(scale, 0.0))
    random = np.random.default_rng(0)
    half = random.standard_normal((_SIMULATIONS // 2, values.size)) @ factor.T
    if np.isfinite(dof):
        half /= np.sqrt(random.chisquare(dof, len(half)) / dof)[:, None]
    draws = values + np.concatenate([half, -half])  # antithetic pairs, for less noise
    if negative == "zero":
        draws = np.maximum(draws, 0.0)
    whole = draws.sum(axis=1)
    some = whole > 0
    shares = draws / np.where(some, whole, 1.0)[:, None]
    below, above = (np.where(some[:, None], shares, end) for end in (-math.inf, math.inf))
    levels = (1 - LEVEL) / 2, (1 + LEVEL) / 2
    if some.all():
        low, high = np.quantile(shares, levels, axis=0)
    else:  # between a draw and infinity there is nothing: the ends are draws
        low = np.quantile(below, levels[0], axis=0, method="lower")
        high = np.quantile(above, levels[1], axis=0, method="higher")
    low, high = ((float(total) * end).round(digits) for end in (low, high))
    return np.minimum(low, amounts), np.maximum(high, amounts)


def _check_sum(whole: float, covariance: NDArray[np.float64], dof: float) -> None:
    """Refuse to divide by a sum that may be 0: shares of it could be anything."""
    half = interval_factor(dof) * math.sqrt(max(float(covariance.sum()), 0.0))
    if whole <= half:
        raise InputError(
            f"all values together are {whole:.3g} +- {half:.3g} (95 %), which may be 0 or less, so "
            "nobody can be paid in proportion: use more validation rows, or ",
            Setting("negative", "zero"),
        )


def uncertain_pairs(
    values: NDArray[np.float64], covariance: NDArray[np.float64], dof: float = math.inf
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """Pairs of values whose order is uncertain: the 95 % interval of their difference contains 0.

    Returns
    -------
    higher, lower : ndarray of int
        Positions of the pairs, the higher value first, in the order of the values.
    difference, stderr : ndarray
        Of the pairs' values.

    Examples
    --------
    >>> uncertain_pairs(np.array([1.0, 3.0, 1.1]), np.diag([0.1, 0.1, 0.1]))[:2]
    (array([2]), array([0]))
    """
    order = np.argsort(-values, kind="stable")
    first, second = np.triu_indices(values.size, 1)
    a, b = order[first], order[second]
    variance = covariance[a, a] + covariance[b, b] - 2 * covariance[a, b]
    stderr = np.sqrt(np.maximum(variance, 0.0))
    difference = values[a] - values[b]
    unsure = (stderr > 0) & (difference <= interval_factor(dof) * stderr)
    return a[unsure], b[unsure], difference[unsure], stderr[unsure]


def _whole_units(total: Any, digits: Any) -> int:
    whole = isinstance(digits, (int, np.integer)) and not isinstance(digits, bool)
    if not whole or not 0 <= digits <= _MAX_DIGITS:
        raise InputError(
            Setting("digits", digits), f" must be a whole number from 0 to {_MAX_DIGITS}"
        )
    good = is_number(total)
    try:
        amount = Decimal(str(total)) if good else Decimal(0)
        good = amount.is_finite() and amount > 0
    except (InvalidOperation, ValueError):  # ValueError: thousands of digits
        good = False
    if not good:
        raise InputError(Setting("total", total), " must be a positive number")
    if amount.adjusted() + digits > 16:
        raise InputError(*_too_large(total, digits))
    units = int((amount * 10 ** int(digits)).to_integral_value(ROUND_HALF_EVEN))
    if units > 2**53:
        raise InputError(*_too_large(total, digits))
    if units == 0:
        raise InputError(
            Setting("total", total),
            " is less than one unit of the last digit, with ",
            Setting("digits", digits),
        )
    return units


def _too_large(total: Any, digits: Any) -> tuple[Any, ...]:
    """The message for an amount whose last digit a float cannot represent."""
    return (
        Setting("total", total),
        " is too large to divide to the last digit, with ",
        Setting("digits", digits),
        ": divide thousands or millions instead",
    )
