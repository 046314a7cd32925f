"""The methods by name: each turns a checked problem and its options into an estimate."""

from __future__ import annotations

import difflib
import inspect
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._estimation.estimate import (
    Draws,
    Estimate,
    MeanDraws,
    PermutationDraws,
    evaluate_design,
    monte_carlo,
)
from shapley2d._methods.flat.cells import flat_cells
from shapley2d._methods.oob.cells import oob_cells
from shapley2d._methods.random import random_cells
from shapley2d._methods.run import check_number
from shapley2d._theory.designs import AllSubsets, LeaveOneOut
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game

MOST_EXACT_UTILITIES = 2**24
"""``exact`` refuses games with more pairs of coalitions than this."""


def check_exact(games: Sequence[Game]) -> None:
    """Refuse games of which not all coalitions can be evaluated."""
    for game in games:
        players = game.n_rows + game.n_columns
        if 2**players > MOST_EXACT_UTILITIES:
            raise InputError(
                f"exact values of {game.n_rows} rows x {game.n_columns} columns need 2^{players} utilities, "
                f"more than 2^{MOST_EXACT_UTILITIES.bit_length() - 1}: use method='mc' or 'knn', or value blocks"
            )


def exact_games(games: Sequence[Game], rows: list[NDArray[np.intp]], n_rows: int, run: Run) -> Estimate:
    """Exact values: every coalition of rows under every coalition of columns; the mean over the games."""
    row_semivalue, column_semivalue = run.semivalues
    check_exact(games)
    values = np.zeros((n_rows, games[0].n_columns))
    for k, (game, members) in enumerate(zip(games, rows, strict=True)):
        row_design = AllSubsets(game.n_rows, row_semivalue)
        column_design = AllSubsets(game.n_columns, column_semivalue)
        part = evaluate_design(
            game,
            row_design,
            column_design,
            n_jobs=run.n_jobs,
            progress=run.progress,
            title=_title("exact values", k, len(games)),
        )
        values[members] += part / len(games)
    return Estimate.exact(values, n_utilities=sum(2 ** (game.n_rows + game.n_columns) for game in games))


def loo_games(games: Sequence[Game], rows: list[NDArray[np.intp]], n_rows: int, run: Run) -> Estimate:
    """2D leave-one-out: the whole table against the table without a row, without a column and without both."""
    if run.semivalues != ("shapley", "shapley"):
        raise InputError(
            "method='loo' has no semivalue: it only looks at the whole table; leave semivalue out"
        )
    values = np.zeros((n_rows, games[0].n_columns))
    for k, (game, members) in enumerate(zip(games, rows, strict=True)):
        part = evaluate_design(
            game,
            LeaveOneOut(game.n_rows),
            LeaveOneOut(game.n_columns),
            n_jobs=run.n_jobs,
            progress=run.progress,
            title=_title("leave one out", k, len(games)),
        )
        values[members] += part / len(games)
    return Estimate.exact(values, n_utilities=sum((game.n_rows + 1) * (game.n_columns + 1) for game in games))


def mc_games(
    games: Sequence[Game],
    rows: list[NDArray[np.intp]],
    n_rows: int,
    run: Run,
    *,
    max_permutations: int = 1000,
    tolerance: float = 0.025,
    checkpoint: Any = None,
    cluster: Any = None,
) -> Estimate:
    """Monte Carlo over independent pairs of a row order and a column order."""
    check_number(max_permutations, "max_permutations", whole=True)
    check_number(tolerance, "tolerance", zero=True)
    run.identity.setdefault("method", "mc")
    estimate = monte_carlo(
        permutation_draws(games, rows, n_rows, run),
        tolerance=tolerance,
        max_draws=max_permutations,
        n_jobs=run.n_jobs,
        progress=run.progress,
        title="Monte Carlo",
        checkpoint=run.checkpoint(checkpoint, games),
        cluster=cluster,
    )
    run.warn_of_precision(estimate, tolerance, f"max_permutations={max_permutations}")
    return estimate


def permutation_draws(games: Sequence[Game], rows: list[NDArray[np.intp]], n_rows: int, run: Run) -> Draws:
    """Draws of one game, or of the mean over games that each have their own part of the rows."""
    seeds = [run.seed] if len(games) == 1 else _seeds(run.seed, len(games))
    draws: list[Draws] = [
        PermutationDraws(game, run.semivalues, seed) for game, seed in zip(games, seeds, strict=True)
    ]
    whole = len(games) == 1 and rows[0].size == n_rows
    return draws[0] if whole else MeanDraws(draws, rows, n_rows)


def _seeds(seed: int, count: int) -> list[int]:
    children = np.random.SeedSequence(seed).spawn(count)
    return [int(child.generate_state(1, np.uint64)[0]) for child in children]


