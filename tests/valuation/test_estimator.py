"""The scikit-learn estimator."""

from __future__ import annotations

import inspect
from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest
from shapley2d._methods.registry import METHODS, all_options, common_default
from shapley2d._valuation.question import Question
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold, cross_validate
from sklearn.utils.estimator_checks import parametrize_with_checks

from shapley2d import (
    KNN,
    CellValuer,
    InputError,
    MonteCarlo,
    audit_owners,
    value_blocks,
    value_cells,
)
from shapley2d._market.job import BlockQuestion

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
    valuer = CellValuer(MonteCarlo(max_permutations=2, tolerance=0)).fit(
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


def test_every_option_of_every_method_is_a_parameter():
    of_rows = keywords(CellValuer.fit)
    assert set(of_rows) == {*TABLES, "groups", "time", "valid_weight"}
    shared = {name: one for name, one in keywords(value_cells).items() if name not in of_rows}
    options = {name: common_default(name) for name in all_options()}
    assert {**shared, "progress": False, **options} == keywords(CellValuer)
    shown = CellValuer().get_params()
    of_knn = {option.name: option.default for option in METHODS["knn"].options}
    assert {name: shown[name] for name in of_knn} == of_knn


def test_a_default_goes_with_any_method():
    X, y = np.eye(12), [0, 1] * 6
    plain = CellValuer(KNN(max_trees=1000)).fit(X, y).values_
    np.testing.assert_array_equal(CellValuer().fit(X, y).values_, plain)
    with pytest.raises(TypeError, match="method 'knn' has no option 'max_trees'"):
        CellValuer(KNN(max_trees=999)).fit(X, y)


def test_the_functions_and_the_record_that_they_share_have_the_same_keywords():
    asked = {one.name: one.default for one in fields(Question) if one.name != "options"}
    asked |= {"X": inspect.Parameter.empty, "y": inspect.Parameter.empty}
    assert keywords(value_cells) == asked
    of_blocks = {one.name: one.default for one in fields(BlockQuestion) if one.name != "options"}
    of_blocks |= {"X": inspect.Parameter.empty, "y": inspect.Parameter.empty}
    assert keywords(value_blocks) == of_blocks
    of_audits = {"total": 100_000, "negative": None}
    of_audits |= {"trusted": False, "sellers": True}
    # answers that ended by the clock cannot be compared with one another
    of_blocks.pop("max_time")
    assert keywords(audit_owners) == {**of_blocks, **of_audits}


class QuickValuer(CellValuer):
    """A subclass with parameters of its own."""

    def __init__(self, n_neighbors=3, *, rounded=True):
        super().__init__("knn", n_neighbors=n_neighbors, cv=2)
        self.rounded = rounded

    def fit(self, X, y):
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


def test_unknown_parameters_are_refused():
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_neighbours'"):
        CellValuer(n_neighbours=3)


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
    for options in (
        {},
        {"n_neighbors": 3, "metric": "sqeuclidean", "baseline": "zero"},
        {"method": "mc", "model": "gaussian_nb", "max_permutations": 2, "tolerance": 0},
        {
            "method": "mc",
            "model": "ridge",
            "baseline": "zero",
            "max_permutations": 2,
            "tolerance": 0,
        },
    ):
        valuer = CellValuer(cv=2, **options).fit(X, y)
        assert valuer.score(X_test, y_test) == pytest.approx(
            value_cells(X, y, X_test, y_test, progress=False, **options).total, abs=1e-12
        )


def test_the_score_needs_a_method_that_has_one_and_a_fit():
    X, y = np.eye(12), [0, 1] * 6
    own = replace(METHODS["knn"], name="own", score=None)
    with pytest.raises(InputError, match="method='own' has no score: use method='knn'"):
        CellValuer(own).fit(X, y).score(X, y)
    with pytest.raises(NotFittedError):
        CellValuer().score(X, y)


def test_cross_validation_and_grid_search():
    X, y = load_wine(return_X_y=True, as_frame=True)
    X, y = X.iloc[::2, :4], y.iloc[::2]
    cv = StratifiedKFold(3, shuffle=True, random_state=0)
    scores = cross_validate(CellValuer(KNN(n_neighbors=3), cv=2), X, y, cv=cv)["test_score"]
    assert scores.shape == (3,) and scores.min() > 0.1
    search = GridSearchCV(CellValuer(cv=2), {"n_neighbors": [1, 5, 58]}, cv=cv).fit(X, y)
    assert search.best_params_["n_neighbors"] in (
        1,
        5,
    )  # all rows of a fold vote like the labels alone
    assert search.best_estimator_.values_.shape == X.shape
    task = GridSearchCV(CellValuer(cv=2), {"n_neighbors": [1, 5]}, cv=3).fit(
        X, X["alcohol"].to_numpy() * 1.01
    )
    assert np.isfinite(task.cv_results_["mean_test_score"]).all()
