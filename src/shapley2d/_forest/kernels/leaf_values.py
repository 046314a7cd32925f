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
from shapley2d._forest.kernels.leaf_states import BELOW, BLOCK, BUNDLE_SPLITS, DEPTH, PLACE
from shapley2d._forest.kernels.leaf_tables import cell_coefficients

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats


@numba.njit(nogil=True, cache=CACHE)
def fill_tables(
    tree: Any,
    plan: tuple[Any, ...],
    states: NDArray[np.uint16],
    rows: tuple[Any, ...],
    leaf_weights: Floats,
    weights: tuple[Any, ...],
    plain: bool,
    most: tuple[int, int],
    found: tuple[Any, ...],
) -> None:
    """Fill the tables of some bundles: the coefficients of a row's cells for every state.

    ``tree``: a :class:`~shapley2d._forest.model.SplitTree`.
    ``plan``: nodes, paths and these bundles, of
        :func:`~shapley2d._forest.kernels.leaf_states.plan_tree`.
    ``states`` (bundles, n): of the rows.
    ``rows``: kinds, numbers and plays (n,): of the rows: their kinds, their numbers r, and 1 where
        they play, 0 (as their numbers) where not.
    ``leaf_weights`` (nodes, kinds).
    ``weights``: ``mean_weights`` of the rows, and ``weight_table`` of the columns and of the label
        beside them (see :mod:`shapley2d._forest.weights`); the last is empty where the label is not
        valued.
    ``plain``: whether all numbers of rows that play are 1; then the table has the sum of both.
    ``most``: columns on the path of a leaf, and states of a bundle, at most.
    ``found``: four arrays:
        columns (bundles, m + 1), receives the columns of every bundle, the label's, m, last;
        widths (bundles,), receives their number;
        offsets (bundles + 1,), where each table begins;
        tables, zeros, receives for every state, and each column of the bundle, what a row's cell is
        worth whatever its number is, then for every kind what it is worth per unit of the number.
    """
    left, right = tree.left, tree.right
    nodes, paths, bundles = plan
    kinds, numbers, plays = rows
    columns, widths, offsets, tables = found
    n_kinds, labelled = leaf_weights.shape[1], np.int64(weights[2].size > 0)
    always = 1.0 if plain else 0.0
    # arrays of two kinds alone: each further kind takes a tenth of a second to compile
    work, worth = np.empty((1 << most[0], 9)), np.empty((2 << most[0], most[0] + 1))
    seen = np.empty((most[1], n_kinds + 1))  # rows in each state, and sums of their numbers
    codes = np.empty((2 * BUNDLE_SPLITS + 1, most[1]), np.int64)  # of states, in every node
    size = BUNDLE_SPLITS + most[0] + columns.shape[1]
    above, positions, place = np.empty((3, size), np.int64)  # place: of columns in their bundle
    for column in range(size):
        place[column] = 0
    for b in range(bundles.shape[0]):
        root, n_splits = bundles[b, 0], bundles[b, 1]
        size = 1 << (nodes[root, DEPTH] + n_splits)
        for state in range(size):
            codes[0, state] = state >> n_splits
            for c in range(n_kinds + 1):
                seen[state, c] = 0.0
        for i in range(kinds.size):
            seen[states[b, i], 0] += plays[i]
            seen[states[b, i], 1 + kinds[i]] += numbers[i]
        # columns on the path to the root, those that its splits add, and the label's
        width = nodes[root, DEPTH]
        for j in range(width):
            columns[b, j] = paths[root, j]
            place[paths[root, j]] = j
        for s in range(n_splits):
            split = bundles[b, 2 + s]
            column = paths[left[split], nodes[split, PLACE]]
            if place[column] >= width or columns[b, place[column]] != column:
                columns[b, width] = column
                place[column] = width
                width += 1
        if labelled:
            columns[b, width] = columns.shape[1] - 1
            width += 1
        widths[b] = width
        above[0] = 0
        for own in range(1 + 2 * n_splits):  # the root, and the children of all splits
            node = root
            if own > 0:
                s, to_left = (own - 1) >> 1, own & 1
                split = bundles[b, 2 + s]
                node = np.int64(left[split] if to_left else right[split])
                for later in range(s + 1, n_splits):
                    if bundles[b, 2 + later] == node:
                        above[later] = own
                bit, new = 1 << nodes[split, PLACE], nodes[split, PLACE] == nodes[split, DEPTH]
                for state in range(size):
                    code = codes[above[s], state]
                    if (state >> (n_splits - 1 - s)) & 1 != to_left:
                        code &= ~bit
                    elif new:
                        code |= bit
                    codes[own, state] = code
            if left[node] < 0 and nodes[node, BELOW] == 0:
                d = nodes[node, DEPTH]
                for j in range(d):
                    positions[j] = place[paths[node, j]]
                positions[d] = width - 1  # the label's
                code_of = codes[own]
                for q in range(1 << d):
                    work[q, 0] = work[q, 1] = 0.0
                for state in range(size):
                    work[code_of[state], 0] += seen[state, 0]
                    for c in range(n_kinds):
                        work[code_of[state], 1] += leaf_weights[node, c] * seen[state, 1 + c]
                cell_coefficients(work, d, weights[0], weights[1], weights[2], worth)
                for state in range(size):
                    if seen[state, 0] == 0.0:
                        continue
                    fixed, per_unit = worth[2 * code_of[state]], worth[2 * code_of[state] + 1]
                    line = offsets[b] + state * (1 + n_kinds) * width
                    for j in range(d + labelled):
                        tables[line + positions[j]] += fixed[j]
                    for c in range(n_kinds):
                        line += width
                        for j in range(d + labelled):
                            cell = always * fixed[j] + leaf_weights[node, c] * per_unit[j]
                            tables[line + positions[j]] += cell


@numba.njit(nogil=True, cache=CACHE)
def add_rows(
    states: NDArray[np.uint16],
    rows: tuple[Any, ...],
    of_tables: tuple[Any, ...],
    n_kinds: int,
    plain: bool,
    values: Floats,
) -> None:
    """Add the values of all rows from the tables of bundles.

    ``of_tables`` are the last four arrays of :func:`fill_tables`; columns are unsigned, so that no
    test for numbers below 0 is compiled.
    """
    kinds, numbers, plays = rows
    columns, widths, offsets, tables = of_tables
    n, lines = values.shape[0], np.uint64(n_kinds + 1)
    for start in range(0, n, BLOCK):
        stop = start + BLOCK if start + BLOCK < n else n
        for b in range(widths.size):
            width = np.uint64(widths[b])
            first = np.uint64(offsets[b])
            names = columns[b]
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
