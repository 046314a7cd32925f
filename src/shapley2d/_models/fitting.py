"""A scikit-learn model as a utility: fitted on some rows, scored on validation rows."""

from __future__ import annotations

import inspect
import math
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from shapley2d._models.constant import ConstantClassifier, ConstantRegressor, most_frequent
from shapley2d._tables.per_row import weighted_mean
from shapley2d._tables.table import native_rows
from shapley2d.exceptions import InputError, Place, Setting, UtilityError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._tables.target import Target


class Trainer:
    """Fits a model on some rows of a table and scores it on a validation table.

    A ``model`` of None is a decision tree, as in the paper; random parts without a seed are seeded
    with ``random_state``. ``scoring`` is any of scikit-learn's; None takes the model's own score
    (accuracy, or R squared). A scorer must take ``sample_weight`` where validation rows have
    ``weights``. Rows of a single class predict that class, since many classifiers refuse to fit
    them; classes that the rows lack get probability 0.

    >>> from shapley2d._tables.convert import as_table
    >>> from shapley2d._tables.target import as_target
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> y = as_target([0, 0, 1, 1], as_table(X))
    >>> trainer = Trainer(None, y, y)
    >>> trainer.utility(trainer.model, X, X, np.array([0, 1, 3]), lambda: "three rows")
    0.75
    """

    def __init__(
        self,
        model: Any,
        y: Target,
        y_valid: Target,
        *,
        scoring: Any = None,
        weights: Floats | None = None,
        random_state: int = 0,
    ) -> None:
        self._y, self._classes, self._codes = y.y, y.classes, y.codes
        self._y_valid = y_valid.y
        self._classifies = y.task == "classification"
        # their utilities, by the counts of the classes
        self._constants: dict[bytes, float] = {}
        self.model = prepared_model(model, y.task, random_state)
        self.takes_missing = _takes_missing(self.model)
        if not self._classifies and scoring is None and y_valid.y.size < 2:
            raise InputError(
                Place("y_valid"),
                " has a single row, which is too few for R squared: pass more, or a ",
                Setting("scoring"),
            )
        if scoring is None and getattr(type(self.model), "score", None) is RegressorMixin.score:
            scoring = "r2"  # the same; a scorer asks for predictions once
        self._score = None if scoring is None else check_scoring(self.model, scoring=scoring)
        self._weights = weights
        if weights is not None and self._score is not None:
            _check_weighing(self._score, scoring)

    def utility(
        self, model: Any, train: Any, valid: Any, rows: Ints, describe: Callable[[], str]
    ) -> float:
        """The score on ``valid`` of a model fitted on some rows of ``train``.

        If the model fails, or its score is not finite, a UtilityError names the coalition by
        ``describe``; there is no default score.
        """
        try:
            score = self._scored(self._fit(model, train, rows), valid)
        except Exception as error:
            words = f"{model_name(model)} failed on {describe()}: {error_line(error)}"
            raise UtilityError(words) from error
        if not math.isfinite(score):
            raise UtilityError(f"{model_name(model)} scored {score} on {describe()}")
        return score

    def _scored(self, fitted: Any, valid: Any) -> float:
        """The score of a fitted model on the validation rows."""
        if self._score is None and self._classifies:
            return weighted_mean(fitted.predict(valid) == self._y_valid, self._weights)
        weighing = {} if self._weights is None else {"sample_weight": self._weights}
        return float((self._score or _own_score)(fitted, valid, self._y_valid, **weighing))

    def learns(self, rows: Ints) -> bool:
        """Whether the rows have more than one class; always true in regression."""
        return not self._classifies or bool((self._codes[rows] != self._codes[rows[0]]).any())

    def constant(self, valid: Any, rows: Ints, describe: Callable[[], str]) -> float:
        """The score on ``valid`` of the best constant prediction from some rows.

        Without any row all classes are equally likely, and a number is guessed to be the mean of
        all targets. The scorer is handed ``valid``, whose columns do not matter.
        """
        if not self._classifies:
            number = float(np.mean(self._y[rows] if rows.size else self._y))
            return self._constant_score([ConstantRegressor(number)], valid, describe)
        counts = np.bincount(self._codes[rows], minlength=self._classes.size)
        key = counts.tobytes()
        if key not in self._constants:
            shares = counts / rows.size if rows.size else np.full(counts.size, 1.0 / counts.size)
            models = [
                ConstantClassifier(self._classes, code, shares)
                for code in np.flatnonzero(most_frequent(counts[None])[0]).tolist()
            ]
            self._constants[key] = self._constant_score(models, valid, describe)
        return self._constants[key]

    def _constant_score(self, models: list[Any], valid: Any, describe: Callable[[], str]) -> float:
        """The mean score of models, each of them constant."""
        try:
            score = float(np.mean([self._scored(one, valid) for one in models]))
        except Exception as error:
            raise UtilityError(
                f"the best constant prediction from {describe()} cannot be scored: {error}; "
                "baseline='zero' does without it"
            ) from error
        if not math.isfinite(score):
            raise UtilityError(f"the best constant prediction from {describe()} scored {score}")
        return score

    def _fit(self, model: Any, train: Any, rows: Ints) -> Any:
        if not self._classifies:
            return cloned(model).fit(native_rows(train, rows), self._y[rows])
        present = np.flatnonzero(np.bincount(self._codes[rows]))
        if present.size == 1:
            return ConstantClassifier(self._classes, int(present[0]))
        if _numbers_classes(model):
            codes = np.searchsorted(present, self._codes[rows])
            fitted = cloned(model).fit(native_rows(train, rows), codes)
            return _OfNumbers(fitted, self._classes, present)
        fitted = cloned(model).fit(native_rows(train, rows), self._y[rows])
        if present.size == self._classes.size:
            return fitted
        return _WithAllClasses(fitted, self._classes, present)


