"""What nearest neighbours are worth without any column, which values are counted from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._knn.few_rows import FewRows
from shapley2d._methods.baseline import (
    BLIND_GUESS,
    MEAN_OF_ALL,
    votes_baseline,
    warn_of_perfect_zero,
)

if TYPE_CHECKING:
    from shapley2d._tables.problem import Problem


def knn_baseline(problem: Problem, n_neighbors: int, votes: str) -> dict[str, Any]:
    """The baseline for a result's record; empty where it is 0."""
    classifies, from_zero = problem.target.task == "classification", problem.baseline == "zero"
    if from_zero and votes == "k":
        if not classifies:
            warn_of_perfect_zero()
        return {}
    if not from_zero and problem.label is None:
        return votes_baseline(problem, n_neighbors, votes)
    if classifies and votes == "k":  # without a label no vote is right
        return {}
    utilities = [FewRows.of(split, n_neighbors).guess for split in problem.splits]
    words = BLIND_GUESS if classifies else MEAN_OF_ALL
    return {"baseline_utility": float(np.mean(utilities)), "baseline": words}
