"""Row values of nearest neighbours under precedence, in closed form.

For the players L of one precedence, with the rows B of all lower ones always there, a row r votes
in the coalition B + T if it is there and has fewer than K rows nearer: with ``a`` players and ``b``
others nearer, if at most ``c = K - 1 - b`` of the ``a`` have joined. Where r is a player its
Shapley value in that game is ``min(1, (c + 1) / (a + 1))``, and each of the a gets an equal part of
what is left; where r is one of B, each of the a gets ``-1 / a`` if they can outvote it at all. Rows
at the same distance are averaged over all their orders: ``x`` of the tied rows of B and ``y`` of
the tied players come before r, which is a hypergeometric matter; only ``x <= c`` counts, so that
the sums are short.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from shapley2d._kernels.cache import CACHE
from shapley2d._kernels.distance import coalition_distances, column_dissimilarities
from shapley2d._kernels.sort import rank_rows


@numba.njit(nogil=True, cache=CACHE)
def add_with_precedence(table, labels, precedence, k, log_factorial, column_masks, sums):  # type: ignore[no-untyped-def]
    """Add the row values under each of the column coalitions for some validation rows.

    Parameters
    ----------
    table : tuple
        Training rows (m, n), validation rows (T, m), and how their columns are measured.
    labels : tuple
        Of the training rows, of the validation rows, and what each of the latter counts.
    precedence : tuple
        That of every training row, counted from 0, and how many different ones there are.
    k : int
    log_factorial : ndarray of shape (n + 2,)
    column_masks : ndarray of shape (B, m)
    sums : ndarray of shape (B, n)
    """
    train, valid, measures = table
    y, y_valid, factors = labels
    step_of, n_steps = precedence
    n_rows = train.shape[1]
    apart = np.empty_like(train)
    every = np.ones(len(train), np.bool_)
    distances, keys = np.empty(n_rows, train.dtype), np.empty(n_rows, train.dtype)
    rows = np.empty(n_rows, np.int32)
    packed, spare = np.empty(n_rows, np.int64), np.empty(n_rows, np.int64)
    of_group, own, tied_base, tied_own = (
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_rows),
        np.empty(n_rows),
    )
    starts = np.empty(n_rows + 1, np.int64)
    for t in range(valid.shape[0]):
        column_dissimilarities(train, valid[t], measures, 0, every, 0, n_rows, apart)
        scale = factors[t] / k
        for b in range(column_masks.shape[0]):
            coalition_distances(
                apart, column_masks[b : b + 1], 0, n_rows, distances.reshape(1, n_rows)
            )
            rank_rows(distances, keys, rows, packed, spare)
            for here in range(n_steps):
                n_groups = 0
                n_base, n_own, r = 0, 0, 0
                while r < n_rows and n_base < k:
                    start, key = r, keys[r]
                    bases, players, right_bases, right_players = 0, 0, 0, 0
                    while r < n_rows and keys[r] == key:
                        row = rows[r]
                        if step_of[row] < here:
                            bases += 1
                            right_bases += y[row] == y_valid[t]
                        elif step_of[row] == here:
                            players += 1
                            right_players += y[row] == y_valid[t]
                        r += 1
                    starts[n_groups], starts[n_groups + 1] = start, r
                    room = k - 1 - n_base
                    near_base, near_own = 0.0, 0.0
                    own[n_groups], tied_base[n_groups], tied_own[n_groups] = 0.0, 0.0, 0.0
                    if right_bases:
                        near_base, tied_base[n_groups] = outvoted(
                            bases, players, n_own, room, log_factorial
                        )
                    if players:
                        own[n_groups], near_own, tied_own[n_groups] = joined(
                            bases, players, n_own, room, log_factorial
                        )
                    of_group[n_groups] = right_bases * near_base + right_players * near_own
                    tied_base[n_groups] *= right_bases
                    # the players of the group, each less itself, share what the others' votes cost
                    # them
                    for p in range(start, r):
                        row = rows[p]
                        if step_of[row] == here:
                            right = 1.0 if y[row] == y_valid[t] else 0.0
                            cost = (
                                tied_base[n_groups] + (right_players - right) * tied_own[n_groups]
                            )
                            sums[b, row] += scale * (right * own[n_groups] + cost)
                    n_base += bases
                    n_own += players
                    n_groups += 1
                farther = 0.0
                for group in range(n_groups - 1, -1, -1):
                    for p in range(starts[group], starts[group + 1]):
                        if step_of[rows[p]] == here:
                            sums[b, rows[p]] += scale * farther
                    farther += of_group[group]


@numba.njit(nogil=True, cache=CACHE)
def outvoted(bases, players, nearer, room, log_factorial):  # type: ignore[no-untyped-def]
    """What a row that is always there costs each player that is nearer, and each that ties with it.

    Parameters
    ----------
    bases, players : int
        Rows that tie, the row included among the former.
    nearer : int
        Players that are nearer.
    room : int
        How many of them may join before the row has no vote.
    log_factorial : ndarray
    """
    near, tied = 0.0, 0.0
    for x in range(min(room, bases - 1) + 1):
        for y in range(players + 1):
            before = nearer + y
            if before > room - x:
                chance = _chance(bases - 1, players, x, y, log_factorial)
                near -= chance / before
                if y:
                    tied -= chance / before * y / players
    return near, tied


@numba.njit(nogil=True, cache=CACHE)
def joined(bases, players, nearer, room, log_factorial):  # type: ignore[no-untyped-def]
    """What a voting player gets, and what it costs each player that is nearer or ties with it."""
    own, near, tied = 0.0, 0.0, 0.0
    for x in range(min(room, bases) + 1):
        left = room - x
        for y in range(players):
            before = nearer + y
            chance = _chance(bases, players - 1, x, y, log_factorial)
            if before <= left:
                own += chance
                continue
            share = (left + 1.0) / (before + 1.0)
            own += chance * share
            near -= chance * share / before
            if y:
                tied -= chance * share / before * y / (players - 1)
    return own, near, tied


@numba.njit(nogil=True, cache=CACHE)
def _chance(bases, players, x, y, log_factorial):  # type: ignore[no-untyped-def]
    """Chance that ``x`` of some and ``y`` of other rows come before a row in a random order."""
    if bases + players == 0:
        return 1.0
    others = bases + players
    logarithm = (
        log_factorial[bases] - log_factorial[x] - log_factorial[bases - x]
        + log_factorial[players] - log_factorial[y] - log_factorial[players - y]
        + log_factorial[x + y] + log_factorial[others - x - y] - log_factorial[others]
    )  # fmt: skip
    return math.exp(logarithm) / (others + 1.0)
