"""Wide tables: read in reasonable time, and refused at once where the method cannot take them."""

from __future__ import annotations

import numpy as np
import pytest

from shapley2d import InputError, value_cells
from shapley2d._knn.columns.semivalue import ColumnSemivalue
from shapley2d._methods.knn.choices import MAX_SAMPLED_COLUMNS


def test_more_columns_than_can_be_sampled_are_refused_with_another_way():
    X = np.random.default_rng(0).normal(size=(8, MAX_SAMPLED_COLUMNS + 1))
    y = [0, 1] * 4
    with pytest.raises(
        InputError,
        match=r"1,025 columns are more than the 1,024 that method='knn' can take: use method='mc'",
    ):
        value_cells(X, y, X, y)
    v = value_cells(
        X,
        y,
        X,
        y,
        method="mc",
        model="knn",
        n_neighbors=1,
        max_permutations=2,
        tolerance=0,
        progress=False,
    )
    assert v.shape == X.shape


def test_constant_columns_do_not_count():
    X = np.zeros((8, MAX_SAMPLED_COLUMNS + 5))
    X[:, 3] = np.arange(8)
    v = value_cells(X, [0, 1] * 4, X, [0, 1] * 4, n_neighbors=1, progress=False)
    assert (v.column_values != 0).sum() <= 1


def test_numbers_of_coalitions_beyond_float64():
    assert np.isfinite(ColumnSemivalue(1500, "shapley").counts).all()
