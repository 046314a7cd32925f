"""Small tables have kernels of their own: they agree with brute force and with the kernels of large tables."""

from __future__ import annotations

import numpy as np
import pytest

from knn.row_oracles import (
    SEMIVALUES,
    TASKS,
    brute_force,
    random_labels,
    random_table,
    table_distances,
)
from shapley2d._knn.row_values import row_values
from shapley2d._knn.small_table import _dissimilarities


@pytest.mark.parametrize("semivalue", SEMIVALUES)
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("task", TASKS)
def test_values_match_brute_force(task, k, semivalue):
    rng = np.random.default_rng(k)
    columns = random_table(rng, 6, 3, 3)
    y, y_valid = random_labels(rng, task, 6, 3)
    coalitions = np.array([[0, 0, 0], [1, 0, 1], [1, 1, 1]], dtype=bool)
    rows = row_values(
        columns, y, y_valid, task=task, n_neighbors=k, semivalue=semivalue, small=True
    )
    for coalition, values in zip(coalitions, rows.values(coalitions), strict=True):
        truth = brute_force(columns, y, y_valid, coalition, task=task, k=k, semivalue=semivalue)
        np.testing.assert_allclose(values, truth, rtol=0, atol=1e-12)


@pytest.mark.parametrize("levels", [2, 40, 2**15, 2**27])
@pytest.mark.parametrize("task", TASKS)
def test_they_agree_with_the_kernels_of_large_tables(task, levels):
    rng = np.random.default_rng(levels)
    columns = random_table(rng, 150, 5, 40, levels=levels)
    if levels == 2**27:  # rows that only their last bits tell apart, beside one that is far
        for codes in (columns.train[:, 1:], columns.valid):
            codes[codes > 0] //= 2**23
    y, y_valid = random_labels(rng, task, 150, 40)
    options = {"task": task, "n_neighbors": 5, "valid_weights": rng.random(40)}
    large, small = (
        row_values(columns, y, y_valid, **options),
        row_values(columns, y, y_valid, small=True, **options),
    )
    coalitions = rng.random((33, 5)) < 0.5
    np.testing.assert_allclose(
        small.values(coalitions), large.values(coalitions), rtol=1e-12, atol=1e-14
    )
    some = np.array([3, 1, 30])
    np.testing.assert_allclose(
        small.values(coalitions, valid=some),
        large.values(coalitions, valid=some),
        rtol=1e-12,
        atol=1e-14,
    )
    weights = rng.random(6), rng.random(6)
    np.testing.assert_allclose(small.walk(*weights), large.walk(*weights), rtol=1e-11, atol=1e-13)


def test_dissimilarities_are_those_of_the_table():
    rng = np.random.default_rng(0)
    columns = random_table(rng, 9, 4, 5)
    rows = row_values(
        columns,
        np.zeros(9, dtype=int),
        np.zeros(5, dtype=int),
        task="classification",
        n_neighbors=1,
    )
    found = _dissimilarities(rows.axis.game, np.array([4, 2]))
    for place, t in enumerate((4, 2)):
        for j in range(4):
            assert (
                found[place, j].tolist() == table_distances(columns, np.arange(4) == j, t).tolist()
            )


@pytest.mark.parametrize("task", TASKS)
def test_threads_never_change_a_bit(task, monkeypatch):
    monkeypatch.setattr("shapley2d._knn.small_table._PIECE", 2**12)
    rng = np.random.default_rng(3)
    columns = random_table(rng, 60, 6, 50)
    y, y_valid = random_labels(rng, task, 60, 50)
    coalitions, weights = rng.random((50, 6)) < 0.5, (rng.random(7), rng.random(7))

    def both(n_jobs):
        rows = row_values(columns, y, y_valid, task=task, n_neighbors=3, small=True, n_jobs=n_jobs)
        return rows.values(coalitions).tobytes(), rows.walk(*weights).tobytes()

    assert both(1) == both(3)
