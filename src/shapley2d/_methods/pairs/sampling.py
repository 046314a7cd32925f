"""Values of many players from complement pairs of subsets, and their joint errors.

Pairs and estimators are those of the column axis of nearest neighbours
(:mod:`shapley2d._knn.columns`): the Shapley value sees the odd part of a game alone, ``D(S) = (u(S)
- u(S^c)) / 2``, which a pair gives without noise from the even part. Estimator B is linear in D. So
for any stand-in ``f`` whose values are known exactly,

    values(u)  =  values(f)  +  B(u - f),

and the error is that of B on what the stand-in leaves (regression adjustment, Witter and others
2025). What coalitions are worth by their size alone always stands in: it adds the same to all
players, and is most of a learning curve. Boosted trees do where they help; each pair's residual
comes from trees that never saw it, so that the jackknife over pairs stays honest.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from shapley2d._base.defaults import MIN_COALITIONS, TOLERANCE
from shapley2d._base.precision import convergence_ratio
from shapley2d._knn.columns.design import PairSequence
from shapley2d._knn.columns.pair_fit import MAX_SUBSETS, PairFit, fit_pairs, pair_parts
from shapley2d._knn.columns.semivalue import ColumnSemivalue
from shapley2d.exceptions import OutOfTimeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._theory.semivalues import Semivalue

    Floats = NDArray[np.float64]

FOLDS = 5
"""Parts of the pairs, each of which is judged by trees that grew on the others."""

_PAIRS_PER_CALL = 32  # at most
_CALL_S = 2.0  # that a call takes at most, once it is known what a pair takes
_MIN_PAIRS = (MIN_COALITIONS - 2) // 2
_MIN_TREE_PAIRS = 32
_MAX_TREE_WORK = 2**23  # pairs x players x games that trees are grown on


@dataclass(frozen=True)
class PairEstimate:
    """Values of m players in g games from sampled pairs.

    Attributes
    ----------
    values, stderr : ndarray of shape (g, m)
    spread : ndarray of shape (groups, g, m)
        Deviations whose products, summed over the groups, are the covariances of the errors.
    dof : float
    n_subsets : int
        Coalitions evaluated.
    estimator : str
        ``"A"``, ``"B"``, either of them ``"after trees"``, or ``"all"`` where every coalition was
        evaluated.
    converged, interrupted, time_up : bool
    history : list of (int, float)
    """

    values: Floats
    stderr: Floats
    spread: Floats
    dof: float
    n_subsets: int
    estimator: str
    converged: bool = False
    interrupted: bool = False
    time_up: bool = False
    history: tuple[tuple[int, float], ...] = ()


def estimate_pairs(
    phi: Callable[[NDArray[np.bool_]], Floats],
    n_players: int,
    *,
    n_subsets: int | None = None,
    max_coalitions: int = MAX_SUBSETS,
    tolerance: float = TOLERANCE,
    semivalue: Semivalue = "shapley",
    seed: int = 0,
    progress: Callable[[int, int, float], None] | None = None,
) -> PairEstimate:
    """Estimate the values of the players of some games from complement pairs of coalitions.

    Parameters
    ----------
    phi : callable
        ``phi(coalitions)``, boolean (B, m) to float (B, g): utilities of the coalitions in every
        game.
    n_players : int
    n_subsets : int, optional
        Coalitions to evaluate; by default their number doubles until the tolerance is met.
    max_coalitions : int
        Where doubling ends at the latest.
    tolerance : float
        Stop when the largest standard error is this small beside the spread of the values.
    semivalue : Semivalue
    seed : int
    progress : callable, optional
        ``progress(done, planned, ratio)``; an ``OutOfTimeError`` that it raises ends the run with
        what there is.

    Examples
    --------
    >>> def phi(masks):
    ...     return masks.sum(axis=1, keepdims=True) ** 2.0
    >>> found = estimate_pairs(phi, 20, n_subsets=200)
    >>> found.values.round(6).max(), found.n_subsets
    (np.float64(20.0), 200)
    """
    target = ColumnSemivalue(n_players, semivalue)
    sequence = PairSequence(n_players, np.random.SeedSequence(seed), target.shares)
    ends = np.asarray(phi(np.array([[False] * n_players, [True] * n_players])), dtype=np.float64)
    sample = _Sample(target, semivalue, ends, seed)
    history: list[tuple[int, float]] = []
    best: PairEstimate | None = None
    at_once = 1  # a slow game is asked about few pairs at a time, so that a time limit holds
    schedule = _schedule(sequence.n_pairs, n_players, n_subsets, max_coalitions)
    try:
        for n_pairs in schedule:
            pairs = sequence.take(n_pairs)
            while sample.n_pairs < n_pairs:
                part = pairs[sample.n_pairs :][:at_once]
                begin = time.perf_counter()
                sample.add(part, np.asarray(phi(np.concatenate([part, ~part])), dtype=np.float64))
                pair_s = (time.perf_counter() - begin) / len(part)
                at_once = int(np.clip(_CALL_S / max(pair_s, 1e-9), 1, _PAIRS_PER_CALL))
                if progress is not None:
                    progress(
                        2 + 2 * sample.n_pairs,
                        2 + 2 * schedule[-1],
                        history[-1][1] if history else math.inf,
                    )
            everything = n_pairs == sequence.n_pairs
            best = sample.exact() if everything else sample.estimate(tolerance)
            ratio = convergence_ratio(best.values, best.stderr, best.dof)
            history.append((best.n_subsets, ratio))
            if ratio <= tolerance:
                return replace(best, converged=True, history=tuple(history))
    except (KeyboardInterrupt, OutOfTimeError) as cause:
        if sample.n_pairs < _MIN_PAIRS:
            raise
        time_up = isinstance(cause, OutOfTimeError)
        best = replace(sample.estimate(tolerance), interrupted=not time_up, time_up=time_up)
        history.append((best.n_subsets, convergence_ratio(best.values, best.stderr, best.dof)))
    assert best is not None
    return replace(best, history=tuple(history))


def coalitions_of_rounds(n_players: int, n_subsets: int | None, max_coalitions: int) -> list[int]:
    """How many coalitions have been evaluated by every look at the error.

    Examples
    --------
    >>> coalitions_of_rounds(20, None, 500), coalitions_of_rounds(20, 200, 500)
    ([82, 162, 322, 500], [200])
    """
    total = 2 ** (n_players - 1) - 1
    return [2 + 2 * pairs for pairs in _schedule(total, n_players, n_subsets, max_coalitions)]


def _schedule(total: int, n_players: int, n_subsets: int | None, max_coalitions: int) -> list[int]:
    """Numbers of pairs after each round."""
    if n_subsets is not None:
        return [min(max(-(-(n_subsets - 2) // 2), _MIN_PAIRS), total)]  # an odd number, rounded up
    most = min(max((max_coalitions - 2) // 2, _MIN_PAIRS), total)
    pairs, rounds = max(2 * n_players, 16), []
    while pairs < most:
        rounds.append(pairs)
        pairs *= 2
    return [*rounds, most]


class _Sample:
    """The evaluated pairs, and the values that follow from them."""

    def __init__(
        self, target: ColumnSemivalue, semivalue: Semivalue, ends: Floats, seed: int
    ) -> None:
        self._target, self._semivalue, self._ends, self._seed = target, semivalue, ends, seed
        self._coalitions: list[NDArray[np.bool_]] = []
        self._halves: list[tuple[Floats, Floats]] = []
        self.n_pairs = 0

    def add(self, pairs: NDArray[np.bool_], utilities: Floats) -> None:
        """Take in pairs, with utilities of their smaller halves, then of their complements."""
        self._coalitions.append(pairs)
        self._halves.append((utilities[: len(pairs)], utilities[len(pairs) :]))
        self.n_pairs += len(pairs)

    def _everything(self) -> tuple[NDArray[np.bool_], Floats, Floats]:
        small, large = (np.concatenate([halves[k] for halves in self._halves]) for k in (0, 1))
        return np.concatenate(self._coalitions), small, large

    def exact(self) -> PairEstimate:
        """The values, once all pairs are evaluated."""
        coalitions, small, large = self._everything()
        weights = self._target.exact_weights(coalitions)
        base = self._ends.T @ np.array(self._target.ends)
        parts = pair_parts(self._target, small, large)
        values = base[:, None] + sum(
            (part.T @ w.T for part, w in zip(parts, weights, strict=True)), np.zeros(())
        )
        nothing = np.zeros((1, *values.shape))
        return PairEstimate(
            values, nothing[0], nothing, math.inf, 2 + 2 * self.n_pairs, "all", converged=True
        )

    def estimate(self, tolerance: float) -> PairEstimate:
        """Values from the pairs so far; trees are grown where the tolerance is not met without."""
        pairs, small, large = self._everything()
        best = self._fit(pairs, small, large, self._ends)
        if self.n_pairs >= 2 * self._target.n_columns and best.estimator == "B":
            # where players add up, or matter in twos, a regression alone is nearly exact
            additive = self._fit(pairs, small, large, self._ends, "A")
            best = min(best, additive, key=_squared_error)
        precise = convergence_ratio(best.values, best.stderr, best.dof) <= tolerance
        if not precise and self._may_grow(small):
            best = min(best, self._after_trees(pairs, small, large), key=_squared_error)
        n_subsets = 2 + 2 * self.n_pairs
        return PairEstimate(
            best.values, best.stderr, best.deviations, best.dof, n_subsets, best.estimator
        )

    def _may_grow(self, small: Floats) -> bool:
        work = small.size * self._target.n_columns
        return self.n_pairs >= _MIN_TREE_PAIRS and work <= _MAX_TREE_WORK

    def _fit(
        self,
        pairs: NDArray[np.bool_],
        small: Floats,
        large: Floats,
        ends: Floats,
        estimator: Literal["A", "B"] = "B",
    ) -> PairFit:
        parts = pair_parts(self._target, small, large)
        return fit_pairs(self._target, pairs, parts, ends, estimator=estimator, centred=True)

    def _after_trees(self, coalitions: NDArray[np.bool_], small: Floats, large: Floats) -> PairFit:
        """The same of what trees leave, and their own values."""
        from shapley2d._methods.pairs.trees import TreeGame

        n_games, m = small.shape[1], self._target.n_columns
        fold = np.random.default_rng([self._seed % 2**63, 1]).permutation(len(coalitions)) % FOLDS
        left_small, left_large, left_ends = small.copy(), large.copy(), np.array(self._ends)
        known = np.zeros((n_games, m))
        all_ends = np.array([[False] * m, [True] * m])
        for k in range(FOLDS):
            out, seen = fold == k, fold != k
            masks = np.concatenate([coalitions[seen], ~coalitions[seen], all_ends])
            share = float(out.mean())
            for game in range(n_games):
                utilities = np.concatenate(
                    [small[seen, game], large[seen, game], self._ends[:, game]]
                )
                trees = TreeGame(masks, utilities, self._semivalue, self._seed + k)
                left_small[out, game] -= trees(coalitions[out])
                left_large[out, game] -= trees(~coalitions[out])
                left_ends[:, game] -= share * trees(all_ends)
                known[game] += share * trees.values
        fit = self._fit(coalitions, left_small, left_large, left_ends)
        return fit._replace(values=fit.values + known, estimator=f"{fit.estimator} after trees")


def _squared_error(fit: PairFit) -> float:
    return float((fit.stderr**2).sum())
