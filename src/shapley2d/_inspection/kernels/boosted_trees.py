"""Predictions of boosted trees: the sum of the leaves that a row falls into."""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray  # noqa: TC002  (numba reads the named tuples' annotations)

from shapley2d._base.cache import CACHE


class BoostedTrees(NamedTuple):
    """Trees one after the other, from ``roots`` on.

    A node tests the column ``features``, -1 at a leaf; ``cuts`` is the largest number that goes
    left; ``values`` is what a leaf adds.
    """

    roots: NDArray[np.int32]
    features: NDArray[np.int32]
    cuts: NDArray[np.float32]
    lefts: NDArray[np.int32]
    rights: NDArray[np.int32]
    values: NDArray[np.float64]


def sum_of_trees(trees: BoostedTrees, rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """What all trees say of each row together."""
    total = np.zeros(len(rows))  # made outside: code that makes arrays compiles slowly
    _add_trees(trees, rows, total)
    return total


@numba.njit(cache=CACHE, nogil=True)
def _add_trees(trees: BoostedTrees, rows: NDArray[np.float32], total: NDArray[np.float64]) -> None:
    roots, features, cuts, lefts, rights, values = trees
    for t in range(roots.size):  # a tree's nodes stay in the fastest cache
        for i in range(rows.shape[0]):
            node = roots[t]
            while features[node] >= 0:
                goes_left = rows[i, features[node]] <= cuts[node]
                node = lefts[node] if goes_left else rights[node]
            total[i] += values[node]
