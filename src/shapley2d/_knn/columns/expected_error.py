r"""The expected error of an estimate, if games are as varied as the kernel assumes.

The kernel of estimator B is the covariance of a random game, and under it the error of *any*
weights ``w`` on the sampled pairs is known. With ``L`` the weights of the semivalue on all
coalitions and ``k`` the covariance, noise included,

    E (L D - w D)^2  =  L k L  -  2 w k L  +  w k w.

No game is the random one. But how the error compares with that of predicting a pair by the others
is much the same for all games, and the latter is seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.columns.kernel import KERNEL_NOISE, kernel_matrix_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.columns.semivalue import ColumnSemivalue

    Floats = NDArray[np.float64]


def expected_error(
    target: ColumnSemivalue, coalitions: NDArray[np.bool_], weights: Floats, *, odd: bool = True
) -> Floats:
    """Expected squared errors of linear estimates of a part of the random game.

    Parameters
    ----------
    target : ColumnSemivalue
    coalitions : ndarray of shape (pairs, m)
        The sampled pairs by their smaller halves.
    weights : ndarray of shape (m, pairs)
        Of the sampled part in the values.
    odd : bool
        Whether it is the odd part, or the even one.

    Examples
    --------
    >>> from shapley2d._knn.columns.design import PairSequence
    >>> from shapley2d._knn.columns.semivalue import ColumnSemivalue
    >>> target = ColumnSemivalue(4, "shapley")
    >>> pairs = PairSequence(4, np.random.SeedSequence(0)).take(7)
    >>> nothing, everything = np.zeros((4, 7)), target.exact_weights(pairs)[0]
    >>> expected_error(target, pairs, nothing).round(1).tolist()
    [4.5, 4.5, 4.5, 4.5]
    >>> bool(expected_error(target, pairs, everything).max() < 1e-12)
    True
    """
    m, size = target.n_columns, coalitions.sum(axis=1)
    games = target.odd_games if odd else target.even_games
    amplitude, inside, outside = games.amplitude, games.inside, games.outside
    # The game of a complement is that of the coalition, or minus it, and its members are the
    # non-members.
    rest, sign = slice(m - len(inside), None, -1), -1 if odd else 1
    inside, outside = (
        np.append(inside, sign * outside[rest]),
        np.append(outside, sign * inside[rest]),
    )
    with_it, without = np.append(0.0, target.joins), np.append(target.joins, 0.0)
    prior = float(amplitude @ (with_it * inside - without * outside))

    onto = weights * amplitude[size]
    known = np.where(coalitions.T, inside[size], outside[size])
    own = np.zeros(m)
    for block, lines in kernel_matrix_blocks(coalitions, games.profile):
        own += ((onto @ lines) * onto[:, block]).sum(axis=1)

    wanted = target.exact_weights(coalitions)[0 if odd else 1] * amplitude[size]
    noise = _noise_of_all_pairs(target, amplitude, odd=odd) + (onto**2 - 2 * wanted * onto).sum(
        axis=1
    )
    squared = prior - 2 * (onto * known).sum(axis=1) + own + KERNEL_NOISE * noise
    return np.asarray(np.maximum(squared, 0.0))  # rounding, where everything is known


def _noise_of_all_pairs(target: ColumnSemivalue, amplitude: Floats, *, odd: bool) -> float:
    """Squared weights of all pairs in a column's value, times ``a^2``."""
    m = target.n_columns
    size = np.arange(1, len(target.counts))
    slope, level = (part[1:] for part in target.counted(odd=odd))
    member, other = slope * m / size + level, level - slope * m / (m - size)
    share = amplitude[size] ** 2 / target.counts[1:]
    return float(share @ (member**2 * size + other**2 * (m - size))) / m
