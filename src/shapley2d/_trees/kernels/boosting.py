"""Boosted trees on coded columns (histograms, second-order gains): arrays in, raw scores out.

Loops and not array expressions: those compile several times as long.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numba
import numpy as np

from shapley2d._base.cache import CACHE, INNER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints

    Codes = NDArray[np.uint8]

_ROUND, _LEVEL = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)
_COLUMN = np.uint64(0x8CB92BA72F3D8DD7)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S11, _S27, _S30, _S31 = (np.uint64(k) for k in (11, 27, 30, 31))


@numba.njit(**INNER)
def _drawn(round_: int, level: int, column: int) -> float:
    """A number in [0, 1) that depends on the three alone (splitmix64)."""
    word = np.uint64(round_) * _ROUND + np.uint64(level) * _LEVEL + np.uint64(column) * _COLUMN
    word = (word ^ (word >> _S30)) * _FIRST
    word = (word ^ (word >> _S27)) * _SECOND
    return np.float64((word ^ (word >> _S31)) >> _S11) * 2.0**-53


@numba.njit(**INNER)
def _split_node(
    hist: Floats, at: int, n_bins: int, is_text: bool, total: Floats, l2: float, least: float,
    order: Ints, keys: Floats, best: Floats, goes: Bools,
) -> bool:  # fmt: skip
    """Look for a better split of a node on one column.

    ``hist`` has sums of gradients, of second derivatives and of rows by code, from line ``at`` on;
    ``total`` those of the node, ``best`` the gain of its best split and the sums of the left side.
    Code 0 is missing: it joins either side.
    """
    base = total[0] * total[0] / (total[1] + l2)
    size = 0
    for b in range(1, n_bins):
        if hist[at + b, 2] > 0.0:
            order[size] = b
            size += 1
    n_missing = hist[at, 2]
    if is_text:  # in the order of their mean gradients, missing among them; rare ones are shrunk
        if n_missing > 0.0:
            order[size] = 0
            size += 1
        for q in range(size):
            b = order[q]
            key = hist[at + b, 0] / (hist[at + b, 1] + 5.0 * l2)
            p = q
            while p > 0 and keys[p - 1] > key:
                keys[p], order[p] = keys[p - 1], order[p - 1]
                p -= 1
            keys[p], order[p] = key, b
    found = False
    for side in range(2):  # missing entries to the right, then to the left
        if side == 1 and (is_text or n_missing == 0.0):
            continue
        g = h = n = 0.0
        if side == 1:
            g, h, n = hist[at, 0], hist[at, 1], n_missing
        for q in range(size - 1):
            b = at + order[q]
            g += hist[b, 0]
            h += hist[b, 1]
            n += hist[b, 2]
            if n < least or total[2] - n < least:
                continue
            off = total[0] - g
            gain = g * g / (h + l2) + off * off / (total[1] - h + l2) - base
            if gain > best[0]:
                best[0], best[1], best[2], best[3] = gain, g, h, n
                found = True
                # codes that no row here has go with the larger side
                larger = n * 2.0 > total[2]
                if is_text:
                    for b in range(n_bins):
                        goes[b] = larger
                    for p in range(size):
                        goes[order[p]] = p <= q
                else:
                    for b in range(1, n_bins):
                        goes[b] = b <= order[q]
                    goes[0] = side == 1 if n_missing > 0.0 else larger
    return found


@numba.njit(**INNER)
def _grow(
    codes: Codes, n_bins: Ints, is_text: Bools, keys: Ints, gradients: Floats, round_: int,
    depth: int, l2: float, least: float, share: float, at: Ints, split: Ints, goes: Bools,
    totals: Floats, hist: Floats, order: Ints, sort_keys: Floats, bylevel: bool,
) -> None:  # fmt: skip
    """Grow a tree: the column and the codes to the left for every node, the sums of every leaf.

    Nodes are numbered as in a heap. What is not split goes on as its left child.
    """
    m, n = codes.shape
    for k in range(3):
        totals[0, k] = 0.0
    for i in range(n):
        at[i] = 0
        totals[0, 0] += gradients[0, i]
        totals[0, 1] += gradients[1, i]
    totals[0, 2] = n
    gains = np.empty((1 << depth, 4))
    for level in range(depth):
        width = 1 << level
        for k in range(width):
            split[width - 1 + k] = -1
            gains[k, 0] = 1e-9
        for j in range(m):
            if _drawn(round_, level if bylevel else 0, keys[j]) >= share:
                continue
            bins = n_bins[j]
            for b in range(width * bins):
                hist[b, 0] = hist[b, 1] = hist[b, 2] = 0.0
            for i in range(n):
                b = at[i] * bins + codes[j, i]
                hist[b, 0] += gradients[0, i]
                hist[b, 1] += gradients[1, i]
                hist[b, 2] += 1.0
            for k in range(width):
                node = width - 1 + k
                if totals[node, 2] >= 2.0 * least and _split_node(
                    hist, k * bins, bins, is_text[j], totals[node], l2, least,
                    order, sort_keys, gains[k], goes[node],
                ):  # fmt: skip
                    split[node] = j
        for k in range(width):
            node = width - 1 + k
            left = 2 * node + 1
            for s in range(3):
                part = totals[node, s] if split[node] < 0 else gains[k, s + 1]
                totals[left, s] = part
                totals[left + 1, s] = totals[node, s] - part
        for i in range(n):
            node = width - 1 + at[i]
            j = split[node]
            at[i] = 2 * at[i] + (j >= 0 and not goes[node, codes[j, i]])


@numba.njit(nogil=True, cache=CACHE)
def boost(
    codes: Codes, valid: Codes, columns: Ints, n_bins: Ints, is_text: Bools, keys: Ints, y: Ints, z: Floats,
    n_classes: int, seed: int, rounds: int, depth: int, rate: float, l2: float, least: float, share: float, bylevel: bool,
) -> Floats:  # fmt: skip
    """Raw scores of the validation rows: log-odds of the second of two classes, else one a class."""
    (m, n), n_valid = codes.shape, valid.shape[1]
    n_scores = 1 if n_classes <= 2 else n_classes
    scores, raw = np.zeros((n_scores, n)), np.zeros((n_scores, n_valid))
    gradients, at = np.empty((2, n)), np.empty(n, np.intp)
    peak, total = np.zeros(n), np.ones(n)
    nodes = 1 << depth
    split, goes = np.empty(nodes - 1, np.intp), np.zeros((nodes - 1, 256), np.bool_)
    totals = np.empty((2 * nodes - 1, 3))
    widest = 0
    for j in range(m):
        widest = max(widest, n_bins[j])
    hist = np.empty((nodes * widest // 2, 3))
    order, sort_keys = np.empty(256, np.intp), np.empty(256)
    for c in range(n_scores):
        if n_classes:
            count = 0.5
            for i in range(n):
                count += y[i] == (c if n_scores > 1 else 1)
            first = count / (n + 0.5 * n_classes)
            first = math.log(first) if n_scores > 1 else math.log(first / (1.0 - first))
            for i in range(n):
                scores[c, i] = first
            for i in range(n_valid):
                raw[c, i] = first
    for round_ in range(rounds):
        if n_scores > 1:
            for i in range(n):
                peak[i] = scores[0, i]
                for c in range(1, n_scores):
                    peak[i] = max(peak[i], scores[c, i])
                total[i] = 0.0
                for c in range(n_scores):
                    total[i] += math.exp(scores[c, i] - peak[i])
        for c in range(n_scores):
            for i in range(n):
                if n_classes == 0:  # as heavy as a label at even odds
                    gradients[0, i], gradients[1, i] = 0.25 * (scores[0, i] - z[i]), 0.25
                else:
                    if n_scores == 1:
                        p = 1.0 / (1.0 + math.exp(-scores[0, i]))
                        gradients[0, i] = p - y[i]
                    else:
                        p = math.exp(scores[c, i] - peak[i]) / total[i]
                        gradients[0, i] = p - (y[i] == c)
                    gradients[1, i] = max(p * (1.0 - p), 1e-6)
            _grow(
                codes, n_bins, is_text, keys, gradients, seed * 1000003 + round_ + 1, depth, l2, least, share,
                at, split, goes, totals, hist, order, sort_keys, bylevel,
            )  # fmt: skip
            for k in range(nodes - 1, 2 * nodes - 1):
                totals[k, 0] = -rate * totals[k, 0] / (totals[k, 1] + l2)
            for i in range(n):
                scores[c, i] += totals[nodes - 1 + at[i], 0]
            for i in range(n_valid):
                node = 0
                while node < nodes - 1:
                    j = split[node]
                    node = 2 * node + 1 + (j >= 0 and not goes[node, valid[columns[j], i]])
                raw[c, i] += totals[node, 0]
    return raw
