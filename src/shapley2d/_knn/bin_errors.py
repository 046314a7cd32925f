"""The error of leaving far rows unranked, bounded for any data.

The fast form treats the members of a bin as if they tied. Let the bin hold the ranks ``a+1 ..
a+g``, and ``q`` rows with the label. Every order of its members, so also their tie average, gives a
member a value in one and the same interval, of length

    own = c(a+1) - c(a+g),

because a member with the label is worth between ``c(a+g)`` and ``c(a+1)``, and one without it loses
at most the difference. A nearer row sees the bin through the sum of ``e(r) = c(r-1) - c(r)`` over
the ranks of its members with the label. Exchanging which of the ranks they hold changes that sum by
at most

    tail = min( c(a) - c(a+g),  q (g-q)/g (max e - min e) ).

Rank weights flatten like 1/r, so both vanish quickly with ``a``. The kernels go through the bins
from the far end and add up the tails. As soon as a bin's ``own`` or ``tail``, plus the tails of the
bins beyond it, exceeds the tolerance, that bin and all nearer ones are ranked by exact distance. So
no value is off by more than the tolerance.

That is the worst case of a single validation row. A cell's value is a mean over many, and most rows
are far from most of them, where bins matter little, and to either side: what they change in the
mean is far less, and is estimated from a sample that is ranked exactly.

Regression has the same two terms for every part of its utility. In units of the largest centred
target, the linear part, with factor ``2 target``, errs by at most twice the above with ``g/4`` for
``q (g-q)/g`` (a target is ``-1 + 2 b`` with ``b`` in [0, 1]). The squares of single rows are
matches in [0, 1], with factor ``1/K``. For the pairs let ``c2`` and ``e2`` be their weights, ``s``
the magnitude of the sum of the targets of all nearer rows and ``D = c2(a) - c2(a+g)``. Orders of
the bin differ by at most

    own2 = (6 s + 8 g) D / K^2,          tail2 = ( g D + (s g + g^2) (max e2 - min e2) ) / K^2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARE = 0.03
"""The default tolerance, as a share of the most that one of K neighbours can be worth."""


def classification_tolerance(n_neighbors: int, share: float = SHARE) -> float:
    """Largest error of a value: a match among the K nearest is worth 1 / K.

    Examples
    --------
    >>> classification_tolerance(10)
    0.003
    """
    return share / n_neighbors


def regression_tolerance(n_neighbors: int, share: float = SHARE) -> float:
    """Largest error of a value, for targets of magnitude 1: a neighbour changes the squared error by up to 4 / K.

    Examples
    --------
    >>> regression_tolerance(10)
    0.012
    """
    return share * 4.0 / n_neighbors


def drop_variation(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Total variation of ``e(r) = weights[r-1] - weights[r]`` over the ranks ``1 .. r``.

    Its increment over a run of ranks bounds the range of ``e`` on it, and equals it where ``e`` is
    monotone.

    Examples
    --------
    >>> drop_variation(np.array([0.5, 0.5, 0.5, 0.25, 0.125]))
    array([0.   , 0.   , 0.   , 0.25 , 0.375])
    """
    variation = np.zeros_like(weights)
    variation[2:] = np.cumsum(np.abs(np.diff(weights, n=2)))
    return variation
