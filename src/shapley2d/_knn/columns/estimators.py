r"""From sampled pairs to column values: a ridge over pairs (A), and an odd kernel (B).

A is kernel SHAP (Lundberg and Lee 2017, arXiv:1705.07874) over complement pairs; B is kriging, a
Gaussian process over coalitions (Rasmussen and Williams 2006).

Split a game into its odd part ``D(S) = (phi(S) - phi(S^c)) / 2`` and its even part ``E(S) = phi(S)
- D(S)``. With ``q(s)`` the probability that a player joins a coalition of ``s`` others, ``mean_s``
the game's mean over the coalitions of size ``s`` and ``b_s(j)`` its mean over those with player
``j`` minus that over those without, every semivalue is

    value(j) = sum_s level(s) mean_s + slope(s) b_s(j),
    level(s) = q(s-1) - q(s),    slope(s) = q(s-1) (m-s)/m + q(s) s/m.

The Shapley value (``q = 1/m``) has no level inside and a constant slope, and sees the odd part
alone; so do all semivalues that treat a coalition as its complement. A weighted regression of ``D``
on the members of ``S`` finds ``sum_s slope(s) b_s`` when a size weighs ``slope(s) / (s (m-s))`` in
all, whatever the game.

Every estimator here is linear in the sampled ``D`` and ``E``: it returns its weights, one line per
column, which serve all rows of the table. None forces the fit through ``phi({})`` and
``phi(everything)``, where the game of the nearest neighbours jumps; these two enter by
:attr:`ColumnSemivalue.ends` alone.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.columns.expected_error import expected_error
from shapley2d._knn.columns.kernel import inverse_kernel

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from shapley2d._knn.columns.semivalue import ColumnSemivalue

    Floats = NDArray[np.float64]

GROUPS = 10
"""Parts of the pairs that a jackknife leaves out in turn."""

_PENALTIES = np.concatenate([[0.0], np.logspace(-6, 1, 36)])
_BLOCK = 256  # lines of a matrix over the pairs at a time


class _Ridge:
    """Weighted ridge regression on the members of a pair.

    ``weights`` maps the sampled values to column values.

    Parameters
    ----------
    size : ndarray of shape (pairs,)
    features : ndarray of shape (pairs, m)
    mass : ndarray
        The weight of every size, shared by its sampled pairs.
    scale : float
        What one unit of a coefficient is worth.
    level : ndarray
        Weight of every size's mean in the value of all columns.
    fitted_level : ndarray of shape (m,)
        ``level`` times the features' true means, summed over the sizes: the fit stands in for what
        the sample of a size misses of them.
    """

    def __init__(
        self,
        size: NDArray[np.intp],
        features: Floats,
        mass: Floats,
        *,
        scale: float,
        level: Floats,
        fitted_level: Floats,
    ) -> None:
        n_sampled = np.bincount(size, minlength=len(mass))
        weight = mass[size] / n_sampled[size]
        self.weight = weight / max(weight.sum(), 1e-300)
        self.features, self.scale = features, scale
        self._level = level[size] / n_sampled[size]
        self._missed = fitted_level - self._level @ features
        self.spectrum, self.basis = np.linalg.eigh(features.T @ (self.weight[:, None] * features))
        self._usable = self.spectrum > 1e-10 * max(self.spectrum[-1], 1e-300)

    def shrinkage(self, penalty: float) -> Floats:
        """Inverse of the penalised spectrum, 0 for directions that the sample does not span."""
        return np.asarray(self._usable / np.where(self._usable, self.spectrum + penalty, 1.0))

    def weights(self, penalty: float) -> Floats:
        coefficients = (
            (self.basis * self.shrinkage(penalty)) @ self.basis.T @ (self.features.T * self.weight)
        )
        values = self.scale * (coefficients - coefficients.mean(axis=0))
        return np.asarray(values + self._level + self._missed @ coefficients)

    def best_penalty(self, chunks: Iterable[Floats]) -> float:
        """The penalty of least generalised cross-validation error, one for all rows."""
        project = self.basis.T @ (self.features.T * self.weight)
        power, total = np.zeros(len(project)), 0.0
        for chunk in chunks:
            power += np.square(project @ chunk).sum(axis=1)
            total += float(self.weight @ np.square(chunk).sum(axis=1))
        shrink = np.array([self.shrinkage(penalty) for penalty in _PENALTIES])
        left = np.maximum(total - (power * shrink * (2 - shrink * self.spectrum)).sum(axis=1), 0.0)
        spare = len(self.weight) - (shrink * self.spectrum).sum(axis=1)
        # A fit that all but interpolates a small sample says nothing about its error.
        allowed = spare >= min(len(self.weight) / 4, spare.max())
        return float(_PENALTIES[allowed][np.argmin(left[allowed] / spare[allowed] ** 2)])

    def slight_penalty(self) -> float:
        """A penalty that vanishes faster than the sampling error, so that no bias lasts."""
        n_pairs, m = self.features.shape
        return float(0.04 * (m / n_pairs) ** 2 * self.spectrum.mean())


def _odd_ridge(target: ColumnSemivalue, coalitions: NDArray[np.bool_]) -> _Ridge:
    m, sizes = target.n_columns, np.arange(len(target.counts))
    mass = target.odd_slope / np.maximum(sizes * (m - sizes), 1)
    fitted = np.full(m, target.odd_level @ (sizes / m - 0.5))
    return _Ridge(
        coalitions.sum(axis=1),
        coalitions.astype(np.float64) - 0.5,
        mass,
        scale=1.0,
        level=target.odd_level,
        fitted_level=fitted,
    )


def _even_ridge(target: ColumnSemivalue, coalitions: NDArray[np.bool_]) -> _Ridge:
    """Ridge of the even part on the members; a size and its complement have opposite slopes.

    The features are free of the sizes' sampled means, so that the even part's course over sizes
    cancels out.
    """
    m, sizes, size = target.n_columns, np.arange(len(target.counts)), coalitions.sum(axis=1)
    tilt = (
        1 - 2 * sizes / m
    )  # of one sign below the middle size, as is the slope of any Beta semivalue
    mass = np.abs(target.even_slope) / np.maximum(tilt * sizes * (m - sizes), 1e-300) * (tilt > 0)
    scale = m / (m - 1) * float(target.even_slope @ tilt)
    # The even part does not vanish on average: a size without sample is read off the nearest one
    # that has some.
    sampled = np.unique(size)
    level = np.zeros(len(sizes))
    np.add.at(level, sampled[np.abs(sizes[:, None] - sampled).argmin(axis=1)], target.even_level)
    features = tilt[size, None] * (coalitions - size[:, None] / m)
    features = _without_means(features, size)
    return _Ridge(size, features, mass, scale=scale, level=level, fitted_level=np.zeros(m))


def _without_means(lines: Floats, size: NDArray[np.intp]) -> Floats:
    """The lines less the mean of all lines of the same size."""
    sums = np.zeros((int(size.max()) + 1, lines.shape[1]))
    np.add.at(sums, size, lines)
    return np.asarray(lines - (sums / np.maximum(np.bincount(size), 1)[:, None])[size])


class PartEstimator:
    """One part of a game from a sample of its pairs; subclasses say how.

    Attributes
    ----------
    weights : ndarray of shape (m, pairs)
        Of the sampled part in the values.
    most_lines : int
        Lines of errors that there are, at most.
    expected : float
        How its squared error compares with that of the other part of a game.
    """

    weights: Floats
    most_lines: int = 2**31
    expected: float = 1.0

    def __init__(self, target: ColumnSemivalue, coalitions: NDArray[np.bool_]) -> None:
        self._target, self._coalitions = target, coalitions
        self._size = coalitions.sum(axis=1)

    def dof(self, count: int | None = None) -> float:
        """Degrees of freedom behind a variance of so many lines; of all that there are if None."""
        raise NotImplementedError

    def error_weights(self, random: np.random.Generator, count: int) -> list[Floats]:
        """Weights (m, pairs) of lines whose squares add up to the variances, on average.

        The same random numbers make lines of both parts that belong together.
        """
        raise NotImplementedError


class Refitted(PartEstimator):
    """An estimator whose error is seen by leaving out groups of pairs in turn, a jackknife."""

    @cached_property
    def weights(self) -> Floats:  # type: ignore[override]
        """Weights of a fit to all pairs."""
        return self._kept_weights(np.ones(len(self._size), dtype=np.bool_))

    @cached_property
    def _groups(self) -> NDArray[np.intp]:
        return jackknife_groups(self._size, self._target.counts)

    @property
    def most_lines(self) -> int:  # type: ignore[override]
        """The groups."""
        return int(self._groups.max()) + 1

    def dof(self, count: int | None = None) -> float:
        """One for every group, less the one that their mean takes."""
        groups = self.most_lines - 1
        return float(groups if count is None else min(count, groups))

    def error_weights(self, random: np.random.Generator, count: int) -> list[Floats]:
        """What leaving a group out changes, of some random groups."""
        n_groups = self.most_lines
        some = random.permutation(n_groups)[:count]
        scale = np.sqrt((n_groups - 1) / len(some))
        return [scale * self._change(k) for k in some.tolist()]

    def changes(self, part: Floats) -> Floats:
        """What leaving each group out changes in the values (groups, g, m) of some games."""
        return np.array([part.T @ self._change(k).T for k in range(self.most_lines)])

    def _change(self, group: int) -> Floats:
        keep = self._groups != group
        change = -self.weights
        change[:, keep] += self._kept_weights(keep)
        return change

    def _kept_weights(self, keep: NDArray[np.bool_]) -> Floats:
        raise NotImplementedError


class PairRidge(Refitted):
    """Estimator A: weighted ridge of the odd part, its penalty chosen by cross-validation.

    Parameters
    ----------
    target : ColumnSemivalue
    coalitions : ndarray of shape (pairs, m)
    odd : iterable of ndarray, optional
        The table's odd parts on these pairs, in chunks of shape (pairs, some rows). Without them
        there is no penalty, which takes more pairs than columns.
    """

    def __init__(
        self,
        target: ColumnSemivalue,
        coalitions: NDArray[np.bool_],
        odd: Iterable[Floats] | None = None,
    ) -> None:
        super().__init__(target, coalitions)
        ridge = _odd_ridge(target, coalitions)
        self._penalty = 0.0 if odd is None else ridge.best_penalty(odd)

    def _kept_weights(self, keep: NDArray[np.bool_]) -> Floats:
        return _odd_ridge(self._target, self._coalitions[keep]).weights(self._penalty)


class EvenRidge(Refitted):
    """What the even part adds to a semivalue that treats complements differently: a ridge as in A.

    Parameters
    ----------
    target : ColumnSemivalue
    coalitions : ndarray of shape (pairs, m)
    """

    def __init__(self, target: ColumnSemivalue, coalitions: NDArray[np.bool_]) -> None:
        super().__init__(target, coalitions)
        self._penalty = _even_ridge(target, coalitions).slight_penalty()

    def _kept_weights(self, keep: NDArray[np.bool_]) -> Floats:
        return _even_ridge(self._target, self._coalitions[keep]).weights(self._penalty)


class PairKernel(PartEstimator):
    """Estimator B: of all weights that are unbiased for every game, the best for a random one.

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

    Parameters
    ----------
    target : ColumnSemivalue
    coalitions : ndarray of shape (pairs, m)
    odd : bool
        Whether it is for the odd part, or for the even one.

    Attributes
    ----------
    expected : float
        Squared error of all values together for a random game.
    """

    def __init__(
        self, target: ColumnSemivalue, coalitions: NDArray[np.bool_], *, odd: bool = True
    ) -> None:
        super().__init__(target, coalitions)
        size, games = self._size, target.odd_games if odd else target.even_games
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

    def dof(self, count: int | None = None) -> float:
        """Degrees of freedom of the prediction errors of a random game; random signs have fewer."""
        return self._own_dof if count is None else 1 / (1 / self._own_dof + 1 / count)

    @cached_property
    def _own_dof(self) -> float:
        squares = np.square(self.weights * self._root)
        own, mixed = squares @ (self._amplitude * self._apart), np.zeros(len(squares))
        for start in range(0, len(self._size), _BLOCK):
            block = slice(start, start + _BLOCK)
            shared = self._apart[block, None] * self._inverse[block] * self._apart
            mixed += ((squares[:, block] @ np.square(shared)) * squares).sum(axis=1)
        return float(np.mean(own**2) / max(float(np.mean(mixed)), 1e-300))

    def error_weights(self, random: np.random.Generator, count: int) -> list[Floats]:
        """Errors of prediction as they count for the values, with random signs."""
        signs = random.choice([-1.0, 1.0], (count, len(self._size))) / np.sqrt(count)
        counted = self.weights * (self._root * self._apart)
        return [(counted * sign) @ self._inverse / self._amplitude for sign in signs]

    def missed(self, part: Floats) -> Floats:
        """Numbers (pairs, g) which, times the weights, are what the pairs add to the errors.

        Parameters
        ----------
        part : ndarray of shape (pairs, g)
            The sampled part of some games.
        """
        kriged = self._inverse @ (part / self._amplitude[:, None])
        return np.asarray((self._root * self._apart)[:, None] * kriged)


def _on_sampled(of_sizes: Floats, sampled: NDArray[np.intp]) -> Floats:
    """What the sampled sizes count: a size without a sample is read off the nearest that has one.

    Examples
    --------
    >>> _on_sampled(np.array([0.0, 0.5, 0.3, 0.2]), np.array([1, 3]))
    array([0.8, 0.2])
    """
    sizes = np.arange(1, len(of_sizes))
    nearest = np.abs(sizes[:, None] - sampled).argmin(axis=1)
    return np.bincount(nearest, of_sizes[1:], minlength=len(sampled)).astype(np.float64)


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
