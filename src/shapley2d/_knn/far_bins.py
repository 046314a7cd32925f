"""The fast form: far rows stay in bins, cut so that no value is off by more than a tolerance.

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

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._kernels.bins import LONGEST, MOST_UP, LeadingDigits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.row_axis import RowGame

TOLERANCE_SHARE = 0.03
"""Of the most that one of K neighbours can be worth: the error that bins may leave in a value.

It holds for the worst validation row; means over validation rows are off by a tenth of it or less.
Larger is faster and leaves more to the sample that :mod:`shapley2d._methods.knn.bin_correction`
ranks exactly.
"""


def largest_bin_error(game: RowGame, share: float = TOLERANCE_SHARE) -> float:
    """The largest error of a value for one validation row, in regression for targets of at most 1.

    A match among the K nearest is worth 1 / K; a neighbour changes a squared error by up to 4 / K.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> largest_bin_error(SimpleNamespace(classifies=True, n_neighbors=10))
    0.003
    >>> largest_bin_error(SimpleNamespace(classifies=False, n_neighbors=10))
    0.012
    """
    return share * (1.0 if game.classifies else 4.0) / game.n_neighbors


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


def leading_digits(game: RowGame) -> LeadingDigits:
    """The bits to leave out of dissimilarities, so that the sum of all columns has 31 at most.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> train, valid = np.array([[0, 2**20], [3, 4]]), np.array([[0, 3]])
    >>> measures = np.array([False, True]), np.array([1, 2**30]), np.array([0, 0])
    >>> leading_digits(SimpleNamespace(train=train, valid=valid, measures=measures))
    LeadingDigits(shift=10, rounded=array([ True, False]), reach=array([1073741824,    1048576]))
    """
    spans = [_span(game, j) for j in range(len(game.train))]
    shift = max(sum(span.farthest for span in spans).bit_length() - LONGEST.bit_length(), -MOST_UP)
    while sum(_at_most(span.farthest, shift) for span in spans) > LONGEST:
        shift += 1
    last_bits = (1 << max(shift, 0)) - 1
    return LeadingDigits(
        shift,
        np.array([bool((span.weight | span.missing) & last_bits) for span in spans]),
        np.array([_at_most(span.farthest, shift) for span in spans], dtype=np.int64),
    )


class _Span(NamedTuple):
    """The weight of a column, that of a missing entry, and the largest dissimilarity."""

    weight: int
    missing: int  # 0 where no entry is missing
    farthest: int


def _span(game: RowGame, j: int) -> _Span:
    nominal, weight, missing = (measure[j] for measure in game.measures)
    absent = np.iinfo(game.train.dtype).min
    ends, far = [], 0
    for entries in (game.train[j], game.valid[:, j]):
        least, most = int(entries.min(initial=0)), int(entries.max(initial=absent))
        if least == absent:
            far = int(missing)
            least = int(entries.min(where=entries != absent, initial=max(most, 0)))
        ends.append((least, most))
    (least, most), (least_valid, most_valid) = ends
    if absent in (most, most_valid):
        return _Span(0, far, far)
    apart = 1 if nominal else max(most - least_valid, most_valid - least, 0)
    return _Span(int(weight), far, max(int(weight) * apart**2, far))


def _at_most(distance: int, shift: int) -> int:
    """Leading digits with what may be lost."""
    return distance << -shift if shift < 0 else -(-distance >> shift)
