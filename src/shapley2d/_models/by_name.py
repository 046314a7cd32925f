"""Models by name: one vocabulary for Python and for the command line.

A *built-in* model is this package's own, which evaluates whole grids of coalitions; the others are
scikit-learn's, with settings that suit small coalitions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapley2d._base.words import nearest_word
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Model:
    """A model that has a name."""

    name: str
    summary: str
    # ``make(task)``: scikit-learn's estimator; None for a built-in model
    make: Callable[[str], Any] | None = None
    classifies_only: bool = False  # whether it predicts classes only
    # the options of the method that apply to it
    options: tuple[str, ...] = ("scoring", "preprocess", "truncation")
    scorings: tuple[str, ...] = ()  # the scores that it can compute, if not all of scikit-learn's

    @property
    def built_in(self) -> bool:
        """Whether it is this package's own."""
        return self.make is None


def _tree(task: str) -> Any:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    return DecisionTreeClassifier() if task == "classification" else DecisionTreeRegressor()


def _forest(task: str) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    return (RandomForestClassifier if task == "classification" else RandomForestRegressor)(
        n_estimators=50
    )


def _boosting(task: str) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    boosting = (
        HistGradientBoostingClassifier
        if task == "classification"
        else HistGradientBoostingRegressor
    )
    return boosting(max_iter=50, min_samples_leaf=5)


def _logistic(task: str) -> Any:  # noqa: ARG001  (classes only)
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


def _scaled_ridge(task: str) -> Any:
    from sklearn.linear_model import Ridge, RidgeClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        StandardScaler(), RidgeClassifier() if task == "classification" else Ridge()
    )


MODELS = {
    model.name: model
    for model in (
        Model("tree", "scikit-learn's decision tree", _tree),
        Model(
            "gaussian_nb",
            "Gaussian naive Bayes, built in",
            classifies_only=True,
            options=("scoring",),
            scorings=("accuracy", "balanced_accuracy", "f1", "neg_log_loss", "roc_auc"),
        ),
        Model(
            "ridge",
            "ridge regression or classification, built in, columns not scaled",
            options=("scoring",),
            scorings=("accuracy", "balanced_accuracy", "f1", "roc_auc", "r2"),
        ),
        Model(
            "knn",
            "the K-nearest-neighbour utility, built in",
            options=("n_neighbors", "metric", "votes", "scoring"),
            scorings=("accuracy", "balanced_accuracy", "neg_mean_squared_error"),
        ),
        Model("forest", "scikit-learn's random forest of 50 trees", _forest),
        Model(
            "hist_gradient_boosting",
            "scikit-learn's histogram gradient boosting, 50 rounds",
            _boosting,
        ),
        Model(
            "logistic",
            "scikit-learn's logistic regression on scaled columns",
            _logistic,
            classifies_only=True,
        ),
        Model("scaled_ridge", "scikit-learn's ridge on scaled columns", _scaled_ridge),
    )
}
"""The models by name."""

_OF_NUMBERS = ("r2", "neg_mean_squared_error")  # scores of regressions


def check_model(model: Any, name: str = "model") -> None:
    """Check the name of a model."""
    if not isinstance(model, str) or model in MODELS:
        return
    near = nearest_word(model, MODELS)
    hint = f"did you mean {near!r}?" if near else f"use one of {', '.join(map(repr, MODELS))}"
    raise InputError(
        Setting(name, model),
        f" is not a scikit-learn estimator and not the name of a model: {hint}",
    )


def is_knn(model: Any) -> bool:
    """Whether a model is the built-in K nearest neighbours."""
    return isinstance(model, str) and model == "knn"


def is_built_in(model: Any) -> bool:
    """Whether a model is the name of one of this package's own."""
    check_model(model)
    return isinstance(model, str) and MODELS[model].built_in


def resolve_model(model: Any, task: str, given: dict[str, Any]) -> Any:
    """The name of a built-in model, or scikit-learn's estimator.

    ``given`` has the other options; None where not given.
    """
    check_model(model)
    record = (
        MODELS[model] if isinstance(model, str) else Model("", "", options=MODELS["tree"].options)
    )
    for name, value in given.items():
        default = value is None or (name == "preprocess" and value == "auto")
        if not default and name not in record.options:
            raise InputError(
                Setting(name, value),
                " does not go with ",
                Setting("model", model),
                *_why_not(record, name),
            )
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
        _check_scoring(record, task, given.get("scoring"))
    if not isinstance(model, str) or record.make is None:
        return model
    return record.make(task)


def knn_has_not(scoring: Any, task: str) -> InputError:
    """The error for a score that has no closed form for nearest neighbours."""
    kind = "Regressor" if task == "regression" else "Classifier"
    why = " has no closed form: it is not a mean over validation rows: use "
    if isinstance(scoring, str) and "absolute" in scoring:
        why = " has no closed form: the absolute error is not a sum over pairs of neighbours: use "
    elif task == "regression":
        why = " has no closed form: nearest neighbours have the squared error only: use "
    known = [
        name for name in MODELS["knn"].scorings if (name in _OF_NUMBERS) == (task == "regression")
    ]
    return InputError(
        Setting("scoring", scoring),
        why,
        *([Setting("scoring", known[0])] if len(known) == 1 else [f"{known[0]!r} or {known[1]!r}"]),
        ", or ",
        Setting("method", "mc"),
        f" with a model of scikit-learn, such as KNeighbors{kind}()",
    )


def check_knn_scoring(scoring: Any, task: str) -> None:
    """Refuse a score that nearest neighbours have no closed form for."""
    _check_scoring(MODELS["knn"], task, scoring)


def built_in_weighs_not(model: str) -> InputError:
    """The error for weights of validation rows that a built-in model cannot use."""
    instead = {"ridge": "scaled_ridge", "gaussian_nb": "logistic"}[model]
    return InputError(
        Setting("valid_weight"),
        " does not go with the built-in ",
        Setting("model", model),
        ", whose score has no weights: use ",
        Setting("model", instead),
        ", another model of scikit-learn, or ",
        Setting("model", "knn"),
    )


def _check_scoring(record: Model, task: str, scoring: Any) -> None:
    """Refuse a score that a built-in model cannot compute."""
    known = [name for name in record.scorings if (name in _OF_NUMBERS) == (task == "regression")]
    if scoring is None or (isinstance(scoring, str) and scoring in known):
        return
    if record.name == "knn":
        raise knn_has_not(scoring, task)
    instead = "scaled_ridge" if record.name == "ridge" else "tree"
    if task == "classification" and scoring in ("neg_log_loss", "roc_auc"):
        instead = "logistic"
    raise InputError(
        Setting("scoring", scoring),
        " cannot be computed by the built-in ",
        Setting("model", record.name),
        f" in {task}: use {', '.join(known)}, or a model of scikit-learn, such as ",
        Setting("model", instead),
    )


def _why_not(record: Model, option: str) -> tuple[Any, ...]:
    if option in ("n_neighbors", "metric", "votes"):
        return ": it is an option of ", Setting("model", "knn"), "; leave it out"
    if option == "truncation":
        return (", which does not train again for every subset: leave it out",)
    instead = "scaled_ridge" if record.name == "ridge" else "tree"
    other = Setting("model", instead)
    return ", which has its own: leave it out, or use another model, such as ", other
