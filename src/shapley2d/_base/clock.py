"""The clock of a run, which stops while code is compiled.

That happens once on a machine and takes some seconds: it says nothing about how long the work
takes, and a time limit of a few seconds could not be kept with it.
"""

from __future__ import annotations

import sys
import time
from typing import Any


def now() -> float:
    """Seconds on a clock that only goes forward, without those spent on compiling."""
    cache = _cache()
    return time.monotonic() - (0.0 if cache is None else cache.compiling_seconds())


def compiling() -> bool:
    """Whether code is being compiled now, rather than loaded from the cache."""
    cache = _cache()
    return cache is not None and cache.compiling()


def _cache() -> Any:
    # imported only once something compiled is needed
    return sys.modules.get("shapley2d._kernels.cache")
