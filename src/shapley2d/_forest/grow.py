"""Forests grown where no model is given: numbered trees, each of them one Monte Carlo draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from shapley2d._base.streams import generator
from shapley2d._forest.ensemble import encoded_matrices
from shapley2d._forest.fitted import FittedTrees, Rows, Trees
from shapley2d._forest.fixed import split_game
from shapley2d._forest.losses import RightProbability, SquaredError
from shapley2d._forest.own_score import loss_of_constant, unit_of
from shapley2d._forest.read_sklearn import read_tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapley2d._base.arrays import Floats
    from shapley2d._forest.losses import Loss
    from shapley2d._forest.trees import SplitTree
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split

DEPTH, LEAF_ROWS = 6, 5
"""Splits on a path at most, and rows of a leaf at least.

``benchmarks/forest_shape.py`` compares others: on 5 tables with wrong labels and cells, depths of 4
to 10 and leaves of 1 to 10 rows differ by little more than chance, and deeper trees take longer.
"""


GROVE = 4
"""Trees of a draw."""


class TreeDraws:
    """Values of the cells of a split under numbered groves of trees.

    A tree depends on its number alone: it is grown on a bootstrap sample of the training rows, and
    every split chooses among as many random features as the root of their number. Its leaves are
    the means of all training rows in them.

    A squared error has slopes that depend on the prediction. Those of a tree are taken from the
    other trees of its grove, so that a draw is unbiased: its expectation is the value under the
    mean of infinitely many trees.
    """

    def __init__(self, split: Split, seed: int, problem: Problem, run: Run) -> None:
        self._matrix, features = encoded_matrices(split)
        self._seed = seed
        self._grown: dict[int, SplitTree] = {}
        self.game = split_game(features, problem, run)
        weights = split.weights / split.weights.sum()
        self.rows = Rows(features, split.y.codes, split.y_valid.codes, weights)
        self._classifies = split.y.task == "classification"
        self.loss: Loss = RightProbability() if self._classifies else SquaredError()
        self._start = np.zeros(max(split.y.classes.size, 1))
        if not self._classifies:
            self._start = self.loss.best_constant(split.y.codes, np.ones(split.y.codes.size), 1)
        self.unit = unit_of(problem, self.loss, [self.rows])

    def __call__(self, number: int) -> Floats:
        values, held = self.game.empty(), self.held(range(number * GROVE, (number + 1) * GROVE))
        for leaves in held.games(masses=None if self._classifies else _masses_by_others(held)):
            self.game.add_values(leaves, values)
        return self.game.counted(values, 0.0)

    def held(self, numbers: Iterable[int]) -> FittedTrees:
        """The forest of some of the trees."""
        trees = [self._tree(number) for number in numbers]
        rounds = [list(range(len(trees)))]
        model = Trees(trees, [], [0] * len(trees), rounds, self.loss, start=self._start)
        return FittedTrees(model, self.rows, self.unit)

    def baseline(self) -> float:
        """The score of all rows without any column."""
        return self.unit.score(loss_of_constant(self.loss, self.rows))

    def blind(self) -> float:
        """The score without any rows."""
        raw = np.broadcast_to(self._start, (self.rows.y_valid.size, self._start.size))
        return self.unit.score(float(self.rows.weights @ self.loss.each(self.rows.y_valid, raw)))

    def _tree(self, number: int) -> SplitTree:
        """Tree ``number``; kept, since it may be needed again."""
        if number not in self._grown:
            self._grown[number] = self._grow(number)
        return self._grown[number]

    def _grow(self, number: int) -> SplitTree:
        random = generator(self._seed, "draw", number)
        n = self.rows.y.size
        counts = np.bincount(random.integers(n, size=n), minlength=n).astype(np.float64)
        kind = DecisionTreeClassifier if self._classifies else DecisionTreeRegressor
        estimator = kind(
            max_depth=DEPTH,
            min_samples_leaf=LEAF_ROWS,
            max_features="sqrt",
            random_state=int(random.integers(2**31)),
        )
        return read_tree(estimator.fit(self._matrix, self.rows.y, sample_weight=counts))


def _masses_by_others(held: FittedTrees) -> list[Floats]:
    """Sums of slopes in the leaves of every tree of a grove, by the mean of the others."""
    rows, model, found = held.rows, held.model, []
    factor = held.unit.factor * rows.weights[:, None]
    for t, (leaf, at) in enumerate(zip(held.leaves, held.places, strict=True)):
        others = model.start + (held.predicted - model.start - leaf[at]) * GROVE / (GROVE - 1)
        slopes = factor * model.loss.slopes(rows.y_valid, model.start, others)
        found.append(held.mass(t, slopes))
    return found
