"""Scikit-learn's models: checked, seeded, and trained on some rows as models of all classes."""

from __future__ import annotations

from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from shapley2d._base.words import shown
from shapley2d._models.function import describe_coalition
from shapley2d.exceptions import InputError, UtilityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.problem import Split


class Trainer:
    """Trains a model on some rows, with every open seed set to ``random_state``.

    ``option``: the model's, in messages.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from shapley2d._tables.problem import make_problem
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> (split,) = make_problem(X, [0, 0, 1, 1], X, [0, 0, 1, 1]).splits
    >>> rows = np.array([0, 1, 3])
    >>> Trainer(DecisionTreeClassifier(), split).fit(X[rows], rows).predict(X)
    array([0, 0, 0, 1])
    """

    def __init__(
        self, model: Any, split: Split, random_state: int = 0, *, option: str = "model"
    ) -> None:
        self._y, self._names = split.y, (split.train.row_names, split.train.column_names)
        self.model = prepared_model(model, split.y.task, random_state, option)
        self.name, self.takes_missing = model_name(self.model), _takes_missing(self.model)

    def fit(self, train: Any, rows: Ints, model: Any = None) -> Any:
        """The model, or a variant of it, trained on ``train``, which has the labels of ``rows``."""
        y, model = self._y, self.model if model is None else model
        if y.task == "regression":
            return cloned(model).fit(train, y.y[rows])
        present = np.unique(y.codes[rows])
        if _numbers_classes(model):
            fitted = cloned(model).fit(train, np.searchsorted(present, y.codes[rows]))
            return _of_all_classes(fitted, y.classes, present, y.classes[present])
        fitted = cloned(model).fit(train, y.y[rows])
        if present.size == y.classes.size:
            return fitted
        return _of_all_classes(fitted, y.classes, present)

    @contextmanager
    def failures(self, rows: Bools, columns: Bools) -> Iterator[None]:
        """Name the coalition in which a model fails; there is no score instead."""
        try:
            yield
        except Exception as error:
            where = describe_coalition(rows, columns, *self._names)
            words = f"{self.name} failed on {where}: {error_line(error)}"
            raise UtilityError(words) from error


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A fitted classifier whose predictions are functions of a table."""

    def __init__(
        self,
        classes: NDArray[Any],
        labels: Callable[[Any], NDArray[Any]],
        shares: Callable[[Any], Floats],
    ) -> None:
        self.classes_, self._labels, self._shares = classes, labels, shares

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of every row."""
        return self._labels(X)

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of all classes."""
        return self._shares(X)


def constant_classifier(classes: NDArray[Any], code: int, shares: Floats) -> Classifier:
    """A classifier that always predicts the class at ``code``, by the shares of all classes."""
    return Classifier(
        classes,
        lambda X: np.full(len(X), classes[code]),
        lambda X: np.tile(shares, (len(X), 1)),
    )


def _of_all_classes(
    fitted: Any, classes: NDArray[Any], present: Ints, names: NDArray[Any] | None = None
) -> Classifier:
    """A classifier trained on some classes: the others have probability 0.

    ``names``: the labels of the classes that it predicts by their numbers.
    """

    def predict(X: Any) -> NDArray[Any]:
        found = np.asarray(fitted.predict(X))
        return found if names is None else np.asarray(names[found])

    def predict_proba(X: Any) -> Floats:
        found = np.zeros((len(X), classes.size))
        found[:, present] = fitted.predict_proba(X)
        return found

    return Classifier(classes, predict, predict_proba)


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


def check_task(model: Any, task: str, option: str = "model") -> None:
    """Refuse a classifier in regression, and a regressor in classification."""
    wanted = {"classification": "classifier", "regression": "regressor"}[task]
    kind = get_tags(model).estimator_type
    if kind is not None and kind != wanted:
        raise InputError(
            f"{option}={shown(model)} is a {kind}, but the task is {task}: pass a {wanted}, or "
            "set task"
        )


def prepared_model(model: Any, task: str, random_state: int, option: str = "model") -> Any:
    """A clone of the model, of the right kind, with every open seed set."""
    if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise InputError(
            f"{option}={shown(model)} is not a scikit-learn estimator: pass an instance with fit "
            "and predict"
        )
    check_task(model, task, option)
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
