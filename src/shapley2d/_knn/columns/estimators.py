r"""From sampled pairs to column values: a ridge over pairs (A), and an odd kernel before it (B).

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

from shapley2d._knn.columns.design import pair_counts
from shapley2d._knn.columns.kernel import (
    KERNEL_NOISE,
    OddGames,
    inverse_kernel,
)
from shapley2d._theory.semivalues import size_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from shapley2d._theory.semivalues import Semivalue

    Floats = NDArray[np.float64]

_PENALTIES = np.concatenate([[0.0], np.logspace(-6, 1, 36)])


_COUNTLESS = 10**300  # pairs: more than float64 can count


class ColumnSemivalue:
    """A semivalue of ``n_columns`` players, as the estimators need it.

    Attributes
    ----------
    joins : ndarray of shape (m,)
        ``q(s)``, the probability that a player joins a coalition of ``s`` others.
    ends : tuple of float
        Weights of ``phi({})`` and ``phi(everything)`` in the value of every column.
    symmetric : bool
        Whether the odd part decides alone.
    efficient : bool
        Whether the values sum to ``phi(everything) - phi({})``.

    Examples
    --------
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
    def odd_games(self) -> OddGames:
        """The kernel of estimator B with its semivalues, made once for all chunks of a run."""
        return OddGames(self.joins)

    @property
    def shares(self) -> Floats:
        """Relative numbers of pairs to sample of each size: as much as its slope counts."""
        return np.asarray(np.maximum(self.odd_slope / self.odd_slope.max(initial=1e-300), 0.02))

    def exact_weights(self, coalitions: NDArray[np.bool_]) -> list[Floats]:
        """Weights (m, pairs) of the parts with which all pairs give the exact semivalue."""
        m, size = self.n_columns, coalitions.sum(axis=1)
        contrast = (coalitions.T - size / m) * (m**2 / (size * (m - size)))
        odd = (self.odd_slope[size] * contrast + self.odd_level[size]) / self.counts[size]
        if self.symmetric:
            return [odd]
        return [odd, (self.even_slope[size] * contrast + self.even_level[size]) / self.counts[size]]


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


class _PairEstimator:
    """One part of a game from a sample of its pairs; subclasses say how."""

    def __init__(self, target: ColumnSemivalue, coalitions: NDArray[np.bool_]) -> None:
        self._target, self._coalitions = target, coalitions

    def weights(self, keep: NDArray[np.bool_]) -> Floats:
        """Weights (m, pairs) in the values estimated from the pairs to keep; 0 for others."""
        weights = np.zeros(self._coalitions.T.shape)
        weights[:, keep] = self._kept_weights(keep)
        return weights

    def _kept_weights(self, keep: NDArray[np.bool_]) -> Floats:
        raise NotImplementedError


class PairRidge(_PairEstimator):
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


class OddKernel(_PairEstimator):
    """Estimator B: smooth the odd part by a kernel of known semivalue, then A on the residuals.

    The kernel is ``a(|S|) a(|T|) g(d)`` with the Hamming distance ``d`` and noise ``0.1 a^2``. The
    ridge over the residuals makes up for what the kernel misses; its penalty vanishes faster than
    the sampling error does, so that no bias lasts.

    Parameters
    ----------
    target : ColumnSemivalue
    coalitions : ndarray of shape (pairs, m)
    """

    def __init__(self, target: ColumnSemivalue, coalitions: NDArray[np.bool_]) -> None:
        super().__init__(target, coalitions)
        size = coalitions.sum(axis=1)
        games = target.odd_games
        self._surrogate = np.where(coalitions.T, games.inside[size], games.outside[size])
        self._amplitude = games.amplitude[size]
        self._inverse = inverse_kernel(coalitions, games.profile)
        self._penalty = _odd_ridge(target, coalitions).slight_penalty()

    def _kept_weights(self, keep: NDArray[np.bool_]) -> Floats:
        # With u = D/a and alpha = (g + noise)^-1 u the kernel's game has the semivalue (surrogate @
        # alpha) and
        # leaves the residuals (noise a alpha) on the sample.
        ridge = _odd_ridge(self._target, self._coalitions[keep]).weights(self._penalty)
        onto_alpha = np.zeros(self._coalitions.T.shape)
        onto_alpha[:, keep] = (
            self._surrogate[:, keep] + KERNEL_NOISE * self._amplitude[keep] * ridge
        )
        weights = onto_alpha @ self._inverse
        if not keep.all():
            # The inverse of a submatrix from the inverse of the whole.
            block = self._inverse[np.ix_(~keep, ~keep)]
            weights -= np.linalg.solve(block, weights[:, ~keep].T).T @ self._inverse[~keep]
        return np.asarray((weights / self._amplitude)[:, keep])

    def scale(self, odd: Floats) -> Floats:
        """The most likely scale of the games of some rows, from their odd parts (pairs, rows)."""
        smooth = odd / self._amplitude[:, None]
        return np.asarray(
            np.maximum((smooth * (self._inverse @ smooth)).sum(axis=0) / len(odd), 0.0)
        )

    def projections(self, noise: Floats) -> Floats:
        """Weights (lines, pairs) that give lines whose mean square is the scale of a game.

        Parameters
        ----------
        noise : ndarray of shape (lines, pairs)
            Independent standard normal numbers.
        """
        root = np.linalg.cholesky(self._inverse)
        return np.asarray(noise @ root.T / self._amplitude / np.sqrt(noise.shape[1]))


class EvenRidge(_PairEstimator):
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
