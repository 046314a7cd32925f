"""Boosted trees as a stand-in for a game, whose semivalues are known exactly.

A tree that asks which players are in a coalition cuts all coalitions into leaves: those that have
some players ``A`` and lack others ``B``. The game that is 1 on such a leaf and 0 elsewhere has a
semivalue in closed form, which depends on the numbers ``|A|`` and ``|B|`` alone, so that of the
trees' sum is a sum over leaves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import gammaln
from sklearn.ensemble import GradientBoostingRegressor

from shapley2d._theory.semivalues import size_probabilities

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._theory.semivalues import Semivalue

    Floats = NDArray[np.float64]

DEPTH = 3
"""Questions on the way to a leaf: the most players who matter together."""

ROUNDS = 100
RATE = 0.1


class TreeGame:
    """A game that boosted trees predict from coalitions that are known.

    Parameters
    ----------
    coalitions : ndarray of shape (k, m), bool
    utilities : ndarray of shape (k,)
    semivalue : Semivalue
    seed : int

    Examples
    --------
    >>> masks = (np.arange(64)[:, None] >> np.arange(6)) & 1 == 1
    >>> game = TreeGame(masks, (masks[:, 0] & masks[:, 1]).astype(float), "shapley", 0)
    >>> bool(np.abs(game.values - [0.5, 0.5, 0, 0, 0, 0]).max() < 0.02)
    True
    """

    def __init__(
        self, coalitions: NDArray[np.bool_], utilities: Floats, semivalue: Semivalue, seed: int
    ) -> None:
        self._model = GradientBoostingRegressor(
            n_estimators=ROUNDS,
            learning_rate=RATE,
            max_depth=DEPTH,
            subsample=0.7,
            max_features=0.5,
            random_state=seed % 2**32,
        ).fit(coalitions.astype(np.float32), utilities)
        self.values = tree_values(self._model, coalitions.shape[1], semivalue)

    def __call__(self, coalitions: NDArray[np.bool_]) -> Floats:
        return np.asarray(self._model.predict(coalitions.astype(np.float32)))


def tree_values(model: GradientBoostingRegressor, n_players: int, semivalue: Semivalue) -> Floats:
    """Semivalues of the game that boosted trees are, player by player."""
    member, absent = leaf_weights(n_players, DEPTH, semivalue)
    values = np.zeros(n_players)
    for (tree,) in model.estimators_:
        nodes = tree.tree_
        ways: list[tuple[int, tuple[int, ...], tuple[int, ...]]] = [(0, (), ())]
        while ways:
            node, inside, outside = ways.pop()
            player = int(nodes.feature[node])
            if player < 0:
                worth = model.learning_rate * float(nodes.value[node, 0, 0])
                for i in inside:
                    values[i] += worth * member[len(inside), len(outside)]
                for i in outside:
                    values[i] -= worth * absent[len(inside), len(outside)]
                continue
            ways.append((int(nodes.children_left[node]), inside, (*outside, player)))
            ways.append((int(nodes.children_right[node]), (*inside, player), outside))
    return values


def leaf_weights(n_players: int, most: int, semivalue: Semivalue) -> tuple[Floats, Floats]:
    """What a leaf with ``a`` players and without ``b`` gives to the former, takes from the latter.

    A player who joins a coalition of ``s`` others makes it reach the leaf if these are the other
    ``a - 1``, none of the ``b``, and any of the rest.

    Examples
    --------
    >>> member, absent = leaf_weights(5, 2, "shapley")
    >>> alone, in_twos, before_one = member[1, 0], member[2, 0], absent[1, 1]
    >>> [float(share.round(9)) for share in (alone, in_twos, before_one)]
    [1.0, 0.5, 0.5]
    """
    m = n_players
    joins = size_probabilities(semivalue, m)
    log_ways = gammaln(np.arange(m + 2) + 1.0)

    def choose(n: int, k: NDArray[np.intp]) -> Floats:
        return np.asarray(log_ways[n] - log_ways[k] - log_ways[n - k])

    member, absent = np.zeros((most + 1, most + 1)), np.zeros((most + 1, most + 1))
    for a in range(most + 1):
        for b in range(most + 1 - a):
            free = m - a - b
            if free < 0 or a + b == 0:
                continue
            others = np.arange(free + 1)
            if a:
                size = others + a - 1
                member[a, b] = joins[size] @ np.exp(choose(free, others) - choose(m - 1, size))
            if b:
                size = others + a
                absent[a, b] = joins[size] @ np.exp(choose(free, others) - choose(m - 1, size))
    return member, absent
