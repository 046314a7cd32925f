"""The name of a run's score, and how a utility becomes per cent of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import is_share
from shapley2d._tables.per_row import weighted_mean

if TYPE_CHECKING:
    from shapley2d._tables.problem import Problem

CLOSED_SCORES = {
    "classification": ("probability", "balanced_accuracy"),
    "regression": ("neg_mean_squared_error",),
}
"""The scores that are means over validation rows with a closed form, by task; the default first.

The share of right neighbours is the probability that they give to the right label.
"""

RARE = 0.2
"""A class is rare below this share of it and the largest class together."""

MOST_UNEXPLAINED = 0.1
"""The share of a model's gain that rows may leave open without a warning.

A summary then says so first. And of what predictions move the score, up or down, beyond which a
model is refused.
"""

_PROBABILITY = "mean probability of the right label"
_NAMES = {
    "neighbours": (
        "probability",
        _PROBABILITY,
        (
            "of the {n_neighbors} nearest neighbours of a validation row, the share with its "
            "label; accuracy would count a row as right if most of them have it"
        ),
    ),
    "leaves": (
        "probability",
        _PROBABILITY,
        "the probability that the trees give to the label of a validation row, on average",
    ),
    "model": (
        "accuracy",
        "accuracy",
        "the share of validation rows that are predicted right",
    ),
}
_VARIANCE = (
    "R²",
    (
        "the share of the variance of the validation targets that the predictions "
        "explain; 100 % is a perfect prediction, 0 % is no better than their mean"
    ),
)


def score_facts(problem: Problem, predicts: str, n_neighbors: int | None = None) -> dict[str, Any]:
    """The score of a problem for a result's record: its name, what it is, and how to show it.

    ``scoring`` is the name by which a call asks for it.

    ``shift + factor * utility`` is per cent where ``per_cent`` is true. A squared error is shown as
    the share of the variance of the validation targets that is explained, exactly: R squared of all
    validation rows, each split with the same weight as in the utility.

    >>> from shapley2d._tables.problem import make_problem
    >>> problem = make_problem([[0], [1]], [1.5, 2.5], [[0], [1]], [1.5, 5.5])
    >>> facts = score_facts(problem, "neighbours", 1)["score"]
    >>> facts["name"], facts["factor"], facts["shift"]
    ('R²', 25.0, 100.0)
    """
    default, name, says = _NAMES[predicts]
    says = says.format(n_neighbors=n_neighbors)
    classifies = problem.target.task == "classification"
    if not classifies:
        default = "r2" if predicts == "model" else _SQUARED
    asked = default if problem.scoring is None else problem.scoring
    if not isinstance(asked, str):
        given = "the score that was given"
        return {"scoring": given, "score": as_it_is(given)}
    facts: dict[str, Any] = {"scoring": asked}
    if not classifies:
        return facts | {"score": _of_numbers(problem, asked)}
    if asked == default:
        rarest = _rarest(problem)
        return facts | {"score": per_cent(name, says, **({"rarest": rarest} if rarest else {}))}
    if asked != "balanced_accuracy":
        return facts | {"score": per_cent(asked) if is_share(asked) else as_it_is(asked)}
    if predicts == "model":
        return facts | {"score": per_cent("balanced accuracy", f"{says}, {ALIKE}")}
    balanced = per_cent(f"{name}, balanced", f"{says}; all classes count the same")
    return {"scoring": f"{default}, {ALIKE}", "score": balanced}


_SQUARED = "neg_mean_squared_error"

ALIKE = "all classes counting the same"
"""What balanced accuracy adds to another score."""


def as_it_is(name: str, says: str = "") -> dict[str, Any]:
    """A score that is shown as it is."""
    return {"name": name, "says": says, "factor": 1.0, "shift": 0.0, "per_cent": False}


def per_cent(name: str, says: str = "", **more: Any) -> dict[str, Any]:
    """A score that is shown in per cent."""
    return {"name": name, "says": says, "factor": 100.0, "shift": 0.0, "per_cent": True, **more}


def _of_numbers(problem: Problem, scoring: str) -> dict[str, Any]:
    name, says = _VARIANCE
    if scoring == _SQUARED:
        variance = target_variance(problem)
        if not 0 < variance < np.inf:
            return as_it_is("minus the mean squared error")
        return per_cent(name, says, squared=True) | {"factor": 100.0 / variance, "shift": 100.0}
    if scoring == "r2":
        return per_cent(name, says)
    return per_cent(scoring) if is_share(scoring) else as_it_is(scoring)


def target_variance(problem: Problem) -> float:
    """The variance of the validation targets, weighted as the score weighs them.

    Every split has the same weight. With one split it is what scikit-learn's ``r2_score`` divides
    by.
    """
    means = [weighted_mean(one.y_valid.codes, one.valid_weights) for one in problem.splits]
    middle = float(np.mean(means))
    return float(
        np.mean(
            [
                weighted_mean((one.y_valid.codes - middle) ** 2, one.valid_weights)
                for one in problem.splits
            ]
        )
    )


def _rarest(problem: Problem) -> dict[str, Any] | None:
    """The rarest class of the validation rows, if it hardly counts beside the largest one."""
    shares: dict[str, float] = {}
    for split in problem.splits:
        labels = split.y_valid.y.astype(str)
        for label in np.unique(labels).tolist():
            part = weighted_mean((labels == label).astype(float), split.valid_weights)
            shares[label] = shares.get(label, 0.0) + part / len(problem.splits)
    label, largest = min(shares, key=shares.__getitem__), max(shares.values())
    if shares[label] >= RARE * (shares[label] + largest):
        return None
    return {"label": label, "share": shares[label], "n_classes": len(shares)}
