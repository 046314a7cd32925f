"""The clock of a run."""

import time

import numba
import pytest

from shapley2d._base import clock
from shapley2d._kernels import cache


def test_the_clock_stands_still_while_code_is_compiled():
    begin, wall, compiled = clock.now(), time.monotonic(), cache.compiling_seconds()

    @numba.njit
    def grown(x):
        return x + 1

    assert grown(1) == 2
    compiled = cache.compiling_seconds() - compiled
    assert compiled > 0
    assert clock.now() - begin == pytest.approx(time.monotonic() - wall - compiled, abs=0.01)
    assert not clock.compiling()


def test_functions_inside_functions_count_once(monkeypatch):
    times = iter([10.0, 17.0, 30.0, 31.0, 32.0])
    monkeypatch.setattr(cache.time, "monotonic", lambda: next(times))
    watch = cache._Watch()
    watch.on_start(None)
    watch.on_start(None)
    watch.on_end(None)
    watch.on_end(None)
    watch.on_start(None)
    assert (watch.depth, watch.seconds) == (1, 7.0)
    watch.on_end(None)
    assert (watch.depth, watch.seconds) == (0, 8.0)
