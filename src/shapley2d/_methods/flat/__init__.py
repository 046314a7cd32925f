"""Method ``"flat"``: every cell is a player; an absent cell is filled with its column's mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._methods.models import FLAT_MODELS, model_option
from shapley2d._methods.options import MAX_PERMUTATIONS, PREPROCESS, SAMPLING, SCORING, TRUNCATION
from shapley2d._methods.record import Method

if TYPE_CHECKING:
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def solve(problem: Problem, run: Run, **options: Any) -> Estimate:
    """Values of cells as players of one game."""
    from shapley2d._methods.flat.cells import flat_cells

    return flat_cells(problem, run, **options)


def score(problem: Problem, run: Run, **options: Any) -> float:
    """The score of the table, less that of a table of means."""
    import numpy as np

    from shapley2d._methods.flat.cells import flat_game

    settings = {name: options[name] for name in ("model", "scoring", "preprocess")}
    games = [flat_game(split, seed=run.seed, **settings) for split in problem.splits]
    return float(np.mean([game.utility_all - game.baseline_utility for game in games]))


METHOD = Method(
    name="flat",
    summary="any model, every cell a player (1D-Shapley), absent cells filled with column means",
    solve=solve,
    comparison=True,
    options=(
        model_option("tree", FLAT_MODELS),
        SCORING,
        PREPROCESS,
        TRUNCATION,
        MAX_PERMUTATIONS.but(default=500),
        *(option for option in SAMPLING if option is not MAX_PERMUTATIONS),
    ),
    how="every cell a player, absent cells filled with the mean (1D-Shapley)",
    meaning="what it adds to the model's performance when it replaces its column's mean, "
    "on average over all orders of the cells",
    total="the model's score less {baseline_utility:.4g}, that of a table of means",
    score=score,
)
