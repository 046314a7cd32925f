"""What methods of numbered work will take: Monte Carlo draws, designs, trees."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs

from shapley2d._base.cost import Cost
from shapley2d._estimation.batches import single_threaded
from shapley2d._estimation.monte_carlo import MIN_DRAWS, Moments, MonteCarloState
from shapley2d._methods.price import CALIBRATION_S, HANDOVER_S, Measured, Price, measure
from shapley2d._theory.coalitions import MaskCoalitions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shapley2d._estimation.draws import Draws
    from shapley2d._theory.designs import AxisDesign
    from shapley2d._theory.game import Game

PILOT_S = 1.0
"""Seconds of draws that say how errors fall."""

SLOW_S = 2.0
"""Draws that look slower than this are not made: single trainings are timed."""

_OFF = 2.0  # by which factor the draws that a pilot asks for may be off
_ROWS_AT_ONCE, _COLUMNS_AT_ONCE = 8, 16
_MOST_COUNT = 2**14


def price_draws(
    draws: Draws,
    shape: tuple[int, int],
    *,
    tolerance: float,
    max_draws: int,
    n_jobs: int | None,
    guessed_s: float = 0.0,
    unit: str = "permutation",
) -> Price:
    """What draws take, and about how many: errors shrink with the root of their number.

    Parameters
    ----------
    draws : Draws
    shape : (int, int)
        Rows and columns of the values.
    tolerance, max_draws
        As of :func:`~shapley2d._estimation.monte_carlo.monte_carlo`.
    n_jobs : int or None
    guessed_s : float
        About what a draw takes, where that is known without making one.
    unit : str
        What a draw is.
    """
    if guessed_s > SLOW_S:
        pace = Measured(guessed_s, guessed_s)
        count = (max_draws, max_draws) if tolerance == 0 else (min(MIN_DRAWS, max_draws), max_draws)
    else:
        state = MonteCarloState(Moments(None), tolerance, max_draws)
        with single_threaded():
            state.add(draws(0))  # compiles, or loads what was compiled
            made, clock, core = 0, time.perf_counter(), time.process_time()
            while made == 0 or (
                time.perf_counter() - clock < PILOT_S
                and not state.finished()
                and made < max_draws - 1
            ):
                made += 1
                state.add(draws(made))
            pace = Measured(
                (time.perf_counter() - clock) / made, (time.process_time() - core) / made
            )
        count = expected_draws(state, tolerance, max_draws)
    n, m = shape
    cells = float(n) * m
    jobs = _jobs(n_jobs)
    back = 8 * cells / 5e8
    low, high = (
        Cost(5e-8 * cells * many, pace.core_s * many, many, 1, HANDOVER_S + back) for many in count
    )
    memory = 8 * cells * (8 + 3 * jobs)
    return Price(
        low, high, pace.cores * jobs, memory, {f"{unit}s": count}, {"s_per_draw": pace.core_s}
    )


def expected_draws(state: MonteCarloState, tolerance: float, max_draws: int) -> tuple[int, int]:
    """The least and the most draws to expect, by what a pilot has seen."""
    least, made = min(MIN_DRAWS, max_draws), state.moments.count
    if tolerance == 0:
        return max_draws, max_draws
    if state.finished():
        return made, made
    if made < MIN_DRAWS:
        return least, max_draws
    needed = state.needed()
    return int(np.clip(needed / _OFF, least, max_draws)), int(
        np.clip(needed * _OFF, least, max_draws)
    )


def price_designs(
    games: Sequence[Game],
    designs: Sequence[tuple[AxisDesign, AxisDesign]],
    shape: tuple[int, int],
    *,
    n_jobs: int | None,
) -> Price:
    """What it takes to evaluate every utility of some designs, from a few of them.

    Parameters
    ----------
    games : sequence of Game
    designs : sequence of (AxisDesign, AxisDesign)
        Of the rows and the columns of each game.
    shape : (int, int)
    n_jobs : int or None
    """
    counts = [len(rows.coalitions) * len(columns.coalitions) for rows, columns in designs]
    pace = pace_of_utilities(games[0], *designs[0])
    total = sum(counts)
    jobs = _jobs(n_jobs)
    pieces = max(total // 256, 1)
    cost = Cost(
        5e-8 * total, pace.core_s * total, min(pieces, 200 * len(games)), len(games), HANDOVER_S
    )
    memory = 8.0 * shape[0] * shape[1] * (4 + 2 * jobs) + 8.0 * min(total, 2**20) * jobs
    amounts = {"utilities": (total, total)}
    return Price(
        cost,
        cost,
        pace.cores * jobs,
        memory,
        amounts,
        {"s_per_utility": pace.core_s},
    )


def pace_of_utilities(game: Game, rows: AxisDesign, columns: AxisDesign) -> Measured:
    """Seconds of a utility: some row subsets of the design under some column subsets."""
    random = np.random.default_rng(0)

    def evaluate(count: int) -> float:
        done = 0
        while done < count:
            some = [
                _some(design, min(most, count), random)
                for design, most in ((rows, _ROWS_AT_ONCE), (columns, _COLUMNS_AT_ONCE))
            ]
            done += game.utilities(*some).size
        return float(done)

    with single_threaded():
        return measure(evaluate, _MOST_COUNT)


def _some(design: AxisDesign, count: int, random: np.random.Generator) -> MaskCoalitions:
    chosen = random.choice(
        len(design.coalitions), min(count, len(design.coalitions)), replace=False
    )
    masks = [design.coalitions.masks(int(k), int(k) + 1)[0] for k in chosen]
    return MaskCoalitions(np.array(masks))


def price_pieces(
    do: Callable[[int], float],
    total: int,
    unit: str,
    *,
    most: int,
    pieces: int,
    memory: float,
    n_jobs: int | None,
) -> Price:
    """What a known amount of work takes: ``do(count)`` does a part and returns how much."""
    with single_threaded():
        pace = measure(do, most, CALIBRATION_S)
    cost = Cost(0.0, pace.core_s * total, pieces, 1, HANDOVER_S)
    return Price(cost, cost, pace.cores * _jobs(n_jobs), memory, {unit: (total, total)})


def _jobs(n_jobs: int | None) -> int:
    """Worker processes that have a core each."""
    return int(min(effective_n_jobs(n_jobs), os.cpu_count() or 1))
