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
