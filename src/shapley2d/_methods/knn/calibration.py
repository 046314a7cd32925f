"""How fast this machine is at the real work of nearest neighbours: the kernels of a run, on its table, for a moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.streams import seed_sequence
from shapley2d._knn.columns.design import PairSequence
from shapley2d._knn.columns.jackknife import GROUPS
from shapley2d._knn.rounding import average_rounding
from shapley2d._methods.knn.pilot import few_rows
from shapley2d._methods.knn.split_game import SplitGame
from shapley2d._methods.knn.varying import take_columns
from shapley2d._methods.price import CALIBRATION_S, Measured, measure, timed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.row_values import RowValues
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

CALIBRATION_VALID = 64
"""Validation rows that are coded for it."""

_COALITIONS = 16  # that share the distances of a validation row
_MOST_BLOCKS = 64  # times all of those
_WALK_TRIPLES = (
    2**26
)  # of one validation row: walks over more column subsets are timed with fewer columns


@dataclass(frozen=True)
class Bench:
    """The set-up of a run on few validation rows, and what that took.

    Attributes
    ----------
    problem : Problem
        Of one split with few validation rows.
    game : SplitGame
    setup_s : float
        Seconds to code its table.
    """

    problem: Problem
    game: SplitGame
    setup_s: float

    @property
    def part(self) -> RowValues:
        """Its row kernels."""
        return self.game.parts[0]


def set_up(
    problem: Problem, run: Run, form: str, device: Device | None, *, small: bool, **settings: Any
) -> Bench:
    """Code the rows of the largest split as the run will, with few validation rows."""
    few = few_rows(problem, None, CALIBRATION_VALID, run.seed)
    game = SplitGame(few, run, device=device, small=small, **settings)
    setup_s = timed(lambda: game.columns)
    setup_s += timed(lambda: game.use_form(form))
    return Bench(few, game, setup_s)


def pace_of_sample(
    bench: Bench, seed: int, form: str | None = None, seconds: float = CALIBRATION_S
) -> Measured:
    """Seconds per training row, validation row and sampled column coalition.

    Parameters
    ----------
    bench : Bench
    seed : int
    form : {"exact", "fast"}, optional
        Another form than that of the bench.
    seconds : float
    """
    part = bench.part if form is None else bench.game.make_parts(form)[0]
    coalitions = _some_coalitions(part.n_columns, seed)

    def evaluate(count: int) -> float:
        rows = min(count, part.n_valid)
        blocks = coalitions[: min(-(-count // rows), len(coalitions) // _COALITIONS) * _COALITIONS]
        calls = max(count // (rows * max(len(blocks) // _COALITIONS, 1)), 1)
        for _ in range(calls):
            part.values(blocks, valid=np.arange(rows))
        return float(calls * rows * len(blocks) * part.n_rows)

    return _by_device(bench, measure(evaluate, part.n_valid * _MOST_BLOCKS, seconds))


def pace_of_walk(bench: Bench, run: Run, seconds: float = CALIBRATION_S) -> Measured:
    """Seconds per training row, validation row and column coalition, where all of these are walked through.

    A step of the walk takes the same time however many columns there are, so that few are enough.
    """
    game, chunk = bench.game, bench.part.walk_rows()
    fewer = game.n_columns
    while fewer > 4 and game.n_rows << fewer > _WALK_TRIPLES:
        fewer -= 1
    if fewer < game.n_columns:
        columns = np.linspace(0, game.n_columns - 1, fewer).round().astype(np.intp)
        game = SplitGame(
            take_columns(bench.problem, columns),
            run,
            game.info["n_neighbors"],
            game.info["metric"],
            game.baseline,
            game.device,
            small=game.is_small,
        )
        game.use_form(bench.game.form)
    part, weights = game.parts[0], game.column_weights()

    def walk(count: int) -> float:
        rows = min(count, part.n_valid, chunk)
        calls = max(count // rows, 1)
        for _ in range(calls):
            part.walk(*weights, valid=np.arange(rows))
        return float(calls * rows * part.n_rows << fewer)

    return _by_device(bench, measure(walk, part.n_valid * _MOST_BLOCKS, seconds))


def _by_device(bench: Bench, measured: Measured) -> Measured:
    """On a GPU the clock counts: what the processor does meanwhile says nothing."""
    if bench.game.device is None:
        return measured
    return Measured(measured.clock_s, measured.clock_s)


def estimator_s(n_rows: int, n_columns: int, pairs: int) -> float:
    """Seconds that values and errors take once pairs of coalitions are evaluated (measured on one core at 2.5 GHz).

    A start; a matrix of pairs that is inverted for each group of the jackknife; and for each of
    those the products of weights and row values, and passes over their results.

    Examples
    --------
    >>> round(estimator_s(32_561, 14, 224), 2)
    0.64
    """
    replicates = (GROUPS + 1) * n_columns
    by_row = replicates * (3e-8 + 4e-10 * pairs)
    return 0.03 + 1e-10 * (GROUPS + 1) * float(pairs) ** 3 + by_row * n_rows


def rounding_s(bench: Bench, seed: int) -> float:
    """Seconds to say what rounded distances change, for one validation row under one coalition."""
    columns = bench.game.columns[0]
    if not columns.unrounded:
        return 0.0
    coalition = _some_coalitions(bench.part.n_columns, seed)[0]
    return timed(lambda: average_rounding(bench.part, columns, [(0, coalition)]))


def _some_coalitions(n_columns: int, seed: int) -> NDArray[np.bool_]:
    """Column coalitions as a run samples them, a few blocks."""
    count = 4 * _COALITIONS
    smaller = PairSequence(n_columns, seed_sequence(seed, "plan")).take(count // 2)
    pairs = np.stack([smaller, ~smaller], axis=1).reshape(
        -1, n_columns
    )  # which share a sum of columns
    both = np.concatenate([pairs, np.ones((1, n_columns), dtype=np.bool_)])
    return both[np.arange(count) % len(both)]
