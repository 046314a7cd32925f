"""Time limits for tests: they count, and know of no clock."""

from shapley2d._base.time_limit import TimeLimit


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
        object.__setattr__(self, "counts", {"checks": checks, "left": left})

    def left(self):
        return self.counts["left"]

    def check(self, needed_s=0.0):
        self.counts["checks"] -= 1
        if self.counts["checks"] < 0:
            TimeLimit(60.0, 0.0).check()

    def earlier(self, seconds):
        return self
