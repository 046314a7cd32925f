"""What the sweeps count from: the best constant prediction of the rows at hand, for whole chains of coalitions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._games.constant import most_frequent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._games.sweeps.scoring import ClassScore
    from shapley2d._tables.problem import Split


class ConstantBaseline:
    """Scores of the best constant predictions, and the coalitions that have nothing else to go by.

    Parameters
    ----------
    split : Split
    train : ndarray of shape (n, width)
        The encoded training table.
    score : ClassScore or None
        Of a classification; R squared without it.
    from_zero : bool
        Whether no rows and no columns are worth 0 nevertheless; the constants then only serve rows
        that are all alike.

    Attributes
    ----------
    nothing : float
        Of a guess that knows no rows: every class is as likely as any other, a number is the mean
        of all targets.

    Notes
    -----
    See :mod:`shapley2d._games.constant` for what a best constant is.
    """

    def __init__(
        self, split: Split, train: NDArray[np.float64], score: ClassScore | None, *, from_zero: bool
    ) -> None:
        self._train = train
        self._codes = split.y.codes
        self._score = score
        self.from_zero = from_zero
        if score is not None:
            alike = np.ones((1, split.y.classes.size))
            self.nothing = float(score.of_constants(alike > 0, alike / alike.sum())[0])
        else:
            self._valid = np.asarray(split.y_valid.codes, dtype=np.float64)
            self.nothing = float(self._of_means(np.array([self._codes.mean()]))[0])
        if from_zero:
            self.nothing = 0.0

    def of_prefixes(self, order: NDArray[np.intp], sizes: NDArray[np.intp]) -> NDArray[np.float64]:
        """Scores of the best constants of the first ``sizes`` rows in an order."""
        if self._score is None:
            return self._of_means(np.cumsum(self._codes[order])[sizes - 1] / sizes)
        counts = np.zeros((order.size, self._score.shares.size), dtype=np.int64)
        counts[np.arange(order.size), self._codes[order]] = 1
        counts = np.cumsum(counts, axis=0)[sizes - 1]
        return self._score.of_constants(most_frequent(counts), counts / sizes[:, None])

    def teaches(
        self,
        order: NDArray[np.intp],
        sizes: NDArray[np.intp],
        columns: NDArray[np.intp],
        ends: NDArray[np.intp],
    ) -> NDArray[np.bool_]:
        """Which prefixes of rows under which prefixes of encoded columns have anything to learn from.

        They have several classes, and a column that is not the same in all rows.
        """
        seen = self._train[np.ix_(order, columns)]
        same = np.logical_and.accumulate(seen == seen[0], axis=0).sum(
            axis=0
        )  # rows before the first that differs
        varies = sizes[:, None] > np.minimum.accumulate(same)[ends - 1]
        if self._score is not None:
            codes = self._codes[order]
            varies &= (sizes > np.logical_and.accumulate(codes == codes[0]).sum())[:, None]
        return np.asarray(varies)

    def _of_means(self, means: NDArray[np.float64]) -> NDArray[np.float64]:
        off = self._valid - self._valid.mean()
        spread = float(np.sum(off**2))
        if spread > 0:
            return np.asarray(-self._valid.size * (means - self._valid.mean()) ** 2 / spread)
        return np.where(
            means == self._valid[0], 1.0, 0.0
        )  # constant targets, as scikit-learn scores them


def varying_members(
    train: NDArray[np.float64], members: Sequence[NDArray[np.intp]]
) -> tuple[NDArray[np.intp], ...]:
    """The encoded columns of every player, none where they are the same in all rows: such a player changes nothing."""
    varies = (train != train[0]).any(axis=0)
    return tuple(owned if varies[owned].any() else owned[:0] for owned in members)
