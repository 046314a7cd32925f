"""Exact or fast: the bound that decides is one, and what it decides."""

from __future__ import annotations

import numpy as np
import pytest

from shapley2d import value_cells
from shapley2d._knn import form
from shapley2d._knn.distances import IntegerColumns
from shapley2d._knn.metric import integer_columns
from shapley2d._knn.rows import RowValues
from shapley2d._tables.problem import make_problem

RNG = np.random.default_rng(0)
N = 2000
X = np.column_stack([RNG.normal(size=(N, 3)), RNG.integers(0, 4, (N, 2))])
Y = (X[:, 0] + X[:, 3] + RNG.normal(size=N) > 1).astype(int)
X_VALID = np.column_stack([RNG.normal(size=(40, 3)), RNG.integers(0, 4, (40, 2))])
Y_VALID = (X_VALID[:, 0] + X_VALID[:, 3] > 1).astype(int)


def rows(bits=64, **options):
    (split,) = make_problem(X, Y, X_VALID, Y_VALID).splits
    columns = integer_columns(split.train, split.valid, bits=bits)
    return RowValues(
        columns, split.y.codes, split.y_valid.codes, task="classification", n_neighbors=5, **options
    )


@pytest.mark.parametrize("share", [1e-2, 1e-3])
def test_average_bound_holds_row_by_row(share):
    """Averaged over the very sample that is evaluated, no row is off by more than the bound."""
    exact, fast = rows(form="exact"), rows(form="fast", share=share)
    coalitions = RNG.random((6, 5)) < 0.6
    sample = [(t, coalition) for t in range(40) for coalition in coalitions]
    off = np.abs((fast.values(coalitions) - exact.values(coalitions)).mean(axis=0)).max()
    (bound,) = exact.average_bounds(np.array([share]), sample)
    assert 0 < off <= bound
    assert bound < fast.error_bound() == share / 5


def test_bounds_shrink_with_the_share():
    sample = [(t, np.ones(5, dtype=bool)) for t in range(40)]
    bounds = rows().average_bounds(form.SHARES, sample)
    assert (np.diff(bounds) < 0).all()


def choose(allowed):
    fine, coarse = rows(form="fast"), rows(form="fast", bits=32)
    return form.choose_form([fine], [coarse], [fine.columns], allowed, 0)


def test_choice_of_the_form():
    """The less may change, the finer the bins; then 64 bits; then all rows are ranked."""
    loose = choose(np.inf)
    assert loose[:2] == (32, form.SHARES[0])
    assert loose.rounding_bound > 0
    tighter = choose(loose.form_bound / 4 + loose.rounding_bound)
    assert tighter.bits == 32
    assert tighter.share < loose.share
    finest = choose(loose.rounding_bound)
    assert finest.bits == 64
    assert finest.rounding_bound < loose.rounding_bound / 100
    exact = choose(0.0)
    assert exact.share is None
    assert exact.form_bound == 0
    assert exact.rounding_bound == finest.rounding_bound


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_rounding_changes_no_more_than_its_bound(task):
    """Codes far too coarse, against codes that are fine: averaged over the very sample that is evaluated."""
    rng = np.random.default_rng(3)
    n, m = 300, 4
    fine = rng.integers(0, 1000, (m, n + 20))
    coarse = fine // 40
    none, one = np.zeros(m, dtype=np.int64), np.ones(m, dtype=np.int64)

    def table(codes, factor):
        codes = codes.astype(np.int64)
        return IntegerColumns(codes[:, :n], codes[:, n:], none > 0, one * factor, none)

    reference, rounded = table(fine, 1), table(coarse, 1600)
    y = rng.integers(0, 3, n + 20) if task == "classification" else rng.normal(size=n + 20)
    options = {"task": task, "n_neighbors": 4}
    coalitions = rng.random((5, m)) < 0.6
    sample = [(t, coalition) for t in range(20) for coalition in coalitions]
    true, off = (RowValues(columns, y[:n], y[n:], **options) for columns in (reference, rounded))
    bound = off.average_rounding(reference, sample)
    error = np.abs((off.values(coalitions) - true.values(coalitions)).mean(axis=0)).max()
    assert 0 < error <= bound
    assert true.average_rounding(reference, sample) == 0


def test_results_state_the_bound_of_rounding():
    v = value_cells(X, Y, X_VALID, Y_VALID, n_neighbors=5, progress=False)
    assert 0 <= v.info["metric_bound"] < 1e-5
    whole = value_cells(np.rint(X * 9), Y, np.rint(X_VALID * 9), Y_VALID, n_neighbors=5, progress=False)
    assert whole.info["metric_bound"] == 0


@pytest.mark.parametrize("columns", ["sampled", "exact"])
def test_values_keep_within_the_bound_they_state(monkeypatch, columns):
    monkeypatch.setattr("shapley2d._methods.knn.cells.SMALL_WORK", 0.0)
    options = {"n_neighbors": 5, "columns": columns, "progress": False}
    if columns == "sampled":
        options["n_coalitions"] = 20
    monkeypatch.setattr("shapley2d._methods.knn.cells.SPREAD_SHARE", 0.5)
    auto = value_cells(X, Y, X_VALID, Y_VALID, **options)
    exact = value_cells(X, Y, X_VALID, Y_VALID, form="exact", **options)
    assert auto.info["form"] == "fast"
    error = np.abs(auto.values - exact.values).max()
    assert 0 < error <= auto.info["form_bound"] + auto.info["metric_bound"]
    assert exact.info["form_bound"] == 0


def test_fast_by_name_states_the_worst_case():
    v = value_cells(X, Y, X_VALID, Y_VALID, n_neighbors=5, form="fast", progress=False)
    assert v.info["form"] == "fast"
    assert v.info["form_bound"] == pytest.approx(2 * 0.01 / 5)
