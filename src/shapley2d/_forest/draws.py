"""The draws of forests: trees of a given model in numbered batches, or trees that are grown.

A given model has all its trees already: their list ends, nothing is sampled, and the values are
exact. Only in deep leaves, with many columns on their path, random orders of these are sampled
after it. Where no model is given, trees are grown until their mean is precise, and a few of them
are one Monte Carlo draw.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from shapley2d._base.streams import draw_seeds, generator
from shapley2d._base.warnings import warn_input
from shapley2d._base.words import counted
from shapley2d._estimation.draws import Draw, Draws, Stratum
from shapley2d._estimation.fingerprint import hash_parts
from shapley2d._forest.ensemble import (
    encoder,
    is_fitted,
    library_of,
    read_model,
)
from shapley2d._forest.fitted import FittedTrees, Rows
from shapley2d._forest.leaves import LeafGame
from shapley2d._forest.library import has_text
from shapley2d._forest.losses import PROBABILITY, SQUARED
from shapley2d._forest.model import Model
from shapley2d._forest.pipelines import differ
from shapley2d._forest.read_sklearn import read_tree
from shapley2d._forest.scores import (
    facts_of_models,
    facts_of_score,
    hold_models,
    loss_of_constant,
    unit_of,
)
from shapley2d._methods.baseline import LABELS_ALONE, MEAN_OF_ALL, warn_of_perfect_zero
from shapley2d._models.fitting import last_step

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._forest.fitted import Unit
    from shapley2d._forest.leaves import Leaves
    from shapley2d._forest.losses import Loss
    from shapley2d._forest.model import SplitTree
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split
    from shapley2d._tables.table import Table

GROVE = 4
"""Trees of a draw, where they are grown."""

DEPTH, LEAF_ROWS = 6, 5
"""Splits on a path at most, and rows of a leaf at least, of trees that are grown.

