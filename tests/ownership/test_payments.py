"""Payments: to the cent for any total, with rules for negative values and calibrated intervals."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from shapley2d import InputError
from shapley2d._ownership.owners import UNOWNED
from shapley2d._ownership.payments import divide_total, payment_intervals, uncertain_pairs
from shapley2d._results.blocks import BlockValuation

finite = st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=False)
cents = st.integers(1, 10**11)


def exact_sum(amounts):
    return sum(Decimal(repr(amount)) for amount in amounts)


@given(units=cents, values=st.lists(finite, min_size=1, max_size=12), digits=st.integers(0, 3))
def test_amounts_sum_to_the_total_without_a_remainder(units, values, digits):
    assume(max(values) > 0)
    total = units / 10**digits
    amounts = divide_total(total, values, digits=digits)
    assert exact_sum(amounts) == Decimal(units).scaleb(-digits)
    assert all(amount == 0 for amount, value in zip(amounts, values, strict=True) if value <= 0)
    positive = sum(value for value in values if value > 0)
    for amount, value in zip(amounts, values, strict=True):
        assert (
            abs(amount - total * max(value, 0) / positive) <= 1.000001 / 10**digits + 1e-9 * total
        )


@example(units=17179934468, values=[475693.0, -475692.0])
@given(units=cents, values=st.lists(finite, min_size=1, max_size=12))
def test_what_negative_values_owe_sums_to_the_total_too(units, values):
    assume(sum(values) > 1e-3)
    amounts = divide_total(units / 100, values, negative="owe")
    rounding = Decimal(float(np.spacing(np.abs(amounts)).sum()))  # large amounts have no cents
    assert abs(exact_sum(amounts) - Decimal(units).scaleb(-2)) <= rounding
    for amount, value in zip(amounts, values, strict=True):
        assert amount <= 0.01 if value < 0 else amount >= 0


@pytest.mark.parametrize("total", [0.01, 0.07, 100, 99.99, 1000 / 3, 123456789.01, 1e12])
def test_awkward_totals(total):
    amounts = divide_total(total, [1 / 3, 1 / 3, 1 / 3 + 1e-17, 1e-9, -0.2])
    assert exact_sum(amounts) == Decimal(repr(total)).quantize(Decimal("0.01"))


def test_left_over_units_go_to_the_largest_remainders_and_the_first_of_equals():
    assert divide_total(0.05, [1, 1, 1]) == [0.02, 0.02, 0.01]
    assert divide_total(10, [0.26, 0.26, 0.48], digits=0) == [3, 2, 5]


@pytest.mark.parametrize("total", [0, -5, float("nan"), float("inf"), "100", None, True, 0.001])
def test_totals_that_cannot_be_paid(total):
    with pytest.raises(InputError, match="total="):
        divide_total(total, [1.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"values": [-1.0, 0.0]}, "no value is above 0"),
        ({"values": [1.0, -2.0], "negative": "owe"}, "sum to 0 or less"),
        ({"values": [1.0, np.nan]}, "not finite"),
        ({"values": [1.0], "negative": "shame"}, "negative='shame'"),
        ({"values": [1.0], "digits": -1}, "digits=-1"),
        ({"values": [1.0], "digits": 2.0}, "digits=2.0"),
    ],
)
def test_divisions_that_make_no_sense(options, message):
    with pytest.raises(InputError, match=message):
        divide_total(100, **options)


def test_intervals_cover_the_amounts_of_the_true_values():
    random = np.random.default_rng(1)
    truth, root = (
        np.array([0.3, 0.2, 0.1]),
        np.array([[0.02, 0, 0], [-0.01, 0.02, 0], [0, -0.01, 0.01]]),
    )
    amounts = np.array(divide_total(100, truth))
    inside = np.zeros(3)
    for _ in range(200):
        estimate = truth + root @ random.standard_normal(3)
        low, high = payment_intervals(100, estimate, root @ root.T)
        inside += (low <= amounts) & (amounts <= high)
    assert (inside >= 0.9 * 200).all() and (inside < 200).any()


def test_an_interval_reaches_above_0_where_the_amount_is_0():
    low, high = payment_intervals(100, np.array([1.0, -0.01]), np.diag([1e-4, 1e-2]))
    assert low[1] == 0 < high[1] < 30 and high[0] == 100


def valuation(values, names=None, covariance=None, stderr=0.0):
    values = np.array([values])
    shares = None if names is None else np.eye(values.size)[:, None, :]
    return BlockValuation(
        values,
        np.full(values.shape, stderr),
        np.array(["all"], dtype=object),
        [f"c{j}" for j in range(values.size)],
        owner_names=names or [],
        owner_shares=shares,
        covariance=covariance,
    )


def test_payments_of_owners_and_of_blocks():
    owned = valuation([0.6, 0.2, 0.1], ["A", "B", UNOWNED]).payments(100)
    assert list(owned.columns) == ["owner", "value", "amount", "low", "high"]
    assert owned.to_numpy().tolist() == [
        ["A", 0.6, 75.0, 75.0, 75.0],
        ["B", 0.2, 25.0, 25.0, 25.0],
        [UNOWNED, 0.1, 0.0, 0.0, 0.0],
    ]
    blocks = valuation([0.6, 0.2]).payments(1)
    assert blocks["owner"].tolist() == ["all / c0", "all / c1"] and blocks["amount"].tolist() == [
        0.75,
        0.25,
    ]
    owing = valuation([0.6, -0.2], ["A", "B"]).payments(100, negative="owe")
    assert owing["amount"].tolist() == [150.0, -50.0]


def test_no_one_to_pay():
    with pytest.raises(InputError, match="no block has an owner"):
        valuation([1.0], [UNOWNED]).payments(10)


def test_errors_that_cancel_make_intervals_narrow():
    together = np.full((2, 2), 0.01)  # both rise and fall as one: the shares stay
    v = valuation([0.5, 0.5], ["A", "B"], together)
    assert v.payments(100)[["low", "high"]].to_numpy().ravel() == pytest.approx([50.0] * 4)
    apart = np.array([[0.01, -0.01], [-0.01, 0.01]])
    wide = valuation([0.5, 0.5], ["A", "B"], apart).payments(100)
    assert (wide["high"] - wide["low"] > 30).all()


def test_it_says_which_order_is_not_certain():
    v = valuation([0.5, 0.48, 0.1], ["A", "B", "C"], np.diag([1e-3, 1e-3, 1e-3]))
    pairs = v.uncertain_orders()
    assert pairs[["owner", "other"]].to_numpy().tolist() == [["A", "B"]]
    assert pairs["low"][0] < 0 < pairs["high"][0]
    assert "order not certain: A / B" in repr(v)
    exact = valuation([0.5, 0.5, 0.1], ["A", "B", "C"])
    assert len(exact.uncertain_orders()) == 0 and "not certain" not in repr(exact)


def test_uncertain_pairs_use_the_covariance():
    values = np.array([1.0, 1.1])
    assert (
        uncertain_pairs(values, np.full((2, 2), 1.0))[0].size == 0
    )  # the difference is known for sure
    assert uncertain_pairs(values, np.array([[1.0, -1.0], [-1.0, 1.0]]))[0].size == 1


def test_unknown_errors_are_refused():
    v = valuation([0.5, 0.5], ["A", "B"], np.diag([np.inf, np.inf]))
    with pytest.raises(InputError, match="two permutations"):
        v.payments(10)


def test_the_owners_frame():
    v = valuation([0.5, 0.1], ["A", "B"], np.diag([0.04, 0.01]))
    expected = pd.DataFrame(
        {"owner": ["A", "B"], "value": [0.5, 0.1], "stderr": [0.2, 0.1], "n_cells": [1.0, 1.0]}
    )
    pd.testing.assert_frame_equal(v.owners, expected)


@pytest.mark.parametrize(
    "total", [10**30, 10**400, 10**5000, 1e308, Decimal("1e999999"), 10**16], ids=range(6)
)
def test_amounts_whose_cents_no_number_can_tell_are_refused(total):
    with pytest.raises(
        InputError, match=r"^total=.* (is too large to divide|must be a positive number)"
    ):
        divide_total(total, [1.0, 2.0])


def test_the_largest_amounts_are_divided_to_the_cent():
    parts = divide_total(90_000_000_000_000, [1.0, 1.0, 1.0])
    assert sum(round(100 * part) for part in parts) == 9_000_000_000_000_000


class Unspeakable:
    def __repr__(self):
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "total",
    [Unspeakable(), "100", True, None, [100], 1j, float("nan"), Decimal("sNaN")],
    ids=range(8),
)
def test_what_is_no_amount_is_refused(total):
    with pytest.raises(InputError, match=r"^total=.* must be a positive number"):
        divide_total(total, [1.0, 2.0])


def test_a_sum_that_may_be_0_is_not_divided():
    values, errors = np.array([1.0, -0.9]), np.diag([0.04, 0.04])
    with pytest.raises(InputError, match="may be 0 or less, so nobody can be paid in proportion"):
        payment_intervals(100, values, errors, negative="owe")
    low, high = payment_intervals(100, values, errors, negative="zero")
    assert low[0] > 90 and high[0] == 100


def test_draws_with_nothing_to_share_widen_the_interval():
    """They were left out: the low ends of those who owe most were too high."""
    values, errors = np.array([1.2, -0.2]), np.diag([0.15, 0.05])
    low, high = payment_intervals(100, values, errors, negative="owe")
    random = np.random.default_rng(1)
    draws = values + random.normal(size=(200_000, 2)) * np.sqrt(np.diag(errors))
    whole = draws.sum(axis=1)
    beyond = np.where(whole > 0, 100 * draws[:, 1] / whole, -np.inf)
    assert np.mean(beyond < low[1]) == pytest.approx(0.025, abs=0.004)
    assert high[0] > 100 - low[1] - 1
