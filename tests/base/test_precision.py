"""Widths of intervals against the distributions that they come from."""

import math

import pytest
from scipy.stats import norm, t

from shapley2d._base.precision import LEVEL, interval_factor


def test_without_end_intervals_are_those_of_the_normal_distribution():
    assert interval_factor() == float(norm.ppf((1 + LEVEL) / 2))


@pytest.mark.parametrize("dof", [1.0, 9.0, 127.5])
def test_few_degrees_of_freedom_are_student_s(dof):
    assert interval_factor(dof) == pytest.approx(float(t.ppf((1 + LEVEL) / 2, dof)), rel=1e-12)
    assert interval_factor(dof) > interval_factor(math.inf)
    assert interval_factor(0.5) == interval_factor(1.0)
