"""Sums over pieces of work: the values so far, and how far off they can be.

Pieces differ because their validation rows do, and, where subsets are sampled, because each has
subsets of its own; the error lines of a piece know of its subsets alone. With the share f of all
validation rows used, the variance of the mean is ``(1 - f)`` times that of pieces that differ, plus
``f`` times that of subsets: at the end there are no other validation rows. The same holds later,
where some rows were used once more than others, with what these rows weigh.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.in_threads import map_columns
from shapley2d._base.precision import interval_factor, with_unseen
from shapley2d._estimation.estimate import Estimate
from shapley2d._estimation.rounds import LEAST_PIECES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._knn.pieces import PieceResult
    from shapley2d._knn.strata import Stratum


class StratumSums:
    """Sums over the pieces of one stratum of validation rows.

    ``n_valid``: number of its validation rows.
    ``shape``: rows and lines: the columns, and the label where it is one.
    """

    def __init__(self, n_valid: int, shape: tuple[int, int]) -> None:
        n, m = shape
        self._n_valid = n_valid
        # One line per column. Variances are in single precision, which is far finer than they are
        # known, and in a unit whose square it can hold. ``between`` sums squared differences from
        # the mean, ``within`` the squared errors by subsets.
        self.arrays: dict[str, NDArray[np.floating]] = {
            "values": np.zeros((m, n)),
            "between": np.zeros((m, n), dtype=np.float32),
            "within": np.zeros((m, n), dtype=np.float32),
            "rows": np.zeros((3, n)),
            "columns": np.zeros((3, m)),
            "total": np.zeros((3, 1)),
            # validation rows, pieces, the unit of values, fourth powers of errors in it
            "counts": np.zeros(4),
        }

    @property
    def pieces(self) -> int:
        """Pieces that were added."""
        return int(self.arrays["counts"][1])

    @property
    def used(self) -> int:
        """Validation rows that were used."""
        return int(min(self.arrays["counts"][0], self._n_valid))

    @property
    def independent(self) -> float:
        """Independent parts that errors are estimated from: pieces; infinite where all are in."""
        return math.inf if self.used == self._n_valid else self.pieces

    @property
    def counts_fit(self) -> bool:
        """Whether this many pieces can have had this many validation rows."""
        seen, pieces, *_ = self.arrays["counts"].tolist()
        return bool(0 <= pieces <= seen <= pieces * self._n_valid)

    def add(self, result: PieceResult) -> None:
        """Add what a piece has given."""
        arrays, size = self.arrays, result.n_valid
        sums, between, within = arrays["values"], arrays["between"], arrays["within"]
        before = arrays["counts"][0]
        arrays["counts"][:2] += (size, 1)
        if not before:
            arrays["counts"][2] = _unit(result.values)
        seen, _, unit, _ = arrays["counts"].tolist()
        jump = size * before / seen

        def add_column(j: int) -> tuple[float, float]:
            values, errors = result.values[j], result.errors[:, j]
            if before:
                off = (values - sums[j] / before) / unit
                between[j] += (jump * off) * off
            sums[j] += size * values
            squares = np.square(errors).sum(axis=0) * (size / unit) ** 2
            within[j] += squares
            return float(np.square(errors.sum(axis=1)).sum()), float(squares @ squares)

        found = map_columns(add_column, range(len(sums)), sums.shape[1])
        # for the degrees of freedom: errors of cells may come from few pieces
        fourth = sum(fourth for _, fourth in found) / sums.size
        arrays["counts"][3] += fourth / (result.dof + 2)
        _add_moments(arrays["rows"], result.values.sum(axis=0), size, jump, seen)
        _add_moments(arrays["columns"], result.values.sum(axis=1), size, jump, seen)
        _add_moments(arrays["total"], result.values.sum(), size, jump, seen)
        arrays["rows"][2] += size**2 * np.square(result.errors.sum(axis=1)).sum(axis=0)
        arrays["columns"][2] += size**2 * np.array([of_column for of_column, _ in found])
        arrays["total"][2] += size**2 * np.square(result.errors.sum(axis=(1, 2))).sum()

    def mean(self) -> Floats:
        """The values: means over the pieces."""
        return np.ascontiguousarray((self.arrays["values"] / self.arrays["counts"][0]).T)

    def variance(self, part: str) -> Floats:
        """Variances of ``"values"``, or of sums: ``"rows"``, ``"columns"`` or the ``"total"``."""
        arrays = self.arrays
        if part == "values":
            squares = with_unseen(arrays["between"].T, self.pieces)
            variance = self._mixed(squares, arrays["within"].T)
            variance *= arrays["counts"][2] ** 2
            return variance
        _, between, within = arrays[part]
        more = with_unseen(between, self.pieces, alike=part == "rows")
        if part == "total":  # the one total may not have varied yet: as if columns were independent
            columns = arrays["columns"][1]
            more = between + (with_unseen(columns, self.pieces, alike=False) - columns).sum()
        return self._mixed(more, within)

    def mean_variances(self, part: str) -> list[tuple[float, float]]:
        """Mean variances, by validation rows and by subsets, with their degrees of freedom."""
        arrays = self.arrays
        of_values = (arrays["between"], arrays["within"])
        between, within = of_values if part == "values" else arrays[part][1:]
        square = arrays["counts"][2] ** 2 if part == "values" else 1.0
        factors = self._factors()
        return [
            (square * factors[0] * float(between.mean()), self._between_dof),
            (square * factors[1] * float(within.mean()), self._within_dof),
        ]

    @property
    def _between_dof(self) -> float:
        """Degrees of freedom of the validation-row error: (chunks - 1) times the unused share.

        Once most rows are used the error is that of the few others, and no nearer to normal than
        a sum of so few. With the degrees of freedom of all pieces, intervals of three regressions
        with folds held 0.91 to 0.92 of the sums of rows where more than half of the rows were used.
        """
        unused = 1.0 - float(self.arrays["counts"][0]) % self._n_valid / self._n_valid
        return max((self.pieces - 1) * unused, 1.0)

    @property
    def _within_dof(self) -> float:
        """Degrees of freedom of the subset error (Satterthwaite 1946), often that of few chunks."""
        fourth = float(self.arrays["counts"][3])
        if fourth == 0:
            return math.inf
        square = float(np.square(self.arrays["within"], dtype=np.float64).mean())
        return max(square / fourth - 2, 1.0)

    def _factors(self) -> tuple[float, float]:
        """What ``between`` and ``within`` are multiplied by to be variances of the mean."""
        seen, pieces, *_ = self.arrays["counts"]
        # rows of an unfinished pass: none once all rows were used equally often
        partial = float(seen) % self._n_valid
        still_open = partial * (1 - partial / self._n_valid) / max(float(seen), 1.0)
        between = still_open / (seen * (pieces - 1)) if pieces > 1 else 0.0
        return between, (1 - still_open) / max(seen, 1.0) ** 2

    def _mixed(self, between: NDArray[np.floating], within: NDArray[np.floating]) -> Floats:
        factors = self._factors()
        return np.asarray(factors[0] * between + factors[1] * within, dtype=np.float64)


def _unit(values: Floats) -> float:
    """A power of two about as large as the largest of some values, 1 where all are 0.

    >>> _unit(np.array([3.0, -5.0])), _unit(np.zeros(2))
    (8.0, 1.0)
    """
    largest = float(np.abs(values).max(initial=0.0))
    return math.ldexp(1.0, math.frexp(largest)[1]) if largest > 0 else 1.0


def _add_moments(
    moments: NDArray[np.floating], values: Floats | float, size: int, jump: float, seen: float
) -> None:
    """Update a mean, and squared differences from it, by one more piece."""
    off = values - moments[0]
    moments[0] += size / seen * off
    moments[1] += jump * off * off


class TableSums:
    """Sums over the pieces of all strata, as one estimate of the whole table.

    ``rows``: the rows of the table that are in each split; a row has 0 in the others.
    ``shape``: of the values.
    """

    def __init__(
        self,
        kinds: Sequence[Stratum],
        rows: Sequence[Ints],
        shape: tuple[int, int],
    ) -> None:
        self._kinds, self._rows, self._shape = kinds, rows, shape
        self.strata = [
            StratumSums(kind.rows.size, (rows[kind.split].size, shape[1])) for kind in kinds
        ]

    @property
    def pieces(self) -> int:
        """Pieces that were added."""
        return sum(stratum.pieces for stratum in self.strata)

    @property
    def has_error(self) -> bool:
        """Whether it is known how far off the values are: by enough pieces, or all are in.

        By two pieces of one validation row each, intervals of sums of rows held 0.85. Pieces of all
        splits count, as a value is their mean.
        """
        parts = [math.inf] * len(self._rows)
        for kind, stratum in zip(self._kinds, self.strata, strict=True):
            parts[kind.split] = min(parts[kind.split], stratum.independent)
        return min(parts) > 1 and sum(parts) >= LEAST_PIECES

    @property
    def used(self) -> int:
        """Validation rows that were used."""
        return sum(stratum.used for stratum in self.strata)

    def dof(self, part: str) -> float:
        """Degrees of freedom behind the variances of a part, of the split that has the fewest."""
        found = []
        for k in range(len(self._rows)):
            parts = [
                (kind.share**2 * variance, freedom)
                for sums, kind in zip(self.strata, self._kinds, strict=True)
                if kind.split == k
                for variance, freedom in sums.mean_variances(part)
            ]
            largest = max(variance for variance, _ in parts) or 1.0  # its square may be too large
            spread = sum((variance / largest) ** 2 / freedom for variance, freedom in parts)
            whole = sum(variance / largest for variance, _ in parts) ** 2
            found.append(whole / spread if spread > 0 else math.inf)
        return min(found)

    def _wider(self, part: str, dof: float) -> float:
        """Factor that widens errors of sums, which have fewer degrees of freedom than cells.

        A result has one number of them. Where all that is left open is which validation rows were
        drawn, sums have those of a few chunks, while subsets leave cells more of them.
        """
        return max(interval_factor(self.dof(part)) / interval_factor(dof), 1.0)

    @property
    def n_bytes(self) -> int:
        """Memory of all sums."""
        return sum(array.nbytes for stratum in self.strata for array in stratum.arrays.values())

    def state(self) -> dict[str, NDArray[np.floating]]:
        """The sums by name, those of all strata in one array: a file has few arrays."""
        found = {}
        for name, first in self.strata[0].arrays.items():
            found[name] = first
            if len(self.strata) > 1:
                found[name] = np.concatenate([one.arrays[name].ravel() for one in self.strata])
        return found

    def restore(self, state: Mapping[str, NDArray[np.floating]]) -> None:
        """Go on from such a state; a ValueError where it is of another table."""
        for name, own in self.state().items():
            if name not in state or state[name].size != own.size:
                raise ValueError(f"its sums {name!r} are not those of this table")
            sizes = [stratum.arrays[name].size for stratum in self.strata]
            saved = np.split(state[name].ravel(), np.cumsum(sizes)[:-1])
            for stratum, part in zip(self.strata, saved, strict=True):
                stratum.arrays[name][...] = part.reshape(stratum.arrays[name].shape)
        if not all(stratum.counts_fit for stratum in self.strata):
            raise ValueError("its counts of pieces and validation rows do not fit each other")

    def estimate(self) -> Estimate:
        """The values of the table with their errors: the mean over strata and splits."""
        n, dof = self._shape[0], self.dof("values")
        shares = [kind.share / len(self._rows) for kind in self._kinds]
        values, variance = np.zeros(self._shape), np.zeros(self._shape)
        row_variance, column_variance, total_variance = np.zeros(n), np.zeros(self._shape[1]), 0.0
        for one, kind, share in zip(self.strata, self._kinds, shares, strict=True):
            rows = self._rows[kind.split]
            own = slice(None) if np.array_equal(rows, np.arange(n)) else rows
            values[own] += one.mean() * share
            variance[own] += one.variance("values") * share**2
            row_variance[own] += one.variance("rows") * share**2
            column_variance += one.variance("columns") * share**2
            total_variance += float(one.variance("total")[0]) * share**2
        return Estimate(
            values,
            np.sqrt(variance, out=variance),
            np.sqrt(row_variance) * self._wider("rows", dof),
            np.sqrt(column_variance) * self._wider("columns", dof),
            total_stderr=math.sqrt(total_variance) * self._wider("total", dof),
            dof=dof,
        )
