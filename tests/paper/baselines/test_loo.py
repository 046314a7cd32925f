"""2D leave-one-out, and the tree's Monte Carlo: values by definition."""

from __future__ import annotations

import numpy as np
import pytest

from model_oracles import make_split
from shapley2d import InputError, value_cells
from shapley2d._estimation.exact import DesignBlocks, evaluate_designs
from shapley2d._models.function import FunctionGame
from shapley2d._tables.problem import make_problem
from shapley2d._theory.designs import AllSubsets
from shapley2d_paper.baselines import LOO, TreeMC
from shapley2d_paper.baselines.loo import leave_one_out
from shapley2d_paper.baselines.tree import TreeGame, tree_games
from tests.comparing import same_bits

from oracles import RandomGame


def tables_of(split):
    return split.train.native, split.y.y, split.valid.native, split.y_valid.y


def test_leaving_out_is_the_definition():
    h = RandomGame(4, 3, seed=2)
    values = leave_one_out(FunctionGame(h, 4, 3))
    rows, columns = frozenset(range(4)), frozenset(range(3))
    for i in rows:
        for j in columns:
            expected = (
                h.of_sets(rows, columns)
                + h.of_sets(rows - {i}, columns - {j})
                - h.of_sets(rows - {i}, columns)
                - h.of_sets(rows, columns - {j})
            )
            assert values[i, j] == pytest.approx(expected, abs=1e-12)


def test_values_are_the_mean_over_the_folds():
    split = make_split(3, 2, n=24)
    X, y, *_ = tables_of(split)
    v = value_cells(X, y, method=LOO(), cv=3, progress=False)
    expected = np.zeros(v.shape)
    splits = make_problem(X, y, cv=3).splits
    for one in splits:
        expected[one.rows] += leave_one_out(TreeGame(one)) / 3
    np.testing.assert_allclose(v.values, expected, atol=1e-15)
    assert v.exact and v.info["folds"] == 3 and v.info["about"]["total"] == ""


@pytest.mark.parametrize("method", [LOO(), TreeMC(max_permutations=3, tolerance=0)])
def test_the_label_is_one_more_column(method):
    split = make_split(1, 2, n=10, plain=True)
    v = value_cells(*tables_of(split), method=method, include_label=True, progress=False)
    assert v.shape == (10, 4) and v.values[:, -1].any()
    with pytest.raises(InputError, match="valid_weight does not go with the baselines' trees"):
        value_cells(
            *tables_of(split), method=method, valid_weight=np.arange(1.0, 41), progress=False
        )


def test_it_has_no_semivalue():
    split = make_split(1, 2, n=10)
    with pytest.raises(InputError, match="method='loo' has no semivalue: it only looks at"):
        value_cells(*tables_of(split), method=LOO(), semivalue="banzhaf", progress=False)


@pytest.mark.slow
def test_monte_carlo_of_the_tree_reaches_the_exact_values():
    split = make_split(6, 2, n=6, plain=True)
    (game,) = tree_games(make_problem(*tables_of(split)))
    designs = AllSubsets(6), AllSubsets(3)
    exact, _ = evaluate_designs([DesignBlocks.of_rows(game, *designs)], [np.arange(6)], 6)
    method = TreeMC(max_permutations=1500, tolerance=0)
    v = value_cells(*tables_of(split), method=method, progress=False)
    assert (np.abs(v.values - exact) <= 4.5 * v.stderr + 1e-12).all()
    assert v.stderr.max() < 0.1 * np.abs(exact).max()
    assert v.info["about"]["total"] == "the model's score"


def test_workers_do_not_change_a_bit():
    tables, method = tables_of(make_split(7, 3)), TreeMC(max_permutations=6, tolerance=0)
    one, two = (value_cells(*tables, method=method, n_jobs=k, progress=False) for k in (1, 2))
    assert same_bits(one, two)
