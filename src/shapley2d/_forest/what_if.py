"""Fitted forests that answer what other entries would change, without a new run.

The splits, the scales of leaves, what other rows were fitted on, the folds and the encoding are
held fixed. The score after a change is that of the changed predictions themselves. Values are
computed anew in the leaves that change: those whose path a row passes in other columns than before,
and those whose validation rows have another slope of their loss. A changed label changes all
leaves. In a cross-valuation a row also moves where it validates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._estimation.total import counted_from
from shapley2d._forest.edits import read_edits
from shapley2d._forest.fitted import Rows
from shapley2d._tables.problem import weigh_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapley2d._base.arrays import Floats
    from shapley2d._forest.draws import ForestDraws
    from shapley2d._forest.edits import Edits
    from shapley2d._forest.fitted import FittedTrees
    from shapley2d._forest.leaves import Leaves
    from shapley2d._tables.problem import Problem


@dataclass
class HeldForest:
    """The trees and tables of a run, held to answer questions about other entries.

    ``problem``: without the weights of its score.
    ``first``: count values from the baseline of the run.
    ``n_trees``: where they are grown.
    ``orders``: the seed and the number of random orders in deep leaves.
    """

    problem: Problem
    draws: ForestDraws
    first: Floats | None
    n_trees: int
    orders: tuple[int, int]
    n_threads: int

    @cached_property
    def trees(self) -> list[FittedTrees]:
        """Those of every split."""
        return self.draws.held(self.n_trees)

    def what_if(self, changes: Any) -> tuple[float, float, Floats, dict[Any, tuple[float, float]]]:
        """Scores before and after, the change of all values, and of the rows' predictions."""
        edits, n_splits = read_edits(self.problem, changes), len(self.trees)
        scores, own = np.zeros(2), np.zeros((2, edits.rows.size))
        added = np.zeros(self.draws.shape)
        for k, before in enumerate(self.trees):
            rows, game = self.problem.splits[k].rows, self.draws.games[k]
            after = before.changed(self._changed_rows(k, edits))
            scores += [before.score(), after.score()]
            own += self._own_predictions(edits, before, after)
            change = game.empty()
            game.add_no_rows(after.blind() - before.blind(), change)
            pieces = range(len(before.pieces))
            parts = [self._changes(k, edits, before, after, piece) for piece in pieces]
            game.add_all(parts, (*self.orders, k), self.n_threads, change)
            added[rows] += counted_from(change, self.first)
        names = self.problem.table.row_names[edits.rows].tolist()
        predictions = dict(zip(names, zip(*(own / n_splits).tolist(), strict=True), strict=True))
        return *(scores / n_splits), added / n_splits, predictions

    def _changes(
        self, k: int, edits: Edits, before: FittedTrees, after: FittedTrees, piece: int
    ) -> Iterator[Leaves]:
        """The leaves of a piece that change, as they were with minus their weights, and as now."""
        passes = self.draws.games[k].passes
        rows = np.flatnonzero(np.isin(self.problem.splits[k].rows, edits.rows))
        for old, new in zip(before.games(piece), after.games(piece), strict=True):
            changed = (old.weights != new.weights).any(axis=1) | edits.relabels
            changed |= (passes(old, rows) != passes(new, rows)).any(axis=1)
            for sign, leaves in ((-1.0, old), (1.0, new)):
                weights = np.where(changed[:, None], sign * leaves.weights, 0.0)
                yield replace(leaves, weights=weights)

    def _own_predictions(self, edits: Edits, before: FittedTrees, after: FittedTrees) -> Floats:
        """Predictions of the changed rows, before and after, as people know them."""
        y = after.rows.numbered(self.problem.target.codes[edits.rows])
        found = []
        for one, rows in ((before, self.problem.table.take_rows(edits.rows)), (after, edits.table)):
            raw = one.model.predict(one.model.places(one.model.see(rows)), one.leaves)
            found.append(one.model.loss.readable(y, raw))
        return np.array(found)

    def _changed_rows(self, k: int, edits: Edits) -> Rows:
        """The rows of split k with their new entries and labels."""
        split, held = self.problem.splits[k], self.trees[k]
        rows, entries = held.rows, held.model.see(edits.table)
        train, valid = rows.train.copy(), rows.valid.copy()
        for features, own in ((train, split.rows), (valid, split.valid_rows)):
            if own is not None:
                _, places, by = np.intersect1d(own, edits.rows, return_indices=True)
                features[:, places] = entries[:, by]
        y, y_valid = edits.target.take(split.rows), split.y_valid
        if split.valid_rows is not None:
            y_valid = edits.target.take(split.valid_rows)
        splits = [replace(split, y=y, y_valid=y_valid)]  # labels may weigh others now
        (weighed,) = weigh_problem(replace(self.problem, splits=splits)).splits
        return Rows.of(weighed, train, valid, rows.bags, rows.places)
