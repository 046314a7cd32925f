"""Time limits of models that train on every subset: a first result needs enough draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

from shapley2d._base.progress import now
from shapley2d._base.words import format_seconds
from shapley2d._estimation.draws import LEAST_DRAWS
from shapley2d.exceptions import OutOfTimeError

if TYPE_CHECKING:
    from shapley2d._methods.run import Run
    from shapley2d._models.game_draws import GameDraws
    from shapley2d._theory.game import Game


def check_time(draws: GameDraws, run: Run) -> None:
    """Refuse a time limit in which too few draws for a first result can be made."""
    games = draws.games
    sweeps = draws.compiled and hasattr(games[0], "grid")
    if run.limit is None or run.checkpoint is not None or sweeps:
        return
    n, m = games[0].n_rows, games[0].n_columns
    draw_s = _training_seconds(games[0]) * n * m * len(games)  # of one core
    n_jobs = -1 if draws.compiled and run.n_jobs is None else run.n_jobs
    left_s = float(run.limit.left() * effective_n_jobs(n_jobs))
    if LEAST_DRAWS * draw_s <= left_s:
        return
    fit = int(min(left_s * n / (LEAST_DRAWS * draw_s), n - 1))  # groups with time for enough draws
    ways = ["give it more time"]
    if fit >= 2:
        ways.append(f"value at most {fit:,} groups of rows (row_groups)")
    if getattr(run.progress, "otherwise", ""):  # where a forest can answer the same question
        ways.append("value every cell by trees, faster: method='forest'")
    raise OutOfTimeError(
        f"max_time={run.limit} is too short: {n:,} x {m} players are {n * m:,} trainings for one "
        f"draw, about {format_seconds(draw_s)} of a core, and a first result takes {LEAST_DRAWS} "
        f"draws: {', or '.join(ways)}"
    )


def _training_seconds(game: Game) -> float:
    """Seconds of one core that a training on half of the rows and half of the columns takes."""
    half = (np.arange(size)[None] % 2 == 0 for size in (game.n_rows, game.n_columns))
    with threadpool_limits(limits=1):
        start = now()
        game.utilities(*half)
        return now() - start
