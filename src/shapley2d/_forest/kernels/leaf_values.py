"""Values of the cells of all rows in the leaves of bundles, by a table per bundle.

A leaf predicts the mean of a number over its rows. That number is the row's own, ``r``, times the
weight of the leaf for the row's *kind*: its class in the trees of a classifying forest, which have
one weight per class; all rows are of one kind in other trees. Rows in one state of a bundle have
the same coefficients of their cells in all of its leaves: the table of a bundle has these for every
state, and every row reads its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from shapley2d._base.cache import CACHE
from shapley2d._forest.kernels.leaf_states import BLOCK, BUNDLE_SPLITS, splits_of_bundle
from shapley2d._forest.kernels.leaf_tables import add_supersets, cell_coefficients, row_coefficients

if TYPE_CHECKING:
    from numpy.typing import NDArray


@numba.njit(nogil=True, cache=CACHE)
def fill_tables(
    nodes: tuple[Any, ...],
    roots: NDArray[np.int64],
    states: NDArray[np.uint16],
    kinds: NDArray[np.int32],
    numbers: NDArray[np.float64],
    plays: NDArray[np.float64],
    leaf_weights: NDArray[np.float64],
    weights: tuple[Any, ...],
    plain: bool,
    columns: NDArray[np.int32],
    widths: NDArray[np.int64],
    offsets: NDArray[np.int64],
    tables: NDArray[np.float64],
) -> None:
    """Fill the tables of some bundles: the coefficients of a row's cells for every state.

    Parameters
    ----------
    nodes : tuple
        ``left``, ``right``, and ``depth``, ``place``, ``paths`` and ``inner`` of
        :func:`~shapley2d._forest.kernels.leaf_states.find_paths`.
    roots : ndarray
        The root of each bundle.
    states : ndarray of shape (bundles, n)
        Of the rows.
    kinds, numbers, plays : ndarray of shape (n,)
        Of the rows: their kinds, their numbers r, and 1 where they play, 0 (as their numbers) where
        not.
    leaf_weights : ndarray of shape (nodes, kinds)
    weights : tuple
        ``mean_weights`` of the rows, and ``weight_table`` of the columns and of the label beside
        them (see :mod:`shapley2d._forest.weights`); the last is empty where the label is not
        valued.
    plain : bool
        Whether all numbers of rows that play are 1; then the table has the sum of both.
    columns : ndarray of shape (bundles, m + 1)
        Receives the columns of every bundle, the label's, m, last.
    widths : ndarray of shape (bundles,)
        Receives their number.
    offsets : ndarray of shape (bundles + 1,)
        Where each table begins.
    tables : ndarray
        Zeros; receives for every state, and each column of the bundle, what a row's cell is worth
        whatever its number is, then for every kind what it is worth per unit of the number.
    """
    left, right, depth, place, paths, inner = nodes
    row_weights, joins, beside = weights
    n_kinds, labelled = leaf_weights.shape[1], beside.shape[0] > 0
    most = 0
    for k in range(left.size):
        if left[k] < 0 and inner[k] == 0:
            most = max(most, depth[k])
    counts, coefficients = np.empty((1 << most, 2)), np.empty((1 << most, 2))
    sums, worth = np.empty((1 << most, 6 if labelled else 4)), np.empty((1 << most, 2, most + 1))
    met = np.empty(1 << most, np.bool_)
    positions = np.empty(paths.shape[1] + 1, np.int64)
    splits = np.empty(BUNDLE_SPLITS, np.int64)
    way = np.empty(BUNDLE_SPLITS + 1, np.int64)  # splits from the root to a leaf, by number
    sides = np.empty(BUNDLE_SPLITS + 1, np.bool_)
    for b in range(roots.size):
        root = roots[b]
        n_splits = splits_of_bundle(left, right, inner, root, splits)
        size = 1 << (depth[root] + n_splits)
        seen = np.zeros((size, n_kinds + 1))  # of the rows in each state: how many, and sums of r
        for i in range(kinds.size):
            state = states[b, i]
            seen[state, 0] += plays[i]
            seen[state, 1 + kinds[i]] += numbers[i]
        # columns on the path to the root, then those that its splits add
        width = depth[root]
        for j in range(width):
            columns[b, j] = paths[root, j]
        for s in range(n_splits):
            column = paths[left[splits[s]], place[splits[s]]]
            known = False
            for j in range(width):
                known |= columns[b, j] == column
            if not known:
                columns[b, width] = column
                width += 1
        if labelled:
            columns[b, width] = columns.shape[1] - 1
            width += 1
        widths[b] = width
        codes = np.empty(size, np.int64)
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
                for q in range(1 << d):
                    counts[q, 0] = counts[q, 1] = 0.0
                    met[q] = False
                for state in range(size):
                    if seen[state, 0] == 0.0:
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
                    counts[code, 0] += seen[state, 0]
                    for c in range(n_kinds):
                        counts[code, 1] += leaf_weights[leaf, c] * seen[state, 1 + c]
                add_supersets(counts, d)
                row_coefficients(counts, row_weights, 1 << d, coefficients)
                of_label = beside[d + 1] if labelled else joins[0, :0]
                cell_coefficients(coefficients, d, joins[d], of_label, met, sums, worth)
                for j in range(d):
                    for position in range(width):
                        if columns[b, position] == paths[leaf, j]:
                            positions[j] = position
                count = d
                if labelled:
                    positions[d] = width - 1
                    count += 1
                for state in range(size):
                    if seen[state, 0] == 0.0:
                        continue
                    of_code = worth[codes[state]]
                    line = offsets[b] + state * (1 + n_kinds) * width
                    for j in range(count):
                        tables[line + positions[j]] += of_code[0, j]
                    for c in range(n_kinds):
                        line += width
                        weight, always = leaf_weights[leaf, c], 1.0 if plain else 0.0
                        for j in range(count):
                            cell = always * of_code[0, j] + weight * of_code[1, j]
                            tables[line + positions[j]] += cell


@numba.njit(nogil=True, cache=CACHE)
def add_rows(
    states: NDArray[np.uint16],
    kinds: NDArray[np.int32],
    numbers: NDArray[np.float64],
    plays: NDArray[np.float64],
    of_tables: tuple[Any, ...],
    n_kinds: int,
    plain: bool,
    values: NDArray[np.float64],
) -> None:
    """Add the values of all rows from the tables of bundles.

    ``of_tables`` are the last four arrays of :func:`fill_tables`.
    """
    columns, widths, offsets, tables = of_tables
    n, lines = values.shape[0], np.uint64(n_kinds + 1)
    names = np.empty(columns.shape[1], np.uint64)  # unsigned: compiled without a test for < 0
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        for b in range(widths.size):
            width = np.uint64(widths[b])
            first = np.uint64(offsets[b])
            for j in range(width):
                names[j] = columns[b, j]
            for i in range(start, stop):
                line = first + np.uint64(states[b, i]) * lines * width
                own = line + (np.uint64(kinds[i]) + np.uint64(1)) * width
                r, p = numbers[i], plays[i]
                if plain:  # one line to read
                    for j in range(width):
                        values[i, names[j]] += p * tables[own + j]
                else:
                    for j in range(width):
                        values[i, names[j]] += p * tables[line + j] + r * tables[own + j]
