"""Fewer rows than neighbours."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from shapley2d import value_cells
from shapley2d.exceptions import InputWarning


def test_all_rows_as_neighbours_say_that_nothing_depends_on_a_column():
    X = np.random.default_rng(0).normal(size=(30, 2))
    y = (X[:, 0] > 0).astype(int)
    with pytest.warns(InputWarning, match=r"n_neighbors=20 is not below the 20 rows that train"):
        v = value_cells(X[:20], y[:20], X[20:], y[20:], n_neighbors=20, progress=False)
    assert not v.values.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        v = value_cells(X[:20], y[:20], X[20:], y[20:], n_neighbors=19, progress=False)
        assert v.values.any()
        value_cells(X[:20], y[:20], X[20:], y[20:], n_neighbors=20, baseline="zero", progress=False)
