"""Games that fill whole grids: chains of nested coalitions, each filled in one sweep."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._models.sweeps.scoring import ConstantBaseline

    Pair = tuple[Ints, Ints, Ints, Ints]  # rows, sizes, encoded columns, ends: a grid's two chains


class Chain(NamedTuple):
    """A run of coalitions, each within the next."""

    order: Ints  # the players as they join
    sizes: Ints  # how many have joined by each coalition
    start: int  # position of the run in the list of coalitions; empty coalitions are left out


def chains(masks: Bools) -> list[Chain]:
    """Cut a list of coalitions into runs of nested ones.

    Nested coalitions are one chain; any other list falls into short ones, of a single coalition at
    worst, so that a kernel for chains serves every list.
    """
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


def chain_of(order: Ints, start: int = 0) -> list[Chain]:
    """The chain of the coalitions along an order, of at least ``start`` players."""
    sizes = np.arange(max(start, 1), order.size + 1, dtype=np.intp)
    # those who are there at the start join as of a mask, so that sums are rounded alike
    order = np.append(np.sort(order[:start]), order[start:])
    return [Chain(order, sizes, int(start == 0))] if sizes.size else []


class SweepGame(ABC):
    """A game that fills the grid of a chain of rows and a chain of columns in one sweep.

    ``_members`` has the encoded columns of every player. Without a ``_baseline``, no rows or no
    columns are worth 0, and rows that are all alike what the model makes of them.
    """

    n_rows: int
    n_columns: int
    _members: Sequence[Ints]
    _baseline: ConstantBaseline | None = None

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities, swept in the chains that the lists fall into."""
        return self._swept(chains(rows), chains(columns), (len(rows), len(columns)))

    def grid(self, row_order: Ints, column_order: Ints, start: int = 0) -> Floats:
        """Utilities of nested coalitions, of at least ``start`` columns, in one sweep."""
        shape = self.n_rows + 1, self.n_columns + 1 - start
        return self._swept(chain_of(row_order), chain_of(column_order, start), shape)

    @abstractmethod
    def _scores(self, pair: Pair) -> Floats:
        """Utilities of the first ``sizes`` rows under the first ``ends`` encoded columns."""

    def _swept(
        self, rows: Sequence[Chain], columns: Sequence[Chain], shape: tuple[int, int]
    ) -> Floats:
        widths = np.array([owned.size for owned in self._members])
        baseline = self._baseline
        matrix = np.full(shape, 0.0 if baseline is None else baseline.nothing)
        encoded = []
        for chain in columns:
            order = np.concatenate([self._members[player] for player in chain.order])
            ends = np.cumsum(widths[chain.order], dtype=np.intp)[chain.sizes - 1]
            # players without encoded columns change nothing
            first = chain.start + int(np.searchsorted(ends, 1))
            ends = ends[ends > 0]
            if ends.size:
                encoded.append((slice(first, first + ends.size), order, ends))
        for chain in rows:
            part = slice(chain.start, chain.start + chain.sizes.size)
            constant = np.zeros((chain.sizes.size, 1))
            if baseline is not None:
                matrix[part] = constant = baseline.of_prefixes(chain.order, chain.sizes)[:, None]
            for columns_part, order, ends in encoded:
                pair = (chain.order, chain.sizes, order, ends)
                filled = self._scores(pair)
                if baseline is not None:
                    filled = np.where(baseline.teaches(*pair), filled, constant)
                matrix[part, columns_part] = filled
        return matrix
