"""Exact or fast: from where on far rows need not be ranked, and what rounded distances can change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.streams import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.distances import IntegerColumns
    from shapley2d._knn.rows import RowValues

SPREAD_SHARE = 1e-3
"""An error of this part of the spread of the values is never worth more work."""

SMALL_WORK = 2.0**31
"""Triples of row, validation row and coalition that the exact form does in seconds."""

FEW_PAIRS = 16.0
"""Pairs of validation row and coalition to do for every one of the first sample, for the fast form to pay."""

SAMPLE_COST = 4.0
"""The same for the largest sample: the exact form takes four to five times as long (``benchmarks/knn.py kernel``)."""

_SAMPLE_ROWS = 32  # validation rows of all splits together
_LEAST_SAMPLE_ROWS = 4
_SAMPLE_WORK = 2**22  # rows times validation rows
_SAMPLE_COALITIONS = 3


def rounding_bound(parts: list[RowValues], references: list[IntegerColumns], seed: int) -> float:
    """How far off a value can be because distances are rounded, by a sample of validation rows and coalitions.

    A value is a weighted sum of row values whose weights add up to 2 in size, so it is off by at
    most twice what the row values are. 0 where nothing is rounded: distances are those of exact
    arithmetic on the numbers of the table.

    Parameters
    ----------
    parts : list of RowValues
        One per split.
    references : list of IntegerColumns
        The tables of the splits as finely as there is room for.
    seed : int
    """
    bound = 0.0
    for part, reference, sample in zip(parts, references, _samples(parts, seed), strict=True):
        if part.columns is not reference or reference.unrounded:
            bound = max(bound, 2 * part.average_rounding(reference, sample))
    return bound


def _samples(parts: list[RowValues], seed: int) -> list[list[tuple[int, NDArray[np.bool_]]]]:
    """Validation rows and column coalitions of every split to average bounds over."""
    random = generator(seed, "form sample")
    samples = []
    for part in parts:
        sample = []
        for t in random.choice(
            part.n_valid, _sample_rows(part.n_rows, part.n_valid, len(parts)), replace=False
        ):
            for _ in range(_SAMPLE_COALITIONS):
                size = random.integers(1, part.n_columns + 1)  # as the Shapley value weighs sizes
                coalition = np.zeros(part.n_columns, dtype=bool)
                coalition[random.permutation(part.n_columns)[:size]] = True
                sample.append((int(t), coalition))
        samples.append(sample)
    return samples


def _sample_rows(n_rows: int, n_valid: int, n_splits: int) -> int:
    most = int(np.clip(_SAMPLE_WORK // n_rows, _LEAST_SAMPLE_ROWS, -(-_SAMPLE_ROWS // n_splits)))
    return min(most, n_valid)


def sample_size(n_rows: int, n_valid: int, n_splits: int) -> int:
    """How many pairs of validation row and coalition bounds are averaged over, in a split of so many.

    Examples
    --------
    >>> sample_size(1000, 500, 1), sample_size(10**6, 500, 1)
    (96, 12)
    """
    return _SAMPLE_COALITIONS * _sample_rows(n_rows, n_valid, n_splits)
