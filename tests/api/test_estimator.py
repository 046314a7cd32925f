"""The scikit-learn estimator."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks

from shapley2d import CellValuer, value_cells


@pytest.mark.filterwarnings("ignore::shapley2d.exceptions.LeakWarning")  # the checks take y from X
@parametrize_with_checks([CellValuer(n_neighbors=3)])
def test_follows_the_conventions(estimator, check):
    check(estimator)


def test_equals_the_function():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X, y = X.iloc[::4, :5], y.iloc[::4]
    fitted = CellValuer(n_neighbors=4, folds=3, random_state=1).fit(X, y)
    v = value_cells(X, y, method="knn", n_neighbors=4, folds=3, random_state=1, progress=False)
    np.testing.assert_array_equal(fitted.values_, v.values)
    np.testing.assert_array_equal(fitted.stderr_, v.stderr)
    np.testing.assert_array_equal(fitted.rows_, v.rows)
    np.testing.assert_array_equal(fitted.columns_, v.columns)
    assert fitted.valuation_.info["method"] == "knn"
    assert fitted.n_features_in_ == 5
    assert fitted.feature_names_in_.tolist() == X.columns.tolist()


def test_validation_table_and_clone():
    X, y = load_wine(return_X_y=True)
    valuer = CellValuer("loo", model=None).fit(X[::9, :3], y[::9], X[1::9, :3], y[1::9])
    assert valuer.valuation_.info["folds"] is None
    again = clone(valuer).fit(X[::9, :3], y[::9], X[1::9, :3], y[1::9])
    np.testing.assert_array_equal(valuer.values_, again.values_)


def test_option_of_another_method_is_an_error():
    with pytest.raises(TypeError, match="method 'knn' has no option 'max_permutations'"):
        CellValuer(max_permutations=3).fit(np.eye(12), [0, 1] * 6)


def test_every_option_of_every_method_is_a_parameter():
    import inspect

    from shapley2d._methods.registry import METHODS

    shared = {
        name for name, p in inspect.signature(value_cells).parameters.items() if p.kind is p.KEYWORD_ONLY
    }
    options = {option.name for method in METHODS.values() for option in method.options}
    assert shared | options | {"method"} == set(CellValuer().get_params())


def test_unknown_parameters_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_neighbours'"):
        CellValuer(n_neighbours=3)


def test_the_label_is_no_feature():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    valuer = CellValuer(n_neighbors=3, include_label=True).fit(X, [0, 1] * 10)
    assert valuer.values_.shape == (20, 3)
    assert valuer.n_features_in_ == 2
    assert valuer.feature_names_in_.tolist() == ["a", "b"]


def test_feature_names_go_with_the_frame():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    valuer = CellValuer(n_neighbors=3).fit(X, [0, 1] * 10)
    assert hasattr(valuer, "feature_names_in_")
    valuer.fit(X.to_numpy(), [0, 1] * 10)
    assert not hasattr(valuer, "feature_names_in_")
