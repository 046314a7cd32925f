"""From scores to the chance of being wrong: how many errors a table seems to have, and which cells they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCORE, STANDARDISED, OFFSET = 0.099, 1.560, -1.543
"""Log-likelihood ratio of an error: so much per unit of score, per unit of the standardised score, and a constant."""

PRIOR_SHARE, PRIOR_CELLS = 0.02, 50
"""The share of errors that is expected before a look at the table, and the cells that this counts as."""

_ROUNDS = 50


def chance_of_error(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """The chance of being wrong for every score of one kind of column."""
    middle, high = np.quantile(scores, [0.5, 0.9])
    spread = high - middle
    standardised = (scores - middle) / spread if spread > 0 else np.zeros_like(scores)
    ratio = np.exp(np.clip(SCORE * scores + STANDARDISED * standardised + OFFSET, -30, 30))
    share = PRIOR_SHARE
    for _ in range(_ROUNDS):
        chance = share * ratio / (share * ratio + 1 - share)
        share = (chance.sum() + PRIOR_SHARE * PRIOR_CELLS) / (scores.size + PRIOR_CELLS)
    return np.asarray(chance)
