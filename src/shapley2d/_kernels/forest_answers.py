"""What forests expect of rows that they have not seen, and again with an entry replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.forest import is_seen

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._kernels.forest import Forest, Predicted


@numba.njit(nogil=True, cache=CACHE)
def add_shares(
    codes: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    forest: Forest,
    shares: NDArray[np.float64],
    asked: NDArray[np.int32],
) -> None:
    """Add up the shares of bins in the leaves where rows end, over trees that have not seen them.

    Parameters
    ----------
    codes, seen : ndarray of shape (rows, m) and (rows, words)
    forest : Forest
    shares : ndarray of shape (rows, bins)
        Receives the sums.
    asked : ndarray of shape (rows,)
        Receives the number of trees.
    """
    for t in range(forest.roots.size - 1):
        root = forest.roots[t]
        for i in range(codes.shape[0]):
            if is_seen(seen, i, t):
                continue
            leaf = find_leaf(codes[i], forest, root)
            if forest.sizes[leaf] == 0:  # nothing in the bag to learn from
                continue
            weight = 1.0 / forest.sizes[leaf]
            for e in range(forest.leaves[leaf], forest.leaves[leaf + 1]):
                shares[i, forest.bins[e]] += weight * forest.counts[e]
            asked[i] += 1


@numba.njit(nogil=True, cache=CACHE)
def find_leaf(row: NDArray[np.uint8], forest: Forest, root: int) -> int:
    """The leaf in which a row ends."""
    node = root
    while forest.lefts[node] >= 0:
        left = root + forest.lefts[node]
        node = left if row[forest.features[node]] <= forest.cuts[node] else left + 1
    return int(-1 - forest.lefts[node])


@numba.njit(nogil=True, cache=CACHE)
def add_replaced(
    codes: NDArray[np.uint8],
    new: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    forest: Forest,
    predicted: Predicted,
    bins: NDArray[np.int32],
    shares: NDArray[np.float64],
    asked: NDArray[np.int32],
    changes: NDArray[np.float64],
) -> None:
    """Add up the share of a row's own bin, and its change if one entry at a time is replaced.

    A row is followed once. Where its new entry would go the other way, and only there, a second
    walk starts: most replacements change no path.

    Parameters
    ----------
    codes, new : ndarray of shape (rows, m)
        Codes of the entries, and of those that would replace them.
    seen, forest, predicted
        As above.
    bins : ndarray of shape (rows,)
        The own bins; -1 where there is nothing to ask.
    shares, asked : ndarray of shape (rows,)
        Receive the sum of the own bin's share and the number of trees.
    changes : ndarray of shape (rows, m)
        Receives the sums of the changes.
    """
    m = codes.shape[1]
    turned, after = np.empty(m, np.int64), np.empty(m)
    done = np.zeros(m, np.bool_)
    last = predicted.n_bins - 1 if predicted.empty < 0 else predicted.empty - 1
    for t in range(forest.roots.size - 1):
        root = forest.roots[t]
        for i in range(codes.shape[0]):
            b = bins[i]
            if b < 0 or is_seen(seen, i, t):
                continue
            if forest.lefts[root] < 0 and forest.sizes[-1 - forest.lefts[root]] == 0:
                continue
            node, n_turned = root, 0
            while forest.lefts[node] >= 0:
                f, cut = forest.features[node], forest.cuts[node]
                goes_left = codes[i, f] <= cut
                left = root + forest.lefts[node]
                if (new[i, f] <= cut) != goes_left and not done[f]:
                    leaf = _leaf_with(
                        codes[i], f, new[i, f], forest, root, left + 1 if goes_left else left
                    )
                    after[n_turned] = _own_share(forest, leaf, b, last, predicted.blurred)
                    turned[n_turned] = f
                    done[f] = True
                    n_turned += 1
                node = left if goes_left else left + 1
            here = _own_share(forest, -1 - forest.lefts[node], b, last, predicted.blurred)
            for k in range(n_turned):
                changes[i, turned[k]] += after[k] - here
                done[turned[k]] = False
            shares[i] += here
            asked[i] += 1


@numba.njit(nogil=True, cache=CACHE)
def _leaf_with(
    row: NDArray[np.uint8], column: int, code: int, forest: Forest, root: int, node: int
) -> int:
    """The leaf in which a row ends from this node on, with one entry replaced."""
    while forest.lefts[node] >= 0:
        f = forest.features[node]
        left = root + forest.lefts[node]
        node = left if (code if f == column else row[f]) <= forest.cuts[node] else left + 1
    return int(-1 - forest.lefts[node])


@numba.njit(nogil=True, cache=CACHE)
def _own_share(forest: Forest, leaf: int, b: int, last: int, blurred: bool) -> float:
    """The share of bin b in a leaf; if blurred, half of it and a quarter of each neighbour's."""
    lends = blurred and b <= last
    below, above = max(b - 1, 0), min(b + 1, last)
    total = 0.0
    for e in range(forest.leaves[leaf], forest.leaves[leaf + 1]):
        at, count = forest.bins[e], forest.counts[e]
        if at == b:
            total += 0.5 * count if lends else count
        if lends:
            if at == below:
                total += 0.25 * count
            if at == above:
                total += 0.25 * count
    return float(total / forest.sizes[leaf])
