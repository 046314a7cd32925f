"""Scores of predictions, as lines of validation rows: a mean, and what it would change by others.

A score is a mean over validation rows less that of what the labels alone predict. What comes with
it are *error lines*: numbers whose squares sum to the variance of the mean. They add up as scores
do, so that any value, being linear in scores, has its error by validation rows from the same sums.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.checks import check_choice
from shapley2d._methods.score_facts import as_it_is, per_cent
from shapley2d._trees.scores import placements, row_scores
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats
    from shapley2d._tables.problem import Split

SCORES = {
    "classification": ("probability", "accuracy", "roc_auc", "neg_log_loss"),
    "regression": ("r2",),
}
"""The scores by task; the first is the default."""

SAYS = {
    "probability": per_cent(
        "mean probability of the right label",
        "the probability that the model gives to the label of a validation row, on average",
    ),
    "accuracy": per_cent("accuracy", "the share of validation rows that are predicted right"),
    "roc_auc": per_cent(
        "AUC", "how often a validation row of the second class is ranked above one of the first"
    ),
    "neg_log_loss": as_it_is(
        "log score", "the mean logarithm of the probability of the right label"
    ),
    "r2": per_cent("R²", "what the predictions explain of the variance of the validation targets"),
}
"""What a result keeps of a score: its name in words, what it is, and how it is shown."""

MOST_LINES = 1000
"""Error lines of a score: beyond, validation rows share them, to bound the memory."""


def score_name(scoring: str | None, task: str) -> str:
    """The score that is computed, by its name."""
    known = SCORES[task]
    if scoring is None:
        return known[0]
    if not isinstance(scoring, str):
        raise InputError(
            Setting("scoring", scoring), " must be a name: a mean over validation rows has ",
            f"intervals; use one of {', '.join(map(repr, known))}",
        )  # fmt: skip
    check_choice(scoring, "scoring", known)
    return scoring


class Score:
    """The score of predictions for the validation table of a split, less that of the labels alone.

    ``baseline``: the score of the labels alone. ``n_lines``: error lines, which validation rows
    share in turn.
    """

    def __init__(self, name: str, split: Split) -> None:
        y, target, given = split.y, split.y_valid.codes, split.weights
        self._name, self._y, strata = name, split.y_valid, np.zeros(target.size, dtype=np.intp)
        if name == "roc_auc":
            if y.classes.size != 2 or {*target[given > 0].tolist()} != {0, 1}:
                raise InputError(
                    Setting("scoring", name), " needs two classes, and validation rows of both: "
                    "use ", Setting("scoring", "probability"),
                )  # fmt: skip
            strata = target
        counts = np.bincount(strata, given > 0)
        share = given / np.bincount(strata, given)[strata]
        self._weights = share / counts.size  # they sum to 1, or in each class of an AUC to 1/2
        # of a deviation in its error line, from the mean of its stratum
        self._scales = share * np.sqrt(counts / np.maximum(counts - 1, 1))[strata]
        self._strata, self.n_lines = strata, min(target.size, MOST_LINES)
        # what each row counts in the unit of the score: of R squared, that is their variance
        self._shares, self._middle = np.ones(target.size), 0.0
        if name != "r2":
            prior = np.bincount(y.codes, minlength=y.classes.size) / y.codes.size
        else:
            prior = y.codes.mean(keepdims=True)
            if np.ptp(target[given > 0]) == 0:
                raise InputError(
                    "R squared needs validation rows with different targets: pass more"
                )
            self._middle = float(self._weights @ target)  # of which R squared is 0
            squares = (target - self._middle) ** 2
            self._shares = squares / (self._weights @ squares)
        self._alone = self._of(np.repeat(prior[:, None], target.size, axis=1))
        self.baseline = 0.5 if name == "roc_auc" else float(self._weights @ self._alone)

    def __call__(self, predictions: Floats | None) -> Floats:
        """The score less the baseline, then its error lines; zeros where nothing was learned."""
        found = np.zeros(1 + self.n_lines)
        if predictions is None:
            return found
        each, strata = self._of(predictions) - self._alone, self._strata
        found[0] = self._weights @ each
        means = np.bincount(strata, self._weights * each) / np.bincount(strata, self._weights)
        off = self._scales * (each - means[strata] * self._shares)
        found[1:] = np.bincount(np.arange(off.size) % self.n_lines, off, self.n_lines)
        return found

    def _of(self, predictions: Floats) -> Floats:
        """The score of every validation row."""
        if self._name == "roc_auc":
            return placements(predictions[1], self._y.codes == 1)
        return row_scores(
            predictions, self._y, self._name, prior=self._middle, weights=self._weights
        )


def sorted_rows(split: Split) -> Split:
    """The split with validation rows sorted by what they hold: no sum depends on their order."""
    keys = [split.weights, split.y_valid.codes]
    for column in reversed(split.valid.columns):
        if column.categories:  # by their text: positions depend on what the fragments hold
            rank = np.append(np.argsort(np.argsort(column.categories)), -1.0)
            keys.append(rank[np.nan_to_num(column.entries, nan=-1.0).astype(np.intp)])
        else:
            keys.append(column.entries)
    order = np.lexsort(keys)
    weights = None if split.valid_weights is None else split.valid_weights[order]
    return replace(
        split,
        valid=split.valid.take_rows(order),
        y_valid=split.y_valid.take(order),
        valid_weights=weights,
        valid_rows=None,
    )
