"""Random values, and methods that need no validation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from shapley2d import CellValuer, InputError, value_cells
from shapley2d._methods.run import Run
from shapley2d._tables.problem import make_problem
from shapley2d_paper.baselines.random import RANDOM, solve

X = pd.DataFrame(
    {"a": [1, 2, 3, 4, 5], "b": ["u", "v", "u", "v", "u"], "c": [0.5, 1.5, 2.5, 3.5, 4.5]}
)
Y = ["yes", "no", "yes", "no", "yes"]


def value(*args, **options):
    return value_cells(*(args or (X, Y)), method=RANDOM, progress=False, **options)


def test_a_permutation_of_evenly_spaced_numbers():
    v = value()
    assert v.shape == (5, 3)
    ascending = np.sort(v.values, axis=None)
    np.testing.assert_allclose(ascending, np.linspace(-1, 1, 15), atol=1e-15)
    assert np.array_equal(ascending, -ascending[::-1])
    assert v.exact and v.column_names == ["a", "b", "c"]


def test_the_seed_decides():
    assert np.array_equal(value(random_state=3).values, value(random_state=3).values)
    assert not np.array_equal(value(random_state=3).values, value(random_state=4).values)


def test_every_place_is_as_likely_as_any():
    problem = make_problem(X, Y, validates=False)
    means = np.mean([solve(problem, Run.create(seed)).values for seed in range(400)], axis=0)
    spread = np.sqrt(np.mean(np.linspace(-1, 1, 15) ** 2) / 400)
    assert np.abs(means).max() < 4 * spread


def test_a_plain_generator_of_the_same_seed_gives_another_order():
    table = np.arange(400.0).reshape(100, 4)
    for seed in range(5):
        ours = value(table, np.arange(100) % 2, random_state=seed).values.ravel()
        order = np.random.default_rng(seed).permutation(400)
        assert abs(np.corrcoef(ours, order)[0, 1]) < 0.2


def test_two_cells_and_one():
    assert value([[1.0]] * 2, [0, 1]).values.tolist() in ([[-1.0], [1.0]], [[1.0], [-1.0]])
    problem = make_problem([[1.0], [2.0]], [0, 1], validates=False)
    single = replace(problem, table=problem.table.take_rows(np.array([0])))
    assert solve(single, Run.create()).values.tolist() == [[0.0]]


def test_few_rows_need_no_folds_and_a_validation_table_is_not_used():
    plain = value()
    assert plain.info["folds"] is None and plain.info["n_valid"] == 0
    given = value(X, Y, X[:2], Y[:2])
    assert np.array_equal(given.values, plain.values)
    assert given.info["folds"] is None and given.info["n_valid"] == 0
    assert make_problem(X, Y, validates=False).splits == []


def test_the_label_may_be_valued():
    v = value(include_label=True)
    assert v.shape == (5, 4) and v.column_names[-1] == "(label)"
    assert np.unique(v.values).size == 20


def test_as_an_estimator():
    assert np.array_equal(
        CellValuer(RANDOM, random_state=2).fit(X, Y).values_, value(random_state=2).values
    )


def test_errors():
    with pytest.raises(
        InputError, match="must have the columns of the training table, but it lacks 'c'"
    ):
        value(X, Y, X[["a", "b"]], Y)
    with pytest.raises(InputError, match="X_valid came without y_valid"):
        value(X, Y, X)
    with pytest.raises(InputError, match="method='random' has no semivalue"):
        value(semivalue="banzhaf")
    with pytest.raises(TypeError, match="method 'random' has no option 'model'"):
        value(model="tree")
