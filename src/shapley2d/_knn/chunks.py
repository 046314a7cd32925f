"""Chunks of validation rows, and which of them a run takes first: it may end before the last.

A run that samples validation rows is as good as the rows that decide it. One row of a rare class
under balanced accuracy, one heavy weight or one far target can be worth as much as all others
together, and a sample without it would look precise and be wrong. So rows are sorted into strata by
how much they can change. Of every stratum random rows are drawn, as many in every turn as its rows
can change in all: a row is drawn about in proportion to what it can change. The estimate is the
mean over the strata by their numbers of rows, and its variance the sum of theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints

LEAST_CHUNKS = 8
"""Chunks of a stratum before the errors are looked at: errors by fewer mean little."""

_ORDINARY = 4.0
"""Rows with an influence of up to 4 times the mean form the base stratum.

Labels and targets of the rows of a chunk make for such differences anyway. With 2, tables with
normal targets would have two strata, for nothing; with 8, balanced accuracy over a class of a tenth
of the rows would take twice as many rows.
"""

_CLASS = 8.0  # of the others, the largest in a stratum can change this many times the smallest


def make_strata(influence: Floats) -> list[Ints]:
    """The validation rows of every stratum: ordinary ones, then heavier ones.

    ``influence`` (T,): what every validation row can change.

    >>> [rows.size for rows in make_strata(np.ones(40))]
    [40]
    >>> make_strata(np.append(np.ones(40), [50.0, 5000.0]))[1:]
    [array([40]), array([41])]
    """
    order = np.argsort(influence, kind="stable")
    grown = influence[order]
    means = np.cumsum(grown) / np.arange(1, grown.size + 1)
    n_ordinary = int(np.flatnonzero(grown <= _ORDINARY * means)[-1]) + 1
    level = np.zeros(influence.size, dtype=np.intp)
    heavy = order[n_ordinary:]
    if heavy.size:
        apart = influence[heavy] / influence[heavy[0]]
        level[heavy] = 1 + np.floor(np.log(apart) / np.log(_CLASS))
    return [np.flatnonzero(level == one) for one in np.unique(level)]


def deal(
    y: NDArray[np.generic], influence: Floats, size: int, random: np.random.Generator
) -> list[Ints]:
    """Random chunks of validation rows, of nearly equal sizes.

    Rows in the order of their labels, those of one label by what they can change, and in random
    order where that is the same, are dealt out to the chunks in rounds, every round in an order of
    its own. So the first chunks are a stratified random sample of all rows.

    ``y`` (T,): labels, or targets.
    ``size``: rows of a chunk, at most.

    >>> labels = np.array([0, 0, 1, 1, 0, 1])
    >>> chunks = deal(labels, np.ones(6), 2, np.random.default_rng(0))
    >>> [labels[chunk].tolist() for chunk in chunks]
    [[0, 1], [0, 1], [0, 1]]
    """
    if size == 1 and len(y) > LEAST_CHUNKS:  # eight rows are a stratified sample, one is none
        eights = deal(y, influence, LEAST_CHUNKS, random)
        return [row[None] for rows in eights for row in random.permutation(rows)]
    count = -(-len(y) // size)
    order = random.permutation(len(y))
    order = order[np.lexsort((influence[order], y[order]))]
    rounds = random.permuted(np.tile(np.arange(count), (-(-len(y) // count), 1)), axis=1)
    chunk = rounds.ravel()[: len(y)]
    if len(y) % count:  # the last round is for some of the chunks only
        chunk[-(len(y) % count) :] = random.permutation(count)[: len(y) % count]
    return [np.sort(order[chunk == one]) for one in range(count)]
