"""The column axis: listed coalitions, or a walk over all of them, four at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np

from shapley2d._kernels.bins import LANES
from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.distance import column_dissimilarities, distances_from
from shapley2d._kernels.knn_row_games import gather, make_lines, make_scratch, prepare

if TYPE_CHECKING:
    from numpy.typing import NDArray


def walk_weights(
    weights_in: NDArray[np.float64], weights_out: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], float, float]:
    """Weights of a walk, arranged so that the sum common to all columns comes nearly free.

    The values of column j are the sum over all coalitions F of ``W[F, j] values(F)``, with
    ``weights_in[|F|]`` inside and ``-weights_out[|F|]`` outside. That is j's share, the sum of
    ``w(|F|) values(F)`` over the coalitions with j, ``w = weights_in + weights_out``, less the sum
    of ``weights_out(|F|) values(F)`` over all. Where ``weights_out(f)`` is ``w(f) (x + y f)``, the
    latter is x times the sum of ``w values`` over all coalitions, plus y times the sum of all
    shares, which are there anyway. This holds for Banzhaf (``x = 1/2``) and, except for the empty
    and the full coalition, for Shapley (``y = 1/m``).

    Returns
    -------
    weight : ndarray of shape (m + 3,)
        ``w(f)``, and two zeros.
    rest : ndarray of shape (m + 3,)
        ``weights_out(f) - w(f) (x + y f)``: what has to be added up coalition by coalition.
    x, y : float

    Examples
    --------
    >>> third, sixth = 1 / 3, 1 / 6
    >>> joining, leaving = [0, third, sixth, third], [third, sixth, third, 0]
    >>> walk_weights(np.array(joining), np.array(leaving))[1].round(4)
    array([ 0.3333,  0.    ,  0.    , -0.3333,  0.    ,  0.    ])
    """
    n_columns = len(weights_in) - 1
    weight = np.zeros(n_columns + 3)
    rest = np.zeros(n_columns + 3)
    weight[:-2] = weights_in + weights_out
    rest[:-2] = weights_out
    inner = weight[1:n_columns]
    x = y = 0.0
    if n_columns > 2 and np.all(inner > 0):
        ratio = weights_out[1:n_columns] / inner
        y = float((ratio[-1] - ratio[0]) / (n_columns - 2))
        x = float(ratio[0] - y)
        rest[:-2] -= weight[:-2] * (x + y * np.arange(n_columns + 1))
        rest[np.abs(rest) < 1e-15 * np.abs(weight)] = 0.0
    return weight, rest, x, y


# Rows whose values under four coalitions stay in the first cache between being looked up and being
# added.
_TILE = 512


@numba.njit(nogil=True, cache=CACHE)
def add_values(train, valid, measures, game, factors, chosen, coalitions, sums, lines, stop):  # type: ignore[no-untyped-def]
    """Add the row values under each of the coalitions to its line of ``sums``.

    Parameters
    ----------
    train : ndarray of shape (m, n), int64
    valid : ndarray of shape (T, m), same dtype
    measures : tuple
        As in :func:`~shapley2d._kernels.distance.column_dissimilarities`.
    game : tuple
        See :mod:`shapley2d._kernels.knn_row_games`.
    factors : ndarray of shape (T,)
        What each validation row counts.
    chosen : ndarray of int
        The validation rows.
    coalitions : ndarray of bool of shape (c, m)
    sums : ndarray of shape (at least c, n)
    lines : ndarray of int of shape (c,)
        The line of each coalition.
    stop : ndarray of bool of shape (1,)
        Set by another thread to end after the present validation row.
    """
    n_rows = train.shape[1]
    distances, shift = make_lines(game, -(-len(coalitions) // LANES) * LANES, n_rows)
    scratch = make_scratch(game, n_rows)
    tile = np.empty((LANES, _TILE))
    for t in chosen:
        if stop[0]:
            return
        distances_from(train, valid[t], measures, shift, coalitions, distances)
        for first in range(0, len(coalitions), LANES):
            four = coalitions[first : first + LANES]
            prepare(
                game, (train, valid, measures), t, four, distances[first : first + LANES], scratch
            )
            for begin in range(0, n_rows, _TILE):
                end = min(begin + _TILE, n_rows)
                gather(game, t, begin, end, scratch, tile)
                for lane in range(len(four)):
                    _add_times(sums[lines[first + lane], begin:end], factors[t], tile[lane])


@numba.njit(nogil=True, cache=CACHE)
def add_walk(train, valid, measures, game, factors, chosen, weights, sums, stop):  # type: ignore[no-untyped-def]
    """Add the weighted sums over all column coalitions to ``sums``, for one column or more.

    The walk follows a reflected Gray code: one column comes or goes at every step, and integers
    make that exactly reversible. A column's share is the sum of ``w(|F|) values(F)`` over the
    coalitions with it, less a sum over all coalitions that is common to all columns, see
    :func:`walk_weights`. So a running sum is enough: what it gains while a column is in belongs to
    that column. The first two columns are the exception: their four subsets are valued together,
    and their shares are added up directly.

    Parameters
    ----------
    train, valid, measures, game, factors, chosen, stop
        As in :func:`add_values`.
    weights : tuple
        Of :func:`walk_weights`.
    sums : ndarray of shape (m, n)
    """
    weight, rest, of_running, of_shares = weights
    n_columns, n_rows = train.shape
    distances, shift = make_lines(game, LANES, n_rows)
    dissimilarities = np.empty((n_columns, n_rows), distances.dtype)
    base = np.empty(n_rows, distances.dtype)
    scratch = make_scratch(game, n_rows)
    tile = np.empty((LANES, _TILE))
    running = np.empty(n_rows)
    common = np.empty(n_rows)
    # A single column walks with an idle partner, whose coalitions are not valued and weigh nothing.
    n_walking = max(n_columns, 2)
    lanes = LANES if n_columns > 1 else 2
    shares = np.empty((n_walking, n_rows))
    one = dissimilarities[0]
    two = dissimilarities[1] if n_columns > 1 else np.zeros_like(one)
    every = np.ones(n_columns, np.bool_)
    inside = np.empty((lanes, n_columns), np.bool_)  # the four coalitions
    for t in chosen:
        column_dissimilarities(train, valid[t], measures, shift, every, 0, n_rows, dissimilarities)
        base.fill(0)
        running.fill(0.0)
        common.fill(0.0)
        shares.fill(0.0)
        inside.fill(False)
        inside[1:3, 0] = True
        if n_columns > 1:
            inside[2:, 1] = True
        size = 0
        for step in range(1 << (n_walking - 2)):
            if stop[0]:
                return
            if step > 0:
                j = 2
                while not (step >> (j - 2)) & 1:
                    j += 1
                inside[:, j] = not inside[0, j]
                if inside[0, j]:
                    size += 1
                    _add(base, dissimilarities[j])
                    _subtract(shares[j], running)
                else:
                    size -= 1
                    _subtract(base, dissimilarities[j])
                    _add(shares[j], running)
            _spread(base, one, two, distances)
            prepare(game, (train, valid, measures), t, inside, distances, scratch)
            w = weight[size : size + 3]
            r = rest[size : size + 3]
            for begin in range(0, n_rows, _TILE):
                end = min(begin + _TILE, n_rows)
                part = slice(begin, end)
                gather(game, t, begin, end, scratch, tile)
                _add_four(tile, w, running[part], shares[0, part], shares[1, part])
                if r[0] != 0.0 or r[1] != 0.0 or r[2] != 0.0:
                    _add_rest(tile, r, common[part])
        for j in range(2, n_columns):
            if inside[0, j]:
                _add(shares[j], running)
        for i in range(n_rows):
            total = 0.0
            for j in range(n_columns):
                total += shares[j, i]
            common[i] += of_running * running[i] + of_shares * total
        for j in range(n_columns):
            _add_times(sums[j], factors[t], shares[j])
            _add_times(sums[j], -factors[t], common)


@numba.njit(nogil=True, cache=CACHE)
def _add(total, values):  # type: ignore[no-untyped-def]
    for i in range(total.size):
        total[i] += values[i]


@numba.njit(nogil=True, cache=CACHE)
def _add_times(total, factor, values):  # type: ignore[no-untyped-def]
    for i in range(total.size):
        total[i] += factor * values[i]


@numba.njit(nogil=True, cache=CACHE)
def _subtract(total, values):  # type: ignore[no-untyped-def]
    for i in range(total.size):
        total[i] -= values[i]


@numba.njit(nogil=True, cache=CACHE)
def _spread(base, one, two, distances):  # type: ignore[no-untyped-def]
    """Distances without the first two columns, with the first, with both, and with the second."""
    d0, d1, d2, d3 = distances[0], distances[1], distances[2], distances[3]
    for i in range(one.size):
        d0[i] = base[i]
        d1[i] = d0[i] + one[i]
        d2[i] = d1[i] + two[i]
        d3[i] = d0[i] + two[i]


@numba.njit(nogil=True, cache=CACHE)
def _add_four(tile, w, running, share_one, share_two):  # type: ignore[no-untyped-def]
    """Add the values of a tile under the four subsets of the first two columns to the sums."""
    v0, v1, v2, v3 = tile[0], tile[1], tile[2], tile[3]
    w0, w1, w2 = w[0], w[1], w[2]
    for i in range(running.size):
        first = w1 * v1[i]
        both = w2 * v2[i]
        second = w1 * v3[i]
        share_one[i] += first + both
        share_two[i] += both + second
        running[i] += (w0 * v0[i] + first) + (both + second)


@numba.njit(nogil=True, cache=CACHE)
def _add_rest(tile, r, common):  # type: ignore[no-untyped-def]
    """Add what the running sum and the shares do not account for to the common sum."""
    v0, v1, v2, v3 = tile[0], tile[1], tile[2], tile[3]
    for i in range(common.size):
        common[i] += r[0] * v0[i] + r[1] * (v1[i] + v3[i]) + r[2] * v2[i]
