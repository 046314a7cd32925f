"""Exact or fast: how finely far rows are distinguished, chosen so that it cannot be seen in the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from shapley2d._base.streams import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.distances import IntegerColumns
    from shapley2d._knn.rows import RowValues

SPREAD_SHARE = 1e-3
"""An error of this part of the spread of the values is never worth more work."""

SHARES = np.array([1e-2, 3e-3, 1e-3, 3e-4])
"""Settings of the fast form, from the fastest on; see :class:`shapley2d._knn.rows.RowValues`."""

SMALL_WORK = 2.0**31
"""Triples of row, validation row and coalition that the exact form does in seconds."""

_SAMPLE_ROWS = 64
_LEAST_SAMPLE_ROWS = 4
_SAMPLE_WORK = 2**22  # rows times validation rows
_SAMPLE_COALITIONS = 3


class Choice(NamedTuple):
    """A form of the row kernels, and how far off values can be for it."""

    bits: Literal[32, 64]
    share: float | None  # None for the exact form
    form_bound: float
    rounding_bound: float


def choose_form(
    fine: list[RowValues],
    coarse: list[RowValues],
    references: list[IntegerColumns],
    allowed: float,
    seed: int,
) -> Choice:
    """The fastest form whose bounds are small enough.

    A value is a weighted sum of row values whose weights add up to 2 in size, so it is off by at most twice what the
    row values are. That is bounded, for the row where it can be largest, by the mean of the proven bounds of a random
    sample of validation rows and column coalitions.

    Parameters
    ----------
    fine, coarse : list of RowValues
        One per split, with distances in 64 bits, and with distances in 32 bits, which are faster to add up.
    references : list of IntegerColumns
        The tables of the splits as finely as there is room for.
    allowed : float
        The error of a value that is small enough.
    seed : int

    Returns
    -------
    Choice
    """
    tries: tuple[tuple[Literal[32, 64], list[RowValues]], ...] = ((32, coarse), (64, fine))
    for bits, parts in tries:
        rounding = rounding_bound(parts, references, seed)
        if rounding >= allowed:
            continue
        bounds = np.zeros(SHARES.size)
        for part, sample in zip(parts, _samples(parts, seed), strict=True):
            bounds = np.maximum(bounds, 2 * part.average_bounds(SHARES, sample))
        small = np.flatnonzero(bounds + rounding <= allowed)
        if small.size:
            return Choice(bits, float(SHARES[small[0]]), float(bounds[small[0]]), rounding)
    return Choice(64, None, 0.0, rounding_bound(fine, references, seed))


def rounding_bound(parts: list[RowValues], references: list[IntegerColumns], seed: int) -> float:
    """How far off a value can be because distances are rounded, by a sample of validation rows and coalitions.

    0 where nothing is rounded: distances are those of exact arithmetic on the numbers of the table.
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
        most = int(np.clip(_SAMPLE_WORK // part.n_rows, _LEAST_SAMPLE_ROWS, _SAMPLE_ROWS))
        sample = []
        for t in random.choice(part.n_valid, min(most, part.n_valid), replace=False):
            for _ in range(_SAMPLE_COALITIONS):
                size = random.integers(1, part.n_columns + 1)  # as the Shapley value weighs sizes
                coalition = np.zeros(part.n_columns, dtype=bool)
                coalition[random.permutation(part.n_columns)[:size]] = True
                sample.append((int(t), coalition))
        samples.append(sample)
    return samples
