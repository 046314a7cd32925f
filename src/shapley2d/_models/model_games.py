"""The games of a model on a problem, one for every split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import shown
from shapley2d._methods.baseline import BEST_CONSTANT, BLIND_GUESS, warn_of_perfect_zero
from shapley2d._methods.score_facts import score_facts
from shapley2d._models.by_name import knn_of, resolve_model
from shapley2d._models.wrapped import GroupedGame, LabelGame
from shapley2d._tables.problem import weigh_problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Ints
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game


@dataclass(frozen=True)
class ProblemGames:
    """The games of a problem."""

    games: list[Game]  # one per split; the value is the mean over them
    rows: list[Ints]  # the rows of the values behind the rows of each game
    n_rows: int  # rows, or groups of rows
    info: dict[str, Any]  # facts for the result's record


def model_games(method: Any, problem: Problem, run: Run) -> ProblemGames:
    """Games of the model of ``MonteCarlo`` or ``Exact``, given as an estimator or by name."""
    model, preprocess = method.model, method.preprocess
    truncation = getattr(method, "truncation", None)
    knn, games, info = knn_of(model), list[Any](), dict[str, Any]()
    scoring = problem.scoring
    if knn is not None:
        if preprocess != "auto" or truncation is not None:
            resolve_model("knn", problem.target.task, None, preprocess, truncation)
        games = list[Any](knn.games(problem))
        info = knn.facts(problem)
    else:
        resolved = resolve_model(model, problem.target.task, scoring, preprocess, truncation)
        if isinstance(resolved, str):
            games, info = _sweeps(resolved, problem), {"model": resolved}
        else:
            from shapley2d._models.model_game import ModelGame

            asked = {"scoring": scoring, "preprocess": preprocess, "random_state": run.seed % 2**32}
            games = [ModelGame(resolved, split, **asked) for split in problem.splits]
            info = {"model": repr(games[0].model)}
        if problem.baseline == "zero":
            _warn_of_errors(scoring)
        else:
            info |= _constant_baseline(games, problem)
        shares = scoring in (None, "probability") and problem.target.task == "classification"
        info |= score_facts(problem, "leaves" if shares and model == "boosting" else "model")
    if problem.label is not None:
        games = [LabelGame(game, from_zero=problem.baseline == "zero") for game in games]
    rows, n_rows = [split.rows for split in problem.splits], problem.table.n_rows
    if problem.grouped:
        games, rows, n_rows = _of_groups(games, problem)
    return ProblemGames(games, rows, n_rows, info)


def _of_groups(games: Sequence[Game], problem: Problem) -> tuple[list[Game], list[Ints], int]:
    """Games of groups: a group of rows is those of its rows that train in the split."""
    of_rows, of_columns = problem.row_groups, problem.column_groups
    numbers = np.arange(problem.table.n_rows) if of_rows is None else of_rows.numbers
    columns = np.arange(games[0].n_columns) if of_columns is None else of_columns.numbers
    found: list[Game] = []
    members = []
    for game, split in zip(games, problem.splits, strict=True):
        present, labels = np.unique(numbers[split.rows], return_inverse=True)
        found.append(GroupedGame(game, labels, columns))
        members.append(present)
    return found, members, int(numbers.max()) + 1


def _sweeps(model: str, problem: Problem) -> list[Any]:
    """The games of a built-in model."""
    splits = weigh_problem(problem).splits
    if model == "boosting":
        from shapley2d._models.boosted import BoostingGame

        return [BoostingGame(split, scoring=problem.scoring) for split in splits]
    from shapley2d._models.sweeps import SWEEPS

    return [SWEEPS[model](split) for split in splits]


def _constant_baseline(games: Sequence[Game], problem: Problem) -> dict[str, Any]:
    """The baseline of models, for a result's record: the score of the best constant prediction.

    Where the label is valued too, the prediction may not use it, so the baseline is a guess.
    """
    labelled = problem.label is not None
    utilities = []
    for game in games:
        rows = np.full((1, game.n_rows), not labelled)
        columns = np.zeros((1, game.n_columns), dtype=bool)
        utilities.append(game.utilities(rows, columns).item())
    return {
        "baseline_utility": float(np.mean(utilities)),
        "baseline": BLIND_GUESS if labelled else BEST_CONSTANT,
    }


def _warn_of_errors(scoring: Any) -> None:
    """Warn of a score whose best is 0, where the baseline is 0 too."""
    if scoring is None:
        return
    from sklearn.metrics import get_scorer

    if getattr(get_scorer(scoring), "_sign", 1) < 0:
        warn_of_perfect_zero(f"scoring={shown(scoring)}")
