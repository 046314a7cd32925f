"""Values of deterministic designs: every utility once, no sampling.

The utilities of every game are cut into blocks, which are numbered over all games and added up in
that order. Which worker computes a block, when and how often changes no bit, and a run that was
killed goes on after the last block in its checkpoint.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.progress import reporting
from shapley2d._estimation.workers import ordered_results
from shapley2d._theory.designs import AxisDesign, combine_axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._estimation.checkpoint import Checkpoint, Saved
    from shapley2d._theory.game import Game

_SAMPLED = 'method="mc" with max_time="{limit}" (--method mc --max-time {limit}) samples for {time}'
_BLOCKS = 200  # enough for progress, checkpoints and many workers
_MAX_UTILITIES = 2**20  # of a block, which holds them all at once
_MIN_UTILITIES = 16  # of a block: fewer are not worth handing to a worker
_MEAN, _SUM = "cells_mean", "game_sum"


@dataclass
class DesignBlocks:
    """The utilities of one game in numbered blocks, each contracted to its part of the values.

    Attributes
    ----------
    game : Game
    rows, columns : AxisDesign
    step : int
        Coalitions of a block, of rows under all columns.
    by_columns : bool
        Whether they are coalitions of columns instead, with all rows.
    """

    game: Game
    rows: AxisDesign
    columns: AxisDesign
    step: int
    by_columns: bool = False

    @classmethod
    def of_rows(cls, game: Game, rows: AxisDesign, columns: AxisDesign) -> DesignBlocks:
        """Blocks of row coalitions, about 200 unless there is little or very much to do."""
        n_rows, width = len(rows.coalitions), len(columns.coalitions)
        least, most = -(-_MIN_UTILITIES // width), max(1, _MAX_UTILITIES // width)
        return cls(game, rows, columns, min(max(-(-n_rows // _BLOCKS), least), most))

    @property
    def n_blocks(self) -> int:
        return -(-self._length // self.step)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the values."""
        return self.rows.n_players, self.columns.n_players

    @property
    def _length(self) -> int:
        return len((self.columns if self.by_columns else self.rows).coalitions)

    def n_utilities(self, n_blocks: int) -> int:
        """Utilities in the first blocks."""
        width = len((self.rows if self.by_columns else self.columns).coalitions)
        return min(n_blocks * self.step, self._length) * width

    def __call__(self, number: int) -> NDArray[np.float64]:
        start = number * self.step
        stop = min(start + self.step, self._length)
        if self.by_columns:
            utilities = self.game.utilities(
                self.rows.coalitions, self.columns.coalitions.slice(start, stop)
            )
            by_column = self.columns.combine(np.ascontiguousarray(utilities.T), start).T
            return self.rows.combine(by_column)
        utilities = self.game.utilities(
            self.rows.coalitions.slice(start, stop), self.columns.coalitions
        )
        return combine_axes(utilities, self.rows, self.columns, start)


class DesignValues(NamedTuple):
    """Values, and how many blocks an earlier run had done."""

    values: NDArray[np.float64]
    resumed_at: int


