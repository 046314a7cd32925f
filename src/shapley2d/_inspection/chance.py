"""From scores to the chance of being wrong.

Cells: a logistic formula of how far a score lies above the others of its table and of how many
scores of the table are high. Its constants were fitted to errors planted in eleven tables, at
shares from 0 to 5 %, and checked on each table with constants from the others. It is never quite
sure: real data have far outliers of their own, and no table tells how many.

Class labels: Bayes' rule. A forest that gives a label the chance P says that it is wrong with odds
(1 - P) / P times those of any label's being wrong, which the labels themselves tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.recipe import (
    HIGH_SCORE,
    HIGH_SHARES,
    LABEL_TRUST,
    LOGIT,
    MOST_CHANCE,
    MOST_HEIGHTS,
    PRIOR_CELLS,
    PRIOR_SHARE,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDS = 100


def cell_chances(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chance of being wrong of every cell.

    Parameters
    ----------
    scores : ndarray of shape (n, p)
        Columns in which all scores are alike say nothing about what is usual.

    Examples
    --------
    >>> scores = np.random.default_rng(0).exponential(size=(100, 10))
    >>> scores[5, 5] = 20.0
    >>> chances = cell_chances(scores)
    >>> chances.argmax() == 55, bool(chances.max() > 0.3), bool(chances.mean() < 0.03)
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
    logit = logit + (LOGIT["height"] + LOGIT["height and share"] * log_share) * np.minimum(
        height, MOST_HEIGHTS[0]
    )
    logit = logit + LOGIT["root"] * np.sqrt(np.clip(height, 0.0, MOST_HEIGHTS[1]))
    return np.asarray(np.minimum(1 / (1 + np.exp(-np.maximum(logit, -50.0))), MOST_CHANCE))


def label_chances(surprise: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chance of being wrong of every label, from minus the log of the chance that its row gives it.

    Examples
    --------
    >>> label_chances(-np.log([0.9] * 98 + [0.5, 0.01])).round(2)[-2:]
    array([0.01, 0.76])
    """
    odds = np.expm1(np.maximum(surprise, 0.0)) ** LABEL_TRUST
    share = PRIOR_SHARE
    for _ in range(
        _ROUNDS
    ):  # the share of wrong labels is the mean of the chances that it leads to
        chances = share * odds / (share * odds + 1 - share)
        share = (chances.sum() + PRIOR_SHARE * PRIOR_CELLS) / (odds.size + PRIOR_CELLS)
    return np.asarray(chances)