def _title(what: str, k: int, count: int) -> str:
    return what if count == 1 else f"{what}, fold {k + 1} of {count}"


def model_games(
    problem: Problem,
    run: Run,
    *,
    model: Any = None,
    scoring: Any = None,
    encoding: str = "auto",
    truncation: float | None = None,
) -> tuple[list[Game], list[NDArray[np.intp]], int]:
    """One game of an estimator, or of a built-in model by name, per split, with the rows behind its rows."""
    from shapley2d._games.label import LabelGame
    from shapley2d._games.model import ModelGame
    from shapley2d._games.sweeps import sweep_game

    if truncation is not None:
        check_number(truncation, "truncation", zero=True)
    games: list[Game]
    if isinstance(model, str):
        if truncation is not None:
            raise InputError(
                f"truncation does not go with model={model!r}, which does not train anew: leave it out"
            )
        games = [sweep_game(model, split, scoring=scoring, encoding=encoding) for split in problem.splits]
        run.info["model"] = model
    else:
        games = [
            ModelGame(
                model,
                split.train,
                split.y,
                split.valid,
                split.y_valid,
                scoring=scoring,
                encoding=encoding,  # type: ignore[arg-type]
                truncation=truncation,
                random_state=run.seed % 2**32,
            )
            for split in problem.splits
        ]
        run.info["model"] = repr(getattr(games[0], "model", None))
    if problem.label is not None:
        games = [LabelGame(game) for game in games]
    return games, [split.rows for split in problem.splits], problem.table.n_rows


def exact_cells(
    problem: Problem,
    run: Run,
    *,
    model: Any = None,
    scoring: Any = None,
    encoding: str = "auto",
) -> Estimate:
    """Exact values of a model's cells, for tables of a dozen players."""
    return exact_games(*model_games(problem, run, model=model, scoring=scoring, encoding=encoding), run)


def loo_cells(
    problem: Problem,
    run: Run,
    *,
    model: Any = None,
    scoring: Any = None,
    encoding: str = "auto",
) -> Estimate:
    """2D leave-one-out values of a model's cells."""
    return loo_games(*model_games(problem, run, model=model, scoring=scoring, encoding=encoding), run)


def mc_cells(
    problem: Problem,
    run: Run,
    *,
    model: Any = None,
    scoring: Any = None,
    encoding: str = "auto",
    truncation: float | None = None,
    max_permutations: int = 1000,
    tolerance: float = 0.025,
    checkpoint: Any = None,
    cluster: Any = None,
) -> Estimate:
    """Monte Carlo values of a model's cells."""
    settings = {"model": model, "scoring": scoring, "encoding": encoding, "truncation": truncation}
    parts = model_games(problem, run, **settings)
    if checkpoint is not None:
        run.identify(problem, **settings)
    return mc_games(
        *parts,
        run,
        max_permutations=max_permutations,
        tolerance=tolerance,
        checkpoint=checkpoint,
        cluster=cluster,
    )


def knn_cells(problem: Problem, run: Run, **options: Any) -> Estimate:
    """Values under the K-nearest-neighbour utility, whose row axis has a closed form."""
    from shapley2d._methods.knn import value_knn
    from shapley2d._methods.knn_label import value_knn_label

    return (value_knn if problem.label is None else value_knn_label)(problem, run, **options)


_KNN_OPTIONS = (
    "n_neighbors", "metric", "columns", "n_coalitions", "backend", "empty", "tolerance", "form",
)  # fmt: skip

CELL_METHODS: dict[str, Callable[..., Estimate]] = {
    "knn": knn_cells,
    "mc": mc_cells,
    "exact": exact_cells,
    "loo": loo_cells,
    "flat": flat_cells,
    "oob": oob_cells,
    "random": random_cells,
}

WITHOUT_VALIDATION = frozenset({"oob", "random"})
"""Methods of cells that judge no model, and so need neither a validation table nor folds."""

GAME_METHODS: dict[str, Callable[..., Estimate]] = {"exact": exact_games, "mc": mc_games, "loo": loo_games}


def find_method(
    methods: dict[str, Callable[..., Estimate]], name: str, options: dict[str, Any]
) -> Callable[..., Estimate]:
    """Look a method up and check that it knows all of the options."""
    if name not in methods:
        raise InputError(f"method={name!r} is not known: use one of {', '.join(map(repr, methods))}")
    method = methods[name]
    known = _KNN_OPTIONS if method is knn_cells else _keywords(method)
    for option in options:
        if option not in known:
            near = difflib.get_close_matches(option, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"its options are {', '.join(known)}"
            raise TypeError(f"method {name!r} has no option {option!r}: {hint}")
    return method


def _keywords(function: Callable[..., Any]) -> tuple[str, ...]:
    parameters = inspect.signature(function).parameters.values()
    return tuple(parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY)
