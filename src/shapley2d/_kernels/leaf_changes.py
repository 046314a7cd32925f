"""Changed rows: the leaves that they touch, and what the values of all rows change by there.

A row touches a leaf in which it fits other columns than before. There the number of rows in play
changes under some column subsets, and with it the values of the rows that fit all of these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.leaf_states import fill_states, find_bundles, find_paths, in_set
from shapley2d._kernels.leaf_tables import (
    add_supersets,
    cell_values,
    error_coefficients,
    share_coefficients,
    sum_over_subsets,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


@numba.njit(nogil=True, cache=CACHE)
def find_touched(
    tree: tuple[Any, ...],
    depth: NDArray[np.int64],
    place: NDArray[np.int64],
    before: NDArray[np.float64],
    after: NDArray[np.float64],
    touched: NDArray[np.bool_],
    leaves: NDArray[np.int32],
) -> None:
    """Mark the leaves in which any of some rows fits other columns than before.

    Parameters
    ----------
    tree : tuple
    depth, place : ndarray
        Of the nodes, see :func:`~shapley2d._kernels.leaf_states.find_paths`.
    before, after : ndarray of shape (width, k)
        Features of the rows.
    touched : ndarray of bool of shape (nodes,)
        Is set in leaves.
    leaves : ndarray of shape (k,)
        Receives the leaf of every row after the change.
    """
    left, right = tree[0], tree[1]
    codes, others = np.zeros(left.size, np.uint64), np.zeros(left.size, np.uint64)
    for i in range(before.shape[1]):
        leaf = 0
        for k in range(left.size):
            if left[k] < 0:
                touched[k] |= codes[k] != others[k]
                continue
            one = _goes_left(before[tree[2][k], i], k, tree)
            other = _goes_left(after[tree[2][k], i], k, tree)
            if leaf == k:  # parents come before their children
                leaf = left[k] if other else right[k]
            bit = np.uint64(1) << np.uint64(place[k])
            first = place[k] == depth[k]  # the first split of its column on this way
            codes[left[k]] = _passed(codes[k], bit, first, one)
            codes[right[k]] = _passed(codes[k], bit, first, not one)
            others[left[k]] = _passed(others[k], bit, first, other)
            others[right[k]] = _passed(others[k], bit, first, not other)
        leaves[i] = leaf


@numba.njit(nogil=True, cache=CACHE)
def _passed(code: Any, bit: Any, first: Any, fits: Any) -> Any:
    """The code of a row beyond a split."""
    if first:
        return code | bit if fits else code
    return code if fits else code & ~bit


@numba.njit(nogil=True, cache=CACHE)
def _goes_left(entry: Any, k: int, tree: tuple[Any, ...]) -> Any:
    if tree[5][k] >= 0:
        return in_set(entry, tree[4][k], tree[5][k], tree[6][k], tree[7])
    return entry <= tree[3][k] or (tree[4][k] and np.isnan(entry))


@numba.njit(nogil=True, cache=CACHE)
def add_tree_changes(
    tree: tuple[Any, ...],
    owners: NDArray[np.int32],
    features: NDArray[np.float64],
    moved: tuple[Any, ...],
    touched: NDArray[np.bool_],
    target: tuple[Any, ...],
    weights: tuple[Any, ...],
    leaf_weights: tuple[Any, ...],
    at_once: int,
    values: NDArray[np.float64],
) -> None:
    """Add what all values change by in some leaves of a tree, where a few rows have moved.

    One function for all steps: a call from Python takes as long as the work in some leaves.

    Parameters
    ----------
    tree : tuple
    owners : ndarray of shape (width,)
        The column of the table behind every feature.
    features : ndarray of shape (width, n)
        Before the change.
    moved : (ndarray, ndarray)
        The changed rows, and their features after the change.
    touched : ndarray of bool of shape (nodes,)
        The leaves.
    target : (ndarray, ndarray)
        Labels, empty in regression; and targets, empty in classification.
    weights : tuple
        As of :func:`~shapley2d._kernels.leaf_values.fill_tables`.
    leaf_weights : (ndarray, ndarray)
        Of the validation rows in every node, before and after the change.
    at_once : int
        Bytes of codes that are held at a time.
    values : ndarray of shape (n, m), or (n, m + 1) with the label
        Is added to.
    """
    before, after = leaf_weights
    places, others = moved
    weighs = np.zeros(touched.size, np.bool_)
    for k in range(touched.size):
        if touched[k]:
            for c in range(before.shape[1]):
                weighs[k] |= before[k, c] != 0.0 or after[k, c] != 0.0
    n, n_columns = values.shape
    depth, place, paths, inner = find_paths(tree, owners, weighs, n_columns)
    # no states: every leaf is a bundle by itself
    leaves, number, first, last = find_bundles(tree[0], tree[1], depth, inner, 0)
    plan = (depth, place, inner, number, first, last)
    step = max(at_once // (2 * n), 1)
    for start in range(0, leaves.size, step):
        part = leaves[start : start + step]
        codes = np.empty((part.size, n), np.uint16)
        moved_codes = np.empty((part.size, places.size), np.uint16)
        fill_states(tree, features, plan, start, codes)
        fill_states(tree, others, plan, start, moved_codes)
        add_changes(
            codes,
            places,
            moved_codes,
            paths[part],
            depth[part],
            target[0],
            target[1],
            weights,
            (before[part], after[part]),
            values,
        )


@numba.njit(nogil=True, cache=CACHE)
def add_changes(
    codes: NDArray[np.uint16],
    places: NDArray[np.intp],
    others: NDArray[np.uint16],
    columns: NDArray[np.int32],
    depths: NDArray[np.int64],
    labels: NDArray[np.int32],
    targets: NDArray[np.float64],
    weights: tuple[Any, ...],
    leaf_weights: tuple[Any, ...],
    values: NDArray[np.float64],
) -> None:
    """Add what all values change by in some leaves, where a few rows have other codes.

    Parameters
    ----------
    codes : ndarray of shape (leaves, n)
        Which columns on the path of a leaf each row fits, bit by bit, before the change.
    places : ndarray of shape (k,)
        The changed rows.
    others : ndarray of shape (leaves, k)
        Their codes after it.
    columns : ndarray of shape (leaves, most columns)
        The columns, in the order of their bits.
    depths : ndarray of shape (leaves,)
        How many they are.
    labels, targets : ndarray of shape (n,)
        Classes, empty in regression; numbers, empty in classification.
    weights : tuple
        As of :func:`~shapley2d._kernels.leaf_values.fill_tables`.
    leaf_weights : (ndarray, ndarray)
        Of the validation rows in each leaf, before and after: by label; or in regression their
        weight, and the weighted sum of their targets.
    values : ndarray of shape (n, m), or (n, m + 1) with the label
        Is added to.
    """
    classifies = labels.size > 0
    kinds = 2 if classifies else 3
    channels = leaf_weights[0].shape[1] if classifies else 3
    labelled = weights[2].shape[0] > 0
    n, most = values.shape[0], depths.max()
    size = 1 << most
    counts, coefficients = np.empty((size, kinds)), np.empty((size, kinds))
    sums = np.empty((size, 3 * kinds if labelled else 2 * kinds))
    worth = np.empty((2, size, kinds, most + 1))
    lines = np.empty((2, size, channels, most + 1))  # by label, or by power of the target
    differs, met = np.empty(size, np.bool_), np.empty(size, np.bool_)
    seen, twice = np.empty((size, channels)), np.empty((2, size * channels), np.int64)
    changed = np.empty(n, np.int64)
    names = np.empty(most + 1, np.uint64)
    for b in range(depths.size):
        d, code = depths[b], codes[b]
        width = d
        for j in range(d):
            names[j] = columns[b, j]
        if labelled:
            names[d] = values.shape[1] - 1
            width += 1
        if classifies:
            _count_labels(code, labels, 1 << d, seen, twice)
        else:
            _sum_powers(code, targets, 1 << d, seen)
        for q in range(1 << d):
            met[q] = False
            for c in range(channels if classifies else 1):
                met[q] |= seen[q, c] > 0.0
        for r in range(places.size):
            met[others[b, r]] = True
        for turn in range(2):
            if turn:
                for r in range(places.size):
                    i = places[r]
                    for sign, to in ((-1.0, code[i]), (1.0, others[b, r])):
                        if classifies:
                            seen[to, labels[i]] += sign
                        else:
                            seen[to, 0] += sign
                            seen[to, 1] += sign * targets[i]
                            seen[to, 2] += sign * targets[i] * targets[i]
            masses = leaf_weights[turn][b]
            for q in range(1 << d):
                if classifies:
                    counts[q] = 0.0
                    for c in range(channels):
                        counts[q, 0] += seen[q, c]
                        counts[q, 1] += seen[q, c] * masses[c]
                else:
                    for c in range(3):
                        counts[q, c] = seen[q, c]
            add_supersets(counts[: 1 << d], d)
            if classifies:
                share_coefficients(counts, weights[0], 1 << d, coefficients)
            else:
                error_coefficients(counts, weights[0], masses, 1 << d, coefficients)
            of_label = weights[2][d + 1] if labelled else np.zeros(0)
            sum_over_subsets(coefficients[: 1 << d], d, weights[1][d], of_label, sums)
            cell_values(sums, d, kinds, labelled, met, worth[turn])
            for q in range(1 << d):
                if not met[q]:
                    continue
                for c in range(channels):
                    for j in range(width):
                        if classifies:
                            line = worth[turn, q, 0, j] + masses[c] * worth[turn, q, 1, j]
                        else:
                            line = worth[turn, q, c, j]
                        lines[turn, q, c, j] = line
        for r in range(places.size):  # less what all rows are given below
            i = places[r]
            for j in range(width):
                if classifies:
                    change = lines[1, others[b, r], labels[i], j] - lines[1, code[i], labels[i], j]
                else:
                    y = targets[i]
                    one, other = lines[1, code[i]], lines[1, others[b, r]]
                    change = other[0, j] - one[0, j]
                    change += y * (other[1, j] - one[1, j] + y * (other[2, j] - one[2, j]))
                values[i, names[j]] += change
        for q in range(1 << d):
            differs[q] = False
            if not met[q]:
                continue
            for c in range(channels):
                for j in range(width):
                    lines[1, q, c, j] -= lines[0, q, c, j]
                    differs[q] |= lines[1, q, c, j] != 0.0
        count = np.int64(0)
        for i in range(n):  # listed without a branch, which could not be foreseen
            changed[count] = i
            count += np.int64(differs[code[i]])
        added = lines[1]
        for k in range(count):
            i = np.uint64(changed[k])
            at = np.uint64(code[i])
            if classifies:
                line = added[at, np.uint64(labels[i])]
                for j in range(width):
                    values[i, names[j]] += line[j]
            else:
                y = targets[i]
                for j in range(width):
                    values[i, names[j]] += added[at, 0, j] + y * (
                        added[at, 1, j] + y * added[at, 2, j]
                    )


@numba.njit(nogil=True, cache=CACHE)
def _count_labels(code: Any, labels: Any, size: int, seen: Any, twice: Any) -> None:
    """How many rows have each code and label.

    Counted in turn in two places: a row often has the code of the one before, and its count would
    have to wait for that one's.
    """
    channels = np.uint64(seen.shape[1])
    one, other = twice[0], twice[1]
    for k in range(size * seen.shape[1]):
        one[k] = other[k] = 0
    even = code.size - code.size % 2
    for i in range(0, even, 2):
        one[np.uint64(code[i]) * channels + np.uint64(labels[i])] += 1
        other[np.uint64(code[i + 1]) * channels + np.uint64(labels[i + 1])] += 1
    for i in range(even, code.size):
        one[np.uint64(code[i]) * channels + np.uint64(labels[i])] += 1
    k = 0
    for q in range(size):
        for c in range(seen.shape[1]):
            seen[q, c] = one[k] + other[k]
            k += 1


@numba.njit(nogil=True, cache=CACHE)
def _sum_powers(code: Any, targets: Any, size: int, seen: Any) -> None:
    """The number of rows with each code, and the sums of their targets and of their squares."""
    seen[:size] = 0.0
    for i in range(code.size):
        q = np.uint64(code[i])
        seen[q, 0] += 1.0
        seen[q, 1] += targets[i]
        seen[q, 2] += targets[i] * targets[i]
