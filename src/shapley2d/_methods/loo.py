"""Method ``"loo"``: 2D leave-one-out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._methods.model_games import score_model
from shapley2d._methods.options import KEPT, TRAINING
from shapley2d._methods.record import Method, refuse_semivalue

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game


def solve(problem: Problem, run: Run, **options: Any) -> Estimate:
    """2D leave-one-out values of a model's cells."""
    from shapley2d._methods.fixed_designs import value_model

    return value_model(solve_games, problem, run, **options)


def solve_games(
    games: Sequence[Game],
    rows: list[NDArray[np.intp]],
    n_rows: int,
    run: Run,
    *,
    checkpoint: Any = None,
    cluster: Any = None,
    known: dict[str, Any] | None = None,
) -> Estimate:
    """The table without a row, without a column and without both, compared with all of it.

    ``known`` facts about the games identify a checkpoint.
    """
    from shapley2d._estimation.exact import DesignBlocks
    from shapley2d._methods.fixed_designs import value_designs
    from shapley2d._theory.designs import LeaveOneOut

    refuse_semivalue("loo", run.semivalues, "it only looks at the whole table")
    blocks = [
        DesignBlocks.of_rows(game, LeaveOneOut(game.n_rows), LeaveOneOut(game.n_columns))
        for game in games
    ]
    return value_designs(
        blocks,
        rows,
        n_rows,
        run,
        title="leave one out",
        checkpoint=checkpoint,
        cluster=cluster,
        known={"method": "loo", **(known or {})},
    )


METHOD = Method(
    name="loo",
    summary="any model, 2D leave-one-out: the table without a row, a column, and both",
    solve=solve,
    options=(*TRAINING, *KEPT),
    how="leaving out one row and one column at a time",
    meaning="what the whole table's performance owes to its row and its column together",
    total="",
    solve_games=solve_games,
    score=score_model,
    game_options=tuple(option.name for option in KEPT),
)
