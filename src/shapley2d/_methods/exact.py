"""Method ``"exact"``: every subset of rows under every subset of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._methods.model_games import score_model
from shapley2d._methods.options import KEPT, TRAINING
from shapley2d._methods.record import Method
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.price import Price
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.designs import AxisDesign
    from shapley2d._theory.game import Game

MAX_EXACT_UTILITIES = 2**24
"""``exact`` refuses games with more utilities than this: even at 1 ms each they take hours."""


def solve(
    problem: Problem, run: Run, *, checkpoint: Any, cluster: Any, **settings: Any
) -> Estimate:
    """Exact values of a model's cells, for tables of a dozen players."""
    from shapley2d._methods.model_games import model_games

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
) -> Estimate:
    """Exact values of games, the mean over them; ``known`` facts identify a checkpoint."""
    from shapley2d._estimation.exact import DesignBlocks
    from shapley2d._methods.fixed_designs import value_designs

    check_exact(games, rows, run)
    designs = exact_designs(games, rows, run)
    blocks = [
        DesignBlocks.of_rows(game, *design) for game, design in zip(games, designs, strict=True)
    ]
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


def exact_designs(
    games: Sequence[Game], rows: list[NDArray[np.intp]], run: Run
) -> list[tuple[AxisDesign, AxisDesign]]:
    """All subsets of rows and of columns, for every game."""
    from shapley2d._theory.designs import exact_design

    return [
        (
            exact_design(game.n_rows, run.semivalues[0], run.precedence.of_rows(members).rows),
            exact_design(game.n_columns, run.semivalues[1], run.precedence.columns),
        )
        for game, members in zip(games, rows, strict=True)
    ]


def exact_utilities(games: Sequence[Game], rows: list[NDArray[np.intp]], run: Run) -> int:
    """Utilities that exact values need."""
    from shapley2d._theory.precedence import n_subsets

    return sum(
        n_subsets(game.n_rows, run.precedence.of_rows(members).rows)
        * n_subsets(game.n_columns, run.precedence.columns)
        for game, members in zip(games, rows, strict=True)
    )


def check_exact(games: Sequence[Game], rows: list[NDArray[np.intp]], run: Run) -> None:
    """Refuse games with too many coalitions to evaluate all of them."""
    for game, members in zip(games, rows, strict=True):
        players = (exact_utilities([game], [members], run) - 1).bit_length()
        if 2**players > MAX_EXACT_UTILITIES:
            raise InputError(
                f"exact values of {game.n_rows} rows x {game.n_columns} columns need 2^{players} "
                f"utilities, more than 2^{MAX_EXACT_UTILITIES.bit_length() - 1}: use ",
                Setting("method", "mc"),
                " or ",
                Setting("method", "knn"),
                ", or value blocks",
            )


def price(problem: Problem, run: Run, **options: Any) -> Price:
    """What a run will take."""
    from shapley2d._methods.model_games import model_games
    from shapley2d._methods.work_price import price_designs

    parts = model_games(problem, run, **{option.name: options[option.name] for option in TRAINING})
    check_exact(parts.games, parts.rows, run)
    designs = exact_designs(parts.games, parts.rows, run)
    return price_designs(
        parts.games, designs, (parts.n_rows, parts.games[0].n_columns), n_jobs=run.n_jobs
    )


METHOD = Method(
    name="exact",
    summary="any model, trained on every subset: for a dozen rows and columns in all",
    solve=solve,
    options=(*TRAINING, *KEPT),
    how="every subset of rows and columns",
    solve_games=solve_games,
    score=score_model,
    precedence=True,
    game_options=tuple(option.name for option in KEPT),
    price=price,
)
