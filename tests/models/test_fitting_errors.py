"""Models of other libraries: their errors in one line, and classes that they do not take."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shapley2d import Exact, value_cells
from shapley2d.exceptions import UtilityError


class CountsClasses(ClassifierMixin, BaseEstimator):
    """Takes no classes but 0, 1, 2 and so on, as XGBoost's classifier does."""

    def __init__(self, settings="a" * 900):
        self.settings = settings

    def fit(self, X, y):
        if not np.array_equal(np.unique(y), np.arange(np.unique(y).size)):
            raise ValueError(f"Invalid classes inferred: got {np.unique(y)}\nsee the manual")
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X):
        return self.model_.predict(X)

    def predict_proba(self, X):
        return self.model_.predict_proba(X)


def tables():
    X, words = np.random.default_rng(0).normal(size=(60, 2)), np.array(["low", "mid", "top"])
    y = words[np.digitize(X[:, 0], [-0.5, 0.5])]
    return X[:40], y[:40], X[40:], y[40:]


@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_a_model_that_counts_classes_takes_texts(monkeypatch, scoring):
    monkeypatch.setattr(CountsClasses, "__module__", "xgboost.sklearn")
    options = {"row_groups": np.arange(40) % 3, "scoring": scoring, "n_jobs": 1}
    wanted = value_cells(*tables(), method=Exact(GaussianNB()), **options)
    for model in (CountsClasses(), make_pipeline(StandardScaler(), CountsClasses())):
        found = value_cells(*tables(), method=Exact(model), **options)
        np.testing.assert_allclose(found.values, wanted.values, atol=1e-6)


def test_an_error_of_a_model_is_one_short_line():
    with pytest.raises(UtilityError) as caught:
        value_cells(
            *tables(), method=Exact(CountsClasses()), row_groups=np.arange(40) % 2, n_jobs=1
        )
    words = str(caught.value)
    assert words.startswith("CountsClasses failed on ") and "Invalid classes inferred" in words
    assert len(words) < 300 and "\n" not in words
