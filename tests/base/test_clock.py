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
