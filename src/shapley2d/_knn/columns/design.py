"""Which column coalitions to evaluate: complement pairs without replacement, spread over all sizes.

A *pair* is a coalition ``S`` and its complement; it is listed once, by its smaller half. The pairs
come as one endless sequence, every prefix of which is a valid design, so that a design can be
doubled without losing an evaluation and an interrupted run is just a shorter one. Pairs reduce the
variance of kernel SHAP (Covert and Lee 2021, arXiv:2012.01536); sampling sizes alike is what
leverage scores ask for (Musco and Witter 2024, arXiv:2410.01917):

- within a size the pairs come in a uniformly random order without repetition;
- between sizes they alternate, in a random order, so that all sizes get their share: as many of
  every size, or in given proportions (a size that runs out is enumerated, and the rest of the
  budget goes to the larger ones).
"""

from __future__ import annotations

import heapq
import math
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats

ENUMERATE_UP_TO = 100_000
"""Sizes with more pairs are not listed and shuffled but drawn and checked for repetition."""

LEAST_SHARE = 0.02
"""Sizes that count for less, beside the one that counts most, are not sampled in any case."""

_DRAWS_AT_ONCE = 256


def pair_counts(n_columns: int) -> list[int]:
    """Number of complement pairs whose smaller half has ``s = 0 .. n_columns // 2`` members.

    >>> pair_counts(5), pair_counts(6)
    ([1, 5, 10], [1, 6, 15, 10])
    """
    counts = [math.comb(n_columns, size) for size in range(n_columns // 2 + 1)]
    if n_columns % 2 == 0 and n_columns > 0:
        counts[-1] //= 2
    return counts


class PairSequence:
    """All complement pairs of ``n_columns`` columns but ({}, everything), in one random order.

    ``seed``: determines the sequence; it is not changed (no children are spawned from it).
    ``shares`` (n_columns // 2 + 1,): how many pairs of each size to take in proportion to one
        another until the size runs out; by default the same number of every size. A share of 0
        leaves the size out.

    >>> sequence = PairSequence(6, np.random.SeedSequence(0))
    >>> sequence.n_pairs
    31
    >>> sequence.take(9).sum(axis=1).tolist().count(3)
    3
    """

    def __init__(
        self, n_columns: int, seed: np.random.SeedSequence, shares: Floats | None = None
    ) -> None:
        self.n_columns = n_columns
        counts = pair_counts(n_columns)
        if shares is None:
            shares = np.ones(len(counts))
        self._shares = shares
        sizes = [size for size in range(1, len(counts)) if shares[size] > 0]
        self.n_pairs = sum(counts[size] for size in sizes)
        self._pairs = {
            size: _pairs_of_size(n_columns, size, counts[size], _child(seed, size))
            for size in sizes
        }
        self._rng = np.random.default_rng(_child(seed, 0))
        # The r-th pair of a size is due at a random time in [r, r + 1) / share, but the first of
        # every size that counts comes before all second ones: without it an estimate would lean.
        self._due = [
            (self._rng.random() / (1.0 if shares[size] > LEAST_SHARE else shares[size]), size, 0)
            for size in sizes
        ]
        heapq.heapify(self._due)
        self._taken: list[Bools] = []

    def take(self, n_pairs: int) -> Bools:
        """The first ``n_pairs`` pairs, or all, by their smaller halves: (n_pairs, n_columns)."""
        while len(self._taken) < n_pairs and self._due:
            _, size, rank = heapq.heappop(self._due)
            pair = next(self._pairs[size], None)
            if pair is not None:
                self._taken.append(pair)
                due = (rank + 1 + self._rng.random()) / self._shares[size]
                heapq.heappush(self._due, (due, size, rank + 1))
        taken = self._taken[:n_pairs]
        return np.array(taken, dtype=np.bool_).reshape(len(taken), self.n_columns)


def _child(seed: np.random.SeedSequence, key: int) -> np.random.SeedSequence:
    """The seed's child of that key, not counted as spawned: always the same child."""
    return np.random.SeedSequence(entropy=seed.entropy, spawn_key=(*seed.spawn_key, key))


@lru_cache(maxsize=16)  # every chunk of validation rows has a sequence of its own
def _members(n_columns: int, size: int) -> NDArray[np.int16]:
    """All subsets of a size by their members."""
    return np.array(list(combinations(range(n_columns), size)), dtype=np.int16)


def _pairs_of_size(
    n_columns: int, size: int, n_pairs: int, seed: np.random.SeedSequence
) -> Iterator[Bools]:
    """All pairs whose smaller half has ``size`` members, in random order, none of them twice."""
    rng = np.random.default_rng(seed)
    if n_pairs <= ENUMERATE_UP_TO:
        members = _members(n_columns, size)
        for which in rng.permutation(n_pairs):
            pair = np.zeros(n_columns, dtype=np.bool_)
            pair[members[which]] = True
            yield pair
        return
    # The time to the last of n random draws without repetition grows as n log n, so this ends, too.
    seen: set[bytes] = set()
    while len(seen) < n_pairs:
        keys = rng.random((_DRAWS_AT_ONCE, n_columns))
        draws = np.zeros((_DRAWS_AT_ONCE, n_columns), dtype=np.bool_)
        np.put_along_axis(draws, np.argpartition(keys, size, axis=1)[:, :size], values=True, axis=1)
        if 2 * size == n_columns:
            draws ^= ~draws[
                :, :1
            ]  # of two halves the one with the first column stands for the pair
        for draw, code in zip(draws, np.packbits(draws, axis=1), strict=True):
            if code.tobytes() not in seen:
                seen.add(code.tobytes())
                yield draw
