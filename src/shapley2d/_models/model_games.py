"""The games of a model on a problem, one for every split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shapley2d._methods.baseline import BEST_CONSTANT, BLIND_GUESS, warn_of_perfect_zero
from shapley2d._methods.score_facts import score_facts
from shapley2d._models.by_name import built_in_weighs_not, knn_of, resolve_model
from shapley2d._theory.coalitions import MaskCoalitions
from shapley2d.exceptions import Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game


@dataclass(frozen=True)
class ProblemGames:
    """The games of a problem."""

    games: list[Game]  # one per split; the value is the mean over them
    rows: list[NDArray[np.intp]]  # the rows of the table behind the rows of each game
    n_rows: int  # rows of the table
    info: dict[str, Any]  # facts for the result's record


def model_games(
    problem: Problem,
    run: Run,
    model: Any,
    *,
    preprocess: Literal["auto", "none"] = "auto",
    truncation: float | None = None,
    threads: int = 1,
) -> ProblemGames:
    """Games of a model, given as an estimator or by name.

    ``threads`` are for the built-in K nearest neighbours, which share a game of few coalitions.
    """
    knn, games, info = knn_of(model), list[Any](), dict[str, Any]()
    scoring = problem.scoring
    if knn is not None:
        if preprocess != "auto" or truncation is not None:
            resolve_model("knn", problem.target.task, None, preprocess, truncation)
        games, info = list(knn.games(problem, threads)), knn.facts(problem)
    else:
        resolved = resolve_model(model, problem.target.task, scoring, preprocess, truncation)
        if isinstance(resolved, str):
            games, info = _sweeps(resolved, problem), {"model": resolved}
        else:
            from shapley2d._models.model_game import ModelGame

            games = [
                ModelGame(
                    resolved,
                    split.train,
                    split.y,
                    split.valid,
                    split.y_valid,
                    scoring=scoring,
                    preprocess=preprocess,
                    weights=split.valid_weights,
                    truncation=truncation,
                    baseline=problem.baseline,  # type: ignore[arg-type]
                    random_state=run.seed % 2**32,
                )
                for split in problem.splits
            ]
            info = {"model": repr(games[0].model)}
        if problem.baseline == "zero":
            _warn_of_errors(scoring)
        else:
            info |= _constant_baseline(games, problem)
        info |= score_facts(problem, "model")
    if problem.label is not None:
        from shapley2d._models.wrapped import LabelGame

        games = [LabelGame(game) for game in games]
    return ProblemGames(games, [split.rows for split in problem.splits], problem.table.n_rows, info)


def _sweeps(model: str, problem: Problem) -> list[Game]:
    """The games of a built-in model that fills whole grids."""
    from shapley2d._models.sweeps import sweep_game

    if any(split.valid_weights is not None for split in problem.splits):
        raise built_in_weighs_not(model)
    scored = {} if problem.scoring in (None, "r2") else {"scoring": problem.scoring}
    return [
        sweep_game(model, split, baseline=problem.baseline, **scored) for split in problem.splits
    ]


def _constant_baseline(games: Sequence[Game], problem: Problem) -> dict[str, Any]:
    """The baseline of models, for a result's record: the score of the best constant prediction.

    Where the label is valued too, the prediction may not use it, so the baseline is a guess.
    """
    labelled = problem.label is not None
    utilities = []
    for game in games:
        rows = MaskCoalitions(np.full((1, game.n_rows), not labelled))
        columns = MaskCoalitions(np.zeros((1, game.n_columns), dtype=bool))
        utilities.append(game.utilities(rows, columns)[0, 0])
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
        warn_of_perfect_zero(str(Setting("scoring", scoring)))
