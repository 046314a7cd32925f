"""What changes where fewer than K rows are there and only their votes are counted.

``votes="k"`` divides by K even where fewer than K rows are present, as the paper does: any row then
helps a small company, whatever its label. ``votes="share"`` divides by the votes there are, and no
rows are worth a guess: 1 / classes, or the mean of all training targets. The two differ only in
subsets of fewer than K rows, and there all rows vote, however far they are. So the difference is a
game of the rows alone, whose values have a closed form and no error:

    g(S) = (1/s - 1/K) * sum of w over S                                      (classification)
    g(S) = (1/K² - 1/s²) * (sum of y over S)² + 2 v (1/s - 1/K) * sum of y     (regression)

for 1 <= s = |S| < K, and 0 from K rows on. ``w`` is the share of validation rows, by weight, that
have the row's label; ``y`` are targets less their mean, and ``v`` is that of the validation rows.

Counted from what the labels alone predict, g is there with and without columns and cancels in every
cell; it matters for values from zero and for the label's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._methods.baseline import (
    BLIND_GUESS,
    MEAN_OF_ALL,
    votes_baseline,
    warn_of_perfect_zero,
)
from shapley2d._theory.semivalues import size_probabilities

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats
    from shapley2d._tables.problem import Problem, Split
    from shapley2d._theory.semivalues import Semivalue


@dataclass(frozen=True)
class FewRows:
    """The game g of one training table, and what no rows are worth.

    ``worth`` (n,): ``w`` of every row; in regression ``y``, its target less the mean of all.
    ``mean``: ``v`` in regression; None in classification.
    ``guess``: the utility of no rows.
    """

    n_neighbors: int
    worth: Floats
    mean: float | None
    guess: float

    @classmethod
    def of(cls, split: Split, n_neighbors: int) -> FewRows:
        """The game of a split.

        >>> from shapley2d._tables.problem import make_problem
        >>> (split,) = make_problem([[0], [1]], [0, 1], [[0], [0], [1]], [0, 0, 1]).splits
        >>> few = FewRows.of(split, 4)
        >>> few.worth.round(3), few.guess
        (array([0.667, 0.333]), 0.5)
        """
        y, y_valid = split.y.codes, split.y_valid.codes
        weights = split.weights / split.weights.sum()
        if split.y.task == "regression":
            centre = float(np.mean(y))
            off = y_valid - centre
            return cls(n_neighbors, y - centre, float(weights @ off), -float(weights @ off**2))
        there = np.bincount(y, minlength=y_valid.max() + 1) > 0  # of the labels, those of rows
        known = (y_valid >= 0) & there[y_valid]
        shares = np.bincount(y_valid[known], weights=weights[known], minlength=there.size)
        guess = float(weights[known].sum() / np.count_nonzero(there))
        return cls(n_neighbors, np.asarray(shares[y], dtype=np.float64), None, guess)

    def values(self, semivalue: Semivalue, nothing: float) -> Floats:
        """The value of every row in the game g.

        ``nothing``: ``g`` of no rows: what they are worth more than with ``votes="k"``.

        Two rows of different classes, one neighbour: dividing by K is the same, but for the guess.

        >>> from shapley2d._tables.problem import make_problem
        >>> (split,) = make_problem([[0], [1]], [0, 1], [[0], [1]], [0, 1]).splits
        >>> few = FewRows.of(split, 1)
        >>> few.values("shapley", few.guess)
        array([-0.25, -0.25])
        """
        own, n = self.worth, self.worth.size
        joins = size_probabilities(semivalue, n)[: self.n_neighbors]
        single, squared = self._factors(n)
        others = max(n - 1, 1)
        # of the other rows: their mean, and that of products of two of them
        mean = (own.sum() - own) / others
        left = np.sum(own**2) - own**2
        product = ((own.sum() - own) ** 2 - left) / max(others * (n - 2), 1)
        values = np.zeros(n)
        for size, chance in enumerate(joins.tolist()):
            total = size * mean  # mean sum of worth of those that are there
            gain = single[size + 1] * (total + own) - single[size] * total
            if self.mean is not None:
                square = size * left / others + size * (size - 1) * product
                gain *= 2 * self.mean
                gain += squared[size] * square
                gain -= squared[size + 1] * (square + 2 * own * total + own**2)
            values += chance * (gain - (nothing if size == 0 else 0.0))
        return values

    def _factors(self, most: int) -> tuple[Floats, Floats]:
        """``1/s - 1/K`` and ``1/s² - 1/K²`` by size, 0 for no rows and from K rows on."""
        sizes, k = np.arange(most + 1), self.n_neighbors
        few = (sizes > 0) & (sizes < k)
        single, squared = np.zeros(most + 1), np.zeros(most + 1)
        single[few] = 1 / sizes[few] - 1 / k
        squared[few] = 1 / sizes[few] ** 2 - 1 / k**2
        return single, squared


def rows_alone(
    split: Split, n_neighbors: int, votes: str, baseline: str, semivalue: Semivalue
) -> Floats:
    """What rows are worth, whatever the columns, by the votes of few rows and a guess of none.

    It is there with and without columns, so it matters to what the labels alone predict, and to the
    label's own value.
    """
    few = FewRows.of(split, n_neighbors if votes == "share" else 1)  # one has all its votes
    return few.values(semivalue, few.guess if guesses(split, votes, baseline) else 0.0)


def guesses(split: Split, votes: str, baseline: str) -> bool:
    """Whether no rows are worth a guess; in regression that is the error of the mean, not 0."""
    return votes == "share" or (baseline != "zero" and split.y.task == "regression")


def knn_baseline(problem: Problem, n_neighbors: int, votes: str) -> dict[str, Any]:
    """The baseline for a result's record; empty where it is 0."""
    classifies, from_zero = problem.target.task == "classification", problem.baseline == "zero"
    if from_zero and votes == "k":
        if not classifies:
            warn_of_perfect_zero()
        return {}
    if not from_zero and problem.label is None:
        return votes_baseline(problem, n_neighbors, votes)
    if classifies and votes == "k":  # without a label no vote is right
        return {}
    utilities = [FewRows.of(split, n_neighbors).guess for split in problem.splits]
    words = BLIND_GUESS if classifies else MEAN_OF_ALL
    return {"baseline_utility": float(np.mean(utilities)), "baseline": words}
