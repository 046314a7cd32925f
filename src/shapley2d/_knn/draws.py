"""Nearest neighbours as draws: a chunk of validation rows under all column subsets, or under some.

Validation rows are dealt into chunks, stratum by stratum, in stratified random order. A draw takes
a chunk under all column subsets, or under a sample of its own, of which it knows the error. Later
draws go through the chunks again with new subsets. Where that takes many passes, a run starts again
with more subsets to a draw, or all of them, if these cost less: errors fall with the root of the
number of draws, but about with the number of subsets of a draw, as its estimator learns from all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.streams import generator
from shapley2d._estimation.draws import Draw, Draws, Stratum
from shapley2d._knn.chunks import LEAST_CHUNKS, deal, make_strata
from shapley2d._knn.kriging import MAX_SUBSETS, few_subsets

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._knn.kriging import Design
    from shapley2d._knn.lines import ColumnLines
    from shapley2d._knn.neighbours import Neighbours

MANY_CHUNKS = 32
"""Chunks that the validation rows of a split are cut into, where there are enough rows."""

LEAST_ROWS = 4
"""Validation rows of a chunk, if a draw is not too long: with fewer, adding up costs as much."""

DRAW_WORK = 2**27
"""Triples of row, validation row and subset of a draw: a second of one core.

A checkpoint has whole draws, and a time limit ends a run after one.
"""

MOST_SUBSETS = 2**15
"""Subsets for every validation row that sampling to a tolerance ends with, at the latest."""

_MARGIN = 1.25  # on the subsets of larger draws: another pass costs as much as twice of them
_SQUARES = 192  # behind the variance of a stratum by its subsets: enough
_MOST_LINES = 6  # of errors for every column, however few the chunks
_NUMBERS = 2**24  # that the error lines of a draw are, if they are many
_BYTES = 2**29  # of draws that are computed at the same time
_ALGEBRA_ROWS = 140
"""Inverting a matrix of p pairs takes as long as ranking p^2 / 140 rows under 2 p subsets.

