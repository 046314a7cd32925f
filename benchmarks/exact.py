"""Combine the million utilities of a game of 10 rows x 10 columns into exact values: seconds and memory.

Run: python benchmarks/exact.py

The peer is the definition itself: a loop over cells and coalitions, timed on a few cells and scaled up.
"""

from __future__ import annotations

import resource
import time

import numpy as np

from shapley2d._theory.axes import set_weights, subsets
from shapley2d._theory.semivalues import marginal_weights


def by_definition(H: np.ndarray, i: int, j: int) -> float:
    """The value of one cell: every coalition without it, four corners each (vectorised over the columns)."""
    n = m = 10
    weights = marginal_weights("shapley", n)
    size = np.array([k.bit_count() for k in range(2**m)])
    without = np.flatnonzero(~np.arange(2**m) >> j & 1)
    value = 0.0
    for S in range(2**n):
        if S >> i & 1:
            continue
        corners = (
            H[S | 1 << i, without | 1 << j]
            + H[S, without]
            - H[S | 1 << i, without]
            - H[S, without | 1 << j]
        )
        value += weights[size[S]] * float(weights[size[without]] @ corners)
    return value


def main() -> None:
    H = np.random.default_rng(0).normal(size=(2**10, 2**10))
    H[0], H[:, 0] = 0, 0
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        weights = set_weights(subsets(10), "shapley")
        values = weights.T @ (H @ weights)
        seconds.append(time.perf_counter() - start)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    loop = by_definition(H, 3, 7)
    per_cell = time.perf_counter() - start
    print(f"utilities                          {H.size:,}")
    print(f"combined in                        {min(seconds) * 1e3:.1f} ms")
    print(
        f"memory, whole process              {after / 1024:.0f} MB (grew by {(after - before) / 1024:.0f} MB)"
    )
    print(
        f"the definition, cell by cell       {per_cell * 100 * 1e3:.0f} ms for 100 cells (from one)"
    )
    print(f"ratio                              {per_cell * 100 / min(seconds):.0f} x")
    print(f"largest difference on that cell    {abs(values[3, 7] - loop):.1e}")


if __name__ == "__main__":
    main()
