"""Exact or fast: how finely far rows are distinguished, chosen so that it cannot be seen in the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.streams import generator

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d._knn.rows import RowValues

SPREAD_SHARE = 1e-3
"""An error of this part of the spread of the values is never worth more work."""

SHARES = np.array([1e-2, 3e-3, 1e-3, 3e-4])
"""Settings of the fast form, from the fastest on; see :class:`shapley2d._knn.rows.RowValues`."""

_SMALL_WORK = 2.0**31  # triples of row, validation row and coalition that the exact form does in seconds
_SAMPLE_ROWS = 64
_SAMPLE_COALITIONS = 3


def choose_share(
    parts: list[RowValues], work: float, allowed: Callable[[], float], seed: int
) -> tuple[float | None, float]:
    """The fastest setting of the fast form whose bound is small enough, or None for the exact form.

    A value is a weighted sum of row values whose weights add up to 2 in size, so it is off by at most twice what the
    row values are. That is bounded, for the row where it can be largest, by the mean of the proven bounds of a random
    sample of validation rows and column coalitions.

    Parameters
    ----------
    parts : list of RowValues
        One per split.
    work : float
        Triples of a training row, a validation row and a column coalition to evaluate.
    allowed : callable
        Asked only if it matters: the error of a value that is small enough.
    seed : int

    Returns
    -------
    share : float or None
    bound : float
        Of the values; 0 for the exact form.
    """
    if work < _SMALL_WORK or not all(part.can_be_fast for part in parts):
        return None, 0.0
    random = generator(seed, "form sample")
    bounds = np.zeros(SHARES.size)
    for part in parts:
        sample = []
        for t in random.choice(part.n_valid, min(_SAMPLE_ROWS, part.n_valid), replace=False):
            for _ in range(_SAMPLE_COALITIONS):
                size = random.integers(1, part.n_columns + 1)  # as the Shapley value weighs sizes
                coalition = np.zeros(part.n_columns, dtype=bool)
                coalition[random.permutation(part.n_columns)[:size]] = True
                sample.append((int(t), coalition))
        bounds = np.maximum(bounds, 2 * part.average_bounds(SHARES, sample))
    small = np.flatnonzero(bounds <= allowed())
    return (float(SHARES[small[0]]), float(bounds[small[0]])) if small.size else (None, 0.0)
