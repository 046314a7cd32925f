"""Method ``"mc"``: permutation sampling over pairs of a row order and a column order.

Cells are valued as in 2D-Shapley (Liu et al., ICML 2023); sampled permutations estimate Shapley
values without bias (Castro, Gomez and Tejada, 2009).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._methods.options import SAMPLING, TRAINING, TRUNCATION
from shapley2d._methods.record import Method
from shapley2d._models.model_games import score_model

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._estimation.checkpoint import Checkpoint
    from shapley2d._estimation.draws import Draws
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game


def solve(
    problem: Problem,
    run: Run,
    *,
    max_permutations: int,
    tolerance: float,
    checkpoint: Any,
    cluster: Any,
    **settings: Any,
) -> Estimate:
    """Monte Carlo values of a model's cells."""
    from shapley2d._methods.identity import identity_of_sums, open_checkpoint
    from shapley2d._models.model_games import model_games
    from shapley2d._models.training_time import check_cells

    parts = model_games(problem, run, **settings)
    check_cells(parts.games, run, settings["model"])
    kept = open_checkpoint(
        checkpoint,
        run,
        parts.games,
        method="mc",
        n_rows=parts.n_rows,
        problem=problem,
        **settings,
        **identity_of_sums(run),
    )
    estimate = sample_games(
        parts.games, parts.rows, parts.n_rows, run, max_permutations=max_permutations,
        tolerance=tolerance, checkpoint=kept, cluster=cluster,
    )  # fmt: skip
    return estimate.noting(**parts.info)


def solve_games(
    games: Sequence[Game],
    rows: list[NDArray[np.intp]],
    n_rows: int,
    run: Run,
    *,
    checkpoint: Any,
    **sampling: Any,
) -> Estimate:
    """Monte Carlo values of games, the mean over them."""
    from shapley2d._methods.identity import open_checkpoint

    kept = open_checkpoint(checkpoint, run, games, method="mc", n_rows=n_rows)
    return sample_games(games, rows, n_rows, run, checkpoint=kept, **sampling)


def sample_games(
    games: Sequence[Game],
    rows: list[NDArray[np.intp]],
    n_rows: int,
    run: Run,
    *,
    max_permutations: int,
    tolerance: float,
    checkpoint: Checkpoint | None,
    cluster: Any,
) -> Estimate:
    """Monte Carlo values of games, whose checkpoint is open already."""
    from shapley2d._estimation.monte_carlo import monte_carlo

    estimate = monte_carlo(
        permutation_draws(games, rows, n_rows, run),
        tolerance=tolerance,
        max_draws=max_permutations,
        n_jobs=run.n_jobs,
        progress=run.progress,
        title="Monte Carlo",
        sums=run.sums,
        checkpoint=checkpoint,
        cluster=cluster,
        limit=run.limit,
    )
    run.warn_of_precision(estimate, tolerance, "max_permutations", max_permutations)
    return estimate


def permutation_draws(
    games: Sequence[Game], rows: list[NDArray[np.intp]], n_rows: int, run: Run
) -> Draws:
    """Draws of one game, or of the mean over games that each have their own rows."""
    from shapley2d._base.streams import draw_seeds
    from shapley2d._estimation.draws import MeanDraws, PermutationDraws

    draws: list[Draws] = [
        PermutationDraws(game, run.semivalues, seed)
        for game, seed in zip(games, draw_seeds(run.seed, len(games)), strict=True)
    ]
    whole = len(games) == 1 and rows[0].size == n_rows
    return draws[0] if whole else MeanDraws(draws, rows, n_rows)


METHOD = Method(
    name="mc",
    summary="any model, sampled: Monte Carlo over random orders of rows and columns",
    solve=solve,
    options=(*TRAINING, TRUNCATION, *SAMPLING),
    how="Monte Carlo over random orders of rows and columns",
    solve_games=solve_games,
    score=score_model,
    game_options=tuple(option.name for option in SAMPLING),
)
