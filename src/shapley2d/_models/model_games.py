"""The games of a model on a problem, one for every split, and the score of the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapley2d._base.defaults import N_NEIGHBORS
from shapley2d._knn.few_rows import VOTES
from shapley2d._methods.score_facts import score_facts
from shapley2d._models.by_name import built_in_weighs_not, is_knn, resolve_model
from shapley2d._tables.problem import weigh_problem

if TYPE_CHECKING:
    import numpy as np
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
    *,
    model: Any,
    scoring: Any = None,
    preprocess: str = "auto",
    baseline: str = "labels",
    n_neighbors: int | None = None,
    metric: str | None = None,
    votes: str | None = None,
    truncation: float | None = None,
    threads: int = 1,
) -> ProblemGames:
    """Games of a model, given as an estimator or by name.

    ``threads`` are for the built-in K nearest neighbours, which share a game of few coalitions.
    """
    from shapley2d._methods.baseline_utility import (
        constant_baseline,
        knn_baseline,
        warn_of_perfect_zero,
    )
    from shapley2d._models.model_game import ModelGame
    from shapley2d._models.sweeps import sweep_game
    from shapley2d._models.wrapped import LabelGame

    given = {
        "scoring": scoring,
        "preprocess": preprocess,
        "n_neighbors": n_neighbors,
        "metric": metric,
        "votes": votes,
        "truncation": truncation,
    }
    resolved = resolve_model(model, problem.target.task, given)
    games: list[Game]
    info: dict[str, Any]
    if is_knn(resolved):
        from shapley2d._knn.utility_game import knn_game

        problem = weigh_problem(problem, scoring)
        known: dict[str, Any] = {
            "n_neighbors": N_NEIGHBORS if n_neighbors is None else int(n_neighbors),
            "metric": "auto" if metric is None else metric,
            "votes": VOTES[0] if votes is None else votes,
        }
        games = [
            knn_game(split, baseline=baseline, n_jobs=threads, **known) for split in problem.splits
        ]
        info = {
            "model": resolved,
            **known,
            **knn_baseline(problem, baseline, known["n_neighbors"], known["votes"]),
            **score_facts(problem, scoring, "neighbours", known["n_neighbors"]),
        }
    else:
        if isinstance(resolved, str):
            if any(split.valid_weights is not None for split in problem.splits):
                raise built_in_weighs_not(resolved)
            scored = {} if scoring in (None, "r2") else {"scoring": scoring}
            games = [
                sweep_game(resolved, split, baseline=baseline, **scored) for split in problem.splits
            ]
            info = {"model": resolved}
        else:
            models = [
                ModelGame(
                    resolved,
                    split.train,
                    split.y,
                    split.valid,
                    split.y_valid,
                    scoring=scoring,
                    preprocess=preprocess,  # type: ignore[arg-type]
                    weights=split.valid_weights,
                    truncation=truncation,
                    baseline=baseline,  # type: ignore[arg-type]
                    random_state=run.seed % 2**32,
                )
                for split in problem.splits
            ]
            games, info = list(models), {"model": repr(models[0].model)}
        if baseline == "zero":
            warn_of_perfect_zero(scoring)
        else:
            info |= constant_baseline(games, problem)
        info |= score_facts(problem, scoring, "model")
    if problem.label is not None:
        games = [LabelGame(game) for game in games]
    return ProblemGames(games, [split.rows for split in problem.splits], problem.table.n_rows, info)


def score_model(problem: Problem, run: Run, **options: Any) -> float:
    """The score of a model trained on all rows and columns, less its baseline.

    Other options of the methods only say how values are computed.
    """
    import numpy as np

    from shapley2d._theory.coalitions import MaskCoalitions

    names = ("model", "scoring", "preprocess", "baseline", "n_neighbors", "metric", "votes")
    settings = {name: options[name] for name in names if name in options}
    threads = -1 if run.n_jobs is None else run.n_jobs
    parts = model_games(problem, run, **settings, threads=threads)
    gains = []
    for game in parts.games:
        rows, columns = (
            MaskCoalitions(np.repeat([[False], [True]], size, axis=1))
            for size in (game.n_rows, game.n_columns)
        )
        gains.append(np.diff(np.diff(game.utilities(rows, columns), axis=0), axis=1)[0, 0])
    return float(np.mean(gains))
