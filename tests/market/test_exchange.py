"""P-values of sets of rows, against counts over all sets."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

from shapley2d._market.sellers.exchange import corrected, count_p_value, p_value, rank_p_value


def masks(n, size):
    for chosen in combinations(range(n), size):
        mask = np.zeros(n, dtype=bool)
        mask[list(chosen)] = True
        yield mask


@pytest.mark.parametrize("values", [np.arange(12.0), np.array([0.0] * 6 + [1.0] * 4 + [5.0] * 2)])
def test_a_p_value_is_the_share_of_sets_that_are_as_extreme(values):
    inside = np.zeros(12, dtype=bool)
    inside[[7, 9, 10, 11]] = True

    def statistic(mask):
        return float(values[mask].mean())

    share = np.mean([statistic(mask) >= statistic(inside) - 1e-9 for mask in masks(12, 4)])
    found = p_value(lambda sets: sets @ values / 4, inside, np.random.default_rng(0))
    assert found == pytest.approx(share, abs=4 * np.sqrt(share / 2000) + 1 / 2000)


def test_ties_count_against_an_alarm():
    """Where all sets have the same statistic, none is suspicious."""
    inside = np.arange(20) < 5
    assert p_value(lambda sets: np.ones(len(sets)), inside, np.random.default_rng(0)) == 1.0
    assert rank_p_value(np.ones(20), inside) == 1.0


def test_ranks_are_compared_as_all_sets_would_be():
    scores = np.array([3.0, 1, 2, 2, 5, 5, 6, 7, 7, 9])
    inside = np.zeros(10, dtype=bool)
    inside[[5, 7, 8, 9]] = True
    order = np.argsort(np.argsort(scores)).astype(float)
    for tied in (2.0, 5.0, 7.0):
        order[scores == tied] = order[scores == tied].mean()
    share = np.mean([order[mask].sum() >= order[inside].sum() - 1e-9 for mask in masks(10, 4)])
    assert rank_p_value(scores, inside) == pytest.approx(share, abs=0.01)


def test_counts_are_hypergeometric_in_fractions():
    n, marked, size, count = 30, 7, 9, 5
    ways = sum(comb(marked, k) * comb(n - marked, size - k) for k in range(count, marked + 1))
    assert count_p_value(count, size, marked, n) == pytest.approx(
        float(Fraction(ways, comb(n, size)))
    )
    assert count_p_value(0, 3, 0, 6) == 1.0


def test_holm_keeps_order_and_never_falls():
    assert corrected([]) == []
    assert corrected([0.2, 0.001, 0.02, 0.02]) == pytest.approx([0.2, 0.004, 0.06, 0.06])
    assert corrected([0.9, 0.8]) == [1.0, 1.0]
