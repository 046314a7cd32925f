"""The scikit-learn estimator."""

import inspect

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_validate
from sklearn.utils.estimator_checks import parametrize_with_checks

from shapley2d import (
    KNN,
    CellValuer,
    InputError,
    Method,
    MonteCarlo,
    OneDraw,
    value_cells,
)

TABLES = ("X", "y", "X_valid", "y_valid")


@pytest.mark.filterwarnings("ignore::shapley2d.exceptions.LeakWarning")  # the checks take y from X
@parametrize_with_checks([CellValuer(KNN(n_neighbors=3))])
def test_follows_the_conventions(estimator, check):
    check(estimator)


def test_equals_the_function():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X, y = X.iloc[::4, :5], y.iloc[::4]
    fitted = CellValuer(KNN(n_neighbors=4), cv=3, random_state=1).fit(X, y)
    v = value_cells(X, y, method=KNN(n_neighbors=4), cv=3, random_state=1, progress=False)
    np.testing.assert_array_equal(fitted.values_, v.values)
    np.testing.assert_array_equal(fitted.stderr_, v.stderr)
    np.testing.assert_array_equal(fitted.row_values_, v.row_values)
    np.testing.assert_array_equal(fitted.column_values_, v.column_values)
    assert fitted.valuation_.info["method"] == "knn"
    assert fitted.n_features_in_ == 5
    assert fitted.feature_names_in_.tolist() == X.columns.tolist()


def test_validation_table_and_clone():
    X, y = load_wine(return_X_y=True)
    valuer = CellValuer(MonteCarlo(max_draws=2, tolerance=0)).fit(
        X[::9, :3], y[::9], X[1::9, :3], y[1::9]
    )
    assert valuer.valuation_.info["folds"] is None
    again = clone(valuer).fit(X[::9, :3], y[::9], X[1::9, :3], y[1::9])
    np.testing.assert_array_equal(valuer.values_, again.values_)


