"""Standard errors of column values without further evaluations: a grouped jackknife over complement pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from shapley2d._theory.sums import BlockSums

    Floats = NDArray[np.float64]

GROUPS = 10


class Replicated(NamedTuple):
    """Values (n, m), their standard errors, those of the sums of rows, of columns and of all; degrees of freedom.

    And the covariance of the errors of the further sums that were asked for.
    """

    values: Floats
    stderr: Floats
    row_stderr: Floats
    column_stderr: Floats
    total_stderr: float
    dof: float
    covariance: Floats | None = None


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
    if (
        len(left_out) < 2
    ):  # nearly everything was evaluated: errors that are too large rather than none
        left_out = by_size[-2:]
    group = np.full(len(size), -1)
    # Dealt out size by size, so that every group has its part of every size (of neighbouring ones
    # if few).
    group[left_out] = np.arange(len(left_out)) % n_groups
    return group


def jackknife(
    weights: Sequence[Callable[[NDArray[np.bool_]], Floats]],
    chunks: Iterable[tuple[slice, Sequence[Floats]]],
    group: NDArray[np.intp],
    base: Floats,
    sums: BlockSums | None = None,
) -> Replicated:
    """Values from linear weights, and their standard errors from leaving out one group of pairs at a time.

    Parameters
    ----------
    weights : sequence of callable
        For each part of the game: ``weights(keep)``, the (m, pairs) weights that estimate from the
        pairs to keep.
    chunks : iterable of (slice, sequence of ndarray)
        Some rows of the table, and each part of the game on all pairs for these rows: (pairs, rows)
        arrays.
    group : ndarray of shape (pairs,)
        As from :func:`jackknife_groups`.
    base : ndarray of shape (n,)
        Added to the values of every column.
    sums : BlockSums, optional
        Further sums of the values, whose joint errors are wanted.
    """
    n_groups = int(group.max()) + 1
    keeps = [np.ones(len(group), dtype=np.bool_), *(group != which for which in range(n_groups))]
    stacked = [np.concatenate([part(keep) for keep in keeps]) for part in weights]
    n, m = len(base), len(stacked[0]) // len(keeps)
    values, variance = np.empty((n, m)), np.empty((n, m))
    row_variance, column_spread = np.empty(n), np.zeros((n_groups, m))
    sums_spread = np.zeros((n_groups, 0 if sums is None else len(sums)))
    for rows, lines in chunks:
        replicates = stacked[0] @ lines[0]
        for more, line in zip(stacked[1:], lines[1:], strict=True):
            replicates += more @ line
        replicates = replicates.reshape(len(keeps), m, -1)
        values[rows] = base[rows, None] + replicates[0].T
        spread = replicates[1:]
        spread -= spread.mean(axis=0)
        variance[rows] = np.einsum("gmr,gmr->mr", spread, spread).T
        row_variance[rows] = np.square(spread.sum(axis=1)).sum(axis=0)
        column_spread += spread.sum(axis=2)
        if sums is not None:
            part = sums.take_rows(np.arange(n)[rows])
            sums_spread += [part.of(one.T) for one in spread]
    scale = np.sqrt((n_groups - 1) / n_groups)
    return Replicated(
        values,
        scale * np.sqrt(variance),
        scale * np.sqrt(row_variance),
        scale * np.sqrt(np.square(column_spread).sum(axis=0)),
        float(scale * np.sqrt(np.square(column_spread.sum(axis=1)).sum())),
        float(n_groups - 1),
        None if sums is None else scale**2 * sums_spread.T @ sums_spread,
    )
