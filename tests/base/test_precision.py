"""Widths of intervals against the distributions that they come from."""

import math

import pytest
from scipy.stats import t

from shapley2d._base.precision import LEVEL, interval_factor


@pytest.mark.parametrize("dof", [1.0, 9.0, 127.5, math.inf])
def test_intervals_are_student_s_or_at_last_normal(dof):
    assert interval_factor(dof) == pytest.approx(float(t.ppf((1 + LEVEL) / 2, dof)), rel=1e-12)
    assert interval_factor(0.5) == interval_factor(1.0)
