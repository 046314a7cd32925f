"""What fingers do to numbers: slips on the number pad, and the paper's mistyped ages."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEYS = ("789", "456", "123", " 0 ")  # a number pad

AGE_TYPOS = {17: 71, 71: 17, 18: 81, 81: 18, 19: 91, 91: 19}
"""The ages that the paper's typing errors take for each other."""


def mistype_ages(
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
    >>> ages, changed = mistype_ages(np.array([17.0, 40.0, 81.0]), 2, np.random.default_rng(0))
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


def mistype_number(entry: float, *, whole: bool) -> list[float]:
    """What one slip of the finger makes of a number, written with up to six digits.

    Parameters
    ----------
    entry : float
    whole : bool
        Whether only whole numbers count.

    Examples
    --------
    >>> mistype_number(17.0, whole=True)
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
