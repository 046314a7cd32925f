"""Whether a seller's rows could be any set out of its rows and the validation rows.

If a seller's rows come from where the validation rows come from, who is who is an accident: any
other set of as many rows out of both is as likely. So a statistic of the seller's rows is compared
with the same statistic of such sets. The p-value is exact for any statistic, table size, ties,
coarse columns and gaps; that rows are neighbours of each other does not matter either.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

FEW, MANY = 99, 1999
"""Sets that are drawn at first, and in all where hardly any of these is as extreme."""

_ENOUGH = 4  # as extreme sets among the first: the p-value is above 5 %, and no alarm is possible
_AT_ONCE = 10_000  # rows of all sets that are computed at once, for memory's sake
_ROUNDING = 1e-9  # sums of the same numbers may differ by this


def p_value(
    statistic: Callable[[NDArray[np.bool_]], NDArray[np.float64]],
    inside: NDArray[np.bool_],
    random: np.random.Generator,
) -> float:
    """The chance that a random set of as many rows has as large a statistic.

    Where no set of :data:`MANY` has, the tail of a normal distribution with the mean and standard
    deviation of the statistics says how small the chance is; it is 1 in 2,000 at most.

    Parameters
    ----------
    statistic : callable
        From masks of the rows in sets, a line each, to a number each; large ones are suspicious.
    inside : ndarray of bool
        The seller's rows among all.
    random : Generator

    Examples
    --------
    >>> values = np.arange(40.0)
    >>> inside = values < 10
    >>> random = np.random.default_rng(0)
    >>> p_value(lambda chosen: -(chosen @ values), inside, random) < 1e-4
    True
    """
    found = float(statistic(inside[None])[0]) - _ROUNDING
    seen = np.empty(0)
    for count in (FEW, MANY):
        while seen.size < count:
            size = min(count - seen.size, max(_AT_ONCE // inside.size, 1))
            sets = random.permuted(np.repeat(inside[None], size, axis=0), axis=1)
            seen = np.append(seen, statistic(sets))
        extreme = int((seen >= found).sum())
        if extreme > _ENOUGH:
            break
    exact = (1 + extreme) / (1 + seen.size)
    beyond = (found - float(seen.mean())) / (float(seen.std()) or np.inf)
    return exact if extreme else min(exact, normal_tail(beyond))


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
    return normal_tail(beyond / math.sqrt(variance))


def count_p_value(count: int, size: int, marked: int, n: int) -> float:
    """The chance that ``size`` of ``n`` rows hold ``count`` or more of the ``marked`` (Fisher).

    Examples
    --------
    >>> round(count_p_value(3, 3, 3, 6), 6)
    0.05
    """
    from scipy.stats import hypergeom

    return float(hypergeom.sf(count - 1, n, marked, size))


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


def normal_tail(z: float) -> float:
    """The chance that a standard normal number is above ``z``."""
    return 0.5 * math.erfc(z / math.sqrt(2))
