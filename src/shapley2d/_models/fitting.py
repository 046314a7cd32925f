"""Scikit-learn's models: checked, seeded, and trained on some rows as models of all classes."""

from __future__ import annotations

from contextlib import contextmanager
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import shown
from shapley2d._models.games import describe_coalition
from shapley2d.exceptions import InputError, UtilityError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target


class Trainer:
    """Trains a model on some rows, with every open seed set to ``random_state``.

    ``y``, ``train``: the labels of the rows, and the table that names rows and columns.
    ``option``: the model's, in messages.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from shapley2d._tables.problem import make_problem
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> (split,) = make_problem(X, [0, 0, 1, 1], X, [0, 0, 1, 1]).splits
    >>> rows = np.array([0, 1, 3])
    >>> Trainer(DecisionTreeClassifier(), split.y, split.train).fit(X[rows], rows).predict(X)
    array([0, 0, 0, 1])
    """

    def __init__(
        self, model: Any, y: Target, train: Table, random_state: int = 0, *, option: str = "model"
    ) -> None:
        self._y, self._names = y, (train.row_names, train.column_names)
        self.model = prepared_model(model, y.task, random_state, option)
        self.name, self.takes_missing = model_name(self.model), _takes_missing(self.model)

    def fit(self, train: Any, rows: Ints, model: Any = None) -> Any:
        """The model, or a variant of it, trained on ``train``, which has the labels of ``rows``."""
        y, model = self._y, cloned(self.model if model is None else model)
        if y.task == "regression":
            return model.fit(train, y.y[rows])
        present = np.unique(y.codes[rows])
        if type(last_step(model)).__module__.startswith("xgboost."):  # no labels but 0, 1, 2, ...
            fitted = model.fit(train, np.searchsorted(present, y.codes[rows]))
            return AllClasses(fitted, y.classes, present, y.classes[present])
        fitted = model.fit(train, y.y[rows])
        return fitted if present.size == y.classes.size else AllClasses(fitted, y.classes, present)

    @contextmanager
    def training(self, rows: Bools, columns: Bools) -> Iterator[None]:
        """Ignore warnings, and name the coalition in which a model fails."""
        try:
            with without_warnings():
                yield
        except Exception as error:
            where = describe_coalition(rows, columns, *self._names)
            words = f"{self.name} failed on {where}: {error_line(error)}"
            raise UtilityError(words) from error


class AllClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier trained on some of the classes: the others have probability 0.

    ``labels``: those of its classes, where it predicts their numbers.
    """

    def __init__(
        self,
        fitted: Any,
        classes: NDArray[Any],
        present: Ints,
        labels: NDArray[Any] | None = None,
    ) -> None:
        self.fitted, self.classes_, self.present, self.labels = fitted, classes, present, labels

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of every row."""
        found = np.asarray(self.fitted.predict(X))
        return found if self.labels is None else np.asarray(self.labels[found])

    def predict_proba(self, X: Any) -> Floats:
        """The probabilities of all classes."""
        found = np.zeros((len(X), self.classes_.size))
        found[:, self.present] = self.fitted.predict_proba(X)
        return found


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
    model = cloned(model)
    seeds = {
        name: random_state
        for name, value in model.get_params().items()
        if name.split("__")[-1] == "random_state" and value is None
    }
    return model.set_params(**seeds) if seeds else model


def _takes_missing(model: Any) -> bool:
    """Whether a model takes missing entries; of a pipeline, all steps up to one that fills them."""
    if not isinstance(model, Pipeline):
        return bool(get_tags(model).input_tags.allow_nan)
    for _, step in model.steps:
        if type(step).__module__.startswith("sklearn.impute"):
            return True
        if step not in (None, "passthrough") and not _takes_missing(step):
            return False
    return True
