"""What a sampled K-nearest-neighbour valuation says about its precision, and whether that is so."""

import warnings
from dataclasses import replace

import numpy as np
import pytest

from shapley2d import KNN, Valuation, value_cells
from shapley2d.exceptions import PrecisionWarning

M = 8
SAMPLED = KNN(n_neighbors=3, subsets="sampled")


def table(task, seed=0, n=24, m=M):
    random = np.random.default_rng(seed)
    X = random.normal(size=(2 * n, m)).round(1)
    score = X[:, : m // 2].sum(axis=1) + 0.5 * random.normal(size=2 * n)
    y = (score > np.median(score)).astype(int) if task == "classification" else score
    return X[:n], y[:n], X[n:], y[n:]


def test_few_coalitions_are_warned_of_and_marked(tmp_path):
    data = table("classification")
    with pytest.warns(
        PrecisionWarning, match=r"^n_subsets=20 is few for 8 columns: .* use n_subsets=24 or more$"
    ) as seen:
        few = value_cells(*data, method=replace(SAMPLED, n_subsets=20), n_jobs=1)
    assert len(seen) == 1
    assert f", but {few.info['caveat']}" in few.describe() and few.describe() in repr(few)
    few.save(tmp_path / "few.parquet")
    assert Valuation.load(tmp_path / "few.parquet").caveat == few.caveat
    few.to_html(tmp_path / "few.html")
    assert few.caveat in (tmp_path / "few.html").read_text(encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = value_cells(*data, method=replace(SAMPLED, n_subsets=24), n_jobs=1)
    assert not enough.caveat and "caveat" not in enough.info and "but" not in enough.describe()


@pytest.mark.parametrize("asked", [13, 15, 17])
def test_subsets_that_are_asked_for_come_in_pairs(asked):
    """One more where their number is odd; advice is a number that is used as it is."""
    X = np.random.default_rng(0).normal(size=(20, 5))
    y = X[:, 0] > 0
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        v = value_cells(X, y, X, y, method=KNN(3, subsets="sampled", n_subsets=asked, tolerance=0))
    assert v.info["n_subsets"] == asked + 1
    assert [str(one.message).endswith("use n_subsets=16 or more") for one in said] == [True] * (
        asked < 14
    )


@pytest.mark.parametrize(("n_valid", "passes"), [(2, 8), (24, 2), (40, 1)])
def test_a_run_starts_with_four_subsets_to_a_column_and_eight_draws(n_valid, passes):
    """Enough for a coarse tolerance; their intervals hold, however few chunks the validation rows make."""
    data = table("regression", n=40)
    data = *data[:2], data[2][:n_valid], data[3][:n_valid]
    exact = value_cells(*data, method=replace(SAMPLED, subsets="all"), n_jobs=1)
    held = []
    for seed in range(40):
        method = replace(SAMPLED, tolerance=0.5)
        v = value_cells(*data, method=method, n_jobs=1, random_state=seed)
        assert v.info["n_subsets"] == 4 * M * passes and v.info["n_chunks"] >= 8
        (low, high), factor = v.interval(), v._interval_factor
        columns = np.abs(v.column_values - exact.column_values) <= factor * v.column_stderr
        cells = (low <= exact.values) & (exact.values <= high)
        held.append([cells.mean(), columns.mean()])
        assert v.row_values == pytest.approx(exact.row_values, abs=1e-9)  # and so the total
    assert (np.mean(held, axis=0) >= 0.93).all()


def test_subsets_grow_where_the_tolerance_asks():
    data = table("regression", n=40)
    runs = [
        value_cells(*data, method=replace(SAMPLED, tolerance=tolerance), n_jobs=1)
        for tolerance in (0.5, 0.05, 0.01)
    ]
    assert all(v.info["converged"] for v in runs)
    used = [v.info["n_subsets"] for v in runs]
    assert 4 * M == used[0] < used[1] < used[2]
