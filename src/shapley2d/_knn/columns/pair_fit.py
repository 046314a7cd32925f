"""Values and their errors from the evaluated pairs of a sample: the mix of estimators.

Estimator B takes all samples but the largest, whose matrix would be too large to invert; A does
there. A variance of B is the mean of the jackknife's and of what
:mod:`~shapley2d._knn.columns.expected_error` expects. The former does not see how far few subsets
make all estimates lean to the mean; the latter takes all columns to matter alike and games to be
rougher than most are, and fades out with many subsets. On nearest-neighbour games 95 % intervals of
B so cover 92-99 % of all values, and from three subsets to a column on that holds for the worst
columns, too. With fewer (:func:`few_subsets`) a column that matters far more than the others can be
missed more often than not. The intervals of A, which shrinks, cover less on small samples (80-92 %
below 20 subsets to a column).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from shapley2d._knn.columns.estimators import EvenRidge, OddKernel, PairRidge
from shapley2d._knn.columns.expected_error import expected_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.columns.estimators import ColumnSemivalue

    Floats = NDArray[np.float64]
    Masks = NDArray[np.bool_]

MAX_SUBSETS = 8192
"""Subsets that sampling to a tolerance ends with, at the latest."""

KERNEL_MAX_PAIRS = 4096
"""Estimator B inverts a matrix of at most this many rows; beyond, A is used alone."""

FEW_PER_PLAYER = 3
"""Subsets to a player below which one who matters far more than the others can be missed."""

MANY_PER_PLAYER = 10
"""Subsets to a player up to which expected errors count as much as the jackknife's."""

GROUPS = 10
"""Parts of the pairs that a jackknife leaves out in turn."""

_DEGREES = (1, 3, 5)  # of the course over sizes


class PairFit(NamedTuple):
    """Values of m players in g games from a sample of pairs.

    Attributes
    ----------
    values, stderr : ndarray of shape (g, m)
    replicates : ndarray of shape (groups, g, m)
        The values without each group of pairs.
    estimator : {"A", "B"}
    """

    values: Floats
    stderr: Floats
    replicates: Floats
    estimator: str

    @property
    def dof(self) -> float:
        """Degrees of freedom behind the standard errors."""
        return float(len(self.replicates) - 1)


def few_subsets(n_subsets: int, n_players: int) -> bool:
    """Whether sampled subsets are too few to trust the intervals of every player.

    Examples
    --------
    >>> few_subsets(20, 10), few_subsets(30, 10), few_subsets(2, 1)
    (True, False, False)
    """
    return bool(n_subsets < min(FEW_PER_PLAYER * n_players, 2**n_players))


def expected_share(n_players: int, n_pairs: int) -> float:
    """What part of a variance of B is the expected one; the jackknife has the rest.

    Examples
    --------
    >>> expected_share(10, 50), expected_share(10, 100)
    (0.5, 0.25)
    """
    return 0.5 * min(1.0, MANY_PER_PLAYER * n_players / (2 * n_pairs))


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
) -> list[OddKernel | PairRidge | EvenRidge]:
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
    smooth = estimator == "B" and len(pairs) <= KERNEL_MAX_PAIRS
    of_odd: OddKernel | PairRidge
    if smooth:
        of_odd = OddKernel(target, pairs)
    else:
        of_odd = PairRidge(target, pairs, None if odd is None else [odd])
    return [of_odd] if target.symmetric else [of_odd, EvenRidge(target, pairs)]


