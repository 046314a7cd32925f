"""The mean over the splits of what the sums over their validation rows give."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from shapley2d._estimation.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


class PartSums(Protocol):
    """Sums over validation rows of one split."""

    def mean(self) -> Floats:
        """Values of its rows."""
        ...

    def variance(self, part: int) -> Floats:
        """Variances of the cells (0), the row sums (1), the column sums (2) or the sum of all (3)."""
        ...

    def covariance(self) -> Floats:
        """Covariance of the further sums."""
        ...


def mean_of_splits(
    sums: Sequence[PartSums],
    rows: Sequence[NDArray[np.intp]],
    shape: tuple[int, int],
    info: dict[str, Any],
    *,
    dof: float,
    further: bool,
) -> Estimate:
    """An estimate of the whole table; a row has 0 in splits that it is not in."""
    share = 1 / len(sums)
    if len(sums) == 1 and rows[0].size == shape[0]:
        (part,) = sums
        values, variance = part.mean(), part.variance(0)
        row_variance, column_variance, total = (
            part.variance(1),
            part.variance(2),
            float(part.variance(3)),
        )
    else:
        values, variance = np.zeros(shape), np.zeros(shape)
        row_variance, column_variance, total = np.zeros(shape[0]), np.zeros(shape[1]), 0.0
        for part, own in zip(sums, rows, strict=True):
            values[own] += part.mean() * share
            variance[own] += part.variance(0) * share**2
            row_variance[own] += part.variance(1) * share**2
            column_variance += part.variance(2) * share**2
            total += float(part.variance(3)) * share**2
    return Estimate(
        values,
        np.sqrt(variance, out=variance),
        np.sqrt(row_variance),
        np.sqrt(column_variance),
        info,
        covariance=np.sum([part.covariance() for part in sums], axis=0) * share**2
        if further
        else None,
        dof=dof,
        total_stderr=float(np.sqrt(total)),
    )