``benchmarks/forest_shape.py`` compares others: on 5 tables with wrong labels and cells, depths of 4
to 10 and leaves of 1 to 10 rows differ by little more than chance, and deeper trees take longer.
"""


class ForestDraws(Draws):
    """What given and grown trees have in common.

    ``games``: one for every split; ``blind``: the scores there without any rows.
    ``sampled``: the columns whose values are sampled.
    """

    compiled = True
    nothing = ""  # what predicts without any column, and without any rows, in words
    first_guess = ""

    def __init__(self, problem: Problem, run: Run, models: list[Model]) -> None:
        m, groups = problem.table.n_columns, problem.column_groups
        # columns of a group join together, so that they split as one column
        self.players: Ints = np.arange(m) if groups is None else groups.numbers[:m]
        self.games = [
            LeafGame(
                self.players[one.owners],
                split.rows.size,
                run.semivalues,
                int(self.players.max()) + 1,
                labelled=problem.label is not None,
                from_zero=problem.baseline == "zero",
            )
            for one, split in zip(models, problem.splits, strict=True)
        ]
        self.shape = problem.table.n_rows, self.games[0].n_columns
        self.blind: list[float] = []
        self.sampled: Bools = np.zeros(self.shape[1], dtype=np.bool_)
        self._record: dict[str, Any] = {}

    def held(self, count: int) -> list[FittedTrees]:
        """The forest of every split, of so many trees if they are grown."""
        raise NotImplementedError

    def _values(self, k: int, several: Iterable[Leaves], share: float = 1.0) -> Floats:
        """Values under some trees of split k, which have this share in what no rows are worth."""
        game = self.games[k]
        values = game.empty()
        for leaves in several:
            game.add_values(leaves, values)
        game.add_no_rows(share * self.blind[k], values)
        return values

    def _note(self, problem: Problem, loss: Loss, unit: Unit) -> None:
        """Keep facts for the record of a run: its score, and the baseline of its values."""
        self._record |= facts_of_score(problem, loss, unit)
        blind = float(np.mean(self.blind))
        if problem.baseline == "zero":
            del self._record["baseline_utility"]
            if not (unit.shift or loss.by_class):
                warn_of_perfect_zero(f"minus the {loss.name}")
        elif problem.label is None:
            self._record["baseline"] = self.nothing
        else:  # without a label none is right
            self._record["baseline_utility"] = blind or None
            if blind:
                self._record["baseline"] = self.first_guess


class GivenTrees(ForestDraws):
    """The trees of a model in numbered batches, then random orders in their deep leaves.

    ``max_draws``: random orders of the columns of every deep leaf, at most.
    """

    limit, unit = "max_draws", "batch"
    nothing = "that of its trees without any column"
    first_guess = "that of its first guess"

    def __init__(self, model: Any, problem: Problem, run: Run, max_draws: int) -> None:
        _warn_of_seen_rows(model, problem)
        models, model = read_model(model, problem, run)
        super().__init__(problem, run, models)
        self._seed, self._held = run.seed, hold_models(model, models, problem)
        self.blind = [one.blind() for one in self._held]
        pieces, folds = [len(one.pieces) for one in self._held], len(self._held)
        self._batches = [(k, piece) for k in range(folds) for piece in range(pieces[k])]
        self._deep: dict[int, list[int]] = {}  # batches with deep leaves, by split
        shares = np.zeros(folds)
        for k, piece in self._batches:
            trees = self._held[k]
            for t in (t for numbers in trees.pieces[piece] for t in numbers):
                weights = trees.masses[t] * trees.scales[t]
                share, named = self.games[k].deep_part(models[k].trees[t], weights)
                shares[k] += share / len(models[k].trees)
                self.sampled |= named
                if named.any() and piece not in self._deep.setdefault(k, []):
                    self._deep[k].append(piece)
        self.sure, self.exact = len(self._batches), not self._deep
        self.in_time = "" if self.exact else self.in_time  # all trees or nothing
        self.count = self.sure + max_draws * len(self._deep)
        self.first = self.sure + 10 * len(self._deep)
        rows = [split.rows for split in problem.splits]
        self.strata = [
            # a list that is exact is summed, others are means
            Stratum(rows[k], (1 if self.exact else pieces[k]) / folds, pieces[k])
            for k in range(folds)
        ] + [Stratum(rows[k], 1 / folds) for k in self._deep]
        if self._deep:
            self.sampled[int(self.players.max()) + 1 :] = True  # the label's
            self._record["exact_share"] = 1.0 - float(shares.mean())
        self._record |= facts_of_models(self._held) | _facts_of_trees(model, models)
        self._note(problem, models[0].loss, self._held[0].unit)

    def __call__(self, number: int) -> Draw:
        if number < self.sure:
            k, piece = self._batches[number]
            trees = self._held[k]
            return Draw(self._values(k, trees.games(piece), 1 / len(trees.pieces)), stratum=k)
        order, turn = divmod(number - self.sure, len(self._deep))
        k = list(self._deep)[turn]
        values = self.games[k].empty()
        for piece in self._deep[k]:
            for leaves in self._held[k].games(piece):
                random = generator(self._seed, "path orders", order, k, leaves.number)
                self.games[k].add_order(leaves, random, values)
        return Draw(values, stratum=len(self._held) + turn)

    def held(self, count: int) -> list[FittedTrees]:  # noqa: ARG002
        """The model on every split."""
        return self._held

    def identity(self) -> dict[str, Any]:
        """A digest of all trees."""
        arrays = (
            array
            for held in self._held
            for tree, leaf in zip(held.model.trees, held.model.leaves, strict=True)
            for array in (*tree, leaf)
        )
        return {"trees": hash_parts(np.ascontiguousarray(array).tobytes() for array in arrays)}

    def facts(self, count: int) -> dict[str, Any]:
        """The model, its score, and how its deep leaves were sampled."""
        if self.exact:
            return self._record
        n_rounds, share = (count - self.sure) // len(self._deep), self._record["exact_share"]
        words = (
            f" ({share:.0%} of their predictions exact, those of deeper leaves by "
            f"{counted(n_rounds, 'random order')} of the columns on each path)"
        )
        return self._record | {"n_rounds": n_rounds, "forest": self._record["forest"] + words}

    def note(self, count: int) -> str:
        """How far a run is."""
        if count <= self.sure:
            return f"{count:,} of {self.sure:,} batches of trees"
        return f"{counted((count - self.sure) // len(self._deep), 'random order')} in deep leaves"


class GrownTrees(ForestDraws):
    """Numbered groves of trees that are grown here.

    A tree depends on its number alone: it is grown on a bootstrap sample of the training rows, and
    every split chooses among as many random features as the root of their number. Its leaves are
    the means of all training rows in them.

    A squared error has slopes that depend on the prediction. Those of a tree are taken from the
    other trees of its grove, so that a draw is unbiased: its expectation is the value under the
    mean of infinitely many trees.
    """

    limit, unit = "max_draws", "grove"
    nothing, first_guess = LABELS_ALONE, MEAN_OF_ALL

    def __init__(self, problem: Problem, run: Run, max_draws: int) -> None:
        splits, self._classifies = problem.splits, problem.target.task == "classification"
        loss = PROBABILITY if self._classifies else SQUARED
        self._models = [_no_trees(split, loss) for split in splits]
        super().__init__(problem, run, self._models)
        both = zip(self._models, splits, strict=True)
        self._rows = [
            Rows.of(one, model.see(one.train), model.see(one.valid)) for model, one in both
        ]
        self._matrices = [one.train.T.astype(np.float32, order="C") for one in self._rows]
        self.sampled[int(self.players.max()) + 1 :] = True  # the label's
        for one, rows in zip(self._models, self._rows, strict=True):
            varies = differ(rows.train, rows.train[:, :1]).any(axis=1)
            self.sampled[self.players[one.owners[varies]]] = True  # trees can split on them
        self._unit = unit_of(problem, loss, self._rows)
        self._grown: dict[tuple[int, int], SplitTree] = {}
        self._seeds, folds = draw_seeds(run.seed, len(splits)), len(splits)
        self.count, self.first = max(-(-max_draws // GROVE), 2) * folds, 10 * folds
        self.a_pass, self.whole_passes = folds, folds > 1
        self.strata = [Stratum(split.rows, 1 / folds) for split in splits]
        alone = [self._unit.score(loss_of_constant(loss, one)) for one in self._rows]
        self.blind = [0.0] * folds if self._classifies else alone
        self._record["baseline_utility"] = float(np.mean(alone))
        self._note(problem, loss, self._unit)

    def __call__(self, number: int) -> Draw:
        grove, k = divmod(number, len(self.games))
        held = self._forest(k, range(grove * GROVE, (grove + 1) * GROVE))
        masses = None if self._classifies else _masses_by_others(held)
        return Draw(self._values(k, held.games(masses=masses)), stratum=k)

    def held(self, count: int) -> list[FittedTrees]:
        """The forest of every split, of so many trees."""
        return [self._forest(k, range(count)) for k in range(len(self.games))]

    def _forest(self, k: int, numbers: range) -> FittedTrees:
        trees = [self._tree(k, number) for number in numbers]
        outputs, rounds = [0] * len(trees), [list(range(len(trees)))]
        model = replace(self._models[k], trees=trees, outputs=outputs, rounds=rounds)
        return FittedTrees(model, self._rows[k], self._unit)

    def _tree(self, k: int, number: int) -> SplitTree:
        """A tree; kept, since it may be needed again."""
        if (k, number) not in self._grown:
            random, n = generator(self._seeds[k], "draw", number), self._rows[k].y.size
            drawn = np.bincount(random.integers(n, size=n), minlength=n).astype(np.float64)
            kind = DecisionTreeClassifier if self._classifies else DecisionTreeRegressor
            estimator = kind(
                max_depth=DEPTH,
                min_samples_leaf=LEAF_ROWS,
                max_features="sqrt",
                random_state=int(random.integers(2**31)),
            ).fit(self._matrices[k], self._rows[k].y, sample_weight=drawn)
            self._grown[k, number] = read_tree(estimator)
        return self._grown[k, number]

    def facts(self, count: int) -> dict[str, Any]:
        """The score, and how many trees were grown."""
        n_trees = GROVE * (count // len(self.games))
        return {
            **self._record,
            "n_trees": n_trees,
            "forest": f"a forest of {counted(n_trees, 'tree')}",
        }

    def note(self, count: int) -> str:
        """How far a run is."""
        return counted(GROVE * (count // len(self.games)), "tree")


def _no_trees(split: Split, loss: Loss) -> Model:
    """A forest of a split that has no trees yet."""
    make, owners = encoder(split.train)
    start = np.zeros(split.y.classes.size)
    if not loss.by_class:
        start = loss.best_constant(split.y.codes, np.ones(split.rows.size), 1)

    def see(table: Table) -> Floats:
        return np.ascontiguousarray(make(table).T, dtype=np.float64)

    return Model([], [], [], [[]], loss, see, start=start, owners=owners)


def _masses_by_others(held: FittedTrees) -> list[Floats]:
    """Sums of slopes in the leaves of every tree of a grove, by the mean of the others."""
    rows, model, found = held.rows, held.model, []
    factor = held.unit.factor * rows.weights[:, None]
    for t, (leaf, at) in enumerate(zip(held.leaves, held.places, strict=True)):
        others = model.start + (held.predicted - model.start - leaf[at]) * GROVE / (GROVE - 1)
        slopes = model.loss.slopes(rows.y_valid, model.start, others)
        found.append(held.mass(t, at, factor * slopes))
    return found


def _facts_of_trees(model: Any, models: list[Model]) -> dict[str, Any]:
    """Facts about the trees of a model for the record of a run."""
    count = round(float(np.mean([len(one.trees) for one in models])))
    last = last_step(model)
    name = type(last).__name__
    name = f"{library_of(last).name}'s Booster" if name == "Booster" else name
    return {
        "model": repr(model) if has_text(model) else type(model).__name__,
        "n_trees": count,
        "forest": f"the {counted(count, 'tree')} of {name}",
        "boosted": models[0].boosted,
    }


def _warn_of_seen_rows(model: Any, problem: Problem) -> None:
    """Warn that a fitted model may have chosen its splits by rows that validate it here."""
    whole = problem.splits[0].train.n_rows == problem.table.n_rows
    if isinstance(model, str) or not is_fitted(model) or (len(problem.splits) == 1 and whole):
        return
    warn_input(
        "model is fitted, and without X_valid the rows that validate may be among those that chose "
        "its splits, so the score looks better than it is: pass a validation table, or the model "
        "unfitted"
    )
