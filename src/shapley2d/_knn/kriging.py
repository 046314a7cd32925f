r"""The column axis from a sample of column subsets: complement pairs, weighted by kriging.

A *pair* is a subset and its complement, listed by its smaller half. Split a game into its odd part
``D(S) = (phi(S) - phi(S^c)) / 2`` and its even part ``E(S) = phi(S) - D(S)``. With ``q(s)`` the
probability that a player joins a coalition of ``s`` others, ``mean_s`` the game's mean over the
coalitions of size ``s`` and ``b_s(j)`` its mean over those with player ``j`` minus that over those
without, every semivalue is

    value(j) = sum_s level(s) mean_s + slope(s) b_s(j),
    level(s) = q(s-1) - q(s),    slope(s) = q(s-1) (m-s)/m + q(s) s/m.

The Shapley value (``q = 1/m``) has no level inside and a constant slope, and sees the odd part
alone; so do all semivalues that treat a coalition as its complement.

The estimator is a Gaussian process over coalitions (kriging, Rasmussen and Williams 2006) for each
part. It is linear: weights of the sampled subsets, which serve all rows of the table. It does not
fit ``phi({})`` and ``phi(everything)``, where the game of the nearest neighbours jumps; these two
enter by their own weights.

*Unbiased.* The weights of least expected squared error lean: some sizes count for less than they do
in the semivalue, in every sample alike, and no mean over samples takes that out. They are changed
as little as makes every size count what it should. Pairs are sampled whatever the columns' names,
so the mean weight of a pair can only depend on its size and on whether it has the column, and the
estimate is unbiased for every game.

*Errors.* What the others predict of a pair is known without fitting again. The variance of a value
is the sum of squared weights times squared errors of these predictions, times what sampling without
replacement leaves of a size. Predictions without the pair are worse than those with it; by how much
this overstates the error of a random game is known, and divided out. From three subsets to a player
on, 95 % intervals of nearest-neighbour games held 95-97 % of all values, and 93-99 % of their sums
(``benchmarks/column_sampling.py --corners``).

Pairs reduce the variance of kernel SHAP (Covert and Lee 2021, arXiv:2012.01536); sampling all sizes
is what leverage scores ask for (Musco and Witter 2024, arXiv:2410.01917).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import lapack  # here, before anyone limits the threads of loaded libraries

from shapley2d._theory.semivalues import size_probabilities

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._theory.semivalues import Semivalue

MAX_SUBSETS = 8192
"""Subsets of a design, at most: the matrix over their pairs is inverted."""

FEW_PER_PLAYER = 3
"""Subsets to a player below which one who matters far more than the others can be missed."""

NOISE = 0.1
"""Noise on the diagonal of the covariance: how far the smoothed game may be from the sample."""

LEAST_SHARE = 0.02
"""How often a size is sampled at least, relative to the size that counts most."""

_ODD_WEIGHTS = {1: 5.0, 3: 1.0, 5: 0.25, 7: 0.0625, 9: 0.015625}
_EVEN_WEIGHTS = {0: 1000.0, 2: 1.0, 4: 0.25, 6: 0.0625, 8: 0.015625}


class Design(NamedTuple):
    """Coalitions, and the weights of their utilities in the values.

    ``coalitions`` (coalitions, m): no players, all players, pairs, and their complements.
    ``weights`` (1 + error lines, m, coalitions): first those of the values; then those of error
        lines, whose squares add up to the variances of the values.
    ``dof``: degrees of freedom behind such a variance.
    """

    coalitions: Bools
    weights: Floats
    dof: float


class Kriging:
    """Sampled coalitions for the semivalue of ``m`` players.

    >>> design = Kriging(6, "shapley").design(34, np.random.default_rng(0), error_lines=2)
    >>> design.coalitions.shape, design.weights.shape
    ((34, 6), (3, 6, 34))
    >>> in_all = design.weights[0] @ np.ones(34)  # a game that is always worth 1
    >>> bool(np.abs(in_all).max() < 1e-12)
    True
    """

    def __init__(self, m: int, semivalue: Semivalue) -> None:
        joins, size = size_probabilities(semivalue, m), np.arange(m + 1)
        before, after = np.append(0.0, joins), np.append(joins, 0.0)
        slope, level = before * (m - size) / m + after * size / m, before - after
        self._m, self._ends = m, level[[0, m]]
        if semivalue == "shapley":  # exactly
            level[1:m] = 0.0
        odd = Part(joins, slope, level)
        self.parts = [odd]
        if not np.allclose(joins, joins[::-1], rtol=1e-9, atol=0):
            self.parts.append(Part(joins, slope, level, odd=False))
        # what a size counts, times how its pairs differ: the least variance for the work (Neyman)
        shares = odd.slope * odd.amplitude[: len(odd.slope)]
        self.shares = np.maximum(shares / shares.max(initial=1e-300), LEAST_SHARE)

    def design(self, n_subsets: int, random: np.random.Generator, error_lines: int = 1) -> Design:
        """A sample of coalitions; with more error lines variances are known better."""
        m = self._m
        pairs = sample_pairs(m, max((n_subsets - 2) // 2, 1), random, self.shares)
        signs = random.choice([-1.0, 1.0], (error_lines, len(pairs))) / math.sqrt(error_lines)
        fits = [Fit(part, pairs) for part in self.parts]
        odd, *others = (np.array([fit.weights, *fit.errors(signs)]) / 2 for fit in fits)
        even = others[0] if others else 0.0
        ends = np.zeros((1 + error_lines, m, 2))
        ends[0] = self._ends
        # of all parts together (Satterthwaite 1946), each with its own and those of the signs
        expected = sum(fit.expected for fit in fits)
        spread = sum(fit.expected**2 * (fit.inverse_dof() + 1 / error_lines) for fit in fits)
        return Design(
            np.concatenate([np.zeros((1, m), bool), np.ones((1, m), bool), pairs, ~pairs]),
            np.concatenate([ends, even + odd, even - odd], axis=2),
            expected**2 / spread if spread > 0 else math.inf,
        )


class Part:
    """The odd or the even part of a semivalue, and random games to fit it to.

    A random game has the covariance ``a(|S|) a(|T|) g(d)`` with the Hamming distance ``d``, and
    noise ``0.1 a^2``: ``g = 5 K1 + K3 + 0.25 K5 + ...`` in the normalised Krawtchouk polynomials of
    odd degree up to 9 has a game's main effects, and interactions that fade with their order. Its
    amplitude ``a`` grows towards the ends, where it is set to 0: the smoothed game leaves them out.
    The even kernel, ``1000 K0 + K2 + 0.25 K4 + ...``, does not grow: so it has what all coalitions
    are worth alike. (Tuned on nearest-neighbour games of 8 to 12 columns with 3 to 12 subsets to a
    column. Half or twice any of these numbers changes errors by 2 %; 20 K1 makes them 7 % larger at
    3 subsets.)

    ``slope, level``: what pairs count in the value, by the size of their smaller half.
    ``profile, amplitude`` (m + 1,): ``g`` and ``a``.
    ``inside, outside`` (m + 1,): semivalues of the game ``S -> a(|S|) g(d(S, T))`` for a member and
        for a non-member of ``T``, by its size.
    """

    def __init__(self, joins: Floats, slope: Floats, level: Floats, *, odd: bool = True) -> None:
        m, sign = len(joins), -1 if odd else 1  # of complements
        half = np.arange(m // 2 + 1)
        # two halves count, but the ends, and no half twice
        twice = np.where(2 * half == m, 0.5, 1.0) * (half > 0)
        self.slope = twice * (slope - sign * slope[::-1])[half]
        self.level = twice * (level + sign * level[::-1])[half]
        self.counts = pair_counts(m)

        distance = np.arange(m + 1.0)
        krawtchouk, degrees = [np.ones(m + 1), 1 - 2 * distance / m], _ODD_WEIGHTS
        self.amplitude = np.zeros(m + 1)
        self.amplitude[1:m] = (4 * distance[1:m] * (m - distance[1:m]) / m**2) ** -0.35
        if not odd:
            degrees, self.amplitude[1:m] = _EVEN_WEIGHTS, 1.0
        for k in range(1, min(m, max(degrees))):
            krawtchouk.append(
                ((m - 2 * distance) * krawtchouk[k] - k * krawtchouk[k - 1]) / (m - k)
            )
        self.profile = np.array([w * krawtchouk[k] for k, w in degrees.items() if k <= m]).sum(0)

        inside, outside = self._semivalues(joins)
        rest = slice(m - len(half), None, -1)  # members of a complement are the non-members
        self.inside = np.append(inside, sign * outside[rest])
        self.outside = np.append(outside, sign * inside[rest])
        gains = np.append(0.0, joins) * self.inside - np.append(joins, 0.0) * self.outside
        # of a value of a random game: its variance, and that of its noise in units of NOISE
        self.variance = float(self.amplitude @ gains)
        half = half[1:]
        member = self.slope[half] * m / half + self.level[half]
        other = self.level[half] - self.slope[half] * m / (m - half)
        share = self.amplitude[half] ** 2 / self.counts[half] / m
        self.noise = float(share @ (member**2 * half + other**2 * (m - half)))

    def _semivalues(self, joins: Floats) -> tuple[Floats, Floats]:
        """``inside`` and ``outside`` for sets ``T`` of up to half of the players.

        A player joins ``s`` of the others with probability ``joins[s]``; of these, a hypergeometric
        number lies in ``T``, which determines the distance.
        """
        from scipy.special import gammaln

        m, g, a = len(joins), self.profile, self.amplitude
        # logarithms, infinite for negative numbers, which count from the end
        factorial = np.append(gammaln(np.arange(1.0, m + 2)), np.full(m + 1, np.inf))

        def ways(n: int, k: Ints) -> Floats:
            return np.asarray(factorial[n] - factorial[k] - factorial[n - k])

        inside, outside = np.zeros(m // 2 + 1), np.zeros(m // 2 + 1)
        joined = np.arange(m)[:, None]
        for among in range(m // 2 + 1):  # members of T among the m - 1 other players
            common = np.arange(among + 1)  # members that the coalition has of these
            rest = ways(m - 1 - among, joined - common)
            chance = np.exp(ways(among, common) + rest - ways(m - 1, joined))
            distance = np.clip(joined + among - 2 * common, 0, m - 1)
            agree, differ = ((chance * g[distance + d]).sum(axis=1) for d in (0, 1))
            outside[among] = joins @ (a[1:] * differ - a[:-1] * agree)
            if among < m // 2:
                inside[among + 1] = joins @ (a[1:] * agree - a[:-1] * differ)
        return inside, outside

    def exact(self, pairs: Bools) -> Floats:
        """Weights (m, pairs) with which all pairs give the exact value."""
        m, size = pairs.shape[1], pairs.sum(axis=1)
        contrast = (pairs.T - size / m) * (m**2 / (size * (m - size)))
        return np.asarray((self.slope[size] * contrast + self.level[size]) / self.counts[size])


class Fit:
    """Of all weights that are unbiased for every game, the best for a random one.

    ``weights`` (m, pairs): of the sampled part in the values.
    ``expected``: squared error of all values together for a random game. No game is the random one.
        But how the error compares with that of predicting a pair by the others is much the same
        for all games, and the latter is seen.

    With ``L`` the weights ``a`` of the semivalue on all coalitions, ``k`` the covariance and ``w``
    those here, it is ``L k L - 2 w k L + w k w``, noise included; and ``w (k + noise)`` is what the
    weights were solved for.
    """

    def __init__(self, part: Part, pairs: Bools) -> None:
        self._part, self._pairs, self._size = part, pairs, pairs.sum(axis=1)
        size, self._amplitude = self._size, part.amplitude[self._size]
        known = np.where(pairs.T, part.inside[size], part.outside[size])
        self._inverse = _inverse_covariance(part.profile, pairs)
        solved = self._unbiased(known)
        scaled = solved @ self._inverse
        self.weights = scaled / self._amplitude
        noise = part.noise - 2 * (part.exact(pairs) * self._amplitude * scaled).sum(axis=1)
        errors = part.variance + (scaled * (solved - 2 * known)).sum(axis=1) + NOISE * noise
        self.expected = float(errors.clip(0).sum())  # rounding, where all is known
        # by how much the others miss a pair, from what is kriged
        self._apart = self._amplitude / np.diag(self._inverse)
        left = (1 - np.bincount(size, minlength=len(part.counts)) / part.counts)[size]
        stated = float((self.weights**2 * left @ (self._amplitude * self._apart)).sum())
        self._root = np.sqrt(left * (self.expected / stated if stated > 0 else 0.0))

    def _unbiased(self, solved: Floats) -> Floats:
        """What to solve for, changed as little as makes every size count what it should.

        A size without a sample is read off the nearest that has one.
        """
        part, m, size = self._part, self._pairs.shape[1], self._size
        sampled, place = np.unique(size, return_inverse=True)
        of_size = np.eye(len(sampled))[place]
        nearest = np.abs(np.arange(1, len(part.counts))[:, None] - sampled).argmin(axis=1)
        scale = 1 / (m * self._amplitude)
        counted = [((self._pairs.T - size / m) * scale, part.slope)]
        if part.level.any():  # all players together count something
            counted.append((np.broadcast_to(scale, solved.shape), part.level))
        for direction, in_value in counted:
            missing = np.bincount(nearest, in_value[1:], minlength=len(sampled))
            missing -= (solved @ self._inverse * direction).sum(axis=0) @ of_size
            products = direction.T @ direction
            products *= self._inverse
            change = np.linalg.solve(of_size.T @ products @ of_size, missing)
            solved = solved + direction * (of_size @ change)
        return solved

    def errors(self, signs: Floats) -> list[Floats]:
        """Weights (m, pairs) of lines whose squares add up to the variances, on average.

        Errors of prediction as they count for the values, with random signs. The same signs make
        lines of both parts that belong together.
        """
        counted = self.weights * (self._root * self._apart)
        return [(counted * sign) @ self._inverse / self._amplitude for sign in signs]

    def inverse_dof(self) -> float:
        """1 / degrees of freedom of the prediction errors of a random game."""
        squares = np.square(self.weights * self._root)
        own = squares @ (self._amplitude * self._apart)
        squares = squares * self._apart**2
        mixed = ((squares @ np.square(self._inverse)) * squares).sum(axis=1)
        return float(mixed.mean() / max(np.mean(own**2), 1e-300))


def _inverse_covariance(profile: Floats, pairs: Bools) -> Floats:
    """The inverse of ``g(d) + noise`` over the pairs, in the memory of two such matrices."""
    signs = np.where(pairs, np.float32(1), np.float32(-1))
    matrix = profile[((pairs.shape[1] - signs @ signs.T) / 2).astype(np.int16)]
    matrix[np.diag_indices_from(matrix)] += NOISE
    # positive definite, as Krawtchouk polynomials are and there is noise
    factor, _ = lapack.dpotrf(matrix.T, lower=True, overwrite_a=True)
    inverse, _ = lapack.dpotri(factor, lower=True, overwrite_c=True)
    inverse += np.tril(inverse, -1).T  # LAPACK fills the lower triangle
    return np.asarray(inverse)


def pair_counts(m: int) -> Floats:
    """Number of pairs whose smaller half has ``s = 0 .. m // 2`` members.

    >>> pair_counts(5), pair_counts(6)
    (array([ 1.,  5., 10.]), array([ 1.,  6., 15., 10.]))
    """
    counts = [float(min(math.comb(m, size), 10**300)) for size in range(m // 2 + 1)]
    if m % 2 == 0:
        counts[-1] /= 2
    return np.array(counts)


def sample_pairs(
    m: int, n_pairs: int, random: np.random.Generator, shares: Floats | None = None
) -> Bools:
    """Different random pairs of ``m`` players, by their smaller halves, of all sizes.

    ``shares`` (m // 2 + 1,): how many pairs of each size in proportion to one another, until the
        size runs out; by default the same number of every size.

    >>> sample_pairs(6, 9, np.random.default_rng(0)).sum(axis=1)
    array([1, 1, 1, 2, 2, 2, 3, 3, 3])
    """
    counts, rank = pair_counts(m)[1:], np.arange(n_pairs)
    shares = np.ones(len(counts)) if shares is None else shares[1:]
    # The r-th pair of a size is due at a random time in [r, r + 1) / share, but the first of every
    # size that counts comes before all second ones: without it an estimate would lean.
    due = (rank + random.random((len(counts), n_pairs))) / shares[:, None]
    due[:, 0] *= np.where(shares > LEAST_SHARE, shares, 1.0)
    due[rank >= counts[:, None]] = np.inf
    first = np.argsort(due, axis=None)[: int(min(n_pairs, counts.sum()))]
    taken = np.bincount(1 + first // n_pairs, minlength=1).tolist()
    of_sizes = [_pairs_of_size(m, size, count, random) for size, count in enumerate(taken)]
    return np.concatenate(of_sizes)


def _pairs_of_size(m: int, size: int, count: int, random: np.random.Generator) -> Bools:
    """Different random pairs whose smaller half has ``size`` members."""
    found = np.zeros((0, m), dtype=np.bool_)
    while len(found) < count:  # to the last of all n takes about n log n draws
        some = random.permuted(np.tile(np.arange(m), (2 * count, 1)), axis=1) < size
        if 2 * size == m:  # of two halves the one with the first player stands for the pair
            some ^= ~some[:, :1]
        found = np.concatenate([found, some])
        first = np.unique(np.packbits(found, axis=1), axis=0, return_index=True)[1]
        found = found[np.sort(first)]
    return found[:count]


def few_subsets(n_subsets: int, n_players: int) -> bool:
    """Whether sampled subsets are too few to trust the intervals of every player.

    >>> few_subsets(20, 10), few_subsets(30, 10), few_subsets(2, 1)
    (True, False, False)
    """
    return bool(n_subsets < min(FEW_PER_PLAYER * n_players, 2**n_players))
