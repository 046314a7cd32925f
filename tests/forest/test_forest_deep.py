"""Leaves with too many columns on their path for all subsets: random orders of the columns stand for them."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

from shapley2d import CellValuer, Forest, value_cells

from forest_oracle import tables


def deep_tables():
    random = np.random.default_rng(0)
    X = random.normal(size=(260, 20))
    y = (X[:, 0] + random.normal(size=260) > 0).astype(int)
    return X[:200], y[:200], X[200:], y[200:]


@pytest.mark.parametrize("regression", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_deep_leaves_are_sampled_without_bias(regression, monkeypatch):
    """All subsets of fewer columns are known, so what sampling gives there can be compared."""
    X, y, Xv, yv, *_ = tables(40, m=5, n_valid=20, regression=regression)
    kind = ExtraTreesRegressor if regression else ExtraTreesClassifier
    model = kind(3, max_depth=7, random_state=0)
    method = Forest(model, max_draws=12, tolerance=0)
    exact = value_cells(X, y, Xv, yv, method=method, progress=False)
    assert exact.exact and "exact_share" not in exact.info
    monkeypatch.setattr("shapley2d._forest.leaves.most_columns", lambda _: 2)
    runs = [
        value_cells(X, y, Xv, yv, method=method, random_state=seed, progress=False)
        for seed in range(40)
    ]
    assert 0 < runs[0].info["exact_share"] < 1 and runs[0].info["n_rounds"] == 12
    assert not runs[0].exact
    found = np.array([v.values for v in runs])
    off = found.mean(axis=0) - exact.values
    spread = found.std(axis=0, ddof=1)
    some = spread > 1e-3 * spread.max()
    assert abs(off[~some]).max(initial=0) < 1e-3 * abs(exact.values).max()
    assert abs(off[some] / spread[some]).max() * np.sqrt(40) < 4.5
    said = np.sqrt(np.mean([v.stderr**2 for v in runs], axis=0))
    assert np.sqrt((spread**2).mean() / (said**2).mean()) == pytest.approx(1, abs=0.15)
    inside = np.mean([abs(v.values - exact.values) <= 2.2 * v.stderr + 1e-15 for v in runs])
    assert inside > 0.93
    # a row's cells sum to the same in every order
    for v in runs[:3]:
        np.testing.assert_allclose(
            v.row_values, exact.row_values, rtol=0, atol=1e-12 * abs(exact.row_values).max()
        )


def test_a_fully_grown_forest():
    X, y, Xv, yv = deep_tables()
    model = ExtraTreesClassifier(6, max_features=1, random_state=0).fit(X, y)
    v, again = (
        value_cells(X, y, Xv, yv, method=Forest(model, tolerance=0.2), n_jobs=jobs)
        for jobs in (1, 2)
    )
    assert v.info["converged"] and 0 < v.info["exact_share"] < 1
    assert f"({v.info['exact_share']:.0%} of their predictions exact" in v.info["about"]["how"]
    probability = model.predict_proba(Xv)[np.arange(60), yv].mean()
    assert v.total + v.info["baseline_utility"] == pytest.approx(probability, abs=1e-12)
    assert again.values.tobytes() == v.values.tobytes()


def test_the_score_of_deep_leaves_is_exact():
    X, y, Xv, yv = deep_tables()
    model = ExtraTreesClassifier(3, max_features=1, random_state=0).fit(X, y)
    valuer = CellValuer(Forest(model, max_draws=2, tolerance=0)).fit(X, y, Xv, yv)
    assert valuer.score(Xv, yv) == pytest.approx(valuer.valuation_.total, abs=1e-12)
