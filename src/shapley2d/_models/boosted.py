"""The game of the built-in boosted trees: what a coalition's cells teach them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._models.sweeps.models import number_targets
from shapley2d._trees.boosting import Boosting
from shapley2d._trees.scores import row_scores

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._tables.problem import Split


class BoostingGame:
    """The score of :class:`~shapley2d._trees.boosting.Boosting` on a validation table.

    ``scoring`` None is the mean probability of the right label, or R squared. A coalition that
    teaches nothing scores as its rows' labels do: as their shares, or their mean; without rows, as
    a blind guess.

    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[k] for k in range(20)], [0] * 10 + [1] * 10
    >>> game = BoostingGame(make_problem(X, y, X, y).splits[0])
    >>> rows, columns = np.array([[True] * 20]), np.array([[False], [True]])
    >>> game.utilities(rows, columns).round(1).tolist()
    [[0.5, 1.0]]
    """

    compiled = True

    def __init__(
        self, split: Split, *, scoring: str | None = None, baseline: str = "labels"
    ) -> None:
        self.n_rows, self.n_columns = split.train.n_rows, split.train.n_columns
        self._boosting = Boosting.coded(split.train, split.y, split.valid)
        self._y, self._y_valid, self._weights = split.y, split.y_valid, split.weights
        self._from_labels = baseline == "labels"
        # balanced accuracy is accuracy with other weights
        self._score = "accuracy" if scoring == "balanced_accuracy" else scoring or "probability"
        self._middle = 0.0
        if split.y.task == "regression":
            number_targets(split)  # refuses a single validation row
            self._score = "r2"
            self._middle = float(np.average(split.y_valid.codes, weights=split.weights))

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities, one training for each pair of coalitions."""
        matrix = np.zeros((len(rows), len(columns)))
        for a, row_mask in enumerate(rows):
            alone = self._scored(self._by_labels(row_mask))
            for b, column_mask in enumerate(columns):
                predicted = self._boosting.predict(column_mask[:, None] & row_mask)
                if predicted is not None:
                    matrix[a, b] = self._scored(predicted)
                elif self._from_labels or (row_mask.any() and column_mask.any()):
                    matrix[a, b] = alone
        return matrix

    def _by_labels(self, row_mask: Bools) -> Floats:
        """What the labels of some rows predict for one validation row."""
        codes, n_classes = self._y.codes[row_mask], self._y.classes.size
        if not n_classes:
            return np.array([[codes.mean() if codes.size else self._y.codes.mean()]])
        counts = np.bincount(codes, minlength=n_classes) if codes.size else np.ones(n_classes)
        return np.asarray(counts / counts.sum())[:, None]

    def _scored(self, predictions: Floats) -> float:
        shape = len(predictions), self._y_valid.codes.size
        scores = row_scores(
            np.broadcast_to(predictions, shape),
            self._y_valid,
            self._score,
            prior=self._middle,
            weights=self._weights,
        )
        return float(np.average(scores, weights=self._weights))
