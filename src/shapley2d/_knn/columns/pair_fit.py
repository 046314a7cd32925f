"""Values and their errors from the evaluated pairs of a sample: the mix of estimators.

Estimator B takes all samples but the largest, whose matrix would be too large to invert; A does
there. The estimates of B are unbiased for any game, and their variances right on average. From
three subsets to a player on, 95 % intervals of nearest-neighbour games held 95-97 % of all values,
and 93-99 % of their sums (``benchmarks/column_sampling.py --corners``). With fewer
(:func:`few_subsets`) not all sizes are sampled. The intervals of A, which shrinks, cover less on
small samples.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from shapley2d._knn.columns.estimators import EvenRidge, PairKernel, PairRidge, Refitted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.columns.estimators import PartEstimator
    from shapley2d._knn.columns.semivalue import ColumnSemivalue

    Floats = NDArray[np.float64]
    Masks = NDArray[np.bool_]

MAX_SUBSETS = 8192
"""Subsets that sampling to a tolerance ends with, at the latest."""

KERNEL_MAX_PAIRS = 4096
"""Estimator B inverts a matrix of at most this many rows; beyond, A is used alone."""

FEW_PER_PLAYER = 3
"""Subsets to a player below which one who matters far more than the others can be missed."""

_LINES = 64  # that joint errors are made of, at most


class PairFit(NamedTuple):
    """Values of m players in g games from a sample of pairs.

    Attributes
    ----------
    values : ndarray of shape (g, m)
    deviations : ndarray of shape (groups, g, m)
        Their products, summed over the groups, are the covariances of the errors.
    dof : float
        Degrees of freedom behind the standard errors.
    estimator : {"A", "B"}
    """

    values: Floats
    deviations: Floats
    dof: float
    estimator: str

    @property
    def stderr(self) -> Floats:
        """Standard errors of the values."""
        return np.asarray(np.sqrt(np.square(self.deviations).sum(axis=0)))


def few_subsets(n_subsets: int, n_players: int) -> bool:
    """Whether sampled subsets are too few to trust the intervals of every player.

    Examples
    --------
    >>> few_subsets(20, 10), few_subsets(30, 10), few_subsets(2, 1)
    (True, False, False)
    """
    return bool(n_subsets < min(FEW_PER_PLAYER * n_players, 2**n_players))


def pair_parts(target: ColumnSemivalue, small: Floats, large: Floats) -> list[Floats]:
    """The odd (and, where it matters, the even) part of games on smaller halves and complements."""
    odd, even = (small - large) / 2, (small + large) / 2
    return [odd] if target.symmetric else [odd, even]


def pair_estimators(
    target: ColumnSemivalue,
    pairs: Masks,
    *,
    estimator: Literal["A", "B"] = "B",
    odd: Floats | None = None,
) -> list[PartEstimator]:
    """An estimator for each part of a game: B where its matrix is not too large, else A.

    Parameters
    ----------
    target : ColumnSemivalue
    pairs : ndarray of shape (pairs, m)
        Pairs by their smaller halves.
    estimator : {"A", "B"}
    odd : ndarray of shape (pairs, g), optional
        Odd parts that the penalty of A is chosen by; without them there is none.
    """
    if estimator == "B" and len(pairs) <= KERNEL_MAX_PAIRS:
        parts: list[PartEstimator] = [PairKernel(target, pairs)]
        return parts if target.symmetric else [*parts, PairKernel(target, pairs, odd=False)]
    parts = [PairRidge(target, pairs, None if odd is None else [odd])]
    return parts if target.symmetric else [*parts, EvenRidge(target, pairs)]


def joint_dof(estimators: list[PartEstimator], count: int | None = None) -> float:
    """Degrees of freedom behind the variance of all parts together (Satterthwaite).

    Parameters
    ----------
    estimators : list of PartEstimator
    count : int, optional
        Lines of errors that are used; all that there are by default.
    """
    own = [one.expected for one in estimators]
    spread = sum(one.expected**2 / one.dof(count) for one in estimators)
    return sum(own) ** 2 / spread if spread > 0 else math.inf


def fit_pairs(
    target: ColumnSemivalue,
    pairs: Masks,
    parts: list[Floats],
    ends: Floats,
    *,
    estimator: Literal["A", "B"] = "B",
    penalised: bool = False,
) -> PairFit:
    """Values and errors of games from a sample of pairs.

    Parameters
    ----------
    target : ColumnSemivalue
    pairs : ndarray of shape (pairs, m)
        Pairs by their smaller halves, in the random order in which they were drawn.
    parts : list of ndarray of shape (pairs, g)
        See :func:`pair_parts`.
    ends : ndarray of shape (2, g)
        Utilities of nobody and of all players.
    estimator : {"A", "B"}
    penalised : bool
        Whether the penalty of A is chosen by cross-validation; it has none otherwise.

    Examples
    --------
    >>> from shapley2d._knn.columns.design import PairSequence
    >>> from shapley2d._knn.columns.semivalue import ColumnSemivalue
    >>> target, worth = ColumnSemivalue(8, "shapley"), np.arange(8.0)[:, None]
    >>> pairs = PairSequence(8, np.random.SeedSequence(0)).take(30)
    >>> ends = np.array([[0.0], worth.sum(axis=0)])
    >>> fit = fit_pairs(target, pairs, pair_parts(target, pairs @ worth, ~pairs @ worth), ends)
    >>> fit.estimator, bool(np.abs(fit.values - worth.T).max() < 2 * fit.stderr.max())
    ('B', True)
    """
    estimators = pair_estimators(
        target, pairs, estimator=estimator, odd=parts[0] if penalised else None
    )
    smooth = isinstance(estimators[0], PairKernel)
    base = ends.T @ np.array(target.ends)
    values = base[:, None] + sum(
        (part.T @ one.weights.T for part, one in zip(parts, estimators, strict=True)), np.zeros(())
    )
    dof = joint_dof(estimators)
    return PairFit(values, _deviations(estimators, parts), dof, "B" if smooth else "A")


def _deviations(estimators: list[PartEstimator], parts: list[Floats]) -> Floats:
    """Lines (groups, g, m) whose products add up to the covariances of the errors."""
    refitted = [one for one in estimators if isinstance(one, Refitted)]
    if refitted:
        changes = sum(one.changes(part) for one, part in zip(refitted, parts, strict=True))
        changes = np.asarray(changes - np.mean(changes, axis=0))
        return np.asarray(np.sqrt((len(changes) - 1) / len(changes)) * changes)
    kernels = [one for one in estimators if isinstance(one, PairKernel)]
    terms = [(one.missed(part), one.weights) for one, part in zip(kernels, parts, strict=True)]
    groups = np.arange(len(parts[0])) % min(len(parts[0]), _LINES)
    lines = np.array(
        [
            sum((missed[groups == k].T @ weights[:, groups == k].T for missed, weights in terms))
            for k in range(int(groups.max()) + 1)
        ]
    )
    # Products of different pairs within a group are noise: each value keeps its own variance.
    variance = sum(
        (missed * other).T @ (weights * more).T
        for missed, weights in terms
        for other, more in terms
    )
    found = np.square(lines).sum(axis=0)
    return np.asarray(
        lines * np.sqrt(np.divide(variance, found, out=1.0 * (found > 0), where=found > 0))
    )
