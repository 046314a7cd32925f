"""The game of a tree ensemble whose splits are held fixed: values of all cells under single trees.

A tree sends a validation row to a leaf. Of a coalition of rows and columns, the rows that pass all
splits on the leaf's path whose column is present predict: the share of the row's label among them,
or their mean target. Rows are all training rows, whichever the tree was grown on. Where no row
passes, no label is right, and a number is predicted by the mean of all targets.

Only the columns on a path play in its leaf, so the sum over all their subsets is exact and short,
as in TreeSHAP (Lundberg et al. 2020, arXiv:1905.04610), which values the columns of a prediction;
here the rows behind the prediction are valued with them. A *deep* leaf has too many columns on its
path for all subsets: random orders of these are sampled (Castro, Gomez and Tejada 2009,
doi:10.1016/j.cor.2008.04.004).
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._forest.kernels.deep_leaves import add_orders
from shapley2d._forest.kernels.leaf_states import fill_states, find_bundles, find_leaves, find_paths
from shapley2d._forest.kernels.leaf_tables import error_coefficients, share_coefficients
from shapley2d._forest.kernels.leaf_values import add_rows, fill_tables
from shapley2d._forest.weights import error_weights, share_weights, weight_table
from shapley2d._theory.semivalues import feature_semivalue, marginal_weights, size_probabilities
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from shapley2d._forest.trees import Features, SplitTree
    from shapley2d._tables.target import Target
    from shapley2d._theory.semivalues import Semivalue

    Floats = NDArray[np.float64]

MAX_PATH = 64
"""Columns on the path of a leaf, at most: a row's code has a bit for each."""

_ROOM = 2**25
"""Bytes of states, and numbers of tables, that are held in memory at a time."""


def most_columns(n_rows: int) -> int:
    """Columns on the path of a leaf up to which all subsets cost no more than random orders.

    On Census, 32,561 rows, a leaf of 13 or 14 columns took 4.3 ms for all d 2^d steps, and 0.9 ms
    for a random order: ten orders take about 16 steps per row. States have 16 bits.

    Examples
    --------
    >>> most_columns(1000), most_columns(32_561), most_columns(10**6)
    (12, 15, 16)
    """
    return max(12, *(d for d in range(17) if d * 2**d <= 16 * n_rows))


def leaves_of(tree: SplitTree, features: Floats) -> NDArray[np.int32]:
    """The leaf of every row of a table; ``features`` has one row per feature."""
    leaves = np.empty(features.shape[1], dtype=np.int32)
    find_leaves(tree.arrays, features, leaves)
    return leaves


