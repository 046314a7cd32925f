"""Models by name: one vocabulary for Python and for the command line.

A *built-in* model is this package's own; the others are scikit-learn's, by the names of their
classes, with settings that suit small coalitions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from shapley2d._base.words import nearest_word, shown
from shapley2d._knn.method import KNN
from shapley2d._methods.method import Method
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Model:
    """A model that has a name."""

    summary: str
    estimators: tuple[str, ...] = ()  # scikit-learn's, of classes and of numbers; none: built in
    settings: Mapping[str, Any] = field(default_factory=dict)  # theirs
    classifies_only: bool = False
    scorings: tuple[str, ...] = ()  # the scores that it can compute, if not all of scikit-learn's
    instead: str = "tree"  # a model of scikit-learn that comes near


MODELS = {
    "tree": Model(
        "scikit-learn's decision tree",
        ("tree.DecisionTreeClassifier", "tree.DecisionTreeRegressor"),
    ),
    "gaussian_nb": Model(
        "Gaussian naive Bayes, built in",
        classifies_only=True,
        scorings=("accuracy", "balanced_accuracy"),
    ),
    "ridge": Model(
        "ridge regression or classification, built in, columns not scaled",
        scorings=("accuracy", "balanced_accuracy", "r2"),
    ),
    "knn": Model("the K-nearest-neighbour utility, built in; KNN(...) for other options"),
    "boosting": Model(
        "boosted trees, built in: milliseconds a subset, missing entries as such",
        scorings=("probability", "accuracy", "balanced_accuracy", "neg_log_loss", "r2"),
        instead="hist_gradient_boosting",
    ),
    "random_forest": Model(
        "scikit-learn's random forest, 50 trees",
        ("ensemble.RandomForestClassifier", "ensemble.RandomForestRegressor"),
        {"n_estimators": 50},
    ),
    "hist_gradient_boosting": Model(
        "scikit-learn's histogram gradient boosting, 50 rounds",
        ("ensemble.HistGradientBoostingClassifier", "ensemble.HistGradientBoostingRegressor"),
        {"max_iter": 50, "min_samples_leaf": 5},
    ),
    "logistic_regression": Model(
        "scikit-learn's logistic regression on scaled columns",
        ("linear_model.LogisticRegression",),
        # its solver does not draw: a seed tells that no other fit is needed
        {"max_iter": 1000, "random_state": 0},
        classifies_only=True,
    ),
}
"""The models by name."""

TAKE_MISSING = ("boosting", "hist_gradient_boosting", "tree")
"""Those that take missing entries."""

_OF_NUMBERS = ("r2",)  # scores of regressions


OF_NEIGHBOURS = ("n_neighbors", "metric", "votes")
"""The options of ``KNN`` that are those of the model; others are about the closed form."""


def check_neighbours(knn: KNN, words: str) -> None:
    """Refuse options of the closed form where nearest neighbours are a model of ``words``."""
    for name, value in knn.settings().items():
        if name in ("subsets", "n_subsets", "valid_rows"):
            raise InputError(f"{name}={value!r} does not go with {words}: leave it out")


def check_model(model: Any, name: str = "model") -> None:
    """Check the name of a model."""
    if isinstance(model, KNN):
        check_neighbours(model, "nearest neighbours as a model")
    elif isinstance(model, Method):
        raise InputError(f"{name}={model!r} is a method: give a model, such as 'tree'")
    elif isinstance(model, str) and model not in MODELS:
        near = nearest_word(model, MODELS)
        hint = f"did you mean {near!r}?" if near else f"use one of {', '.join(map(repr, MODELS))}"
        raise InputError(
            f"{name}={shown(model)} is not a scikit-learn estimator and not the name of a model: "
            f"{hint}"
        )


def is_built_in(model: Any) -> bool:
    """Whether a model is one of this package's own: by name, or nearest neighbours with options."""
    return isinstance(model, KNN) or (isinstance(model, str) and not MODELS[model].estimators)


def knn_of(model: Any) -> KNN | None:
    """The nearest neighbours that a model stands for, if it does."""
    if isinstance(model, KNN):
        return model
    return KNN() if isinstance(model, str) and model == "knn" else None


def resolve_model(model: Any, task: str, scoring: Any = None, **options: Any) -> Any:
    """The name of a built-in model, nearest neighbours, or scikit-learn's estimator.

    ``options``: what built-in models do not take, None where it is not asked for.
    """
    knn = knn_of(model)
    name = "knn" if knn else model
    if not isinstance(name, str):
        return model
    record = MODELS[name]
    for option, value in options.items():
        if is_built_in(name) and value is not None:
            raise InputError(
                f"{option}={value!r} does not go with model={name!r}, which is built in: leave it "
                f"out, or use another model, such as model={record.instead!r}"
            )
    if task == "regression" and record.classifies_only:
        raise InputError(
            f"model={name!r} predicts classes, but the task is regression: use model='ridge' or "
            "model='tree', or set task='classification'"
        )
    known = [score for score in record.scorings if (score in _OF_NUMBERS) == (task == "regression")]
    if known and scoring is not None and scoring not in known:
        needs_shares = scoring in ("neg_log_loss", "roc_auc")
        raise InputError(
            f"scoring={shown(scoring)} cannot be computed by the built-in model={name!r} in "
            f"{task}: use {', '.join(known)}, or a model of scikit-learn, such as "
            f"model={('logistic_regression' if needs_shares else record.instead)!r}"
        )
    if record.estimators:
        return _estimator(record, task)
    return knn or name


def _estimator(record: Model, task: str) -> Any:
    """Scikit-learn's estimator; a linear one on scaled columns."""
    module, name = record.estimators[task == "regression"].split(".")
    model = getattr(import_module(f"sklearn.{module}"), name)(**record.settings)
    if module != "linear_model":
        return model
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)
