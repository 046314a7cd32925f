r"""The expected error of an estimate, if games are as varied as the odd kernel assumes.

A jackknife sees how an estimate varies with the sample. It cannot see what every sample of that
size gets wrong alike: few coalitions say little about a column, and the estimate then leans towards
the mean of all columns. The kernel of estimator B is the covariance of a random game, and under it
the error of *any* weights ``w`` on the sampled pairs is known. With ``L`` the weights of the
semivalue on all coalitions and ``k`` the covariance, noise included,

    E (L D - w D)^2  =  scale (L k L  -  2 w k L  +  w k w),

lean and variation in one. A row's ``scale`` is the one under which its sampled values are the most
likely.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._knn.columns.kernel import KERNEL_NOISE, kernel_matrix_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.columns.estimators import ColumnSemivalue

    Floats = NDArray[np.float64]


class ExpectedError(NamedTuple):
    """Expected squared errors of the values and of a row's sum, in units of a row's scale."""

    columns: Floats
    row_sum: float


def expected_error(
    target: ColumnSemivalue, coalitions: NDArray[np.bool_], weights: Floats
) -> ExpectedError:
    """Expected squared errors of linear estimates of the odd part, for a game of scale 1.

    Parameters
    ----------
    target : ColumnSemivalue
    coalitions : ndarray of shape (pairs, m)
        The sampled pairs by their smaller halves.
    weights : ndarray of shape (m, pairs)
        Of the sampled odd parts in the values.

    Examples
    --------
    >>> from shapley2d._knn.columns.design import PairSequence
    >>> from shapley2d._knn.columns.estimators import ColumnSemivalue
    >>> target = ColumnSemivalue(4, "shapley")
    >>> pairs = PairSequence(4, np.random.SeedSequence(0)).take(7)
    >>> nothing, everything = np.zeros((4, 7)), target.exact_weights(pairs)[0]
    >>> expected_error(target, pairs, nothing).columns.round(1).tolist()
    [17.4, 17.4, 17.4, 17.4]
    >>> bool(expected_error(target, pairs, everything).columns.max() < 1e-12)
    True
    """
    m, size = target.n_columns, coalitions.sum(axis=1)
    games = target.odd_games
    profile, amplitude, inside, outside = (
        games.profile,
        games.amplitude,
        games.inside,
        games.outside,
    )
    # The game of a complement is minus that of the coalition, whose members are its non-members.
    rest = slice(m - len(inside), None, -1)
    inside, outside = np.append(inside, -outside[rest]), np.append(outside, -inside[rest])
    with_it, without = np.append(0.0, target.joins), np.append(target.joins, 0.0)
    sizes = np.arange(m + 1)
    prior = float(amplitude @ (with_it * inside - without * outside))
    prior_sum = float(
        m * amplitude @ ((with_it - without) * (sizes * inside + (m - sizes) * outside))
    )

    at = amplitude[size]
    onto = np.vstack([weights, weights.sum(axis=0)]) * at
    known = np.where(coalitions.T, inside[size], outside[size])
    shared = (onto * np.vstack([known, known.sum(axis=0)])).sum(axis=1)
    own = np.zeros(m + 1)
    for block, lines in kernel_matrix_blocks(coalitions, profile):
        own += ((onto @ lines) * onto[:, block]).sum(axis=1)

    wanted = target.exact_weights(coalitions)[0]
    wanted = np.vstack([wanted, wanted.sum(axis=0)]) * at
    noise = _noise_of_all_pairs(target, amplitude) + (onto**2 - 2 * wanted * onto).sum(axis=1)
    squared = np.append(np.full(m, prior), prior_sum) - 2 * shared + own + KERNEL_NOISE * noise
    squared = np.maximum(squared, 0.0)  # rounding, where everything is known
    return ExpectedError(squared[:m], float(squared[m]))


def _noise_of_all_pairs(target: ColumnSemivalue, amplitude: Floats) -> Floats:
    """Squared weights of all pairs times ``a^2``, in every column and in the sum of all."""
    m = target.n_columns
    size = np.arange(1, len(target.counts))
    slope, level = target.odd_slope[1:], target.odd_level[1:]
    member, other = slope * m / size + level, level - slope * m / (m - size)
    share = amplitude[size] ** 2 / target.counts[1:]
    column = float(share @ (member**2 * size + other**2 * (m - size))) / m
    return np.append(np.full(m, column), float(share @ (m * level) ** 2))
