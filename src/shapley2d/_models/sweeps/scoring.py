"""Scores that the sweeps compute themselves, by scikit-learn's names, and their baseline.

The baseline is the score of the best constant prediction of the rows, for chains of coalitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._models.constant import most_frequent
from shapley2d._models.kernels.scores import ACCURACY, BALANCED_ACCURACY, F1, LOG_LOSS, ROC_AUC
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._tables.problem import Split

_KINDS = {
    "accuracy": ACCURACY,
    "balanced_accuracy": BALANCED_ACCURACY,
    "f1": F1,
    "neg_log_loss": LOG_LOSS,
    "roc_auc": ROC_AUC,
}


class ClassScore(NamedTuple):
    """A score of classes as the kernels take it, and what constant predictions score."""

    # see :mod:`shapley2d._models.kernels.scores`
    kind: int
    parameter: float
    n_valid: int
    # (n_classes,): of the classes that training shows among the validation rows
    shares: NDArray[np.float64]

    @property
    def asked(self) -> tuple[int, float]:
        """The score as the kernels take it."""
        return self.kind, self.parameter

    def finished(self, grid: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores from the kernels' numbers: an accuracy comes as the number of right answers."""
        return grid / self.n_valid if self.kind == ACCURACY else grid

    def of_constants(
        self, most: NDArray[np.bool_], probabilities: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Scores of constant predictions, each the mean over the classes that ``most`` marks."""
        if self.kind == ROC_AUC:
            return np.full(len(most), 0.5)
        if self.kind == LOG_LOSS:
            least = np.finfo(np.float64).eps
            return np.asarray(np.log(np.clip(probabilities, least, 1 - least)) @ self.shares)
        worth = self.shares
        if self.kind == BALANCED_ACCURACY:
            worth = (self.shares > 0) / self.parameter
        elif self.kind == F1:
            positive = np.arange(self.shares.size) == int(self.parameter)
            worth = np.where(positive, 2 * self.shares / (1 + self.shares), 0.0)
        return np.asarray(most @ worth / most.sum(axis=1))


def class_score(split: Split, scoring: str | None = None) -> ClassScore:
    """The score of classes by its name; the accuracy by default."""
    kind = _KINDS["accuracy" if scoring is None else scoring]
    classes, valid = split.y.classes, split.y_valid
    known = valid.codes >= 0
    shares = np.bincount(valid.codes[known], minlength=classes.size) / valid.codes.size
    parameter = 0.0
    if kind == BALANCED_ACCURACY:
        parameter = float(np.unique(shares.nonzero()[0]).size + np.unique(valid.y[~known]).size)
    elif kind != ACCURACY and not known.all():
        raise InputError(
            Setting("scoring", scoring),
            " cannot judge validation rows with labels that training never shows: leave them out",
        )
    if kind in (F1, ROC_AUC) and classes.size != 2:
        raise InputError(
            Setting("scoring", scoring),
            f" is for two classes, and the target has {classes.size}: use ",
            Setting("scoring", "balanced_accuracy"),
        )
    if kind == F1:
        positive = [code for code, label in enumerate(classes.tolist()) if label == 1]
        if not positive:
            raise InputError(
                Setting("scoring", scoring),
                " needs a class 1, and the classes are "
                f"{', '.join(map(repr, classes.tolist()))}: code them as 0 and 1",
            )
        parameter = float(positive[0])
    if kind == ROC_AUC and not shares.all():
        raise InputError(Setting("scoring", scoring), " needs validation rows of both classes")
    return ClassScore(kind, parameter, valid.codes.size, shares)


def r_squared(errors: NDArray[np.float64], spread: float) -> NDArray[np.float64]:
    """R squared of sums of squared errors; ``spread`` is that of predicting the mean."""
    if spread > 0:
        return 1.0 - errors / spread
    return np.where(errors == 0.0, 1.0, 0.0)  # constant targets, as scikit-learn scores them


class ConstantBaseline:
    """Scores of the best constant predictions, and which coalitions can do no better.

    See :mod:`shapley2d._models.constant` for the best constant. ``nothing`` is the score of a guess
    that knows no rows: every class is as likely as any other, a number is the mean of all targets.
    With ``from_zero`` no rows and no columns are worth 0 nevertheless; the constants then only
    serve rows that are all alike. Without a ``score`` of classes it is R squared.
    """

    def __init__(
        self, split: Split, train: NDArray[np.float64], score: ClassScore | None, *, from_zero: bool
    ) -> None:
        self._train = train
        self._codes = split.y.codes
        self._score = score
        self.from_zero = from_zero
        if score is not None:
            alike = np.ones((1, split.y.classes.size))
            self.nothing = float(score.of_constants(alike > 0, alike / alike.sum())[0])
        else:
            self._valid = np.asarray(split.y_valid.codes, dtype=np.float64)
            self.nothing = float(self._of_means(np.array([self._codes.mean()]))[0])
        if from_zero:
            self.nothing = 0.0

    def of_prefixes(self, order: NDArray[np.intp], sizes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Scores of the best constants of the first ``sizes`` rows in an order."""
        if self._score is None:
            return self._of_means(np.cumsum(self._codes[order])[sizes - 1] / sizes)
        counts = np.zeros((order.size, self._score.shares.size), dtype=np.int64)
        counts[np.arange(order.size), self._codes[order]] = 1
        counts = np.cumsum(counts, axis=0)[sizes - 1]
        return self._score.of_constants(most_frequent(counts), counts / sizes[:, None])

    def teaches(
        self,
        order: NDArray[np.intp],
        sizes: NDArray[np.intp],
        columns: NDArray[np.intp],
        ends: NDArray[np.intp],
    ) -> NDArray[np.bool_]:
        """Which prefixes of rows teach anything under which prefixes of encoded columns.

        They have several classes, and a column that is not the same in all rows.
        """
        seen = self._train[np.ix_(order, columns)]
        # rows before the first that differs
        same = np.logical_and.accumulate(seen == seen[0], axis=0).sum(axis=0)
        varies = sizes[:, None] > np.minimum.accumulate(same)[ends - 1]
        if self._score is not None:
            codes = self._codes[order]
            varies &= (sizes > np.logical_and.accumulate(codes == codes[0]).sum())[:, None]
        return np.asarray(varies)

    def _of_means(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        off = self._valid - self._valid.mean()
        spread = float(np.sum(off**2))
        if spread > 0:
            return np.asarray(-self._valid.size * (means - self._valid.mean()) ** 2 / spread)
        # constant targets, as scikit-learn scores them
        return np.where(means == self._valid[0], 1.0, 0.0)


def varying_members(
    train: NDArray[np.float64], members: Sequence[NDArray[np.intp]]
) -> tuple[NDArray[np.intp], ...]:
    """The encoded columns of every player; none where they are the same in all rows."""
    varies = (train != train[0]).any(axis=0)
    return tuple(owned if varies[owned].any() else owned[:0] for owned in members)
