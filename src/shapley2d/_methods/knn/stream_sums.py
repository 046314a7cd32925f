"""Sums over chunks of validation rows that have column coalitions of their own: means and two kinds of variance.

Chunks differ because their validation rows and their coalitions do; the jackknife within a chunk
sees the coalitions alone. With the share f of all validation rows seen, the variance of the mean is
``(1 - f)`` times that of chunks that differ, plus ``f`` times that of coalitions: at the end there
are no other validation rows. The same holds later, where some rows were used once more than others,
with what these rows weigh.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.in_threads import map_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.columns.chunk_design import ChunkDesign, ChunkLines
    from shapley2d._theory.sums import BlockSums

    Floats = NDArray[np.float64]

LEAST_RESPONSE = 0.5
"""A response whose smallest singular value is less comes from too few coalitions to be inverted."""

_ALIKE = 1.15
"""Squared errors by coalitions are larger than what a jackknife sees by what all chunks get wrong alike.

Measured on tables of 8 to 14 columns with 8 to 16 coalitions to a column: a tenth to an eighth of
them.
"""


class StreamSums:
    """Means over the chunks of one split, and how far off they can be.

    Parameters
    ----------
    n_valid : int
        Validation rows that there are.
    shape : (int, int)
        Rows and columns.
    sums : BlockSums, optional
        Further sums of the cells, whose joint errors are kept too.
    efficient : bool
        Whether coalitions change nothing in the sum of a row.
    """

    def __init__(
        self,
        n_valid: int,
        shape: tuple[int, int],
        sums: BlockSums | None = None,
        *,
        efficient: bool = True,
    ) -> None:
        n, m = shape
        self._n_valid, self._further, self._efficient = n_valid, sums, efficient
        count = 0 if sums is None else len(sums)
        # One line per column. Variances are in single precision, which is far finer than they are
        # known.
        self._mean = np.zeros((m, n))
        self._between = np.zeros((m, n), dtype=np.float32)
        self._within = np.zeros((m, n), dtype=np.float32)
        self._rows = np.zeros((3, n))
        self._columns = np.zeros((3, m))
        self._total = np.zeros(3)
        self._further_mean = np.zeros(count)
        self._further_between, self._further_within = (
            np.zeros((count, count)),
            np.zeros((count, count)),
        )
        self._response = np.zeros((m, m))
        self._counts = np.zeros(3)  # validation rows, chunks, squares behind the variances within

    @property
    def chunks(self) -> int:
        """Chunks that were added."""
        return int(self._counts[1])

    @property
    def used(self) -> int:
        """Validation rows that were used."""
        return int(min(self._counts[0], self._n_valid))

    @property
    def _open(self) -> float:
        """What part of the variance between chunks counts: none of it once all rows were used equally often."""
        partial = float(self._counts[0]) % self._n_valid
        return partial * (1 - partial / self._n_valid) / max(float(self._counts[0]), 1.0)

    def add(self, lines: ChunkLines, design: ChunkDesign, size: int) -> None:
        """Add what a chunk of so many validation rows has given."""
        m = len(self._mean)
        before = self._counts[0]
        self._counts += (size, 1, max(design.left_out, 1))
        step, jump = size / self._counts[0], size * before / self._counts[0]
        values, changes, probes = lines.values, lines.changes, lines.probes
        jackknife = size**2 * (1 - design.share)
        expected = size**2 * design.share * design.expected
        scale = np.square(probes).sum(axis=0)

        def add_column(j: int) -> tuple[float, Floats]:
            off = values[j] - self._mean[j]
            self._mean[j] += step * off
            self._between[j] += (jump * off) * off
            squares, of_column = lines.squared(j)
            self._within[j] += jackknife * squares + expected[j] * scale
            return float(off.sum()), of_column

        of_columns = map_columns(add_column, range(m), self._mean.shape[1])
        off_columns = np.array([off for off, _ in of_columns])
        change_columns = np.array([change for _, change in of_columns]).T
        _update(self._rows, values.sum(axis=0), step, jump)
        _update(self._columns, self._columns[0] + off_columns, step, jump)
        _update(self._total, self._total[0] + off_columns.sum(), step, jump)
        if not self._efficient:
            assert changes is not None
            change_rows = changes.sum(axis=1)
            self._rows[2] += size**2 * np.square(change_rows).sum(axis=0)
            self._total[2] += size**2 * np.square(change_rows.sum(axis=1)).sum()
        whole = np.square(probes.sum(axis=1)).sum()
        self._columns[2] += jackknife * np.square(change_columns).sum(axis=0) + expected * whole
        self._response += step * (design.response - self._response)
        if self._further is not None:
            assert changes is not None
            self._add_further(values, changes, probes, design, (step, jump, size))

    def _add_further(
        self,
        values: Floats,
        changes: Floats,
        probes: Floats,
        design: ChunkDesign,
        sizes: tuple[float, float, int],
    ) -> None:
        assert self._further is not None
        step, jump, size = sizes
        off = self._further.of(values.T) - self._further_mean
        self._further_mean += step * off
        self._further_between += jump * np.outer(off, off)
        for change in changes:
            of_sums = self._further.of(change.T)
            self._further_within += size**2 * (1 - design.share) * np.outer(of_sums, of_sums)
        if design.share > 0 and design.probes:
            by_column = np.matmul(
                self._further.by_row_group(probes.T).T,
                self._further.weights[:, :, self._further.columns],
            )
            m = by_column.shape[2]
            if self._efficient and m > 1:  # the errors of a row sum to 0
                by_column = (by_column - by_column.mean(axis=2, keepdims=True)) * math.sqrt(
                    m / (m - 1)
                )
            lines = (by_column * np.sqrt(design.expected)).reshape(len(by_column), -1)
            self._further_within += size**2 * design.share * lines @ lines.T

    def state(self) -> list[Floats]:
        """Everything that was added up, as arrays that can be written to a file."""
        return [array.astype(np.float64, copy=False) for array in self._arrays()]

    def restore(self, state: list[Floats]) -> None:
        """Go on from such arrays."""
        for array, saved in zip(self._arrays(), state, strict=True):
            array[...] = saved.reshape(array.shape)

    def _arrays(self) -> list[NDArray[np.floating]]:
        return [
            self._mean, self._between, self._within, self._rows, self._columns, self._total,
            self._further_mean, self._further_between, self._further_within, self._response, self._counts,
        ]  # fmt: skip

    def mean(self) -> Floats:
        """The values: means over the chunks, without what they lean by in all chunks alike."""
        inverse = self._inverse_response()
        return np.ascontiguousarray((self._mean if inverse is None else inverse @ self._mean).T)

    def variance(self, part: int) -> Floats:
        """Variance of the mean: of the cells (0), the row sums (1), the column sums (2) or the sum of all (3)."""
        between, within = (
            (self._between.T, self._within.T), self._rows[1:], self._columns[1:], self._total[1:],
        )[part]  # fmt: skip
        return np.asarray(self._mixed(between, within), dtype=np.float64)

    def covariance(self) -> Floats:
        """Covariance of the errors of the further sums."""
        return np.asarray(self._mixed(self._further_between, self._further_within))

    @property
    def dof(self) -> float:
        """Degrees of freedom behind the variances, those of both kinds as they weigh."""
        factors = self._factors()
        parts = (factors[0] * float(self._between.mean()), factors[1] * float(self._within.mean()))
        freedom = (max(self._counts[1] - 1, 1), max(self._counts[2], 1))
        spread = sum(part**2 / own for part, own in zip(parts, freedom, strict=True))
        return sum(parts) ** 2 / spread if spread > 0 else math.inf

    def parts(self) -> tuple[float, float]:
        """The largest variances of a chunk: by its validation rows and coalitions, and by its coalitions alone."""
        chunks = max(self.chunks, 2)
        between = float(self._between.max(initial=0.0)) / self._counts[0] * chunks / (chunks - 1)
        return between, float(self._within.max(initial=0.0)) / self._counts[0] ** 2 * chunks

    def _factors(self) -> tuple[float, float]:
        seen, chunks = self._counts[:2]
        lean = self._inverse_response()
        # a lean that is taken out takes errors with it
        square = 1.0 if lean is None else max(float(np.trace(lean)) / len(lean), 1.0) ** 2
        between = self._open / (seen * (chunks - 1)) if chunks > 1 else 0.0
        return square * between, _ALIKE * square * (1 - self._open) / max(seen, 1.0) ** 2

    def _mixed(
        self, between: NDArray[np.floating], within: NDArray[np.floating]
    ) -> NDArray[np.floating]:
        factors = self._factors()
        return np.asarray(factors[0] * between + factors[1] * within)

    def _inverse_response(self) -> Floats | None:
        if np.linalg.svd(self._response, compute_uv=False).min(initial=1.0) < LEAST_RESPONSE:
            return None
        return np.asarray(np.linalg.inv(self._response), dtype=np.float64)


def _update(moments: Floats, values: Floats, step: float, jump: float) -> None:
    """Mean and squared differences from it, with one more chunk."""
    off = values - moments[0]
    moments[0] += step * off
    moments[1] += jump * off * off
