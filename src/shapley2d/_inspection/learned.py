"""What was learned on other tables: weights of the evidence, and trees that judge it.

``benchmarks/calibration.py`` learns both, on clean tables and on tables with planted errors, and
writes ``learned.json`` beside this file.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.in_threads import map_in_threads
from shapley2d._kernels.boosted_trees import BoostedTrees, sum_of_trees

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROWS = 2**15  # rows asked about at a time
_TYPES = {"cuts": np.float32, "values": np.float64}  # of the others: int32

RISING = (
    "logit", "surprise", "stories", "distance", "class", "repeat", "gain", "text", "height",
    "height in column", "stray", "repeated key", "found", "chance", "chance of rule",
)  # fmt: skip
"""Evidence of which more never makes an entry less likely wrong."""

FALLING = ("as expected", "vouched")
"""Evidence that never makes an entry likelier wrong."""

CELL_EVIDENCE = (
    *RISING, *FALLING, "share", "share in column", "odd texts", "number", "different", "times",
    "found codes", "found formats", "found near-duplicates", "found rule", "found spellings",
    "10 %", "2 %", "0.2 %", "sure", "high 2 %", "high 0.2 %",
)  # fmt: skip
"""What the trees for cells look at, in their order. In the light of the evidence about the column,
the table and the kind of finding, which comes last, the rest says more or less."""

RISING_FOR_LABELS = ("odds", "lift")
"""The same for labels."""

LABEL_EVIDENCE = (
    *RISING_FOR_LABELS, "class", "rarest class", "unlikely", "2 %", "25 %", "50 %", "75 %", "90 %",
    "98 %",
)  # fmt: skip
"""What the trees for labels look at, in their order."""

ORDER = 0.03
"""Part of the first evidence that is added to what the trees say: cells that end in the same leaves
keep their order."""


class Learned(NamedTuple):
    """Boosted trees and what they look at.

    Attributes
    ----------
    evidence : tuple of str
    base : float
        What is said before any tree.
    trees : BoostedTrees
    """

    evidence: tuple[str, ...]
    base: float
    trees: BoostedTrees

    @classmethod
    def kept(cls, name: str) -> Learned:
        """Those that the file has under a name."""
        lists = _KEPT[name]
        trees = (np.array(lists[k], dtype=_TYPES.get(k, np.int32)) for k in BoostedTrees._fields)
        return cls(tuple(lists["evidence"]), lists["base"], BoostedTrees(*trees))

    def ask(
        self, evidence: dict[str, NDArray[np.float64] | float], n: int, threads: int = 1
    ) -> NDArray[np.float64]:
        """The logarithm of the odds of being wrong, of n cells of a column.

        Parameters
        ----------
        evidence : dict of str to ndarray of shape (n,) or float
            By name; what is not there is 0.
        n : int
        threads : int
        """

        def ask(start: int) -> NDArray[np.float64]:
            rows = np.empty((min(_ROWS, n - start), len(self.evidence)), dtype=np.float32)
            for k, name in enumerate(self.evidence):
                about = np.asarray(evidence.get(name, 0.0))
                rows[:, k] = about[start : start + _ROWS] if about.ndim else about
            return np.asarray(sum_of_trees(self.trees, rows))

        said = np.full(n, self.base) + ORDER * evidence[self.evidence[0]]
        starts = range(0, n, _ROWS)
        for start, some in zip(starts, map_in_threads(ask, starts, threads), strict=True):
            said[start : start + _ROWS] += some
        return said


_KEPT = json.loads((files(__package__) / "learned.json").read_text(encoding="ascii"))

CELL_WEIGHTS: dict[str, float] = _KEPT["weights"]
"""Weights of what speaks against a cell (``evidence.cell_evidence``). A kind of finding that at
least 15 tables of the calibration have is one of them."""

CELLS, LABELS = Learned.kept("cells"), Learned.kept("labels")