1e-10 s a flop (p^3 of them) against 7 ns a row: with fewer rows to a draw the algebra would take
most of the time.
"""


@dataclass(kw_only=True, eq=False)
class KnnDraws(Draws):
    """Chunks of the validation rows of all folds; strata take turns.

    ``folds``: the row values of every fold; ``rows``: of the result, those that they are of.
    ``alone``: what these are worth in a game of the rows that is there whatever the columns.
    ``columns``: what column subsets count.
    ``level``: subsets of a draw; 2^m are all of them.
    ``n_subsets``: subsets that are wanted; None for as many as the tolerance takes.
    ``may_take_all``: whether a sampled run may start again with all, once these cost less.
    ``every_row``: whether a run ends with whole passes through the validation rows, unless time is
        up; or it may end after random ones, with what the others would change in all errors.
    """

    folds: list[Neighbours]
    rows: list[Ints]
    alone: list[Floats]
    shape: tuple[int, int]
    columns: ColumnLines
    seed: int
    level: int
    n_subsets: int | None
    may_take_all: bool
    every_row: bool
    n_threads: int

    compiled = by_column = True
    least = 1
    unit = "chunk"

    def __post_init__(self) -> None:
        random, n_folds = generator(self.seed, "validation chunks"), len(self.folds)
        dealt, self.strata, self.whole_passes = [], [], self.every_row
        self.limit = "n_subsets" if self.n_subsets is None else ""
        for k, (fold, rows) in enumerate(zip(self.folds, self.rows, strict=True)):
            influence = fold.influence
            least, size = self._chunk_rows(fold)
            for members in make_strata(influence):
                each = size
                if len(members) < fold.n_valid:
                    share = float(influence[members].sum() / influence.sum())
                    each = min(round(size * share), -(-len(members) // LEAST_CHUNKS))
                each = min(max(each, least), len(members))
                chunks = deal(fold.y_valid[members], each, random)
                dealt.append([(len(self.strata), k, members[chunk]) for chunk in chunks])
                share = len(members) / fold.n_valid / n_folds
                self.strata.append(Stratum(rows, share, len(members)))
        # in turn: the first chunks are of all strata alike
        self._chunks = [one for turn in zip_longest(*dealt) for one in turn if one is not None]
        counts = np.array([len(chunks) for chunks in dealt])
        self.a_pass = int(counts.sum())
        self.count = self.a_pass * self._n_passes
        self.first = int(counts.clip(max=LEAST_CHUNKS).sum())
        if self.every_row:
            passes = self._n_passes if self.n_subsets else -(-LEAST_CHUNKS // self.a_pass)
            self.first = self.a_pass * min(passes, self._n_passes)
        # by two chunks of one validation row each, intervals of sums of rows held 0.85
        turns = max(2, -(-LEAST_CHUNKS // n_folds))
        self.least = int(counts.clip(max=turns).sum())
        n = max(fold.n_rows for fold in self.folds)
        most = min(_NUMBERS // (n * len(self.columns)), _SQUARES // int(counts.min()))
        self.error_lines = int(np.clip(most, 1, _MOST_LINES))
        numbers = max(fold.block_size for fold in self.folds)
        numbers += 2 * (1 + self.error_lines) * len(self.columns)
        together = int(np.clip(_BYTES // (8 * n * numbers), 1, self.n_threads))
        self.at_once = min(together, self.a_pass)
        self._threads = self.n_threads // self.at_once  # of each draw

    @property
    def takes_all(self) -> bool:
        """Whether a draw takes all column subsets."""
        return bool(self.level >= 2**self.columns.n_kept)

    @property
    def _n_passes(self) -> int:
        if self.takes_all:
            return 1
        if self.n_subsets is not None:
            return -(-self.n_subsets // MAX_SUBSETS)
        return max(MOST_SUBSETS // self.level, 1)

    def _chunk_rows(self, fold: Neighbours) -> tuple[int, int]:
        """Validation rows of a chunk: at least, and in general.

        Many chunks make for good errors; with some rows each, adding up and algebra cost little
        beside.
        """
        n, n_valid, at_once = fold.n_rows, fold.n_valid, fold.rows_at_a_time
        least = max(1 if self.takes_all else LEAST_ROWS, at_once)
        if at_once > 1:
            return least, -(-2 * n_valid // (MANY_CHUNKS * at_once)) * at_once
        algebra = 0 if self.takes_all else -(-(self.level**2) // (4 * _ALGEBRA_ROWS * n))
        many = max(-(-n_valid // MANY_CHUNKS), LEAST_ROWS, algebra)
        return least, min(many, max(DRAW_WORK // (n * self.level), least))

    def __call__(self, number: int) -> Draw:
        """The values by a chunk."""
        stratum, k, chunk = self._chunks[number % self.a_pass]
        fold, columns, dof, lines = self.folds[k], self.columns, math.inf, np.zeros(1)
        designs: Iterable[Design] = columns.everything()
        if not self.takes_all:
            random = generator(self.seed, "chunk pairs", number)
            designs = [columns.sample(self.level, random, self.error_lines)]
        for design in designs:
            coalitions, weights, dof = design
            seen, flat = columns.columns_of(coalitions), weights.reshape(-1, len(coalitions))
            sums = fold(seen, flat, chunk, stop=self.stop, n_threads=self._threads)
            lines = lines + sums.reshape(*weights.shape[:2], fold.n_rows)
        lines[0, columns.n_kept :] += self.alone[k]  # of the label, and of the labels alone
        found = columns.placed(lines).swapaxes(1, 2)
        return Draw(found[0], len(chunk), stratum, found[1:] if len(found) > 1 else None, dof)

    def better(self, count: int, ratio: float, tolerance: float) -> tuple[int, float]:
        """See :class:`~shapley2d._estimation.draws.Draws`."""
        if self.takes_all or self.n_subsets is not None or count < self.a_pass:
            return 0, 0.0
        everything = 2**self.columns.n_kept
        excess = min(ratio / max(tolerance, 1e-300), 1e100)
        wanted = _MARGIN * self.level * excess
        larger = int(min(wanted, MAX_SUBSETS)) // 2 * 2
        if wanted >= everything and (everything <= MAX_SUBSETS or self.may_take_all):
            larger = everything
        cost = self.a_pass * larger / self.level
        needed = count * (excess**2 - 1)
        return (larger, cost) if larger > self.level and cost < needed else (0, 0.0)

    def at(self, level: int) -> KnnDraws:
        """See :class:`~shapley2d._estimation.draws.Draws`; a file may name any level."""
        everything = 2**self.columns.n_kept if self.may_take_all else 0
        if level not in (self.level, everything) and not 0 < level <= MAX_SUBSETS:
            raise ValueError(f"its draws have {level:,} column subsets, which none has")
        return replace(self, level=level)

    def identity(self) -> dict[str, Any]:
        """See :class:`~shapley2d._estimation.draws.Draws`."""
        return {"valid_rows": "all" if self.every_row else "auto", "device": self._device}

    @property
    def _device(self) -> str:
        return "cuda" if any(fold.on_gpu for fold in self.folds) else "cpu"

    def _used(self, count: int) -> int:
        """Validation rows that so many draws have used."""
        return sum(len(chunk) for _, _, chunk in self._chunks[:count])

    def facts(self, count: int) -> dict[str, Any]:
        """See :class:`~shapley2d._estimation.draws.Draws`."""
        m, passes = self.columns.n_kept, max(-(-count // self.a_pass), 1)
        facts = {
            "device": self._device,
            "subsets": "all" if self.takes_all else "sampled",
            "n_subsets": min(self.level * passes, 2**m),
            "n_valid_used": self._used(count),
        }
        if not self.takes_all:
            facts["n_chunks"] = count
        if few_subsets(self.level, m):
            facts["caveat"] = (
                f"{self.level} column subsets are too few for {m} columns to trust the intervals"
            )
        return facts

    def note(self, count: int) -> str:
        """See :class:`~shapley2d._estimation.draws.Draws`."""
        n_valid = sum(fold.n_valid for fold in self.folds)
        rows = f"{self._used(count):,} of {n_valid:,} validation rows"
        return rows if self.takes_all else f"{rows}, {self.level:,} column subsets each"
