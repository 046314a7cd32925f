"""Forests that predict one column of a table from the others.

Inputs are codes below ``CODES``, whose order the splits use. A tree's leaf keeps how often each bin
of the predicted column occurs among its training rows.
:mod:`shapley2d._inspection.kernels.forest_answers` asks trees about rows that they have not seen.

A node splits where a number that stands for the predicted entry varies least on both sides. For
numbers that is the entry's rank. For categories it is a random one per category, drawn afresh in
every node: the mean over draws of the variance so removed is the Gini impurity removed, at the cost
of one target. An empty cell among numbers gets such a random number too, so that some nodes tell
empty from filled and others large from small.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numba.cpython.unsafe import numbers
from numpy.typing import NDArray  # noqa: TC002  (numba reads the named tuples' annotations)

from shapley2d._base.cache import CACHE, INNER
from shapley2d._inspection.kernels.random_words import bell, below, next_below, next_word, words

CODES = 64
"""Distinct codes that an input may have."""

_MIDDLE = 0.5  # of ranks, which lie between 0 and 1
_TIE = 1e-12  # share of the sum of squares that a split must remove: less is rounding
_NO_BITS, _ONE = np.uint64(0), np.uint64(1)
NONE: int = np.int64(0)  # type: ignore[assignment]  # a plain 0 is a type of its own: what it is passed to compiles twice
FEATURE, LEFT = np.int64(8), np.int64(24)  # bits below a node's feature and left child
BYTE, TWO_BYTES = np.int64(0xFF), np.int64(0xFFFF)
_lowest_bit: Any = numbers.trailing_zeros
_FIRST: int = np.int32(0)  # type: ignore[assignment]


class Predicted(NamedTuple):
    """The column that a forest predicts.

    ``bins`` (n,): the bin of every entry; -1 where trees should not learn from it.
    ``ranks`` (n,): for numbers what splits are judged by; not read for categories.
    ``empty``: the bin of empty cells, -1 if there are none.
    """

    bins: NDArray[np.int32]
    ranks: NDArray[np.float64]
    empty: int
    n_bins: int
    is_category: bool


class Forest(NamedTuple):
    """Trees one after the other.

    Attributes
    ----------
    roots : ndarray of shape (trees + 1,)
        Where the nodes of each tree start.
    nodes : ndarray of shape (nodes,)
        The left child, the right one behind it, the input that a node tests and the largest code
        that goes left, in one word; minus one minus its number at a leaf.
    leaves : ndarray of shape (leaves + 1,)
        Where the entries of each leaf start.
    sizes : ndarray of shape (leaves,)
        Training rows of each leaf.
    bins, counts : ndarray of shape (entries,)
        The bins of a leaf, in any order, and how many of its training rows have each.
    """

    roots: NDArray[np.int64]
    nodes: NDArray[np.int64]
    leaves: NDArray[np.int64]
    sizes: NDArray[np.int32]
    bins: NDArray[np.int32]
    counts: NDArray[np.int32]


def draw_bags(
    n: int, size: int, trees: int, seed: np.uint64
) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
    """The rows that each tree learns from, and for every row one bit per tree that has seen it."""
    bags = np.empty((trees, size), np.int32)
    seen = np.zeros((n, -(-trees // 64)), np.uint64)
    order, left = list(range(n)), n - np.arange(size)
    for t, bag in enumerate(bags):
        steps = below(words(seed, t * size, size), left).tolist()
        for r, step in enumerate(steps):
            order[r], order[r + step] = order[r + step], order[r]
        bag[:] = order[:size]
        seen[bag, t // 64] |= _ONE << np.uint64(t % 64)
    return bags, seen


def grow_forest(
    codes: NDArray[np.uint8],
    inputs: NDArray[np.int64],
    predicted: Predicted,
    bags: NDArray[np.int32],
    smallest: int,
    tried: int,
    seed: np.uint64,
) -> Forest:
    """Grow one tree on each bag.

    ``codes`` (n, m): codes of all columns.
    ``inputs``: the columns that may be tested.
    ``bags`` (trees, size).
    ``smallest``: training rows that a leaf must have.
    ``tried``: columns that each node looks at.
    """
    (trees, size), tried = bags.shape, min(tried, inputs.size)
    most = 2 * (size // smallest) + 3
    roots, leaves = np.zeros(trees + 1, np.int64), np.zeros(trees * most + 1, np.int64)
    nodes, sizes = np.empty(trees * most, np.int64), np.empty(trees * most, np.int32)
    bins, counts = np.empty(trees * size, np.int32), np.empty(trees * size, np.int32)
    room = _Room(
        np.array([seed], np.uint64),
        np.empty((inputs.size, size), np.uint8),
        np.empty(size, np.int32),
        np.empty(size),
        np.empty(size, np.uint32),
        np.empty(size, np.uint32),
        np.empty(size),
        np.empty(most, np.int32),
        np.empty(most, np.int32),
        np.arange(inputs.size, dtype=np.uint32),
        np.zeros(predicted.n_bins, np.int32),
        np.zeros(CODES),
        np.zeros(CODES),
    )
    whole = Forest(roots, nodes, leaves, sizes, bins, counts)
    n_leaves, n_entries = _grow(codes, inputs, predicted, bags, smallest, tried, room, whole)
    return Forest(
        roots,
        nodes[: roots[trees]].copy(),
        leaves[: n_leaves + 1].copy(),
        sizes[:n_leaves].copy(),
        bins[:n_entries].copy(),
        counts[:n_entries].copy(),
    )


class _Room(NamedTuple):
    """Working arrays of a forest: made outside, since code that makes arrays compiles slowly."""

    state: NDArray[np.uint64]
    local: NDArray[np.uint8]
    own: NDArray[np.int32]
    ranks: NDArray[np.float64]
    place: NDArray[np.uint32]
    spare: NDArray[np.uint32]
    goal: NDArray[np.float64]
    starts: NDArray[np.int32]
    stops: NDArray[np.int32]
    order: NDArray[np.uint32]
    tally: NDArray[np.int32]
    sums: NDArray[np.float64]
    numbers: NDArray[np.float64]


@numba.njit(nogil=True, cache=CACHE)
def _grow(
    codes: NDArray[np.uint8],
    inputs: NDArray[np.int64],
    predicted: Predicted,
    bags: NDArray[np.int32],
    smallest: int,
    tried: int,
    room: _Room,
    forest: Forest,
) -> tuple[int, int]:
    """Fill a forest's arrays; return the numbers of leaves and entries."""
    state, local, own, ranks, place, spare, goal, starts, stops, order, tally, sums, numbers = room
    roots, nodes, leaves, sizes, bins, counts = forest
    n_leaves, n_entries = NONE, NONE
    for t in range(len(bags)):
        used = 0
        for r in range(bags.shape[1]):
            row = bags[t, r]
            if predicted.bins[row] >= 0:
                own[used], ranks[used] = predicted.bins[row], predicted.ranks[row]
                place[used] = used
                for k in range(inputs.size):
                    local[k, used] = codes[row, inputs[k]]
                used += 1
        node, first, free = roots[t], roots[t], roots[t] + 1
        starts[0], stops[0] = 0, used
        while node < free:
            low, high = starts[node - first], stops[node - first]
            best, cut = -1, _NO_BITS
            if high - low >= 2 * smallest:
                _set_goals(place, low, high, own, ranks, predicted, next_word(state), goal)
                best, cut = _best_split(
                    local, place, low, high, goal, order, tried, smallest, state, sums, numbers
                )
            if best < 0:
                nodes[node] = -1 - n_leaves
                n_entries = _note_leaf(place, low, high, own, tally, bins, counts, n_entries)
                sizes[n_leaves] = high - low
                n_leaves += 1
                leaves[n_leaves] = n_entries
            else:
                middle = _part(local, best, cut, place, low, high, spare)
                nodes[node] = (free << LEFT) | (inputs[best] << FEATURE) | cut
                left = free - first
                starts[left], stops[left] = low, middle
                starts[left + 1], stops[left + 1] = middle, high
                free += 2
            node += 1
        roots[t + 1] = free
    return n_leaves, n_entries


