"""Models by name: one vocabulary for Python and for the command line.

A *built-in* model is this package's own, which evaluates whole grids of coalitions; the others are
scikit-learn's, with settings that suit small coalitions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from shapley2d._base.words import nearest_word
from shapley2d._knn.method import KNN
from shapley2d._methods.method import Method
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Model:
    """A model that has a name."""

    name: str
    summary: str
    estimators: tuple[str, ...] = ()  # scikit-learn's, of classes and of numbers; none: built in
    settings: Mapping[str, Any] = field(default_factory=dict)  # theirs
    scales: bool = False  # whether columns are scaled before
    classifies_only: bool = False  # whether it predicts classes only
    scorings: tuple[str, ...] = ()  # the scores that it can compute, if not all of scikit-learn's

    @property
    def built_in(self) -> bool:
        """Whether it is this package's own."""
        return not self.estimators

    def make(self, task: str) -> Any:
        """Scikit-learn's estimator."""
        module, name = self.estimators[task == "regression"].split(".")
        model = getattr(import_module(f"sklearn.{module}"), name)(**self.settings)
        if not self.scales:
            return model
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), model)


MODELS = {
    model.name: model
    for model in (
        Model(
            "tree",
            "scikit-learn's decision tree",
            ("tree.DecisionTreeClassifier", "tree.DecisionTreeRegressor"),
        ),
        Model(
            "gaussian_nb",
            "Gaussian naive Bayes, built in",
            classifies_only=True,
            scorings=("accuracy", "balanced_accuracy"),
        ),
        Model(
            "ridge",
            "ridge regression or classification, built in, columns not scaled",
            scorings=("accuracy", "balanced_accuracy", "r2"),
        ),
        Model("knn", "the K-nearest-neighbour utility, built in; KNN(...) for other options"),
        Model(
            "boosting",
            "boosted trees, built in: milliseconds a subset, missing entries as such",
            scorings=("accuracy", "balanced_accuracy", "neg_log_loss", "r2"),
        ),
        Model(
            "forest",
            "scikit-learn's random forest, 50 trees",
            ("ensemble.RandomForestClassifier", "ensemble.RandomForestRegressor"),
            {"n_estimators": 50},
        ),
        Model(
            "hist_gradient_boosting",
            "scikit-learn's histogram gradient boosting, 50 rounds",
            ("ensemble.HistGradientBoostingClassifier", "ensemble.HistGradientBoostingRegressor"),
            {"max_iter": 50, "min_samples_leaf": 5},
        ),
        # the solvers of these do not draw: a seed tells that no other fit is needed
        Model(
            "logistic",
            "scikit-learn's logistic regression on scaled columns",
            ("linear_model.LogisticRegression",),
            {"max_iter": 1000, "random_state": 0},
            scales=True,
            classifies_only=True,
        ),
        Model(
            "scaled_ridge",
            "scikit-learn's ridge on scaled columns",
            ("linear_model.RidgeClassifier", "linear_model.Ridge"),
            {"random_state": 0},
            scales=True,
        ),
    )
}
"""The models by name."""

_INSTEAD = {"ridge": "scaled_ridge", "boosting": "hist_gradient_boosting"}

_OF_NUMBERS = ("r2", "neg_mean_squared_error")  # scores of regressions


OF_NEIGHBOURS = ("n_neighbors", "metric", "votes")
"""The options of ``KNN`` that are those of the model; others are about the closed form."""


def check_neighbours(knn: KNN, words: Any) -> None:
    """Refuse options of the closed form where nearest neighbours are a model of ``words``."""
    other = [name for name in ("subsets", "n_subsets", "valid_rows") if name in knn.settings()]
    if other:
        raise InputError(
            Setting(other[0], getattr(knn, other[0])), " does not go with ", words,
            ": leave it out",
        )  # fmt: skip


def check_model(model: Any, name: str = "model") -> None:
    """Check the name of a model."""
    if isinstance(model, KNN):
        check_neighbours(model, "nearest neighbours as a model")
    elif isinstance(model, Method):
        raise InputError(Setting(name, model), " is a method: give a model, such as ", "'tree'")
    elif isinstance(model, str) and model not in MODELS:
        near = nearest_word(model, MODELS)
        hint = f"did you mean {near!r}?" if near else f"use one of {', '.join(map(repr, MODELS))}"
        raise InputError(
            Setting(name, model),
            f" is not a scikit-learn estimator and not the name of a model: {hint}",
        )


def is_built_in(model: Any) -> bool:
    """Whether a model is one of this package's own: by name, or nearest neighbours with options."""
    return isinstance(model, KNN) or (isinstance(model, str) and MODELS[model].built_in)


def knn_of(model: Any) -> KNN | None:
    """The nearest neighbours that a model stands for, if it does."""
    if isinstance(model, KNN):
        return model
    return KNN() if isinstance(model, str) and model == "knn" else None


def resolve_model(
    model: Any, task: str, scoring: Any = None, preprocess: str = "auto", truncation: Any = None
) -> Any:
    """The name of a built-in model, or scikit-learn's estimator."""
    if not isinstance(model, str):
        return model
    record = MODELS[model]
    instead = Setting("model", _INSTEAD.get(model, "tree"))
    options = {"preprocess": (preprocess, "auto"), "truncation": (truncation, None)}
    for name, (value, default) in options.items():
        if record.built_in and value != default:
            raise InputError(
                Setting(name, value), " does not go with ", Setting("model", model),
                ", which is built in: leave it out, or use another model, such as ", instead,
            )  # fmt: skip
    if record.classifies_only and task == "regression":
        raise InputError(
            Setting("model", model),
            " predicts classes, but the task is regression: use ",
            Setting("model", "ridge"),
            " or ",
            Setting("model", "tree"),
            ", or set ",
            Setting("task", "classification"),
        )
    if record.scorings:
        _check_scoring(record, task, scoring)
    return model if record.built_in else record.make(task)


def _check_scoring(record: Model, task: str, scoring: Any) -> None:
    """Refuse a score that a built-in model cannot compute."""
    known = [name for name in record.scorings if (name in _OF_NUMBERS) == (task == "regression")]
    if scoring is None or (isinstance(scoring, str) and scoring in known):
        return
    instead = _INSTEAD.get(record.name, "tree")
    if task == "classification" and scoring in ("neg_log_loss", "roc_auc"):
        instead = "logistic"
    raise InputError(
        Setting("scoring", scoring),
        " cannot be computed by the built-in ",
        Setting("model", record.name),
        f" in {task}: use {', '.join(known)}, or a model of scikit-learn, such as ",
        Setting("model", instead),
    )
