"""Fitted forests that answer what other entries would change, without a new run.

The splits, the scales of leaves, what other rows were fitted on, the folds and the encoding are
held fixed. The score after a change is that of the changed predictions themselves. Values are
computed anew in the leaves that change: those whose path a row passes in other columns than before,
and those whose validation rows have another slope of their loss. A changed label changes all
leaves. In a cross-valuation a row also moves where it validates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.in_threads import map_in_threads
from shapley2d._forest.trees import Features
from shapley2d._tables.edits import CellNames, read_edits
from shapley2d._tables.problem import weigh_problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._forest.fitted import FittedTrees
    from shapley2d._forest.game import LeafGame
    from shapley2d._tables.edits import Edits
    from shapley2d._tables.problem import Problem, Split
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

    Places = Ints


@dataclass(frozen=True)
class _Moved:
    """A split after edits: the model on it, its game, the changed rows, and their features."""

    trees: FittedTrees
    game: LeafGame
    train: Places
    before: Floats
    after: Floats


class HeldForest:
    """The trees and tables of a run, held to answer questions about other entries.

    ``problem``: without the weights of its score.
    ``hold``: gives the trees of every split.
    ``games``: one per split.
    ``sees``: for every split, ``see(table)``: features of any rows of the table.
    ``rounds``: the seed and the number of random orders in deep leaves.
    """

    def __init__(
        self,
        problem: Problem,
        hold: Callable[[], list[FittedTrees]],
        games: list[LeafGame],
        sees: list[Callable[[Table], Floats]],
        rounds: tuple[int, int],
        *,
        n_threads: int,
    ) -> None:
        self._problem, self._hold, self._games, self._sees = problem, hold, games, sees
        self._rounds, self._n_threads = rounds, n_threads
        self._held: list[FittedTrees] | None = None
        self._names: CellNames | None = None

    def what_if(self, changes: Any) -> tuple[float, float, Floats, dict[Any, tuple[float, float]]]:
        """Scores before and after, the change of all values, and of the rows' predictions."""
        if self._names is None:
            self._names = CellNames.of(self._problem)
        edits = read_edits(self._problem, self._names.find(changes))
        held, count = self._trees(), len(self._games)
        scores, added = (
            np.zeros(2),
            np.zeros((self._problem.table.n_rows, self._games[0].n_columns)),
        )
        own = np.zeros((2, edits.rows.size))
        for k, trees in enumerate(held):
            moved = self._moved(k, edits)
            scores += [trees.score() / count, moved.trees.score() / count]
            own += self._own_predictions(k, edits, moved.trees) / count
            change = np.zeros((trees.n_rows, added.shape[1]))
            task = partial(self._changed_piece, k, moved, relabelled=bool(edits.labels))
            for part in map_in_threads(task, range(len(trees.pieces)), self._n_threads):
                change += part
            change += moved.game.of_no_rows(moved.trees.blind() - trees.blind())
            added[self._problem.splits[k].rows] += change / count
        names = self._problem.table.row_names[edits.rows].tolist()
        pairs = {name: (float(a), float(b)) for name, a, b in zip(names, *own, strict=True)}
        return float(scores[0]), float(scores[1]), added, pairs

    def _trees(self) -> list[FittedTrees]:
        if self._held is None:
            self._held = self._hold()
        return self._held

    def _own_predictions(self, k: int, edits: Edits, after: FittedTrees) -> Floats:
        """Predictions of the changed rows, before and after, as people know them."""
        trees, table = self._trees()[k], self._problem.table
        labels = self._problem.target.codes[edits.rows]
        y = labels if after.rows.places is None else after.rows.places[labels]
        own = table.take_rows(edits.rows)
        found = []
        for one, rows in ((trees, own), (after, edits.table if edits.table is not None else own)):
            places = one.model.find_all(self._sees[k](rows), self._n_threads)
            raw = one.model.predict(places, one.leaves)
            found.append(one.model.loss.readable(y, raw))
        return np.array(found)

    def _changed_piece(self, k: int, moved: _Moved, piece: int, *, relabelled: bool) -> Floats:
        """The change of all values under the trees of a piece."""
        seed, rounds = self._rounds
        games, held = (self._games[k], moved.game), (self._trees()[k], moved.trees)
        sums = np.zeros((2, games[0].n_rows, games[0].n_columns))
        for both in zip(*(one.leaves_in(piece) for one in held), strict=True):
            tree = both[0].tree
            changed = (both[0].weights != both[1].weights).any(axis=1) | relabelled
            changed |= games[0].changed_leaves(tree, moved.before, moved.after)
            if not changed.any():
                continue
            for k_sum, (game, leaves) in enumerate(zip(games, both, strict=True)):
                only = replace(leaves, weights=np.where(changed[:, None], leaves.weights, 0.0))
                game.add_values(only, sums[k_sum])
                if rounds:
                    deep = np.zeros_like(sums[k_sum])
                    for number in range(rounds):  # the orders of the run
                        game.add_deep_values(only, (seed, number, k), deep)
                    sums[k_sum] += deep / rounds
        return np.asarray(sums[1] - sums[0])

    def _moved(self, k: int, edits: Edits) -> _Moved:
        """Split k with changed rows."""
        split, trees = self._problem.splits[k], self._trees()[k]
        none = np.zeros(0, dtype=np.intp)
        train, by_train = _matches(split.rows, edits.rows)
        valid, by_valid = none, none
        if split.valid_rows is not None:
            valid, by_valid = _matches(split.valid_rows, edits.rows)
        rows = trees.rows
        features = rows.features
        if edits.table is not None:
            lines = self._sees[k](edits.table)
            features = Features(
                _with_columns(features.train, train, lines[:, by_train]),
                _with_columns(features.valid, valid, lines[:, by_valid]),
                features.owners,
            )
        changed = replace(rows, features=features)
        if edits.labels:
            y = _relabelled(split.y, train, by_train, edits.labels)
            y_valid = _relabelled(split.y_valid, valid, by_valid, edits.labels)
            weights = self._weights(split, y, y_valid)
            codes = [one.codes for one in (y, y_valid)]
            if rows.places is not None:
                codes = [rows.places[one] for one in codes]
            changed = replace(changed, y=codes[0], y_valid=codes[1], weights=weights)
        return _Moved(
            trees.changed(changed),
            self._games[k].changed(features),
            train,
            np.ascontiguousarray(rows.features.train[:, train]),
            np.ascontiguousarray(features.train[:, train]),
        )

    def _weights(self, split: Split, y: Target, y_valid: Target) -> Floats:
        """Weights of validation rows, whose labels may be others now."""
        changed = replace(split, y=y, y_valid=y_valid)
        (found,) = weigh_problem(replace(self._problem, splits=[changed])).splits
        return np.asarray(found.weights / found.weights.sum())


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
