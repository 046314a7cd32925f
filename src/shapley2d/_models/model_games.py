"""The games of a model on a problem, one for every split."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._methods.baseline import BEST_CONSTANT, BLIND_GUESS, warn_of_perfect_zero
from shapley2d._methods.score_facts import score_facts
from shapley2d._models.by_name import knn_of, resolve_model
from shapley2d._models.wrapped import PartedGame
from shapley2d._tables.problem import weigh_problem
from shapley2d._theory.coalitions import MaskCoalitions
from shapley2d._theory.game import first_utility
from shapley2d.exceptions import Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split
    from shapley2d._theory.game import Game


@dataclass(frozen=True)
class ProblemGames:
    """The games of a problem."""

    games: list[Game]  # one per split; the value is the mean over them
    rows: list[Ints]  # the rows of the table behind the rows of each game
    n_rows: int  # rows of the table
    info: dict[str, Any]  # facts for the result's record


def model_games(
    method: Any, problem: Problem, run: Run, threads: int = 1, parts: Sequence[Ints] | None = None
) -> ProblemGames:
    """Games of the model of ``MonteCarlo`` or ``Exact``, given as an estimator or by name.

    ``threads`` are for the built-in K nearest neighbours, which share a game of few coalitions.
    With ``parts``, the part of every validation row of each split, utilities have replicates:
    without each part in turn, and for scikit-learn's models by a seed of its own for each.
    """
    model, preprocess = method.model, method.preprocess
    truncation = getattr(method, "truncation", None)
    knn, games, info = knn_of(model), list[Any](), dict[str, Any]()
    scoring = problem.scoring
    if knn is not None:
        if preprocess != "auto" or truncation is not None:
            resolve_model("knn", problem.target.task, None, preprocess, truncation)
        # another machine has another clock
        limit = None if run.limit is None or run.cluster is not None else run.limit.at_latest()
        make = partial(knn.games, threads=threads, limit=limit)
        games, info = list[Any](make(problem)), knn.facts(problem)
        if parts is not None:
            # a mean over validation rows, by the weights of all of them: the parts by themselves
            # tell what it is without each
            means = replace(weigh_problem(problem), scoring=None)
            games = _parted(games, means, parts, make, alone=True)
    else:
        resolved = resolve_model(model, problem.target.task, scoring, preprocess, truncation)
        if isinstance(resolved, str):
            games, info = _sweeps(resolved, problem), {"model": resolved}
            if parts is not None:
                games = _parted(games, problem, parts, partial(_sweeps, resolved), alone=False)
        else:
            from shapley2d._models.model_game import ModelGame

            games = [
                ModelGame(
                    resolved,
                    split,
                    scoring=scoring,
                    preprocess=preprocess,
                    truncation=truncation,
                    baseline=problem.baseline,
                    random_state=run.seed % 2**32,
                    parts=None if parts is None else parts[k],
                )
                for k, split in enumerate(problem.splits)
            ]
            info = {"model": repr(games[0].model)}
            if games[0].n_seeds > 1:
                info["n_seeds"] = games[0].n_seeds
        if problem.baseline == "zero":
            _warn_of_errors(scoring)
        else:
            info |= _constant_baseline(games, problem)
        by_default = scoring is None and problem.target.task == "classification"
        info |= score_facts(problem, "leaves" if by_default and model == "boosting" else "model")
    if problem.label is not None:
        from shapley2d._models.wrapped import LabelGame

        games = [LabelGame(game) for game in games]
    return ProblemGames(games, [split.rows for split in problem.splits], problem.table.n_rows, info)


def _parted(
    games: list[Game],
    problem: Problem,
    parts: Sequence[Ints],
    make: Callable[[Problem], Sequence[Game]],
    *,
    alone: bool,
) -> list[Game]:
    """The games with replicates, from games of each part alone, or of all rows without it."""
    others: list[list[Game]] = [[] for _ in games]
    for part in range(int(max(one.max() for one in parts)) + 1):
        splits = [
            split.take_valid(np.flatnonzero((one == part) == alone))
            for split, one in zip(problem.splits, parts, strict=True)
        ]
        for k, game in enumerate(make(replace(problem, splits=splits))):
            others[k].append(game)
    shares = [
        part_shares(split, one) if alone else None
        for split, one in zip(problem.splits, parts, strict=True)
    ]
    return [PartedGame(*one) for one in zip(games, others, shares, strict=True)]


def part_shares(split: Split, parts: Ints) -> Floats:
    """The share of every part in the weight of all validation rows."""
    weights = np.bincount(parts, weights=split.valid_weights).astype(np.float64)
    return np.asarray(weights / weights.sum())


def _sweeps(model: str, problem: Problem) -> list[Game]:
    """The games of a built-in model."""
    splits = weigh_problem(problem).splits
    if model == "boosting":
        from shapley2d._models.boosted import BoostingGame

        asked = {"scoring": problem.scoring, "baseline": problem.baseline}
        return [BoostingGame(split, **asked) for split in splits]
    from shapley2d._models.sweeps.models import SWEEPS

    return [SWEEPS[model](split, baseline=problem.baseline) for split in splits]


def _constant_baseline(games: Sequence[Game], problem: Problem) -> dict[str, Any]:
    """The baseline of models, for a result's record: the score of the best constant prediction.

    Where the label is valued too, the prediction may not use it, so the baseline is a guess.
    """
    labelled = problem.label is not None
    utilities = []
    for game in games:
        rows = MaskCoalitions(np.full((1, game.n_rows), not labelled))
        columns = MaskCoalitions(np.zeros((1, game.n_columns), dtype=bool))
        utilities.append(first_utility(game.utilities(rows, columns)))
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
