"""From scores to the probability of being wrong.

Cells: a logistic formula of how far a score lies above the others of its table and of how many
scores of the table are high. Its constants were fitted to errors planted in eleven tables, at
shares from 0 to 5 %, and checked on each table with constants from the others. It is capped: real
data have far outliers of their own, and a table does not tell how many.

Class labels: Bayes' rule. Where a forest gives a label the chance P, the odds that it is wrong are
(1 - P) / P times the prior odds, which are estimated from all labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.recipe import (
    HIGH_SCORE,
    HIGH_SHARES,
    LABEL_TRUST,
    LABEL_WEIGHT,
    LOGIT,
    MOST_CHANCE,
    MOST_HEIGHTS,
    PRIOR_CELLS,
    PRIOR_SHARE,
    STRAY_CHANCE,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._tables.table import Column

_ROUNDS = 100


def cell_and_label_probability(
    scores: NDArray[np.float64], columns: Sequence[Column], label: int
) -> NDArray[np.float64]:
    """The probability of being wrong of all cells.

    Parameters
    ----------
    scores : ndarray of shape (n, p)
    columns : sequence of Column
    label : int
        Position of the column of class labels, whose scores are on another scale; p without one.
    """
    probability = np.empty_like(scores)
    probability[:, :label] = cell_probability(scores[:, :label])
    if label < len(columns):
        probability[:, label] = label_probability(scores[:, label] / LABEL_WEIGHT)
    for j, column in enumerate(columns):
        strays = [row for row in column.from_text.strays if np.isnan(column.entries[row])]
        probability[strays, j] = np.maximum(probability[strays, j], STRAY_CHANCE)
    return probability


def cell_probability(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of being wrong of every cell.

    Parameters
    ----------
    scores : ndarray of shape (n, p)
        Columns whose scores are all the same are left out of the quantiles.

    Examples
    --------
    >>> scores = np.random.default_rng(0).exponential(size=(100, 10))
    >>> scores[5, 5] = 20.0
    >>> found = cell_probability(scores)
    >>> found.argmax() == 55, bool(found.max() > 0.3), bool(found.mean() < 0.03)
    (np.True_, True, True)
    """
    varied = scores[:, np.ptp(scores, axis=0) > 0]
    if not varied.size:
        return np.full(scores.shape, PRIOR_SHARE)
    middle, high = np.quantile(varied, [0.5, 0.9])
    height = (scores - middle) / ((high - middle) or 1.0)
    share = ((varied > HIGH_SCORE).sum() + PRIOR_SHARE * PRIOR_CELLS) / (varied.size + PRIOR_CELLS)
    log_share = float(np.log(np.clip(share, *HIGH_SHARES)))
    logit = LOGIT["base"] + LOGIT["share"] * log_share
    slope = LOGIT["height"] + LOGIT["height and share"] * log_share
    logit = logit + slope * np.minimum(height, MOST_HEIGHTS[0])
    logit = logit + LOGIT["root"] * np.sqrt(np.clip(height, 0.0, MOST_HEIGHTS[1]))
    return np.asarray(np.minimum(1 / (1 + np.exp(-np.maximum(logit, -50.0))), MOST_CHANCE))


def label_probability(surprise: NDArray[np.float64]) -> NDArray[np.float64]:
    """The probability of being wrong of every label, from minus the log of its predicted chance.

    Examples
    --------
    >>> label_probability(-np.log([0.9] * 98 + [0.5, 0.01])).round(2)[-2:]
    array([0.01, 0.76])
    """
    odds = np.expm1(np.maximum(surprise, 0.0)) ** LABEL_TRUST
    share = PRIOR_SHARE
    for _ in range(_ROUNDS):  # until the share of wrong labels is the mean of their probabilities
        chances = share * odds / (share * odds + 1 - share)
        share = (chances.sum() + PRIOR_SHARE * PRIOR_CELLS) / (odds.size + PRIOR_CELLS)
    return np.asarray(chances)
