"""How a scikit-learn model becomes a utility: prepared once, fitted on some rows, scored on validation rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from shapley2d._tables.table import native_rows
from shapley2d.exceptions import InputError, Place, Setting, UtilityError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._tables.target import Target


class Trainer:
    """Fits a model on some rows of a table and scores it on a validation table.

    Parameters
    ----------
    model : scikit-learn estimator or pipeline, or None
        None takes a decision tree, as the paper does. Random parts without a seed are seeded with ``random_state``.
    y, y_valid : Target
    scoring : str, callable or None
        Any scikit-learn ``scoring``; None takes the model's own score (accuracy, or R squared).
    random_state : int

    Attributes
    ----------
    model : estimator
        A clone, of the right kind, with every open seed set.
    takes_missing : bool
        Whether the model can be given missing entries.

    Notes
    -----
    Rows of a single class predict that class, since many classifiers refuse to fit them. Classes that the rows lack get
    probability 0.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> from shapley2d._tables.target import as_target
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> y = as_target([0, 0, 1, 1], as_table(X))
    >>> trainer = Trainer(None, y, y)
    >>> trainer.utility(trainer.model, X, X, np.array([0, 1, 3]), lambda: "three rows")
    0.75
    """

    def __init__(
        self, model: Any, y: Target, y_valid: Target, *, scoring: Any = None, random_state: int = 0
    ) -> None:
        self._y, self._classes, self._codes = y.y, y.classes, y.codes
        self._y_valid = y_valid.y
        self._classifies = y.task == "classification"
        self.model = _prepared(model, y.task, random_state)
        self.takes_missing = _takes_missing(self.model)
        self._score = None if scoring is None else check_scoring(self.model, scoring=scoring)
        if not self._classifies and scoring is None and y_valid.y.size < 2:
            raise InputError(
                Place("y_valid"),
                " has a single row, which is too few for R squared: pass more, or a ",
                Setting("scoring"),
            )

    def utility(
        self, model: Any, train: Any, valid: Any, rows: NDArray[np.intp], describe: Callable[[], str]
    ) -> float:
        """The score on ``valid`` of a model fitted on some rows of ``train``.

        Parameters
        ----------
        model : estimator
            :attr:`model`, or a pipeline around it.
        train, valid : array or frame
        rows : ndarray of int
        describe : callable
            Names the coalition, for the message of a failure.

        Raises
        ------
        UtilityError
            If the model fails or its score is no number; there is no default score.
        """
        try:
            fitted = self._fit(model, train, rows)
            if self._score is not None:
                utility = float(self._score(fitted, valid, self._y_valid))
            elif self._classifies:
                utility = float(np.mean(fitted.predict(valid) == self._y_valid))
            else:
                utility = float(fitted.score(valid, self._y_valid))
        except Exception as error:
            raise UtilityError(f"{model!r} failed on {describe()}: {error}") from error
        if not math.isfinite(utility):
            raise UtilityError(f"{model!r} scored {utility} on {describe()}")
        return utility

    def _fit(self, model: Any, train: Any, rows: NDArray[np.intp]) -> Any:
        if not self._classifies:
            return clone(model).fit(native_rows(train, rows), self._y[rows])
        present = np.flatnonzero(np.bincount(self._codes[rows]))
        if present.size == 1:
            return _SingleClass(self._classes, int(present[0]))
        fitted = clone(model).fit(native_rows(train, rows), self._y[rows])
        return (
            fitted if present.size == self._classes.size else _WithAllClasses(fitted, self._classes, present)
        )


def _prepared(model: Any, task: str, random_state: int) -> Any:
    """A clone of the model, of the right kind, with every open seed set."""
    if model is None:
        model = DecisionTreeClassifier() if task == "classification" else DecisionTreeRegressor()
    if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise InputError(
            Setting("model", model), " is not a scikit-learn estimator: pass an instance with fit and predict"
        )
    wanted = {"classification": "classifier", "regression": "regressor"}[task]
    kind = get_tags(model).estimator_type
    if kind is not None and kind != wanted:
        raise InputError(
            Setting("model", model),
            f" is a {kind}, but the task is {task}: pass a {wanted}, or set ",
            Setting("task"),
        )
    model = clone(model)
    open_seeds = {
        name: random_state
        for name, value in model.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    return model.set_params(**open_seeds) if open_seeds else model


def _takes_missing(model: Any) -> bool:
    """Whether a model can be given missing entries; a pipeline can if its steps can, up to one that fills them."""
    if not isinstance(model, Pipeline):
        return bool(get_tags(model).input_tags.allow_nan)
    for _, step in model.steps:
        if step is None or step == "passthrough":
            continue
        if type(step).__module__.startswith("sklearn.impute"):
            return True
        if not _takes_missing(step):
            return False
    return True


class _SingleClass(BaseEstimator):  # type: ignore[misc]
    """What every classifier learns from rows of one class: that class."""

    _estimator_type = "classifier"

    def __init__(self, classes: NDArray[Any], code: int) -> None:
        self.classes_ = classes
        self._code = code

    def predict(self, X: Any) -> NDArray[Any]:
        return np.full(len(X), self.classes_[self._code])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        probabilities = np.zeros((len(X), self.classes_.size))
        probabilities[:, self._code] = 1.0
        return probabilities

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _WithAllClasses(_SingleClass):
    """A classifier fitted without some classes, which get probability 0."""

    def __init__(self, fitted: Any, classes: NDArray[Any], present: NDArray[np.intp]) -> None:
        self.classes_ = classes
        self._fitted = fitted
        self._present = present

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._fitted.predict(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        probabilities = np.zeros((len(X), self.classes_.size))
        probabilities[:, self._present] = self._fitted.predict_proba(X)
        return probabilities
