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

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.in_threads import map_in_threads
from shapley2d._base.streams import generator
from shapley2d._forest.kernels.deep_leaves import add_orders
from shapley2d._forest.kernels.leaf_states import (
    BELOW,
    BUNDLE,
    BUNDLE_SPLITS,
    DEPTH,
    fill_states,
    plan_tree,
)
from shapley2d._forest.kernels.leaf_tables import row_coefficients
from shapley2d._forest.kernels.leaf_values import add_rows, fill_tables
from shapley2d._forest.weights import mean_weights, weight_table
from shapley2d._theory.semivalues import feature_semivalue, marginal_weights, size_probabilities
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._forest.model import SplitTree
    from shapley2d._theory.semivalues import Semivalue

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


@dataclass(frozen=True)
class Leaves:
    """The game of one tree.

    ``features`` (width, n): of the rows.
    ``weights`` (nodes, kinds): what every leaf counts, for each kind of rows.
    ``kinds, numbers, plays`` (n,): of every row: its kind, the number whose mean is predicted, and
        1 where the tree was grown on it; both numbers are 0 where not.
    ``plain``: whether all numbers of rows that play are 1.
    """

    number: int
    tree: SplitTree
    features: Floats
    weights: Floats
    kinds: NDArray[np.int32]
    numbers: Floats
    plays: Floats
    plain: bool = False

    @property
    def rows(self) -> tuple[NDArray[np.int32], Floats, Floats]:
        """What the compiled code takes of the rows."""
        return self.kinds, self.numbers, self.plays


class Plan(NamedTuple):
    """What :func:`~shapley2d._forest.kernels.leaf_states.plan_tree` finds of a tree."""

    nodes: Ints
    paths: NDArray[np.int32]
    bundles: Ints

    def states(
        self, tree: SplitTree, features: Floats, first: int, count: int, kind: Any
    ) -> NDArray[Any]:
        """The states of all rows in some bundles; the codes where these are single leaves."""
        states = np.empty((count, features.shape[1]), dtype=kind)
        fill_states(tree, features, self.nodes, self.bundles, first, states)
        return states


