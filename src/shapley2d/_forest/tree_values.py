"""The values of all cells under one tree: states of the rows, tables of the leaves, and back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._forest.trees import SplitTree

    Floats = NDArray[np.float64]

ALWAYS_EXACT, MOST_EXACT = 12, 16
"""Columns on the path of a leaf up to which all subsets are summed over: in any table, and at most.

More than 16 do not fit the numbers of states.
"""

_ROUNDS_COST = 16
"""Steps of a sum over subsets, per row, that ten random orders of the columns take.

On Census, 32,561 rows, a leaf of 13 or 14 columns took 4.3 ms for all subsets (d 2^d is 1.1e5 and
2.3e5) and 0.9 ms for an order.
"""

MAX_PATH = 64
"""Columns on the path of a leaf, at most: a row's code has a bit for each."""

MAX_STATES = 2**12
"""States of a bundle of several leaves, at most: its table stays in the processor's cache."""

_AT_ONCE = 2**25  # bytes of states, and numbers of tables, that are held at a time


@dataclass(frozen=True)
class Features:
    """What the trees see of the two tables of a split.

    Attributes
    ----------
    train, valid : ndarray of shape (width, n) and (width, T)
        One line per feature; NaN where an entry is missing.
    owners : ndarray of shape (width,)
        The column of the table behind every feature.
    """

    train: Floats
    valid: Floats
    owners: NDArray[np.int32]


def most_columns(n_rows: int) -> int:
    """Columns on the path of a leaf up to which all subsets cost no more than random orders.

    Examples
    --------
    >>> most_columns(1000), most_columns(32_561), most_columns(10**6)
    (12, 15, 16)
    """
    most = ALWAYS_EXACT
    while most < MOST_EXACT and (most + 1) * 2 ** (most + 1) <= _ROUNDS_COST * n_rows:
        most += 1
    return most


def add_tree_values(
    tree: SplitTree,
    features: Features,
    target: tuple[NDArray[np.int32], Floats],
    leaf_weights: Floats,
    weights: tuple[Floats, Floats, Floats],
    values: Floats,
) -> None:
    """Add the values of all cells under one tree.

    Parameters
    ----------
    tree : SplitTree
    features : Features
    target : (ndarray, ndarray)
        Labels, empty in regression; and targets counted from their mean, empty in classification.
    leaf_weights : ndarray of shape (nodes, classes or 2)
        Of the validation rows in every leaf: the weight of each label; or in regression their
        weight, and the weighted sum of their targets. 0 in deep leaves.
    weights : (ndarray, ndarray, ndarray)
        Of rows, of columns, and of the label beside them, see :mod:`shapley2d._forest.weights`.
    values : ndarray of shape (n, m), or (n, m + 1) with the label
        Is added to.
    """
    from shapley2d._kernels.leaf_states import fill_states, find_bundles, find_paths
    from shapley2d._kernels.leaf_values import add_rows, fill_tables

    labels, targets = target
    n, n_columns = values.shape
    labelled = len(weights[2]) > 0
    channels = leaf_weights.shape[1] if labels.size else 3
    weighs = np.asarray(leaf_weights.any(axis=1))
    depth, place, paths, inner = find_paths(tree.arrays, features.owners, weighs, n_columns)
    # tables take longer than rows where they have more lines
    most_states = min(MAX_STATES, n)
    roots, number, before, after = find_bundles(tree.left, tree.right, depth, inner, most_states)
    nodes = (tree.left, tree.right, depth, place, paths, inner)
    plan = (depth, place, inner, number, before, after)
    bits = depth[roots] + inner[roots]
    sizes = (1 << bits) * channels * (bits + labelled)
    for first, last in _stretches(sizes, n):
        count = last - first
        offsets = np.concatenate([[0], np.cumsum(sizes[first:last])])
        states = np.empty((count, n), dtype=np.uint16)
        columns = np.empty((count, n_columns + 1 - labelled), dtype=np.int32)
        widths, tables = np.empty(count, dtype=np.int64), np.zeros(int(offsets[-1]))
        fill_states(tree.arrays, features.train, plan, first, states)
        fill_tables(
            nodes,
            roots[first:last],
            states,
            labels,
            targets,
            leaf_weights,
            weights,
            columns,
            widths,
            offsets,
            tables,
        )
        add_rows(states, labels, targets, columns, widths, offsets, tables, channels, values)


def add_tree_changes(
    tree: SplitTree,
    features: Features,
    moved: tuple[NDArray[np.intp], Floats],
    target: tuple[NDArray[np.int32], Floats],
    touched: NDArray[np.bool_],
    leaf_weights: tuple[Floats, Floats],
    weights: tuple[Floats, Floats, Floats],
    values: Floats,
) -> None:
    """Add what the values of all cells change by in some leaves of a tree.

    Parameters
    ----------
    tree, target, weights, values
        As of :func:`add_tree_values`.
    features : Features
        Before the change.
    moved : (ndarray, ndarray)
        The changed rows, and their features after the change.
    touched : ndarray of bool of shape (nodes,)
        The leaves; none of them deep.
    leaf_weights : (ndarray, ndarray)
        Before and after the change.
    """
    from shapley2d._kernels import leaf_changes

    leaf_changes.add_tree_changes(
        tree.arrays,
        features.owners,
        features.train,
        moved,
        touched,
        target,
        weights,
        leaf_weights,
        _AT_ONCE,
        values,
    )


