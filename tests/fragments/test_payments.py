"""Payments add up to the cent, best sets are the best, and what is saved can be read again."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tiny_fragments import tiny, value

from campaign.crafted import valuation_parts, write_valuation
from shapley2d import Valuation, value_game
from shapley2d._fragments.best_sets import best_for_cost, best_of_size
from shapley2d._fragments.payments import divide, payment_interval
from shapley2d.exceptions import InputError, InputWarning

V = value(*tiny())
NAMES = ["Bank", "Shop", "Office"]
numbers = st.floats(-10, 10) | st.sampled_from([0.0, 1e-300, 1.0, 1e300])


@given(values=st.lists(numbers, min_size=2, max_size=9), units=st.integers(1, 10**14))
def test_payments_add_up_and_nobody_pays(values, units):
    names = [f"c{k}" for k in range(len(values))]
    if max(values) <= 0:
        with pytest.raises(InputError, match="nobody is worth more than 0"):
            divide(units, values, names)
        return
    paid = divide(units, values, names)
    assert sum(paid) == units
    assert all(amount >= 0 for amount in paid)
    assert all(amount == 0 for amount, worth in zip(paid, values, strict=True) if worth <= 0)
    whole = sum(max(Fraction(one), 0) for one in values)
    for amount, worth in zip(paid, values, strict=True):
        assert abs(amount - units * max(Fraction(worth), 0) / whole) <= 1
    order = np.random.default_rng(len(values)).permutation(len(values))
    again = divide(units, [values[k] for k in order], [names[k] for k in order])
    assert again == [paid[k] for k in order]


def test_intervals_of_payments_hold_the_true_shares():
    random, dof = np.random.default_rng(0), 30
    truth = np.array([0.3, 0.2, 0.02, 0.0, -0.1])
    mixing = random.normal(size=(5, 5)) * 0.03
    covariance = mixing @ mixing.T
    shares = np.maximum(truth, 0) / np.maximum(truth, 0).sum()
    held = np.zeros(5)
    for _ in range(120):
        found = truth + mixing @ random.normal(size=5)
        own = covariance * random.chisquare(dof) / dof
        low, high = payment_interval(found, own, dof)
        held += (low <= shares + 1e-12) & (shares <= high + 1e-12)
    assert held.mean() / 120 >= 0.93
    assert (held / 120 >= 0.88).all()


def test_payments_are_a_frame_of_amounts_with_intervals():
    paid = V.payments(1000)
    assert list(paid) == ["owner", "value", "amount", "low", "high"]
    assert paid["owner"].tolist() == NAMES
    assert round(paid["amount"].sum() * 100) == 100_000
    assert (paid["low"] <= paid["amount"]).all()
    assert (paid["amount"] <= paid["high"]).all()
    np.testing.assert_array_equal(paid["value"], V.row_values)
    np.testing.assert_allclose(paid["amount"], 1000 * V.row_values / V.total, atol=0.01)


@pytest.mark.parametrize(
    ("amount", "message"),
    [
        (0, "must be a positive number"),
        (-1, "must be a positive number"),
        (float("nan"), "must be a positive number"),
        ("100", "must be a positive number"),
        (True, "must be a positive number"),
        (1.005, "has more than 2 decimals: round it"),
        (1e13, "is too large to divide to the cent: divide thousands instead"),
    ],
)
def test_amounts_that_cannot_be_divided(amount, message):
    with pytest.raises(InputError, match=message):
        V.payments(amount)


def test_without_a_validation_table_payments_need_trust():
    fragments, y, _ = tiny()
    with pytest.warns(InputWarning, match="there is no validation table"):
        v = value(fragments, y, None, cv=2)
    with pytest.raises(InputError, match=r"rows that one of them invents vouch for each other.*trusted=True"):  # fmt: skip
        v.payments(100)
    assert v.payments(100, trusted=True)["amount"].sum() == pytest.approx(100)


def best(sets, scores, allowed):
    return max(scores[k] for k in range(len(sets)) if allowed[k])


@given(seed=st.integers(0, 1000))
def test_best_sets_are_those_of_all_sets(seed):
    random = np.random.default_rng(seed)
    sets = (np.arange(1, 16)[:, None] >> np.arange(4) & 1).astype(bool)
    scores, costs = random.normal(size=15).round(1), random.integers(0, 4, 4).astype(float)
    found = best_of_size(sets, scores)
    assert sets[found].sum(axis=1).tolist() == [1, 2, 3, 4]
    for k in found:
        assert scores[k] == best(sets, scores, sets.sum(axis=1) == sets[k].sum())
    price, budget = sets @ costs, float(random.integers(0, 9))
    found = best_for_cost(sets, scores, costs, budget)
    if not (price <= budget).any():
        assert not found.size
        return
    assert (price[found] <= budget).all()
    assert scores[found[-1]] == best(sets, scores, price <= budget)
    for k in found:  # no set as cheap is better, none as good is cheaper
        assert scores[k] == best(sets, scores, price <= price[k])
        assert not ((price < price[k]) & (scores >= scores[k])).any()


def test_best_sets_are_a_frame_with_what_they_lose():
    found = V.best_sets()
    assert found["size"].tolist() == [1, 2, 3]
    assert found["contributors"].iloc[-1] == "Bank, Shop, Office"
    assert found["score"].iloc[-1] == pytest.approx(V.total)
    assert found["lost"].iloc[-1] == found["lost_high"].iloc[-1] == 0
    assert found["score"].iloc[0] == V.alone.max()
    assert ((found["low"] <= found["score"]) & (found["score"] <= found["high"])).all()
    assert ((found["lost_low"] <= found["lost"]) & (found["lost"] <= found["lost_high"])).all()
    costs = {"Office": 3, "Bank": 1.5, "Shop": 2}
    bought = V.best_sets(costs, budget=3.5)
    assert (bought["cost"] <= 3.5).all()
    assert bought["score"].is_monotonic_increasing
    assert V.best_sets([1.5, 2, 3], 3.5).equals(bought)


@pytest.mark.parametrize(
    ("costs", "budget", "message"),
    [
        ({"Bank": 1, "Shop": 1, "Ofice": 1}, None, r"names 'Ofice', who is no contributor \(did you mean 'Office'\?\)"),
        ({"Bank": 1, "Shop": 1}, None, "costs has no cost for 'Office'"),
        ({"Bank": 1, "Shop": 1, "Office": -1}, None, "the cost of 'Office' is -1, not a number from 0 on"),
        ([1, 2], None, "costs has 2 entries for 3 contributors"),
        ([1, 2, "3"], None, "the cost of 'Office' is '3'"),
        (None, 5, "budget needs costs: what each contributor costs"),
        ([1, 2, 3], 0.5, "budget=0.5 pays for nobody: the cheapest costs 1"),
        ([1, 2, 3], -1, "budget=-1 must be a number from 0 on"),
    ],
)  # fmt: skip
def test_costs_that_do_not_fit(costs, budget, message):
    with pytest.raises(InputError, match=message):
        V.best_sets(costs, budget)


@pytest.mark.parametrize("by", ["contributor", "column"])
def test_a_valuation_of_fragments_is_saved_with_all_it_knows(by, tmp_path):
    v = value(*tiny(), by=by)
    v.save(tmp_path / "v.parquet")
    read = Valuation.load(tmp_path / "v.parquet")
    assert read == v
    assert read.payments(100).equals(v.payments(100))
    assert read.best_sets().equals(v.best_sets())
    assert repr(read) == repr(v)
    for name, known in vars(v._fragments).items():
        again = getattr(read._fragments, name)
        if isinstance(known, np.ndarray):
            np.testing.assert_array_equal(again, known)
            assert again.dtype == known.dtype
        else:
            assert again == known
    np.testing.assert_array_equal(read.alone, v.alone)
    np.testing.assert_array_equal(read.without, v.without)


DAMAGE = [
    {"arrays": {"union": None}}, {"arrays": {"union": [1, 2]}}, {"arrays": {"union": [1, 2, "x"]}},
    {"arrays": {"union": [1, 2, 1e999]}}, {"arrays": {"sets": None}}, {"arrays": {"sets": [[1], [0, 1]]}},
    {"arrays": {"sets": [[1, 1, 1]] * 7}},
    {"baseline": []}, {"baseline": float("nan")}, {"arrays": 3},
    {"columns": 3}, {"files": 3}, {"labels": None}, {"score": 3}, {"n_rows": "x"},
    {"question": []},
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE, ids=str)
def test_a_record_that_somebody_changed_is_refused(damage, tmp_path):
    path = tmp_path / "v.parquet"
    V.save(path)
    record, table = valuation_parts(path)
    arrays = damage.get("arrays")
    kept = record["fragments"]["arrays"]
    changed = {"arrays": {**kept, **arrays}} if isinstance(arrays, dict) else damage
    record["fragments"].update(changed)
    write_valuation(path, record, table)
    with pytest.raises(InputError, match=r"v\.parquet"):
        Valuation.load(path)


def test_what_other_methods_of_the_result_do():
    assert V.lowest(1)["row"].tolist() == [NAMES[int(np.argmin(V.row_values))]]
    assert V.to_frame()["row"].tolist() == NAMES
    assert V.to_frame()["column"].tolist() == ["all columns"] * 3
    sums = V.sum_by(["North", "South", "North"])
    assert sums.total == pytest.approx(V.total) if hasattr(sums, "total") else len(sums) == 2
    text = repr(V)
    assert "Valuation of 3 contributors of 30 rows x 3 columns" in text
    assert "all 7 sets of contributors" in text
    assert all(name in text for name in NAMES)


@pytest.mark.parametrize(
    "ask", [lambda v: v.payments(1), lambda v: v.best_sets(), lambda v: v.alone, lambda v: v.without, lambda v: v.receipt()]
)  # fmt: skip
def test_other_valuations_have_no_contributors(ask):
    v = value_game(lambda S, F: S.sum() * F.sum(), 2, 2)
    with pytest.raises(
        InputError, match="of contributors come with value_fragments: these are values"
    ):
        ask(v)