def evaluate_designs(
    games: Sequence[DesignBlocks],
    members: Sequence[NDArray[np.intp]],
    n_rows: int,
    *,
    n_jobs: int | None = None,
    progress: Any = False,
    title: str = "valuing",
    checkpoint: Checkpoint | None = None,
    cluster: Any = None,
    limit: TimeLimit | None = None,
) -> DesignValues:
    """Values of deterministic designs, the mean over games: every utility once.

    Parameters
    ----------
    games : sequence of DesignBlocks
    members : sequence of ndarray
        The rows of the values behind the rows of each game; the others get 0.
    n_rows : int
        Rows of the values.
    n_jobs : int or None
        Workers, as in joblib. The result is the same, bit for bit, for any number.
    progress : {"auto", True, False} or callable
    title : str
    checkpoint : Checkpoint, optional
        Where to go on from, and where to keep what is done.
    cluster : str, distributed.Client or executor, optional
        Where to work instead of here.
    limit : TimeLimit, optional
        There is no value before the last utility: where it ends first, an error says so, and a
        checkpoint has what was done.

    Examples
    --------
    >>> from shapley2d._games.function import FunctionGame
    >>> from shapley2d._theory.designs import AllSubsets
    >>> game = FunctionGame(lambda S, F: S.sum() * F.sum(), 2, 1)
    >>> blocks = DesignBlocks.of_rows(game, AllSubsets(2), AllSubsets(1))
    >>> evaluate_designs([blocks], [np.array([0, 2])], 3).values.tolist()
    [[1.0], [0.0], [1.0]]
    """
    sums = _Sums(games, members, n_rows)
    resumed = kept = sums.resume(checkpoint)
    results = ordered_results(
        _AllBlocks(games), resumed, sums.n_blocks, n_jobs=n_jobs, cluster=cluster
    )
    with reporting(progress, title, _SAMPLED) as report, closing(results):
        try:
            for part in results:
                sums.add(part)
                report(sums.fraction(), sums.note())
                if checkpoint is not None and checkpoint.due():
                    sums.save(checkpoint)
                    kept = sums.count
                if limit is not None and sums.count < sums.n_blocks:
                    limit.check()
        finally:
            if checkpoint is not None and sums.count > kept:
                sums.save(checkpoint)
    return DesignValues(sums.values, resumed)


@dataclass
class _AllBlocks:
    """The blocks of all games, numbered through."""

    games: Sequence[DesignBlocks]

    def __call__(self, number: int) -> NDArray[np.float64]:
        k, block = _place(self.games, number)
        return self.games[k](block)


def _place(games: Sequence[DesignBlocks], number: int) -> tuple[int, int]:
    """The game of a block, and its number there; the block after the last ends the last game."""
    for k, game in enumerate(games[:-1]):
        if number < game.n_blocks:
            return k, number
        number -= game.n_blocks
    return len(games) - 1, number


class _Sums:
    """The mean over the games that are done, and the sum of the blocks of the one under way."""

    def __init__(
        self, games: Sequence[DesignBlocks], members: Sequence[NDArray[np.intp]], n_rows: int
    ) -> None:
        self._games, self._members = games, members
        self._ends = list(accumulate(game.n_blocks for game in games))
        self.n_blocks = self._ends[-1]
        self.count = 0
        self.values = np.zeros((n_rows, games[0].shape[1]))
        self._sum = np.zeros(games[0].shape)

    def add(self, part: NDArray[np.float64]) -> None:
        k, _ = _place(self._games, self.count)
        self._sum += part
        self.count += 1
        if self.count == self._ends[k]:
            self.values[self._members[k]] += self._sum / len(self._games)
            self._sum = np.zeros(self._games[min(k + 1, len(self._games) - 1)].shape)

    def fraction(self) -> float:
        return self.count / self.n_blocks

    def note(self) -> str:
        k, block = _place(self._games, self.count - 1)
        game = self._games[k]
        fold = "" if len(self._games) == 1 else f"fold {k + 1} of {len(self._games)}: "
        done, all_of_it = game.n_utilities(block + 1), game.n_utilities(game.n_blocks)
        return f"{fold}{done:,} of {all_of_it:,} utilities"

    def save(self, checkpoint: Checkpoint) -> None:
        checkpoint.save(self.count, {_MEAN: self.values, _SUM: self._sum})

    def resume(self, checkpoint: Checkpoint | None) -> int:
        """Restore what an earlier run has left, and return its number of blocks."""
        if checkpoint is not None:
            checkpoint.load(self._restore)
        return self.count

    def _restore(self, saved: Saved) -> None:
        if saved.count > self.n_blocks:
            raise ValueError(f"it counts {saved.count:,} blocks of {self.n_blocks:,}")
        k, _ = _place(self._games, saved.count)
        saved.check_arrays({_MEAN: self.values.shape, _SUM: self._games[k].shape})
        self.count, self.values, self._sum = saved.count, saved.arrays[_MEAN], saved.arrays[_SUM]
