"""Constant predictions: what the labels of some rows predict without any column.

The *best constant* of some rows is their mean in regression. In classification its probabilities
are the shares of the classes, and it predicts the most frequent class; where several classes tie,
a utility is the mean over them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from shapley2d._tables.per_row import weighted_mean

if TYPE_CHECKING:
    from numpy.typing import NDArray


def most_frequent(counts: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Which classes are the most frequent, for each line of counts."""
    return np.asarray(counts == counts.max(axis=1, keepdims=True))


class ConstantClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that always predicts the class at ``code``, by default with certainty."""

    def __init__(
        self, classes: NDArray[Any], code: int, probabilities: NDArray[np.float64] | None = None
    ) -> None:
        self.classes_ = classes
        self._code = code
        self._probabilities = np.eye(classes.size)[code] if probabilities is None else probabilities

    def predict(self, X: Any) -> NDArray[Any]:
        """The class, once per row."""
        return np.full(len(X), self.classes_[self._code])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probabilities, once per row."""
        return np.tile(self._probabilities, (len(X), 1))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """The logarithms of the probabilities."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_is_fitted__(self) -> bool:
        return True


class ConstantRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor that always predicts the same number."""

    def __init__(self, number: float) -> None:
        self._number = number

    def predict(self, X: Any) -> NDArray[np.float64]:
        """The number, once per row."""
        return np.full(len(X), self._number)

    def score(self, X: Any, y: NDArray[np.float64], sample_weight: Any = None) -> float:
        """R squared; 1 or 0 for constant targets, as scikit-learn scores them."""
        weights = 1.0 if sample_weight is None else sample_weight
        spread = float(np.sum(weights * (y - weighted_mean(y, sample_weight)) ** 2))
        error = float(np.sum(weights * (self.predict(X) - y) ** 2))
        return 1.0 - error / spread if spread > 0 else float(error == 0.0)

    def __sklearn_is_fitted__(self) -> bool:
        return True
