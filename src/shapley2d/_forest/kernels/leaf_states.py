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
def in_set(entry: Any, missing_left: Any, start: Any, n_words: Any, words: Any) -> Any:
    """Whether a category goes left: by its bit, or as a missing entry if there is none."""
    goes = missing_left
    if entry >= 0 and entry < 32 * n_words:
        code = np.int64(entry)
        goes = (words[start + (code >> 5)] >> np.uint32(code & 31)) & np.uint32(1) == np.uint32(1)
    return goes


@numba.njit(nogil=True, cache=CACHE)
def find_leaves(tree: tuple[Any, ...], features: Floats, leaves: NDArray[np.int32]) -> None:
    """Find the leaf of every row.

    ``tree``: arrays of a :class:`~shapley2d._forest.trees.SplitTree`.
    ``features`` (width, n): NaN where an entry is missing.
    ``leaves`` (n,): receives them.
    """
    left, right, feature, threshold, missing_left, categories, n_words, words = tree
    n = leaves.size
    # rows are partitioned at every split: no branch to mispredict, and entries are read in order
    rows, apart = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        rows[i] = i
    starts, stops = np.empty(left.size, np.int64), np.empty(left.size, np.int64)
    starts[0], stops[0] = 0, n
    for k in range(left.size):
        start, stop = starts[k], stops[k]
        if left[k] < 0:
            for i in range(start, stop):
                leaves[rows[i]] = k
            continue
        entries, limit, to_left = features[feature[k]], threshold[k], missing_left[k]
        stay, go = start, np.int64(0)
        for i in range(start, stop):
            row = rows[i]
            entry = entries[row]
            if categories[k] < 0:
                goes = (entry <= limit) | (to_left & (entry != entry))  # noqa: PLR0124  (NaN)
            else:
                goes = in_set(entry, to_left, categories[k], n_words[k], words)
            rows[stay] = row
            apart[go] = row
            stay += np.int64(goes)
            go += np.int64(not goes)
        for i in range(go):  # an assignment of slices takes seconds to compile
            rows[stay + i] = apart[i]
        starts[left[k]], stops[left[k]] = start, stay
        starts[right[k]], stops[right[k]] = stay, stop


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
    tree: tuple[Any, ...],
    features: Floats,
    nodes: Ints,
    bundles: Ints,
    first: int,
    states: NDArray[Any],
    height: int,
) -> None:
    """Fill the states of all rows in some bundles.

    ``features`` (width, n).
    ``nodes, bundles``: of :func:`plan_tree`.
    ``first``: the first bundle.
    ``states`` (bundles, n): receives them; of unsigned numbers with a bit for each column and
        split.
    ``height``: of the tree.
    """
    left, right, feature, threshold, missing_left, categories, n_words, words = tree
    kind = states.dtype.type
    codes, stack = np.empty((height + 2, BLOCK), states.dtype), np.empty(height + 2, np.int64)
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
                entries, to_left = features[feature[node], start:stop], missing_left[node]
                limit, begin = threshold[node], categories[node]
                if begin >= 0:
                    for i in range(size):
                        goes[i] = in_set(entries[i], to_left, begin, n_words[node], words)
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
            stack[top] = right[k]
            stack[top + 1] = left[k]
            top += 2
