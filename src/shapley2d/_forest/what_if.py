"""Fitted forests that answer what other entries would change, without a new run.

The splits, the scales of leaves, what other rows were fitted on, the folds and the encoding are
held fixed. The score after a change is that of the changed predictions themselves. Values are
computed anew in the leaves that change: those whose path a row passes in other columns than before,
and those whose validation rows have another slope of their loss. A changed label changes all
leaves. In a cross-valuation a row also moves where it validates.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._forest.edits import CellNames, read_edits
from shapley2d._tables.problem import weigh_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._estimation.total import Lines
    from shapley2d._forest.draws import ForestDraws
    from shapley2d._forest.edits import Edits
    from shapley2d._forest.fitted import FittedTrees, Rows
    from shapley2d._forest.leaves import Leaves
    from shapley2d._tables.problem import Problem, Split
    from shapley2d._tables.target import Target


class HeldForest:
    """The trees and tables of a run, held to answer questions about other entries.

    ``problem``: without the weights of its score.
    ``lines``: count values from the baseline of the run.
    ``n_trees``: where they are grown.
    ``orders``: the seed and the number of random orders in deep leaves.
    """

    def __init__(
        self,
        problem: Problem,
        draws: ForestDraws,
        lines: Lines,
        *,
        n_trees: int,
        orders: tuple[int, int],
        n_threads: int,
    ) -> None:
        self._problem, self._draws, self._lines = problem, draws, lines
        self._n_trees, self._orders, self._n_threads = n_trees, orders, n_threads

    @cached_property
    def trees(self) -> list[FittedTrees]:
        """Those of every split."""
        return self._draws.held(self._n_trees)

    @cached_property
    def _names(self) -> CellNames:
        return CellNames.of(self._problem)

    def what_if(self, changes: Any) -> tuple[float, float, Floats, dict[Any, tuple[float, float]]]:
        """Scores before and after, the change of all values, and of the rows' predictions."""
        edits = read_edits(self._problem, self._names.find(changes))
        table, splits = self._problem.table, self._problem.splits
        scores, own = np.zeros(2), np.zeros((2, edits.rows.size))
        added = np.zeros(self._draws.shape)
        for k, (split, before) in enumerate(zip(splits, self.trees, strict=True)):
            after = before.changed(self._changed_rows(k, edits))
            scores += [before.score(), after.score()]
            own += self._own_predictions(k, edits, before, after)
            game, pieces = self._draws.games[k], range(len(before.pieces))
            change, stream = game.empty(), (*self._orders, k)
            game.add_no_rows(after.blind() - before.blind(), change)
            parts = [self._changes(k, edits, before, after, piece) for piece in pieces]
            game.add_all(parts, stream, self._n_threads, change)
            added[split.rows] += self._lines.read(change, split.rows)["cells"]
        scores, own, added = (one / len(splits) for one in (scores, own, added))
        pairs = zip(table.row_names[edits.rows].tolist(), *own.tolist(), strict=True)
        return scores[0], scores[1], added, {name: (one, other) for name, one, other in pairs}

    def _changes(
        self, k: int, edits: Edits, before: FittedTrees, after: FittedTrees, piece: int
    ) -> Iterator[Leaves]:
        """The leaves of a piece that change, as they were with minus their weights, and as now."""
        passes = self._draws.games[k].passes
        rows = np.flatnonzero(np.isin(self._problem.splits[k].rows, edits.rows))
        for old, new in zip(before.games(piece), after.games(piece), strict=True):
            changed = (old.weights != new.weights).any(axis=1) | bool(edits.labels)
            changed |= (passes(old, rows) != passes(new, rows)).any(axis=1)
            for sign, leaves in ((-1.0, old), (1.0, new)):
                weights = np.where(changed[:, None], sign * leaves.weights, 0.0)
                yield replace(leaves, weights=weights)

    def _own_predictions(
        self, k: int, edits: Edits, before: FittedTrees, after: FittedTrees
    ) -> Floats:
        """Predictions of the changed rows, before and after, as people know them."""
        y, own = self._problem.target.codes[edits.rows], self._problem.table.take_rows(edits.rows)
        if after.rows.places is not None:
            y = after.rows.places[y]
        found = []
        for one, rows in ((before, own), (after, own if edits.table is None else edits.table)):
            raw = one.model.predict(one.model.places(self._draws.sees[k](rows)), one.leaves)
            found.append(one.model.loss.readable(y, raw))
        return np.array(found)

    def _changed_rows(self, k: int, edits: Edits) -> Rows:
        """The rows of split k with their new entries and labels."""
        split, rows = self._problem.splits[k], self.trees[k].rows
        held = np.zeros(0, np.intp) if split.valid_rows is None else split.valid_rows
        _, train, by_train = np.intersect1d(split.rows, edits.rows, return_indices=True)
        _, valid, by_valid = np.intersect1d(held, edits.rows, return_indices=True)
        if edits.table is not None:
            lines, both = (
                self._draws.sees[k](edits.table),
                [rows.features.train, rows.features.valid],
            )
            for one, (places, by) in enumerate(((train, by_train), (valid, by_valid))):
                both[one] = both[one].copy()
                both[one][:, places] = lines[:, by]
            rows = replace(rows, features=replace(rows.features, train=both[0], valid=both[1]))
        if edits.labels:
            y = _relabelled(split.y, train, by_train, edits.labels)
            y_valid = _relabelled(split.y_valid, valid, by_valid, edits.labels)
            codes = [y.codes, y_valid.codes]
            if rows.places is not None:
                codes = [rows.places[one] for one in codes]
            weights = self._weights(replace(split, y=y, y_valid=y_valid))
            rows = replace(rows, y=codes[0], y_valid=codes[1], weights=weights)
        return rows

    def _weights(self, split: Split) -> Floats:
        """Weights of validation rows, whose labels may be others now."""
        (found,) = weigh_problem(replace(self._problem, splits=[split])).splits
        return np.asarray(found.weights / found.weights.sum())


def _relabelled(target: Target, places: Ints, by: Ints, labels: dict[int, float]) -> Target:
    """A target with other labels, or numbers, in some places."""
    codes, y = target.codes.copy(), target.y.astype(object)
    for place, which in zip(places.tolist(), by.tolist(), strict=True):
        if which in labels:
            codes[place] = labels[which]
            y[place] = target.classes[codes[place]] if target.classes.size else labels[which]
    return replace(target, codes=codes, y=y)
