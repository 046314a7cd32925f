r"""The column subsets of one chunk of validation rows, and one matrix that gives its results.

Where every chunk of validation rows has coalitions of its own, nothing of a chunk has to be kept
but its estimate: the estimators are linear in the row values, with weights that the coalitions
alone decide. So values, what they change by where a part of the coalitions is left out, and how
varied the games of the rows are, come out of the row values while these are computed, a few
coalitions at a time.

An estimate from few coalitions leans to the mean of all columns, in every chunk alike, and a mean
over chunks would keep that. What the estimator makes of games in which every column simply adds its
value is known, the ``response``; its mean over all chunks, inverted, takes the lean out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.columns.design import PairSequence
from shapley2d._knn.columns.estimators import OddKernel
from shapley2d._knn.columns.expected_error import expected_error
from shapley2d._knn.columns.pair_fit import (
    expected_share,
    jackknife_groups,
    pair_estimators,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.columns.estimators import ColumnSemivalue

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ChunkDesign:
    """Coalitions, and the weights of their row values in lines of results.

    Attributes
    ----------
    coalitions : ndarray of shape (coalitions, m)
    weights : ndarray of shape (lines, coalitions)
        The first m lines are the values. Then come ``left_out`` times m lines whose squares add up
        to the variances of the values by a jackknife, and ``probes`` lines whose squares add up to
        the scale of a row's game.
    left_out, probes : int
    share : float
        What part of a variance the expected one has, see
        :mod:`~shapley2d._knn.columns.pair_fit`.
    expected : ndarray of shape (m,)
        Expected squared errors of the columns for a game of scale 1.
    response : ndarray of shape (m, m)
        Estimated values of a game in which columns only add their values, from those values.
    """

    coalitions: NDArray[np.bool_]
    weights: Floats
    left_out: int
    probes: int
    share: float
    expected: Floats
    response: Floats


@dataclass(frozen=True)
class ChunkLines:
    """What a chunk has given: the weights of its design times the row values.

    Attributes
    ----------
    values : ndarray of shape (m, n)
    probes : ndarray of shape (probes, n)
    changes : ndarray of shape (left_out, m, n), optional
        What the values change by where a part of the coalitions is left out.
    squares : ndarray of shape (m, n), optional
        In their place, the sums of their squares.
    of_columns : ndarray of shape (left_out, m), optional
        And their sums over the rows.
    """

    values: Floats
    probes: Floats
    changes: Floats | None = None
    squares: Floats | None = None
    of_columns: Floats | None = None

    @classmethod
    def split(cls, lines: Floats, design: ChunkDesign) -> ChunkLines:
        """The parts of the lines of a design."""
        m, ends = len(design.expected), len(design.expected) * (1 + design.left_out)
        changes = lines[m:ends].reshape(design.left_out, m, lines.shape[1])
        return cls(lines[:m], lines[ends:], changes)

    def squared(self, j: int) -> tuple[Floats, Floats]:
        """Sums of a column's squared changes, and the sums of its changes over the rows."""
        if self.changes is not None:
            own = self.changes[:, j]
            return np.square(own).sum(axis=0), own.sum(axis=1)
        assert self.squares is not None
        assert self.of_columns is not None
        return self.squares[j], self.of_columns[:, j]


def chunk_design(
    target: ColumnSemivalue,
    n_subsets: int,
    seed: np.random.SeedSequence,
    *,
    left_out: int = 1,
    probes: int = 2,
    first: int = 0,
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
    left_out : int
        Groups of coalitions to leave out in turn, of those that a jackknife has.
    probes : int
        Random projections of a row's game that its scale is read off.
    first : int
        The first group to leave out, so that chunks take turns.
    empty_is_zero : bool
        Whether no columns are worth 0.

    Examples
    --------
    >>> from shapley2d._knn.columns.estimators import ColumnSemivalue
    >>> semivalue = ColumnSemivalue(6, "shapley")
    >>> design = chunk_design(semivalue, 34, np.random.SeedSequence(0), left_out=2)
    >>> design.coalitions.shape, design.weights.shape
    ((34, 6), (20, 34))
    >>> worth = np.arange(6.0)
    >>> estimate = design.weights[:6] @ (design.coalitions @ worth)
    >>> bool(np.allclose(np.linalg.solve(design.response, estimate), worth))
    True
    """
    m = target.n_columns
    sequence = PairSequence(m, seed, None if target.efficient else target.shares)
    pairs = sequence.take(max((n_subsets - 2) // 2, 1))
    parts, changes, share, expected, scales = _sampled(target, pairs, seed, left_out, probes, first)
    lines = [
        _on_coalitions(target, [parts], ends=1),
        _on_coalitions(target, changes, ends=0),
        _on_coalitions(target, [[scales, *([0.0 * scales] * (len(parts) - 1))]], ends=0),
    ]
    left_out, probes = len(changes), len(scales)
    weights = np.concatenate(lines)
    coalitions = np.concatenate(
        [np.zeros((1, m), dtype=np.bool_), np.ones((1, m), dtype=np.bool_), pairs, ~pairs]
    )
    response = weights[:m] @ coalitions
    if empty_is_zero:
        weights[:, 0] = 0.0
    return ChunkDesign(coalitions, weights, left_out, probes, share, expected, response)


def _sampled(
    target: ColumnSemivalue,
    pairs: NDArray[np.bool_],
    seed: np.random.SeedSequence,
    left_out: int,
    probes: int,
    first: int,
) -> tuple[list[Floats], list[list[Floats]], float, Floats, Floats]:
    """Weights in values, changes and projections; the share and size of expected errors."""
    estimators = pair_estimators(target, pairs)
    odd, everything = estimators[0], np.ones(len(pairs), dtype=np.bool_)
    parts = [one.weights(everything) for one in estimators]
    group = jackknife_groups(pairs.sum(axis=1), target.counts)
    n_groups = int(group.max()) + 1
    left_out = min(left_out, n_groups)
    scale = math.sqrt((n_groups - 1) / left_out)
    changes = [
        [
            scale * (one.weights(group != (first + k) % n_groups) - whole)
            for one, whole in zip(estimators, parts, strict=True)
        ]
        for k in range(left_out)
    ]
    # the kernel knows the odd part alone, and a jackknife both
    if not target.symmetric or not isinstance(odd, OddKernel):
        return parts, changes, 0.0, np.zeros(target.n_columns), np.zeros((0, len(pairs)))
    share = expected_share(target.n_columns, len(pairs))
    random = np.random.default_rng(
        np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _PROBES))
    )
    scales = odd.projections(random.normal(size=(probes, len(pairs)))) / math.sqrt(probes)
    return parts, changes, share, expected_error(target, pairs, parts[0]).columns, scales


_PROBES = 2**31  # beyond the keys of sizes of coalitions


def _on_coalitions(target: ColumnSemivalue, lines: list[list[Floats]], *, ends: int) -> Floats:
    """Weights of parts as weights of no columns, all columns, the pairs and their complements."""
    found = []
    for parts in lines:
        odd, even = parts[0] / 2, (parts[1] / 2 if len(parts) > 1 else 0.0)
        at_ends = np.tile(ends * np.array(target.ends), (len(odd), 1))
        found.append(np.concatenate([at_ends, even + odd, even - odd], axis=1))
    return np.concatenate(found) if found else np.zeros((0, 0))
