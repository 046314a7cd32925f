"""Whole numbers that float64 cannot hold: beyond 2^53, neighbours become the same number."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

EXACT = 2.0**53
"""Up to here every whole number is a float64 of its own."""


def are_long(numbers: NDArray[np.float64]) -> bool:
    """Whether some numbers are so large that whole ones lose their last digits.

    Examples
    --------
    >>> are_long(np.array([1.0, np.nan])), are_long(np.array([1e17]))
    (False, True)
    """
    return bool(np.nanmax(np.abs(numbers), initial=0.0) > EXACT)


def as_digits(items: Sequence[Any]) -> list[str | None]:
    """Whole numbers of any length, or decimals, as text that has all their digits.

    Examples
    --------
    >>> as_digits([12345678901234567, None, Decimal("1E+2")])
    ['12345678901234567', None, '100']
    """
    return [
        None if item is None else f"{item:f}" if isinstance(item, Decimal) else str(item)
        for item in items
    ]
