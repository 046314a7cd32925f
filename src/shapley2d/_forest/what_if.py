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
from shapley2d._tables.problem import weigh_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._forest.draws import ForestDraws
    from shapley2d._forest.edits import Edits
    from shapley2d._forest.fitted import FittedTrees, Rows
    from shapley2d._forest.leaves import Leaves
    from shapley2d._tables.problem import Problem
    from shapley2d._tables.target import Target


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
        edits = read_edits(self.problem, changes)
        table, splits = self.problem.table, self.problem.splits
        scores, own = np.zeros(2), np.zeros((2, edits.rows.size))
        added = np.zeros(self.draws.shape)
        for k, (split, before) in enumerate(zip(splits, self.trees, strict=True)):
            after = before.changed(self._changed_rows(k, edits))
            scores += [before.score(), after.score()]
            own += self._own_predictions(edits, before, after)
            game, pieces = self.draws.games[k], range(len(before.pieces))
            change, stream = game.empty(), (*self.orders, k)
            game.add_no_rows(after.blind() - before.blind(), change)
            parts = [self._changes(k, edits, before, after, piece) for piece in pieces]
            game.add_all(parts, stream, self.n_threads, change)
            added[split.rows] += counted_from(change, self.first)
        scores, own, added = (one / len(splits) for one in (scores, own, added))
        pairs = zip(table.row_names[edits.rows].tolist(), *own.tolist(), strict=True)
        return scores[0], scores[1], added, {name: (one, other) for name, one, other in pairs}

    def _changes(
        self, k: int, edits: Edits, before: FittedTrees, after: FittedTrees, piece: int
    ) -> Iterator[Leaves]:
        """The leaves of a piece that change, as they were with minus their weights, and as now."""
        passes = self.draws.games[k].passes
        rows = np.flatnonzero(np.isin(self.problem.splits[k].rows, edits.rows))
        for old, new in zip(before.games(piece), after.games(piece), strict=True):
            changed = (old.weights != new.weights).any(axis=1) | bool(edits.labels)
            changed |= (passes(old, rows) != passes(new, rows)).any(axis=1)
            for sign, leaves in ((-1.0, old), (1.0, new)):
                weights = np.where(changed[:, None], sign * leaves.weights, 0.0)
                yield replace(leaves, weights=weights)

    def _own_predictions(self, edits: Edits, before: FittedTrees, after: FittedTrees) -> Floats:
        """Predictions of the changed rows, before and after, as people know them."""
        y = after.rows.numbered(self.problem.target.codes[edits.rows])
        own = self.problem.table.take_rows(edits.rows)
        found = []
        for one, rows in ((before, own), (after, own if edits.table is None else edits.table)):
            raw = one.model.predict(one.model.places(one.model.see(rows)), one.leaves)
            found.append(one.model.loss.readable(y, raw))
        return np.array(found)

    def _changed_rows(self, k: int, edits: Edits) -> Rows:
        """The rows of split k with their new entries and labels."""
        split, held = self.problem.splits[k], self.trees[k]
        rows, see = held.rows, held.model.see
        entries = None if edits.table is None else see(edits.table)

        def changed(own: Ints | None, features: Floats, target: Target) -> tuple[Floats, Target]:
            _, places, by = np.intersect1d(
                [] if own is None else own, edits.rows, return_indices=True
            )
            if entries is not None:
                features = features.copy()
                features[:, places] = entries[:, by]
            codes, y = target.codes.copy(), target.y.astype(object)
            for place, which in zip(places.tolist(), by.tolist(), strict=True):
                if which in edits.labels:
                    label = codes[place] = edits.labels[which]
                    y[place] = target.classes[int(label)] if target.classes.size else label
            return features, replace(target, codes=codes, y=y)

        train, y = changed(split.rows, rows.train, split.y)
        valid, y_valid = changed(split.valid_rows, rows.valid, split.y_valid)
        new = replace(rows, train=train, valid=valid)
        if not edits.labels:
            return new
        splits = [replace(split, y=y, y_valid=y_valid)]  # labels may weigh others now
        (weighed,) = weigh_problem(replace(self.problem, splits=splits)).splits
        codes, valid_codes = map(rows.numbered, (y.codes, y_valid.codes))
        return replace(
            new, y=codes, y_valid=valid_codes, weights=weighed.weights / weighed.weights.sum()
        )
