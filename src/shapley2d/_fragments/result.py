"""From what a run found to the result that users get."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._fragments.facts import MOST_PATTERNS, Fragments
from shapley2d._valuation.valuation import Valuation

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._fragments.estimate import Found
    from shapley2d._fragments.join import Joined

_LETTERS = 26  # more contributors than letters have no map


def make_facts(joined: Joined, found: Found, players: Bools, **known: Any) -> Fragments:
    """What a valuation keeps of its contributors; those that hold nothing have zeros."""
    n, m = len(joined.names), joined.table.n_columns
    cells, union, overlap = np.zeros((n, m), int), np.zeros(m, int), np.zeros(m, int)
    for j in range(m):
        held = joined.rows_of(joined.held[:, j])
        count = held.sum(axis=0)
        cells[:, j] = held.sum(axis=1)
        union[j], overlap[j] = (count > 0).sum(), (count > 1).sum()
    patterns, pattern_rows = _patterns(joined)
    lines = found.values[:, :, 1:].sum(axis=1)
    orders = found.order_variances[:, -1]
    covariance = np.zeros((n, n))
    covariance[np.ix_(players, players)] = lines @ lines.T + np.diag(orders)
    sets = np.zeros((len(found.sets), n), dtype=bool)
    sets[:, players] = found.sets
    without = np.full((n, found.whole.size), found.whole)
    without[players] = found.without
    labels = (
        ()
        if joined.labelled is None
        else tuple(
            name for name, mine in zip(joined.names, joined.labelled, strict=True) if mine.any()
        )
    )
    return Fragments(
        columns=joined.table.column_names,
        n_rows=len(joined.ids),
        cells=cells,
        union=union,
        overlap=overlap,
        patterns=patterns,
        pattern_rows=pattern_rows,
        labels=labels,
        alone=_among(players, found.alone[:, 0]),
        alone_stderr=_among(players, _norm(found.alone[:, 1:])),
        without=without[:, 0],
        without_stderr=_norm(without[:, 1:]),
        covariance=covariance,
        dof=_dof(found),
        orders_stderr=_among(players, np.sqrt(orders)),
        sets=sets,
        set_scores=found.scores[:, 0],
        set_stderr=found.scores[:, 1],
        set_lost_stderr=found.scores[:, 2],
        how=found.how,
        n_orders=found.n_orders,
        n_trained=found.n_trained,
        **known,
    )


def make_valuation(
    joined: Joined,
    found: Found,
    facts: Fragments,
    among: tuple[Bools, Bools],
    *,
    info: dict[str, Any],
    frame: str,
) -> Valuation:
    """The valuation: contributors in the order that they were given, null players with zeros."""
    players, columns = among
    n, m = players.size, columns.size
    values, stderr, place = np.zeros((n, m)), np.zeros((n, m)), np.ix_(players, columns)
    values[place] = found.values[:, :, 0]
    of_rows = np.square(found.values[:, :, 1:]).sum(axis=2)
    stderr[place] = np.sqrt(of_rows + found.order_variances[:, :-1])
    of_columns = np.square(found.values[:, :, 1:].sum(axis=0)).sum(axis=1)
    return Valuation(
        values=values,
        stderr=stderr,
        row_names=np.array(joined.names, dtype=object),
        column_names=facts.columns if facts.by == "column" else ["all columns"],
        row_stderr=np.sqrt(np.diag(facts.covariance)),
        column_stderr=_among(columns, np.sqrt(of_columns + found.column_variances)),
        total_stderr=float(_norm(found.whole[None, 1:])[0]),
        dof=facts.dof,
        info=info,
        _frame=frame,
        _fragments=facts,
    )


def _norm(lines: Floats) -> Floats:
    return np.asarray(np.sqrt(np.square(lines).sum(axis=1)))


def _among(players: Bools, found: Floats) -> Floats:
    whole = np.zeros(players.size)
    whole[players] = found
    return whole


def _dof(found: Found) -> float:
    """Degrees of freedom of both errors together (Satterthwaite 1946), of the worst contributor."""
    lines = found.values[:, :, 1:].sum(axis=1)
    of_rows, of_orders = np.square(lines).sum(axis=1), found.order_variances[:, -1]
    both = of_rows + of_orders
    spread = of_rows**2 / max(lines.shape[1] - 1, 1) + of_orders**2 / found.order_dof
    known = spread > 0
    return float((both[known] ** 2 / spread[known]).min()) if known.any() else np.inf


def _patterns(joined: Joined) -> tuple[Bools, Ints]:
    """The different rows of the map, the most frequent first, and how many rows are like each."""
    n, m, _ = joined.held.shape
    none = np.zeros((0, n, m), dtype=bool), np.zeros(0, dtype=int)
    if n > _LETTERS:
        return none
    codes = np.zeros((len(joined.ids), m), dtype=np.uint32)
    for k in range(n):
        codes |= joined.rows_of(joined.held[k]).T.astype(np.uint32) << np.uint32(k)
    keys = np.ascontiguousarray(codes).view(np.dtype((np.void, 4 * m))).ravel()
    _, first, counts = np.unique(keys, return_index=True, return_counts=True)
    if first.size > MOST_PATTERNS:
        return none
    order = np.lexsort((first, -counts))
    chosen = codes[first[order]]
    patterns = (chosen[:, None, :] >> np.arange(n, dtype=np.uint32)[None, :, None] & 1).astype(bool)
    return patterns, counts[order]
