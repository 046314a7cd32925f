r"""Estimator B: column values from sampled pairs, by an odd and an even kernel (kriging).

Split a game into its odd part ``D(S) = (phi(S) - phi(S^c)) / 2`` and its even part ``E(S) = phi(S)
- D(S)``. With ``q(s)`` the probability that a player joins a coalition of ``s`` others, ``mean_s``
the game's mean over the coalitions of size ``s`` and ``b_s(j)`` its mean over those with player
``j`` minus that over those without, every semivalue is

    value(j) = sum_s level(s) mean_s + slope(s) b_s(j),
    level(s) = q(s-1) - q(s),    slope(s) = q(s-1) (m-s)/m + q(s) s/m.

The Shapley value (``q = 1/m``) has no level inside and a constant slope, and sees the odd part
alone; so do all semivalues that treat a coalition as its complement.

The estimator is a Gaussian process over coalitions (Rasmussen and Williams 2006), linear in the
sampled ``D`` and ``E``: it gives its weights, one line per column, which serve all rows of the
table. It does not force the fit through ``phi({})`` and ``phi(everything)``, where the game of the
nearest neighbours jumps; these two enter by :attr:`ColumnSemivalue.ends` alone.

The kernel is the covariance of a random game, and under it the error of *any* weights ``w`` on the
sampled pairs is known. With ``L`` the weights of the semivalue on all coalitions and ``k`` the
covariance, noise included,

    E (L D - w D)^2  =  L k L  -  2 w k L  +  w k w.

No game is the random one. But how the error compares with that of predicting a pair by the others
is much the same for all games, and the latter is seen.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.columns.kernel import KERNEL_NOISE, inverse_kernel, kernel_matrix_blocks

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._knn.columns.semivalue import ColumnSemivalue


_BLOCK = 256  # lines of a matrix over the pairs at a time


class PairKernel:
    """Of all weights that are unbiased for every game, the best for a random one.

    The random game has the covariance ``a(|S|) a(|T|) g(d)`` with the Hamming distance ``d``, and
    noise ``0.1 a^2``. The weights of least expected squared error (kriging) lean: some sizes count
    for less than they do in the semivalue, in every sample alike, and no mean over samples takes
    that out. Samples do not depend on the naming of the columns, so the mean weight of a pair in
    the value of a column can only depend on its size and on whether it has that column. Where
    every size counts as much as in the semivalue, in every sample, these means are those of the
    semivalue itself: the estimate is unbiased, whatever the game. Multipliers, one for every
    size, see to that at the least expense.

    *Errors.* What the others predict of a pair is known without fitting again (it misses the pair
    by ``a / k`` times what is kriged, with ``k`` the diagonal of the inverse). The variance of a
    value is the sum of squared weights times squared errors of these predictions, times what
    sampling without replacement leaves of a size. Predictions without the pair are worse than those
    with it; by how much this overstates the error of a random game is known, and divided out.

    ``odd``: whether it is for the odd part, or for the even one.
    ``weights`` (m, pairs): of the sampled part in the values.
    ``expected``: squared error of all values together for a random game.
    """

    def __init__(self, target: ColumnSemivalue, coalitions: Bools, *, odd: bool = True) -> None:
        self._target, self._coalitions = target, coalitions
        size = self._size = coalitions.sum(axis=1)
        games = target.odd_games if odd else target.even_games
        self._amplitude = games.amplitude[size]
        self._inverse = inverse_kernel(coalitions, games.profile)
        kriged = np.where(coalitions.T, games.inside[size], games.outside[size]) @ self._inverse
        self.weights = self._unbiased(kriged, *target.counted(odd=odd)) / self._amplitude
        # by how much the others miss a pair, from what is kriged
        self._apart = self._amplitude / np.diag(self._inverse)
        left = 1 - np.bincount(size, minlength=len(target.counts)) / target.counts
        squares = np.square(self.weights) * left[size]
        self.expected = float(expected_error(target, coalitions, self.weights, odd=odd).sum())
        stated = float((squares @ (self._amplitude * self._apart)).sum())
        self._root = np.sqrt(left[size] * (self.expected / stated if stated > 0 else 0.0))

    def _unbiased(self, kriged: Floats, slope: Floats, level: Floats) -> Floats:
        """The weights of D / a, changed as little as makes every size count what it should."""
        m, size = self._target.n_columns, self._size
        sampled, place = np.unique(size, return_inverse=True)
        of_size = (place[:, None] == np.arange(len(sampled))).astype(np.float64)
        member = (self._coalitions.T - size / m) / (m * self._amplitude)
        found = kriged + self._counting(kriged, member, of_size, _on_sampled(slope, sampled))
        if self._target.efficient:  # all columns together count nothing as it is
            return found
        alike = np.broadcast_to(1 / (m * self._amplitude), found.shape)
        return np.asarray(
            found + self._counting(found, alike, of_size, _on_sampled(level, sampled))
        )

    def _counting(
        self, weights: Floats, direction: Floats, of_size: Floats, goal: Floats
    ) -> Floats:
        """What to add so that weights times the direction have the wanted sum in every size."""
        products = np.zeros((len(goal), len(goal)))
        for start in range(0, len(of_size), _BLOCK):
            block = slice(start, start + _BLOCK)
            lines = self._inverse[block] * (direction[:, block].T @ direction)
            products += of_size[block].T @ (lines @ of_size)
        missing = goal - (weights * direction).sum(axis=0) @ of_size
        return np.asarray(
            (direction * (of_size @ np.linalg.solve(products, missing))) @ self._inverse
        )

    def dof(self, count: int) -> float:
        """Degrees of freedom of a variance from this many lines of random signs."""
        return 1 / (1 / self._own_dof + 1 / count)

    @cached_property
    def _own_dof(self) -> float:
        """Degrees of freedom of the prediction errors of a random game."""
        squares = np.square(self.weights * self._root)
        own, mixed = squares @ (self._amplitude * self._apart), np.zeros(len(squares))
        for start in range(0, len(self._size), _BLOCK):
            block = slice(start, start + _BLOCK)
            shared = self._apart[block, None] * self._inverse[block] * self._apart
            mixed += ((squares[:, block] @ np.square(shared)) * squares).sum(axis=1)
        return float(np.mean(own**2) / max(float(np.mean(mixed)), 1e-300))

    def error_weights(self, random: np.random.Generator, count: int) -> list[Floats]:
        """Weights (m, pairs) of lines whose squares add up to the variances, on average.

        Errors of prediction as they count for the values, with random signs. The same random
        numbers make lines of both parts that belong together.
        """
        signs = random.choice([-1.0, 1.0], (count, len(self._size))) / np.sqrt(count)
        counted = self.weights * (self._root * self._apart)
        return [(counted * sign) @ self._inverse / self._amplitude for sign in signs]


def _on_sampled(of_sizes: Floats, sampled: Ints) -> Floats:
    """What the sampled sizes count: a size without a sample is read off the nearest that has one.

    >>> _on_sampled(np.array([0.0, 0.5, 0.3, 0.2]), np.array([1, 3]))
    array([0.8, 0.2])
    """
    sizes = np.arange(1, len(of_sizes))
    nearest = np.abs(sizes[:, None] - sampled).argmin(axis=1)
    return np.bincount(nearest, of_sizes[1:], minlength=len(sampled)).astype(np.float64)


def expected_error(
    target: ColumnSemivalue, coalitions: Bools, weights: Floats, *, odd: bool = True
) -> Floats:
    """Expected squared errors of linear estimates of a part of the random game.

    ``coalitions`` (pairs, m): the sampled pairs by their smaller halves.
    ``weights`` (m, pairs): of the sampled part in the values.
    ``odd``: whether it is the odd part, or the even one.

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