class LeafGame:
    """The cells of one split under single trees.

    Arrays of all nodes with one column per class, or with two in regression, hold sums over the
    rows in every leaf: the weight of each label; or the weight of all, and of their targets.

    Parameters
    ----------
    features : Features
    y, y_valid : Target
    weights : ndarray, optional
        Of the validation rows, in any unit.
    semivalues : (Semivalue, Semivalue)
        Of the rows and of the columns.
    n_columns : int
        Columns of the table.
    labelled : bool
        Whether the label is valued as one more column.
    """

    def __init__(
        self,
        features: Features,
        y: Target,
        y_valid: Target,
        weights: Floats | None,
        semivalues: tuple[Semivalue, Semivalue],
        n_columns: int,
        *,
        labelled: bool = False,
    ) -> None:
        self.features, self.labelled = features, labelled
        self._given = (semivalues, n_columns)
        self.n_rows, self.n_columns = y.y.size, n_columns + labelled
        mass = np.ones(y_valid.y.size) if weights is None else np.asarray(weights, np.float64)
        self._weights, self._ones = mass / mass.sum(), np.ones(self.n_rows)
        self.classifies = y.task == "classification"
        self._y: NDArray[Any]
        self._target: tuple[Any, Any]  # labels and targets, one of them empty
        if self.classifies:
            self._y, self._wanted = y.codes.astype(np.int32), y_valid.codes
            self._target = (self._y, np.zeros(0))
            self._channels = int(y.classes.size)
            self._row_weights = share_weights(semivalues[0], self.n_rows)
        else:
            mean = float(y.codes.mean())
            self._y, self._wanted = y.codes - mean, y_valid.codes - mean
            self._target = (np.zeros(0, dtype=np.int32), self._y)
            self._channels = 2
            self._row_weights = error_weights(semivalues[0], self.n_rows)
        factor, beside = feature_semivalue(semivalues[1]) if labelled else (1.0, semivalues[1])
        self._most = most_columns(self.n_rows)
        exact, deepest = min(n_columns, self._most), min(n_columns, MAX_PATH)
        joins = factor * weight_table(marginal_weights, beside, exact)
        steps = factor * np.arange(deepest + 1)[:, None]
        steps = steps * weight_table(size_probabilities, beside, deepest)
        of_label = label_steps = np.zeros((0, 0))
        if labelled:
            of_label = weight_table(marginal_weights, semivalues[1], exact + 1)
            label_steps = weight_table(size_probabilities, semivalues[1], deepest + 1)[1:]
        self._all_subsets = (self._row_weights, joins, of_label)
        self._one_order = (self._row_weights, steps, label_steps)

    def changed(
        self, features: Features, targets: tuple[Target, Target, Floats | None] | None = None
    ) -> LeafGame:
        """The game of other features; and of other targets and validation weights, if given."""
        if targets is not None:
            return LeafGame(features, *targets, *self._given, labelled=self.labelled)
        game = copy(self)
        game.features = features
        return game

    def leaf_weights(self, tree: SplitTree, leaves: NDArray[np.int32] | None = None) -> Floats:
        """Sums over the validation rows in every leaf; ``leaves`` has theirs, where known."""
        leaves = leaves_of(tree, self.features.valid) if leaves is None else leaves
        return self._sums(tree.n_nodes, leaves, self._wanted, self._weights)

    def leaf_counts(self, tree: SplitTree, leaves: NDArray[np.int32] | None = None) -> Floats:
        """Sums over the training rows in every leaf, each with a weight of 1."""
        leaves = leaves_of(tree, self.features.train) if leaves is None else leaves
        return self._sums(tree.n_nodes, leaves, self._y, self._ones)

    def _sums(
        self, n_nodes: int, leaves: NDArray[np.int32], y: NDArray[Any], weights: Floats
    ) -> Floats:
        if not self.classifies:
            sums = [np.bincount(leaves, w, n_nodes) for w in (weights, weights * y)]
            return np.ascontiguousarray(np.column_stack(sums))
        known = y >= 0  # no row has a label that training never shows
        cells = leaves[known] * self._channels + y[known]
        flat = np.bincount(cells, weights[known], n_nodes * self._channels)
        return np.asarray(flat.reshape(n_nodes, self._channels))

    def row_weights(self, rows: NDArray[np.intp]) -> Floats:
        """The summands of :meth:`leaf_weights` of some validation rows."""
        return self._summands(self._wanted[rows], self._weights[rows])

    def row_counts(self, rows: NDArray[np.intp]) -> Floats:
        """The summands of :meth:`leaf_counts` of some training rows."""
        return self._summands(self._y[rows], self._ones[rows])

    def _summands(self, y: NDArray[Any], weights: Floats) -> Floats:
        if not self.classifies:
            return np.column_stack([weights, weights * y])
        return np.asarray(np.eye(self._channels)[y] * ((y >= 0) * weights)[:, None])

    def leaf_scores(self, leaf_weights: Floats, counts: Floats) -> Floats:
        """The part of every leaf in the score; in regression less that of an empty leaf."""
        if self.classifies:
            count = counts.sum(axis=-1)
            right = (leaf_weights * counts).sum(axis=-1)
            return np.asarray(np.divide(right, count, out=np.zeros_like(right), where=count > 0))
        count, total = counts[..., 0], counts[..., 1]
        mean = np.divide(total, count, out=np.zeros_like(total), where=count > 0)
        return np.asarray(mean * (2 * leaf_weights[..., 1] - mean * leaf_weights[..., 0]))

    def deep_part(self, tree: SplitTree) -> tuple[float, NDArray[np.bool_]]:
        """The weight of the validation rows in deep leaves, and the columns on their paths."""
        named, is_leaf = np.zeros(self.n_columns, dtype=np.bool_), tree.left < 0
        depth, _, paths, _ = find_paths(tree.arrays, self.features.owners, is_leaf, self.n_columns)
        if depth[is_leaf].max() <= self._most:
            return 0.0, named
        leaf_weights = self.leaf_weights(tree)
        deep = self._deep_leaves(tree, leaf_weights)
        for leaf in np.flatnonzero(deep).tolist():
            named[paths[leaf, : depth[leaf]]] = True
        mass = leaf_weights[deep] if self.classifies else leaf_weights[deep, :1]
        return float(mass.sum()), named

    def add_values(
        self, tree: SplitTree, values: Floats, leaf_weights: Floats | None = None
    ) -> None:
        """Add the values of the cells under a tree, the label's in the last column.

        Deep leaves are left out; others are where ``leaf_weights`` are given and 0.
        """
        leaf_weights = self.leaf_weights(tree) if leaf_weights is None else leaf_weights
        deep = self._deep_leaves(tree, leaf_weights)
        if deep.any():
            leaf_weights = np.where(deep[:, None], 0.0, leaf_weights)
        n, n_columns = values.shape
        channels = self._channels if self.classifies else 3
        # a table with more rows than these takes longer than the rows, or leaves the cache
        weighs = np.asarray(leaf_weights.any(axis=1))
        roots, paths, plan = self._bundles(tree, weighs, min(2**12, n))
        depth, place, inner, *_ = plan
        nodes = (tree.left, tree.right, depth, place, paths, inner)
        bits = depth[roots] + inner[roots]
        sizes = (1 << bits) * channels * (bits + self.labelled)
        for first, last in _batches(sizes, n):
            count = last - first
            offsets = np.concatenate([[0], np.cumsum(sizes[first:last])])
            states = np.empty((count, n), dtype=np.uint16)
            columns = np.empty((count, n_columns + 1 - self.labelled), dtype=np.int32)
            widths, tables = np.empty(count, dtype=np.int64), np.zeros(int(offsets[-1]))
            fill_states(tree.arrays, self.features.train, plan, first, states)
            fill_tables(
                nodes,
                roots[first:last],
                states,
                *self._target,
                leaf_weights,
                self._all_subsets,
                columns,
                widths,
                offsets,
                tables,
            )
            add_rows(states, *self._target, columns, widths, offsets, tables, channels, values)

    def add_deep_values(
        self,
        tree: SplitTree,
        random: np.random.Generator,
        values: Floats,
        leaf_weights: Floats | None = None,
    ) -> None:
        """Add the values of the cells in deep leaves, by one random order of the columns of each.

        Every deep leaf of the tree has an order, with validation rows or without, so that it does
        not depend on the validation rows.
        """
        leaf_weights = self.leaf_weights(tree) if leaf_weights is None else leaf_weights
        deep = self._deep_leaves(tree, leaf_weights)
        if not deep.any():
            return
        leaves, paths, plan = self._bundles(tree, deep, 0)
        depth, width = plan[0], paths.shape[1]
        all_deep = np.flatnonzero((tree.left < 0) & (depth > self._most))
        keys = random.random((all_deep.size, width))[np.searchsorted(all_deep, leaves)]
        keys[np.arange(width) >= depth[leaves][:, None]] = 2.0  # after all columns of the leaf
        orders = np.argsort(keys, axis=1)
        step = max(_ROOM // (8 * self.n_rows), 1)
        for first in range(0, leaves.size, step):
            part = leaves[first : first + step]
            codes = np.empty((part.size, self.n_rows), dtype=np.uint64)
            fill_states(tree.arrays, self.features.train, plan, first, codes)
            add_orders(
                codes,
                orders[first : first + step],
                paths[part],
                depth[part],
                *self._target,
                leaf_weights[part],
                *self._one_order,
                values,
            )

    def changed_leaves(self, tree: SplitTree, before: Floats, after: Floats) -> NDArray[np.bool_]:
        """Leaves whose splits rows with changed features pass in other columns than before."""
        leaves, _, plan = self._bundles(tree, tree.left < 0, 0)
        codes = np.empty((2, leaves.size, before.shape[1]), dtype=np.uint64)
        for features, part in zip((before, after), codes, strict=True):
            fill_states(tree.arrays, features, plan, 0, part)
        changed = np.zeros(tree.n_nodes, dtype=np.bool_)
        changed[leaves] = (codes[0] != codes[1]).any(axis=1)
        return changed

    def from_zero(self) -> Floats:
        """The amount by which every cell's value is larger where scores are counted from 0.

        Without any column nothing is then predicted, and without any row neither. Of the first
        column to join, a row gets its value in the game of the labels alone.
        """
        alone, blind = self._labels_alone(), self.without_rows()
        (rows, columns), m = self._given
        factor, beside = feature_semivalue(columns) if self.labelled else (1.0, columns)
        added = np.empty((self.n_rows, self.n_columns))
        first = marginal_weights(rows, self.n_rows)[0]
        added[:, :m] = factor * marginal_weights(beside, m)[0] * (alone + first * blind)[:, None]
        if self.labelled:
            lone = marginal_weights(columns, m + 1)[0]
            added[:, m] = (1.0 - lone) * first * blind - lone * alone
        return added

    def without_rows(self) -> float:
        """The score of no rows at all."""
        return 0.0 if self.classifies else -float(self._weights @ self._wanted**2)

    def _labels_alone(self) -> Floats:
        """The values of the rows in the game without columns: all of them in one leaf."""
        if self.classifies:
            one_leaf = np.zeros(self._wanted.size, dtype=np.int32)
            each = self._sums(1, one_leaf, self._wanted, self._weights)[0][self._y]
            counts, found = np.array([[self.n_rows, each.sum()]]), np.empty((1, 2))
            share_coefficients(counts, self._row_weights, 1, found)
            return np.asarray(found[0, 0] + found[0, 1] * each)
        y = self._y
        counts, found = np.array([[self.n_rows, y.sum(), (y**2).sum()]]), np.empty((1, 3))
        mass = np.array([self._weights.sum(), (self._weights * self._wanted).sum()])
        error_coefficients(counts, self._row_weights, mass, 1, found)
        return np.asarray(found[0, 0] + y * (found[0, 1] + y * found[0, 2]))

    def _bundles(self, tree: SplitTree, weighs: NDArray[np.bool_], most_states: int) -> Any:
        """The bundles of leaves that weigh: their roots, the columns on all paths, and the plan.

        The plan is what :func:`~shapley2d._forest.kernels.leaf_states.fill_states` takes. Without
        states every leaf is a bundle by itself, and its states are the codes of the rows.
        """
        found = find_paths(tree.arrays, self.features.owners, weighs, self.n_columns)
        depth, place, paths, inner = found
        roots, *numbers = find_bundles(tree.left, tree.right, depth, inner, most_states)
        return roots, paths, (depth, place, inner, *numbers)

    def _deep_leaves(self, tree: SplitTree, leaf_weights: Floats) -> NDArray[np.bool_]:
        """Whether each node is a deep leaf that weighs."""
        weighs = np.asarray(leaf_weights.any(axis=1))
        found = find_paths(tree.arrays, self.features.owners, weighs, self.n_columns)
        depth, _, _, inner = found
        most = int(depth[inner == 0].max(initial=0))
        if most > MAX_PATH:
            raise InputError(
                Setting("model"),
                f" has a leaf with {most} columns on its path, and at most {MAX_PATH} can be "
                "valued: set a smaller max_depth or a larger min_samples_leaf",
            )
        return np.asarray((inner == 0) & (tree.left < 0) & (depth > self._most))


def _batches(sizes: NDArray[np.int64], n_rows: int) -> list[tuple[int, int]]:
    """Consecutive bundles whose states and tables are held in memory at a time."""
    found, first, taken = [], 0, 0
    for k, size in enumerate(sizes.tolist()):
        if k > first and (taken + size > _ROOM or 2 * n_rows * (k - first + 1) > _ROOM):
            found.append((first, k))
            first, taken = k, 0
        taken += size
    if first < len(sizes):
        found.append((first, len(sizes)))
    return found
