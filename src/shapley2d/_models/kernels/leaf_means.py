"""What a forest's leaves say of rows, summed over its trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numba

from shapley2d._base.cache import CACHE
from shapley2d._models.kernels.forest import BYTE, FEATURE, LEFT, TWO_BYTES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats
    from shapley2d._models.kernels.forest import Forest


@numba.njit(nogil=True, cache=CACHE)
def add_leaves(codes: NDArray[np.uint8], forest: Forest, leaves: Floats, sums: Floats) -> None:
    """Add the line of ``leaves`` that each row reaches in every tree to its line of ``sums``."""
    roots, nodes = forest.roots, forest.nodes
    for t in range(roots.size - 1):
        for r in range(len(codes)):
            at = nodes[roots[t]]
            while at >= 0:
                at = nodes[(at >> LEFT) + (codes[r, (at >> FEATURE) & TWO_BYTES] > (at & BYTE))]
            leaf = -1 - at
            for k in range(sums.shape[1]):
                sums[r, k] += leaves[leaf, k]
