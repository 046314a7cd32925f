"""Sums over chunks of validation rows, and how much the chunks differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._theory.sums import BlockSums


class ChunkSums:
    """Sums over chunks of validation rows, and how much the chunks differ.

    Parameters
    ----------
    n_valid : float
        Validation rows that there are.
    shape : (int, int)
        Of the table.
    sums : BlockSums, optional
        Further sums of the cells, whose joint errors are kept too.
    """

    def __init__(
        self, n_valid: float, shape: tuple[int, int], sums: BlockSums | None = None
    ) -> None:
        self._further = sums
        count = 0 if sums is None else len(sums)
        self._further_sums, self._products = np.zeros(count), np.zeros((count, count))
        self._n_valid = n_valid
        self._seen = 0
        self.chunks = 0
        n, m = shape
        self._sums = [np.zeros((n, m)), np.zeros(n), np.zeros(m), np.zeros(())]
        self._squares = [np.zeros((n, m)), np.zeros(n), np.zeros(m), np.zeros(())]

    def add(self, mean: NDArray[np.float64], size: int) -> None:
        self._seen += size
        self.chunks += 1
        for part, total, squares in zip(
            (mean, mean.sum(axis=1), mean.sum(axis=0), mean.sum()),
            self._sums,
            self._squares,
            strict=True,
        ):
            np.add(total, size * part, out=total)
            np.add(squares, size * part**2, out=squares)
        if self._further is not None:
            further = self._further.of(mean)
            self._further_sums += size * further
            self._products += size * np.outer(further, further)

    def state(self) -> NDArray[np.float64]:
        """Everything that was added up, as one list of numbers."""
        parts = [*self._sums, *self._squares, self._further_sums, self._products]
        return np.concatenate([[self._seen, self.chunks], *(part.ravel() for part in parts)])

    def restore(self, state: NDArray[np.float64]) -> None:
        """Go on from such a list."""
        if not (0 <= state[1] <= state[0] <= self._n_valid):
            raise InputError(
                Setting("checkpoint"), " does not fit this run: delete the file to start again"
            )
        self._seen, self.chunks = int(state[0]), int(state[1])
        start = 2
        for part in (*self._sums, *self._squares, self._further_sums, self._products):
            part[...] = state[start : start + part.size].reshape(part.shape)
            start += part.size

    def mean(self) -> NDArray[np.float64]:
        return self._sums[0] / self._seen

    def variance(self, part: int) -> NDArray[np.float64]:
        """Variance of the mean over the rows seen, as an estimate of the mean over all; 0 when all are seen.

        Of the cells (0), the row sums (1), the column sums (2) or the sum of all (3).
        """
        if self._seen == self._n_valid:
            return np.zeros_like(self._sums[part])
        mean = self._sums[part] / self._seen
        between = np.maximum(self._squares[part] / self._seen - mean**2, 0.0)
        return np.asarray(between / (self.chunks - 1) * (1 - self._seen / self._n_valid))

    def covariance(self) -> NDArray[np.float64]:
        """Covariance of the errors of the further sums, as :meth:`variance`."""
        if self._seen == self._n_valid:
            return np.zeros_like(self._products)
        mean = self._further_sums / self._seen
        between = self._products / self._seen - np.outer(mean, mean)
        return np.asarray(between / (self.chunks - 1) * (1 - self._seen / self._n_valid))
