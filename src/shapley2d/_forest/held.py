"""A forest that was valued, held to be asked what other entries would change.

A cell that is changed touches only the leaves whose side it crosses. In these alone the values of
all rows are computed before and after, with the splits, the folds and the encoding held fixed. In
a cross-valuation a row also moves where it validates: the leaves that it leaves and enters there
are touched too. A changed label touches all leaves.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.in_threads import map_in_threads
from shapley2d._base.streams import generator
from shapley2d._forest.game import leaves_of
from shapley2d._forest.tree_values import Features, is_deep
from shapley2d._tables.edits import CellNames, read_edits
from shapley2d._tables.problem import weigh_problem
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shapley2d._forest.game import LeafGame
    from shapley2d._forest.trees import SplitTree
    from shapley2d._tables.edits import Cell, Edits
    from shapley2d._tables.problem import Problem, Split
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

_TREES_AT_ONCE = 25  # of a task of a thread, each with a table of changes: two to each of two


@dataclass(frozen=True)
class HeldSplit:
    """One split of a run.

    Attributes
    ----------
    game : LeafGame
    grow : callable
        Gives its trees.
    see : callable
        Rows of the table as the trees see them.
    """

    game: LeafGame
    grow: Callable[[], list[SplitTree]]
    see: Callable[[Table], Floats]


@dataclass(frozen=True)
class _HeldTree:
    """A tree, where the rows of its split fall, and what every leaf adds to the score."""

    number: int
    tree: SplitTree
    valid: NDArray[np.int32]
    train: NDArray[np.int32]
    weights: Floats
    filled: Floats
    scores: Floats
    depth: NDArray[np.int64]
    place: NDArray[np.int64]
    deep: NDArray[np.bool_]
    score: float

    @classmethod
    def of(cls, game: LeafGame, number: int, tree: SplitTree) -> _HeldTree:
        from shapley2d._kernels.leaf_states import find_paths

        seen, count = game.features, tree.n_nodes
        valid, train = leaves_of(tree, seen.valid), leaves_of(tree, seen.train)
        weights, filled = game.weigh_leaves(count, valid), game.fill_leaves(count, train)
        depth, place, *_ = find_paths(tree.arrays, seen.owners, tree.left < 0, game.n_columns)
        scores, deep = game.leaf_scores(weights, filled), is_deep(tree, seen, depth)
        score, where = float(scores.sum()), (valid, train)
        return cls(number, tree, *where, weights, filled, scores, depth, place, deep, score)


@dataclass(frozen=True)
class _Moved:
    """A split after edits: its game, the changed rows, and their features."""

    game: LeafGame
    train: Places
    valid: Places
    before: Floats
    after: Floats
    after_valid: Floats


class HeldForest:
    """Trees and tables of a run.

    Parameters
    ----------
    problem : Problem
        Without the weights of ``scoring``.
    scoring : str or None
    splits : list of HeldSplit
    rounds : (int, int)
        The seed and the number of random orders in deep leaves.
    from_zero : bool
        Whether values are counted from a score of 0.
    n_threads : int
    """

    def __init__(
        self,
        problem: Problem,
        scoring: str | None,
        splits: list[HeldSplit],
        rounds: tuple[int, int],
        *,
        from_zero: bool,
        n_threads: int,
    ) -> None:
        self._problem, self._scoring, self._splits = problem, scoring, splits
        self._rounds, self._from_zero, self._n_threads = rounds, from_zero, n_threads
        self._held: list[list[_HeldTree]] | None = None
        self._names: CellNames | None = None

    @property
    def n_columns(self) -> int:
        """Columns of the table, the label not counted."""
        return self._problem.table.n_columns

    def what_if(self, changes: Any) -> tuple[float, float, Floats]:
        """The scores before and after changes, and what is added to the values.

        Parameters
        ----------
        changes : mapping from (row, column) to entry
        """
        if self._names is None:
            self._names = CellNames.of(self._problem)
        edits = read_edits(self._problem, [self._names.find(changes)])
        return self._both(edits, values=True)

    def gains(self, cells: Sequence[dict[Cell, Any]]) -> Floats:
        """What each of some changes, made alone, adds to the score.

        Parameters
        ----------
        cells : sequence of dict
            New entries by positions of cells; the label's column comes after all others.

        Returns
        -------
        ndarray
            NaN where an entry is not one that its column can hold.
        """
        m, found = self.n_columns, np.full(len(cells), np.nan)
        single = [k for k, one in enumerate(cells) if len(one) == 1 and next(iter(one))[1] < m]
        for k in set(range(len(cells))) - set(single):
            with suppress(InputError):
                before, after, _ = self._both(read_edits(self._problem, [cells[k]]), values=False)
                found[k] = after - before
        try:
            found[single] = self._alone([cells[k] for k in single])
        except InputError:  # one by one, to leave out those that cannot be read
            for k in single:
                with suppress(InputError):
                    found[k] = self._alone([cells[k]])[0]
        return found

    def _trees(self) -> list[list[_HeldTree]]:
        if self._held is None:
            self._held = [
                [_HeldTree.of(split.game, t, tree) for t, tree in enumerate(split.grow())]
                for split in self._splits
            ]
        return self._held

    def _both(self, edits: Edits, *, values: bool) -> tuple[float, float, Floats]:
        """The scores before and after, and what is added to the values, if these are wanted."""
        shape = (self._problem.table.n_rows, self._splits[0].game.n_columns)
        scores, added = np.zeros(2), np.zeros(shape)
        for k, (split, held) in enumerate(zip(self._splits, self._trees(), strict=True)):
            moved = self._moved(k, edits)
            compare = self._compare_labels if edits.labels else self._compare
            task = partial(compare, k, moved, values=values)
            gain, change = 0.0, np.zeros((split.game.n_rows, shape[1]))
            for gained, part in map_in_threads(task, _parts(held), self._n_threads):
                gain += gained
                change += part
            before = sum(one.score for one in held)
            both = np.array([before, before + gain]) / len(held)
            both += [split.game.without_rows(), moved.game.without_rows()]
            scores += both / len(self._splits)
            change /= len(held)
            if self._from_zero and edits.labels:
                change += moved.game.from_zero() - split.game.from_zero()
            added[self._problem.splits[k].rows] += change / len(self._splits)
        return float(scores[0]), float(scores[1]), added

    def _moved(self, k: int, edits: Edits) -> _Moved:
        """Split k with changed rows."""
        split, known = self._problem.splits[k], self._splits[k].game
        none = np.zeros(0, dtype=np.intp)
        train, by_train = _matches(split.rows, edits.rows)
        valid, by_valid = none, none
        if split.valid_rows is not None:
            valid, by_valid = _matches(split.valid_rows, edits.rows)
        features = known.features
        if edits.table is not None:
            lines = self._splits[k].see(edits.table)
            features = Features(
                _with_columns(features.train, train, lines[:, by_train]),
                _with_columns(features.valid, valid, lines[:, by_valid]),
                features.owners,
            )
        targets = None
        if edits.labels:
            y = _relabelled(split.y, train, by_train, edits.labels)
            y_valid = _relabelled(split.y_valid, valid, by_valid, edits.labels)
            targets = (y, y_valid, self._weights(split, y, y_valid))
        return _Moved(
            known.changed(features, targets),
            train,
            valid,
            np.ascontiguousarray(known.features.train[:, train]),
            np.ascontiguousarray(features.train[:, train]),
            np.ascontiguousarray(features.valid[:, valid]),
        )

    def _weights(self, split: Split, y: Target, y_valid: Target) -> Floats | None:
        """Weights of validation rows, whose labels may be others now."""
        changed = replace(split, y=y, y_valid=y_valid)
        (found,) = weigh_problem(replace(self._problem, splits=[changed]), self._scoring).splits
        return found.valid_weights

    def _compare(
        self, k: int, moved: _Moved, trees: Sequence[_HeldTree], *, values: bool
    ) -> tuple[float, Floats]:
        """What is added to the score and to the values, summed over some trees."""
        from shapley2d._kernels.leaf_changes import find_touched

        game = self._splits[k].game
        gain, added = 0.0, np.zeros((game.n_rows, game.n_columns) if values else 1)
        rows = game.filled_by(moved.train)
        for held in trees:
            tree, weights, filled = held.tree, held.weights, held.filled
            touched = np.zeros(tree.n_nodes, dtype=np.bool_)
            other = np.empty(moved.train.size, dtype=np.int32)
            if moved.train.size:
                ways, both = (held.depth, held.place), (moved.before, moved.after)
                find_touched(tree.arrays, *ways, *both, touched, other)
            if moved.valid.size:
                weights = _weigh_moved(game, held, moved)
                touched |= (weights != held.weights).any(axis=1)
            if not touched.any():
                continue
            one = held.train[moved.train]
            if (one != other).any():
                filled = filled.copy()
                np.subtract.at(filled, one, rows)
                np.add.at(filled, other, rows)
            if filled is not held.filled or moved.valid.size:
                leaves = np.flatnonzero(touched)
                scores = game.leaf_scores(weights[leaves], filled[leaves])
                gain += float((scores - held.scores[leaves]).sum())
            if values:
                both = (held.weights, weights)
                deep = touched & held.deep
                game.add_changes(tree, (moved.train, moved.after), touched & ~deep, both, added)
                self._add_deep_changes(k, held, (game, moved.game), deep, both, added)
        return gain, added

    def _compare_labels(
        self, k: int, moved: _Moved, trees: Sequence[_HeldTree], *, values: bool
    ) -> tuple[float, Floats]:
        """The same where labels change, so that all leaves do."""
        game = self._splits[k].game
        gain, added = 0.0, np.zeros((game.n_rows, game.n_columns) if values else 1)
        for held in trees:
            tree = held.tree
            train = _with_entries(held.train, moved.train, leaves_of(tree, moved.after))
            filled = moved.game.fill_leaves(tree.n_nodes, train)
            weights = _weigh_moved(moved.game, held, moved)
            gain += float((moved.game.leaf_scores(weights, filled) - held.scores).sum())
            if values:
                both = np.zeros((2, *added.shape))
                game.add_values(tree, both[0], held.weights)
                moved.game.add_values(tree, both[1], weights)
                added += both[1] - both[0]
                games, both_weights = (game, moved.game), (held.weights, weights)
                self._add_deep_changes(k, held, games, held.deep, both_weights, added)
        return gain, added

    def _add_deep_changes(
        self,
        k: int,
        held: _HeldTree,
        games: tuple[LeafGame, LeafGame],
        deep: NDArray[np.bool_],
        weights: tuple[Floats, Floats],
        added: Floats,
    ) -> None:
        """Add what the values change by in some deep leaves, with the orders of the run."""
        if not deep.any() or not any(one[deep].any() for one in weights):
            return
        seed, count = self._rounds
        both = np.zeros((2, *added.shape))
        for game, one, part in zip(games, weights, both, strict=True):
            only = np.where(deep[:, None], one, 0.0)
            for number in range(count):
                random = generator(seed, "path orders", number, k, held.number)
                game.add_deep_values(held.tree, random, part, only)
        added += (both[1] - both[0]) / count

    def _alone(self, cells: Sequence[dict[Cell, Any]]) -> Floats:
        """What every new entry, in a column of the table, adds to the score by itself."""
        if not cells:
            return np.zeros(0)
        edits = read_edits(self._problem, cells)
        assert edits.table is not None
        found = np.zeros(edits.rows.size)
        for k, (one, held) in enumerate(zip(self._splits, self._trees(), strict=True)):
            split, lines = self._problem.splits[k], one.see(edits.table)
            train, by_train = _matches(split.rows, edits.rows)
            move = partial(_move_train, one.game, train, np.ascontiguousarray(lines[:, by_train]))
            found[by_train] += self._mean(move, held)
            if split.valid_rows is not None:
                valid, by_valid = _matches(split.valid_rows, edits.rows)
                lines = np.ascontiguousarray(lines[:, by_valid])
                found[by_valid] += self._mean(partial(_move_valid, one.game, valid, lines), held)
        return found / len(self._splits)

    def _mean(self, move: Callable[[Sequence[_HeldTree]], Floats], held: list[_HeldTree]) -> Floats:
        return sum(map_in_threads(move, _parts(held), self._n_threads), np.zeros(1)) / len(held)


def _parts(held: list[_HeldTree]) -> list[list[_HeldTree]]:
    return [held[i : i + _TREES_AT_ONCE] for i in range(0, len(held), _TREES_AT_ONCE)]


def _weigh_moved(game: LeafGame, held: _HeldTree, moved: _Moved) -> Floats:
    """The weights of leaves after some validation rows have moved."""
    leaves = _with_entries(held.valid, moved.valid, leaves_of(held.tree, moved.after_valid))
    return game.weigh_leaves(held.tree.n_nodes, leaves)


def _move_train(
    game: LeafGame, places: Places, lines: Floats, trees: Sequence[_HeldTree]
) -> Floats:
    """What training rows, each moved alone, add to the score; summed over trees."""
    row, added = game.filled_by(places), np.zeros(places.size)
    for held in trees:
        one, other = held.train[places], leaves_of(held.tree, lines)
        moves = one != other
        for leaf, sign in ((one, -1.0), (other, 1.0)):
            after = game.leaf_scores(held.weights[leaf], held.filled[leaf] + sign * row)
            added += np.where(moves, after - held.scores[leaf], 0.0)
    return added


def _move_valid(
    game: LeafGame, places: Places, lines: Floats, trees: Sequence[_HeldTree]
) -> Floats:
    """The same for validation rows."""
    row, added = game.weighed_by(places), np.zeros(places.size)
    for held in trees:
        one, other = held.valid[places], leaves_of(held.tree, lines)
        added += game.leaf_scores(row, held.filled[other]) - game.leaf_scores(row, held.filled[one])
    return added


def _matches(positions: Places, rows: Places) -> tuple[Places, Places]:
    """Of some rows those among positions: where they are there, and which of the rows they are."""
    order = np.argsort(positions)
    at = np.minimum(np.searchsorted(positions[order], rows), positions.size - 1)
    there = np.flatnonzero(positions[order][at] == rows)
    return order[at[there]], there


def _with_columns(matrix: Floats, places: Places, columns: Floats) -> Floats:
    if not places.size:
        return matrix
    changed = matrix.copy()
    changed[:, places] = columns
    return changed


def _with_entries(
    leaves: NDArray[np.int32], places: Places, others: NDArray[np.int32]
) -> NDArray[np.int32]:
    changed = leaves.copy()
    changed[places] = others
    return changed


def _relabelled(target: Target, places: Places, by: Places, labels: dict[int, float]) -> Target:
    """A target with other labels, or numbers, in some places."""
    codes, y = target.codes.copy(), target.y.astype(object)
    for place, which in zip(places.tolist(), by.tolist(), strict=True):
        if which in labels:
            codes[place] = labels[which]
            y[place] = target.classes[codes[place]] if target.classes.size else labels[which]
    return replace(target, codes=codes, y=y)
