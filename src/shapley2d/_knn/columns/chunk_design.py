"""The column subsets of one chunk of validation rows, and one matrix that gives its results.

Where every chunk of validation rows has coalitions of its own, nothing of a chunk has to be kept
but its estimate: the estimators are linear in the row values, with weights that the coalitions
alone decide. So values, and lines whose squares add up to their variances, come out of the row
values while these are computed, a few coalitions at a time. Estimates of all chunks are unbiased
and independent, so that the variance of their mean is known from those of the chunks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.columns.design import PairSequence
from shapley2d._knn.columns.pair_fit import joint_dof, pair_estimators

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._knn.columns.semivalue import ColumnSemivalue

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ChunkDesign:
    """Coalitions, and the weights of their row values in lines of results.

    Attributes
    ----------
    coalitions : ndarray of shape (coalitions, m)
    weights : ndarray of shape (lines, coalitions)
        The first m lines are the values. Then come ``error_lines`` times m lines whose squares add
        up to the variances of the values.
    error_lines : int
    dof : float
        Degrees of freedom behind a variance.
    """

    coalitions: NDArray[np.bool_]
    weights: Floats
    error_lines: int
    dof: float


@dataclass(frozen=True)
class ChunkLines:
    """What a chunk has given: the weights of its design times the row values.

    Attributes
    ----------
    values : ndarray of shape (m, n)
    errors : ndarray of shape (error_lines, m, n), optional
        Lines whose squares add up to the variances.
    squares : ndarray of shape (m, n), optional
        In their place, the sums of their squares.
    of_columns : ndarray of shape (error_lines, m), optional
        And their sums over the rows.
    """

    values: Floats
    errors: Floats | None = None
    squares: Floats | None = None
    of_columns: Floats | None = None

    @classmethod
    def split(cls, lines: Floats, design: ChunkDesign) -> ChunkLines:
        """The parts of the lines of a design."""
        m = design.coalitions.shape[1]
        return cls(lines[:m], lines[m:].reshape(design.error_lines, m, lines.shape[1]))

    def squared(self, j: int) -> tuple[Floats, Floats]:
        """The variances of a column's values, and its error lines summed over the rows."""
        if self.errors is not None:
            own = self.errors[:, j]
            return np.square(own).sum(axis=0), own.sum(axis=1)
        assert self.squares is not None
        assert self.of_columns is not None
        return self.squares[j], self.of_columns[:, j]


def chunk_design(
    target: ColumnSemivalue,
    n_subsets: int,
    seed: np.random.SeedSequence,
    *,
    error_lines: int = 1,
    empty_is_zero: bool = False,
) -> ChunkDesign:
    """Coalitions of one chunk.

    Parameters
    ----------
    target : ColumnSemivalue
    n_subsets : int
        No columns, all columns, and complement pairs.
    seed : SeedSequence
        Of this chunk alone.
    error_lines : int
        For every column, at most: with more of them variances are known better.
    empty_is_zero : bool
        Whether no columns are worth 0.

    Examples
    --------
    >>> from shapley2d._knn.columns.semivalue import ColumnSemivalue
    >>> semivalue = ColumnSemivalue(6, "shapley")
    >>> design = chunk_design(semivalue, 34, np.random.SeedSequence(0), error_lines=2)
    >>> design.coalitions.shape, design.weights.shape
    ((34, 6), (18, 34))
    >>> in_all = design.weights[:6] @ np.ones((34, 1))  # a game that is always worth 1
    >>> bool(np.abs(in_all).max() < 1e-12)
    True
    """
    m = target.n_columns
    pairs = PairSequence(m, seed, target.shares).take(max((n_subsets - 2) // 2, 1))
    estimators = pair_estimators(target, pairs)
    count = min(error_lines, *(one.most_lines for one in estimators))
    signs = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _SIGNS))
    errors = zip(
        *(one.error_weights(np.random.default_rng(signs), count) for one in estimators), strict=True
    )
    lines = [_on_coalitions([one.weights for one in estimators], target.ends)]
    lines.extend(_on_coalitions(parts, (0.0, 0.0)) for parts in errors)
    weights = np.concatenate(lines)
    coalitions = np.concatenate(
        [np.zeros((1, m), dtype=np.bool_), np.ones((1, m), dtype=np.bool_), pairs, ~pairs]
    )
    if empty_is_zero:
        weights[:, 0] = 0.0
    return ChunkDesign(coalitions, weights, count, joint_dof(estimators, count))


_SIGNS = 2**31  # beyond the keys of sizes of coalitions


def _on_coalitions(parts: Sequence[Floats], ends: tuple[float, float]) -> Floats:
    """Weights of parts as weights of no columns, all columns, the pairs and their complements."""
    odd, even = parts[0] / 2, (parts[1] / 2 if len(parts) > 1 else 0.0)
    at_ends = np.tile(np.array(ends), (len(odd), 1))
    return np.concatenate([at_ends, even + odd, even - odd], axis=1)
