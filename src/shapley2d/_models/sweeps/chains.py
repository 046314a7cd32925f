"""Lists of coalitions as chains of nested ones, which a kernel fills in one sweep."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._theory.coalitions import NestedCoalitions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._models.sweeps.scoring import ConstantBaseline
    from shapley2d._theory.coalitions import Coalitions

    Pair = tuple[Ints, Ints, Ints, Ints]  # rows, sizes, encoded columns, ends: a grid's two chains


class Chain(NamedTuple):
    """A run of coalitions, each within the next."""

    order: Ints  # the players as they join
    sizes: Ints  # how many have joined by each coalition
    start: int  # position of the run in the list of coalitions; empty coalitions are left out


def chains(coalitions: Coalitions) -> list[Chain]:
    """Cut a list of coalitions into runs of nested ones.

    The coalitions of a permutation are one chain; any other list falls into short ones, of a single
    coalition at worst, so that a kernel for chains serves every list.
    """
    if isinstance(coalitions, NestedCoalitions):
        return [Chain(coalitions.order, np.arange(1, len(coalitions), dtype=np.intp), 1)]
    masks = coalitions.masks()
    sizes = masks.sum(axis=1, dtype=np.intp)
    breaks = (masks[:-1] & ~masks[1:]).any(axis=1) | (sizes[:-1] == 0)
    starts = [0, *(np.flatnonzero(breaks) + 1).tolist(), len(masks)]
    found = []
    for start, stop in itertools.pairwise(starts):
        if start < stop and sizes[start]:
            members = np.flatnonzero(masks[stop - 1])
            joins = masks[start:stop, members].argmax(axis=0)
            order = members[np.argsort(joins, kind="stable")]
            found.append(Chain(order, sizes[start:stop], start))
    return found


def sweep_utilities(
    rows: Coalitions,
    columns: Coalitions,
    members: Sequence[Ints],
    fill: Callable[[Pair], Floats],
    baseline: ConstantBaseline | None = None,
) -> Floats:
    """Utilities of all pairs of coalitions, from a function that fills grids of two chains.

    A chain of nested row coalitions under a chain of nested column coalitions, as one permutation
    pair of a Monte Carlo draw has them, is filled in one sweep; other coalitions are swept in the
    chains they fall into. ``members`` has the encoded columns of every player; ``fill`` gives
    utilities of the first ``sizes`` of the rows under the first ``ends`` of the encoded columns.
    Without a ``baseline``, no rows or no columns are worth 0, and rows that are all alike what the
    model makes of them.
    """
    widths = np.array([owned.size for owned in members])
    matrix = np.full((len(rows), len(columns)), 0.0 if baseline is None else baseline.nothing)
    encoded = []
    for chain in chains(columns):
        order = np.concatenate([members[player] for player in chain.order])
        ends = np.cumsum(widths[chain.order], dtype=np.intp)[chain.sizes - 1]
        # players without encoded columns change nothing
        start = chain.start + int(np.searchsorted(ends, 1))
        ends = ends[ends > 0]
        if ends.size:
            encoded.append((slice(start, start + ends.size), order, ends))
    for chain in chains(rows):
        part = slice(chain.start, chain.start + chain.sizes.size)
        constant = np.zeros((chain.sizes.size, 1))
        if baseline is not None:
            matrix[part] = constant = baseline.of_prefixes(chain.order, chain.sizes)[:, None]
        for columns_part, order, ends in encoded:
            pair = (chain.order, chain.sizes, order, ends)
            filled = fill(pair)
            if baseline is not None:
                filled = np.where(baseline.teaches(*pair), filled, constant)
            matrix[part, columns_part] = filled
    return matrix
