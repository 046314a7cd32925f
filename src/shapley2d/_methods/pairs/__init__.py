"""Method ``"pairs"``: the longer axis by complement pairs of subsets, the other one exact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.defaults import MIN_COALITIONS
from shapley2d._methods.model_games import score_model
from shapley2d._methods.options import TOLERANCE, TRAINING
from shapley2d._methods.record import Method, whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game


def solve(
    problem: Problem, run: Run, *, n_subsets: int | None, tolerance: float, **settings: Any
) -> Estimate:
    """Values of a model's cells."""
    from shapley2d._methods.model_games import model_games
    from shapley2d._methods.models import is_knn

    threads = (-1 if run.n_jobs is None else run.n_jobs) if is_knn(settings["model"]) else 1
    parts = model_games(problem, run, **settings, threads=threads)
    estimate = solve_games(
        parts.games, parts.rows, parts.n_rows, run, n_subsets=n_subsets, tolerance=tolerance
    )
    return estimate.noting(**parts.info)


def solve_games(
    games: Sequence[Game],
    rows: list[NDArray[np.intp]],
    n_rows: int,
    run: Run,
    *,
    n_subsets: int | None,
    tolerance: float,
) -> Estimate:
    """Values of games, the mean over them."""
    from shapley2d._methods.pairs.games import solve_pairs

    return solve_pairs(games, rows, n_rows, run, n_subsets=n_subsets, tolerance=tolerance)


METHOD = Method(
    name="pairs",
    summary="any model with few columns or few rows, which are exact; the others sampled: "
    "far fewer utilities than mc",
    solve=solve,
    options=(
        *TRAINING,
        whole(
            "n_subsets",
            None,
            "the size of that sample",
            least=MIN_COALITIONS,
            shown_default="doubled until the tolerance is met",
        ),
        TOLERANCE,
    ),
    how="complement pairs of subsets",
    solve_games=solve_games,
    score=score_model,
    game_options=("n_subsets", "tolerance"),
)
