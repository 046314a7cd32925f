"""How likely what was seen is where all rows come from one place; exact counts, few assumptions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TOP = (0.5, 0.8, 0.95)  # shares of all rows below the thresholds above which rows are counted


def excess_p_value(mine: NDArray[np.float64], theirs: NDArray[np.float64]) -> float:
    """The chance that as many of the highest scores are among some rows, out of two lists.

    The highest half, fifth and twentieth of both lists together are counted (Fisher's exact test),
    so that a few very high scores are seen as well as many that are higher.

    Examples
    --------
    >>> excess_p_value(np.array([5.0, 6, 7, 8]), np.zeros(16)) < 0.001
    True
    >>> excess_p_value(np.zeros(9), np.zeros(9))
    1.0
    """
    both = np.append(mine, theirs)
    found = [1.0]
    for threshold in np.quantile(both, _TOP, method="lower"):
        marked = int((both > threshold).sum())
        count = int((mine > threshold).sum())
        found.append(len(_TOP) * count_p_value(count, mine.size, marked, both.size))
    return min(found)


def count_p_value(count: int, size: int, marked: int, n: int) -> float:
    """The chance that ``size`` of ``n`` rows hold ``count`` or more of the ``marked`` (Fisher).

    Examples
    --------
    >>> round(count_p_value(3, 3, 3, 6), 6)
    0.05
    """
    from scipy.stats import hypergeom

    return float(hypergeom.sf(count - 1, n, marked, size))


def rank_p_value(scores: NDArray[np.float64], inside: NDArray[np.bool_]) -> float:
    """The chance that a random set of rows has scores of ranks as high (Mann and Whitney's test).

    Examples
    --------
    >>> scores = np.array([1.0, 1, 2, 3, 3, 3])
    >>> round(rank_p_value(scores, np.array([False, False, False, True, True, True])), 3)
    0.03
    """
    from scipy.stats import rankdata

    n, size = scores.size, int(inside.sum())
    ranks = rankdata(scores)
    variance = size * (n - size) * float(np.var(ranks, ddof=1)) / n
    if not variance:
        return 1.0
    beyond = float(ranks[inside].sum()) - size * (n + 1) / 2 - 0.5  # corrected for continuity
    return 0.5 * math.erfc(beyond / math.sqrt(2 * variance))


def corrected(p_values: list[float]) -> list[float]:
    """P-values corrected for their number by Holm's method.

    Examples
    --------
    >>> corrected([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    m, largest, found = len(p_values), 0.0, [1.0] * len(p_values)
    for k, place in enumerate(order.tolist()):
        largest = max(largest, min(1.0, (m - k) * p_values[place]))
        found[place] = largest
    return found
