"""2D leave-one-out, and the tree's Monte Carlo: values by definition."""

import numpy as np
import pytest

from model_oracles import make_split
from shapley2d import InputError, value_cells
from shapley2d._models.games import FunctionGame
from shapley2d._tables.problem import make_problem
from shapley2d_paper.baselines import LOO, TreeMC
from shapley2d_paper.baselines.loo import leave_one_out
from shapley2d_paper.baselines.tree import TreeGame

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
    v = value_cells(X, y, method=LOO(), cv=3)
    expected = np.zeros(v.shape)
    splits = make_problem(X, y, cv=3).splits
    for one in splits:
        expected[one.rows] += leave_one_out(TreeGame(one)) / 3
    np.testing.assert_allclose(v.values, expected, atol=1e-15)
    assert v.exact and v.info["folds"] == 3 and v.info["about"]["total"] == ""


@pytest.mark.parametrize("method", [LOO(), TreeMC(max_draws=3, tolerance=0)])
def test_the_label_is_one_more_column(method):
    split = make_split(1, 2, n=10, plain=True)
    v = value_cells(*tables_of(split), method=method, include_label=True)
    assert v.shape == (10, 4) and v.values[:, -1].any()
    with pytest.raises(InputError, match="valid_weight does not go with the baselines' trees"):
        value_cells(*tables_of(split), method=method, valid_weight=np.arange(1.0, 41))


def test_it_has_no_semivalue():
    split = make_split(1, 2, n=10)
    with pytest.raises(InputError, match="method='loo' has no semivalue: it only looks at"):
        value_cells(*tables_of(split), method=LOO(), semivalue="banzhaf")
