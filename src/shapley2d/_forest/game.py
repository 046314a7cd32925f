"""The game of single trees whose splits are held fixed: values of all cells in their leaves.

A tree sends a validation row to a leaf. Of a coalition of rows and columns, the rows that pass all
splits on the leaf's path whose column is present predict: the mean of their numbers, 0 where no row
passes. What a leaf counts is its weight (see :mod:`shapley2d._forest.fitted`).

Only the columns on a path play in its leaf, so the sum over all their subsets is exact and short,
as in TreeSHAP (Lundberg et al. 2020, arXiv:1905.04610), which values the columns of a prediction;
here the rows behind the prediction are valued with them. A *deep* leaf has too many columns on its
path for all subsets: random orders of these are sampled (Castro, Gomez and Tejada 2009,
doi:10.1016/j.cor.2008.04.004).
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._forest.kernels.deep_leaves import add_orders
from shapley2d._forest.kernels.leaf_states import fill_states, find_bundles, find_leaves, find_paths
from shapley2d._forest.kernels.leaf_tables import row_coefficients
from shapley2d._forest.kernels.leaf_values import add_rows, fill_tables
from shapley2d._forest.weights import mean_weights, weight_table
from shapley2d._theory.semivalues import feature_semivalue, marginal_weights, size_probabilities
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from shapley2d._forest.trees import Features, SplitTree
    from shapley2d._theory.semivalues import Semivalue

    Floats = NDArray[np.float64]

MAX_PATH = 64
"""Columns on the path of a leaf, at most: a row's code has a bit for each."""

_TURNS = 4
"""Turns of a random order in a round, each forwards and backwards.

A column then joins early in some and late in others, which makes errors small and not skewed.
"""

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


@dataclass(frozen=True)
class Leaves:
    """The game of one tree.

    Attributes
    ----------
    number : int
    tree : SplitTree
    weights : ndarray of shape (nodes, kinds)
        What every leaf counts, for each kind of rows.
    kinds, numbers, plays : ndarray of shape (n,)
        Of every row: its kind, the number whose mean is predicted, and 1 where the tree was grown
        on it; both numbers are 0 where not.
    plain : bool
        Whether all numbers of rows that play are 1.
    """

    number: int
    tree: SplitTree
    weights: Floats
    kinds: NDArray[np.int32]
    numbers: Floats
    plays: Floats
    plain: bool = False

    @property
    def rows(self) -> tuple[NDArray[np.int32], Floats, Floats]:
        """What the compiled code takes of the rows."""
        return self.kinds, self.numbers, self.plays


