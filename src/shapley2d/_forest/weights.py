"""Weights of coalition sizes in a leaf: of the rows that fit it, and of the columns on its path.

Every semivalue is a mixture over a probability t that another player has joined, so that null
players drop out: in a leaf only its c rows and d columns play. With ``q(k) = E[(1 - t)^k]`` the
weights of a row that joins s of the c - 1 others are sums of positive numbers:
P(s = 0) = q(c - 1), and E[1 / (s + 1)] = (q(0) + ... + q(c - 1)) / c.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d._base.arrays import Floats
    from shapley2d._theory.semivalues import Semivalue


def absent_moments(semivalue: Semivalue, count: int) -> Floats:
    """``q(k)``, the probability that k given players are all absent, for k = 0 .. count - 1.

    >>> absent_moments("shapley", 3).round(4), absent_moments("banzhaf", 3)
    (array([1.    , 0.5   , 0.3333]), array([1.  , 0.5 , 0.25]))
    """
    k = np.arange(count, dtype=np.float64)
    if semivalue == "shapley":
        return 1.0 / (k + 1.0)
    if semivalue == "banzhaf":
        return np.asarray(0.5**k)
    from scipy.special import betaln

    _, a, b = semivalue
    return np.asarray(np.exp(betaln(b, a + k) - betaln(a, b)))


def mean_weights(semivalue: Semivalue, n_rows: int) -> Floats:
    """Weights of a row in a mean, for c = 0 .. n rows in play, (2, n + 1).

    Row 0 has P(s = 0), for a row that joins none; row 1 has E[1 / (s + 1); s >= 1], for one that
    moves the mean of s others. Column 0, no rows, is not used.

    >>> mean_weights("shapley", 3).round(4).tolist()
    [[0.0, 1.0, 0.5, 0.3333], [0.0, 0.0, 0.25, 0.2778]]
    """
    first = absent_moments(semivalue, n_rows)
    weights = np.zeros((2, n_rows + 1))
    weights[0, 1:] = first
    weights[1, 1:] = np.cumsum(first) / np.arange(1, n_rows + 1) - first
    weights[1, 1:2] = 0.0  # a lone row has none to move
    return weights


def weight_table(
    weigh: Callable[[Semivalue, int], Floats], semivalue: Semivalue, most: int
) -> Floats:
    """Weights of a column that joins s of d - 1 others, in row d, for d = 0 .. most.

    ``weigh``: of a semivalue and d: ``marginal_weights`` for the sum over all subsets of columns,
        or ``size_probabilities`` for the mean over random orders.

    >>> from shapley2d._theory.semivalues import marginal_weights
    >>> weight_table(marginal_weights, "shapley", 2).tolist()
    [[0.0, 0.0], [1.0, 0.0], [0.5, 0.5]]
    """
    weights = np.zeros((most + 1, max(most, 1)))
    for d in range(1, most + 1):
        weights[d, :d] = weigh(semivalue, d)
    return weights