@numba.njit(**INNER)
def _set_goals(
    place: NDArray[np.uint32],
    low: int,
    high: int,
    own: NDArray[np.int32],
    ranks: NDArray[np.float64],
    predicted: Predicted,
    word: np.uint64,
    goal: NDArray[np.float64],
) -> None:
    """The number that stands for each row's entry in this node."""
    for r in range(low, high):
        at = place[r]
        if predicted.is_category:
            goal[r] = bell(word, own[at])
        elif own[at] == predicted.empty:
            goal[r] = _MIDDLE + _MIDDLE * bell(word, _FIRST)
        else:
            goal[r] = ranks[at]


@numba.njit(**INNER)
def _best_split(
    local: NDArray[np.uint8],
    place: NDArray[np.uint32],
    low: int,
    high: int,
    goal: NDArray[np.float64],
    order: NDArray[np.uint32],
    tried: int,
    smallest: int,
    state: NDArray[np.uint64],
    sums: NDArray[np.float64],
    numbers: NDArray[np.float64],
) -> tuple[int, np.uint64]:
    """The input, by its place, and the code that leave least variance; -1 if none removes any."""
    size = high - low
    total, square = 0.0, 0.0
    for r in range(low, high):
        total += goal[r]
        square += goal[r] * goal[r]
    least = total * total / size
    if square - least <= _TIE * square:
        return -1, _NO_BITS
    most, best, cut = least + _TIE * square, -1, _NO_BITS
    for turn in range(tried):
        pick = turn + next_below(state, order.size - turn)
        k = order[pick]
        order[pick], order[turn] = order[turn], k
        there = _NO_BITS  # one bit per code: few rows have few of them
        for r in range(low, high):
            code = local[k, place[r]]
            sums[code] += goal[r]
            numbers[code] += 1.0
            there |= _ONE << np.uint64(code)
        s, c = 0.0, 0.0
        while there:
            code = _lowest_bit(there)
            there &= there - _ONE
            s += sums[code]
            c += numbers[code]
            rest = size - c
            if c >= smallest and rest >= smallest:
                removed = s * s / c + (total - s) * (total - s) / rest
                if removed > most:
                    most, best, cut = removed, k, code
            sums[code] = 0.0
            numbers[code] = 0.0
    return best, cut


@numba.njit(**INNER)
def _part(
    local: NDArray[np.uint8],
    column: int,
    cut: np.uint64,
    place: NDArray[np.uint32],
    low: int,
    high: int,
    spare: NDArray[np.uint32],
) -> int:
    """Rows up to the cut first, both sides in their order; where the others start."""
    first, second = low, 0
    for r in range(low, high):
        at = place[r]
        if local[column, at] <= cut:
            place[first] = at
            first += 1
        else:
            spare[second] = at
            second += 1
    for r in range(second):
        place[first + r] = spare[r]
    return first


@numba.njit(**INNER)
def _note_leaf(
    place: NDArray[np.uint32],
    low: int,
    high: int,
    own: NDArray[np.int32],
    tally: NDArray[np.int32],
    bins: NDArray[np.int32],
    counts: NDArray[np.int32],
    n_entries: int,
) -> int:
    """Note the bins of a leaf and how often each occurs; where the next leaf's start."""
    start = n_entries
    for r in range(low, high):
        b = own[place[r]]
        if tally[b] == 0:
            bins[n_entries] = b
            n_entries += 1
        tally[b] += 1
    for e in range(start, n_entries):
        counts[e] = tally[bins[e]]
        tally[bins[e]] = 0
    return n_entries
