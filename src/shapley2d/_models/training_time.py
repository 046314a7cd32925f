"""Time limits of models that train on every subset: a first result needs enough draws."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

from shapley2d._base.progress import now
from shapley2d._base.words import format_seconds
from shapley2d._estimation.draws import LEAST_DRAWS
from shapley2d.exceptions import OutOfTimeError

if TYPE_CHECKING:
    from shapley2d._methods.run import Run
    from shapley2d._theory.game import Game


def check_time(draws: Any, run: Run) -> None:
    """Refuse a time limit in which too few draws for a first result can be made."""
    game, n_folds = draws.games[0], len(draws.games)
    if run.limit is None or run.checkpoint is not None or not getattr(game, "trains_alone", False):
        return
    n, m = game.n_rows, game.n_columns
    draw_s = _training_seconds(game) * n * m * n_folds  # of one core
    n_jobs = -1 if draws.compiled and run.n_jobs is None else run.n_jobs
    left_s = float(run.limit.left() * effective_n_jobs(n_jobs))
    share = left_s / (LEAST_DRAWS * draw_s)
    if share >= 1:
        return
    ways = ["give it more time"]
    if int(share * n) >= 2:
        ways.append(f"value at most {int(share * n):,} groups of rows (row_groups)")
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
