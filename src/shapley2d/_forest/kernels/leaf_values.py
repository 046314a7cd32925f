"""Values of the cells of all rows in the leaves of bundles, by a table per bundle.

Rows in one state of a bundle and with one label have the same cells in all of its leaves: the table
of a bundle has these values for every state and label, and every row reads its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._base.cache import CACHE
from shapley2d._forest.kernels.leaf_states import BLOCK, BUNDLE_SPLITS, splits_of_bundle
from shapley2d._forest.kernels.leaf_tables import (
    add_supersets,
    cell_values,
    error_coefficients,
    share_coefficients,
    sum_over_subsets,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


@numba.njit(nogil=True, cache=CACHE)
def fill_tables(
    nodes: tuple[Any, ...],
    roots: NDArray[np.int64],
    states: NDArray[np.uint16],
    labels: NDArray[np.int32],
    targets: NDArray[np.float64],
    leaf_weights: NDArray[np.float64],
    weights: tuple[Any, ...],
    columns: NDArray[np.int32],
    widths: NDArray[np.int64],
    offsets: NDArray[np.int64],
    tables: NDArray[np.float64],
) -> None:
    """Fill the tables of some bundles: the values of a row's cells for every state and label.

    Parameters
    ----------
    nodes : tuple
        ``left``, ``right``, and ``depth``, ``place``, ``paths`` and ``inner`` of
        :func:`~shapley2d._forest.kernels.leaf_states.find_paths`.
    roots : ndarray
        The root of each bundle.
    states : ndarray of shape (bundles, n)
        Of the rows.
    labels : ndarray of shape (n,)
        Classes; empty in regression.
    targets : ndarray of shape (n,)
        Numbers, counted from their mean; empty in classification.
    leaf_weights : ndarray of shape (nodes, classes or 2)
        Of the validation rows in every leaf: the weight of each label; or in regression their
        weight, and the weighted sum of their targets.
    weights : tuple
        ``share_weights`` or ``error_weights`` of the rows, and ``weight_table`` of the columns and
        of the label beside them (see :mod:`shapley2d._forest.weights`); the last is empty where the
        label is not valued.
    columns : ndarray of shape (bundles, m + 1)
        Receives the columns of every bundle, the label's, m, last.
    widths : ndarray of shape (bundles,)
        Receives their number.
    offsets : ndarray of shape (bundles + 1,)
        Where each table begins.
    tables : ndarray
        Zeros; receives for every state and every label (or power of the target) the value of a
        row's cell in each column of the bundle.
    """
    left, right, depth, place, paths, inner = nodes
    classifies = labels.size > 0
    channels = leaf_weights.shape[1] if classifies else 3
    labelled = weights[2].shape[0] > 0
    most = 0
    for k in range(left.size):
        if left[k] < 0 and inner[k] == 0:
            most = max(most, depth[k])
    kinds = 2 if classifies else 3
    scratch = (
        np.empty((1 << most, kinds)),
        np.empty((1 << most, kinds)),
        np.empty((1 << most, 3 * kinds if labelled else 2 * kinds)),
        np.empty((1 << most, kinds, most + 1)),
    )
    splits = np.empty(BUNDLE_SPLITS, np.int64)
    for b in range(roots.size):
        root, state = roots[b], states[b]
        count = splits_of_bundle(left, right, inner, root, splits)
        size = 1 << (depth[root] + count)
        seen = np.zeros((size, channels))
        if classifies:
            for i in range(labels.size):
                seen[state[i], labels[i]] += 1.0
        else:
            for i in range(targets.size):
                y = targets[i]
                seen[state[i], 0] += 1.0
                seen[state[i], 1] += y
                seen[state[i], 2] += y * y
        width = _columns_of(root, splits[:count], depth, place, paths, left, columns[b])
        if labelled:
            columns[b, width] = columns.shape[1] - 1
            width += 1
        widths[b] = width
        _fill_table(
            nodes,
            root,
            splits[:count],
            seen,
            columns[b, :width],
            leaf_weights,
            weights,
            classifies,
            scratch,
            tables[offsets[b] : offsets[b] + size * channels * width],
        )


@numba.njit(nogil=True, cache=CACHE)
def add_rows(
    states: NDArray[np.uint16],
    labels: NDArray[np.int32],
    targets: NDArray[np.float64],
    columns: NDArray[np.int32],
    widths: NDArray[np.int64],
    offsets: NDArray[np.int64],
    tables: NDArray[np.float64],
    channels: int,
    values: NDArray[np.float64],
) -> None:
    """Add the values of all rows from the tables of bundles, see :func:`fill_tables`."""
    n, kinds = values.shape[0], np.uint64(channels)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        for b in range(widths.size):
            width, state = np.uint64(widths[b]), states[b]
            names = columns[b].astype(np.uint64)  # unsigned: compiled without a test for < 0
            table = tables[offsets[b] : offsets[b + 1]]
            if labels.size:
                for i in range(start, stop):
                    line = (np.uint64(state[i]) * kinds + np.uint64(labels[i])) * width
                    for j in range(width):
                        values[i, names[j]] += table[line + j]
            else:
                for i in range(start, stop):
                    line = np.uint64(state[i]) * kinds * width
                    y = targets[i]
                    for j in range(width):
                        values[i, names[j]] += table[line + j] + y * (
                            table[line + width + j] + y * table[line + width + width + j]
                        )


@numba.njit(nogil=True, cache=CACHE)
def _columns_of(
    root: int, splits: Any, depth: Any, place: Any, paths: Any, left: Any, columns: Any
) -> Any:
    """The columns of a bundle: those on the path to its root, then those that its splits add."""
    count = depth[root]
    for j in range(count):
        columns[j] = paths[root, j]
    for k in splits:
        column = paths[left[k], place[k]]
        known = False
        for j in range(count):
            known |= columns[j] == column
        if not known:
            columns[count] = column
            count += 1
    return count


@numba.njit(nogil=True, cache=CACHE)
def _fill_table(
    nodes: tuple[Any, ...],
    root: int,
    splits: Any,
    seen: Any,
    columns: Any,
    leaf_weights: Any,
    weights: tuple[Any, ...],
    classifies: bool,
    scratch: tuple[Any, ...],
    table: Any,
) -> None:
    """The table of a bundle, from all of its leaves."""
    left, right, depth, place, paths, inner = nodes
    row_weights, joins, beside = weights
    counts, coefficients, sums, worth = scratch
    kinds = counts.shape[1]
    labelled = beside.shape[0] > 0
    n_splits = len(splits)
    size = seen.shape[0]
    codes = np.empty(size, np.int64)
    occupied = np.empty(size, np.bool_)
    for state in range(size):
        count = 0.0
        for c in range(seen.shape[1] if classifies else 1):
            count += seen[state, c]
        occupied[state] = count > 0.0
    met = np.empty(counts.shape[0], np.bool_)
    positions = np.empty(paths.shape[1] + 1, np.int64)
    way = np.empty(n_splits + 1, np.int64)  # splits from the root to a leaf, by number
    sides = np.empty(n_splits + 1, np.bool_)
    for parent in range(-1, n_splits):
        for turn in range(2):
            if parent < 0:  # a bundle that is a leaf
                if n_splits or turn:
                    continue
                leaf = root
            else:
                leaf = left[splits[parent]] if turn == 0 else right[splits[parent]]
            if left[leaf] >= 0 or inner[leaf] < 0:
                continue
            steps = 0
            node = leaf
            for k in range(parent, -1, -1):  # parents come before their children
                if left[splits[k]] == node or right[splits[k]] == node:
                    way[steps] = k
                    sides[steps] = left[splits[k]] == node
                    node = splits[k]
                    steps += 1
            d = depth[leaf]
            counts[: 1 << d] = 0.0
            met[: 1 << d] = False
            for state in range(size):
                if not occupied[state]:
                    continue
                code = state >> n_splits
                for step in range(steps - 1, -1, -1):
                    k = splits[way[step]]
                    passed = ((state >> (n_splits - 1 - way[step])) & 1 == 1) == sides[step]
                    if place[k] == depth[k]:
                        code |= (1 if passed else 0) << place[k]
                    elif not passed:
                        code &= ~(1 << place[k])
                codes[state] = code
                met[code] = True
                if classifies:
                    for c in range(seen.shape[1]):
                        counts[code, 0] += seen[state, c]
                        counts[code, 1] += leaf_weights[leaf, c] * seen[state, c]
                else:
                    for c in range(3):
                        counts[code, c] += seen[state, c]
            add_supersets(counts[: 1 << d], d)
            if classifies:
                share_coefficients(counts, row_weights, 1 << d, coefficients)
            else:
                error_coefficients(counts, row_weights, leaf_weights[leaf], 1 << d, coefficients)
            of_label = beside[d + 1] if labelled else np.zeros(0)
            sum_over_subsets(coefficients[: 1 << d], d, joins[d], of_label, sums)
            for j in range(d):
                for position in range(columns.size):
                    if columns[position] == paths[leaf, j]:
                        positions[j] = position
            width = d
            if labelled:
                positions[d] = columns.size - 1
                width += 1
            cell_values(sums, d, kinds, labelled, met, worth)
            for state in range(size):
                if not occupied[state]:
                    continue
                of_code = worth[codes[state]]
                if classifies:
                    for c in range(seen.shape[1]):
                        weight = leaf_weights[leaf, c]
                        line = (state * seen.shape[1] + c) * columns.size
                        for j in range(width):
                            table[line + positions[j]] += of_code[0, j] + weight * of_code[1, j]
                else:
                    for c in range(3):
                        line = (state * 3 + c) * columns.size
                        for j in range(width):
                            table[line + positions[j]] += of_code[c, j]
