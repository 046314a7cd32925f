"""A scikit-learn model as a utility: fitted on some rows, scored on validation rows."""

from __future__ import annotations

import inspect
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

    With ``parts``, the part of every validation row, a utility is an array. A model with an open
    seed is fitted once for each part, with a seed of its own; first comes the mean score on all
    validation rows, then for each part the mean of the other seeds' scores without its rows: a
    jackknife over pairs of a seed and a part.

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
        parts: Ints | None = None,
    ) -> None:
        self._y, self._classes, self._codes = y.y, y.classes, y.codes
        self._y_valid = y_valid.y
        self._classifies = y.task == "classification"
        # their utilities, by the counts of the classes
        self._constants: dict[bytes, float | Floats] = {}
        self.model = prepared_model(model, y.task, random_state)
        self._open = ["random_state"] if model is None else _open_seeds(model)
        # the validation rows that score: all, then those without each part
        self._views: list[Ints | None] = [None]
        self._seeds: list[int] = []
        if parts is not None:
            n_parts = int(parts.max()) + 1
            self._views += [np.flatnonzero(parts != k) for k in range(n_parts)]
            self._seeds = [
                int(np.random.SeedSequence(random_state, spawn_key=(k,)).generate_state(1)[0])
                for k in range(n_parts)
            ]
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
    ) -> float | Floats:
        """The score on ``valid`` of a model fitted on some rows of ``train``.

        If the model fails, or its score is not finite, a UtilityError names the coalition by
        ``describe``; there is no default score.
        """
        try:
            scores = np.array(
                [self._scores(self._fit(one, train, rows), valid) for one in self._seeded(model)]
            )
        except Exception as error:
            words = f"{model_name(model)} failed on {describe()}: {error_line(error)}"
            raise UtilityError(words) from error
        if not np.isfinite(scores).all():
            raise UtilityError(f"{model_name(model)} scored {scores.sum()} on {describe()}")
        return self._replicated(scores)

    @property
    def n_replicates(self) -> int:
        """Numbers of a utility: 1, or one more for every part of the validation rows."""
        return len(self._views)

    @property
    def n_seeds(self) -> int:
        """Models that are fitted for a utility, each with a seed of its own."""
        return max(len(self._seeds), 1) if self._open else 1

    def _seeded(self, model: Any) -> list[Any]:
        """The model, once with every seed; as it is where it has a seed, or needs none."""
        if self.n_seeds == 1:
            return [model]
        parameters = model.get_params(deep=True)
        names = [name for name in self._open if name in parameters] or [  # else after an imputer
            name for name in parameters if any(name.endswith(f"__{one}") for one in self._open)
        ]
        return [cloned(model).set_params(**dict.fromkeys(names, seed)) for seed in self._seeds]

    def _scores(self, fitted: Any, valid: Any) -> list[float]:
        """The scores of a fitted model on all validation rows, then without each part."""
        if self._score is None and self._classifies:
            right = np.asarray(fitted.predict(valid) == self._y_valid)
            return [
                weighted_mean(right[_view(rows)], self._weights_of(rows)) for rows in self._views
            ]
        score, found = self._score or _own_score, []
        known = _Answers(fitted, valid) if len(self._views) > 1 and _asks_once(score) else None
        for rows in self._views:
            some: Any = rows if known is not None else valid
            if known is None and rows is not None:
                some = native_rows(valid, rows)
            weights = self._weights_of(rows)
            weighing = {} if weights is None else {"sample_weight": weights}
            found.append(
                float(score(known or fitted, some, self._y_valid[_view(rows)], **weighing))
            )
        return found

    def _weights_of(self, rows: Ints | None) -> Floats | None:
        return None if self._weights is None else self._weights[_view(rows)]

    def _replicated(self, scores: Floats) -> float | Floats:
        """One utility, or that and its replicates, of scores (seeds, views)."""
        if len(self._views) == 1:
            return float(scores[0, 0])
        if len(scores) == 1:
            return np.asarray(scores[0])
        without = scores[:, 1:]
        others = (without.sum(axis=0) - np.diag(without)) / (len(scores) - 1)
        return np.append(scores[:, 0].mean(), others)

    def learns(self, rows: Ints) -> bool:
        """Whether the rows have more than one class; always true in regression."""
        return not self._classifies or bool((self._codes[rows] != self._codes[rows[0]]).any())

    def constant(self, valid: Any, rows: Ints, describe: Callable[[], str]) -> float | Floats:
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

    def _constant_score(
        self, models: list[Any], valid: Any, describe: Callable[[], str]
    ) -> float | Floats:
        """The mean score of models, each of them constant."""
        try:
            scores = np.mean([self._scores(one, valid) for one in models], axis=0)
        except Exception as error:
            raise UtilityError(
                f"the best constant prediction from {describe()} cannot be scored: {error}; "
                "baseline='zero' does without it"
            ) from error
        if not np.isfinite(scores).all():
            raise UtilityError(
                f"the best constant prediction from {describe()} scored {scores.sum()}"
            )
        return self._replicated(scores[None])

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


def _asks_once(score: Any) -> bool:
    """Whether a score depends on the predictions alone, as scikit-learn's own do."""
    return type(score).__module__ == "sklearn.metrics._scorer" and hasattr(score, "_score_func")


class _Answers:
    """A fitted model that is asked about rows of one table by their positions, all if None."""

    def __init__(self, fitted: Any, table: Any) -> None:
        self._fitted, self._table = fitted, table
        self._answers: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._fitted, name)
        if name not in ("predict", "predict_proba", "decision_function"):
            return found

        def answer(rows: Ints | None) -> Any:
            if name not in self._answers:
                self._answers[name] = np.asarray(found(self._table))
            return self._answers[name][_view(rows)]

        answer.__name__ = name  # which scorers read
        return answer


def _view(rows: Ints | None) -> Any:
    return slice(None) if rows is None else rows


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
