"""Fitted forests that answer what other entries would change, without a new run.

A changed cell changes only the leaves whose path it passes in other columns than before. In these
alone the values of all rows are computed before and after, with the splits, the folds and the
encoding held fixed. In a cross-valuation a row also moves where it validates: the leaves that it
leaves and enters there change too. A changed label changes all leaves.
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
from shapley2d._forest.trees import Features
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


@dataclass(frozen=True)
class HeldSplit:
    """One split of a run.

    Attributes
    ----------
    game : LeafGame
    grow : callable
        Gives its trees.
    see : callable
        ``see(table)``: features of any rows of the table.
    """

    game: LeafGame
    grow: Callable[[], list[SplitTree]]
    see: Callable[[Table], Floats]


@dataclass(frozen=True)
class _HeldTree:
    """One tree with the leaf of every row of its split, and sums and scores of every leaf."""

    number: int
    tree: SplitTree
    valid: NDArray[np.int32]
    train: NDArray[np.int32]
    weights: Floats
    counts: Floats
    scores: Floats

    @classmethod
    def of(cls, game: LeafGame, number: int, tree: SplitTree) -> _HeldTree:
        valid, train = (leaves_of(tree, one) for one in (game.features.valid, game.features.train))
        weights, counts = game.leaf_weights(tree, valid), game.leaf_counts(tree, train)
        scores = game.leaf_scores(weights, counts)
        return cls(number, tree, valid, train, weights, counts, scores)


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
    """The trees and tables of a run, held to answer questions about other entries.

    Parameters
    ----------
    problem : Problem
        Without the weights of its score.
    splits : list of HeldSplit
    rounds : (int, int)
        The seed and the number of random orders in deep leaves.
    n_threads : int
    """

    def __init__(
        self,
        problem: Problem,
        splits: list[HeldSplit],
        rounds: tuple[int, int],
        *,
        n_threads: int,
    ) -> None:
        self._problem, self._splits = problem, splits
        self._rounds, self._n_threads = rounds, n_threads
        self._held: list[list[_HeldTree]] | None = None
        self._names: CellNames | None = None

    @property
    def n_columns(self) -> int:
        """Columns of the table, the label not counted."""
        return self._problem.table.n_columns

    def what_if(self, changes: Any) -> tuple[float, float, Floats]:
        """The scores before and after changes, and the change of all values.

        Parameters
        ----------
        changes : mapping from (row, column) to entry
        """
        if self._names is None:
            self._names = CellNames.of(self._problem)
        edits = read_edits(self._problem, [self._names.find(changes)])
        return self._both(edits, values=True)

    def gains(self, cells: Sequence[dict[Cell, Any]]) -> Floats:
        """The change of the score by each of some edits, made alone.

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
        """The scores before and after, and the change of all values, if these are wanted."""
        shape = (self._problem.table.n_rows, self._splits[0].game.n_columns)
        scores, added = np.zeros(2), np.zeros(shape)
        for k, (split, held) in enumerate(zip(self._splits, self._trees(), strict=True)):
            moved = self._moved(k, edits)
            task = partial(self._compare, k, moved, relabelled=bool(edits.labels), values=values)
            gain, change = 0.0, np.zeros((split.game.n_rows, shape[1]))
            for gained, part in map_in_threads(task, _parts(held), self._n_threads):
                gain += gained
                change += part
            before = sum(float(one.scores.sum()) for one in held)
            both = np.array([before, before + gain]) / len(held)
            both += [split.game.without_rows(), moved.game.without_rows()]
            scores += both / len(self._splits)
            change /= len(held)
            if self._problem.baseline == "zero" and edits.labels:
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
        (found,) = weigh_problem(replace(self._problem, splits=[changed])).splits
        return found.valid_weights

    def _compare(
        self, k: int, moved: _Moved, trees: Sequence[_HeldTree], *, relabelled: bool, values: bool
    ) -> tuple[float, Floats]:
        """The change of the score and of all values, summed over some trees."""
        game, (seed, rounds) = self._splits[k].game, self._rounds
        gain, sums = 0.0, np.zeros((2, game.n_rows, game.n_columns) if values else (2, 1))
        for held in trees:
            tree, weights = held.tree, held.weights
            train, valid = held.train.copy(), held.valid.copy()
            train[moved.train] = leaves_of(tree, moved.after)
            valid[moved.valid] = leaves_of(tree, moved.after_valid)
            if relabelled or moved.valid.size:
                weights = moved.game.leaf_weights(tree, valid)
            scores = moved.game.leaf_scores(weights, moved.game.leaf_counts(tree, train))
            gain += float((scores - held.scores).sum())
            if not values:
                continue
            changed = (weights != held.weights).any(axis=1) | relabelled
            changed |= game.changed_leaves(tree, moved.before, moved.after)
            if not changed.any():
                continue
            for t, one in enumerate((game, moved.game)):
                only = np.where(changed[:, None], (held.weights, weights)[t], 0.0)
                one.add_values(tree, sums[t], only)
                if rounds:
                    deep = np.zeros_like(sums[t])
                    for number in range(rounds):  # the orders of the run
                        random = generator(seed, "path orders", number, k, held.number)
                        one.add_deep_values(tree, random, deep, only)
                    sums[t] += deep / rounds
        return gain, sums[1] - sums[0]

    def _alone(self, cells: Sequence[dict[Cell, Any]]) -> Floats:
        """The change of the score by every new entry alone, none of them a label."""
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
    return [held[i : i + 25] for i in range(0, len(held), 25)]  # each holds a table of changes


def _move_train(
    game: LeafGame, places: Places, features: Floats, trees: Sequence[_HeldTree]
) -> Floats:
    """The change of the score by training rows, each moved alone, summed over some trees."""
    row, added = game.row_counts(places), np.zeros(places.size)
    for held in trees:
        one, other = held.train[places], leaves_of(held.tree, features)
        moves = one != other
        for leaf, sign in ((one, -1.0), (other, 1.0)):
            after = game.leaf_scores(held.weights[leaf], held.counts[leaf] + sign * row)
            added += np.where(moves, after - held.scores[leaf], 0.0)
    return added


def _move_valid(
    game: LeafGame, places: Places, features: Floats, trees: Sequence[_HeldTree]
) -> Floats:
    """The change of the score by validation rows, each moved alone, summed over some trees."""
    row, added = game.row_weights(places), np.zeros(places.size)
    for held in trees:
        one, other = held.valid[places], leaves_of(held.tree, features)
        added += game.leaf_scores(row, held.counts[other]) - game.leaf_scores(row, held.counts[one])
    return added


def _matches(positions: Places, rows: Places) -> tuple[Places, Places]:
    """The places of rows among ``positions``, and the indices of the rows that are there."""
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


def _relabelled(target: Target, places: Places, by: Places, labels: dict[int, float]) -> Target:
    """A target with other labels, or numbers, in some places."""
    codes, y = target.codes.copy(), target.y.astype(object)
    for place, which in zip(places.tolist(), by.tolist(), strict=True):
        if which in labels:
            codes[place] = labels[which]
            y[place] = target.classes[codes[place]] if target.classes.size else labels[which]
    return replace(target, codes=codes, y=y)
