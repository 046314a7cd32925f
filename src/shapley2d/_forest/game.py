"""The game of a tree ensemble whose splits are held fixed.

A tree sends a validation row to a leaf. Of the rows S, those that fit the leaf in all columns F on
its path predict: the share of the row's label among them, or their mean target. Rows are all
training rows, whichever the tree has learned from. Where no row fits, no label is right, and a
number is taken to be the mean of all targets.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._forest.tree_values import (
    MAX_PATH,
    MOST_EXACT,
    Features,
    add_deep_values,
    add_tree_changes,
    add_tree_values,
    deep_leaves,
    path_columns,
)
from shapley2d._forest.weights import (
    column_weights,
    error_weights,
    label_weights,
    order_weights,
    share_weights,
)
from shapley2d._theory.semivalues import feature_semivalue, marginal_weights

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._forest.trees import SplitTree
    from shapley2d._tables.target import Target
    from shapley2d._theory.semivalues import Semivalue

    Floats = NDArray[np.float64]


def leaves_of(tree: SplitTree, features: Floats) -> NDArray[np.int32]:
    """The leaf of every row, whose features are lines."""
    from shapley2d._kernels.leaf_states import find_leaves

    leaves = np.empty(features.shape[1], dtype=np.int32)
    find_leaves(tree.arrays, features, leaves)
    return leaves


class LeafGame:
    """The cells of one split under single trees.

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
        count = y_valid.y.size
        mass = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
        self._weights = mass / mass.sum()
        rows, columns = semivalues
        self._semivalues, most = semivalues, min(n_columns, MOST_EXACT)
        if y.task == "classification":
            self._labels, self._targets = y.codes.astype(np.int32), np.zeros(0)
            self._wanted, self._channels = y_valid.codes, int(y.classes.size)
            self._row_weights = share_weights(rows, self.n_rows)
        else:
            mean = float(y.codes.mean())
            self._labels, self._targets = np.zeros(0, dtype=np.int32), y.codes - mean
            self._wanted, self._channels = y_valid.codes - mean, 2
            self._row_weights = error_weights(rows, self.n_rows)
        factor, beside = feature_semivalue(columns) if labelled else (1.0, columns)
        self._joins = column_weights(beside, most, factor)
        self._beside = column_weights(columns, most + 1) if labelled else np.zeros((0, 0))
        deepest = min(n_columns, MAX_PATH)
        self._steps = order_weights(beside, deepest, factor)
        self._label_steps = label_weights(columns, deepest) if labelled else np.zeros((0, 0))

    @property
    def classifies(self) -> bool:
        """Whether targets are classes."""
        return bool(self._labels.size)

    def changed(
        self, features: Features, targets: tuple[Target, Target, Floats | None] | None = None
    ) -> LeafGame:
        """The game of other features; and of other targets and validation weights, if given."""
        if targets is not None:
            return LeafGame(features, *targets, *self._given, labelled=self.labelled)
        game = copy(self)
        game.features = features
        return game

    def leaf_weights(self, tree: SplitTree) -> Floats:
        """What the validation rows of a leaf weigh: by label; or all, and times their targets."""
        return self.weigh_leaves(tree.n_nodes, leaves_of(tree, self.features.valid))

    def weigh_leaves(self, n_nodes: int, leaves: NDArray[np.int32]) -> Floats:
        """The same, where the leaf of every validation row is known."""
        if not self.classifies:
            sums = (np.bincount(leaves, w, n_nodes) for w in self._masses)
            return np.ascontiguousarray(np.column_stack(list(sums)))
        known = self._wanted >= 0  # no row has a label that training never shows
        cells = leaves[known] * self._channels + self._wanted[known]
        flat = np.bincount(cells, self._weights[known], n_nodes * self._channels)
        return np.asarray(flat.reshape(n_nodes, self._channels))

    def fill_leaves(self, n_nodes: int, leaves: NDArray[np.int32]) -> Floats:
        """Training rows in every leaf: by label; or all, and the sum of their targets."""
        if not self.classifies:
            sums = (np.bincount(leaves, w, n_nodes) for w in (None, self._targets))
            return np.column_stack(list(sums)).astype(np.float64)
        cells = leaves * self._channels + self._labels
        flat = np.bincount(cells, minlength=n_nodes * self._channels)
        return flat.reshape(n_nodes, self._channels).astype(np.float64)

    def filled_by(self, rows: NDArray[np.intp]) -> Floats:
        """What each of some training rows adds to :meth:`fill_leaves`."""
        if self.classifies:
            return np.eye(self._channels)[self._labels[rows]]
        return np.column_stack([np.ones(rows.size), self._targets[rows]])

    def weighed_by(self, rows: NDArray[np.intp]) -> Floats:
        """What each of some validation rows adds to :meth:`weigh_leaves`."""
        if not self.classifies:
            return np.column_stack([mass[rows] for mass in self._masses])
        wanted = self._wanted[rows]
        known = (wanted >= 0) * self._weights[rows]
        return np.asarray(np.eye(self._channels)[wanted] * known[:, None])

    def leaf_scores(self, leaf_weights: Floats, filled: Floats) -> Floats:
        """The part of every leaf in the score; in regression less that of an empty leaf."""
        if self.classifies:
            count = filled.sum(axis=-1)
            right = (leaf_weights * filled).sum(axis=-1)
            return np.asarray(np.divide(right, count, out=np.zeros_like(right), where=count > 0))
        count, total = filled[..., 0], filled[..., 1]
        mean = np.divide(total, count, out=np.zeros_like(total), where=count > 0)
        return np.asarray(mean * (2 * leaf_weights[..., 1] - mean * leaf_weights[..., 0]))

    @property
    def _masses(self) -> tuple[Floats, Floats]:
        return self._weights, self._weights * self._wanted

    def deep_part(self, tree: SplitTree) -> tuple[float, NDArray[np.bool_]]:
        """What the validation rows in deep leaves weigh, of 1, and the columns on their paths."""
        leaf_weights = self.leaf_weights(tree)
        deep = deep_leaves(tree, self.features, leaf_weights)
        named = path_columns(tree, self.features.owners, deep, self.n_columns)
        mass = leaf_weights[deep] if self.classifies else leaf_weights[deep, :1]
        return float(mass.sum()), named

    def add_values(
        self, tree: SplitTree, values: Floats, leaf_weights: Floats | None = None
    ) -> None:
        """Add the values of the cells under a tree, the label's in the last column.

        Deep leaves are left out; others are where ``leaf_weights`` are given and 0.
        """
        leaf_weights = self.leaf_weights(tree) if leaf_weights is None else leaf_weights
        deep = deep_leaves(tree, self.features, leaf_weights)
        if deep.any():
            leaf_weights = np.where(deep[:, None], 0.0, leaf_weights)
        add_tree_values(
            tree,
            self.features,
            (self._labels, self._targets),
            leaf_weights,
            (self._row_weights, self._joins, self._beside),
            values,
        )

    def add_changes(
        self,
        tree: SplitTree,
        moved: tuple[NDArray[np.intp], Floats],
        touched: NDArray[np.bool_],
        leaf_weights: tuple[Floats, Floats],
        values: Floats,
    ) -> None:
        """Add what the values change by if some rows have other features.

        Parameters
        ----------
        tree : SplitTree
        moved : (ndarray, ndarray)
            These rows, and their new features.
        touched : ndarray of bool
            The leaves to look at, none of them deep.
        leaf_weights : (ndarray, ndarray)
            Before and after.
        values : ndarray
            Is added to.
        """
        add_tree_changes(
            tree,
            self.features,
            moved,
            (self._labels, self._targets),
            touched,
            leaf_weights,
            (self._row_weights, self._joins, self._beside),
            values,
        )

    def add_deep_values(
        self,
        tree: SplitTree,
        random: np.random.Generator,
        values: Floats,
        leaf_weights: Floats | None = None,
    ) -> None:
        """Add the values of the cells in deep leaves, by one random order of their columns."""
        leaf_weights = self.leaf_weights(tree) if leaf_weights is None else leaf_weights
        deep = deep_leaves(tree, self.features, leaf_weights)
        if deep.any():
            add_deep_values(
                tree,
                self.features,
                (self._labels, self._targets),
                np.where(deep[:, None], leaf_weights, 0.0),
                (self._row_weights, self._steps, self._label_steps),
                random,
                values,
            )

    def from_zero(self) -> Floats:
        """What is added to every cell where values are counted from a score of 0, (n, columns).

        Without any column nothing is then predicted, and without any row neither. Of the first
        column to join, a row gets its value in the game of the labels alone.
        """
        alone, blind = self._labels_alone(), self.without_rows()
        columns = self._semivalues[1]
        m = self.n_columns - self.labelled
        factor, beside = feature_semivalue(columns) if self.labelled else (1.0, columns)
        added = np.empty((self.n_rows, self.n_columns))
        first = marginal_weights(self._semivalues[0], self.n_rows)[0]
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
        from shapley2d._kernels.leaf_tables import error_coefficients, share_coefficients

        if self.classifies:
            known = self._wanted >= 0
            mass = np.bincount(self._wanted[known], self._weights[known], self._channels)
            each = mass[self._labels]
            counts, found = np.array([[self.n_rows, each.sum()]]), np.empty((1, 2))
            share_coefficients(counts, self._row_weights, 1, found)
            return np.asarray(found[0, 0] + found[0, 1] * each)
        y = self._targets
        counts, found = np.array([[self.n_rows, y.sum(), (y**2).sum()]]), np.empty((1, 3))
        moments = np.array([part.sum() for part in self._masses])
        error_coefficients(counts, self._row_weights, moments, 1, found)
        return np.asarray(found[0, 0] + y * (found[0, 1] + y * found[0, 2]))
