"""The baseline: the utility without any column, which values are counted from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.warnings import warn_input
from shapley2d._tables.per_row import weighted_mean

if TYPE_CHECKING:
    from shapley2d._tables.problem import Problem, Split

# each completes "the values sum to the model's score less 0.61, ..."
LABELS_ALONE = "what the rows' labels alone predict"
MEAN_OF_ALL = "that of the mean of all targets"
BEST_CONSTANT = "that of the best constant prediction"
BLIND_GUESS = "that of a guess without any labels"


def votes_baseline(problem: Problem, n_neighbors: int, votes: str) -> dict[str, Any]:
    """The baseline of votes among rows that all tie, for a result's record."""
    utilities = [_labels_alone(split, n_neighbors, votes) for split in problem.splits]
    return {"baseline_utility": float(np.mean(utilities)), "baseline": LABELS_ALONE}


def _labels_alone(split: Split, n_neighbors: int, votes: str) -> float:
    """The utility of all rows without any column: all tie, so K of them vote at random."""
    y, y_valid = split.y.codes, split.y_valid.codes
    n = y.size
    taken = min(n_neighbors, n)
    if votes == "share":  # fewer rows than neighbours are as many neighbours
        n_neighbors = taken
    if split.y.task == "classification":
        counts = np.bincount(y, minlength=split.y.classes.size)
        right = np.where(y_valid >= 0, counts[y_valid], 0) / n
        return weighted_mean(right, split.valid_weights) * taken / n_neighbors
    spread = taken * (n - taken) / max(n - 1, 1) * float(np.var(y)) / n_neighbors**2
    return -weighted_mean((y_valid - y.mean()) ** 2, split.valid_weights) - spread


def warn_of_perfect_zero(score: str = "minus the squared error") -> None:
    """Warn that both the baseline and a perfect score are 0."""
    warn_input(
        f"baseline='zero' counts from a score of 0, and {score} is 0 for a perfect model: nearly "
        "every cell will look harmful; leave baseline out to count from what the labels alone "
        "predict"
    )
