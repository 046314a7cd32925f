"""What the columns would add with other numbers of neighbours: the same as runs with them."""

from __future__ import annotations

import numpy as np
import pytest

from shapley2d import value_cells
from shapley2d._methods.knn import other_neighbors as compared


def table(task, n=90, m=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(4, size=(n, m)).astype(float)  # ties everywhere
    signal = X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=n)
    return X, signal if task == "regression" else (signal > np.quantile(signal, 0.7)).astype(int)


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(
    "options",
    [{}, {"baseline": "zero"}, {"valid_weight": np.arange(1, 91)}, {"metric": "sqeuclidean"}],
    ids=["plain", "zero", "weighted", "raw"],
)
@pytest.mark.filterwarnings("ignore:baseline='zero':shapley2d.exceptions.InputWarning")
def test_columns_are_those_of_runs_with_other_numbers(task, options):
    X, y = table(task)
    known = value_cells(X, y, n_neighbors=4, task=task, progress=False, **options).info
    known = known["other_neighbors"]
    assert (known["n_neighbors"], known["n_valid"]) == (4, 90)
    assert list(known["columns"]) == ["2", "4", "8"]
    for number, columns in known["columns"].items():
        run = value_cells(X, y, n_neighbors=int(number), task=task, progress=False, **options)
        np.testing.assert_allclose(columns, run.column_values, atol=1e-9)


def test_balanced_accuracy_too():
    X, y = table("classification")
    options = {"scoring": "balanced_accuracy", "progress": False}
    known = value_cells(X, y, n_neighbors=4, **options).info["other_neighbors"]["columns"]
    run = value_cells(X, y, n_neighbors=8, **options)
    np.testing.assert_allclose(known["8"], run.column_values, atol=1e-9)


def test_orders_of_many_columns_sum_to_the_score():
    X, y = table("classification", m=12)
    tables, options = (X[:50], y[:50], X[50:], y[50:]), {"progress": False, "n_subsets": 40}
    v = value_cells(*tables, **options)
    columns = v.info["other_neighbors"]["columns"]
    assert sum(columns["10"]) == pytest.approx(v.total, abs=1e-9)
    other = value_cells(*tables, n_neighbors=20, **options)
    assert sum(columns["20"]) == pytest.approx(other.total, abs=1e-9)
    assert np.corrcoef(columns["10"], v.column_values)[0, 1] > 0.9


def test_a_long_run_takes_a_part_of_the_validation_rows(monkeypatch):
    monkeypatch.setattr(compared, "SMALL", 0.0)
    monkeypatch.setattr(compared, "SHARE", 0.5)
    monkeypatch.setattr(compared, "ENOUGH_ROWS", 40)
    X, y = table("classification", n=100, m=6)
    v = value_cells(X, y, X, y, progress=False)
    # 64 subsets of 100 rows were valued; for half of that, 8 orders of 7 subsets
    assert v.info["other_neighbors"]["n_valid"] == 32 * 100 // 56
    monkeypatch.setattr(compared, "SHARE", 0.01)
    assert "other_neighbors" not in value_cells(X, y, X, y, progress=False).info


@pytest.mark.parametrize("baseline", ["labels", "zero"])
@pytest.mark.filterwarnings("ignore:baseline='zero':shapley2d.exceptions.InputWarning")
def test_all_columns_together_where_the_single_ones_would_cost_too_much(monkeypatch, baseline):
    """Then the sum is over all validation rows: from 40 of 800 it was off by 3 points."""
    X, y = table("classification", n=120, m=7)
    v = value_cells(X, y, baseline=baseline, progress=False)
    assert v.info["other_neighbors"]["n_valid"] == 120
    monkeypatch.setattr(compared, "SMALL", 0.0)
    v = value_cells(X, y, baseline=baseline, progress=False)
    known = v.info["other_neighbors"]
    assert "columns" not in known and known["n_valid"] == 120
    for number, total in known["totals"].items():
        run = value_cells(X, y, n_neighbors=int(number), baseline=baseline, progress=False)
        assert total == pytest.approx(run.total, abs=1e-9)


@pytest.mark.parametrize(
    "options", [{"semivalue": "banzhaf"}, {"include_label": True}, {"n_neighbors": 50}]
)
def test_nothing_is_said_where_it_would_not_be_the_same_question(options):
    X, y = table("classification")
    assert "other_neighbors" not in value_cells(X, y, progress=False, **options).info


def test_the_values_do_not_depend_on_it(monkeypatch):
    X, y = table("classification")
    v = value_cells(X, y, progress=False)
    monkeypatch.setattr(compared, "LEAST_ROWS", 1000)
    w = value_cells(X, y, progress=False)
    assert "other_neighbors" not in w.info
    assert v == w
