"""The numpy twin of the GPU's kernels against exact ranks on the processor."""

from __future__ import annotations

import numpy as np
import pytest

from knn.cuda.games import make_game, some_coalitions
from knn.cuda.twin import binned_values, row_distances
from shapley2d._knn.cuda.kernel_inputs import (
    NEAR,
)
from shapley2d._knn.threads import Threads


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf"])
def test_tables_of_few_rows_are_ranked_exactly(task, semivalue):
    game = make_game(task, n=NEAR, semivalue=semivalue)
    coalitions, exact = some_coalitions(5), Threads(make_game(task, n=NEAR, semivalue=semivalue))
    for t in range(4):
        found = [binned_values(game, t, coalition) for coalition in coalitions]
        assert np.allclose(found, exact.sums(coalitions, np.array([t])), atol=1e-12)


@pytest.mark.parametrize(("task", "worth"), [("classification", 0.2), ("regression", 8.0)])
def test_larger_tables_are_off_by_little(task, worth):
    game = make_game(task, n=3000)
    coalitions, exact = some_coalitions(5, 10)[1:], Threads(game)
    for t in range(4):
        found = np.array([binned_values(game, t, coalition) for coalition in coalitions])
        true = exact.sums(coalitions, np.array([t]))
        assert np.abs(found - true).max() < 1e-3 * worth  # of what a neighbour is worth
        assert np.sqrt(np.mean((found - true) ** 2)) < 0.01 * true.std()


def test_distances_are_those_of_whole_numbers():
    game = make_game("classification", wide=50)
    exact = np.zeros(game.n_rows)
    nominal, weight, missing = game.measures
    for j in range(game.n_columns):
        apart = game.train[j] - game.valid[1, j]
        known = weight[j] * ((apart != 0) if nominal[j] else apart**2)
        exact += np.where((game.train[j] < 0) | (game.valid[1, j] < 0), missing[j], known)
    assert np.array_equal(row_distances(game, 1, np.ones(5, dtype=bool)), exact)
