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

from shapley2d._base.streams import generator
from shapley2d._forest.kernels.deep_leaves import add_orders
from shapley2d._forest.kernels.leaf_states import (
    BELOW,
    BLOCK,
    BUNDLE,
    BUNDLE_SPLITS,
    DEPTH,
    fill_states,
    find_leaves,
    plan_tree,
)
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

    ``weights`` (nodes, kinds): what every leaf counts, for each kind of rows.
    ``kinds, numbers, plays`` (n,): of every row: its kind, the number whose mean is predicted, and
        1 where the tree was grown on it; both numbers are 0 where not.
    ``plain``: whether all numbers of rows that play are 1.
    """

    number: int
    tree: SplitTree
    weights: Floats
    kinds: NDArray[np.int32]
    numbers: Floats
    plays: Floats
    plain: bool = False

    @property
    def weighs(self) -> NDArray[np.bool_]:
        """Whether each leaf counts anything."""
        return np.asarray(self.weights.any(axis=1))

    @property
    def rows(self) -> tuple[NDArray[np.int32], Floats, Floats]:
        """What the compiled code takes of the rows."""
        return self.kinds, self.numbers, self.plays


class LeafGame:
    """The cells of one training table under single trees.

    ``labelled``: whether the label is valued as one more column.
    ``from_zero``: whether no columns, or no rows, score 0, rather than what the labels alone
        predict.
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
        return bool(self._deep(tree, tree.left < 0)[0].any())

    def deep_part(self, leaves: Leaves) -> tuple[float, NDArray[np.bool_]]:
        """The share of a tree's weights that is in deep leaves, and the columns on their paths."""
        named = np.zeros(self.n_columns, dtype=np.bool_)
        deep, nodes, paths = self._deep(leaves.tree, leaves.weighs)
        if not deep.any():
            return 0.0, named
        for leaf in np.flatnonzero(deep).tolist():
            named[paths[leaf, : nodes[leaf, DEPTH]]] = True
        mass = np.abs(leaves.weights).sum(axis=1)
        return float(mass[deep].sum() / mass.sum()), named

    def add_values(self, leaves: Leaves, values: Floats) -> None:
        """Add the values of the cells under a tree, the label's in the last column.

        Deep leaves are left out.
        """
        deep, *_ = self._deep(leaves.tree, leaves.weighs)
        if deep.any():
            kept = np.where(deep[:, None], 0.0, leaves.weights)
            leaves = replace(leaves, weights=kept)
        self._add_subsets(leaves, values)
        if self._from_zero:
            self._add_alone(leaves, values)

    def add_deep_values(self, leaves: Leaves, order: tuple[int, int, int], values: Floats) -> None:
        """Add the values of the cells in deep leaves, by one random order of the columns of each.

        ``order`` names its stream: the seed, the round and the split. It is turned, and read
        forwards and backwards. Every deep leaf of the tree has one, with validation rows or
        without, so that it does not depend on the validation rows.
        """
        deep, *_ = self._deep(leaves.tree, leaves.weighs)
        if deep.any():
            seed, *numbers = order
            random = generator(seed, "path orders", *numbers, leaves.number)
            self._add_order(leaves, deep, random, values)
            if self._from_zero:
                kept = np.where(deep[:, None], leaves.weights, 0.0)
                self._add_alone(replace(leaves, weights=kept), values)

    def _add_subsets(self, leaves: Leaves, values: Floats) -> None:
        tree, weights = leaves.tree, leaves.weights
        n, n_columns = values.shape
        n_kinds = weights.shape[1]
        # a table with more rows than these takes longer than the rows, or leaves the cache
        nodes, paths, bundles = self._plan(tree, leaves.weighs, min(2**12, n))
        bits = nodes[bundles[:, 0], DEPTH] + bundles[:, 1]
        sizes = (1 << bits) * (n_kinds + 1) * (bits + self.labelled)
        most = int(nodes[nodes[:, BELOW] == 0, DEPTH].max(initial=0)), 1 << int(bits.max(initial=0))
        for first, last in _batches(sizes, n):
            count = last - first
            offsets = np.concatenate([[0], np.cumsum(sizes[first:last])])
            states = np.empty((count, n), dtype=np.uint16)
            columns = np.empty((count, n_columns + 1 - self.labelled), dtype=np.int32)
            widths, tables = np.empty(count, dtype=np.int64), np.zeros(int(offsets[-1]))
            _fill(tree, self.features.train, nodes, bundles, first, states)
            fill_tables(
                tree.left,
                tree.right,
                nodes,
                paths,
                bundles[first:last],
                states,
                *leaves.rows,
                weights,
                self._all_subsets,
                leaves.plain,
                most,
                columns,
                widths,
                offsets,
                tables,
            )
            of_tables = (columns.astype(np.uint64), widths, offsets, tables)
            add_rows(states, *leaves.rows, of_tables, n_kinds, leaves.plain, values)

    def _add_order(
        self, leaves: Leaves, deep: NDArray[np.bool_], random: np.random.Generator, values: Floats
    ) -> None:
        tree, n = leaves.tree, self.n_rows
        nodes, paths, bundles = self._plan(tree, deep, 0)
        roots, depth, width = bundles[:, 0], nodes[:, DEPTH].copy(), paths.shape[1]
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
            _fill(tree, self.features.train, nodes, bundles, first, codes)
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
        beta, alpha = row_coefficients.py_func(leaves.plays.sum(), each.sum(), self._row_weights)
        values += (leaves.plays * beta + alpha * each)[:, None] * self._first

    def of_no_rows(self, blind: float) -> Floats:
        """What every cell of a row is worth more, where no rows score ``blind`` rather than 0."""
        first = self._first.copy()
        if self._from_zero and self.labelled:
            first[-1] += 1.0
        return self._first_row * blind * first

    def changed_leaves(self, tree: SplitTree, before: Floats, after: Floats) -> NDArray[np.bool_]:
        """Leaves whose splits rows with changed features pass in other columns than before."""
        nodes, _, bundles = self._plan(tree, tree.left < 0, 0)
        codes = np.empty((2, len(bundles), before.shape[1]), dtype=np.uint64)
        for features, part in zip((before, after), codes, strict=True):
            _fill(tree, features, nodes, bundles, 0, part)
        changed = np.zeros(tree.n_nodes, dtype=np.bool_)
        changed[bundles[:, 0]] = (codes[0] != codes[1]).any(axis=1)
        return changed

    def _plan(self, tree: SplitTree, weighs: NDArray[np.bool_], most_states: int) -> Any:
        """What :func:`~shapley2d._forest.kernels.leaf_states.plan_tree` finds of a tree.

        Without states every leaf is a bundle by itself, and its states are the codes of the rows.
        """
        nodes = np.zeros((tree.n_nodes, 6), dtype=np.int64)
        nodes[:, BUNDLE] = -1
        width = max(min(tree.height, self.n_columns), 1)
        paths = np.zeros((tree.n_nodes, width), dtype=np.int32)
        bundles = np.zeros((tree.n_nodes // 2 + 1, 2 + BUNDLE_SPLITS), dtype=np.int64)
        columns = self.features.owners[tree.feature]
        found = plan_tree(
            tree.left, tree.right, columns, weighs, most_states, nodes, paths, bundles
        )
        return nodes, paths, bundles[:found]

    def _deep(self, tree: SplitTree, weighs: NDArray[np.bool_]) -> Any:
        """Whether each node is a deep leaf that weighs; and nodes and paths of the plan."""
        if tree.height <= self._most:
            return np.zeros(tree.n_nodes, dtype=np.bool_), None, None
        nodes, paths, _ = self._plan(tree, weighs, 0)
        depths = np.where(nodes[:, BELOW] == 0, nodes[:, DEPTH], 0)
        most = int(depths.max())
        if most > MAX_PATH:
            raise InputError(
                Setting("model"),
                f" has a leaf with {most} columns on its path, and at most {MAX_PATH} can be "
                "valued: set a smaller max_depth or a larger min_samples_leaf",
            )
        return depths > self._most, nodes, paths


def _fill(
    tree: SplitTree, features: Floats, nodes: Any, bundles: Any, first: int, states: NDArray[Any]
) -> None:
    """Fill the states of rows in some bundles."""
    height = tree.height + 2
    codes, stack = np.empty((height, BLOCK), dtype=states.dtype), np.empty(height, dtype=np.int64)
    goes = np.empty(BLOCK, dtype=np.bool_)
    fill_states(tree.arrays, features, nodes, bundles, first, states, codes, stack, goes)


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