class LeafGame:
    """The cells of one training table under single trees.

    Parameters
    ----------
    features : Features
    semivalues : (Semivalue, Semivalue)
        Of the rows and of the columns.
    n_columns : int
        Columns of the table.
    labelled : bool
        Whether the label is valued as one more column.
    from_zero : bool
        Whether no columns, or no rows, score 0, rather than what the labels alone predict.
    """

    def __init__(
        self,
        features: Features,
        semivalues: tuple[Semivalue, Semivalue],
        n_columns: int,
        *,
        labelled: bool = False,
        from_zero: bool = False,
    ) -> None:
        self.features, self.labelled = features, labelled
        self.n_rows, self.n_columns = features.train.shape[1], n_columns + labelled
        self._row_weights = mean_weights(semivalues[0], self.n_rows)
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
        self._first = np.zeros(self.n_columns)
        self._first_row = float(marginal_weights(semivalues[0], self.n_rows)[0])
        if from_zero:  # what a column gets as the first to join, and what the label loses
            self._first[:n_columns] = factor * marginal_weights(beside, n_columns)[0]
            if labelled:
                self._first[n_columns] = -marginal_weights(semivalues[1], n_columns + 1)[0]
        self._from_zero = from_zero

    def changed(self, features: Features) -> LeafGame:
        """The game of other features."""
        game = copy(self)
        game.features = features
        return game

    def is_deep(self, tree: SplitTree) -> bool:
        """Whether a tree has deep leaves."""
        is_leaf = tree.left < 0
        depth, *_ = find_paths(tree.arrays, self.features.owners, is_leaf, self.n_columns)
        return bool(depth[is_leaf].max() > self._most)

    def deep_part(self, leaves: Leaves) -> tuple[float, NDArray[np.bool_]]:
        """The share of a tree's weights that is in deep leaves, and the columns on their paths."""
        named, tree = np.zeros(self.n_columns, dtype=np.bool_), leaves.tree
        deep = self._deep_leaves(leaves)
        if not deep.any():
            return 0.0, named
        is_leaf = tree.left < 0
        depth, _, paths, _ = find_paths(tree.arrays, self.features.owners, is_leaf, self.n_columns)
        for leaf in np.flatnonzero(deep).tolist():
            named[paths[leaf, : depth[leaf]]] = True
        mass = np.abs(leaves.weights).sum(axis=1)
        return float(mass[deep].sum() / mass.sum()), named

    def add_values(self, leaves: Leaves, values: Floats) -> None:
        """Add the values of the cells under a tree, the label's in the last column.

        Deep leaves are left out.
        """
        deep = self._deep_leaves(leaves)
        if deep.any():
            kept = np.where(deep[:, None], 0.0, leaves.weights)
            leaves = replace(leaves, weights=kept)
        self._add_subsets(leaves, values)
        if self._from_zero:
            self._add_alone(leaves, values)

    def add_deep_values(self, leaves: Leaves, random: np.random.Generator, values: Floats) -> None:
        """Add the values of the cells in deep leaves, by one random order of the columns of each.

        The order is turned, and read forwards and backwards. Every deep leaf of the tree has one,
        with validation rows or without, so that it does not depend on the validation rows.
        """
        deep = self._deep_leaves(leaves)
        if deep.any():
            self._add_order(leaves, deep, random, values)
            if self._from_zero:
                kept = np.where(deep[:, None], leaves.weights, 0.0)
                self._add_alone(replace(leaves, weights=kept), values)

    def _add_subsets(self, leaves: Leaves, values: Floats) -> None:
        tree, weights = leaves.tree, leaves.weights
        n, n_columns = values.shape
        n_kinds = weights.shape[1]
        # a table with more rows than these takes longer than the rows, or leaves the cache
        roots, paths, plan = self._bundles(tree, np.asarray(weights.any(axis=1)), min(2**12, n))
        depth, place, inner, *_ = plan
        nodes = (tree.left, tree.right, depth, place, paths, inner)
        bits = depth[roots] + inner[roots]
        sizes = (1 << bits) * (n_kinds + 1) * (bits + self.labelled)
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
                *leaves.rows,
                weights,
                self._all_subsets,
                leaves.plain,
                columns,
                widths,
                offsets,
                tables,
            )
            of_tables = (columns, widths, offsets, tables)
            add_rows(states, *leaves.rows, of_tables, n_kinds, leaves.plain, values)

    def _add_order(
        self,
        leaves: Leaves,
        deep: NDArray[np.bool_],
        random: np.random.Generator,
        values: Floats,
    ) -> None:
        tree, n = leaves.tree, self.n_rows
        roots, paths, plan = self._bundles(tree, deep, 0)
        depth, width = plan[0], paths.shape[1]
        all_deep = np.flatnonzero((tree.left < 0) & (depth > self._most))
        keys = random.random((all_deep.size, width))[np.searchsorted(all_deep, roots)]
        outside = np.arange(width) >= depth[roots][:, None]
        orders = []
        for turn in range(_TURNS):
            turned = (keys + turn / _TURNS) % 1.0
            orders += [np.where(outside, 2.0, turned), np.where(outside, 2.0, -turned)]
        orders = [np.argsort(one, axis=1) for one in orders]
        step = max(_ROOM // (8 * n), 1)
        for first in range(0, roots.size, step):
            part = roots[first : first + step]
            codes = np.empty((part.size, n), dtype=np.uint64)
            fill_states(tree.arrays, self.features.train, plan, first, codes)
            for one in orders:
                add_orders(
                    codes,
                    one[first : first + step],
                    paths[part],
                    depth[part],
                    *leaves.rows,
                    leaves.weights[part] / len(orders),
                    *self._one_order,
                    values,
                )

    def _add_alone(self, leaves: Leaves, values: Floats) -> None:
        """Add what the first column to join gets: the rows' values in the game without columns."""
        each = leaves.weights.sum(axis=0)[leaves.kinds] * leaves.numbers
        counts, found = np.array([[leaves.plays.sum(), each.sum()]]), np.empty((1, 2))
        row_coefficients(counts, self._row_weights, 1, found)
        values += (leaves.plays * found[0, 0] + found[0, 1] * each)[:, None] * self._first

    def of_no_rows(self, blind: float) -> Floats:
        """What every cell of a row is worth more, where no rows score ``blind`` rather than 0."""
        first = self._first.copy()
        if self._from_zero and self.labelled:
            first[-1] += 1.0
        return self._first_row * blind * first

    def changed_leaves(self, tree: SplitTree, before: Floats, after: Floats) -> NDArray[np.bool_]:
        """Leaves whose splits rows with changed features pass in other columns than before."""
        leaves, _, plan = self._bundles(tree, tree.left < 0, 0)
        codes = np.empty((2, leaves.size, before.shape[1]), dtype=np.uint64)
        for features, part in zip((before, after), codes, strict=True):
            fill_states(tree.arrays, features, plan, 0, part)
        changed = np.zeros(tree.n_nodes, dtype=np.bool_)
        changed[leaves] = (codes[0] != codes[1]).any(axis=1)
        return changed

    def _bundles(self, tree: SplitTree, weighs: NDArray[np.bool_], most_states: int) -> Any:
        """The bundles of leaves that weigh: their roots, the columns on all paths, and the plan.

        The plan is what :func:`~shapley2d._forest.kernels.leaf_states.fill_states` takes. Without
        states every leaf is a bundle by itself, and its states are the codes of the rows.
        """
        found = find_paths(tree.arrays, self.features.owners, weighs, self.n_columns)
        depth, place, paths, inner = found
        roots, *numbers = find_bundles(tree.left, tree.right, depth, inner, most_states)
        return roots, paths, (depth, place, inner, *numbers)

    def _deep_leaves(self, leaves: Leaves) -> NDArray[np.bool_]:
        """Whether each node is a deep leaf that weighs."""
        tree, weighs = leaves.tree, np.asarray(leaves.weights.any(axis=1))
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
