"""Time limits for tests, which count and know of no clock; and tables to value under them."""

import numpy as np

from shapley2d._base.time_limit import TimeLimit
from tests.comparing import same_bits

TIGHT = 1e-6  # seconds: nothing fits


class CountedLimit(TimeLimit):
    """A limit that is over after some checks.

    Parameters
    ----------
    checks : int
        How many pass: one before every piece of work.
    left : float
        Seconds that are said to be left until then.
    """

    def __init__(self, checks, left=1e9):
        super().__init__(60.0, 0.0)
        object.__setattr__(self, "counts", {"checks": checks})
        object.__setattr__(self, "said", left)

    def left(self):
        return self.said

    def check(self, needed_s=0.0):
        self.counts["checks"] -= 1
        if self.counts["checks"] < 0:
            TimeLimit(60.0, 0.0).check()

    def earlier(self, seconds):
        return self

    def at_latest(self):  # the same checks, but work under way is not dropped
        later = CountedLimit(0)
        object.__setattr__(later, "counts", self.counts)
        return later


def make_tables(n_rows=60, n_columns=4, n_valid=96, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n_rows + n_valid, n_columns))
    y = (X[:, 0] + 0.5 * X[:, 1] + 0.5 * random.normal(size=len(X)) > 0).astype(int)
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def same(one, other):
    return same_bits(one, other) and one.dof == other.dof
