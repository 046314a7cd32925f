"""Scores that the sweeps compute themselves, and their baseline.

They are means over validation rows by their weights: the share of right answers, and R squared. The
baseline is the score of the best constant prediction of the rows, for chains of coalitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._models.constant import most_frequent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.problem import Split


def r_squared(errors: Floats, spread: float) -> Floats:
    """R squared of sums of squared errors; ``spread`` is that of predicting the mean."""
    if spread > 0:
        return 1.0 - errors / spread
    return np.where(errors == 0.0, 1.0, 0.0)  # constant targets, as scikit-learn scores them


class ConstantBaseline:
    """Scores of the best constant predictions, and which coalitions can do no better.

    See :mod:`shapley2d._models.constant` for the best constant. ``nothing`` is the score of a guess
    that knows no rows: every class is as likely as any other, a number is the mean of all targets.
    """

    def __init__(self, split: Split, train: Floats) -> None:
        self._train, self._codes = train, split.y.codes
        self._weights, self._valid = split.weights, split.y_valid.codes
        self._n_classes = split.y.classes.size
        if self._n_classes:
            known = self._valid >= 0
            worth = np.bincount(self._valid[known], self._weights[known], self._n_classes)
            self._worth = worth / self._weights.sum()
            self.nothing = float(self._worth.mean())
        else:
            self.nothing = float(self._of_means(np.array([self._codes.mean()]))[0])

    def of_prefixes(self, order: Ints, sizes: Ints) -> Floats:
        """Scores of the best constants of the first ``sizes`` rows in an order."""
        if not self._n_classes:
            return self._of_means(np.cumsum(self._codes[order])[sizes - 1] / sizes)
        counts = np.zeros((order.size, self._n_classes), dtype=np.int64)
        counts[np.arange(order.size), self._codes[order]] = 1
        most = most_frequent(np.cumsum(counts, axis=0)[sizes - 1])
        return np.asarray(most @ self._worth / most.sum(axis=1))

    def teaches(self, order: Ints, sizes: Ints, columns: Ints, ends: Ints) -> Bools:
        """Which prefixes of rows teach anything under which prefixes of encoded columns.

        They have several classes, and a column that is not the same in all rows.
        """
        seen = self._train[np.ix_(order, columns)]
        # rows before the first that differs
        same = np.logical_and.accumulate(seen == seen[0], axis=0).sum(axis=0)
        varies = sizes[:, None] > np.minimum.accumulate(same)[ends - 1]
        if self._n_classes:
            codes = self._codes[order]
            varies &= (sizes > np.logical_and.accumulate(codes == codes[0]).sum())[:, None]
        return np.asarray(varies)

    def _of_means(self, means: Floats) -> Floats:
        middle = np.average(self._valid, weights=self._weights)
        spread = float(self._weights @ (self._valid - middle) ** 2)
        if spread > 0:
            return np.asarray(-self._weights.sum() * (means - middle) ** 2 / spread)
        # constant targets, as scikit-learn scores them
        return np.where(means == self._valid[0], 1.0, 0.0)


def varying_members(train: Floats, members: Sequence[Ints]) -> tuple[Ints, ...]:
    """The encoded columns of every player; none where they are the same in all rows."""
    varies = (train != train[0]).any(axis=0)
    return tuple(owned if varies[owned].any() else owned[:0] for owned in members)
