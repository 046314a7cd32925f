"""Scores that the sweeps compute themselves, by scikit-learn's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._kernels.scores import ACCURACY, BALANCED_ACCURACY, F1, LOG_LOSS, ROC_AUC
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
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
    """A score of classes as the kernels take it, and what constant predictions score.

    Attributes
    ----------
    kind, parameter
        See :mod:`shapley2d._kernels.scores`.
    shares : ndarray of shape (n_classes,)
        Of the classes that training shows among the validation rows.
    """

    kind: int
    parameter: float
    n_valid: int
    shares: NDArray[np.float64]

    @property
    def asked(self) -> tuple[int, float]:
        """What the kernels are told."""
        return self.kind, self.parameter

    def finished(self, grid: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores from what the kernels give: accuracies from numbers of right answers, others as they are."""
        return grid / self.n_valid if self.kind == ACCURACY else grid

    def of_constants(
        self, most: NDArray[np.bool_], probabilities: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Scores of constant predictions, line by line.

        Parameters
        ----------
        most : ndarray of shape (k, n_classes)
            The classes that are predicted; where there are several, the score is the mean over
            them.
        probabilities : ndarray of shape (k, n_classes)
        """
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
    """The score of classes by its name; the accuracy by default.

    Examples
    --------
    >>> from shapley2d._tables.problem import make_problem
    >>> (split,) = make_problem([[0], [1]], [0, 1], [[2], [3], [4]], [0, 1, 1]).splits
    >>> score = class_score(split, "f1")
    >>> score.of_constants(np.array([[True, False], [False, True]]), np.array([[0.5, 0.5]] * 2))
    array([0. , 0.8])
    """
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
                f" asks for the class 1, and the classes are {', '.join(map(repr, classes.tolist()))}: "
                "code them as 0 and 1",
            )
        parameter = float(positive[0])
    if kind == ROC_AUC and not shares.all():
        raise InputError(Setting("scoring", scoring), " needs validation rows of both classes")
    return ClassScore(kind, parameter, valid.codes.size, shares)
