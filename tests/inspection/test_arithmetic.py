"""Rules of arithmetic between columns: found with their exceptions, and not where there is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapley2d import inspect_cells
from shapley2d._inspection.columns.arithmetic import find_arithmetic
from shapley2d._inspection.columns.view import column_views
from shapley2d._tables.convert import as_table

N = 400


def find(columns):
    return list(find_arithmetic(column_views(as_table(columns))))


def sales(percent):
    random = np.random.default_rng(3)
    price = random.choice(np.round(random.uniform(3, 90, 30), 2), N)
    quantity, less = random.integers(1, 30, N), random.choice([0, 5, 10, 25], N)
    net = np.round(price * quantity * (1 - less / 100), 2)
    freight = np.round(random.uniform(4, 60, N), 2)
    return {
        "price": price,
        "quantity": quantity,
        "less": less if percent else less / 100,
        "net": net,
        "freight": freight,
        "gross": np.round(net + freight, 2),
    }


@pytest.mark.parametrize("percent", [True, False])
@pytest.mark.parametrize(
    ("column", "wrong"),
    [
        ("net", lambda x: 10 * x),
        ("quantity", lambda x: x + 40),
        ("less", lambda x: 1 - x if x < 1 else 100 - x),
        ("price", lambda x: x + 100),
        ("gross", lambda x: -x),
        ("freight", lambda x: 10 * x),
    ],
)
def test_the_entry_that_broke_a_rule_is_blamed_and_computed(column, wrong, percent):
    table = sales(percent)
    right = {i: float(table[column][i]) for i in (7, 90, 301)}
    table[column] = table[column].astype(float)
    for i, one in right.items():
        table[column][i] = wrong(one)
    likely = {
        (one.columns[0], i): float(one.suggestions[i])
        for one in find(table)
        for i, chance in zip(one.rows.tolist(), one.row_chances, strict=True)
        if chance >= 0.5
    }
    assert likely == {(column, i): pytest.approx(one) for i, one in right.items()}


def test_what_a_rule_gives_comes_before_a_slip():
    table = sales(percent=True)
    row = int(np.flatnonzero(table["less"] == 0)[0])
    table["less"][row] = 100  # a digit too many of 10, but then the rule would not hold
    found = inspect_cells(table, progress=False)
    place = found.column_names.index("less")
    assert found._cells.expected_text(row, place) == "0"


def test_a_rule_is_named_and_fills_an_empty_cell():
    table = pd.DataFrame(sales(percent=True))
    table.loc[5, "net"], table.loc[9, "quantity"] = 1.0, None
    text = "'net' = 'price' x 'quantity' x (1 - 'less' / 100), except in 1 row of 399: "
    about = [one for one in find(table) if one.text.startswith(text)]
    assert [one.columns[0] for one in about] == ["quantity", "net"]
    assert about[0].suggestions == {9: str(sales(percent=True)["quantity"][9])}
    assert about[0].probability < 0.5 < about[1].probability
    found = inspect_cells(table, progress=False)
    assert found.probability[5, 3] >= 0.9
    clean, _ = found.repair(table, probability=0.9)
    assert clean["net"][5] == sales(percent=True)["net"][5]


@settings(max_examples=20, deadline=None)
@given(
    st.integers(0, 10_000), st.integers(3, 7), st.sampled_from(["small", "money", "binary", "same"])
)
def test_random_tables_have_no_rules(seed, width, kind):
    random = np.random.default_rng(seed)
    n = int(random.integers(30, 300))
    columns = {
        "small": lambda: random.integers(0, 6, n),
        "money": lambda: np.round(random.lognormal(3, 1, n), 2),
        "binary": lambda: (random.random(n) < 0.1).astype(int),
        "same": lambda: np.where(random.random(n) < 0.97, 1, random.integers(0, 9, n)),
    }
    assert find({f"c{k}": columns[kind]() for k in range(width)}) == []


@settings(max_examples=5, deadline=None)
@given(st.integers(0, 10_000))
def test_a_rule_with_a_few_exceptions_is_found_in_every_order_of_columns(seed):
    random = np.random.default_rng(seed)
    table = sales(percent=True)
    table["net"][:8] += 50
    names = random.permutation(list(table)).tolist()
    found = find({name: table[name] for name in names})
    rows = {i for one in found for i in one.rows.tolist()}
    assert rows == set(range(8)) and all(" = " in one.text for one in found)


def test_a_constant_times_another_column_and_exceptions_that_agree_with_each_other():
    random = np.random.default_rng(5)
    rent = np.round(random.uniform(300, 2400, N), 2)
    deposit = np.round(3 * rent, 2)
    deposit[:15] = np.round(2 * rent[:15], 2)  # another rule
    table = {"rent": rent, "deposit": deposit, "rooms": random.integers(1, 6, N)}
    assert not [one for one in find(table) if max(one.row_chances) >= 0.3]
    meant = deposit[[30, 40, 50]].tolist()
    deposit[[30, 40, 50]] = [round(x, 2) for x in (10 * meant[0], meant[1] / 10, meant[2] / 10)]
    (found,) = find(table)
    assert found.text.startswith("'deposit' = 3 x 'rent', except in 18 rows of 400: ")
    assert found.columns == ("deposit", "rent") and found.row_chances.min() > 0.9
    assert {i: float(one) for i, one in found.suggestions.items()} == dict(
        zip((30, 40, 50), meant, strict=True)
    )


def test_a_sum_of_three_and_no_entry_far_from_its_column_is_suggested():
    random = np.random.default_rng(6)
    parts = {name: random.poisson(mean, N) for name, mean in zip("abc", (12, 40, 5), strict=True)}
    table = {**parts, "total": sum(parts.values()), "other": random.poisson(9, N)}
    assert find(table) == []
    right = int(table["b"][7])
    table["b"][7] = 10 * right
    likely = [one for one in find(table) if max(one.row_chances) >= 0.5]
    assert [(one.columns[0], one.suggestions) for one in likely] == [("b", {7: str(right)})]
    table["total"][7] = 3  # less than any part
    new = [float(text) for one in find(table) for text in one.suggestions.values()]
    assert min(new) >= 0


def test_one_date_is_not_before_the_other():
    random = np.random.default_rng(0)
    start = np.datetime64("2024-01-01") + random.integers(0, 500, N)
    end = start + random.integers(0, 20, N)
    table = {"start": start.copy(), "end": end.copy(), "other": random.permutation(start)}
    assert find(table) == []
    table["end"][3] = np.datetime64("1924-05-05")
    (found,) = find(table)
    assert found.columns == ("end", "start") and found.rows.tolist() == [3]
    table["start"][50], table["end"][50] = end[50] + np.timedelta64(3, "D"), start[50]
    rows = {one.columns[0]: one.rows.tolist() for one in find(table)}
    assert rows == {"start": [50], "end": [3, 50]}  # which of the two is wrong nobody knows
