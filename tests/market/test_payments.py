"""Payments: to the cent for any total, with rules for negative values and calibrated intervals."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from shapley2d import InputError
from shapley2d._market.block_valuation import BlockValuation
from shapley2d._market.cell_sums import JointErrors
from shapley2d._market.owners import UNOWNED
from shapley2d._market.payments import divide_total, payment_intervals, uncertain_pairs
from shapley2d.exceptions import InputWarning, PrecisionWarning

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
        off = abs(amount - total * max(value, 0) / positive)
        assert off <= 1.000001 / 10**digits + 1e-9 * total


@example(units=17179934468, values=[475693.0, -475692.0])
@given(units=cents, values=st.lists(finite, min_size=1, max_size=12))
def test_what_negative_values_owe_sums_to_the_total_too(units, values):
    assume(sum(values) > 1e-3)
    amounts = divide_total(units / 100, values, negative="owe")
    rounding = Decimal(float(np.spacing(np.abs(amounts)).sum()))  # large amounts have no cents
    assert abs(exact_sum(amounts) - Decimal(units).scaleb(-2)) <= rounding
    for amount, value in zip(amounts, values, strict=True):
        assert amount <= 0 if value < 0 else amount >= 0


@pytest.mark.parametrize("total", [Decimal("10.005"), 10.005, 0.001, Decimal("1e-1000")])
def test_amounts_with_more_decimals_are_refused_not_cut(total):
    with pytest.raises(
        InputError, match=r"^pay=.* has more than 2 decimals: round it, or set digits"
    ):
        divide_total(total, [1.0, 2.0])


def quotas(total, values, digits=2):
    """Exact shares in units of the last digit."""
    parts = [Fraction(value) for value in values]
    return [round(total * 10**digits) * part / sum(parts) for part in parts]


@given(units=cents, values=st.lists(st.integers(1, 50), min_size=1, max_size=12))
def test_every_amount_is_its_share_rounded_down_or_up(units, values):
    amounts = divide_total(units / 100, values)
    for amount, quota in zip(amounts, quotas(Fraction(units, 100), values), strict=True):
        assert round(100 * amount) in (math.floor(quota), math.ceil(quota))


@given(
    units=st.integers(1, 10**6),
    values=st.lists(st.sampled_from([1.0, 2.0, 2.5, -1.0]), min_size=1, max_size=9),
    data=st.data(),
)
def test_nobody_gains_by_being_listed_first(units, values, data):
    assume(sum(values) > 0)
    names = [f"owner {k}" for k in range(len(values))]
    order = data.draw(st.permutations(range(len(values))))
    for negative in ("zero", "owe"):
        listed = divide_total(units / 100, values, names=names, negative=negative)
        moved, called = [values[k] for k in order], [names[k] for k in order]
        again = divide_total(units / 100, moved, names=called, negative=negative)
        assert [listed[k] for k in order] == again


@given(
    honest=st.lists(st.integers(1000, 2000), min_size=1, max_size=60),
    mine=st.integers(1, 3000),
    parts=st.integers(2, 100),
    units=st.sampled_from([1, 7, 100, 101, 5000]),
)
def test_shells_smaller_than_every_other_owner_get_their_share_rounded(honest, mine, parts, units):
    parts = max(parts, mine // min(honest) + 1)
    shells = [Fraction(mine, parts)] * parts
    whole = [float(1_000_000 * one) for one in (*honest, *shells)]
    assume(max(whole[len(honest) :]) < min(whole[: len(honest)]))
    paid = sum(round(100 * amount) for amount in divide_total(units / 100, whole)[len(honest) :])
    share = sum(quotas(Fraction(units, 100), whole)[len(honest) :])
    assert paid in (math.floor(share), math.ceil(share))


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
    truth = np.array([0.3, 0.2, 0.1])
    root = np.array([[0.02, 0, 0], [-0.01, 0.02, 0], [0, -0.01, 0.01]])
    amounts = np.array(divide_total(100, truth))
    inside = np.zeros(3)
    for _ in range(200):
        estimate = truth + root @ random.standard_normal(3)
        low, high = payment_intervals(100, estimate, JointErrors.of(root @ root.T))
        inside += (low <= amounts) & (amounts <= high)
    assert (inside >= 0.9 * 200).all() and (inside < 200).any()


def test_an_interval_reaches_above_0_where_the_amount_is_0():
    low, high = payment_intervals(
        100, np.array([1.0, -0.01]), JointErrors.of(np.diag([1e-4, 1e-2]))
    )
    assert low[1] == 0 < high[1] < 30 and high[0] == 100


def valuation(values, names=None, covariance=None, stderr=0.0):
    values = np.array([values])
    shares = None if names is None else np.eye(values.size)[:, None, :]
    return BlockValuation(
        values,
        np.full(values.shape, stderr),
        np.array(["all"], dtype=object),
        [f"c{j}" for j in range(values.size)],
        _owner_names=names or [],
        _owner_shares=shares,
        _errors=None if covariance is None else JointErrors.of(covariance),
    )


def test_payments_of_owners_and_of_blocks():
    owned = valuation([0.6, 0.2, 0.1], ["A", "B", UNOWNED]).payments(100)
    assert list(owned.columns) == ["owner", "value", "amount", "low", "high"]
    assert owned[["owner", "value", "amount"]].to_numpy().tolist() == [
        ["A", 0.6, 75.0],
        ["B", 0.2, 25.0],
        [UNOWNED, 0.1, 0.0],
    ]
    assert owned[["low", "high"]].isna().all(axis=None)  # nothing is known about their errors
    blocks = valuation([0.6, 0.2]).payments(1)
    assert blocks["owner"].tolist() == ["c0", "c1"]
    assert blocks["amount"].tolist() == [0.75, 0.25]


def test_debts_are_promised_to_the_others():
    v = valuation([0.6, 0.2, -0.3], ["A", "B", "C"])
    with pytest.warns(
        InputWarning, match=r"^'C' owes 60.00, and the others are promised 160.00, .*than the total"
    ):
        owing = v.payments(100, negative="owe")
    assert owing["amount"].tolist() == [120.0, 40.0, -60.0]


def test_a_debt_that_may_be_due_to_chance_is_warned_of():
    v = valuation([0.8, -0.1], ["A", "B"], np.diag([1e-4, 4e-3]))
    with (
        pytest.warns(InputWarning, match="'B' owes"),
        pytest.warns(
            PrecisionWarning,
            match="^the 95 % interval of 'B' holds 0: its debt may be due to chance",
        ),
    ):
        paid = v.payments(100, negative="owe")
    assert paid["low"][1] < -30


def many(k, error=0.02, seed=0, harmful=0):
    """More owners than a covariance matrix is kept for; one error moves all of them."""
    random = np.random.default_rng(seed)
    values = random.uniform(0.5, 1.5, k) / k
    values[:harmful] *= -1e-3
    return BlockValuation(
        values[:, None], np.zeros((k, 1)), np.arange(k), ["all"],
        info={"parties": "anonymous"}, _owner_names=[f"o{j}" for j in range(k)],
        _owner_shares=np.eye(k)[:, :, None], _owner_values=values,
        _errors=JointErrors(np.zeros(k), error * random.normal(size=(9, k)) / k, 9),
    )  # fmt: skip


def test_any_number_of_owners_has_intervals_as_a_covariance_gives_them():
    v = many(300)
    paid = v.payments(1000, negative="owe")
    whole = JointErrors.of(v._errors.spread.T @ v._errors.spread, 9)
    twin = payment_intervals(1000, v._owner_values, whole, negative="owe")
    for end, other in zip((paid["low"], paid["high"]), twin, strict=True):
        assert np.abs(end - other).max() < 0.05 * (paid["high"] - paid["low"]).mean() + 0.01
    assert (paid["high"] > paid["low"]).all()
    np.testing.assert_allclose(v.owners["stderr"] ** 2, (v._errors.spread**2).sum(axis=0))


def test_chance_and_debts_among_many_owners_are_warned_of():
    v = many(300, error=1.0, harmful=20)
    with (
        pytest.warns(
            PrecisionWarning, match="'o20', 'o21', 'o22' and .* their payments may be due"
        ),
        pytest.warns(PrecisionWarning, match="'o0', 'o1', 'o2' and 17 more hold 0: their debts"),
        pytest.warns(InputWarning, match="'o0', 'o1', 'o2' and 17 more owe"),
    ):
        v.payments(100_000, negative="owe")
    unsure = many(300, error=200.0)
    with pytest.raises(InputError, match="which may be 0 or less, so nobody can be paid"):
        unsure.payments(100, negative="owe")
    assert "and 288 more" in repr(v)


def test_payments_by_the_owners_own_rows_need_trust():
    v = valuation([0.6, 0.2], ["A", "B"])
    for info in ({"folds": 5, "n_valid": 40}, {"n_valid": 0, "folds": None}):
        crossed = dataclasses.replace(v, info=info)
        with pytest.raises(InputError, match=r"invents vouch for each other: .* trusted=True"):
            crossed.payments(100)
        assert crossed.payments(100, trusted=True)["amount"].tolist() == [75.0, 25.0]
    tested = dataclasses.replace(v, info={"n_valid": 40, "folds": None})
    assert tested.payments(100)["amount"].tolist() == [75.0, 25.0]
    with pytest.raises(InputError, match="trusted='yes' must be True or False"):
        v.payments(100, trusted="yes")


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
    together, apart = np.full((2, 2), 1.0), np.array([[1.0, -1.0], [-1.0, 1.0]])
    # of errors that both share, the difference is known for sure
    for errors, count in ((together, 0), (apart, 1)):
        assert uncertain_pairs(values, JointErrors.of(errors))[0].size == count


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
        InputError, match=r"^pay=.* (is too large to divide|must be a positive number)"
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
    [Unspeakable(), "100", True, None, [100], 1j, float("nan"), Decimal("sNaN"), 0, -5, np.inf],
    ids=range(11),
)
def test_what_is_no_amount_is_refused(total):
    with pytest.raises(InputError, match=r"^pay=.* must be a positive number"):
        divide_total(total, [1.0, 2.0])


def test_a_sum_that_may_be_0_is_not_divided():
    values, errors = np.array([1.0, -0.9]), JointErrors.of(np.diag([0.04, 0.04]))
    with pytest.raises(InputError, match="may be 0 or less, so nobody can be paid in proportion"):
        payment_intervals(100, values, errors, negative="owe")
    low, high = payment_intervals(100, values, errors, negative="zero")
    assert low[0] > 90 and high[0] == 100


def test_draws_with_nothing_to_share_widen_the_interval():
    """They were left out: the low ends of those who owe most were too high."""
    values, errors = np.array([1.2, -0.2]), JointErrors.of(np.diag([0.15, 0.05]))
    low, high = payment_intervals(100, values, errors, negative="owe")
    random = np.random.default_rng(1)
    draws = values + random.normal(size=(200_000, 2)) * errors.stderr
    whole = draws.sum(axis=1)
    beyond = np.where(whole > 0, 100 * draws[:, 1] / whole, -np.inf)
    assert np.mean(beyond < low[1]) == pytest.approx(0.025, abs=0.004)
    assert high[0] > 100 - low[1] - 1


def test_nobody_is_paid_less_than_nothing_or_more_than_all():
    """Draws with nothing to share made the interval of a payment infinite."""
    values, errors = np.array([0.1, -0.1]), JointErrors.of(np.diag([0.1, 0.1]))
    low, high = payment_intervals(100, values, errors)
    assert low.tolist() == [0.0, 0.0] and high.tolist() == [100.0, 100.0]
