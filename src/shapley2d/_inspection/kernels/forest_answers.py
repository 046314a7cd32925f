"""What forests expect of rows that they have not seen, and again with an entry replaced.

Rows walk down a tree in blocks, one level at a time: a processor waits for the next node of a
single row, and meanwhile it can look up the nodes of others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray  # noqa: TC002  (numba reads the named tuple's annotations)

from shapley2d._base.cache import CACHE, INNER
from shapley2d._models.kernels.forest import NONE, is_seen

if TYPE_CHECKING:
    from shapley2d._models.kernels.forest import Forest, Predicted

_BLOCK = 128  # rows that walk together: their state stays in the fastest cache
_FEATURE, _LEFT = np.int64(8), np.int64(24)  # bits below a node's feature and left child
_BYTE, _TWO_BYTES = np.int64(0xFF), np.int64(0xFFFF)


def add_shares(
    codes: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    forest: Forest,
    predicted: Predicted,
    shares: NDArray[np.float64],
    asked: NDArray[np.int32],
) -> None:
    """Add up the shares of bins in the leaves where rows end, over trees that have not seen them.

    ``shares``, with a line per row, receives the sums, ``asked`` the number of trees.
    """
    room, all_rows, none = _room(forest, 0), np.zeros(len(codes), np.int32), np.empty((0, 0))
    _ask(codes, codes, seen, forest, predicted, all_rows, room, shares, asked, none)


def add_replaced(
    codes: NDArray[np.uint8],
    new: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    forest: Forest,
    predicted: Predicted,
    bins: NDArray[np.int32],
    shares: NDArray[np.float64],
    asked: NDArray[np.int32],
    changes: NDArray[np.float64],
) -> None:
    """Add up the share of a row's own bin, and its change if one entry at a time is replaced.

    A row is followed once. Where its ``new`` entry would go the other way, and only there, a second
    walk starts: most replacements change no path. The own bin is -1 where there is nothing to ask.
    ``shares`` and ``asked`` receive the sum of the own bin's share and the number of trees of each
    row, ``changes`` the sums of the changes of each entry.
    """
    room, own = _room(forest, codes.shape[1]), shares[:, None]
    _ask(codes, new, seen, forest, predicted, bins, room, own, asked, changes)


class _Room(NamedTuple):
    """Working arrays of walks: made outside, since code that makes arrays compiles slowly.

    ``nodes`` are those of the tree at hand, one word each: the left child, the feature and the cut,
    or minus one minus the number of the leaf. A walk has a row and the node that it is ``at``;
    ``on`` lists those that have not reached a leaf. A new one branches off from a walk of
    ``origins`` where an entry is ``replaced``, once each (``turned``). ``found`` is the own bin's
    share in the leaf.
    """

    nodes: NDArray[np.int64]
    rows: NDArray[np.int64]
    at: NDArray[np.int64]
    replaced: NDArray[np.int64]
    on: NDArray[np.int64]
    origins: NDArray[np.int64]
    found: NDArray[np.float64]
    turned: NDArray[np.bool_]


def _room(forest: Forest, m: int) -> _Room:
    """Room for a block of rows and m entries of each that are replaced."""
    walks = _BLOCK * (1 + m)
    rows, at, replaced, on, origins = np.empty((5, walks), np.int64)
    nodes = np.empty(int(np.diff(forest.roots).max(initial=1)), np.int64)
    turned = np.zeros((_BLOCK, m), np.bool_)
    return _Room(nodes, rows, at, replaced, on, origins, np.empty(walks), turned)


@numba.njit(nogil=True, cache=CACHE)
def _ask(
    codes: NDArray[np.uint8],
    new: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    forest: Forest,
    predicted: Predicted,
    bins: NDArray[np.int32],
    room: _Room,
    shares: NDArray[np.float64],
    asked: NDArray[np.int32],
    changes: NDArray[np.float64],
) -> None:
    """Both of the above, as one function that compiles once: all bins where nothing is replaced."""
    rows, at = room.rows, room.at
    for t in range(forest.roots.size - 1):
        _pack(forest, t, room.nodes)
        root = room.nodes[0]
        if root < 0 and forest.sizes[-1 - root] == 0:  # nothing in the bag to learn from
            continue
        for start in range(0, codes.shape[0], _BLOCK):
            own, stop = NONE, start + _BLOCK
            stop = min(stop, codes.shape[0])
            for i in range(start, stop):
                rows[own], at[own] = i, root
                is_asked = bins[i] >= 0 and not is_seen(seen, i, t)
                asked[i] += is_asked
                own += is_asked
            if not changes.size:
                _walk(codes, room, own)
                _add_bins(forest, room, own, shares)
                continue
            walks = _walk_and_turn(codes, new, room, own)
            _find_own(forest, predicted, bins, room, walks)
            for w in range(own):
                shares[rows[w], 0] += room.found[w]
            for w in range(own, walks):
                origin, f = room.origins[w], room.replaced[w]
                changes[rows[w], f] += room.found[w] - room.found[origin]
                room.turned[origin, f] = False


@numba.njit(**INNER)
def _pack(forest: Forest, t: int, nodes: NDArray[np.int64]) -> None:
    """The nodes of a tree, one word each."""
    root = forest.roots[t]
    for k in range(forest.roots[t + 1] - root):
        word = np.int64(forest.lefts[root + k])
        if word >= 0:
            word = (word << _LEFT) | (np.int64(forest.features[root + k]) << _FEATURE)
            word |= np.int64(forest.cuts[root + k])
        nodes[k] = word


@numba.njit(**INNER)
def _walk(codes: NDArray[np.uint8], room: _Room, walks: int) -> None:
    """Go down to the leaves."""
    nodes, rows, at, on = room.nodes, room.rows, room.at, room.on
    going = NONE
    for w in range(walks):
        on[going] = w
        going += at[w] >= 0
    while going > 0:
        still = NONE
        for k in range(going):
            w = on[k]
            word = at[w]
            code = codes[rows[w], (word >> _FEATURE) & _TWO_BYTES]
            then = nodes[(word >> _LEFT) + np.int64(code > (word & _BYTE))]
            at[w], on[still] = then, w
            still += then >= 0
        going = still


@numba.njit(**INNER)
def _walk_and_turn(
    codes: NDArray[np.uint8], new: NDArray[np.uint8], room: _Room, walks: int
) -> int:
    """Go down to the leaves; one more walk starts where a new entry first goes the other way.

    Returns the number of walks, the new ones last.
    """
    nodes, rows, at, replaced, on = room.nodes, room.rows, room.at, room.replaced, room.on
    first = NONE
    for w in range(walks):
        on[first] = w
        first += at[w] >= 0
    going, begun = first, walks
    while going > 0:
        still = NONE
        for k in range(first):
            w = on[k]
            i, word = rows[w], at[w]
            f, cut, left = (word >> _FEATURE) & _TWO_BYTES, word & _BYTE, word >> _LEFT
            right = np.int64(codes[i, f] > cut)
            if np.int64(new[i, f] > cut) != right and not room.turned[w, f]:
                rows[walks], replaced[walks], room.origins[walks] = i, f, w
                at[walks] = nodes[left + 1 - right]
                room.turned[w, f] = True
                walks += 1
            then = nodes[left + right]
            at[w], on[still] = then, w
            still += then >= 0
        upto, first = first, still
        for k in range(upto, going):
            w = on[k]
            i, word = rows[w], at[w]
            f = (word >> _FEATURE) & _TWO_BYTES
            code = new[i, f] if f == replaced[w] else codes[i, f]
            then = nodes[(word >> _LEFT) + np.int64(code > (word & _BYTE))]
            at[w], on[still] = then, w
            still += then >= 0
        for w in range(begun, walks):
            on[still] = w
            still += at[w] >= 0
        begun, going = walks, still
    return walks


@numba.njit(**INNER)
def _add_bins(forest: Forest, room: _Room, walks: int, shares: NDArray[np.float64]) -> None:
    """Add the shares of all bins in each leaf."""
    for w in range(walks):
        i, leaf = room.rows[w], -1 - room.at[w]
        weight = 1.0 / forest.sizes[leaf]
        for e in range(forest.leaves[leaf], forest.leaves[leaf + 1]):
            shares[i, forest.bins[e]] += weight * forest.counts[e]


@numba.njit(**INNER)
def _find_own(
    forest: Forest, predicted: Predicted, bins: NDArray[np.int32], room: _Room, walks: int
) -> None:
    """The share of the row's own bin in each leaf.

    If blurred, half of it and a quarter of each neighbour's.
    """
    last = predicted.n_bins - 1 if predicted.empty < 0 else predicted.empty - 1
    for w in range(walks):
        b, leaf = bins[room.rows[w]], -1 - room.at[w]
        own, beside, below, above, total = 4, 0, b, b, 0  # in quarters of a row
        if predicted.blurred and b <= last:
            own, beside = 2, 1
            if b > 0:
                below = b - 1
            if b < last:
                above = b + 1
        for e in range(forest.leaves[leaf], forest.leaves[leaf + 1]):
            other = forest.bins[e]
            weight = own * np.int64(other == b)
            weight += beside * (np.int64(other == below) + np.int64(other == above))
            total += weight * forest.counts[e]
        room.found[w] = 0.25 * total / forest.sizes[leaf]
