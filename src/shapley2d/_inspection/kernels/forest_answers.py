"""What forests expect of rows that they have not seen.

Rows walk down a tree in blocks, one level at a time: a processor waits for the next node of a
single row, and meanwhile it can look up the nodes of others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba
import numpy as np
from numpy.typing import NDArray  # noqa: TC002  (as in the other kernels)

from shapley2d._base.cache import CACHE, INNER
from shapley2d._inspection.kernels.forest import BYTE, FEATURE, LEFT, NONE, TWO_BYTES

if TYPE_CHECKING:
    from shapley2d._inspection.kernels.forest import Forest

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
    octets = seen.astype("<u8").view(np.uint8)  # one column per tree
    bits = np.unpackbits(octets, axis=1, bitorder="little").view(np.bool_)
    # made outside, since code that makes arrays compiles slowly
    rows, at, on = np.zeros((3, _BLOCK), np.int64)
    _ask(codes, bits, forest, rows, at, on, shares, asked)


@numba.njit(nogil=True, cache=CACHE)
def _ask(
    codes: NDArray[np.uint8],
    seen: NDArray[np.bool_],
    forest: Forest,
    rows: NDArray[np.int64],
    at: NDArray[np.int64],
    on: NDArray[np.int64],
    shares: NDArray[np.float64],
    asked: NDArray[np.int32],
) -> None:
    """A walk has a row and the node that it is ``at``; ``on`` lists those not yet at a leaf."""
    for t in range(forest.roots.size - 1):
        root = forest.nodes[forest.roots[t]]
        if root < 0 and forest.sizes[-1 - root] == 0:  # nothing in the bag to learn from
            continue
        for start in range(0, codes.shape[0], _BLOCK):
            walks = NONE
            for i in range(start, min(start + _BLOCK, codes.shape[0])):
                if not seen[i, t]:
                    rows[walks], at[walks] = i, root
                    asked[i] += 1
                    walks += 1
            _walk(codes, forest.nodes, rows, at, on, walks)
            for w in range(walks):
                i, leaf = rows[w], -1 - at[w]
                weight = 1.0 / forest.sizes[leaf]
                for e in range(forest.leaves[leaf], forest.leaves[leaf + 1]):
                    shares[i, forest.bins[e]] += weight * forest.counts[e]


@numba.njit(**INNER)
def _walk(
    codes: NDArray[np.uint8],
    nodes: NDArray[np.int64],
    rows: NDArray[np.int64],
    at: NDArray[np.int64],
    on: NDArray[np.int64],
    walks: int,
) -> None:
    """Go down to the leaves."""
    going = NONE
    for w in range(walks):
        on[going] = w
        going += at[w] >= 0
    while going > 0:
        still = NONE
        for k in range(going):
            w = on[k]
            word = at[w]
            code = codes[rows[w], (word >> FEATURE) & TWO_BYTES]
            then = nodes[(word >> LEFT) + (code > (word & BYTE))]
            at[w], on[still] = then, w
            still += then >= 0
        going = still
