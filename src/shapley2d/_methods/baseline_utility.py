"""The baseline: the utility without any column, which values are counted from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.warnings import warn
from shapley2d._knn.few_rows import FewRows
from shapley2d._tables.per_row import weighted_mean
from shapley2d._theory.coalitions import MaskCoalitions
from shapley2d.exceptions import InputWarning, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._tables.problem import Problem, Split
    from shapley2d._theory.game import Game

# each completes "the values sum to the model's score less 0.61, ..."
LABELS_ALONE = "what the rows' labels alone predict"
MEAN_OF_ALL = "that of the mean of all targets"
BEST_CONSTANT = "that of the best constant prediction"
BLIND_GUESS = "that of a guess without any labels"


def knn_baseline(
    problem: Problem, baseline: str, n_neighbors: int, votes: str = "k"
) -> dict[str, Any]:
    """The baseline of nearest neighbours, for a result's record; empty where it is 0."""
    classifies = problem.target.task == "classification"
    if baseline == "zero" and votes == "k":
        if not classifies:
            _warn_of_perfect_zero("minus the squared error")
        return {}
    if baseline == "labels" and problem.label is None:
        utilities = [labels_alone(split, int(n_neighbors), votes) for split in problem.splits]
        return {"baseline_utility": float(np.mean(utilities)), "baseline": LABELS_ALONE}
    if classifies and votes == "k":  # without a label no vote is right
        return {}
    utilities = [few_rows(split, int(n_neighbors)).guess for split in problem.splits]
    words = BLIND_GUESS if classifies else MEAN_OF_ALL
    return {"baseline_utility": float(np.mean(utilities)), "baseline": words}


def few_rows(split: Split, n_neighbors: int) -> FewRows:
    """What dividing by the votes there are changes in a split."""
    return FewRows.of(
        split.y.codes,
        split.y_valid.codes,
        n_neighbors=n_neighbors,
        n_classes=split.y.classes.size if split.y.task == "classification" else None,
        valid_weights=split.valid_weights,
    )


def forest_baseline(problem: Problem, baseline: str) -> dict[str, Any]:
    """The baseline of trees, in whose leaves all rows vote; see :func:`knn_baseline`."""
    classifies = problem.target.task == "classification"
    if baseline == "zero":
        if not classifies:
            _warn_of_perfect_zero("minus the squared error")
        return {}
    if problem.label is not None and classifies:  # without a label none is right
        return {}
    # the vote of all rows is that of as many neighbours
    utilities = [labels_alone(split, split.y.codes.size) for split in problem.splits]
    words = LABELS_ALONE if problem.label is None else MEAN_OF_ALL
    return {"baseline_utility": float(np.mean(utilities)), "baseline": words}


def labels_alone(split: Split, n_neighbors: int, votes: str = "k") -> float:
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


def constant_baseline(games: Sequence[Game], problem: Problem) -> dict[str, Any]:
    """The baseline of models, for a result's record: the score of the best constant prediction.

    Where the label is valued too, the prediction may not use it, so the baseline is a guess.
    """
    labelled = problem.label is not None
    utilities = []
    for game in games:
        rows = MaskCoalitions(np.full((1, game.n_rows), not labelled))
        columns = MaskCoalitions(np.zeros((1, game.n_columns), dtype=bool))
        utilities.append(game.utilities(rows, columns)[0, 0])
    return {
        "baseline_utility": float(np.mean(utilities)),
        "baseline": BLIND_GUESS if labelled else BEST_CONSTANT,
    }


def warn_of_perfect_zero(scoring: Any) -> None:
    """Warn where both the baseline and a perfect score are 0."""
    if scoring is None:
        return
    from sklearn.metrics import get_scorer

    if getattr(get_scorer(scoring), "_sign", 1) < 0:
        _warn_of_perfect_zero(str(Setting("scoring", scoring)))


def _warn_of_perfect_zero(score: str) -> None:
    warn(
        InputWarning(
            Setting("baseline", "zero"),
            f" counts from a score of 0, and {score} is 0 for a perfect model: nearly every cell "
            "will look harmful; leave ",
            Setting("baseline"),
            " out to count from what the labels alone predict",
        )
    )
