"""Results of estimators: values, their standard errors, and facts about the run."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.precision import ROUNDING, without_rounding
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass
class Estimate:
    """Values with their standard errors, and facts about the run.

    Attributes
    ----------
    values, stderr : ndarray of shape (n, m)
    row_stderr, column_stderr : ndarray of shape (n,) and (m,)
        Standard errors of the sums over a row and over a column; they do not follow from
        ``stderr``, because the errors of the cells of a row are correlated.
    info : dict
        Facts about the run for the result's record.
    history : list of (int, float)
        Convergence: the number of draws, and the largest standard error after these, relative to
        the spread of the values.
    total_stderr : float
        Standard error of the sum of all values; nan where a method does not know it, and a result
        has its upper bound then.
    dof : float
        Degrees of freedom of the standard errors; infinite where values are exact.
    held : object
        What answers questions about other entries; None where a method has no answer.
    """

    values: NDArray[np.float64]
    stderr: NDArray[np.float64]
    row_stderr: NDArray[np.float64]
    column_stderr: NDArray[np.float64]
    info: dict[str, Any] = field(default_factory=dict)
    history: list[tuple[int, float]] = field(default_factory=list)
    total_stderr: float = math.nan
    dof: float = math.inf
    held: Any = None

    def __post_init__(self) -> None:
        if not np.isfinite(self.values).all():
            raise InputError(
                "the values are too large for floating-point numbers: measure the target, or what "
                "is scored, in larger units"
            )
        for name, sums in (
            ("stderr", self.values),
            ("row_stderr", np.abs(self.values).sum(axis=1)),
            ("column_stderr", np.abs(self.values).sum(axis=0)),
        ):
            setattr(self, name, without_rounding(getattr(self, name), sums))
        if self.total_stderr < ROUNDING * np.abs(self.values).sum():
            self.total_stderr = 0.0
