"""What it can change in the values that entries or weights were rounded, bounded for any labels.

Rounded distances may tie where true ones differ, and the other way round. Between two places of the
ranking where the rows before are nearer than the rows after by both distances, only the order
within a *block* of rows is in doubt. For the members of a block, and for nearer rows, that matters
as the order within a bin of the fast form does, so :mod:`shapley2d._knn.far_bins` has the bounds.
Blocks whose members tie either way are not in doubt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.in_threads import LONG, map_in_threads
from shapley2d._base.streams import generator
from shapley2d._knn.far_bins import drop_variation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.distances import IntegerColumns
    from shapley2d._knn.rank_weights import RankWeights
    from shapley2d._knn.row_values import RowValues

_SAMPLE_ROWS = 32  # validation rows that bounds are averaged over, of all splits together
_LEAST_SAMPLE_ROWS = 4
_SAMPLE_WORK = 2**22  # training rows times validation rows: beyond it a split samples fewer
_SAMPLE_COALITIONS = 3  # column subsets for each of them
_MOST_THREADS = 6  # each holds some arrays as long as a column


def rounding_bound(parts: list[RowValues], references: list[IntegerColumns], seed: int) -> float:
    """How far off a value can be because distances are rounded, estimated from a sample.

    A value is a weighted sum of row values whose weights add up to 2 in size, so it is off by at
    most twice what the row values are. 0 where nothing is rounded: distances are those of exact
    arithmetic on the numbers of the table.

    Parameters
    ----------
    parts : list of RowValues
        One per split.
    references : list of IntegerColumns
        The tables of the splits as finely as there is room for.
    seed : int
    """
    bound = 0.0
    for part, reference, sample in zip(parts, references, _samples(parts, seed), strict=True):
        if part.columns is not reference or reference.unrounded:
            bound = max(bound, 2 * average_rounding(part, reference, sample))
    return bound


def _samples(parts: list[RowValues], seed: int) -> list[list[tuple[int, NDArray[np.bool_]]]]:
    """Validation rows and column coalitions of every split to average bounds over."""
    random = generator(seed, "form sample")
    samples = []
    for part in parts:
        sample = []
        for t in random.choice(
            part.n_valid, _sample_rows(part.n_rows, part.n_valid, len(parts)), replace=False
        ):
            for _ in range(_SAMPLE_COALITIONS):
                size = random.integers(1, part.n_columns + 1)  # as the Shapley value weighs sizes
                coalition = np.zeros(part.n_columns, dtype=bool)
                coalition[random.permutation(part.n_columns)[:size]] = True
                sample.append((int(t), coalition))
        samples.append(sample)
    return samples


def _sample_rows(n_rows: int, n_valid: int, n_splits: int) -> int:
    most = int(np.clip(_SAMPLE_WORK // n_rows, _LEAST_SAMPLE_ROWS, -(-_SAMPLE_ROWS // n_splits)))
    return min(most, n_valid)


def sample_size(n_rows: int, n_valid: int, n_splits: int) -> int:
    """Pairs of validation row and column subset that bounds of a split are averaged over.

    Examples
    --------
    >>> sample_size(1000, 500, 1), sample_size(10**6, 500, 1)
    (96, 12)
    """
    return _SAMPLE_COALITIONS * _sample_rows(n_rows, n_valid, n_splits)


def average_rounding(
    part: RowValues, reference: IntegerColumns, sample: list[tuple[int, NDArray[np.bool_]]]
) -> float:
    """How far off values can be on average over a sample, for the row where it can be farthest.

    Parameters
    ----------
    part : RowValues
    reference : IntegerColumns
        The same tables, coded as finely as there is room for.
    sample : list of (int, ndarray of bool)
        Validation rows with column subsets.
    """
    game, rounded, order = part.axis.game, part.columns, part.order
    magnitude = game.magnitude

    def bounds_of(pair: tuple[int, NDArray[np.bool_]]) -> NDArray[np.float64] | float:
        t, coalition = pair
        near = rounded.distances(t, coalition)[order]
        true = reference.unrounded_distances(t, coalition)[order]
        factor = float(game.valid_weights[t])
        if game.classifies:
            matches = game.y == game.y_valid[t]
            return factor * classification_bounds(near, true, matches, game.weights)
        if magnitude == 0:
            return 0.0
        bounds = regression_bounds(near, true, game.y / magnitude, game.n_neighbors, game.weights)
        return factor * bounds * magnitude**2

    total = np.zeros(game.n_rows)
    n_threads = 1 if game.n_rows < LONG else min(part.n_jobs, _MOST_THREADS)
    for bounds in map_in_threads(bounds_of, sample, n_threads):
        total += bounds
    return float(total.max() / max(len(sample), 1))


def classification_bounds(
    rounded: NDArray[np.integer],
    true: NDArray[np.floating],
    matches: NDArray[np.bool_],
    weights: RankWeights,
) -> NDArray[np.float64]:
    """How far off every row's value can be for one validation row and one coalition.

    Parameters
    ----------
    rounded, true : ndarray of shape (n,)
        The distances that rows are ranked by, and those that they should be ranked by.
    matches : ndarray of shape (n,)
        Which rows have the label of the validation row.
    weights : RankWeights

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> from shapley2d._knn.rank_weights import rank_weights
    >>> weights = rank_weights("shapley", 4, 1)
    >>> rounded, true = np.array([0, 5, 5, 9]), np.array([0.0, 4.9, 5.1, 9.0])
    >>> classification_bounds(rounded, true, np.array([True, False, True, True]), weights).round(3)
    array([0.167, 0.167, 0.167, 0.   ])
    """
    place, start, end, doubt = _blocks(rounded, true)
    matching = np.bincount(place[matches], minlength=start.size)
    doubt &= (matching > 0) & (
        matching < end - start
    )  # rows of one label have one value whatever their order
    single = weights.single
    variation = drop_variation(single)
    mixed = matching * (end - start - matching) / (end - start)
    own = single[start + 1] - single[end]
    taken = np.minimum(single[start] - single[end], mixed * (variation[end] - variation[start + 1]))
    return _add_up(place, doubt, own, taken)


def regression_bounds(
    rounded: NDArray[np.integer],
    true: NDArray[np.floating],
    targets: NDArray[np.float64],
    n_neighbors: int,
    weights: RankWeights,
) -> NDArray[np.float64]:
    """The same for regression, for centred targets of magnitude 1."""
    place, start, end, doubt = _blocks(rounded, true)
    size = end - start
    single, pair = weights.single, weights.pair
    sums = np.cumsum(np.bincount(place, weights=targets, minlength=start.size))
    reach = np.minimum(np.abs(np.append(0.0, sums[:-1])), start)
    drop_pair = pair[start] - pair[end]
    swing, swing_pair = (
        variation[end] - variation[start + 1]
        for variation in (drop_variation(single), drop_variation(pair))
    )
    factor, scale = 4.0 + 1.0 / n_neighbors, 1.0 / n_neighbors**2
    own = (
        factor * (single[start + 1] - single[end]) + (6.0 * reach + 8.0 * size) * drop_pair * scale
    )
    taken = (
        factor * np.minimum(single[start] - single[end], 0.25 * size * swing)
        + (size * drop_pair + (reach + size) * size * swing_pair) * scale
    )
    return _add_up(place, doubt, own, taken)


def _blocks(
    rounded: NDArray[np.integer], true: NDArray[np.floating]
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp], NDArray[np.bool_]]:
    """The block of every row; where blocks start and end; whether their order is in doubt."""
    order = np.argsort(rounded, kind="stable")
    near, far = rounded[order], true[order]
    nearest = np.minimum.accumulate(far[::-1])[::-1]
    cut = (near[:-1] < near[1:]) & (np.maximum.accumulate(far)[:-1] < nearest[1:])
    place = np.empty(order.size, dtype=np.intp)
    place[order] = np.append(0, np.cumsum(cut))
    start = np.append(0, np.flatnonzero(cut) + 1)
    end = np.append(start[1:], order.size)
    tied = near[start] == near[end - 1]
    tied &= np.maximum.reduceat(far, start) == np.minimum.reduceat(far, start)
    return place, start, end, ~tied


def _add_up(
    place: NDArray[np.intp],
    doubt: NDArray[np.bool_],
    own: NDArray[np.float64],
    taken: NDArray[np.float64],
) -> NDArray[np.float64]:
    taken = np.where(doubt, taken, 0.0)
    beyond = np.cumsum(taken[::-1])[::-1] - taken
    return np.asarray((np.where(doubt, own, 0.0) + beyond)[place])
