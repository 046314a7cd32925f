"""Single entries of a user's table as Python objects: missing, a number, or something else."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np


def is_number(item: Any) -> bool:
    """Whether an object is a real number (int, float, decimal, fraction), booleans excluded.

    Examples
    --------
    >>> is_number(1.5), is_number(True), is_number("1")
    (True, False, False)
    """
    return isinstance(item, (Real, Decimal)) and not isinstance(item, (bool, np.bool_))


def is_missing(item: Any) -> bool:
    """Whether an entry is None, NaN, NaT or pandas' NA; all but None do not equal themselves.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("")
    (True, True, False)
    """
    if item is None:
        return True
    if isinstance(item, (str, bytes, int)):
        return False
    if isinstance(item, Decimal):
        return item.is_nan()  # a signalling NaN cannot be compared, not even with itself
    equal = item == item  # noqa: PLR0124
    return equal is not True and not (isinstance(equal, (bool, np.bool_)) and bool(equal))
