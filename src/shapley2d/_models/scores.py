"""Scores of predictions: one number for every validation row, their mean, and what changes it.

A utility is the mean. With it may come *error lines*: numbers whose squares sum to the variance of
the mean by other validation rows. They add up as scores do, so that any value, being linear in
scores, has its error by validation rows from the same sums.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from shapley2d._base.checks import check_choice
from shapley2d._methods.score_facts import as_it_is, per_cent
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._tables.problem import Split

SCORES = {
    "classification": ("probability", "accuracy", "roc_auc", "neg_log_loss"),
    "regression": ("r2",),
}
"""The scores with error lines by task; the first is the default."""

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

SMALLEST = float(np.finfo(np.float64).eps)
"""Probabilities below this count as this in the log loss, as in scikit-learn."""


def score_name(scoring: str | None, task: str) -> str:
    """The score that is computed, by its name."""
    known = SCORES[task]
    if scoring is None:
        return known[0]
    if not isinstance(scoring, str):
        raise InputError(
            f"{scoring=} must be a name: a mean over validation rows has intervals; use one of "
            f"{', '.join(map(repr, known))}"
        )
    check_choice(scoring, "scoring", known)
    return scoring


class Score:
    """The mean score of predictions for the validation table of a split.

    ``name``: ``"probability"`` of the right label, ``"accuracy"`` (classes that tie share it),
    ``"neg_log_loss"``, ``"roc_auc"``, or ``"r2"``: how much smaller a squared error is than that of
    the mean of the validation targets, in units of their variance.

    Predictions are probabilities (classes, validation rows); in regression (1, validation rows).
    """

    def __init__(self, name: str, split: Split) -> None:
        self._name, self._codes = name, split.y_valid.codes
        self.weights = split.weights / split.weights.sum()
        if name == "r2":
            self._squares = (self._codes - self.weights @ self._codes) ** 2
            self._variance = float(self.weights @ self._squares)

    def __call__(self, predictions: Floats) -> float:
        """The mean over validation rows, as they weigh."""
        return float(self.weights @ self.of_rows(predictions))

    def of_rows(self, predictions: Floats) -> Floats:
        """The score of every validation row."""
        z = self._codes
        if self._name == "roc_auc":
            return placements(predictions[1], z == 1)
        if self._name == "r2":
            off = (z - predictions[0]) ** 2
            if self._variance == 0:  # constant targets, as scikit-learn scores them
                return np.full(z.size, float(not off.any()))
            return np.asarray((self._squares - off) / self._variance)
        # labels that training does not show have no probability
        right = np.where(z < 0, 0.0, predictions[z, np.arange(z.size)])
        if self._name == "probability":
            return right
        if self._name == "neg_log_loss":
            return np.log(np.maximum(right, SMALLEST))
        most = predictions == predictions.max(axis=0)
        return np.where((z >= 0) & most[z, np.arange(z.size)], 1.0 / most.sum(axis=0), 0.0)


class ScoreLines(Score):
    """A score less that of the labels alone, with its error lines.

    ``baseline``: the score of the labels alone. ``n_lines``: error lines, which validation rows
    share in turn.
    """

    def __init__(self, name: str, split: Split) -> None:
        super().__init__(name, split)
        y, target, given = split.y, self._codes, split.weights
        strata, self._shares = np.zeros(target.size, dtype=np.intp), np.ones(target.size)
        if name == "roc_auc":
            if y.classes.size != 2 or {*target[given > 0].tolist()} != {0, 1}:
                raise InputError(
                    f"scoring={name!r} needs two classes, and validation rows of both: "
                    "use scoring='probability'"
                )
            strata = target
        counts = np.bincount(strata, given > 0)
        share = given / np.bincount(strata, given)[strata]
        self.weights = share / counts.size  # they sum to 1, or in each class of an AUC to 1/2
        # of a deviation in its error line, from the mean of its stratum
        self._scales = share * np.sqrt(counts / np.maximum(counts - 1, 1))[strata]
        self._strata, self.n_lines = strata, min(target.size, MOST_LINES)
        if name == "r2":
            if np.ptp(target[given > 0]) == 0:
                raise InputError(
                    "R squared needs validation rows with different targets: pass more"
                )
            prior = y.codes.mean(keepdims=True)
            self._shares = self._squares / self._variance
        else:
            prior = np.bincount(y.codes, minlength=y.classes.size) / y.codes.size
        self._alone = self.of_rows(np.repeat(prior[:, None], target.size, axis=1))
        self.baseline = 0.5 if name == "roc_auc" else float(self.weights @ self._alone)

    def lines(self, predictions: Floats | None) -> Floats:
        """The score less the baseline, then its error lines; zeros where nothing was learned."""
        found = np.zeros(1 + self.n_lines)
        if predictions is None:
            return found
        each, strata = self.of_rows(predictions) - self._alone, self._strata
        found[0] = self.weights @ each
        means = np.bincount(strata, self.weights * each) / np.bincount(strata, self.weights)
        off = self._scales * (each - means[strata] * self._shares)
        found[1:] = np.bincount(np.arange(off.size) % self.n_lines, off, self.n_lines)
        return found


def placements(scores: Floats, is_positive: Bools) -> Floats:
    """The share of the other class that each row is ranked rightly against; ties count half.

    Their mean over either class is the AUC, and their variances give its standard error (DeLong,
    DeLong and Clarke-Pearson, Biometrics 1988).

    >>> placements(np.array([0.1, 0.4, 0.4]), np.array([False, False, True])).tolist()
    [1.0, 0.5, 0.75]
    """
    ranks = rankdata(scores)
    placed = np.empty(scores.size)
    for own in (is_positive, ~is_positive):
        placed[own] = (ranks[own] - rankdata(scores[own])) / (~own).sum()
    placed[~is_positive] = 1.0 - placed[~is_positive]
    return placed


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
