"""Exact or fast: the bound that decides is one, and what it decides."""

from __future__ import annotations

import numpy as np
import pytest

from shapley2d import value_cells
from shapley2d._knn import form
from shapley2d._knn.metric import integer_columns
from shapley2d._knn.rows import RowValues
from shapley2d._tables.problem import make_problem

RNG = np.random.default_rng(0)
N = 2000
X = np.column_stack([RNG.normal(size=(N, 3)), RNG.integers(0, 4, (N, 2))])
Y = (X[:, 0] + X[:, 3] + RNG.normal(size=N) > 1).astype(int)
X_VALID = np.column_stack([RNG.normal(size=(40, 3)), RNG.integers(0, 4, (40, 2))])
Y_VALID = (X_VALID[:, 0] + X_VALID[:, 3] > 1).astype(int)


def rows(**options):
    (split,) = make_problem(X, Y, X_VALID, Y_VALID).splits
    columns = integer_columns(split.train, split.valid)
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


def test_choice_of_the_form():
    parts = [rows()]
    assert form.choose_share(parts, 1.0, lambda: np.inf, 0) == (None, 0.0)  # little work: exact
    share, bound = form.choose_share(parts, 1e12, lambda: np.inf, 0)
    assert share == form.SHARES[0]
    tighter, smaller = form.choose_share(parts, 1e12, lambda: bound / 4, 0)
    assert tighter < share
    assert smaller <= bound / 4
    assert form.choose_share(parts, 1e12, lambda: 0.0, 0) == (None, 0.0)


@pytest.mark.parametrize("columns", ["sampled", "exact"])
def test_values_keep_within_the_bound_they_state(monkeypatch, columns):
    monkeypatch.setattr(form, "_SMALL_WORK", 0.0)
    monkeypatch.setattr(form, "SPREAD_SHARE", 0.5)
    options = {"n_neighbors": 5, "columns": columns, "progress": False}
    if columns == "sampled":
        options["n_coalitions"] = 20
    monkeypatch.setattr("shapley2d._methods.knn.cells.SPREAD_SHARE", 0.5)
    auto = value_cells(X, Y, X_VALID, Y_VALID, **options)
    exact = value_cells(X, Y, X_VALID, Y_VALID, form="exact", **options)
    assert auto.info["form"] == "fast"
    assert 0 < np.abs(auto.values - exact.values).max() <= auto.info["form_bound"]
    assert exact.info["form_bound"] == 0


def test_fast_by_name_states_the_worst_case():
    v = value_cells(X, Y, X_VALID, Y_VALID, n_neighbors=5, form="fast", progress=False)
    assert v.info["form"] == "fast"
    assert v.info["form_bound"] == pytest.approx(2 * 0.01 / 5)
