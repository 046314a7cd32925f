"""Random values, and methods that need no validation."""

import numpy as np
import pandas as pd
import pytest

from shapley2d import InputError, value_cells
from shapley2d._tables.problem import make_problem
from shapley2d_paper.baselines.random import Random

X = pd.DataFrame(
    {"a": [1, 2, 3, 4, 5], "b": ["u", "v", "u", "v", "u"], "c": [0.5, 1.5, 2.5, 3.5, 4.5]}
)
Y = ["yes", "no", "yes", "no", "yes"]


def value(*args, **options):
    return value_cells(*(args or (X, Y)), method=Random(), **options)


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


def test_errors():
    with pytest.raises(
        InputError, match="must have the columns of the training table, but it lacks 'c'"
    ):
        value(X, Y, X[["a", "b"]], Y)
    with pytest.raises(InputError, match="X_valid came without y_valid"):
        value(X, Y, X)
    with pytest.raises(InputError, match="method='random' has no semivalue"):
        value(semivalue="banzhaf")
    with pytest.raises(InputError, match="method='random' takes no checkpoint: leave it out"):
        value(checkpoint="kept.npz")
    with pytest.raises(TypeError, match="unexpected keyword argument 'model'"):
        Random(model="tree")
