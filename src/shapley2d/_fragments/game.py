"""The game of contributors and columns, which the paper leaves to future work.

    h(C, F) = score of the model trained on the union of the cells that the contributors C hold in
              the columns F, less what the labels alone predict; 0 where C or F is empty.

Rows and columns in which C holds nothing are not there; every other entry that C lacks is missing,
and a row trains only if somebody in C holds its label (or labels are everybody's). It is a 2D game
in the paper's sense (Liu et al., ICML 2023) with contributors in place of samples, so its axioms
fix the values: those of a contributor sum to its Shapley value in the game of contributors, and
one that holds no entry gets exactly 0.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._models.games import no_pause

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._fragments.join import Joined
    from shapley2d._models.judges import Judge
    from shapley2d._models.scores import ScoreLines

MOST_REMEMBERED = 2**27
"""Numbers of utilities that are remembered, as 4 bytes each: half a gigabyte."""


class FragmentGame:
    """h(C, F) with its error lines, for sets of contributors C and of groups of columns F.

    ``players``: the contributors that it is about. ``folds``: a judge, its score and the rows that
    it may train on (None for all), whose mean is h.
    ``groups``: the group of every column; with ``by="contributor"`` all columns are one.
    ``compiled``: whether judges are, so that threads can share them.
    """

    pause: Callable[..., None] = staticmethod(no_pause)

    def __init__(
        self,
        joined: Joined,
        players: Bools,
        folds: Sequence[tuple[Judge, ScoreLines, Ints | None]],
        groups: Ints,
        *,
        compiled: bool = False,
    ) -> None:
        self.compiled = compiled
        self._held, self._labelled = joined.held[players], joined.labelled[players]
        self._folds, self._groups, self._n_rows = folds, groups, joined.table.n_rows
        self._seen: dict[bytes, tuple[float, NDArray[np.float32]]] = {}
        self.n_trained = 0  # different unions of cells, in this process
        self.n_rows, self.n_columns = len(self._held), int(groups.max()) + 1
        self.n_lines = sum(score.n_lines for _, score, _ in folds)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_seen": {}}

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """H and its error lines, for sets of contributors under sets of groups of columns."""
        return np.array([[self._utility(mine, some) for some in columns] for mine in rows])

    def _utility(self, contributors: Bools, columns: Bools) -> Floats:
        """Equal unions of cells are trained on once."""
        chosen = columns[self._groups]
        if not contributors.any() or not chosen.any():
            return np.zeros(1 + self.n_lines)
        union, labelled = (
            np.bitwise_or.reduce(one[contributors], axis=0) for one in (self._held, self._labelled)
        )
        union &= labelled
        union[~chosen] = 0
        key = hashlib.blake2b(union, digest_size=16).digest()
        found = self._seen.get(key)
        if found is None:
            found = self._trained(union)
            # of lines half the digits: the same whether they are remembered or not
            if len(self._seen) * self.n_lines < MOST_REMEMBERED:
                self._seen[key] = found
            self.n_trained += 1
        return np.append(found[0], found[1])

    def _trained(self, union: NDArray[np.uint8]) -> tuple[float, NDArray[np.float32]]:
        cells = np.unpackbits(union, axis=1, count=self._n_rows).view(bool)
        score, lines = 0.0, []
        for judge, measure, rows in self._folds:
            self.pause()
            held = cells if rows is None else np.ascontiguousarray(cells[:, rows])
            found = measure.lines(judge.predict(held)) / len(self._folds)
            score += float(found[0])
            lines.append(found[1:])
        return score, np.concatenate(lines).astype(np.float32)
