"""From standard errors to precision: how wide a 95 % interval is, and when a run is precise enough.

A standard error is the square root of an estimated variance. The variance of few groups or draws is
noisy, so the interval uses Student's quantile for its degrees of freedom; with infinitely many that
is the quantile of the normal distribution, 1.96.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats

LEVEL = 0.95
"""Share of intervals that contain the true value."""


ROUNDING = 1e-12
"""A standard error below this part of the values is that of floating-point sums: there is none."""


def without_rounding(stderr: Floats, values: Floats | float) -> Floats:
    """Standard errors, with 0 for those that are rounding of sums of ``values`` alone.

    >>> import numpy as np
    >>> without_rounding(np.array([7e-16, 0.01]), 0.5).tolist()
    [0.0, 0.01]
    """
    import numpy as np

    least = ROUNDING * float(np.abs(values).max(initial=0.0))
    return stderr if not (stderr < least).any() else np.where(stderr < least, 0.0, stderr)


@cache
def interval_factor(dof: float = math.inf) -> float:
    """Half the width of a 95 % interval, in standard errors with ``dof`` degrees of freedom."""
    if math.isinf(dof):
        return 1.959963984540054  # of the normal distribution, without importing scipy
    from scipy.special import stdtrit

    return float(stdtrit(max(dof, 1.0), (1 + LEVEL) / 2))


def convergence_ratio(values: Floats, stderr: Floats, dof: float = math.inf) -> float:
    """Largest standard error relative to the range of the values; ``tolerance`` bounds it.

    With few degrees of freedom the standard error is scaled up as its interval is.
    """
    largest = float(stderr.max())
    if largest == 0:
        return 0.0
    if not math.isinf(dof):
        largest *= interval_factor(dof) / interval_factor()
    spread = float(values.max() - values.min())
    return largest / spread if spread > 0 else math.inf
