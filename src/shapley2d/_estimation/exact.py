"""Exact values: the utilities of all coalitions, each computed once.

The utilities of every game are cut into blocks, which are numbered over all games and summed in
that order. Which worker computes a block, when and how often changes no bit, and a run that was
killed resumes after the last block in its checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.progress import reporting
from shapley2d._estimation.old_workers import ordered_results
from shapley2d._estimation.rounds import WholeSum, add_rounds
from shapley2d._theory.axes import set_weights, subsets

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._estimation.checkpoint import Checkpoint, Saved
    from shapley2d._theory.game import Game
    from shapley2d._theory.semivalues import Semivalue

_SAMPLED = 'method="mc" with max_time="{limit}" (--method mc --max-time {limit}) samples for {time}'
_MIN_UTILITIES = 16  # of a block: fewer are not worth handing to a worker
_MEAN, _SUM = "cells_mean", "game_sum"


@dataclass
class DesignBlocks:
    """The utilities of one game in numbered blocks, each contracted to its part of the values.

    ``step``: row coalitions of a block, under all column coalitions.
    ``by_columns``: whether a block has column coalitions instead, under all row coalitions.
    """

    game: Game
    semivalues: tuple[Semivalue, Semivalue]
    step: int
    by_columns: bool = False

    @classmethod
    def of_rows(cls, game: Game, semivalues: tuple[Semivalue, Semivalue]) -> DesignBlocks:
        """Blocks of row coalitions: about 200, enough for progress, checkpoints and many workers.

        A block holds all of its utilities in memory, at most 2^20.
        """
        n_rows, width = 2**game.n_rows, 2**game.n_columns
        least, most = -(-_MIN_UTILITIES // width), max(1, 2**20 // width)
        return cls(game, semivalues, min(max(-(-n_rows // 200), least), most))

    @property
    def n_blocks(self) -> int:
        """The number of blocks."""
        return -(-self._length // self.step)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the values."""
        return self.game.n_rows, self.game.n_columns

    @property
    def _length(self) -> int:
        return int(2 ** self.shape[self.by_columns])

    def n_utilities(self, n_blocks: int) -> int:
        """The number of utilities in the first blocks."""
        width = 2 ** self.shape[not self.by_columns]
        return int(min(n_blocks * self.step, self._length) * width)

    def __call__(self, number: int) -> Floats:
        start = number * self.step
        part, whole = (start, start + self.step), (0, None)
        rows = subsets(self.game.n_rows, *(whole if self.by_columns else part))
        columns = subsets(self.game.n_columns, *(part if self.by_columns else whole))
        by_column = self.game.utilities(rows, columns) @ set_weights(columns, self.semivalues[1])
        return np.asarray(set_weights(rows, self.semivalues[0]).T @ by_column)


def evaluate_designs(
    games: Sequence[DesignBlocks],
    members: Sequence[Ints],
    n_rows: int,
    *,
    n_jobs: int | None = None,
    progress: Any = False,
    title: str = "valuing",
    checkpoint: Checkpoint | None = None,
    cluster: Any = None,
    limit: TimeLimit | None = None,
) -> tuple[Floats, int]:
    """The mean of the games' exact values, and the number of blocks that a checkpoint had.

    ``members`` has the rows of the values, ``n_rows`` in all, behind the rows of each game; the
    others get 0. There is no value before the last utility: if time runs out first, an error says
    so, and a checkpoint has what was done. The result is the same, bit for bit, for any number of
    workers.

    >>> from shapley2d._models.function import FunctionGame
    >>> game = FunctionGame(lambda S, F: S.sum() * F.sum(), 2, 1)
    >>> blocks = DesignBlocks.of_rows(game, ("shapley", "shapley"))
    >>> evaluate_designs([blocks], [np.array([0, 2])], 3)[0].tolist()
    [[1.0], [0.0], [1.0]]
    """
    total = _Sums(games, members, n_rows)
    if checkpoint is not None:
        checkpoint.load(total.restore)
    resumed, places = total.count, total.places

    def work(number: int) -> Floats:
        k, block = places[number]
        return games[k](block)

    results = ordered_results(work, resumed, total.most, n_jobs=n_jobs, cluster=cluster)
    with reporting(progress, title, _SAMPLED) as report:
        add_rounds(results, total, report=report, limit=limit, checkpoint=checkpoint)
    return total.values, resumed


class _Sums(WholeSum):
    """The mean over the finished games, and the sum over the blocks of the current game."""

    def __init__(self, games: Sequence[DesignBlocks], members: Sequence[Ints], n_rows: int) -> None:
        self._games, self._members = games, members
        # the game of every block, and its number there
        self.places = [(k, block) for k, game in enumerate(games) for block in range(game.n_blocks)]
        super().__init__(len(self.places))
        self.values = np.zeros((n_rows, games[0].shape[1]))
        self._sum = np.zeros(games[0].shape)

    def add(self, part: Floats) -> None:
        k = self._current()
        self._sum += part
        self.count += 1
        if self.count == self.most or self._current() > k:
            self.values[self._members[k]] += self._sum / len(self._games)
            self._sum = np.zeros(self._games[self._current()].shape)

    def _current(self) -> int:
        """The game of the next block; at the end the last one."""
        return self.places[min(self.count, self.most - 1)][0]

    def note(self) -> str:
        k, block = self.places[self.count - 1]
        game = self._games[k]
        fold = "" if len(self._games) == 1 else f"fold {k + 1} of {len(self._games)}: "
        done, all_of_it = game.n_utilities(block + 1), game.n_utilities(game.n_blocks)
        return f"{fold}{done:,} of {all_of_it:,} utilities"

    def save(self, checkpoint: Checkpoint) -> None:
        checkpoint.save(self.count, {_MEAN: self.values, _SUM: self._sum})

    def restore(self, saved: Saved) -> None:
        """Resume from a checkpoint; a ValueError says why it is not sound."""
        if saved.count > self.most:
            raise ValueError(f"it counts {saved.count:,} blocks of {self.most:,}")
        self.count = saved.count
        shape = self._games[self._current()].shape
        saved.check_arrays({_MEAN: self.values.shape, _SUM: shape})
        self.values, self._sum = saved.arrays[_MEAN], saved.arrays[_SUM]


def gain_of_all(games: Sequence[Game]) -> float:
    """What all rows and columns together add to none: what Shapley values sum to, over games."""
    gains = []
    for game in games:
        rows, columns = (
            np.repeat([[False], [True]], size, axis=1) for size in (game.n_rows, game.n_columns)
        )
        gains.append(np.diff(np.diff(game.utilities(rows, columns), axis=0), axis=1).item())
    return float(np.mean(gains))
