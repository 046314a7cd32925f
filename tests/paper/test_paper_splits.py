"""The paper's tables cut in three."""

import numpy as np
import pytest

from shapley2d_paper.data.splits import split_table, whole_table
from shapley2d_paper.detectors.models import MODELS, accuracies
from shapley2d_paper.harness.experiment import Unavailable

BUNDLED = ("census", "credit", "breast_cancer", "wine")


@pytest.mark.parametrize("name", BUNDLED)
def test_parts_are_rows_of_the_table_and_disjoint(name):
    parts, table = split_table(name, 3), whole_table(name)
    sizes = {"census": (300, 1000, 4000), "credit": (300, 1000, 4000), "wine": (106, 36, 36)}
    assert (len(parts.y), len(parts.y_valid), len(parts.y_test)) == sizes.get(name, (241, 121, 121))

    def counted(X, y):
        rows, counts = np.unique(np.column_stack([X, y]), axis=0, return_counts=True)
        return dict(zip(map(tuple, rows.tolist()), counts.tolist(), strict=True))

    available = counted(table.numbers, table.labels)
    together = [(parts.X, parts.y), (parts.X_valid, parts.y_valid), (parts.X_test, parts.y_test)]
    used = counted(
        np.concatenate([X for X, _ in together]), np.concatenate([y for _, y in together])
    )
    assert all(available.get(row, 0) >= count for row, count in used.items())


@pytest.mark.parametrize("name", BUNDLED)
def test_classes_are_in_proportion(name):
    parts = split_table(name, 0)
    everything = np.concatenate([parts.y, parts.y_valid, parts.y_test])
    for code in np.unique(everything):
        for y in (parts.y, parts.y_valid, parts.y_test):
            assert abs((y == code).sum() - (everything == code).mean() * y.size) <= 2


def test_breast_cancer_has_as_many_benign_rows_as_malignant_ones():
    parts = split_table("breast_cancer", 1)
    counts = np.bincount(np.concatenate([parts.y, parts.y_valid, parts.y_test]))
    assert sorted(counts.tolist()) == [239, 244]


def test_the_seed_decides():
    first, same, other = (split_table("wine", seed).X for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, same)
    assert not np.array_equal(first, other)


def test_heart_needs_its_file(monkeypatch):
    monkeypatch.delenv("SHAPLEY2D_DATA", raising=False)
    with pytest.raises(Unavailable, match="SHAPLEY2D_DATA"):
        split_table("heart", 0)


def test_heart(paper_data):
    parts = split_table("heart", 0)
    assert (len(parts.y), len(parts.y_valid) + len(parts.y_test)) == (512, 513)
    parts = split_table("heart_distinct", 0)
    rows = np.concatenate([parts.X, parts.X_valid, parts.X_test])
    assert len(rows) == 302 == len(np.unique(rows, axis=0))


@pytest.mark.parametrize("model", MODELS)
def test_accuracies_are_of_the_rows_asked_for(model):
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] >= 20).astype(int)
    right, wrong = accuracies(model, X, y, [(X[::3], y[::3]), (X[::3], 1 - y[::3])], 0)
    assert (right, wrong) == (pytest.approx(1, abs=0.08), pytest.approx(0, abs=0.08))
