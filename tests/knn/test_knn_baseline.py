"""What nearest neighbours know without columns: nothing where all rows vote, a random draw else."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from shapley2d import KNN, value_cells
from shapley2d._knn.metric import measure
from shapley2d._knn.neighbours import Neighbours
from shapley2d._tables.problem import make_problem

RNG = np.random.default_rng(0)
X, X_VALID = RNG.normal(size=(20, 3)).round(2), RNG.normal(size=(14, 3)).round(2)
Y, Y_VALID = X[:, 0] + 0.3 * RNG.normal(size=20), X_VALID[:, 0]
CLASSES, CLASSES_VALID = np.where(Y > 0, "up", "down"), np.where(Y_VALID > 0, "up", "down")


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 4, 1)])
@pytest.mark.filterwarnings("ignore:baseline='zero' counts from a score of 0")
def test_columns_are_worth_nothing_where_all_rows_vote(task, semivalue):
    """With as many neighbours as rows, distances do not matter: 0 to the bit, in any order."""
    y, y_valid = (
        (CLASSES, CLASSES_VALID) if task == "classification" else (Y * 1e60, Y_VALID * 1e60)
    )
    method, options = KNN(n_neighbors=100), {"semivalue": semivalue, "task": task}
    for subsets in ("all", "sampled"):
        v = value_cells(X, y, X_VALID, y_valid, method=replace(method, subsets=subsets), **options)
        assert not v.values.any()
    options |= {"method": method, "baseline": "zero"}
    one = value_cells(X, y, X_VALID, y_valid, **options)
    other = value_cells(X[:, ::-1], y, X_VALID[:, ::-1], y_valid, **options)
    np.testing.assert_array_equal(one.values[:, ::-1], other.values)
    (split,) = make_problem(X, y, X_VALID, y_valid, task=task).splits
    table = measure(split.train, split.valid, "auto")
    kept = {"task": task, "n_neighbors": 20, "semivalue": semivalue}
    rows = Neighbours(table, split.y.codes, split.y_valid.codes, **kept)
    ranked = rows.values(((np.arange(8)[:, None] >> np.arange(3)) & 1).astype(bool))
    atol = 1e-12 * np.abs(ranked).max()
    np.testing.assert_allclose(ranked, ranked[[0] * 8], rtol=1e-9, atol=atol)


@pytest.mark.parametrize("n_neighbors", [1, 2, 4, 7, 9])
@pytest.mark.filterwarnings("ignore:baseline='zero' counts from a score of 0")
def test_what_values_of_a_regression_sum_to(n_neighbors):
    """By enumeration: without columns the neighbours are K rows drawn at random."""
    x, y, x_valid, y_valid = X[:7], Y[:7], X_VALID[:5], Y_VALID[:5]
    zero, ties = (
        value_cells(x, y, x_valid, y_valid, method=KNN(n_neighbors), baseline=baseline).total
        for baseline in ("zero", "labels")
    )
    drawn = [
        np.mean(y[list(rows)]) for rows in itertools.combinations(range(7), min(n_neighbors, 7))
    ]
    guess = np.mean([(each - y_valid) ** 2 for each in drawn])
    assert ties == pytest.approx(zero + guess, abs=1e-12)
    K, n = n_neighbors, 7
    variance = np.var(y) / K * (n - K) / (n - 1) if n > K else 0.0  # as docs/knn.md has it
    assert ties == pytest.approx(np.mean((y_valid - y.mean()) ** 2) + variance + zero, abs=1e-12)
