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
"""Rows with an influence of up to 4 times the mean of smaller ones are a stratum.

Labels and targets of the rows of a chunk make for such differences anyway. With 2, tables with
normal targets would have two strata, for nothing; with 8, balanced accuracy over a class of a tenth
of the rows would take twice as many rows.
"""


def make_strata(influence: Floats) -> list[Ints]:
    """The validation rows of every stratum: ordinary ones, then heavier ones, by the same rule.

    ``influence`` (T,): what every validation row can change.

    >>> [rows.size for rows in make_strata(np.ones(40))]
    [40]
    >>> make_strata(np.append(np.ones(40), [50.0, 5000.0]))[1:]
    [array([40]), array([41])]
    """
    rest, strata = np.argsort(influence, kind="stable"), []
    while rest.size:
        grown, places = influence[rest], np.arange(rest.size)
        smaller = np.cumsum(grown) - grown
        alike = int(np.flatnonzero(places * grown <= _ORDINARY * smaller)[-1]) + 1
        strata.append(np.sort(rest[:alike]))
        rest = rest[alike:]
    return strata


def deal(y: NDArray[np.generic], size: int, random: np.random.Generator) -> list[Ints]:
    """Random chunks of validation rows, of nearly equal sizes.

    Rows in the order of their labels, those of one label in random order, are dealt out to the
    chunks in rounds, every round in an order of its own. So the first chunks are a stratified
    random sample of all rows.

    ``y`` (T,): labels, or targets.
    ``size``: rows of a chunk, at most.

    >>> labels = np.array([0, 0, 1, 1, 0, 1])
    >>> chunks = deal(labels, 2, np.random.default_rng(0))
    >>> [labels[chunk].tolist() for chunk in chunks]
    [[0, 1], [0, 1], [0, 1]]
    """
    if size == 1 and len(y) > LEAST_CHUNKS:  # eight rows are a stratified sample, one is none
        eights = deal(y, LEAST_CHUNKS, random)
        return [row[None] for rows in eights for row in random.permutation(rows)]
    count = -(-len(y) // size)
    order = random.permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    rounds = random.permuted(np.tile(np.arange(count), (-(-len(y) // count), 1)), axis=1)
    chunk = rounds.ravel()[: len(y)]
    if len(y) % count:  # the last round is for some of the chunks only
        chunk[-(len(y) % count) :] = random.permutation(count)[: len(y) % count]
    return [np.sort(order[chunk == one]) for one in range(count)]
