"""What a model that trains for every subset can do within a time limit."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs

from shapley2d._base.words import format_seconds
from shapley2d._estimation.batches import single_threaded
from shapley2d._estimation.monte_carlo import MIN_DRAWS
from shapley2d._methods.models import is_built_in
from shapley2d._theory.coalitions import MaskCoalitions
from shapley2d.exceptions import OutOfTimeError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game

SUBSETS_PER_PLAYER = 10
"""Subsets that groups of one axis are worth spending on every fold, before there are more folds.

With 10 to a group the error was half of the values' root mean square, with 5 as large as it (120
and 60 subsets of 12 clusters of customers, decision trees, 60 samples each beside exact values).
"""


def training_seconds(game: Game) -> float:
    """Seconds of one core that a training on half of the rows and half of the columns takes."""
    half = (
        MaskCoalitions(np.arange(size)[None] % 2 == 0) for size in (game.n_rows, game.n_columns)
    )
    with single_threaded():
        start = time.perf_counter()
        game.utilities(*half)
        return time.perf_counter() - start


def folds_in_time(problem: Problem, run: Run, game: Game, model: Any, *, by_pairs: bool) -> Problem:
    """The problem with as many of its random folds as there is time for, at least one.

    Subsets of groups differ far more than folds do, so that time is better spent on more subsets.

    Parameters
    ----------
    problem : Problem
    run : Run
    game : Game
        Of the groups, in the first fold.
    model
    by_pairs : bool
        Whether pairs of subsets of the longer axis are sampled, or orders of both.
    """
    folds = len(problem.splits)
    if run.limit is None or is_built_in(model):
        return problem
    left = run.limit.left() * effective_n_jobs(run.n_jobs)
    seconds = training_seconds(game)
    few, many = sorted((game.n_rows, game.n_columns))
    if by_pairs:
        wanted = SUBSETS_PER_PLAYER * many * 2**few
    else:
        wanted = MIN_DRAWS * many * few
        check_draws(run.limit, seconds * game.n_rows * game.n_columns, game, left)
    if folds == 1 or problem.how:  # folds in time order are not alike
        return problem
    kept = int(np.clip(left / (wanted * max(seconds, 1e-9)), 1, folds))
    return replace(problem, splits=problem.splits[:kept])


def check_cells(games: Sequence[Game], run: Run, model: Any) -> None:
    """Refuse a time limit that is too short for two draws of cells, before the first one."""
    if run.limit is None or is_built_in(model):
        return
    draw = training_seconds(games[0]) * games[0].n_rows * games[0].n_columns * len(games)
    left = run.limit.left() * effective_n_jobs(run.n_jobs)
    by_trees = ("; or every cell by trees, faster: ", Setting("method", "forest"))
    check_draws(run.limit, draw, games[0], left, by_trees)


def check_draws(
    limit: TimeLimit,
    draw_s: float,
    game: Game,
    left_s: float,
    otherwise: tuple[str | Setting, ...] = (),
) -> None:
    """Refuse a limit in which not even two draws can be made.

    Parameters
    ----------
    limit : TimeLimit
    draw_s : float
        Seconds of one core that a draw takes.
    game : Game
    left_s : float
        Seconds of all workers that are left.
    otherwise : tuple of str and Setting
        What else could be done.
    """
    if 2 * draw_s <= left_s:
        return
    n, m = game.n_rows, game.n_columns
    raise OutOfTimeError(
        Setting("max_time", limit),
        f" is too short: {n:,} x {m} players are {n * m:,} trainings for one draw, about "
        f"{format_seconds(draw_s)} of a core. Value groups of similar rows instead (value_blocks, "
        "shapley2d blocks), all columns together: ",
        Setting("rows", "clusters=40"),
        *otherwise,
    )
