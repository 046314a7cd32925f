"""Scores of predictions, one for every validation row: a utility is their mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._tables.target import Target

SMALLEST = float(np.finfo(np.float64).eps)
"""Probabilities below this count as this in the log loss, as in scikit-learn."""


def row_scores(
    predictions: Floats,
    y_valid: Target,
    score: str,
    *,
    prior: float = 0.0,
    weights: Floats | None = None,
) -> Floats:
    """The score of every validation row.

    ``predictions`` (classes, validation rows): probabilities; in regression (1, validation rows).
    ``score``: ``"probability"`` of the right label, ``"accuracy"`` (classes that tie share it),
    ``"neg_log_loss"``, or ``"r2"``: how much smaller the squared error is than that of the number
    ``prior``, in units of the variance of the validation targets by their ``weights``. With their
    mean as ``prior``, the mean over rows is R squared.

    >>> from shapley2d._tables.convert import as_table
    >>> from shapley2d._tables.target import as_target
    >>> y = as_target(["a", "b"], as_table([[0], [1]]))
    >>> row_scores(np.array([[0.7, 0.5], [0.3, 0.5]]), y, "accuracy").tolist()
    [1.0, 0.5]
    """
    z = y_valid.codes
    if score == "r2":
        variance = np.average((z - np.average(z, weights=weights)) ** 2, weights=weights)
        off = (z - predictions[0]) ** 2
        if variance == 0:  # constant targets, as scikit-learn scores them
            return np.full(z.size, float(not off.any()))
        return np.asarray(((z - prior) ** 2 - off) / variance)
    # labels that training does not show have no probability
    right = np.where(z < 0, 0.0, predictions[z, np.arange(z.size)])
    if score == "probability":
        return right
    if score == "neg_log_loss":
        return np.log(np.maximum(right, SMALLEST))
    most = predictions == predictions.max(axis=0)
    return np.where((z >= 0) & most[z, np.arange(z.size)], 1.0 / most.sum(axis=0), 0.0)


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
