"""How likely what was seen is where all rows come from one place; exact counts, few assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TOP = (0.5, 0.8, 0.95)  # shares of all rows below the thresholds above which rows are counted


def excess_p_value(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """The chance that as many of the highest scores are among some rows, out of two lists.

    The highest half, fifth and twentieth of both lists together are counted (Fisher's exact test),
    so that a few very high scores are seen as well as many that are higher.
    """
    both = np.append(mine, theirs)
    found = [1.0]
    for threshold in np.quantile(both, _TOP, method="lower"):
        marked = int((both > threshold).sum())
        count = int((mine > threshold).sum())
        found.append(len(_TOP) * count_p_value(count, mine.size, marked, both.size))
    return min(found)


def count_p_value(count: int, size: int, marked: int, n: int) -> float:
    """The chance that ``size`` of ``n`` rows hold ``count`` or more of the ``marked`` (Fisher)."""
    from scipy.stats import hypergeom

    return float(hypergeom.sf(count - 1, n, marked, size))


def corrected(p_values: list[float]) -> list[float]:
    """P-values corrected for their number by Holm's method."""
    p, order = np.array(p_values), np.argsort(p_values, kind="stable")
    p[order] = np.maximum.accumulate(np.minimum(1.0, p[order] * np.arange(p.size, 0, -1)))
    return [float(one) for one in p]
