"""What the system allows this process, looked at before the large libraries load.

Short of threads or of address space, they raise no errors: OpenBLAS interrupts its own process, or
asks for the same memory for ever, and Arrow aborts.
"""

from __future__ import annotations

import math
import os
import threading
from contextlib import suppress

from shapley2d._base.words import format_bytes

ADDRESS_SPACE = 10**9
"""Bytes that a command can need for a small table: measured 0.8 GB, with the settings below."""

THREADS = 8
"""Threads that a command can need with ``--jobs 1``: measured 6, with the settings below."""

_PLENTY = 4 * 10**9  # bytes; libraries that each core has its share of take 2.2 GB on two cores
_FRUGAL = {
    "OPENBLAS_NUM_THREADS": "1",  # else 32 MB and a thread for each core, in NumPy and in SciPy
    "OMP_NUM_THREADS": "1",  # Arrow starts as many
    "ARROW_DEFAULT_MEMORY_POOL": "system",  # else it reserves 1 GB, and starts a thread
}
_MOST_THREADS = 64  # starting them takes 10 ms
_STACK = 2**18  # bytes; threads that only wait need no more


def fit_limits() -> str:
    """Have libraries take little where little is allowed; what is short where that cannot do.

    To be called before NumPy is imported.

    Examples
    --------
    >>> fit_limits()
    ''
    """
    space = _address_space()
    if space < ADDRESS_SPACE:
        return (
            f"the address space is limited to {format_bytes(space)}: raise the limit (ulimit -v, "
            f"or that of the container); {format_bytes(ADDRESS_SPACE)} is enough for small tables"
        )
    frugal = space < _PLENTY
    if math.isinf(space):  # threads that were started once take address space ever after
        wanted = min(THREADS + 3 * (os.cpu_count() or 1), _MOST_THREADS)
        started = _threads_allowed(wanted)
        if started < THREADS:
            return (
                f"the system allows {started} more threads or processes, and {THREADS} are needed: "
                "raise the limit (ulimit -u, or that of the container)"
            )
        frugal = started < wanted
    if frugal:
        for name, value in _FRUGAL.items():
            os.environ.setdefault(name, value)
    return ""


def _address_space() -> float:
    """Bytes of address space that the process may have."""
    try:
        import resource
    except ImportError:  # Windows
        return math.inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return math.inf if limit == resource.RLIM_INFINITY else limit


def _threads_allowed(wanted: int) -> int:
    """How many more threads can be started, up to those wanted: only starting them tells."""
    end = threading.Event()
    threads = [threading.Thread(target=end.wait, daemon=True) for _ in range(wanted)]
    before = threading.stack_size(_STACK)
    started = 0
    try:
        with suppress(RuntimeError, MemoryError):
            for thread in threads:
                thread.start()
                started += 1
    finally:
        threading.stack_size(before)
        end.set()
    for thread in threads[:started]:
        thread.join()
    return started
