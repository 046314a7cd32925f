"""What a whole table is worth, without the values of its cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def score_model(problem: Problem, run: Run, *, model: Any, **options: Any) -> float:
    """The score of a model trained on all rows and columns, less that of the same rows without any column.

    Options of sampling, which change nothing here, are left out.
    """
    import numpy as np

    from shapley2d._methods.games import model_games
    from shapley2d._theory.coalitions import MaskCoalitions

    taken = ("scoring", "preprocess", "baseline", "n_neighbors", "metric")
    settings = {name: value for name, value in options.items() if name in taken}
    threads = -1 if run.n_jobs is None else run.n_jobs
    worth = []
    for game in model_games(problem, run, model=model, threads=threads, **settings).games:
        columns = np.repeat([[False], [True]], game.n_columns, axis=1)
        none, everything = game.utilities(
            MaskCoalitions(np.ones((1, game.n_rows))), MaskCoalitions(columns)
        )[0]
        worth.append(everything - none)
    return float(np.mean(worth))


def score_knn(
    problem: Problem,
    run: Run,
    *,
    baseline: str,
    n_neighbors: int,
    metric: str,
    scoring: Any = None,
    **_: Any,
) -> float:
    """The K-nearest-neighbour utility of the whole table, less that of its labels alone."""
    options = {"n_neighbors": n_neighbors, "metric": metric, "scoring": scoring}
    return score_model(problem, run, model="knn", baseline=baseline, **options)
