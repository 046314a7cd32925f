"""What a sampled K-nearest-neighbour valuation says about its precision, and whether that is so."""

from __future__ import annotations

import warnings

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
        PrecisionWarning,
        match=r"^n_subsets=20 is few for 8 columns: .* use n_subsets=24 or more$",
    ) as seen:
        few = value_cells(*data, method=SAMPLED.but(n_subsets=20), n_jobs=1, progress=False)
    assert len(seen) == 1
    assert few.describe().endswith(f", but {few.info['caveat']}") and few.describe() in repr(few)
    few.save(tmp_path / "few.parquet")
    assert Valuation.load(tmp_path / "few.parquet").caveat == few.caveat
    few.to_html(tmp_path / "few.html")
    assert few.caveat in (tmp_path / "few.html").read_text(encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        enough = value_cells(*data, method=SAMPLED.but(n_subsets=24), n_jobs=1, progress=False)
    assert not enough.caveat and "caveat" not in enough.info and "but" not in enough.describe()


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.slow
def test_the_labels_and_their_sum_have_honest_errors(task):
    data, asked = table(task), {"include_label": True, "n_jobs": 1, "progress": False}
    exact = value_cells(*data, method=SAMPLED.but(subsets="all"), **asked)
    method = SAMPLED.but(n_subsets=3 * M)
    runs = [value_cells(*data, method=method, random_state=seed, **asked) for seed in range(120)]
    off = np.array([run.column_values - exact.column_values for run in runs])
    stated = np.array([run.column_stderr for run in runs])
    held = np.abs(off) <= runs[0]._interval_factor * stated
    assert held.mean(axis=0).min() >= 0.88  # of nine columns: .95 less three standard errors
    # the sum of the labels: not overstated, as it is where the columns' errors are taken for
    # independent
    size = np.sqrt(np.mean(stated**2, axis=0) / np.mean(off**2, axis=0))
    assert 0.8 <= size[-1] <= 1.3
    labels = np.abs([run.values[:, -1] - exact.values[:, -1] for run in runs])
    within = labels <= runs[0]._interval_factor * np.array([run.stderr[:, -1] for run in runs])
    assert within.mean() >= 0.93 and np.quantile(within.mean(axis=0), 0.05) >= 0.88
    np.testing.assert_allclose(runs[0].row_values, exact.row_values, atol=1e-12)
    assert not runs[0].row_stderr.any()
