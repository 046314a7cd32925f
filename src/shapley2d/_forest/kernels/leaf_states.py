"""Codes of rows in the leaves of a tree: the columns on a leaf's path whose splits a row passes.

Of the d columns on the path to a leaf a row passes the splits of some; its *code* has a bit for
each. Small subtrees are *bundles*: the code at their root and one bit for every split below
determine the codes in all of their leaves, so that a row has one *state* per bundle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._base.cache import CACHE, INNER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints

BUNDLE_SPLITS = 5
"""Splits of a bundle, at most: its table must stay in the processor's cache.

On Census a tree of depth 6 took 10, 11, 6.7 and 7.0 ms of a core with 1, 3, 5 and 7 of them, one of
depth 8 took 33, 33, 20 and 39 ms.
"""

BLOCK = 2048
"""Rows that pass down the tree together: their codes stay in the processor's first cache."""

DEPTH, PLACE, BELOW, BUNDLE, BEFORE, AFTER = range(6)
"""What :func:`plan_tree` finds of every node."""


@numba.njit(**INNER)
def goes_left(
    entry: Any, limit: Any, missing_left: Any, start: Any, stop: Any, members: Any
) -> Any:
    """Whether an entry goes left: by its bound, or by a set of categories where there is one."""
    if start == stop:
        return (entry <= limit) | (missing_left & (entry != entry))  # noqa: PLR0124  (NaN)
    if entry > -1.0 and entry < stop - start:
        return members[start + np.int64(entry)]
    return missing_left & (entry != entry)  # noqa: PLR0124


@numba.njit(nogil=True, cache=CACHE)
def find_leaves(tree: Any, features: Floats, leaves: NDArray[np.int32]) -> None:
    """Find the leaf of every row.

    ``tree``: a :class:`~shapley2d._forest.model.SplitTree`.
    ``features`` (width, n): NaN where an entry is missing.
    ``leaves`` (n,): receives them.
    """
    # arrays by names of their own: this takes a third of the time
    left, right, feature, threshold, missing_left, sets, members, height = tree
    for i in range(leaves.size):
        leaves[i] = 0
    for start in range(0, leaves.size, BLOCK):  # level by level: no path to mispredict
        for _ in range(height):
            for i in range(start, min(start + BLOCK, leaves.size)):
                k = leaves[i]
                if left[k] >= 0:
                    entry, to_left = features[feature[k], i], missing_left[k]
                    goes = goes_left(entry, threshold[k], to_left, sets[k], sets[k + 1], members)
                    leaves[i] = left[k] if goes else right[k]


@numba.njit(nogil=True, cache=CACHE)
def plan_tree(
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    columns: NDArray[np.int32],
    weighs: Bools,
    most_states: int,
    nodes: Ints,
    paths: NDArray[np.int32],
    bundles: Ints,
) -> int:
    """Find the columns on all paths, cut the tree into bundles, and return their number.

    ``columns``: the column of the table behind every split.
    ``weighs``: leaves that are needed.
    ``most_states``: at most so many states has a bundle; without states every leaf is one by
        itself.
    ``nodes`` (nodes, 6): zeros, and -1 for BUNDLE; receives of every node the number of columns on
        its path (DEPTH); for a split the bit of its column in the codes of its children (PLACE);
        the number of splits, from it down, that lie above leaves that are needed (BELOW): 0 in such
        a leaf, -1 where none is below; of a root its bundle (BUNDLE), else less than 0; and the
        first bundle at or below it (BEFORE), and one more than the last (AFTER).
    ``paths`` (nodes, most columns): receives the columns, in the order of their bits.
    ``bundles`` (leaves, 2 + BUNDLE_SPLITS): receives the root of each bundle, the number of its
        splits, and these, parents first.
    """
    count = left.size
    for k in range(count):
        if left[k] < 0:
            continue
        depth = at = nodes[k, DEPTH]
        for j in range(depth):
            if paths[k, j] == columns[k]:
                at = j
        nodes[k, PLACE] = at
        for child in (left[k], right[k]):
            nodes[child, DEPTH] = depth if at < depth else at + 1
            for j in range(depth):
                paths[child, j] = paths[k, j]
            paths[child, at] = columns[k]
    for k in range(count - 1, -1, -1):
        below = np.int64(0 if weighs[k] else -1)
        if left[k] >= 0:
            one, other = nodes[left[k], BELOW], nodes[right[k], BELOW]
            if one >= 0 or other >= 0:
                below = np.int64(1 + (one if one > 0 else 0) + (other if other > 0 else 0))
        nodes[k, BELOW] = below
    found = 0
    for k in range(count):
        inner = nodes[k, BELOW]
        small = inner <= BUNDLE_SPLITS and (1 << (nodes[k, DEPTH] + inner)) <= most_states
        if inner < 0 or nodes[k, BUNDLE] < -1 or not (small or inner == 0):
            continue
        nodes[k, BUNDLE], bundles[found, 0] = found, k
        splits = done = 0
        if inner > 0:
            bundles[found, 2] = k
            splits = 1
        while done < splits:
            node = bundles[found, 2 + done]
            done += 1
            for child in (left[node], right[node]):
                nodes[child, BUNDLE] = -2  # below the root of one
                if nodes[child, BELOW] > 0:
                    bundles[found, 2 + splits] = child
                    splits += 1
        bundles[found, 1] = splits
        found += 1
    for k in range(count - 1, -1, -1):
        before, after = count, np.int64(0)
        if nodes[k, BUNDLE] >= 0:
            before, after = nodes[k, BUNDLE], nodes[k, BUNDLE] + 1
        elif left[k] >= 0:
            one, other = nodes[left[k]], nodes[right[k]]
            before = one[BEFORE] if one[BEFORE] < other[BEFORE] else other[BEFORE]
            after = one[AFTER] if one[AFTER] > other[AFTER] else other[AFTER]
        nodes[k, BEFORE], nodes[k, AFTER] = before, after
    return found


