"""Time limits of models that train on every subset: the folds and draws that fit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs

from shapley2d._base.defaults import CLUSTERS
from shapley2d._base.progress import now
from shapley2d._base.words import format_seconds
from shapley2d._estimation.batches import single_threaded
from shapley2d._estimation.monte_carlo import MIN_DRAWS
from shapley2d._estimation.rounds import LEAST_PIECES
from shapley2d._models.by_name import is_built_in
from shapley2d._theory.coalitions import MaskCoalitions
from shapley2d.exceptions import OutOfTimeError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game


def training_seconds(game: Game) -> float:
    """Seconds of one core that a training on half of the rows and half of the columns takes."""
    half = (
        MaskCoalitions(np.arange(size)[None] % 2 == 0) for size in (game.n_rows, game.n_columns)
    )
    with single_threaded():
        start = now()
        game.utilities(*half)
        return now() - start


def seconds_left(run: Run) -> float:
    """Seconds of all workers until the time limit; infinite without one."""
    if run.limit is None:
        return math.inf
    return float(run.limit.left() * effective_n_jobs(run.n_jobs))


def folds_in_time(problem: Problem, run: Run, game: Game, training_s: float) -> Problem:
    """The problem with as many of its random folds as there is time for, at least one.

    Draws differ far more than folds do, so that time is better spent on more subsets.
    ``game`` is that of the sets in the first fold, and ``training_s`` are seconds of one core.
    """
    if run.limit is None:
        return problem
    left, draw_s = seconds_left(run), training_s * game.n_rows * game.n_columns
    check_draws(run.limit, draw_s, game, left)
    if problem.how:  # folds in time order are not alike
        return problem
    kept = int(np.clip(left / (MIN_DRAWS * max(draw_s, 1e-9)), 1, len(problem.splits)))
    return replace(problem, splits=problem.splits[:kept])


def check_cells(games: Sequence[Game], run: Run, model: Any) -> None:
    """Refuse a time limit that is too short for a first result of cells, before the first one."""
    if run.limit is None or (is_built_in(model) and model != "boosting"):
        return
    draw = training_seconds(games[0]) * games[0].n_rows * games[0].n_columns * len(games)
    by_trees = ("; or every cell by trees, faster: ", Setting("method", "forest"))
    check_draws(run.limit, draw, games[0], seconds_left(run), by_trees)


def check_draws(
    limit: TimeLimit,
    draw_s: float,
    game: Game,
    left_s: float,
    otherwise: tuple[str | Setting, ...] = (),
) -> None:
    """Refuse a limit in which too few draws for a first result can be made.

    A draw takes ``draw_s`` seconds of one core, 0 if that was not measured; all workers have
    ``left_s`` left; ``otherwise`` names what else could be done.
    """
    if draw_s == 0 or LEAST_PIECES * draw_s <= left_s:
        return
    n, m = game.n_rows, game.n_columns
    together, with_columns = (  # clusters for which there is time for enough draws
        int(min(left_s * n * m / (MIN_DRAWS * count * draw_s), CLUSTERS, n - 1)) for count in (1, m)
    )
    advice: tuple[str | Setting, ...] = ("Give it more time",)
    if together >= 2:
        sets = "Value sets of similar rows instead (value_blocks, shapley2d blocks)"
        advice = (f"{sets}, all columns together: ", Setting("rows", f"clusters={together}"))
    if with_columns >= 2 and m > 1:
        advice = (*advice, "; with the columns: ", Setting("rows", f"clusters={with_columns}"))
    raise OutOfTimeError(
        Setting("max_time", limit),
        f" is too short: {n:,} x {m} players are {n * m:,} trainings for one draw, about "
        f"{format_seconds(draw_s)} of a core, and a first result takes {LEAST_PIECES} draws. ",
        *advice,
        *otherwise,
    )
