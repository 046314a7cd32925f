"""The column subsets of one chunk of validation rows, and one matrix that gives its results.

Where every chunk of validation rows has coalitions of its own, nothing of a chunk has to be kept
but its estimate: the estimators are linear in the row values, with weights that the coalitions
alone decide. So values, and lines whose squares add up to their variances, come out of the row
values while these are computed, a few coalitions at a time. Estimates of all chunks are unbiased
and independent, so that the variance of their mean is known from those of the chunks.

From three subsets to a player on, 95 % intervals of nearest-neighbour games held 95-97 % of all
values, and 93-99 % of their sums (``benchmarks/column_sampling.py --corners``). With fewer
(:func:`few_subsets`) not all sizes are sampled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.columns.design import PairSequence
from shapley2d._knn.columns.estimators import PairKernel

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._knn.columns.semivalue import ColumnSemivalue


MAX_SUBSETS = 8192
"""Subsets of a chunk, at most: the matrix over their pairs is inverted."""

FEW_PER_PLAYER = 3
"""Subsets to a player below which one who matters far more than the others can be missed."""

_SIGNS = 2**31  # beyond the keys of sizes of coalitions


@dataclass(frozen=True)
class ChunkDesign:
    """Coalitions, and the weights of their row values in lines of results.

    ``coalitions`` (coalitions, m): no columns, all columns, then the others.
    ``weights`` (1 + error_lines, lines, coalitions): first those of the values, one line per
        column; then those of error lines, whose squares add up to the variances of the values.
    """

    coalitions: Bools
    weights: Floats
    dof: float


def few_subsets(n_subsets: int, n_players: int) -> bool:
    """Whether sampled subsets are too few to trust the intervals of every player.

    >>> few_subsets(20, 10), few_subsets(30, 10), few_subsets(2, 1)
    (True, False, False)
    """
    return bool(n_subsets < min(FEW_PER_PLAYER * n_players, 2**n_players))


def chunk_design(
    target: ColumnSemivalue,
    n_subsets: int,
    seed: np.random.SeedSequence,
    *,
    error_lines: int = 1,
    empty_is_zero: bool = False,
) -> ChunkDesign:
    """Coalitions of one chunk.

    ``n_subsets``: no columns, all columns, and complement pairs.
    ``seed``: of this chunk alone.
    ``error_lines``: for every column: with more of them variances are known better.
    ``empty_is_zero``: whether no columns are worth 0.

    >>> from shapley2d._knn.columns.semivalue import ColumnSemivalue
    >>> semivalue = ColumnSemivalue(6, "shapley")
    >>> design = chunk_design(semivalue, 34, np.random.SeedSequence(0), error_lines=2)
    >>> design.coalitions.shape, design.weights.shape
    ((34, 6), (3, 6, 34))
    >>> in_all = design.weights[0] @ np.ones(34)  # a game that is always worth 1
    >>> bool(np.abs(in_all).max() < 1e-12)
    True
    """
    m = target.n_columns
    pairs = PairSequence(m, seed, target.shares).take(max((n_subsets - 2) // 2, 1))
    estimators = pair_estimators(target, pairs)
    signs = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _SIGNS))
    errors = zip(
        *(one.error_weights(np.random.default_rng(signs), error_lines) for one in estimators),
        strict=True,
    )
    lines = [_on_coalitions([one.weights for one in estimators], target.ends)]
    lines.extend(_on_coalitions(parts, (0.0, 0.0)) for parts in errors)
    weights = np.array(lines)
    coalitions = np.concatenate(
        [np.zeros((1, m), dtype=np.bool_), np.ones((1, m), dtype=np.bool_), pairs, ~pairs]
    )
    if empty_is_zero:
        weights[:, :, 0] = 0.0
    return ChunkDesign(coalitions, weights, _joint_dof(estimators, error_lines))


def pair_estimators(target: ColumnSemivalue, pairs: Bools) -> list[PairKernel]:
    """An estimator of the odd part of a game, and of the even one where that matters."""
    odd = PairKernel(target, pairs)
    return [odd] if target.symmetric else [odd, PairKernel(target, pairs, odd=False)]


def _joint_dof(estimators: Sequence[PairKernel], count: int) -> float:
    """Degrees of freedom behind the variance of all parts together (Satterthwaite)."""
    spread = sum(one.expected**2 / one.dof(count) for one in estimators)
    return sum(one.expected for one in estimators) ** 2 / spread if spread > 0 else math.inf


def _on_coalitions(parts: Sequence[Floats], ends: tuple[float, float]) -> Floats:
    """Weights of parts as weights of no columns, all columns, the pairs and their complements."""
    odd, even = parts[0] / 2, (parts[1] / 2 if len(parts) > 1 else 0.0)
    at_ends = np.tile(np.array(ends), (len(odd), 1))
    return np.concatenate([at_ends, even + odd, even - odd], axis=1)
