"""What work costs: the part that one process does alone, and pieces that workers share."""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_WORKERS = 2**20
"""Beyond here nobody is asked how many workers it would take."""


@dataclass(frozen=True)
class Cost:
    """Seconds of a run, by the number of workers.

    Attributes
    ----------
    alone_s : float
        What is done once, by one process: setting up, and what becomes of the pieces.
    shared_s : float
        What the pieces take one core.
    pieces : int
        How many there are: no more workers than that have anything to do.
    waves : int
        The pieces come in so many waves; each begins when the one before it is done.
    handover_s : float
        What the process that hands out the pieces spends on each.

    Examples
    --------
    >>> cost = Cost(alone_s=10.0, shared_s=1000.0, pieces=100)
    >>> cost.seconds(1), cost.seconds(50), cost.seconds(200)
    (1010.0, 30.0, 20.0)
    >>> cost.workers(60), cost.workers(5)
    (20, None)
    """

    alone_s: float
    shared_s: float
    pieces: int = 1
    waves: int = 1
    handover_s: float = 0.0

    def seconds(self, workers: int) -> float:
        """What it takes with so many workers, a core each."""
        if workers <= 1:
            return self.alone_s + self.shared_s
        pieces = max(self.pieces, 1)
        waves = min(max(self.waves, 1), pieces)
        rounds = waves * math.ceil(math.ceil(pieces / waves) / workers)
        # pieces of the last wave may be fewer, so that rounds can exceed their number
        return self.alone_s + self.shared_s * min(rounds / pieces, 1.0) + pieces * self.handover_s

    def workers(self, seconds: float) -> int | None:
        """The fewest workers, a core each, that are done within so many seconds; None where none are."""
        low, high = 1, min(max(self.pieces, 1), MOST_WORKERS)
        if self.seconds(1) <= seconds:
            return 1
        if not self.seconds(high) <= seconds:
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.seconds(middle) <= seconds else (middle + 1, high)
        return low
