"""The errors of owners' values: each by itself, and those that owners share.

A covariance matrix holds the errors of up to a few hundred owners. Beyond, it would be larger than
the table; a few replicates then tell what other validation rows would change, for any number of
owners.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class JointErrors:
    """Errors of k values with covariance ``diag(variance) + spread.T @ spread``."""

    variance: Floats  # (k,): of errors that are independent between values
    spread: Floats  # (r, k): replicates of the errors that values share
    # (k, k): of all errors, where it was estimated; the other two are then empty
    covariance: Floats | None = None

    @classmethod
    def of(cls, covariance: Floats) -> JointErrors:
        """Errors with a covariance matrix."""
        k = len(covariance)
        return cls(np.zeros(k), np.zeros((0, k)), covariance)

    @classmethod
    def shared(cls, variance: Floats, spread: Floats | None = None) -> JointErrors:
        """Errors of every value by itself, and what they share."""
        return cls(variance, np.zeros((0, variance.size)) if spread is None else spread)

    @cached_property
    def variances(self) -> Floats:
        """The variance of every value."""
        if self.covariance is not None:
            return np.diag(self.covariance).copy()
        return np.asarray(self.variance + (self.spread**2).sum(axis=0))

    @property
    def stderr(self) -> Floats:
        """The standard error of every value."""
        return np.sqrt(np.maximum(self.variances, 0.0))

    def variance_of_sum(self) -> float:
        """The variance of the sum of all values."""
        if self.covariance is not None:
            return max(float(self.covariance.sum()), 0.0)
        return float(self.variance.sum() + (self.spread.sum(axis=1) ** 2).sum())

    def variance_of_differences(self, one: NDArray[np.intp], other: NDArray[np.intp]) -> Floats:
        """The variances of differences of pairs of values, by their positions."""
        if self.covariance is not None:
            alone = self.variances[one] + self.variances[other]
            return np.maximum(alone - 2 * self.covariance[one, other], 0.0)
        together = ((self.spread[:, one] - self.spread[:, other]) ** 2).sum(axis=0)
        return np.asarray(self.variance[one] + self.variance[other] + together)

    def take(self, kept: NDArray[np.bool_] | NDArray[np.intp]) -> JointErrors:
        """The errors of some of the values."""
        if self.covariance is not None:
            return JointErrors.of(self.covariance[np.ix_(kept, kept)])
        return JointErrors(self.variance[kept], self.spread[:, kept])

    def factors(self) -> tuple[Floats, Floats]:
        """Standard errors of each by itself, and a matrix (r, k) that makes joint draws."""
        if self.covariance is None:
            return np.sqrt(self.variance), self.spread
        scale, directions = np.linalg.eigh(self.covariance)
        return np.zeros(len(scale)), (directions * np.sqrt(np.maximum(scale, 0.0))).T
