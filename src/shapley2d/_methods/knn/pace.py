"""Seconds per row, validation row and column subset, measured on a little of the real work."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.streams import generator, seed_sequence
from shapley2d._knn.columns.design import PairSequence
from shapley2d._methods.knn.game import SplitGame
from shapley2d._methods.knn.varying import take_columns

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.row_values import RowValues
    from shapley2d._methods.knn.pieces import AllSubsetPieces
    from shapley2d._tables.problem import Problem

CALIBRATION_S = 0.4
"""Seconds of work that a pace is measured on."""

_PATIENCE = 4.0
_TIMED_SUBSETS = 64  # as the kernels take them: 32 share the distances of a validation row
_MOST_TIMED = 4096  # times these
_WALK_TRIPLES = 2**26  # of a validation row: walks over more subsets are timed with fewer columns


def few_rows(problem: Problem, n_valid: int, seed: int) -> Problem:
    """The problem of the largest split, cut to some random validation rows."""
    split = max(problem.splits, key=lambda one: one.train.n_rows)
    random = generator(seed, "pace")
    part = split.take_valid(np.sort(random.permutation(split.valid.n_rows)[:n_valid]))
    part = replace(part, rows=np.arange(part.train.n_rows))
    return replace(problem, table=part.train, target=part.y, splits=[part])


def pace_of_sample(
    game: SplitGame, part: RowValues, rows: NDArray[np.intp], seconds: float = CALIBRATION_S
) -> float:
    """Seconds per row, validation row and sampled subset, on some of these validation rows."""
    smaller = PairSequence(part.n_columns, seed_sequence(game.seed, "pace")).take(
        _TIMED_SUBSETS // 2
    )
    pairs = np.stack([smaller, ~smaller], axis=1)  # which share a sum of columns
    subsets = np.resize(pairs.reshape(-1, part.n_columns), (_TIMED_SUBSETS, part.n_columns))

    def evaluate(count: int) -> float:
        some = rows[: min(count, rows.size)]
        calls = max(count // some.size, 1)
        for _ in range(calls):
            part.values(subsets, valid=some)
        return float(calls * some.size * len(subsets) * part.n_rows)

    return measure(evaluate, _MOST_TIMED, seconds)


def pace_of_walk(game: SplitGame, pieces: AllSubsetPieces, seconds: float = CALIBRATION_S) -> float:
    """Seconds per row, validation row and subset, where all subsets are walked through.

    A step of the walk takes the same time however many columns there are, so that few are enough.
    """
    fewer, chunk = game.n_columns, pieces.chunks[0][1]
    while fewer > 4 and game.n_rows << fewer > _WALK_TRIPLES:
        fewer -= 1
    if fewer < game.n_columns:
        few = few_rows(game.problem, chunk.size, game.seed)
        columns = np.linspace(0, game.n_columns - 1, fewer).round().astype(np.intp)
        game = SplitGame.make(
            take_columns(few, columns),
            game.run,
            game.options,
            game.form,
            device=game.device,
            small=game.small,
        )
        chunk = np.arange(few.n_valid)
    part, weights = game.parts[0], game.column_weights()

    def walk(count: int) -> float:
        some = chunk[: min(count, chunk.size)]
        calls = max(count // some.size, 1)
        for _ in range(calls):
            part.walk(*weights, valid=some)
        return float(calls * some.size * part.n_rows << fewer)

    return measure(walk, _MOST_TIMED, seconds)


def measure(do: Callable[[int], float], most: int, seconds: float) -> float:
    """Seconds of a unit of some work: ``do(count)`` does that much, returns how many units it was.

    The first call is not counted: it compiles, or loads what was compiled. Then the work is doubled
    until it takes long enough to be measured.
    """
    do(1)
    count = 1
    while True:
        clock, core = time.perf_counter(), time.process_time()
        units = do(count)
        clock, core = time.perf_counter() - clock, time.process_time() - core
        worked = min(clock, _PATIENCE * core)  # on a busy machine the clock says little
        if worked >= seconds / 2 or clock >= _PATIENCE * seconds or count >= most:
            return clock / units
        count = min(most, count * (2 if worked > seconds / 8 else 4))
