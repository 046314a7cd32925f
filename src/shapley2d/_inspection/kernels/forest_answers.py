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
from shapley2d._inspection.kernels.forest import BYTE, FEATURE, LEFT, NONE, TWO_BYTES

if TYPE_CHECKING:
    from shapley2d._inspection.kernels.forest import Forest, Predicted

_BLOCK = 128  # rows that walk together: their state stays in the fastest cache


def add_shares(
    codes: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    forest: Forest,
    shares: NDArray[np.float64],
    asked: NDArray[np.int32],
) -> None:
    """Add up the shares of bins in the leaves where rows end, over trees that have not seen them.

    ``shares``, with a line per row, receives the sums, ``asked`` the number of trees.
    """
    all_rows, none = np.zeros((len(codes), 3), np.int32), np.empty((0, 0))
    _ask(codes, codes, _bits(seen), forest, all_rows, _room(0), shares, asked, none)


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
    last = predicted.n_bins - 1 if predicted.empty < 0 else predicted.empty - 1
    beside = (bins >= 0) & (bins <= last) & predicted.blurred  # neighbours lend their shares
    below, above = np.maximum(bins - beside, 0), np.minimum(bins + beside, last)
    looked_up = np.column_stack(
        [bins, np.where(beside, below, bins), np.where(beside, above, bins)]
    )
    room, own = _room(codes.shape[1]), shares[:, None]
    _ask(codes, new, _bits(seen), forest, looked_up, room, own, asked, changes)


def _bits(words: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Which trees have seen each row, one column per tree."""
    octets = words.astype("<u8").view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little").view(np.bool_)


class _Room(NamedTuple):
    """Working arrays of walks: made outside, since code that makes arrays compiles slowly.

    A walk has a row and the node that it is ``at``; ``on`` lists those that have not reached a
    leaf. A new one branches off from a walk of ``origins`` where an entry is ``replaced``, once
    each (``turned``). ``found`` is the own bin's share in the leaf.
    """

    rows: NDArray[np.int64]
    at: NDArray[np.int64]
    replaced: NDArray[np.int64]
    on: NDArray[np.int64]
    origins: NDArray[np.int64]
    found: NDArray[np.float64]
    turned: NDArray[np.bool_]


def _room(m: int) -> _Room:
    """Room for a block of rows and m entries of each that are replaced."""
    walks = _BLOCK * (1 + m)
    rows, at, replaced, on, origins = np.full((5, walks), -1)
    turned = np.zeros((_BLOCK, m), np.bool_)
    return _Room(rows, at, replaced, on, origins, np.empty(walks), turned)


@numba.njit(nogil=True, cache=CACHE)
def _ask(
    codes: NDArray[np.uint8],
    new: NDArray[np.uint8],
    seen: NDArray[np.bool_],
    forest: Forest,
    bins: NDArray[np.int32],
    room: _Room,
    shares: NDArray[np.float64],
    asked: NDArray[np.int32],
    changes: NDArray[np.float64],
) -> None:
    """Both of the above, as one function that compiles once: all bins where nothing is replaced."""
    rows, at = room.rows, room.at
    for t in range(forest.roots.size - 1):
        root = forest.nodes[forest.roots[t]]
        if root < 0 and forest.sizes[-1 - root] == 0:  # nothing in the bag to learn from
            continue
        for start in range(0, codes.shape[0], _BLOCK):
            own = NONE
            for i in range(start, min(start + _BLOCK, codes.shape[0])):
                if bins[i, 0] >= 0 and not seen[i, t]:
                    rows[own], at[own] = i, root
                    asked[i] += 1
                    own += 1
            if not changes.size:
                _walk(codes, new, forest.nodes, room, NONE, own)
                _add_bins(forest, room, own, shares)
                continue
            walks = _walk_and_turn(codes, new, forest.nodes, room, own)
            _walk(codes, new, forest.nodes, room, own, walks)
            _find_own(forest, bins, room, walks)
            for w in range(own):
                shares[rows[w], 0] += room.found[w]
            for w in range(own, walks):
                origin, f = room.origins[w], room.replaced[w]
                changes[rows[w], f] += room.found[w] - room.found[origin]
                room.turned[origin, f] = False


@numba.njit(**INNER)
def _walk(
    codes: NDArray[np.uint8],
    new: NDArray[np.uint8],
    nodes: NDArray[np.int64],
    room: _Room,
    first: int,
    walks: int,
) -> None:
    """Go down to the leaves, with the new entry where one is replaced."""
    rows, at, replaced, on = room.rows, room.at, room.replaced, room.on
    going = NONE
    for w in range(first, walks):
        on[going] = w
        going += at[w] >= 0
    while going > 0:
        still = NONE
        for k in range(going):
            w = on[k]
            i, word = rows[w], at[w]
            f = (word >> FEATURE) & TWO_BYTES
            code = new[i, f] if f == replaced[w] else codes[i, f]
            then = nodes[(word >> LEFT) + (code > (word & BYTE))]
            at[w], on[still] = then, w
            still += then >= 0
        going = still


@numba.njit(**INNER)
def _walk_and_turn(
    codes: NDArray[np.uint8],
    new: NDArray[np.uint8],
    nodes: NDArray[np.int64],
    room: _Room,
    walks: int,
) -> int:
    """Go down to the leaves; one more walk begins where a new entry first goes the other way.

    Returns the number of walks, the new ones last: they are still where they began.
    """
    rows, at, on = room.rows, room.at, room.on
    going = NONE
    for w in range(walks):
        on[going] = w
        going += at[w] >= 0
    while going > 0:
        still = NONE
        for k in range(going):
            w = on[k]
            i, word = rows[w], at[w]
            f, cut, left = (word >> FEATURE) & TWO_BYTES, word & BYTE, word >> LEFT
            right = codes[i, f] > cut
            if (new[i, f] > cut) != right and not room.turned[w, f]:
                rows[walks], room.replaced[walks], room.origins[walks] = i, f, w
                at[walks] = nodes[left + 1 - right]
                room.turned[w, f] = True
                walks += 1
            then = nodes[left + right]
            at[w], on[still] = then, w
            still += then >= 0
        going = still
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
def _find_own(forest: Forest, bins: NDArray[np.int32], room: _Room, walks: int) -> None:
    """The share of the row's own bin in each leaf: half of it and a quarter of each beside it."""
    for w in range(walks):
        i, leaf, quarters = room.rows[w], -1 - room.at[w], 0
        own, below, above = bins[i, 0], bins[i, 1], bins[i, 2]
        for e in range(forest.leaves[leaf], forest.leaves[leaf + 1]):
            other, count = forest.bins[e], forest.counts[e]
            quarters += count * (2 * (other == own) + (other == below) + (other == above))
        room.found[w] = 0.25 * quarters / forest.sizes[leaf]
