"""Codes of rows in the leaves of a tree: the columns on a leaf's path whose splits a row passes.

Of the d columns on the path to a leaf a row passes the splits of some; its *code* has a bit for
each. Small subtrees are *bundles*: the code at their root and one bit for every split below
determine the codes in all of their leaves, so that a row has one *state* per bundle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._base.cache import CACHE

if TYPE_CHECKING:
    from numpy.typing import NDArray

BUNDLE_SPLITS = 5
"""Splits of a bundle, at most: its table must stay in the processor's cache.

On Census a tree of depth 6 took 10, 11, 6.7 and 7.0 ms of a core with 1, 3, 5 and 7 of them, one of
depth 8 took 33, 33, 20 and 39 ms.
"""

BLOCK = 2048
"""Rows that pass down the tree together: their codes stay in the processor's first cache."""


@numba.njit(nogil=True, cache=CACHE)
def in_set(entry: Any, missing_left: Any, start: Any, n_words: Any, words: Any) -> Any:
    """Whether a category goes left: by its bit, or as a missing entry if there is none."""
    if not entry >= 0 or entry >= 32 * n_words:
        return missing_left
    code = np.int64(entry)
    return (words[start + (code >> 5)] >> np.uint32(code & 31)) & np.uint32(1) == np.uint32(1)


@numba.njit(nogil=True, cache=CACHE)
def find_leaves(
    tree: tuple[Any, ...], features: NDArray[np.float64], leaves: NDArray[np.int32]
) -> None:
    """Find the leaf of every row.

    Parameters
    ----------
    tree : tuple
        Arrays of a :class:`~shapley2d._forest.trees.SplitTree`.
    features : ndarray of shape (width, n)
        NaN where an entry is missing.
    leaves : ndarray of shape (n,)
        Receives them.
    """
    left, right, feature, threshold, missing_left, categories, n_words, words = tree
    n = leaves.size
    # rows are partitioned at every split: no branch to mispredict, and entries are read in order
    rows, apart = np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        rows[i] = i
    starts, stops = np.zeros(left.size, np.int64), np.zeros(left.size, np.int64)
    stops[0] = n
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
def find_paths(
    tree: tuple[Any, ...], owners: NDArray[np.int32], weighs: NDArray[np.bool_], n_columns: int
) -> Any:
    """Find the columns on the path to every node.

    Parameters
    ----------
    tree : tuple
    owners : ndarray of shape (width,)
        The column of the table behind every feature.
    weighs : ndarray of bool
        Leaves that validation rows fall into.
    n_columns : int

    Returns
    -------
    depth : ndarray
        The number of columns on the path to each node.
    place : ndarray
        For a split, the bit of its column in the codes of its children.
    paths : ndarray of shape (nodes, most columns)
        The columns, in the order of their bits.
    inner : ndarray
        The number of splits, from a node down, that lie above leaves that weigh: 0 in such a leaf,
        -1 where none is below.
    """
    left, right, feature = tree[0], tree[1], tree[2]
    count = left.size
    depth = np.zeros(count, np.int64)
    most = 0
    # the number of splits on the longest path bounds its columns
    steps = np.zeros(count, np.int64)
    for k in range(count):
        if left[k] >= 0:
            steps[left[k]] = steps[right[k]] = steps[k] + 1
            most = max(most, steps[k] + 1)
    paths = np.zeros((count, max(min(most, n_columns), 1)), np.int32)
    place = np.zeros(count, np.int64)
    for k in range(count):
        if left[k] < 0:
            continue
        column = owners[feature[k]]
        at = depth[k]
        for j in range(depth[k]):
            if paths[k, j] == column:
                at = j
        place[k] = at
        for child in (left[k], right[k]):
            depth[child] = max(depth[k], at + 1)
            for j in range(depth[k]):
                paths[child, j] = paths[k, j]
            paths[child, at] = column
    inner = np.full(count, -1, np.int64)
    for k in range(count - 1, -1, -1):
        if left[k] < 0:
            inner[k] = 0 if weighs[k] else -1
        elif inner[left[k]] >= 0 or inner[right[k]] >= 0:
            inner[k] = 1 + max(inner[left[k]], 0) + max(inner[right[k]], 0)
    return depth, place, paths, inner


