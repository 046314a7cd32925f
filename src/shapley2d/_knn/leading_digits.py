"""How far the distances of a table are cut, so that the bins of far rows are found with numbers of 32 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._kernels.bins import LONGEST, MOST_UP, LeadingDigits

if TYPE_CHECKING:
    from shapley2d._knn.row_axis import RowGame


def leading_digits(game: RowGame) -> LeadingDigits:
    """The bits to leave out of every dissimilarity, so that what is left adds up to 31 bits at most over all columns.

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
    """The weight of a column, what a missing entry counts, and the largest dissimilarity that there can be."""

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
