"""The map of a table: rectangles of cells that the same contributors hold, and where letters fit.

Rows and columns stand beside those with the same holders, so that scattered rows become blocks. All
places are in per cent: one drawing serves a screen, a phone and a printer.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Ints

Runs = list[tuple[float, float]]
"""Tops and heights of rectangles."""

MOST = 900
"""More rectangles, or different rows, than this are confetti."""

MOST_COLOURS = 12
"""Contributors that colours and letters tell apart: with more there is no map."""

_LEAST, _APART = 2.4, 12.0  # per cent of the height: of a block with letters, between two of them


class Label(NamedTuple):
    """Where letters may stand: the middle and the size of a block."""

    who: tuple[int, ...]
    x: float
    y: float
    width: float
    height: float
    first: bool = True  # of these holders


class Map(NamedTuple):
    columns: list[int]  # their order
    blocks: list[dict[tuple[int, ...], Runs]]  # of every column, by holders
    labels: list[Label]

    @property
    def shared(self) -> list[tuple[int, ...]]:
        """The sets of several contributors that hold the same cells."""
        return sorted({who for column in self.blocks for who in column if len(who) > 1})


def draw_map(patterns: Bools, rows: Ints) -> Map | None:
    """The map of a table; None where it would be confetti.

    ``patterns`` are its different rows (rows, contributors, columns), ``rows`` counts them.
    """
    n_patterns, k, m = patterns.shape
    if not n_patterns:
        return None
    holders = patterns.transpose(0, 2, 1) @ (1 << np.arange(k))
    columns = _neighbours(holders.T, rows)
    order = _neighbours(patterns.reshape(n_patterns, -1), np.ones(k * m))
    full = (holders > 0).mean(axis=1)[order]
    if full @ rows[order] and np.average(np.cumsum(rows[order]), weights=full) > rows.sum() / 2:
        order = order[::-1]  # the fuller rows on top
    holders = holders[order][:, columns]
    edges = np.concatenate([[0.0], np.cumsum(rows[order])]) * 100 / rows.sum()
    begins = np.diff(holders, axis=0, prepend=-1) != 0
    if (begins & (holders > 0)).sum() > MOST:
        return None
    blocks: list[dict[tuple[int, ...], Runs]] = [{} for _ in range(m)]
    labels = []
    for j, column in enumerate(holders.T):
        for a, b in pairwise([*np.flatnonzero(begins[:, j]), n_patterns]):
            if not column[a]:
                continue
            who = tuple(i for i in range(k) if column[a] >> i & 1)
            top, height = float(edges[a]), float(edges[b] - edges[a])
            blocks[j].setdefault(who, []).append((round(top, 2), round(height, 2)))
            others = np.flatnonzero((holders[a:b] != column[a]).any(axis=0))
            left, right = max([-1, *others[others < j]]) + 1, min([m, *others[others > j]])
            middle = (left + right) * 50 / m
            labels.append(Label(who, middle, top + height / 2, (right - left) * 100 / m, height))
    return Map(columns.tolist(), blocks, _without_crowds(labels))


def _neighbours(items: Ints | Bools, weights: Ints) -> Ints:
    """An order in which like items are neighbours."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import pdist

    if len(items) < 3:
        return np.arange(len(items))
    apart = pdist(items, "hamming", w=weights)
    return np.asarray(leaves_list(linkage(apart, "average", optimal_ordering=True)))


def _without_crowds(labels: list[Label]) -> list[Label]:
    """The largest first, none near another one of the same holders."""
    kept: list[Label] = []
    for one in sorted(labels, key=lambda one: -one.height * one.width**1.3):
        mine = [other for other in kept if other.who == one.who]
        near = [
            other
            for other in mine
            if abs(other.y - one.y) < _APART
            and abs(other.x - one.x) < (other.width + one.width) / 2
        ]
        if one.height >= _LEAST and not near:
            kept.append(one._replace(first=not mine))
    return kept
