"""The errors of owners' values: each by itself, and those that owners share.

Shared errors are a few replicates of all values, for any number of owners: a covariance matrix
would be larger than the table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.precision import interval_factor, without_rounding

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointErrors:
    """Errors of k values with covariance ``diag(variance) + spread.T @ spread``."""

    variance: Floats  # (k,): of errors that are independent between values
    spread: Floats  # (r, k): replicates of the errors that values share
    dof: float = math.inf  # degrees of freedom of both

    @classmethod
    def of(cls, covariance: Floats, dof: float = math.inf) -> JointErrors:
        """Errors with a covariance matrix."""
        k = len(covariance)
        if not np.isfinite(covariance).all():  # of a single draw
            return cls(np.diag(covariance).copy(), np.zeros((0, k)), dof)
        scale, directions = np.linalg.eigh(covariance)
        kept = scale > 0
        # either sign is an eigenvector: the one whose largest part is positive, on every machine
        largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=0)[None], axis=0)
        spread = (directions * np.copysign(1.0, largest))[:, kept].T * np.sqrt(scale[kept])[:, None]
        return cls(np.zeros(k), np.ascontiguousarray(spread), dof)

    @classmethod
    def jackknife(cls, replicates: Floats) -> JointErrors:
        """Errors of values, from replicates (parts, values) with one part left out in each."""
        parts, k = replicates.shape
        off = (replicates - replicates.mean(axis=0)) * math.sqrt((parts - 1) / parts)
        stderr = without_rounding(np.sqrt((off**2).sum(axis=0)), np.abs(replicates[0]).sum())
        off[:, stderr == 0] = 0.0
        return cls(np.zeros(k), off, float(parts - 1))

    def __add__(self, other: JointErrors) -> JointErrors:
        return JointErrors(
            self.variance + other.variance,
            np.concatenate([self.spread, other.spread]),
            min(one.dof if one.variances.any() else math.inf for one in (self, other)),
        )

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JointErrors) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("variance", "spread", "dof")
        )

    @property
    def variances(self) -> Floats:
        """The variance of every value."""
        return np.asarray(self.variance + (self.spread**2).sum(axis=0))

    @property
    def stderr(self) -> Floats:
        """The standard error of every value."""
        return np.sqrt(self.variances)

    @property
    def reach(self) -> Floats:
        """Half the widths of the 95 % intervals."""
        return interval_factor(self.dof) * self.stderr

    def variance_of_sum(self) -> float:
        """The variance of the sum of all values."""
        return float(self.variance.sum() + (self.spread.sum(axis=1) ** 2).sum())

    def variance_of_differences(self, one: NDArray[np.intp], other: NDArray[np.intp]) -> Floats:
        """The variances of differences of pairs of values, by their positions."""
        together = ((self.spread[:, one] - self.spread[:, other]) ** 2).sum(axis=0)
        return np.asarray(self.variance[one] + self.variance[other] + together)

    def take(self, kept: NDArray[np.bool_] | NDArray[np.intp] | slice) -> JointErrors:
        """The errors of some of the values."""
        return JointErrors(self.variance[kept], self.spread[:, kept], self.dof)
