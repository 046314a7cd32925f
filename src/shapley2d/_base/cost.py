"""The cost of a run: what one process does alone, and pieces that workers share."""

from __future__ import annotations

import math
from dataclasses import dataclass

MOST_WORKERS = 2**20
"""The largest number of workers that :meth:`Cost.workers` considers."""


@dataclass(frozen=True)
class Cost:
    """Seconds of a run, by the number of workers.

    Attributes
    ----------
    alone_s : float
        Work of one process: setting up, and adding up the pieces.
    shared_s : float
        Seconds of all pieces on one core.
    pieces : int
        Their number, and so the most workers that are of use.
    waves : int
        The pieces come in waves; each starts when the one before it is done.
    handover_s : float
        Seconds that the main process spends on handing out one piece.

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
        """Seconds with some workers, one core each."""
        if workers <= 1:
            return self.alone_s + self.shared_s
        pieces = max(self.pieces, 1)
        waves = min(max(self.waves, 1), pieces)
        rounds = waves * math.ceil(math.ceil(pieces / waves) / workers)
        # the last wave may be smaller, so rounds can exceed the number of pieces
        return self.alone_s + self.shared_s * min(rounds / pieces, 1.0) + pieces * self.handover_s

    def workers(self, seconds: float) -> int | None:
        """The fewest workers, one core each, that finish in time; None if no number does."""
        low, high = 1, min(max(self.pieces, 1), MOST_WORKERS)
        if self.seconds(1) <= seconds:
            return 1
        if not self.seconds(high) <= seconds:
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.seconds(middle) <= seconds else (middle + 1, high)
        return low
