"""Payments: an amount divided in proportion to value, to the cent, with intervals.

Owners of negative value receive nothing (rule ``"zero"``; the others share the whole amount in
proportion to their values) or pay in (rule ``"owe"``; the others receive more). Either way the
amounts add up to the total.
"""

from __future__ import annotations

import math
from contextlib import suppress
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_choice
from shapley2d._base.entries import is_number
from shapley2d._base.precision import LEVEL, interval_factor
from shapley2d._base.words import counted
from shapley2d._market.owners import UNOWNED
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._market.cell_sums import JointErrors

RULES = ("zero", "owe")

UNTRUSTED = (
    (
        "there is no validation table, so the owners' own rows test each other, and rows that an "
        "owner invents vouch for each other: give a validation table that no owner has seen, or "
        "say "
    ),
    Setting("trusted", value=True),
    " if every owner's rows are trusted as a test",
)
"""The message where payments are asked for without a validation table."""

_SIMULATIONS = 20_000  # draws behind an interval; more make it smoother and slower
_MOST_DRAWN = 5_000_000  # numbers that are drawn at most, 40 MB, but 1,000 for every owner
_MAX_DIGITS = 12
_FLOAT = Decimal("1e-12")  # relative: what arithmetic with floats leaves behind a last digit


def divide_total(
    total: Any,
    values: Sequence[float],
    *,
    negative: str = "zero",
    digits: int = 2,
    names: Sequence[str] | None = None,
) -> list[float]:
    """Divide an amount in proportion to values, rounded so that it adds up exactly.

    Values are put in order, the highest first, and the running sum of their shares is rounded to
    units of the last digit; an amount is the step from one rounded sum to the next. So the amounts
    add up, each is its share rounded down or up, and so is the sum of any that follow each other in
    this order: an owner who splits into many small ones gains no rounding. More digits are refused.
    Negative values receive nothing with ``negative="zero"``, their negative share with ``"owe"``,
    and blocks that nobody owns nothing. Equal values are in the order of their names.

    >>> divide_total(100, [3.0, -1.0]), divide_total(100, [3.0, -1.0], negative="owe")
    ([100.0, 0.0], [150.0, -50.0])
    """
    units = divide_units(whole_units(total, digits), values, negative=negative, names=names)
    return [float(Fraction(amount, 10**digits)) for amount in units]


def divide_units(
    units: int,
    values: Sequence[float],
    *,
    negative: str = "zero",
    names: Sequence[str] | None = None,
) -> list[int]:
    """Divide a whole number of units, see :func:`divide_total`."""
    check_choice(negative, "negative", RULES)
    if not np.isfinite(values).all():
        raise InputError("a value is not finite, so the total cannot be divided")
    parts = [Fraction(float(value)) for value in values]
    if names is not None:
        parts = [part * (name != UNOWNED) for part, name in zip(parts, names, strict=True)]
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
    amounts = [0] * len(parts)
    running, before = Fraction(0), 0
    labels = range(len(parts)) if names is None else names
    for part, _, k in sorted(
        zip([-part for part in parts], labels, range(len(parts)), strict=True)
    ):
        running -= units * part / whole
        after = math.floor(running + Fraction(1, 2))
        amounts[k], before = after - before, after
    return amounts


def follow(
    paid: Sequence[int], values: Sequence[float], names: Sequence[str], off: float = 0
) -> bool:
    """Whether whole numbers of units are what values give by any rule, give or take some."""
    for rule in RULES:
        with suppress(InputError):  # nothing to divide by this rule
            right = divide_units(sum(paid), values, negative=rule, names=names)
            if max(abs(one - other) for one, other in zip(paid, right, strict=True)) <= off:
                return True
    return False


