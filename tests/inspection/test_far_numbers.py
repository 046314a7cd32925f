"""Numbers far outside their column, at any size, and columns whose tails only look like it."""

from __future__ import annotations

import numpy as np
import pytest

from shapley2d import inspect_cells
from shapley2d._inspection.columns.far import find_far
from shapley2d._inspection.columns.view import column_views
from shapley2d._tables.convert import as_table

CLEAN = {
    "log-normal": lambda rng, n: rng.lognormal(0, 2, n),
    "Pareto 1.2": lambda rng, n: rng.pareto(1.2, n),
    "Pareto 3": lambda rng, n: rng.pareto(3, n),
    "rare counts": lambda rng, n: rng.poisson(0.01, n),
    "counts": lambda rng, n: rng.negative_binomial(0.3, 0.02, n),
    "money": lambda rng, n: (rng.lognormal(8, 1, n) / 100).round() * 100,
    "exponential": lambda rng, n: rng.exponential(3, n).round(),
    "mostly zeros": lambda rng, n: np.where(rng.random(n) < 0.9, 0, rng.lognormal(0, 1, n)),
    "two groups": lambda rng, n: np.where(rng.random(n) < 0.05, 20, 0) + rng.normal(size=n),
    "two widths": lambda rng, n: np.where(rng.random(n) < 0.05, 10, 1) * rng.normal(size=n),
    "below zero": lambda rng, n: -rng.lognormal(0, 1, n),
}


def far(numbers):
    (column,) = column_views(as_table({"a": np.asarray(numbers, dtype=float)}))
    return list(find_far(column))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("n", "errors"), [(300, 1), (5000, 1), (5000, 60), (300_000, 60)])
def test_ages_times_ten_are_found_at_any_size(n, errors, sign):
    rng = np.random.default_rng(n + errors)
    ages = sign * rng.integers(18, 90, n)
    rows = np.sort(rng.choice(n, errors, replace=False))
    ages[rows] *= 10
    (found,) = far(ages)
    assert found.rows.tolist() == rows.tolist()
    assert found.row_chances.min() >= 0.9
    ends, named = ("18 to 89" if sign > 0 else "-89 to -18"), ("is" if errors == 1 else "are")
    assert f"of 'a' {named} far outside the others ({ends}), such as '" in found.text


def test_both_ends_are_looked_at_and_codes_are_left_out():
    numbers = np.append(np.random.default_rng(0).normal(100, 10, 500).round(1), [-900.0, 2000.0])
    (found,) = far(numbers)
    assert found.rows.tolist() == [500, 501]
    (column,) = column_views(as_table({"a": numbers}))
    assert [one.rows.tolist() for one in find_far(column, [501])] == [[500]]
    assert not far(numbers[-60:])  # too few to tell


@pytest.mark.parametrize("kind", CLEAN)
def test_tails_of_clean_columns_are_respected(kind):
    rng = np.random.default_rng(0)
    named = sum(sum(one.rows.size for one in far(CLEAN[kind](rng, 2000))) for _ in range(15))
    assert named <= 3  # 1 in 10,000


def test_tails_of_clean_columns_are_respected_in_a_table():
    rng = np.random.default_rng(2)
    kinds = [kind for kind in CLEAN if "two" not in kind and kind != "rare counts"]
    X = {kind: CLEAN[kind](rng, 1500) for kind in kinds}
    found = inspect_cells(X | {"age": rng.integers(18, 90, 1500)}, progress=False)
    assert (found.probability >= 0.5).mean() <= 1 / 400
    assert found._cells.standing_out.mean() <= 1 / 5000


@pytest.mark.parametrize("with_target", [False, True])
def test_their_probability_does_not_depend_on_how_few_they_are(with_target):
    rng = np.random.default_rng(1)
    X = {"age": rng.integers(18, 90, 1500), "size": rng.normal(size=1500).round(2)}
    X["age"][7] = 450
    y = rng.random(1500) < 0.1 if with_target else None
    found = inspect_cells(X, y, progress=False)
    assert found.probability[7, 0] >= 0.9
    assert found.findings[0].kind == "numbers far outside"
    assert found.rank(1)["row"].tolist() == [7]
    if with_target:
        assert found.label_probability.max() < 0.2  # the target is noise
        assert set(found.rank(None)["column"]) == {"age", "size"}
        assert set(found.rank(5, labels=True)["column"]) == {found.label_name}