def deep_leaves(tree: SplitTree, features: Features, leaf_weights: Floats) -> NDArray[np.bool_]:
    """Leaves with validation rows that have too many columns on their path for all subsets."""
    from shapley2d._kernels.leaf_states import find_paths

    weighs = np.asarray(leaf_weights.any(axis=1))
    n_columns = int(features.owners.max()) + 1
    depth, _, _, inner = find_paths(tree.arrays, features.owners, weighs, n_columns)
    most = int(depth[inner == 0].max(initial=0))
    if most > MAX_PATH:
        raise InputError(
            Setting("model"),
            f" has a leaf with {most} columns on its path, and at most {MAX_PATH} can be valued: "
            "set a smaller max_depth or a larger min_samples_leaf",
        )
    return np.asarray((inner == 0) & is_deep(tree, features, depth))


def is_deep(tree: SplitTree, features: Features, depth: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Leaves with too many columns on their path for all subsets; ``depth`` has their number."""
    return np.asarray((tree.left < 0) & (depth > most_columns(features.train.shape[1])))


def path_columns(
    tree: SplitTree, owners: NDArray[np.int32], leaves: NDArray[np.bool_], n_columns: int
) -> NDArray[np.bool_]:
    """The columns on the paths of some leaves."""
    from shapley2d._kernels.leaf_states import find_paths

    depth, _, paths, _ = find_paths(tree.arrays, owners, leaves, n_columns)
    named = np.zeros(n_columns, dtype=np.bool_)
    for leaf in np.flatnonzero(leaves).tolist():
        named[paths[leaf, : depth[leaf]]] = True
    return named


def may_be_deep(tree: SplitTree, features: Features) -> bool:
    """Whether a tree has any leaf with too many columns on its path for all subsets."""
    from shapley2d._kernels.leaf_states import find_paths

    n_columns = int(features.owners.max()) + 1
    if n_columns <= most_columns(features.train.shape[1]):
        return False
    depth, *_ = find_paths(tree.arrays, features.owners, tree.left < 0, n_columns)
    return bool(is_deep(tree, features, depth).any())


def add_deep_values(
    tree: SplitTree,
    features: Features,
    target: tuple[NDArray[np.int32], Floats],
    leaf_weights: Floats,
    weights: tuple[Floats, Floats, Floats],
    random: np.random.Generator,
    values: Floats,
) -> None:
    """Add the values of all cells in deep leaves, for one random order of the columns of each.

    Parameters
    ----------
    tree, features, target, values
        As of :func:`add_tree_values`.
    leaf_weights : ndarray of shape (nodes, classes or 2)
        Of the validation rows in deep leaves; 0 in others.
    weights : (ndarray, ndarray, ndarray)
        Of rows, of the steps of an order, and of the label beside the columns, see
        :mod:`shapley2d._forest.weights`.
    random : Generator
        Of the orders. Every deep leaf of the tree has one, with validation rows or without: which
        others there are does not change it.
    """
    from shapley2d._kernels.deep_leaves import add_orders
    from shapley2d._kernels.leaf_states import fill_states, find_bundles, find_paths

    weighs = np.asarray(leaf_weights.any(axis=1))
    n, n_columns = values.shape
    depth, place, paths, inner = find_paths(tree.arrays, features.owners, weighs, n_columns)
    # no states: every leaf is a bundle by itself
    leaves, number, before, after = find_bundles(tree.left, tree.right, depth, inner, 0)
    plan = (depth, place, inner, number, before, after)
    depths = depth[leaves]
    all_deep = np.flatnonzero(is_deep(tree, features, depth))
    keys = random.random((all_deep.size, paths.shape[1]))[np.searchsorted(all_deep, leaves)]
    keys[np.arange(paths.shape[1]) >= depths[:, None]] = 2.0  # after all columns of the leaf
    orders = np.argsort(keys, axis=1)
    step = max(_AT_ONCE // (8 * n), 1)
    for first in range(0, leaves.size, step):
        part = leaves[first : first + step]
        codes = np.empty((part.size, n), dtype=np.uint64)
        fill_states(tree.arrays, features.train, plan, first, codes)
        add_orders(
            codes,
            orders[first : first + step],
            paths[part],
            depths[first : first + step],
            *target,
            leaf_weights[part],
            *weights,
            values,
        )


def _stretches(sizes: NDArray[np.int64], n_rows: int) -> list[tuple[int, int]]:
    """Consecutive bundles whose states and tables are held at a time."""
    found, first, taken = [], 0, 0
    for k, size in enumerate(sizes.tolist()):
        if k > first and (taken + size > _AT_ONCE or 2 * n_rows * (k - first + 1) > _AT_ONCE):
            found.append((first, k))
            first, taken = k, 0
        taken += size
    if first < len(sizes):
        found.append((first, len(sizes)))
    return found
