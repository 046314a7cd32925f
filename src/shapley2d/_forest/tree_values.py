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

MAX_COLUMNS = 12
"""Columns on the path of a leaf, at most: all subsets of them are summed over."""

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
        weight, and the weighted sum of their targets.
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
    _check_paths(int(depth[inner == 0].max(initial=0)))
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


def _check_paths(most: int) -> None:
    if most > MAX_COLUMNS:
        raise InputError(
            Setting("model"),
            f" has a leaf with {most} columns on its path, and values are exact for up to "
            f"{MAX_COLUMNS}: set a smaller max_depth or a larger min_samples_leaf",
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
