"""Method ``"exact"``: every subset of rows under all subsets of columns (Liu et al., ICML 2023)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._methods.options import KEPT, TRAINING
from shapley2d._methods.record import Method
from shapley2d._models.model_games import score_model
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game

MAX_EXACT_UTILITIES = 2**24
"""``exact`` refuses games with more utilities than this: even at 1 ms each they take hours."""

_COLUMN_STEP = 64  # column subsets whose knn utilities are one piece of work, and one checkpoint


def solve(
    problem: Problem, run: Run, *, checkpoint: Any, cluster: Any, **settings: Any
) -> Estimate:
    """Exact values of a model's cells, for tables of a dozen players."""
    from shapley2d._models.model_games import model_games

    parts = model_games(problem, run, **settings)
    estimate = solve_games(
        parts.games,
        parts.rows,
        parts.n_rows,
        run,
        checkpoint=checkpoint,
        cluster=cluster,
        known={"problem": problem, **settings},
    )
    return estimate.noting(**parts.info)


def solve_games(
    games: Sequence[Game],
    rows: list[NDArray[np.intp]],
    n_rows: int,
    run: Run,
    *,
    checkpoint: Any = None,
    cluster: Any = None,
    known: dict[str, Any] | None = None,
    by_columns: bool = False,
) -> Estimate:
    """Exact values of games, the mean over them.

    ``known`` are facts that identify a checkpoint. With ``by_columns`` a piece of work is a few
    column subsets with all row subsets, which suits knn.
    """
    from shapley2d._estimation.exact import DesignBlocks
    from shapley2d._models.fixed_designs import value_designs
    from shapley2d._theory.designs import AllSubsets

    check_exact(games)
    of_rows, of_columns = run.semivalues
    blocks = []
    for game in games:
        design = AllSubsets(game.n_rows, of_rows), AllSubsets(game.n_columns, of_columns)
        blocks.append(
            DesignBlocks(game, *design, _COLUMN_STEP, by_columns=True)
            if by_columns
            else DesignBlocks.of_rows(game, *design)
        )
    return value_designs(
        blocks,
        rows,
        n_rows,
        run,
        title="exact values",
        checkpoint=checkpoint,
        cluster=cluster,
        known={"method": "exact", **(known or {})},
    )


def check_exact(games: Sequence[Game]) -> None:
    """Refuse games with too many coalitions to evaluate all of them."""
    for game in games:
        players = game.n_rows + game.n_columns
        if 2**players > MAX_EXACT_UTILITIES:
            raise InputError(
                f"exact values of {game.n_rows} rows x {game.n_columns} columns need 2^{players} "
                f"utilities, more than 2^{MAX_EXACT_UTILITIES.bit_length() - 1}: use ",
                Setting("method", "mc"),
                " or ",
                Setting("method", "knn"),
                ", or value blocks",
            )


METHOD = Method(
    name="exact",
    summary="any model, trained on every subset: for a dozen rows and columns in all",
    solve=solve,
    options=(*TRAINING, *KEPT),
    how="every subset of rows and columns",
    solve_games=solve_games,
    score=score_model,
    game_options=tuple(option.name for option in KEPT),
)
