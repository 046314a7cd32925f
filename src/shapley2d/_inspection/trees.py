"""Gradient-boosted trees (Friedman 2001, doi:10.1214/aos/1013203451) learned on other tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._inspection.kernels.boosted_trees import BoostedTrees, sum_of_trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats

_TYPES = {"cuts": np.float32, "values": np.float64}  # of the others: int32


class Trees(NamedTuple):
    """Boosted trees and the evidence they look at; ``base`` is the log-odds before any tree."""

    names: tuple[str, ...]
    base: float
    trees: BoostedTrees

    @classmethod
    def of(cls, lists: dict[str, Any]) -> Trees:
        """The trees of ``learned.json``."""
        trees = (np.array(lists[k], dtype=_TYPES.get(k, np.int32)) for k in BoostedTrees._fields)
        return cls(tuple(lists["evidence"]), lists["base"], BoostedTrees(*trees))

    def logit(self, rows: NDArray[np.float32]) -> Floats:
        return np.asarray(self.base + sum_of_trees(self.trees, np.ascontiguousarray(rows)))
