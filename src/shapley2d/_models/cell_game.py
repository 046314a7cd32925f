"""The game of cells: the score of a model trained on rows S and columns F.

Where S and F teach nothing, the labels of the rows S alone predict: in classification by the shares
of the classes, in regression by their mean. They teach nothing where no column differs between the
rows, or all labels are equal. Without any row the guess is blind: all classes alike, or the mean of
all targets.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._models.games import no_pause

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.problem import Split


class Chain(NamedTuple):
    """A run of coalitions, each within the next."""

    order: Ints  # the players as they join
    sizes: Ints  # how many have joined by each coalition
    part: slice  # the run in the list of coalitions; empty coalitions are left out


def chains(masks: Bools) -> list[Chain]:
    """Cut a list of coalitions into runs of nested ones.

    Nested coalitions are one chain; any other list falls into short ones, of a single coalition at
    worst.
    """
    sizes = masks.sum(axis=1, dtype=np.intp)
    breaks = (masks[:-1] & ~masks[1:]).any(axis=1) | (sizes[:-1] == 0)
    ends = [0, *(np.flatnonzero(breaks) + 1).tolist(), len(masks)]
    found = []
    for start, stop in itertools.pairwise(ends):
        if start < stop and sizes[start]:
            late = stop - start - masks[start:stop].sum(axis=0, dtype=np.intp)
            order = np.argsort(late, kind="stable")[: sizes[stop - 1]]
            found.append(Chain(order, sizes[start:stop], slice(start, stop)))
    return found


class CellGame(ABC):
    """A model's score on a split, for coalitions of rows and columns.

    ``looks`` (n, width), ``owners`` (width,): the numbers by which entries are compared, and whose
    they are; by default the entries themselves.
    """

    compiled = True
    trains_alone = True  # a model for every pair of coalitions
    pause: Callable[..., None] = staticmethod(no_pause)

    def __init__(
        self, split: Split, looks: Floats | None = None, owners: Ints | None = None
    ) -> None:
        y, players = split.y, np.arange(split.train.n_columns)
        self.n_rows, self.n_columns = split.train.n_rows, players.size
        if looks is None:
            looks = np.stack([column.entries for column in split.train.columns], axis=1)
        self._looks = np.where(np.isnan(looks), np.inf, looks)
        self._starts = np.searchsorted(players if owners is None else owners, players)
        self._classifies = y.task == "classification"
        self._labels = np.eye(y.classes.size)[y.codes] if self._classifies else y.codes[:, None]

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Matrix of utilities: trained where that teaches anything, else of the labels alone."""
        teaching, predicted = self._taught(rows)
        worth = self._trained(rows, columns, teaching)
        alone = np.isnan(worth)
        scores, some = np.zeros((len(rows), 1)), alone.any(axis=1)
        scores[some, 0] = self._of_labels(predicted[some])
        return np.where(alone, scores, worth)

    def _taught(self, rows: Bools) -> tuple[Bools, Floats]:
        """Which columns teach in every coalition, and what its labels alone predict."""
        guess = np.full_like(self._labels[0], 1 / self._labels.shape[1])
        if not self._classifies:
            guess = self._labels.mean(axis=0)
        predicted = np.repeat(guess[None], len(rows), axis=0)
        teaching = np.zeros((len(rows), self.n_columns), dtype=bool)
        for order, sizes, part in chains(rows):
            looks = self._looks[order]
            differs = np.logical_or.reduceat(looks != looks[0], self._starts, axis=1)
            differs = np.logical_or.accumulate(differs, axis=0)[sizes - 1]
            sums = np.cumsum(self._labels[order], axis=0)[sizes - 1]
            if self._classifies:
                differs &= ((sums > 0).sum(axis=1) > 1)[:, None]
            teaching[part], predicted[part] = differs, sums / sizes[:, None]
        return teaching, predicted

    def _trained(self, rows: Bools, columns: Bools, teaching: Bools) -> Floats:
        """Utilities of the pairs of coalitions that teach anything; NaN for the others."""
        worth = np.full((len(rows), len(columns)), np.nan)
        for b, chosen in enumerate(columns):
            useful = teaching & chosen
            for a in np.flatnonzero(useful.any(axis=1)):
                self.pause()
                worth[a, b] = self._utility(rows[a], useful[a])
        return worth

    def _utility(self, rows: Bools, columns: Bools) -> float:
        """The score of the model trained on these cells; NaN if they teach it nothing."""
        raise NotImplementedError

    @abstractmethod
    def _of_labels(self, predicted: Floats) -> Floats:
        """Scores of constant predictions: shares of the classes (k, classes), or numbers (k, 1)."""