def fit_pairs(
    target: ColumnSemivalue,
    pairs: Masks,
    parts: list[Floats],
    ends: Floats,
    *,
    estimator: Literal["A", "B"] = "B",
    penalised: bool = False,
    centred: bool = False,
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
    centred : bool
        Whether B is given what is left of Shapley's games without their course over sizes. (A is
        exact on players who add up, if they are left alone.)

    Examples
    --------
    >>> from shapley2d._knn.columns.design import PairSequence
    >>> from shapley2d._knn.columns.estimators import ColumnSemivalue
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
    size, smooth = pairs.sum(axis=1), isinstance(estimators[0], OddKernel)
    group = jackknife_groups(size, target.counts)
    keeps = [np.ones(len(group), dtype=bool), *(group != k for k in range(int(group.max()) + 1))]
    base = ends.T @ np.array(target.ends)
    centred = centred and target.efficient and smooth
    found = []
    for keep in keeps:
        given = [without_sizes(parts[0], size, target.n_columns, keep)] if centred else parts
        lines = (part.T @ one.weights(keep).T for part, one in zip(given, estimators, strict=True))
        found.append(base[:, None] + sum(lines, np.zeros(())))
    values, replicates = found[0], np.array(found[1:])
    variance = _jackknife_variance(replicates)
    if isinstance(estimators[0], OddKernel):
        odd = estimators[0]
        if centred:
            parts = [without_sizes(parts[0], size, target.n_columns, keeps[0])]
        scale = odd.scale(parts[0])[:, None]
        expected = scale * expected_error(target, pairs, odd.weights(keeps[0])).columns
        if not target.symmetric:  # the kernel knows the odd part alone
            even = np.array([parts[1].T @ estimators[1].weights(keep).T for keep in keeps[1:]])
            expected = expected + _jackknife_variance(even)
        share = expected_share(target.n_columns, len(pairs))
        variance = (1 - share) * variance + share * expected
    return PairFit(values, np.sqrt(variance), replicates, "B" if smooth else "A")


def jackknife_groups(
    size: NDArray[np.intp], counts: Floats, n_groups: int = GROUPS
) -> NDArray[np.intp]:
    """Group in which each sampled pair is left out, or -1 for pairs that always stay.

    Of ``n`` sampled pairs out of ``N`` of a size, the mean varies by ``(1 - f) var / n`` with ``f =
    n / N``. Leaving out ``d`` of them at a time in ``G`` groups finds ``(G - 1) d / (n - d) var /
    n``. So ``d = n (1 - f) / (G - f)`` puts the finite-population factor into the groups
    themselves, size by size: an enumerated size stays whole.

    Parameters
    ----------
    size : ndarray of shape (pairs,)
        Size of each sampled pair; within a size they are in random order.
    counts : ndarray
        How many pairs of each size there are.
    n_groups : int

    Returns
    -------
    ndarray of shape (pairs,)

    Examples
    --------
    >>> jackknife_groups(np.array([1, 2, 1, 2, 1, 2]), np.array([1.0, 3.0, 1e9]), n_groups=3)
    array([-1,  0, -1,  1, -1,  2])
    """
    fraction = np.bincount(size, minlength=len(counts)) / counts
    share = n_groups * (1 - fraction) / (n_groups - fraction)
    by_size = np.argsort(size, kind="stable")
    # Systematic sampling in the order of sizes: each size gives its share, rounded up or down.
    steps = np.floor(np.cumsum(share[size[by_size]]) + 0.5)
    left_out = by_size[np.diff(steps, prepend=0.0) > 0]
    if len(left_out) < 2:  # nearly all were evaluated: errors that are too large rather than none
        left_out = by_size[-2:]
    group = np.full(len(size), -1)
    # Dealt out size by size, so that every group has its part of every size (of neighbouring ones
    # if few).
    group[left_out] = np.arange(len(left_out)) % n_groups
    return group


def _jackknife_variance(replicates: Floats) -> Floats:
    groups = len(replicates)
    squares = np.square(replicates - replicates.mean(axis=0)).sum(axis=0)
    return np.asarray((groups - 1) / groups * squares)


def without_sizes(odd: Floats, size: NDArray[np.intp], n_players: int, keep: Masks) -> Floats:
    """The odd part less its course over sizes.

    That adds to all Shapley values alike and is noise to a regression. The course is an odd
    polynomial, fitted to the pairs to keep.

    Examples
    --------
    >>> size = np.array([1, 2, 3, 3, 4])
    >>> left = without_sizes(((size - 5.0) ** 3)[:, None], size, 10, np.ones(5, dtype=bool))
    >>> bool(np.abs(left).max() < 1e-9)
    True
    """
    tilt = 1 - 2 * size / n_players
    courses = np.stack([tilt**degree for degree in _DEGREES], axis=1)
    fitted, *_ = np.linalg.lstsq(courses[keep], odd[keep], rcond=None)
    return np.asarray(odd - courses @ fitted)
