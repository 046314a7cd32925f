"""The kernels of ``binned.cu`` in numpy, for one validation row and one coalition: what they compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._knn.cuda.kernel_inputs import (
    BINS,
    NEAR,
    as_floats,
    bins_of,
    compared_entries,
    largest_dissimilarities,
    make_layout,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.cuda.kernel_inputs import BinLayout
    from shapley2d._knn.row_axis import RowGame


def binned_values(
    game: RowGame, t: int, coalition: NDArray[np.bool_], layout: BinLayout | None = None
) -> NDArray[np.float64]:
    """Values of all rows: near ones by rank, others as if they tied with those in the same bin.

    Parameters
    ----------
    game : RowGame
    t : int
        The validation row.
    coalition : ndarray of shape (m,), bool
    layout : BinLayout, optional
        By default that of the coalition.

    Returns
    -------
    ndarray of shape (n,)
        In the order of the game.
    """
    distances = row_distances(game, t, coalition)
    if layout is None:
        top = float(largest_dissimilarities(game)[coalition].sum())
        layout = make_layout(top, int(coalition.sum()) or game.n_columns)
    groups = tie_groups(distances, layout)
    if game.task == "classification":
        return tied_classification(game, groups, game.y == game.y_valid[t])
    return tied_regression(game, groups, float(game.y_valid[t]))


def row_distances(game: RowGame, t: int, coalition: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Distance of every row from a validation row, added up in floats, column by column."""
    codes, compared = as_floats(game.train), compared_entries(game)[t]
    total = np.zeros(game.n_rows, dtype=np.float32)
    for j in np.flatnonzero(coalition):
        value, weight, added, missing = compared[j]
        apart = codes[j] - value
        known = added + (
            np.where(apart != 0, -weight, np.float32(0)) if weight < 0 else weight * apart * apart
        )
        total += np.where(np.isnan(codes[j]), missing, known)
    return total


def tie_groups(distances: NDArray[np.float32], layout: BinLayout) -> NDArray[np.int64]:
    """What rows are ranked by: the distance (its bits) of near ones, the bin of others, beyond all distances.

    The first bin of far rows is divided into as many parts as there are bins of near rows, whose
    place they take.
    """
    bins, bits = bins_of(distances, layout), distances.view(np.int32).astype(np.int64)
    reached = np.cumsum(np.bincount(bins, minlength=BINS))
    crowded = int(np.searchsorted(reached, NEAR, side="right"))
    far, groups = bins >= crowded, bins
    if 0 < crowded < BINS:
        digits = min(crowded.bit_length() - 1, layout.shift)
        parts = (bits >> (layout.shift - digits)) - ((crowded + layout.offset) << digits)
        groups = np.where(bins == crowded, crowded - (1 << digits) + parts, bins)
    return np.where(far, 2**31 + groups, bits)


def tied_classification(
    game: RowGame, groups: NDArray[np.integer], matches: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Values of rows that tie with those of the same group."""
    single, beyond = game.weights.single, game.weights.single_beyond
    _, place, size = np.unique(groups, return_inverse=True, return_counts=True)
    count = np.bincount(place[matches], minlength=size.size)
    end = np.cumsum(size)
    start = end - size
    total = beyond[start] - beyond[end]
    spread = np.where(
        size > 1, (total - size * single[end]) / np.maximum(size * (size - 1), 1), 0.0
    )
    taken = count / size * (single[start] - single[end])
    tail = np.cumsum(taken[::-1])[::-1] - taken
    other = -tail - count * spread
    match = total / size - (count - 1) * spread - tail
    return np.asarray(np.where(matches, match[place], other[place]))


def tied_regression(
    game: RowGame, groups: NDArray[np.integer], target: float
) -> NDArray[np.float64]:
    """The same for targets."""
    from shapley2d._kernels.tie_groups import group_quadratic

    weights, z = game.weights, game.y
    tables = (*weights[:5], game.inverse)
    _, place, size = np.unique(groups, return_inverse=True, return_counts=True)
    totals = np.bincount(place, weights=z)
    squares = np.bincount(place, weights=z**2)
    end = np.cumsum(size)
    nearer = np.cumsum(totals) - totals
    worth = np.zeros((size.size, 3))
    tails = (0.0, 0.0, 0.0)
    for g in range(size.size - 1, -1, -1):
        *worth[g], tails = group_quadratic(
            int(end[g] - size[g]), int(end[g]), nearer[g], totals[g], squares[g], tails, target,
            float(game.n_neighbors), tables,
        )  # fmt: skip
    alpha, beta, gamma = worth[place].T
    return np.asarray(alpha + z * (beta + gamma * z) - weights.alone * target * target)
