"""From what a run found to the result that users get."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._fragments.facts import Fragments
from shapley2d._fragments.map import MOST, MOST_COLOURS
from shapley2d._valuation.valuation import Valuation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._fragments.estimate import Found
    from shapley2d._fragments.join import Joined


def make_valuation(
    joined: Joined,
    found: Found,
    players: Bools,
    groups: Bools,
    *,
    known: dict[str, Any],
    info: dict[str, Any],
    frame: str,
) -> Valuation:
    """The valuation: contributors in the order that they were given, null players with zeros.

    ``players`` and ``groups``: which contributors and which groups of columns were valued;
    ``known``: what else a valuation keeps of its contributors.
    """
    estimate = found.estimate
    covariance = _among(found.covariance, players, players)
    holders = [mine.any() and not joined.apart for mine in joined.labelled]
    facts = Fragments(
        columns=joined.table.column_names,
        n_rows=joined.table.n_rows,
        **_map(joined),
        labels=[*compress(joined.names, holders)],
        covariance=covariance,
        sets=_among(found.sets.T, players).T.astype(bool),
        set_scores=found.scores[:, 0],
        set_stderr=found.scores[:, 1],
        set_lost_stderr=found.scores[:, 2],
        how=found.how,
        n_orders=found.n_orders,
        n_trained=found.n_trained,
        **known,
    )
    return Valuation(
        values=_among(estimate.values, players, groups),
        stderr=_among(estimate.stderr, players, groups),
        row_names=np.array(joined.names, dtype=object),
        column_names=facts.columns if facts.by == "column" else ["all columns"],
        row_stderr=_among(estimate.row_stderr, players),
        column_stderr=_among(estimate.column_stderr, groups),
        total_stderr=estimate.total_stderr,
        dof=estimate.dof,
        info=info,
        _frame=frame,
        _fragments=facts,
    )


def _among(found: NDArray[Any], *players: Bools) -> Floats:
    """Numbers of the players, along the first axes; zeros for those that hold nothing."""
    whole = np.zeros([one.size for one in players] + [*found.shape[len(players) :]])
    whole[np.ix_(*players)] = found
    return whole


def _map(joined: Joined) -> dict[str, Any]:
    """Who holds how much, and the different rows of the map."""
    cells, times = [], np.zeros((joined.held.shape[1], joined.table.n_rows), dtype=np.intp)
    for held in joined.held:
        times += joined.rows_of(held)
        cells.append(joined.rows_of(held).sum(axis=1))
    patterns, pattern_rows = _patterns(joined)
    return {
        "cells": np.array(cells),
        "union": (times > 0).sum(axis=1), "overlap": (times > 1).sum(axis=1),
        "patterns": patterns, "pattern_rows": pattern_rows,
    }  # fmt: skip


def _patterns(joined: Joined) -> tuple[Bools, Ints]:
    """The different rows of the map, the most frequent first, and how many rows are like each."""
    n, m, _ = joined.held.shape
    none = np.zeros((0, n, m), dtype=bool), np.zeros(0, dtype=int)
    if n > MOST_COLOURS:
        return none
    bits = np.concatenate([np.packbits(joined.rows_of(held), axis=0) for held in joined.held])
    keys = np.ascontiguousarray(bits.T).view(np.dtype((np.void, len(bits)))).ravel()
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    if first.size > MOST:
        return none
    order = np.lexsort((first, -counts))
    patterns = [joined.rows_of(held)[:, first[order]] for held in joined.held]
    return np.array(patterns).transpose(2, 0, 1), counts[order]
