"""Scores of predictions, as lines of validation rows: a mean, and what it would change by others.

A score is a mean over validation rows less that of what the labels alone predict. What comes with
it are *error lines*: numbers whose squares sum to the variance of the mean. They add up as scores
do, so that any value, being linear in scores, has its error by validation rows from the same sums.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.checks import check_choice
from shapley2d._trees.scores import placements, row_scores
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._tables.problem import Split
    from shapley2d._tables.target import Target

SCORES = {
    "classification": ("probability", "accuracy", "roc_auc", "neg_log_loss"),
    "regression": ("r2",),
}
"""The scores by task; the first is the default."""

SAYS = {
    name: {"name": words, "says": says, "factor": factor, "shift": 0.0, "per_cent": factor > 1}
    for name, words, says, factor in (
        (
            "probability",
            "mean probability of the right label",
            "the probability that the model gives to the label of a validation row, on average",
            100.0,
        ),
        ("accuracy", "accuracy", "the share of validation rows that are predicted right", 100.0),
        (
            "roc_auc",
            "AUC",
            "how often a validation row of the second class is ranked above one of the first",
            100.0,
        ),
        (
            "neg_log_loss",
            "log score",
            "the mean logarithm of the probability of the right label",
            1.0,
        ),
        (
            "r2",
            "R²",
            "what the predictions explain of the variance of the validation targets",
            100.0,
        ),
    )
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


@dataclass(frozen=True)
class Score:
    """The score of predictions for one validation table, less that of the labels alone."""

    name: str
    y: Target  # of the validation rows
    weights: Floats  # (T,): they sum to 1, or in each class of an AUC to 1/2
    scales: Floats  # (T,): of a deviation in its error line
    strata: Ints  # (T,): the rows whose mean deviations are taken from
    n_lines: int  # validation rows share them in turn
    prior: Floats  # (classes,) or (1,): what the labels alone predict

    @classmethod
    def of(cls, name: str, split: Split) -> Score:
        """The score of a validation table."""
        y, y_valid, given = split.y, split.y_valid, split.weights
        if y.task == "regression":
            target = np.asarray(y_valid.codes, dtype=np.float64)
            prior = np.array([np.mean(y.codes)])
            if np.ptp(target[given > 0]) == 0:
                raise InputError(
                    "R squared needs validation rows with different targets: pass more"
                )
        else:
            target = np.asarray(y_valid.codes)
            prior = np.bincount(y.codes, minlength=y.classes.size) / y.codes.size
        strata = np.zeros(target.size, dtype=np.intp)
        if name == "roc_auc":
            if y.classes.size != 2 or {*target[given > 0].tolist()} != {0, 1}:
                raise InputError(
                    Setting("scoring", name), " needs two classes, and validation rows of both: "
                    "use ", Setting("scoring", "probability"),
                )  # fmt: skip
            strata = target.astype(np.intp)
        sums = np.bincount(strata, given)
        counts = np.bincount(strata, given > 0)
        share = given / sums[strata]
        few = np.maximum(counts - 1, 1)[strata]
        return cls(
            name, y_valid, share / len(sums), share * np.sqrt(counts[strata] / few), strata,
            min(target.size, MOST_LINES), prior,
        )  # fmt: skip

    @property
    def baseline(self) -> float:
        """The score itself of what the labels alone predict."""
        return 0.5 if self.name == "roc_auc" else float(self.weights @ self._of(self._labels_alone))

    @property
    def _labels_alone(self) -> Floats:
        return np.repeat(self.prior[:, None], self.strata.size, axis=1)

    def __call__(self, predictions: Floats | None) -> Floats:
        """The score less the baseline, then its error lines; zeros where nothing was learned."""
        found = np.zeros(1 + self.n_lines)
        if predictions is None:
            return found
        each = self._of(predictions) - self._of(self._labels_alone)
        found[0] = self.weights @ each
        middle = np.bincount(self.strata, self.weights * each) / np.bincount(
            self.strata, self.weights
        )
        off = self.scales * (each - middle[self.strata] * self._shares)
        found[1:] = np.bincount(np.arange(off.size) % self.n_lines, off, self.n_lines)
        return found

    @property
    def _shares(self) -> Floats:
        """What each row counts in the unit of the score: of R squared, that is their variance."""
        if self.name != "r2":
            return np.ones(self.strata.size)
        target = self.y.codes
        squares = (target - self.weights @ target) ** 2
        return np.asarray(squares / (self.weights @ squares))

    def _of(self, predictions: Floats) -> Floats:
        """The score of every validation row."""
        if self.name == "roc_auc":
            return placements(predictions[1], self.y.codes == 1)
        middle = float(self.weights @ self.y.codes)  # of numbers to predict: R squared is 0 there
        return row_scores(predictions, self.y, self.name, prior=middle, weights=self.weights)


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