class LeafGame:
    """The cells of one training table under single trees: what coalition sizes weigh.

    ``owners``: the column behind every feature.
    ``labelled``: whether the label is valued as one more column.
    ``from_zero``: whether no rows score 0, rather than what is predicted without any.
    """

    def __init__(
        self,
        owners: Ints,
        n_rows: int,
        semivalues: tuple[Semivalue, Semivalue],
        n_columns: int,
        *,
        labelled: bool = False,
        from_zero: bool = False,
    ) -> None:
        self._owners, self._labelled = owners.astype(np.int32), labelled
        self.n_rows, self.n_columns = n_rows, n_columns + labelled
        self._row_weights = mean_weights(semivalues[0], n_rows)
        factor, beside = feature_semivalue(semivalues[1]) if labelled else (1.0, semivalues[1])
        self._most = most_columns(n_rows)
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
        self._first_row = float(marginal_weights(semivalues[0], n_rows)[0])
        self._from_zero = from_zero

    def empty(self) -> Floats:
        """Zeros for the values of all cells, and for those of the labels alone."""
        return np.zeros((self.n_rows, self.n_columns + 1))

    def add_no_rows(self, blind: float, values: Floats) -> None:
        """Add what the rows get where none of them score ``blind``: all of it without columns.

        Counted from 0, the label gets it too: without the label no rows count.
        """
        values[:, -1] += self._first_row * blind
        if self._from_zero and self._labelled:
            values[:, -2] += self._first_row * blind

    def add_values(self, leaves: Leaves, values: Floats) -> None:
        """Add the values of cells under a tree, the label's after them, deep leaves left out.

        The last column gets what the rows are worth by their labels alone: the whole table is one
        leaf then.
        """
        each = leaves.weights.sum(axis=0)[leaves.kinds] * leaves.numbers
        beta, alpha = row_coefficients.py_func(leaves.plays.sum(), each.sum(), self._row_weights)
        values[:, -1] += leaves.plays * beta + alpha * each
        deep = self.deep(leaves.tree, leaves.weights)
        self._add_subsets(leaves, np.where(deep[:, None], 0.0, leaves.weights), values)

    def add_order(self, leaves: Leaves, random: np.random.Generator, values: Floats) -> None:
        """Add the values of cells in deep leaves, by one random order of the columns of each.

        It is turned, and read forwards and backwards. Every node has an order, so that it does not
        depend on which leaves count.
        """
        plan = self._plan(leaves.tree, self.deep(leaves.tree, leaves.weights), 0)
        keys, depth = random.random(plan.paths.shape), plan.nodes[:, DEPTH].copy()
        keys[np.arange(plan.paths.shape[1]) >= depth[:, None]] = np.nan  # the last in any order
        orders = [
            np.argsort(sign * ((keys + turn / _TURNS) % 1.0), axis=1)
            for turn in range(_TURNS)
            for sign in (1.0, -1.0)
        ]
        step = max(_ROOM // (8 * self.n_rows), 1)
        for first in range(0, len(plan.bundles), step):
            part = plan.bundles[first : first + step, 0]
            codes = plan.states(leaves.tree, leaves.features, first, part.size, np.uint64)
            counts = leaves.weights[part] / len(orders)
            for order in orders:
                at = order[part], plan.paths[part], depth[part]
                add_orders(codes, *at, leaves.rows, counts, self._one_order, values)

    def add_all(
        self,
        parts: Sequence[Iterable[Leaves]],
        stream: tuple[int, int, int],
        n_threads: int,
        values: Floats,
    ) -> bool:
        """Add the values under trees in parts; in deep leaves, the mean over random orders.

        ``stream``: the seed, the number of orders, and the split. Whether there are deep leaves is
        returned. The bits are the same for any number of threads.
        """
        seed, count, split = stream

        def of_part(several: Iterable[Leaves]) -> tuple[Floats, bool]:
            found, any_deep = self.empty(), False
            for leaves in several:
                self.add_values(leaves, found)
                if self.deep(leaves.tree, leaves.weights).any():
                    any_deep = True
                    scaled = replace(leaves, weights=leaves.weights / max(count, 1))
                    for k in range(count):
                        random = generator(seed, "path orders", k, split, leaves.number)
                        self.add_order(scaled, random, found)
            return found, any_deep

        sampled = False
        for part, deep in map_in_threads(of_part, parts, n_threads):
            values += part
            sampled |= deep
        return sampled

    def deep(self, tree: SplitTree, weights: Floats) -> Bools:
        """Whether each node is a deep leaf that counts."""
        if tree.height <= self._most:
            return np.zeros(tree.n_nodes, dtype=np.bool_)
        nodes = self._plan(tree, weights.any(axis=1), 0).nodes
        depths = np.where(nodes[:, BELOW] == 0, nodes[:, DEPTH], 0)
        if depths.max() > MAX_PATH:
            raise InputError(
                f"model has a leaf with {depths.max()} columns on its path, and at most {MAX_PATH} "
                "can be valued: set a smaller max_depth or a larger min_samples_leaf"
            )
        return depths > self._most

    def deep_part(self, tree: SplitTree, weights: Floats) -> tuple[float, Bools]:
        """The share of a tree's weights that is in deep leaves, and the columns on their paths."""
        named, deep = np.zeros(self.n_columns, dtype=np.bool_), self.deep(tree, weights)
        if not deep.any():
            return 0.0, named
        plan, mass = self._plan(tree, deep, 0), np.abs(weights).sum(axis=1)
        on_path = np.arange(plan.paths.shape[1]) < plan.nodes[:, DEPTH, None]
        named[plan.paths[deep][on_path[deep]]] = True
        return float(mass[deep].sum() / mass.sum()), named

    def passes(self, leaves: Leaves, rows: Ints) -> NDArray[np.uint64]:
        """Of some rows, the columns whose splits they pass, bit by bit: (nodes, rows)."""
        tree, features = leaves.tree, np.ascontiguousarray(leaves.features[:, rows])
        plan, found = self._plan(tree, tree.left < 0, 0), np.zeros((tree.n_nodes, rows.size), "u8")
        found[plan.bundles[:, 0]] = plan.states(tree, features, 0, len(plan.bundles), np.uint64)
        return found

    def _add_subsets(self, leaves: Leaves, weights: Floats, values: Floats) -> None:
        tree, n_kinds, n = leaves.tree, weights.shape[1], self.n_rows
        # a table with more rows than these takes longer than the rows, or leaves the cache
        plan = self._plan(tree, weights.any(axis=1), min(2**12, n))
        nodes, bundles = plan.nodes, plan.bundles
        bits = nodes[bundles[:, 0], DEPTH] + bundles[:, 1]
        sizes = (1 << bits) * (n_kinds + 1) * (bits + self._labelled)
        most = int(nodes[nodes[:, BELOW] == 0, DEPTH].max(initial=0)), 1 << int(bits.max(initial=0))
        step = max(_ROOM // max(2 * n, int(sizes.max(initial=1))), 1)
        for first in range(0, len(bundles), step):
            part = plan._replace(bundles=bundles[first : first + step])
            count = len(part.bundles)
            states = plan.states(tree, leaves.features, first, count, np.uint16)
            columns = np.empty((count, self.n_columns + 1 - self._labelled), dtype=np.int32)
            offsets = np.concatenate([[0], np.cumsum(sizes[first : first + step])])
            found = columns, np.empty(count, np.int64), offsets, np.zeros(int(offsets[-1]))
            given = tree, part, states, leaves.rows, weights
            fill_tables(*given, self._all_subsets, leaves.plain, most, found)
            of_tables = (columns.astype(np.uint64), *found[1:])
            add_rows(states, leaves.rows, of_tables, n_kinds, leaves.plain, values)

    def _plan(self, tree: SplitTree, weighs: Any, most_states: int) -> Plan:
        """The plan of a tree; without states every leaf is a bundle by itself."""
        nodes = np.zeros((tree.n_nodes, 6), dtype=np.int64)
        nodes[:, BUNDLE] = -1
        width = max(min(tree.height, self.n_columns), 1)
        paths = np.zeros((tree.n_nodes, width), dtype=np.int32)
        bundles = np.zeros((tree.n_nodes // 2 + 1, 2 + BUNDLE_SPLITS), dtype=np.int64)
        plan = Plan(nodes, paths, bundles)
        found = plan_tree(
            tree.left, tree.right, self._owners[tree.feature], weighs, most_states, *plan
        )
        return plan._replace(bundles=bundles[:found])