def _own_score(model: Any, X: Any, y: Any, **weighing: Any) -> float:
    return float(model.score(X, y, **weighing))


def model_name(model: Any) -> str:
    """A model in a message: its type, the last step's of a pipeline; settings are long."""
    return type(last_step(model)).__name__


def error_line(error: Exception) -> str:
    """What an error says, in one line that is not too long."""
    words = " ".join(str(error).split()) or type(error).__name__
    return words if len(words) <= 200 else f"{words[:197]}..."


def last_step(model: Any) -> Any:
    """The last step of a pipeline; any other model itself."""
    return last_step(model.steps[-1][1]) if isinstance(model, Pipeline) else model


def _numbers_classes(model: Any) -> bool:
    """Whether a model takes no classes but 0, 1, 2 and so on, as XGBoost's does."""
    return type(last_step(model)).__module__.startswith("xgboost.")


def cloned(model: Any) -> Any:
    """A clone; a copy of a model whose constructor changes a setting, as CatBoost's does."""
    try:
        return clone(model)
    except RuntimeError:
        return deepcopy(model)


def _check_weighing(scorer: Any, scoring: Any) -> None:
    """Refuse a score that cannot weigh its rows."""
    function = getattr(scorer, "_score_func", scorer)
    parameters = inspect.signature(function).parameters.values()
    if any(one.name == "sample_weight" or one.kind is one.VAR_KEYWORD for one in parameters):
        return
    raise InputError(
        Setting("scoring", scoring),
        " takes no sample_weight, so that it cannot weigh validation rows: leave ",
        Setting("valid_weight"),
        " out, or use another score",
    )


def check_task(model: Any, task: str) -> None:
    """Refuse a classifier in regression, and a regressor in classification."""
    wanted = {"classification": "classifier", "regression": "regressor"}[task]
    kind = get_tags(model).estimator_type
    if kind is not None and kind != wanted:
        raise InputError(
            Setting("model", model),
            f" is a {kind}, but the task is {task}: pass a {wanted}, or set ",
            Setting("task"),
        )


def prepared_model(model: Any, task: str, random_state: int) -> Any:
    """A clone of the model, of the right kind, with every open seed set."""
    if model is None:
        model = DecisionTreeClassifier() if task == "classification" else DecisionTreeRegressor()
    if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise InputError(
            Setting("model", model),
            " is not a scikit-learn estimator: pass an instance with fit and predict",
        )
    check_task(model, task)
    model, names = cloned(model), _open_seeds(model)
    return model.set_params(**dict.fromkeys(names, random_state)) if names else model


def _open_seeds(model: Any) -> list[str]:
    """The parameters of a model that are seeds, and were left open."""
    return [
        name
        for name, value in model.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    ]


def _takes_missing(model: Any) -> bool:
    """Whether a model takes missing entries; of a pipeline, all steps up to one that fills them."""
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


class _WithAllClasses(ConstantClassifier):
    """A classifier fitted without some classes, which get probability 0."""

    def __init__(self, fitted: Any, classes: NDArray[Any], present: Ints) -> None:
        super().__init__(classes, int(present[0]))
        self._fitted = fitted
        self._present = present

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._fitted.predict(X))

    def predict_proba(self, X: Any) -> Floats:
        probabilities = np.zeros((len(X), self.classes_.size))
        probabilities[:, self._present] = self._fitted.predict_proba(X)
        return probabilities


class _OfNumbers(_WithAllClasses):
    """A classifier fitted to the positions of the classes that were present."""

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self.classes_[self._present[np.asarray(self._fitted.predict(X))]])
