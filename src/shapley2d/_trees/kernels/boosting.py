"""Boosted trees on coded columns: one tree is grown on gradients and added to the scores.

Gradient boosting with second derivatives, as in XGBoost (Chen and Guestrin, 2016,
doi:10.1145/2939672.2939785): a leaf with sums G and H predicts -G / (H + l2), and a split gains
what G^2 / (H + l2) grows by. A tree is grown to its full depth and then cut back, so that a split
that gains nothing by itself stays where those below it gain, as with an exclusive or.

Loops and plain indices, without views and array expressions: those take long to compile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numba
import numpy as np

from shapley2d._base.cache import CACHE, INNER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints

    Codes = NDArray[np.uint8]

CODES = 256
"""Most codes of a column; 0 is a missing entry."""

LEAST = 1e-6
"""The least second derivative of a row."""

_ROUND, _LEVEL = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)
_COLUMN = np.uint64(0x8CB92BA72F3D8DD7)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S11, _S27, _S30, _S31 = (np.uint64(k) for k in (11, 27, 30, 31))


class Tree(NamedTuple):
    """Room for a tree; its nodes are numbered as in a heap, leaves last."""

    split: Ints  # (nodes,): the column of each node, -1 where it goes on as its left child
    goes: Bools  # (nodes, CODES): which codes go to the left
    sums: Floats  # (nodes + leaves, 2): sums of gradients and of second derivatives
    left: Floats  # (nodes, 3): the same to the left, and the sum of G^2 / (H + l2) of both sides
    worth: Floats  # (nodes + leaves,): what a node's splits gain, less their price
    hist: Floats  # sums by node and code
    order: Ints  # (CODES,): codes of a node, in their order
    keys: Floats  # (CODES,): what they are sorted by


@numba.njit(**INNER)
def _drawn(round_: int, level: int, column: int) -> float:
    """A number in [0, 1) that depends on the three alone (splitmix64)."""
    word = np.uint64(round_) * _ROUND + np.uint64(level) * _LEVEL + np.uint64(column) * _COLUMN
    word = (word ^ (word >> _S30)) * _FIRST
    word = (word ^ (word >> _S27)) * _SECOND
    return np.float64((word ^ (word >> _S31)) >> _S11) * 2.0**-53


@numba.njit(**INNER)
def _split_node(
    tree: Tree, node: int, at: int, j: int, n_bins: int, is_text: bool, l2: float
) -> None:
    """Split a node on column ``j`` if that is better than its split so far.

    The histogram of its rows begins at ``at``. Missing entries join either side.
    """
    hist, order, keys, sums, left = tree.hist, tree.order, tree.keys, tree.sums, tree.left
    size = 0
    for b in range(0 if is_text else 1, n_bins):
        order[size] = b
        size += hist[at + 2 * b + 1] > 0.0
    sides = 1 if is_text or hist[at + 1] == 0.0 else 2
    if is_text:  # in the order of their mean gradients, missing among them; rare ones are shrunk
        for q in range(size):
            b = order[q]
            key = hist[at + 2 * b] / (hist[at + 2 * b + 1] + 5.0 * l2)
            p = q
            while p > 0 and keys[p - 1] > key:
                keys[p] = keys[p - 1]
                order[p] = order[p - 1]
                p -= 1
            keys[p] = key
            order[p] = b
    cut, missing_left = -1, False
    for side in range(sides):  # missing entries to the right, then to the left
        g = h = 0.0
        if side == 1:
            g, h = hist[at], hist[at + 1]
        for q in range(size - 1):
            b = at + 2 * order[q]
            g += hist[b]
            h += hist[b + 1]
            off, own, other = sums[node, 0] - g, h + l2, sums[node, 1] - h + l2
            score = g * g * other + off * off * own
            if score > left[node, 2] * (own * other):  # without a division
                left[node, 0] = g
                left[node, 1] = h
                left[node, 2] = score / (own * other)
                cut, missing_left = q, side == 1
    if cut < 0:
        return
    tree.split[node] = j
    larger = left[node, 1] * 2.0 > sums[node, 1]  # codes without rows go with the larger side
    for b in range(n_bins):
        tree.goes[node, b] = larger if is_text else b <= order[cut]
    if is_text:
        for q in range(size):
            tree.goes[node, order[q]] = q <= cut
    else:
        tree.goes[node, 0] = missing_left if sides == 2 else larger


@numba.njit(**INNER)
def _grow(
    tree: Tree, codes: Codes, n_bins: Ints, is_text: Bools, keys: Ints, at: Ints, g: Floats,
    h: Floats, round_: int, depth: int, l2: float, share: float, price: float,
) -> None:  # fmt: skip
    """Grow a tree to its full depth; ``at`` becomes the place of every row among its leaves."""
    split, goes, hist = tree.split, tree.goes, tree.hist
    sums, left, worth = tree.sums, tree.left, tree.worth
    m, n = codes.shape
    for level in range(depth):
        first = (1 << level) - 1
        for node in range(first, 2 * first + 1):
            split[node] = -1
            left[node, 2] = sums[node, 0] * sums[node, 0] / (sums[node, 1] + l2) + 1e-9
            worth[node] = -left[node, 2] - price * (level + 1)
        for j in range(m):
            if _drawn(round_, level, keys[j]) >= share:
                continue
            width = 2 * n_bins[j]
            for b in range((first + 1) * width):
                hist[b] = 0.0
            for i in range(n):
                b = at[i] * width + 2 * codes[j, i]
                hist[b] += g[i]
                hist[b + 1] += h[i]
            for node in range(first, 2 * first + 1):
                if sums[node, 1] > 0.5 * LEAST:  # with rows; without, a remnant of rounding
                    _split_node(tree, node, (node - first) * width, j, n_bins[j], is_text[j], l2)
        for node in range(first, 2 * first + 1):
            kept = split[node] < 0  # all to the left
            worth[node] = 0.0 if kept else worth[node] + left[node, 2]
            if kept:
                for b in range(n_bins[0]):
                    goes[node, b] = True
            for s in range(2):
                part = sums[node, s] if kept else left[node, s]
                sums[2 * node + 1, s] = part
                sums[2 * node + 2, s] = sums[node, s] - part
        for i in range(n):
            j = split[first + at[i]]
            at[i] = 2 * at[i] + 1 - goes[first + at[i], codes[j if j > 0 else 0, i]]


@numba.njit(**INNER)
def _cut_back(tree: Tree, nodes: int) -> int:
    """Take splits back that are not worth their price with all below; the levels that are left."""
    split, sums, worth = tree.split, tree.sums, tree.worth
    for node in range(nodes - 1, -1, -1):
        both = worth[node] + worth[2 * node + 1] + worth[2 * node + 2]
        worth[node] = both if both > 0.0 else 0.0
    reach, level = 0, 0
    for node in range(nodes):
        level += node + 1 == 1 << level
        if worth[node] > 0.0:
            if split[node] >= 0:
                reach = level
            continue
        for child in range(2 * node + 1, 2 * node + 3):
            worth[child] = 0.0
            for s in range(2):
                sums[child, s] = sums[node, s]
    return reach


@numba.njit(nogil=True, cache=CACHE)
def add_tree(
    tree: Tree, codes: Codes, valid: Codes, n_bins: Ints, is_text: Bools, keys: Ints, at: Ints,
    g: Floats, h: Floats, scores: Floats, raw: Floats, round_: int, depth: int, rate: float,
    l2: float, share: float, price: float,
) -> None:  # fmt: skip
    """Grow a tree and add it to the scores of the rows and to the raw ones of validation rows.

    ``codes`` (columns, rows), ``valid`` (columns, validation rows), ``n_bins`` of the columns.
    ``keys``, ``round_``: what draws the columns of every level, each with probability ``share``.
    ``at`` (rows,): room to work in.
    ``g``, ``h``: gradients and second derivatives of the rows, at least ``LEAST``.
    ``price``: what a split must gain, times its level; in units of the gain that chance brings.
    """
    split, goes, sums = tree.split, tree.goes, tree.sums
    nodes = (1 << depth) - 1
    square = 0.0
    sums[0, 0] = 0.0
    sums[0, 1] = 0.0
    for i in range(g.size):
        at[i] = 0
        sums[0, 0] += g[i]
        sums[0, 1] += h[i]
        square += g[i] * g[i]
    for node in range(nodes, 2 * nodes + 1):
        tree.worth[node] = 0.0
    price *= square / sums[0, 1]
    _grow(tree, codes, n_bins, is_text, keys, at, g, h, round_, depth, l2, share, price)
    reach = _cut_back(tree, nodes)
    first = (1 << reach) - 1
    for node in range(first, 2 * first + 1):
        sums[node, 0] *= -rate / (sums[node, 1] + l2)
    for i in range(g.size):
        scores[i] += sums[first + (at[i] >> (depth - reach)), 0]
    for i in range(raw.size):
        node = 0
        for _ in range(reach):
            j = split[node]
            node = 2 * node + 2 - goes[node, valid[j if j > 0 else 0, i]]
        raw[i] += sums[node, 0]
