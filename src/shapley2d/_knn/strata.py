"""Which validation rows a run takes first: it may end before it has used all of them.

A run that samples validation rows is as good as the rows that decide it. One row of a rare class
under balanced accuracy, one heavy weight or one far target can be worth as much as all others
together, and a sample without it would look precise and be wrong. So rows are sorted into strata by
how much they can change. Of every stratum random rows are drawn, as many in every round as its rows
can change in all: a row is drawn about in proportion to what it can change. The few rows that can
change most are all taken in the first rounds. The estimate is the mean over the strata by their
numbers of rows, and its variance the sum of theirs, as in any stratified sample.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._estimation.rounds import LEAST_PIECES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._tables.problem import Split

_ORDINARY = 4.0
"""Rows with an influence of up to 4 times the mean form the base stratum.

Labels and targets of the rows of a chunk make for such differences anyway. With 2, tables with
normal targets would have two strata, for nothing; with 8, balanced accuracy over a class of a tenth
of the rows would take twice as many rows.
"""

_CLASS = 8.0  # of the others, the largest in a stratum can change this many times the smallest
_FEW_ROWS = 2 * LEAST_PIECES  # with fewer, a stratum is taken whole


class Stratum(NamedTuple):
    """Validation rows of one split that are drawn alike.

    ``sizes``: what each of them can change.
    ``share``: what part of the validation rows of the split they are.
    ``effort``: what part of a round they are.
    ``whole``: whether all of them are used in the first rounds.
    """

    split: int
    rows: Ints
    sizes: Floats
    share: float
    effort: float
    whole: bool


def what_rows_change(split: Split, task: str) -> Floats:
    """About how much every validation row can change in the values.

    Its weight times what one neighbour is off by, in the mean over the training rows: the squared
    difference of their targets, or 1 where the labels differ. So rows of a rare class can change
    more than those of the usual one, whose neighbours are right anyway.
    """
    if task == "classification":
        labels, counts = np.unique(split.y.codes, return_counts=True)
        shares = dict(zip(labels.tolist(), (counts / counts.sum()).tolist(), strict=True))
        off = np.array([1.0 - shares.get(label, 0.0) for label in split.y_valid.codes.tolist()])
        return np.asarray(split.weights * off)
    targets = split.y.codes.astype(np.float64)
    return np.asarray(split.weights * ((split.y_valid.codes - targets.mean()) ** 2 + targets.var()))


def make_strata(split: int, sizes: Floats) -> list[Stratum]:
    """The strata of a split: ordinary rows first, then heavier ones, at last those taken whole.

    ``sizes`` (T,): what every validation row can change.

    >>> [one.rows.size for one in make_strata(0, np.ones(40))]
    [40]
    >>> heavy = make_strata(0, np.append(np.ones(40), 50.0))[1]
    >>> heavy.rows, heavy.whole, round(heavy.share, 3), round(heavy.effort, 3)
    (array([40]), True, 0.024, 0.556)
    """
    order = np.argsort(sizes, kind="stable")
    grown = sizes[order]
    means = np.cumsum(grown) / np.arange(1, grown.size + 1)
    n_ordinary = int(np.flatnonzero(grown <= _ORDINARY * means)[-1]) + 1
    level = np.zeros(sizes.size, dtype=np.intp)
    heavy = order[n_ordinary:]
    if heavy.size:
        level[heavy] = 1 + np.floor(np.log(sizes[heavy] / sizes[heavy[0]]) / np.log(_CLASS))
    few = np.bincount(level) < _FEW_ROWS
    level[few[level]] = few.size  # after all others
    total = float(sizes.sum())
    found = []
    for one in np.unique(level).tolist():
        rows = np.flatnonzero(level == one)
        share = rows.size / sizes.size
        effort = float(sizes[rows].sum()) / total if total > 0 else share
        found.append(Stratum(split, rows, sizes[rows], share, effort, one == few.size))
    return found


def deal_stratum(
    stratum: Stratum,
    y: NDArray[np.generic],
    a_round: int,
    random: np.random.Generator,
    *,
    least: int = 1,
    repeats: bool = False,
) -> list[Ints]:
    """Random chunks of the rows of a stratum, one for every round until they are used up.

    ``y`` (T,): labels, or targets, of all validation rows of the split.
    ``a_round``: validation rows of a round, over all strata.
    ``least``: rows of a chunk, at least.
    ``repeats``: whether the few rows of a stratum that is taken whole are in several chunks, each
        with other column subsets: they count for much, and so does the choice of their subsets.
    """
    n_rows = stratum.rows.size
    size, slowly = round(a_round * stratum.effort), -(-n_rows // LEAST_PIECES)
    if stratum.whole:
        size = slowly
    elif stratum.effort < 1:
        size = min(size, slowly)
    size = min(max(size, least), n_rows)
    times = -(-LEAST_PIECES * size // n_rows) if repeats and stratum.whole else 1
    return [
        stratum.rows[chunk]
        for _ in range(times)
        for chunk in deal_rows(y[stratum.rows], size, random, stratum.sizes)
    ]


def deal_rows(
    y: NDArray[np.generic], size: int, random: np.random.Generator, sizes: Floats | None = None
) -> list[Ints]:
    """Random chunks of rows, of nearly equal sizes.

    Rows in the order of their labels, those of one label by what they can change, and in random
    order where that is the same, are dealt out to the chunks in rounds, every round in an order of
    its own. So the first chunks are a stratified random sample of all rows.

    ``size``: rows of a chunk, at most.
    ``sizes`` (T,): what every row can change; all the same by default.

    >>> labels = np.array([0, 0, 1, 1, 0, 1])
    >>> [labels[chunk].tolist() for chunk in deal_rows(labels, 2, np.random.default_rng(0))]
    [[0, 1], [0, 1], [0, 1]]
    """
    if size == 1 and len(y) > LEAST_PIECES:  # eight rows are a stratified sample, one is none
        eights = deal_rows(y, LEAST_PIECES, random, sizes)
        return [row[None] for rows in eights for row in random.permutation(rows)]
    count = -(-len(y) // max(size, 1))
    order = random.permutation(len(y))
    sizes = np.zeros(len(y)) if sizes is None else sizes
    order = order[np.lexsort((sizes[order], y[order]))]
    rounds = random.permuted(np.tile(np.arange(count), (-(-len(y) // count), 1)), axis=1).ravel()[
        : len(y)
    ]
    if len(y) % count:  # the last round is for some of the chunks only
        rounds[-(len(y) % count) :] = random.permutation(count)[: len(y) % count]
    dealt = order[np.lexsort((order, rounds))]
    ends = np.cumsum(np.bincount(rounds, minlength=count)).tolist()
    return [dealt[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def in_turn(parts: Sequence[list[Ints]]) -> list[tuple[int, Ints]]:
    """The chunks of several strata in turn: the first ones cover all of them alike."""
    return [
        (k, chunk)
        for chunks in zip_longest(*parts)
        for k, chunk in enumerate(chunks)
        if chunk is not None
    ]
