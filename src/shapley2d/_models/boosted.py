"""The game of the built-in boosted trees: what a coalition's cells teach them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._models.cell_game import CellGame
from shapley2d._models.scores import Score
from shapley2d._models.sweeps import number_targets
from shapley2d._trees.boosting import Boosting

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._tables.problem import Split


class BoostingGame(CellGame):
    """The score of :class:`~shapley2d._trees.boosting.Boosting` on a validation table.

    ``scoring`` None is the mean probability of the right label, or R squared.

    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[k] for k in range(20)], [0] * 10 + [1] * 10
    >>> game = BoostingGame(make_problem(X, y, X, y).splits[0])
    >>> rows, columns = np.array([[True] * 20]), np.array([[False], [True]])
    >>> game.utilities(rows, columns).round(1).tolist()
    [[0.5, 1.0]]
    """

    def __init__(self, split: Split, *, scoring: str | None = None) -> None:
        super().__init__(split)
        self._judge = Boosting.coded(split.train, split.y, split.valid)
        if not self._classifies:
            number_targets(split)  # refuses a single validation row
            scoring = "r2"
        elif scoring == "balanced_accuracy":  # accuracy with other weights
            scoring = "accuracy"
        self._score = Score(scoring or "probability", split)

    def _utility(self, rows: Bools, columns: Bools) -> float:
        predictions = self._judge.predict(columns[:, None] & rows)
        return math.nan if predictions is None else self._score(predictions)

    def _of_labels(self, predicted: Floats) -> Floats:
        every = np.ones(self._score.weights.size)
        return np.array([self._score(line[:, None] * every) for line in predicted])
