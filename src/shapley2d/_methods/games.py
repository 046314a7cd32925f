"""From a checked problem and a model to games, one for every split."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from shapley2d._base.defaults import N_NEIGHBORS
from shapley2d._methods.models import built_in_weighs_not, is_knn, resolve_model
from shapley2d._tables.problem import weigh_problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game


@dataclass(frozen=True)
class ProblemGames:
    """The games of a problem.

    Attributes
    ----------
    games : list of Game
        One per split; the value is the mean over them.
    rows : list of ndarray
        The rows of the table behind the rows of each game.
    n_rows : int
        Rows of the table.
    info : dict
        Facts for the result's record.
    """

    games: list[Game]
    rows: list[NDArray[np.intp]]
    n_rows: int
    info: dict[str, Any] = field(default_factory=dict)


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
    truncation: float | None = None,
    threads: int = 1,
    device: Device | None = None,
) -> ProblemGames:
    """Games of a model that is given as an estimator or by name.

    Parameters
    ----------
    problem : Problem
    run : Run
    model, scoring, preprocess, baseline, n_neighbors, metric, truncation
        Options of the methods that train.
    threads : int
        For the built-in K nearest neighbours, which a game of few coalitions can share its work
        among.
    device : Device, optional
        A GPU for the same.
    """
    from shapley2d._games.label import LabelGame
    from shapley2d._games.model import ModelGame
    from shapley2d._games.sweeps import sweep_game
    from shapley2d._methods.nothing import facts_of_constant, facts_of_knn, warn_of_perfect_zero

    task = problem.target.task
    given = {
        "scoring": scoring,
        "preprocess": preprocess,
        "n_neighbors": n_neighbors,
        "metric": metric,
        "truncation": truncation,
    }
    resolved = resolve_model(model, task, given)
    if is_knn(resolved):
        problem = weigh_problem(problem, scoring)
    elif isinstance(resolved, str) and any(
        split.valid_weights is not None for split in problem.splits
    ):
        raise built_in_weighs_not(resolved)
    games: list[Game]
    info: dict[str, Any]
    if isinstance(resolved, str):
        info = {"model": resolved}
        options: dict[str, Any] = {"baseline": baseline}
        if is_knn(resolved):
            info |= {
                "n_neighbors": N_NEIGHBORS if n_neighbors is None else int(n_neighbors),
                "metric": "auto" if metric is None else metric,
            }
            options |= {"n_neighbors": info["n_neighbors"], "metric": info["metric"]}
            options |= {"n_jobs": threads, "device": device}
        elif scoring not in (None, "r2"):
            options["scoring"] = scoring
        games = [sweep_game(resolved, split, **options) for split in problem.splits]
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
    if is_knn(resolved):
        info |= facts_of_knn(problem, baseline, info["n_neighbors"])
    elif baseline == "labels":
        info |= facts_of_constant(games, problem)
    else:
        warn_of_perfect_zero(scoring)
    if problem.label is not None:
        games = [LabelGame(game) for game in games]
    return ProblemGames(games, [split.rows for split in problem.splits], problem.table.n_rows, info)
