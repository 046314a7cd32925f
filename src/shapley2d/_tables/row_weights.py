"""What each validation row counts: the user's weights, and those that a score gives to classes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.problem import Problem, Split


def weighted_mean(numbers: NDArray[Any], weights: NDArray[np.float64] | None) -> float:
    """A mean over validation rows; where all count alike, to the bit the plain one."""
    return float(np.mean(numbers) if weights is None else np.average(numbers, weights=weights))


def weigh_problem(problem: Problem, scoring: str | None) -> Problem:
    """The problem with the weights under which a mean over validation rows is the score.

    Parameters
    ----------
    problem : Problem
    scoring : {None, "accuracy", "balanced_accuracy", "neg_mean_squared_error"}
    """
    balanced = scoring == "balanced_accuracy"
    splits = [
        replace(split, valid_weights=_mean_one(split, balanced=balanced))
        for split in problem.splits
    ]
    return replace(problem, splits=splits)


def _mean_one(split: Split, *, balanced: bool) -> NDArray[np.float64] | None:
    """Weights whose mean is 1; None where all are the same.

    In the balanced accuracy every class of the validation rows counts the same, and rows within it
    by their weights.

    Examples
    --------
    >>> from shapley2d._tables.problem import make_problem
    >>> (split,) = make_problem([[0], [1]], ["a", "b"], [[0]] * 4, ["a", "a", "a", "b"]).splits
    >>> _mean_one(split, balanced=True).round(3).tolist()
    [0.667, 0.667, 0.667, 2.0]
    """
    weights = np.ones(split.valid.n_rows) if split.valid_weights is None else split.valid_weights
    if balanced:
        _, labels = np.unique(split.y_valid.y.astype(str), return_inverse=True)
        of_class = np.bincount(labels, weights)[labels]
        weights = np.divide(weights, of_class, out=np.zeros_like(weights), where=of_class > 0)
    return None if (weights == weights[0]).all() else weights / weights.mean()
