"""The games of a model on a problem, one for every split, and whether there is time for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from threadpoolctl import threadpool_limits

from shapley2d._base.progress import now
from shapley2d._base.words import format_seconds, shown
from shapley2d._estimation.draws import LEAST_DRAWS
from shapley2d._knn.method import KNN
from shapley2d._methods.baseline import BEST_CONSTANT, BLIND_GUESS, warn_of_perfect_zero
from shapley2d._methods.score_facts import score_facts
from shapley2d._models.by_name import resolve_model
from shapley2d._models.games import GroupedGame, LabelGame, RememberedGame
from shapley2d._tables.problem import weigh_problem
from shapley2d.exceptions import OutOfTimeError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Ints
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def model_games(
    method: Any, problem: Problem, run: Run
) -> tuple[list[Any], list[Ints], int, dict[str, Any]]:
    """Games of the model of ``MonteCarlo`` or ``Exact``, whose mean the values are of.

    With them the rows of the values behind the rows of each, how many there are, and facts for the
    result's record.
    """
    scoring, preprocess, from_zero = problem.scoring, method.preprocess, problem.baseline == "zero"
    model = resolve_model(
        method.model, problem.target.task, scoring,
        preprocess=None if preprocess == "auto" else preprocess,
        truncation=getattr(method, "truncation", None),
    )  # fmt: skip
    if isinstance(model, KNN):
        games, info = list[Any](model.games(problem)), model.facts(problem)
    else:
        if isinstance(model, str):
            games, info = _built_in(model, problem), {"model": model}
        else:
            from shapley2d._models.model_game import ModelGame

            asked = {"scoring": scoring, "preprocess": preprocess, "random_state": run.seed % 2**32}
            games = [ModelGame(model, split, **asked) for split in problem.splits]
            info = {"model": repr(games[0].model)}
        if from_zero:
            _warn_of_errors(scoring)
        else:
            info |= _constant_baseline(games, problem)
        shares = scoring in (None, "probability") and problem.target.task == "classification"
        info |= score_facts(problem, "leaves" if shares and model == "boosting" else "model")
    if problem.label is not None:
        games = [LabelGame(game, from_zero=from_zero) for game in games]
    rows, n_rows = [split.rows for split in problem.splits], problem.table.n_rows
    if problem.grouped:  # a group of rows is those of its rows that train in the split
        of_rows, of_columns = problem.row_groups, problem.column_groups
        numbers = np.arange(n_rows) if of_rows is None else of_rows.numbers
        columns = np.arange(games[0].n_columns) if of_columns is None else of_columns.numbers
        groups = [np.unique(numbers[own], return_inverse=True) for own in rows]
        games = [
            GroupedGame(game, labels, columns)
            for game, (_, labels) in zip(games, groups, strict=True)
        ]
        rows, n_rows = [present for present, _ in groups], int(numbers.max()) + 1
        # of few players coalitions come again
        games = [game if game.compiled else RememberedGame(game) for game in games]
    return games, rows, n_rows, info


def _built_in(model: str, problem: Problem) -> list[Any]:
    """The games of a built-in model."""
    splits = weigh_problem(problem).splits
    if model == "boosting":
        from shapley2d._models.judges import BoostingGame

        return [BoostingGame(split, scoring=problem.scoring) for split in splits]
    from shapley2d._models.sweeps import SWEEPS

    return [SWEEPS[model](split) for split in splits]


def _constant_baseline(games: list[Any], problem: Problem) -> dict[str, Any]:
    """The baseline of models, for a result's record: the score of the best constant prediction.

    Where the label is valued too, the prediction may not use it, so the baseline is a guess.
    """
    labelled = problem.label is not None
    utilities = [
        game.utilities(np.full((1, game.n_rows), not labelled), np.zeros((1, game.n_columns), bool))
        for game in games
    ]
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


def check_time(draws: Any, run: Run) -> None:
    """Refuse a time limit in which too few draws for a first result can be made."""
    game, n_folds = draws.games[0], len(draws.games)
    if run.limit is None or run.checkpoint is not None or not getattr(game, "trains_alone", False):
        return
    n, m = game.n_rows, game.n_columns
    draw_s = _training_seconds(game) * n * m * n_folds  # of one core
    n_jobs = -1 if draws.compiled and run.n_jobs is None else run.n_jobs
    left_s = float(run.limit.left() * effective_n_jobs(n_jobs))
    share = left_s / (LEAST_DRAWS * draw_s)
    if share >= 1:
        return
    ways = ["give it more time"]
    if int(share * n) >= 2:
        ways.append(f"value at most {int(share * n):,} groups of rows (row_groups)")
    if getattr(run.progress, "otherwise", ""):  # where a forest can answer the same question
        ways.append("value every cell by trees, faster: method='forest'")
    raise OutOfTimeError(
        f"max_time={run.limit} is too short: {n:,} x {m} players are {n * m:,} trainings for one "
        f"draw, about {format_seconds(draw_s)} of a core, and a first result takes {LEAST_DRAWS} "
        f"draws: {', or '.join(ways)}"
    )


def _training_seconds(game: Any) -> float:
    """Seconds of one core that a training on half of the rows and half of the columns takes."""
    half = (np.arange(size)[None] % 2 == 0 for size in (game.n_rows, game.n_columns))
    with threadpool_limits(limits=1):
        start = now()
        game.utilities(*half)
        return now() - start
