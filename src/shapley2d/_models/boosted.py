"""The game of the built-in boosted trees: what a coalition's cells teach them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._models.cell_game import CellGame
from shapley2d._models.sweeps import number_targets
from shapley2d._trees.boosting import Boosting
from shapley2d._trees.scores import row_scores

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
        self._boosting = Boosting.coded(split.train, split.y, split.valid)
        self._y_valid, self._weights = split.y_valid, split.weights
        # balanced accuracy is accuracy with other weights
        self._score = "accuracy" if scoring == "balanced_accuracy" else scoring or "probability"
        self._middle = 0.0
        if not self._classifies:
            number_targets(split)  # refuses a single validation row
            self._score = "r2"
            self._middle = float(np.average(split.y_valid.codes, weights=split.weights))

    def _utility(self, rows: Bools, columns: Bools) -> float:
        predictions = self._boosting.predict(columns[:, None] & rows)
        return math.nan if predictions is None else self._scored(predictions)

    def _of_labels(self, predicted: Floats) -> Floats:
        return np.array([self._scored(line[:, None]) for line in predicted])

    def _scored(self, predictions: Floats) -> float:
        y, weights = self._y_valid, self._weights
        predictions = np.broadcast_to(predictions, (len(predictions), y.codes.size))
        scores = row_scores(predictions, y, self._score, prior=self._middle, weights=weights)
        return float(np.average(scores, weights=weights))