def payment_intervals(
    total: Any,
    values: Floats,
    errors: JointErrors,
    *,
    negative: str = "zero",
    digits: int = 2,
    names: Sequence[str] | None = None,
) -> tuple[Floats, Floats]:
    """95 % intervals of the amounts, by simulation.

    Values are drawn from Student's distribution around their estimates, with the covariance of
    their errors; the rule is applied to every draw, and the middle 95 % of the amounts are the
    interval. So intervals respect that the amounts share one total, and that none is negative under
    the rule ``"zero"``. Draws with nothing to share count as beyond either end: nothing, or all of
    it, under that rule. The other arguments are those of :func:`divide_total`.
    """
    amounts = np.array(
        divide_total(total, values.tolist(), negative=negative, digits=digits, names=names)
    )
    if not errors.variances.any():
        return amounts, amounts.copy()
    if not np.isfinite(errors.variances).all():
        raise InputError(
            "the standard errors are not known: value the blocks with at least two permutations"
        )
    if negative == "owe":
        _check_sum(float(values.sum()), errors)
    # in one order, so that the draws do not depend on who is listed first
    order = np.argsort([str(k) for k in range(values.size)] if names is None else list(names))
    draws = _draws(values[order], errors.take(order))
    draws = np.maximum(draws, 0.0) if negative == "zero" else draws
    whole = draws.sum(axis=1)
    some = whole > 0
    shares = draws / np.where(some, whole, 1.0)[:, None]
    levels = (1 - LEVEL) / 2, (1 + LEVEL) / 2
    if some.all():
        low, high = np.quantile(shares, levels, axis=0)
    else:  # between a draw and infinity there is nothing: the ends are draws
        below, above = (np.where(some[:, None], shares, end) for end in (-math.inf, math.inf))
        low = np.quantile(below, levels[0], axis=0, method="lower")
        high = np.quantile(above, levels[1], axis=0, method="higher")
    if negative == "zero":  # nobody is paid less than nothing, nor more than all
        low, high = np.maximum(low, 0.0), np.minimum(high, 1.0)
    back = np.argsort(order)
    low, high = ((float(total) * end[back]).round(digits) for end in (low, high))
    return np.minimum(low, amounts), np.maximum(high, amounts)


def _draws(values: Floats, errors: JointErrors) -> Floats:
    """Values drawn around their estimates: (draws, owners); fewer draws of many owners."""
    count = max(min(_SIMULATIONS, _MOST_DRAWN // values.size), 1000) // 2
    random = np.random.default_rng(0)
    steps = random.standard_normal((count, len(errors.spread)))
    wider = np.sqrt(random.chisquare(errors.dof, count) / errors.dof) if errors.dof < np.inf else 1
    half = steps @ errors.spread
    if errors.variance.any():
        half += random.standard_normal(half.shape) * np.sqrt(errors.variance)
    half /= np.reshape(wider, (-1, 1))
    return np.asarray(values + np.concatenate([half, -half]))  # antithetic: less noise


def _check_sum(whole: float, errors: JointErrors) -> None:
    """Refuse to divide by a sum that may be 0: shares of it could be anything."""
    half = interval_factor(errors.dof) * math.sqrt(errors.variance_of_sum())
    if whole <= half:
        raise InputError(
            f"all values together are {whole:.3g} +- {half:.3g} (95 %), which may be 0 or less, so "
            "nobody can be paid in proportion: use more validation rows, or ",
            Setting("negative", "zero"),
        )


def uncertain_pairs(values: Floats, errors: JointErrors) -> tuple[Ints, Ints, Floats, Floats]:
    """Pairs of values whose order is uncertain: the 95 % interval of their difference contains 0.

    The positions of the higher and of the lower values, differences, and their standard errors.
    """
    order = np.argsort(-values, kind="stable")
    first, second = np.triu_indices(values.size, 1)
    a, b = order[first], order[second]
    stderr = np.sqrt(errors.variance_of_differences(a, b))
    difference = values[a] - values[b]
    unsure = (stderr > 0) & (difference <= interval_factor(errors.dof) * stderr)
    return a[unsure], b[unsure], difference[unsure], stderr[unsure]


def whole_units(total: Any, digits: Any) -> int:
    """An amount as a whole number of units of its last digit."""
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
        raise InputError(Setting("pay", total), " must be a positive number")
    large = amount.adjusted() + digits > 16
    exact = Decimal(0) if large else amount.scaleb(int(digits))
    units = int(exact.to_integral_value(ROUND_HALF_EVEN))
    rounding = _FLOAT * exact if isinstance(total, (float, np.floating)) else 0
    if abs(exact - units) > rounding:
        raise InputError(
            Setting("pay", total),
            f" has more than {counted(int(digits), 'decimal')}: round it, or set ",
            Setting("digits"),
        )
    if large or units > 2**53:  # a float cannot represent its last digit
        raise InputError(
            Setting("pay", total),
            " is too large to divide to the last digit, with ",
            Setting("digits", digits),
            ": divide thousands or millions instead",
        )
    if units == 0:
        raise InputError(
            Setting("pay", total),
            " is less than one unit of the last digit, with ",
            Setting("digits", digits),
        )
    return units
