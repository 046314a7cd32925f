"""What it can change in the values that entries or weights were rounded, bounded for any labels.

Rounded distances may tie where true ones differ, and the other way round. Between two places of the
ranking where the rows before are nearer than the rows after by both distances, only the order
within a *block* of rows is in doubt. For the members of a block, and for nearer rows, that matters
as the order within a bin of the fast form does, so :mod:`shapley2d._knn.far_bins` has the bounds.
Blocks whose members tie either way are not in doubt.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.in_threads import map_in_threads
from shapley2d._base.streams import generator
from shapley2d._knn.distances import subset_sums
from shapley2d._knn.far_bins import drop_variation
from shapley2d._knn.true_distances import TrueDistances, joined

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.distances import IntegerColumns
    from shapley2d._knn.rank_weights import RankWeights
    from shapley2d._knn.row_values import RowValues

# Validation rows times column subsets up to which all are looked at, and the same times training
# rows: 0.1 s where rows seldom tie, and a second if there are doubts about all.
_ALL_PAIRS = 2.0**13
_ALL_WORK = 2.0**20
_AT_A_TIME = 2.0**14  # distances that are compared at a time: they stay in the cache
_SAMPLE_ROWS = 32  # validation rows that bounds are averaged over, of all splits together
_LEAST_SAMPLE_ROWS = 2  # of all splits together, and one of each
_SAMPLE_WORK = 2**21  # training rows times validation rows of all splits: beyond it fewer
_SAMPLE_COALITIONS = 3  # column subsets for each of them
_THREADS_FROM = 2**13  # training rows: with fewer, numpy holds the lock for most of the time
_MOST_THREADS = 6  # each holds some arrays as long as a column


def rounding_bound(parts: list[RowValues], references: list[IntegerColumns], seed: int) -> float:
    """How far off a value can be because distances are rounded.

    A value is a weighted sum of row values whose weights add up to 2 in size, so it is off by at
    most twice what the row values are under any column subset. In small tables all of them are
    looked at, and that is a bound; else it is estimated from a sample. 0 where nothing is rounded:
    rows rank as they do by exact arithmetic on the numbers of the table.

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
        if part.columns is reference and not reference.unrounded:
            continue
        pairs = part.n_valid * 2.0**part.n_columns
        if pairs <= _ALL_PAIRS and pairs * part.n_rows <= _ALL_WORK:
            off = _largest_rounding(part, reference)
        else:
            off = average_rounding(part, reference, sample)
        bound = max(bound, 2 * off)
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
    least, most = (-(-rows // n_splits) for rows in (_LEAST_SAMPLE_ROWS, _SAMPLE_ROWS))
    return min(int(np.clip(_SAMPLE_WORK // (n_rows * n_splits), least, most)), n_valid)


def _largest_rounding(part: RowValues, reference: IntegerColumns) -> float:
    """How far off row values can be, under the column subset where they can be farthest."""
    true = TrueDistances(reference)
    every = np.arange(part.n_valid)
    coded = np.stack([part.columns.dissimilarities(j) for j in range(part.n_columns)])
    exact, rests = true.by_column(every), true.rests_by_column(every)
    rounded = np.array([j in reference.unrounded for j in range(part.n_columns)])
    subsets = (np.arange(2**part.n_columns)[:, None] >> np.arange(part.n_columns)) & 1 == 1
    subsets = subsets[subsets[:, rounded].any(axis=1)]
    at_a_time = max(1, int(_AT_A_TIME // (part.n_valid * part.n_rows)))
    largest = 0.0
    for first in range(0, len(subsets), at_a_time):
        some = subsets[first : first + at_a_time]
        near, far = (subset_sums(one, some).reshape(-1, part.n_rows) for one in (coded, exact))
        found = partial(_rests_at, rests, some)
        certain = _same_order(near, far, true.relative_error, found)
        total = np.zeros((len(some), part.n_rows))
        for pair in np.flatnonzero(~certain).tolist():
            of_pair = partial(_rests_of_pair, found, pair)
            blocks = find_blocks(near[pair], far[pair], true.relative_error, of_pair)
            k, t = divmod(pair, part.n_valid)
            total[k] += block_bounds(part, t, blocks)
        largest = max(largest, float(total.max()) / part.n_valid)
    return largest


def _same_order(
    near: NDArray[np.integer],
    far: NDArray[np.floating],
    error: float,
    rests: Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.int64]],
) -> NDArray[np.bool_]:
    """Whether rows rank the same by rounded and by true distances, ties included.

    So it is where any two rows that follow each other either tie in both or are apart in both.

    Parameters
    ----------
    near, far : ndarray of shape (T, n)
        See :func:`find_blocks`.
    error : float
    rests : callable
        Given places of both kinds: numbers, by prime, that are equal where true distances are.

    Examples
    --------
    >>> near, far = np.array([[1, 0, 1], [1, 0, 1]]), np.array([[5.0, 2.0, 5.0], [5.0, 2.0, 4.9]])
    >>> equal = np.array([[[7, 3, 7], [7, 3, 8]]])
    >>> _same_order(near, far, 0.0, lambda t, rows: equal[:, t, rows])
    array([ True, False])
    """
    order = np.argsort(near, axis=1, kind="stable")
    near = np.take_along_axis(near, order, axis=1)
    far = np.take_along_axis(far, order, axis=1)
    apart = (near[:, :-1] < near[:, 1:]) & (far[:, :-1] * (1 + error) < far[:, 1:] * (1 - error))
    t, k = np.nonzero(~apart)  # few, mostly: what is left to look at
    tied = near[t, k] == near[t, k + 1]
    t, k = t[tied], k[tied]
    tied = (rests(t, order[t, k]) == rests(t, order[t, k + 1])).all(axis=0)
    apart[t, k] = tied
    return np.asarray(apart.all(axis=1))


def _rests_at(
    by_column: NDArray[np.int64],
    subsets: NDArray[np.bool_],
    pair: NDArray[np.intp],
    rows: NDArray[np.intp],
) -> NDArray[np.int64]:
    """Rests of distances from those by column (primes, columns, T, n).

    A pair is the place of a subset times T, plus a validation row.
    """
    k, t = np.divmod(pair, by_column.shape[2])
    return TrueDistances.reduced((by_column[:, :, t, rows] * subsets[k].T).sum(axis=1))


def _rests_of_pair(
    rests: Callable[[NDArray[np.intp], NDArray[np.intp]], NDArray[np.int64]],
    pair: int,
    rows: NDArray[np.intp],
) -> NDArray[np.int64]:
    return joined(rests(np.full(rows.size, pair), rows))


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
    true = TrueDistances(reference)
    total = np.zeros(part.n_rows)
    n_threads = 1 if part.n_rows < _THREADS_FROM else min(part.n_jobs, _MOST_THREADS)
    pieces = map_in_threads(lambda pair: pair_bounds(part, true, *pair), sample, n_threads)
    for bounds in pieces:
        total += bounds
    return float(total.max() / max(len(sample), 1))


def pair_bounds(
    part: RowValues, true: TrueDistances, t: int, coalition: NDArray[np.bool_]
) -> NDArray[np.float64] | float:
    """How far off the value of every row can be, for one validation row and one column subset."""
    near = part.columns.distances(t, coalition)
    far = true.of_rows(t, coalition)
    blocks = find_blocks(
        near, far, true.relative_error, lambda rows: true.rests(t, coalition, rows)
    )
    return block_bounds(part, t, blocks)


def block_bounds(part: RowValues, t: int, blocks: Blocks) -> NDArray[np.float64] | float:
    """The same, given where the order of the rows is in doubt."""
    game = part.axis.game
    blocks = blocks.take(part.order)
    factor = float(game.valid_weights[t])
    if game.classifies:
        return factor * classification_bounds(blocks, game.y == game.y_valid[t], game.weights)
    magnitude = game.magnitude
    if magnitude == 0:
        return 0.0
    bounds = regression_bounds(blocks, game.y / magnitude, game.n_neighbors, game.weights)
    return factor * bounds * magnitude**2


class Blocks(NamedTuple):
    """Rows by distance, in parts between which the order is certain.

    Attributes
    ----------
    place : ndarray of shape (n,)
        The block of every row.
    start, end : ndarray
        Where blocks start and end in the ranking.
    doubt : ndarray of bool
        Whether the order of a block's rows is in doubt.
    """

    place: NDArray[np.intp]
    start: NDArray[np.intp]
    end: NDArray[np.intp]
    doubt: NDArray[np.bool_]

    def take(self, order: NDArray[np.intp]) -> Blocks:
        """The same with the rows in another order."""
        return self._replace(place=self.place[order])


def find_blocks(
    near: NDArray[np.integer],
    far: NDArray[np.floating],
    error: float,
    rests: Callable[[NDArray[np.intp]], NDArray[np.int64]],
) -> Blocks:
    """Where the order of rows by rounded and by true distances is the same for certain.

    Parameters
    ----------
    near, far : ndarray of shape (n,)
        The distances that rows are ranked by, and those that they should be ranked by.
    error : float
        By how much the latter can be off, relatively.
    rests : callable
        Numbers of listed rows that are equal where true distances are.

    Examples
    --------
    >>> near, far = np.array([0, 5, 5, 9]), np.array([0.0, 4.9, 5.1, 9.0])
    >>> find_blocks(near, far, 0.0, lambda rows: rows).doubt
    array([False,  True, False])
    """
    order = np.argsort(near, kind="stable")
    near, far = near[order], far[order]
    lowest = np.minimum.accumulate((far * (1 - error))[::-1])[::-1]
    highest = np.maximum.accumulate(far * (1 + error))
    cut = (near[:-1] < near[1:]) & (highest[:-1] < lowest[1:])
    place = np.empty(order.size, dtype=np.intp)
    place[order] = np.append(0, np.cumsum(cut))
    start = np.append(0, np.flatnonzero(cut) + 1)
    end = np.append(start[1:], order.size)
    doubt = end - start > 1
    if doubt.any():
        members = doubt[place[order]]
        found = np.zeros(order.size, dtype=np.int64)
        found[members] = rests(order[members])
        tied = near[start] == near[end - 1]
        tied &= np.maximum.reduceat(found, start) == np.minimum.reduceat(found, start)
        doubt &= ~tied
    return Blocks(place, start, end, doubt)


def classification_bounds(
    blocks: Blocks, matches: NDArray[np.bool_], weights: RankWeights
) -> NDArray[np.float64]:
    """How far off every row's value can be for one validation row and one coalition.

    Parameters
    ----------
    blocks : Blocks
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
    >>> near, far = np.array([0, 5, 5, 9]), np.array([0.0, 4.9, 5.1, 9.0])
    >>> blocks = find_blocks(near, far, 0.0, lambda rows: rows)
    >>> classification_bounds(blocks, np.array([True, False, True, True]), weights).round(3)
    array([0.167, 0.167, 0.167, 0.   ])
    """
    place, start, end, doubt = blocks
    matching = np.bincount(place[matches], minlength=start.size)
    # rows of one label have one value whatever their order
    doubt = doubt & (matching > 0) & (matching < end - start)
    single = weights.single
    variation = drop_variation(single)
    mixed = matching * (end - start - matching) / (end - start)
    own = single[start + 1] - single[end]
    taken = np.minimum(single[start] - single[end], mixed * (variation[end] - variation[start + 1]))
    return _add_up(place, doubt, own, taken)


def regression_bounds(
    blocks: Blocks, targets: NDArray[np.float64], n_neighbors: int, weights: RankWeights
) -> NDArray[np.float64]:
    """The same for regression, for centred targets of magnitude 1."""
    place, start, end, doubt = blocks
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


def _add_up(
    place: NDArray[np.intp],
    doubt: NDArray[np.bool_],
    own: NDArray[np.float64],
    taken: NDArray[np.float64],
) -> NDArray[np.float64]:
    taken = np.where(doubt, taken, 0.0)
    beyond = np.cumsum(taken[::-1])[::-1] - taken
    return np.asarray((np.where(doubt, own, 0.0) + beyond)[place])
