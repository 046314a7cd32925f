"""A robust location and scale: the median and the normalised interquartile range."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

NORMAL_IQR = 1.3489795003921634
"""Interquartile range of a standard normal distribution."""


def centre_and_spread(entries: NDArray[np.float64]) -> tuple[float, float]:
    """The median and a robust standard deviation of numbers, none of them missing; 0, 0 of none.

    The spread is the interquartile range over that of a standard normal. Where the quartiles are
    equal, it is the median distance of the other entries from the median; 0.0 where all are equal.

    >>> centre_and_spread(np.array([0.0, 0, 0, 0, 0, 0, 0, 3, 5]))
    (0.0, 4.0)
    """
    if not entries.size:
        return 0.0, 0.0
    low, centre, high = np.percentile(entries, [25, 50, 75])
    spread = (high - low) / NORMAL_IQR
    if not spread:
        off = np.abs(entries - centre)
        spread = np.median(off[off > 0]) if off.any() else 0.0
    return float(centre), float(spread)