def keywords(function):
    """The keywords that a function writes out, with their defaults."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is not parameter.VAR_KEYWORD and name != "self"
    }


def test_the_parameters_are_those_of_the_function():
    of_rows = keywords(CellValuer.fit)
    assert set(of_rows) == {*TABLES, "groups", "time_order", "valid_weight"}
    other = {*of_rows, "row_groups", "column_groups"}  # an estimator values single cells
    shared = {name: one for name, one in keywords(value_cells).items() if name not in other}
    assert {**shared, "progress": False} == keywords(CellValuer)


def test_options_of_the_method_are_nested_parameters():
    valuer = CellValuer(KNN(n_neighbors=3), cv=2)
    assert valuer.get_params()["method__n_neighbors"] == 3
    assert "method__n_neighbors" not in valuer.get_params(deep=False)
    assert valuer.set_params(method__n_neighbors=7, cv=4).method == KNN(n_neighbors=7)
    assert valuer.cv == 4
    # a new method is set first, then its options
    other = valuer.set_params(method__max_draws=5, method=MonteCarlo("ridge")).method
    assert other == MonteCarlo("ridge", max_draws=5)
    assert CellValuer("mc").get_params()["method__max_draws"] == 1000  # a word has them too
    assert CellValuer("knn").set_params(method__votes="share").method == KNN(votes="share")
    assert CellValuer("nkn").set_params(method="knn").method == "knn"
    with pytest.raises(ValueError, match="MonteCarlo has no option 'n_neighbors'"):
        valuer.set_params(method__n_neighbors=3)
    with pytest.raises(ValueError, match="did you mean 'max_draws'"):
        valuer.set_params(method__max_draw=3)
    with pytest.raises(InputError, match="max_draws=0 must be a whole number"):
        valuer.set_params(method__max_draws=0)
    assert valuer.method is other


class QuickValuer(CellValuer):
    """A subclass with parameters of its own."""

    def __init__(self, n_neighbors=3, *, rounded=True):
        super().__init__(cv=2)
        self.n_neighbors, self.rounded = n_neighbors, rounded

    def fit(self, X, y):
        self.method = KNN(n_neighbors=self.n_neighbors)
        super().fit(X, y)
        if self.rounded:
            self.values_ = self.values_.round(2)
        return self


def test_can_be_subclassed():
    X, y = load_wine(return_X_y=True)
    X, y = X[::6, :3], y[::6]
    valuer = QuickValuer()
    assert valuer.get_params() == {"n_neighbors": 3, "rounded": True}
    assert repr(valuer.set_params(n_neighbors=2)) == "QuickValuer(n_neighbors=2)"
    again = clone(valuer).set_params(rounded=False).fit(X, y)
    plain = CellValuer(KNN(n_neighbors=2), cv=2).fit(X, y)
    np.testing.assert_array_equal(again.values_, plain.values_)
    np.testing.assert_array_equal(valuer.fit(X, y).values_, plain.values_.round(2))
    assert valuer.score(X, y) == plain.score(X, y)
    search = GridSearchCV(valuer, {"n_neighbors": [1, 5]}, cv=StratifiedKFold(2))
    assert set(search.fit(X, y).best_params_) == {"n_neighbors"}


def test_groups_and_splitters_as_in_scikit_learn():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X, y = X.iloc[::6, :3], y.iloc[::6]
    farm = np.arange(len(y)) % 6
    valuer = clone(CellValuer(KNN(n_neighbors=3), cv=GroupKFold(3))).fit(X, y, groups=farm)
    v = value_cells(X, y, method=KNN(n_neighbors=3), cv=GroupKFold(3), groups=farm, progress=False)
    np.testing.assert_array_equal(valuer.values_, v.values)
    named = clone(valuer).fit(X.assign(farm=farm), y, groups="farm")
    np.testing.assert_array_equal(named.values_, v.values)
    assert named.feature_names_in_.tolist() == X.columns.tolist()
    assert named.score(X, y) == valuer.score(X, y)


def test_the_label_is_no_feature():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    valuer = CellValuer(KNN(n_neighbors=3), include_label=True).fit(X, [0, 1] * 10)
    assert valuer.values_.shape == (20, 3)
    assert valuer.n_features_in_ == 2
    assert valuer.feature_names_in_.tolist() == ["a", "b"]


def test_feature_names_go_with_the_frame():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 2)), columns=["a", "b"])
    valuer = CellValuer(KNN(n_neighbors=3)).fit(X, [0, 1] * 10)
    assert hasattr(valuer, "feature_names_in_")
    valuer.fit(X.to_numpy(), [0, 1] * 10)
    assert not hasattr(valuer, "feature_names_in_")


def test_the_score_is_what_the_values_would_sum_to():
    X, y = load_wine(return_X_y=True)
    X, y, X_test, y_test = X[::3, :4], y[::3], X[1::3, :4], y[1::3]
    for method, baseline in (
        (KNN(), "labels"),
        (KNN(n_neighbors=3, metric="sqeuclidean"), "zero"),
        (MonteCarlo("gaussian_nb", max_draws=2, tolerance=0), "labels"),
        (MonteCarlo("ridge", max_draws=2, tolerance=0), "zero"),
    ):
        options = {"method": method, "baseline": baseline, "progress": False}
        valuer = CellValuer(cv=2, **options).fit(X, y)
        v = value_cells(X, y, X_test, y_test, **options)
        assert valuer.score(X_test, y_test) == pytest.approx(v.total, abs=1e-12)


class Own(Method):
    """A method that has no score."""

    name, summary = "own", "nothing is worth anything"

    def draws(self, problem, run):
        return OneDraw(np.zeros((problem.table.n_rows, problem.table.n_columns)))


def test_the_score_needs_a_method_that_has_one_and_a_fit():
    X, y = np.eye(12), [0, 1] * 6
    with pytest.raises(InputError, match="method='own' has no score: use method='knn'"):
        CellValuer(Own()).fit(X, y).score(X, y)
    with pytest.raises(NotFittedError):
        CellValuer().score(X, y)


def test_cross_validation_and_grid_search():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X, y = X.iloc[::2, :4], y.iloc[::2]
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_validate(CellValuer(KNN(n_neighbors=3), cv=2), X, y, cv=cv)["test_score"]
    assert scores.shape == (3,) and scores.min() > 0.1
    grid = {"method__n_neighbors": [1, 5, 58]}
    search = GridSearchCV(CellValuer(cv=2), grid, cv=cv).fit(X, y)
    # all rows of a fold vote like the labels alone
    assert search.best_params_["method__n_neighbors"] in (1, 5)
    assert search.best_estimator_.values_.shape == X.shape
    task = GridSearchCV(CellValuer(cv=2), {"method__n_neighbors": [1, 5]}, cv=3).fit(
        X, X["alcohol"].to_numpy() * 1.01
    )
    assert np.isfinite(task.cv_results_["mean_test_score"]).all()
