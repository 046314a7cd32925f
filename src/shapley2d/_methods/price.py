"""What a run will take, before it: the record of a price, and how work is timed for it.

A price comes from the real work on the real table, a second or so of it, multiplied by how much of
it there is. Where a tolerance decides how much, a pilot run says about how many coalitions or
permutations it takes, as a range.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d._base.cost import Cost

CALIBRATION_S = 0.4
"""Seconds of work that a pace is measured on."""

HANDOVER_S = 2e-3
"""Seconds to hand a piece to a worker process and its result back (measured)."""

_PATIENCE = 4.0

Range = tuple[float, float]


class PriceError(Exception):
    """Why a run has no price, in words."""


@dataclass(frozen=True)
class Price:
    """What a run will take.

    Attributes
    ----------
    low, high : Cost
        At best and at worst.
    cores : float
        How many cores' work is done at a time here, as measured: less than one where others use the
        machine too.
    memory : float
        Bytes that the run needs here beside the table, at worst.
    amounts : dict of str to (int, int)
        How many of what there are, at least and at most: ``"column subsets"``,
        ``"permutations"``, ``"trees"``.
    facts : dict
        How it would be computed, in the words of the record of a run.
    notes : list of str
        What to know of it, in sentences.
    """

    low: Cost
    high: Cost
    cores: float = 1.0
    memory: float = 0.0
    amounts: dict[str, tuple[int, int]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def seconds(self) -> Range:
        """What it takes here, at best and at worst."""
        return here(self.low, self.cores), here(self.high, self.cores)


def here(cost: Cost, cores: float) -> float:
    """Seconds on one machine whose cores share the work, and are perhaps busy otherwise.

    Examples
    --------
    >>> from shapley2d._base.cost import Cost
    >>> here(Cost(alone_s=1.0, shared_s=10.0), 2.0)
    6.0
    >>> here(Cost(alone_s=1.0, shared_s=10.0), 0.5)
    22.0
    """
    return cost.alone_s / min(cores, 1.0) + cost.shared_s / cores


class Measured(NamedTuple):
    """Seconds of a unit of work by the clock, and of all cores together."""

    clock_s: float
    core_s: float

    @property
    def cores(self) -> float:
        """Cores' work done at a time: less than one where others use the machine too."""
        return max(self.core_s / self.clock_s, 0.01) if self.clock_s > 0 else 1.0


def measure(do: Callable[[int], float], most: int, seconds: float = CALIBRATION_S) -> Measured:
    """The pace of some work: ``do(count)`` does that much and returns how many units it was.

    The first call is not counted: it compiles, or loads what was compiled. Then the work is doubled
    until it takes long enough to be measured.
    """
    do(1)
    count = 1
    while True:
        clock, core = time.perf_counter(), time.process_time()
        units = do(count)
        clock, core = time.perf_counter() - clock, time.process_time() - core
        worked = min(clock, _PATIENCE * core)  # on a busy machine the clock says little
        if worked >= seconds / 2 or clock >= _PATIENCE * seconds or count >= most:
            return Measured(clock / units, core / units)
        count = min(most, count * (2 if worked > seconds / 8 else 4))


def timed(do: Callable[[], Any]) -> float:
    """Seconds of something that is done once, without those in which others had the processor."""
    clock, core = time.perf_counter(), time.process_time()
    do()
    return min(time.perf_counter() - clock, time.process_time() - core)