@numba.njit(nogil=True, cache=CACHE)
def find_bundles(left: Any, right: Any, depth: Any, inner: Any, most_states: int) -> Any:
    """Cut a tree into bundles with at most ``most_states`` states each.

    Returns
    -------
    roots : ndarray
        The root of every bundle, in depth-first order, left before right.
    number : ndarray
        The bundle of a node that is a root; -1 elsewhere.
    after : ndarray
        For every node above the bundles, the number of the first bundle that is not below it.
    before : ndarray
        The number of the first bundle below it.
    """
    count = left.size
    number = np.full(count, -1, np.int64)
    before, after = np.zeros(count, np.int64), np.zeros(count, np.int64)
    roots = np.empty(count, np.int64)
    found = 0
    stack = np.empty(count + 1, np.int64)
    stack[0] = 0
    top = 1
    while top > 0:
        top -= 1
        k = stack[top]
        if k < 0:  # all below this node are done
            after[-k - 1] = found
            continue
        if inner[k] < 0:
            continue
        small = inner[k] <= BUNDLE_SPLITS and (1 << (depth[k] + inner[k])) <= most_states
        if inner[k] == 0 or small:
            number[k] = found
            roots[found] = k
            found += 1
            continue
        before[k] = found
        stack[top] = -k - 1
        stack[top + 1] = right[k]
        stack[top + 2] = left[k]
        top += 3
    return roots[:found].copy(), number, before, after


@numba.njit(nogil=True, cache=CACHE)
def splits_of_bundle(left: Any, right: Any, inner: Any, root: int, splits: Any) -> Any:
    """Fill in the splits of a bundle, parents first, and return their number."""
    count = 0
    if inner[root] > 0:
        splits[0] = root
        count = 1
    done = 0
    while done < count:
        k = splits[done]
        done += 1
        for child in (left[k], right[k]):
            if inner[child] > 0:
                splits[count] = child
                count += 1
    return count


@numba.njit(nogil=True, cache=CACHE)
def fill_states(
    tree: tuple[Any, ...],
    features: NDArray[np.float64],
    plan: tuple[Any, ...],
    first: int,
    states: NDArray[Any],
) -> None:
    """Fill the states of all rows in some bundles.

    Parameters
    ----------
    tree : tuple
    features : ndarray of shape (width, n)
    plan : tuple
        ``depth``, ``place``, ``inner``, ``number``, ``before`` and ``after`` of the nodes.
    first : int
        The first bundle.
    states : ndarray of shape (bundles, n)
        Receives them; of unsigned numbers with a bit for each column and split.
    """
    left, right, feature = tree[0], tree[1], tree[2]
    depth, place, inner, number, before, after = plan
    kind = states.dtype.type
    last, n = first + states.shape[0], states.shape[1]
    steps, most = np.zeros(left.size, np.int64), 0
    for k in range(left.size):
        if left[k] >= 0:
            steps[left[k]] = steps[right[k]] = steps[k] + 1
            most = max(most, steps[k] + 1)
    codes = np.empty((most + 2, BLOCK), states.dtype)
    stack = np.empty(codes.shape[0], np.int64)
    splits = np.empty(BUNDLE_SPLITS, np.int64)
    goes = np.empty(BLOCK, np.bool_)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        size = stop - start
        stack[0] = 0
        codes[0] = 0
        top = 1
        while top > 0:
            top -= 1
            k, code = stack[top], codes[top]
            if inner[k] < 0:
                continue
            if number[k] >= 0:
                if number[k] < first or number[k] >= last:
                    continue
                state = states[number[k] - first, start:stop]
                for i in range(size):
                    state[i] = code[i]
                for r in range(splits_of_bundle(left, right, inner, k, splits)):
                    node = splits[r]
                    side(features[feature[node], start:stop], node, tree, goes)
                    for i in range(size):
                        state[i] = (state[i] << kind(1)) | kind(goes[i])
                continue
            if after[k] <= first or before[k] >= last:
                continue
            side(features[feature[k], start:stop], k, tree, goes)
            bit = kind(1) << kind(place[k])
            beyond = codes[top + 1]
            if place[k] == depth[k]:  # the first split of its column on this path
                for i in range(size):
                    passed = code[i] | bit
                    beyond[i] = passed if goes[i] else code[i]
                    code[i] = code[i] if goes[i] else passed
            else:
                for i in range(size):
                    failed = code[i] & ~bit
                    beyond[i] = code[i] if goes[i] else failed
                    code[i] = failed if goes[i] else code[i]
            stack[top] = right[k]
            stack[top + 1] = left[k]
            top += 2


@numba.njit(nogil=True, cache=CACHE)
def side(entries: Any, k: int, tree: tuple[Any, ...], goes: Any) -> None:
    """Find out whether each of some entries goes left at node k."""
    limit, to_left, start = tree[3][k], tree[4][k], tree[5][k]
    if start >= 0:
        for i in range(entries.size):
            goes[i] = in_set(entries[i], to_left, start, tree[6][k], tree[7])
    elif to_left:
        for i in range(entries.size):
            goes[i] = not entries[i] > limit
    else:
        for i in range(entries.size):
            goes[i] = entries[i] <= limit
