"""A semivalue of the columns in odd and even parts, as the estimators need it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.columns.design import LEAST_SHARE, pair_counts
from shapley2d._knn.columns.kernel import RandomGames
from shapley2d._theory.semivalues import size_probabilities

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._theory.semivalues import Semivalue


_COUNTLESS = 10**300  # pairs: more than float64 can count


class ColumnSemivalue:
    """A semivalue of ``n_columns`` players, as the estimators need it.

    ``joins`` (m,): ``q(s)``, the probability that a player joins a coalition of ``s`` others.
    ``ends``: weights of ``phi({})`` and ``phi(everything)`` in the value of every column.
    ``symmetric``: whether the odd part decides alone.
    ``efficient``: whether the values sum to ``phi(everything) - phi({})``.

    >>> target = ColumnSemivalue(4, "shapley")
    >>> target.ends, target.symmetric
    ((-0.25, 0.25), True)
    """

    def __init__(self, n_columns: int, semivalue: Semivalue) -> None:
        m = self.n_columns = n_columns
        self.joins = size_probabilities(semivalue, m)
        before, after = np.append(0.0, self.joins), np.append(self.joins, 0.0)  # q(s-1), q(s)
        size = np.arange(m + 1)
        slope, level = before * (m - size) / m + after * size / m, before - after
        self.ends = (float(level[0]), float(level[m]))
        self.symmetric = bool(np.allclose(self.joins, self.joins[::-1], rtol=1e-9, atol=0))
        self.efficient = semivalue == "shapley"
        if self.efficient:
            level[1:m] = 0.0
        # Both halves of a pair count, folded onto the smaller one; the middle size is its own
        # mirror image.
        half = size[: m // 2 + 1]
        twice = np.where(2 * half == m, 1.0, 2.0)
        self.counts = np.array(
            [min(count, _COUNTLESS) for count in pair_counts(m)], dtype=np.float64
        )
        self.odd_slope = twice * (slope + slope[::-1])[half] / 2
        self.odd_level = twice * (level - level[::-1])[half] / 2
        self.even_slope = twice * (slope - slope[::-1])[half] / 2
        self.even_level = twice * (level + level[::-1])[half] / 2
        for ends_apart in (self.odd_slope, self.odd_level, self.even_slope, self.even_level):
            ends_apart[0] = 0.0

    @cached_property
    def odd_games(self) -> RandomGames:
        """The odd kernel of estimator B with its semivalues, made once for all chunks of a run."""
        return RandomGames(self.joins, odd=True)

    @cached_property
    def even_games(self) -> RandomGames:
        """The even one."""
        return RandomGames(self.joins, odd=False)

    def counted(self, *, odd: bool) -> tuple[Floats, Floats]:
        """Slope and level of every size in one of the parts."""
        return (self.odd_slope, self.odd_level) if odd else (self.even_slope, self.even_level)

    @property
    def shares(self) -> Floats:
        """Relative numbers of pairs to sample of each size: what it counts, times how it varies.

        That is the least variance for the work (Neyman), with the kernel's amplitude for how much
        the pairs of a size differ.
        """
        shares = self.odd_slope * self.odd_games.amplitude[: len(self.odd_slope)]
        return np.asarray(np.maximum(shares / shares.max(initial=1e-300), LEAST_SHARE))

    def exact_weights(self, coalitions: Bools) -> list[Floats]:
        """Weights (m, pairs) of the parts with which all pairs give the exact semivalue."""
        m, size = self.n_columns, coalitions.sum(axis=1)
        contrast = (coalitions.T - size / m) * (m**2 / (size * (m - size)))
        odd = (self.odd_slope[size] * contrast + self.odd_level[size]) / self.counts[size]
        if self.symmetric:
            return [odd]
        return [odd, (self.even_slope[size] * contrast + self.even_level[size]) / self.counts[size]]
