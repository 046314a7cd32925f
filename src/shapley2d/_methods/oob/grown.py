"""The trees that are grown, kept in a file from which a run can go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._estimation.checkpoint import Checkpoint, Saved

LINES = "trees"
"""The array of a checkpoint that holds their lines, in single precision."""


class GrownTrees:
    """What trees say, one line each, in the order of their numbers; in a checkpoint if there is one.

    Parameters
    ----------
    checkpoint : Checkpoint, optional
    shape : (int, int)
        Rows and columns of the table: a line has a score for every row, NaN where the tree has it
        in its bag, then 1 for every column that the tree saw, 0 for the others.
    """

    def __init__(self, checkpoint: Checkpoint | None, shape: tuple[int, int]) -> None:
        self._checkpoint = checkpoint
        self._shape = shape
        self._parts: list[NDArray[np.float32]] = []
        self._new = 0
        self.resumed_at = 0
        if checkpoint is not None:
            saved = checkpoint.load(self._check)
            if saved is not None:
                self._parts = [saved.arrays[LINES]]
                self.resumed_at = saved.count

    def lines(self, first: int, count: int) -> NDArray[np.float32]:
        """Those of the trees from ``first`` on, ``count`` of them at most, that an earlier run has left."""
        if not self.resumed_at:
            return np.zeros((0, sum(self._shape)), dtype=np.float32)
        return self._parts[0][first : first + count]

    def add(self, lines: NDArray[np.floating]) -> None:
        """Keep the lines of the next trees, and write them now and then."""
        if self._checkpoint is None:
            return
        self._parts.append(lines.astype(np.float32))
        self._new += len(lines)
        if self._checkpoint.due():
            self.save()

    def save(self) -> None:
        """Write what is new."""
        if self._checkpoint is None or not self._new:
            return
        lines = np.concatenate(self._parts)
        self._checkpoint.save(len(lines), {LINES: lines})
        self._new = 0

    def _check(self, saved: Saved) -> None:
        lines = saved.arrays.get(LINES)
        wanted = (saved.count, sum(self._shape))
        if lines is None or lines.shape != wanted or lines.dtype != np.float32:
            raise ValueError("its trees do not fit its count")
        scores, saw = lines[:, : self._shape[0]], lines[:, self._shape[0] :]
        if np.isinf(scores).any() or not np.isin(saw, (0.0, 1.0)).all():
            raise ValueError("its trees have entries that are none")
