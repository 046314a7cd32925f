"""What column subsets count in the values of columns, of the label, and of the labels alone.

Values are weighted sums of phi(F), the row values under column subsets F. A *line* of weights gives
those of one column (or group of columns); the last line gives what the rows are worth by their
labels alone, phi of no columns.

With the label as one more column, phi(F + label) = phi(F), and without it nothing can be learned.
So the columns' values are a semivalue of the game without the label, times a factor
(:func:`~shapley2d._theory.semivalues.feature_semivalue`), and the label's is the mean of phi(F)
over the column subsets F that it meets, of size s with weight p(s; m + 1) each. For Shapley's value
it is what the columns leave of phi(everything).
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.kriging import Design, Kriging
from shapley2d._theory.axes import set_weights, subsets
from shapley2d._theory.semivalues import feature_semivalue, marginal_weights, size_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._theory.semivalues import Semivalue

_AT_ONCE = 1024  # of all subsets


class ColumnLines:
    """Lines for the players among the columns, the label if it is valued, and the labels alone.

    ``players`` (m,): of every column, the player that has it: itself, or a group of columns.
    ``varies`` (m,): whether its entries differ. A constant column moves all rows alike, so it
        changes no rank and no tie, and is worth exactly 0: it has no line, which makes its zeros
        exact where subsets are sampled too, and takes half of the subsets away.
    ``semivalue``: of all columns, with the label.

    ``used``: the columns that distances are made of. ``n_kept``: players with a line.

    >>> lines = ColumnLines(np.array([0, 1]), np.array([False, True]), "shapley", has_label=True)
    >>> lines.n_kept, lines.used
    (1, array([1]))
    >>> lines.of_all(np.array([[False], [True]]))
    array([[-0.5,  0.5],
           [ 0.5,  0.5],
           [ 1. ,  0. ]])
    """

    def __init__(
        self, players: Ints, varies: Bools, semivalue: Semivalue, *, has_label: bool
    ) -> None:
        kept = np.unique(players[varies])
        self.used = np.flatnonzero(np.isin(players, kept))
        self._of_used = np.searchsorted(kept, players[self.used])
        self.n_columns = int(players.max(initial=-1)) + 1 + has_label
        self._places = np.concatenate(
            [kept, np.arange(self.n_columns - has_label, self.n_columns + 1)]
        )
        self.n_kept, self._semivalue, self._has_label = len(kept), semivalue, has_label
        self._factor, self._own = feature_semivalue(semivalue) if has_label else (1.0, semivalue)

    def __len__(self) -> int:
        return len(self._places)

    def columns_of(self, coalitions: Bools) -> Bools:
        """Which of the used columns coalitions of players have."""
        return coalitions[:, self._of_used]

    def placed(self, lines: Floats) -> Floats:
        """Lines (..., lines, n) among those of all players; others are worth 0."""
        if len(self) == self.n_columns + 1:
            return lines
        wide = np.zeros((*lines.shape[:-2], self.n_columns + 1, lines.shape[-1]))
        wide[..., self._places, :] = lines
        return wide

    @cached_property
    def _kriging(self) -> Kriging:
        return Kriging(self.n_kept, self._own)

    def of_all(self, some: Bools) -> Floats:
        """Weights (lines, subsets) of row values where all subsets are evaluated."""
        size = some.sum(axis=1)
        columns = self._factor * set_weights(some, self._own)
        lines = [*columns.T, size == 0]
        if self._has_label:
            lines.insert(-1, marginal_weights(self._semivalue, self.n_kept + 1)[size])
        return np.array(lines, dtype=np.float64)

    def everything(self) -> Iterator[Design]:
        """All subsets, some at a time, with weights (1, lines, subsets)."""
        for start in range(0, 2**self.n_kept, _AT_ONCE):
            some = subsets(self.n_kept, start, start + _AT_ONCE)
            yield Design(some, self.of_all(some)[None], math.inf)

    def sample(self, n_subsets: int, random: np.random.Generator, error_lines: int) -> Design:
        """Some subsets, and weights (1 + error lines, lines, subsets) of their row values."""
        design, m = self._kriging.design(n_subsets, random, error_lines), self.n_kept
        coalitions, columns = design.coalitions, self._factor * design.weights
        weights = np.zeros((1 + error_lines, len(self), len(coalitions)))
        weights[:, :m], weights[0, -1, 0] = columns, 1.0
        if self._has_label:
            weights[:, m] = -columns.sum(axis=1)
            weights[0, m, 1] += 1.0  # all columns
            if self._semivalue != "shapley":
                met, own = self._met(n_subsets, random, error_lines)
                coalitions, weights[:, m] = np.concatenate([coalitions, met]), 0.0
                weights = np.concatenate(
                    [weights, np.zeros((*weights.shape[:2], len(met)))], axis=2
                )
                weights[:, m, -len(met) :] = own
        return Design(coalitions, weights, design.dof)

    def _met(
        self, count: int, random: np.random.Generator, error_lines: int
    ) -> tuple[Bools, Floats]:
        """Random subsets as the label meets them, and weights (1 + error lines, subsets)."""
        m = self.n_kept
        size = random.choice(m + 1, count, p=size_probabilities(self._semivalue, m + 1))
        met = random.permuted(np.arange(m)[None, :] < size[:, None], axis=1)
        signs = random.choice([-1.0, 1.0], (error_lines, count))
        # the squares of such lines are the variance of the mean, on average
        off = signs - signs.mean(axis=1, keepdims=True)
        off /= math.sqrt(count * (count - 1) * max(error_lines, 1))
        return met, np.concatenate([np.full((1, count), 1 / count), off])
