"""The axes of a game: coalitions of players as masks, and what each counts in their values.

The weight of a 2D value is a product of one for rows and one for columns, so that every value and
every estimate is one bilinear form,

    values  =  Wr^T  H  Wc,        H[a, b] = utility of row coalition a under column coalition b

(Theorem 3.3 of Liu et al. 2023, arXiv:2306.10473). Over all coalitions the weights are
:func:`set_weights`. Along a random order (Corollary D.1) they are 1 where a player joins and -1
before, so that values are differences of H, times :func:`step_weights` for other semivalues than
Shapley's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._theory.semivalues import marginal_weights, size_probabilities

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._theory.semivalues import Semivalue


def subsets(n: int, start: int = 0, stop: int | None = None) -> Bools:
    """All coalitions of ``n`` players, or some of them, as masks; number 0 is empty.

    >>> subsets(2).tolist()
    [[False, False], [True, False], [False, True], [True, True]]
    """
    numbers = np.arange(start, 2**n if stop is None else min(stop, 2**n))
    return np.asarray((numbers[:, None] >> np.arange(n) & 1).astype(bool))


def set_weights(masks: Bools, semivalue: Semivalue) -> Floats:
    """What coalitions count in every player's value, where all are evaluated: (sets, players).

    >>> set_weights(subsets(2), "shapley").T @ np.array([0.0, 1.0, 2.0, 5.0])
    array([2., 3.])
    """
    joins = marginal_weights(semivalue, masks.shape[1])
    size = masks.sum(axis=1)
    return np.where(masks, np.append(0.0, joins)[size, None], -np.append(joins, 0.0)[size, None])


def nested(order: Ints) -> Bools:
    """The coalitions along an order of the players, from none to all.

    >>> nested(np.array([1, 0])).tolist()
    [[False, False], [False, True], [True, True]]
    """
    return np.asarray(np.argsort(order) < np.arange(len(order) + 1)[:, None])


def step_weights(n: int, semivalue: Semivalue) -> Floats:
    """What the player at each place of a random order counts: 1 for Shapley's value.

    The mean over orders is the paper's Corollary D.1. It is weighted by the probability of the
    coalition's size relative to Shapley's, where all sizes are equally
    likely.

    >>> step_weights(3, "shapley"), step_weights(3, "banzhaf")
    (array([1., 1., 1.]), array([0.75, 1.5 , 0.75]))
    """
    return n * size_probabilities(semivalue, n)