@numba.njit(nogil=True, cache=CACHE)
def fill_states(
    tree: Any,
    features: Floats,
    nodes: Ints,
    bundles: Ints,
    first: int,
    states: NDArray[Any],
) -> None:
    """Fill the states of all rows in some bundles.

    ``features`` (width, n).
    ``nodes, bundles``: of :func:`plan_tree`.
    ``first``: the first bundle.
    ``states`` (bundles, n): receives them; of unsigned numbers with a bit for each column and
        split.
    """
    kind, most = states.dtype.type, tree.height + 2
    codes, stack = np.empty((most, BLOCK), states.dtype), np.empty(most, np.int64)
    goes = np.empty(BLOCK, np.bool_)
    last, n = first + states.shape[0], states.shape[1]
    for start in range(0, n, BLOCK):
        stop = start + BLOCK if start + BLOCK < n else n
        size = stop - start
        stack[0] = 0
        for i in range(size):
            codes[0, i] = 0
        top = 1
        while top > 0:
            top -= 1
            k, code = stack[top], codes[top]
            if nodes[k, AFTER] <= first or nodes[k, BEFORE] >= last:
                continue
            bundle = nodes[k, BUNDLE]
            state, n_splits = code, np.int64(1)
            if bundle >= 0:
                state, n_splits = states[bundle - first, start:stop], bundles[bundle, 1]
                for i in range(size):
                    state[i] = code[i]
            for r in range(n_splits):
                node = bundles[bundle, 2 + r] if bundle >= 0 else k
                entries, to_left = features[tree.feature[node], start:stop], tree.missing_left[node]
                limit, begin, end = tree.threshold[node], tree.sets[node], tree.sets[node + 1]
                if begin < end:
                    for i in range(size):
                        goes[i] = goes_left(entries[i], limit, to_left, begin, end, tree.members)
                else:
                    for i in range(size):
                        goes[i] = (entries[i] <= limit) | (to_left & (entries[i] != entries[i]))
                if bundle >= 0:
                    for i in range(size):
                        state[i] = (state[i] << kind(1)) | kind(goes[i])
            if bundle >= 0:
                continue
            bit, beyond = kind(1) << kind(nodes[k, PLACE]), codes[top + 1]
            new = bit if nodes[k, PLACE] == nodes[k, DEPTH] else kind(0)  # else it was set above
            for i in range(size):
                passed, failed = code[i] | new, code[i] & ~bit
                beyond[i] = passed if goes[i] else failed
                code[i] = failed if goes[i] else passed
            stack[top] = tree.right[k]
            stack[top + 1] = tree.left[k]
            top += 2
