"""Estimator A: kernel SHAP over complement pairs, to compare the package's estimator with.

A weighted ridge regression (Lundberg and Lee 2017, arXiv:1705.07874) of the odd part ``D(S) =
(phi(S) - phi(S^c)) / 2`` of a game on the members of ``S`` finds Shapley values when all sizes
weigh alike in the values, whatever the game. Its errors are those of a jackknife over groups of
pairs.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

GROUPS = 10
"""Parts of the pairs that the jackknife leaves out in turn."""

_PENALTIES = np.concatenate([[0.0], np.logspace(-6, 1, 36)])


class RidgeFit(NamedTuple):
    """Shapley values (g, m) of games with their standard errors, and degrees of freedom."""

    values: Floats
    stderr: Floats
    dof: float


def fit_ridge(pairs: NDArray[np.bool_], odd: Floats, total: Floats) -> RidgeFit:
    """Shapley values of games from a sample of pairs.

    Parameters
    ----------
    pairs : ndarray of shape (pairs, m)
        Pairs by their smaller halves, in the random order in which they were drawn.
    odd : ndarray of shape (pairs, g)
        The odd parts of the games.
    total : ndarray of shape (g,)
        What all columns are worth, less what none are.

    Examples
    --------
    >>> from shapley2d._knn.kriging import sample_pairs
    >>> worth = np.arange(8.0)[:, None]
    >>> pairs = sample_pairs(8, 30, np.random.default_rng(0))
    >>> fit = fit_ridge(pairs, (pairs @ worth - ~pairs @ worth) / 2, worth.sum(axis=0))
    >>> bool(np.allclose(fit.values, worth.T))
    True
    """
    ridge = _Ridge(pairs)
    penalty = ridge.best_penalty(odd)
    weights, m = ridge.weights(penalty), pairs.shape[1]
    counts = [math.comb(m, size) / (2 if 2 * size == m else 1) for size in range(m // 2 + 1)]
    groups = jackknife_groups(pairs.sum(axis=1), np.array(counts))
    changes = []
    for group in range(int(groups.max()) + 1):
        keep = groups != group
        changes.append((_Ridge(pairs[keep]).weights(penalty) @ odd[keep] - weights @ odd).T)
    off = np.array(changes) - np.mean(changes, axis=0)
    count = len(changes)
    stderr = np.sqrt((count - 1) / count * np.square(off).sum(axis=0))
    return RidgeFit((total / m + weights @ odd).T, stderr, float(count - 1))


class _Ridge:
    """Weighted ridge regression on the members of a pair."""

    def __init__(self, pairs: NDArray[np.bool_]) -> None:
        m, size = pairs.shape[1], pairs.sum(axis=1)
        # the middle size is its own mirror image
        mass = np.where(2 * size == m, 1.0, 2.0) / (size * (m - size)) / np.bincount(size)[size]
        self._weight = mass / mass.sum()
        self._features = pairs - 0.5
        gram = self._features.T @ (self._weight[:, None] * self._features)
        self._spectrum, self._basis = np.linalg.eigh(gram)
        self._usable = self._spectrum > 1e-10 * max(self._spectrum[-1], 1e-300)

    def _shrinkage(self, penalty: float) -> Floats:
        """Inverse of the penalised spectrum, 0 for directions that the sample does not span."""
        return np.asarray(self._usable / np.where(self._usable, self._spectrum + penalty, 1.0))

    def weights(self, penalty: float) -> Floats:
        """Weights (m, pairs) of the odd part in the values."""
        onto = self._basis.T @ (self._features.T * self._weight)
        found = (self._basis * self._shrinkage(penalty)) @ onto
        return np.asarray(found - found.mean(axis=0))

    def best_penalty(self, odd: Floats) -> float:
        """The penalty of least generalised cross-validation error, one for all games."""
        project = self._basis.T @ (self._features.T * self._weight)
        power = np.square(project @ odd).sum(axis=1)
        total = float(self._weight @ np.square(odd).sum(axis=1))
        shrink = np.array([self._shrinkage(penalty) for penalty in _PENALTIES])
        left = total - (power * shrink * (2 - shrink * self._spectrum)).sum(axis=1)
        spare = len(self._weight) - (shrink * self._spectrum).sum(axis=1)
        # a fit that all but interpolates a small sample says nothing about its error
        allowed = spare >= min(len(self._weight) / 4, spare.max())
        error = np.maximum(left, 0.0)[allowed] / spare[allowed] ** 2
        return float(_PENALTIES[allowed][np.argmin(error)])


def jackknife_groups(
    size: NDArray[np.intp], counts: Floats, n_groups: int = GROUPS
) -> NDArray[np.intp]:
    """Group in which each sampled pair is left out, or -1 for pairs that always stay.

    Of ``n`` sampled pairs out of ``N`` of a size, the mean varies by ``(1 - f) var / n`` with ``f =
    n / N``. Leaving out ``d`` of them at a time in ``G`` groups finds ``(G - 1) d / (n - d) var /
    n``. So ``d = n (1 - f) / (G - f)`` puts the finite-population factor into the groups
    themselves, size by size: an enumerated size stays whole.

    Examples
    --------
    >>> jackknife_groups(np.array([1, 2, 1, 2, 1, 2]), np.array([1.0, 3.0, 1e9]), n_groups=3)
    array([-1,  0, -1,  1, -1,  2])
    """
    fraction = np.bincount(size, minlength=len(counts)) / counts
    share = n_groups * (1 - fraction) / (n_groups - fraction)
    by_size = np.argsort(size, kind="stable")
    # systematic sampling in the order of sizes: each size gives its share, rounded up or down
    steps = np.floor(np.cumsum(share[size[by_size]]) + 0.5)
    left_out = by_size[np.diff(steps, prepend=0.0) > 0]
    if len(left_out) < 2:  # nearly all were evaluated: errors that are too large rather than none
        left_out = by_size[-2:]
    group = np.full(len(size), -1)
    # dealt out size by size, so that every group has its part of every size
    group[left_out] = np.arange(len(left_out)) % n_groups
    return group
