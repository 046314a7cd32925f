"""How blocks are valued: games whose players are groups, and the estimators over them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.progress import reporting
from shapley2d._estimation.estimate import Estimate, monte_carlo
from shapley2d._games.cached import CachedGame
from shapley2d._games.grouped import GroupedGame
from shapley2d._games.label import LabelGame
from shapley2d._methods.registry import check_exact, permutation_draws
from shapley2d._methods.run import check_number
from shapley2d._theory.designs import AllSubsets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._methods.run import Run
    from shapley2d._ownership.grid import Grid
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game

MOST_AUTO_UTILITIES = {"model": 2**12, "knn": 2**16}
"""Up to so many utilities, of a trained model or of nearest neighbours, ``method="auto"`` is exact."""

_COLUMN_STEP = 64  # column coalitions whose KNN utilities are computed together


def knn_games(problem: Problem, run: Run, *, n_neighbors: int = 10, metric: str = "auto") -> list[Game]:
    """One game of nearest neighbours per split."""
    from shapley2d._games.nearest import KnnGame
    from shapley2d._knn.metric import integer_columns

    check_number(n_neighbors, "n_neighbors", whole=True)
    run.info.update(model="knn", n_neighbors=int(n_neighbors), metric=metric)
    games: list[Game] = [
        KnnGame(
            integer_columns(split.train, split.valid, metric),
            split.y.codes,
            split.y_valid.codes,
            task=problem.target.task,
            n_neighbors=n_neighbors,
            n_jobs=-1 if run.n_jobs is None else run.n_jobs,
        )
        for split in problem.splits
    ]
    return games if problem.label is None else [LabelGame(game) for game in games]


def block_games(games: list[Game], problem: Problem, grid: Grid) -> tuple[list[Game], list[NDArray[np.intp]]]:
    """Games over the groups that train in each split; an absent group adds nothing there, so it is left out."""
    blocks: list[Game] = []
    members = []
    for game, split in zip(games, problem.splits, strict=True):
        present, labels = np.unique(grid.rows.labels[split.rows], return_inverse=True)
        blocks.append(GroupedGame(game, labels, grid.columns.labels))
        members.append(present)
    return blocks, members


def choose_method(method: str, blocks: list[Game], kind: str) -> str:
    """Exact where that is affordable, Monte Carlo otherwise, unless the user has chosen."""
    if method != "auto":
        return method
    work = sum(2 ** (game.n_rows + game.n_columns) for game in blocks)
    return "exact" if work <= MOST_AUTO_UTILITIES[kind] else "mc"


def sampled(
    blocks: list[Game],
    members: list[NDArray[np.intp]],
    n_groups: int,
    run: Run,
    *,
    sums: NDArray[np.float64] | None,
    uses_knn: bool,
    max_permutations: int = 1000,
    tolerance: float = 0.025,
    checkpoint: Any = None,
    cluster: Any = None,
) -> Estimate:
    """Monte Carlo in which every utility is computed once per process; nearest neighbours use threads instead."""
    check_number(max_permutations, "max_permutations", whole=True)
    check_number(tolerance, "tolerance", zero=True)
    cached = [CachedGame(game) for game in blocks]
    n_jobs = 1 if uses_knn else run.n_jobs
    estimate = monte_carlo(
        permutation_draws(cached, members, n_groups, run),
        tolerance=tolerance,
        max_draws=max_permutations,
        n_jobs=n_jobs,
        progress=run.progress,
        title="Monte Carlo over blocks",
        sums=sums,
        checkpoint=run.checkpoint(checkpoint, blocks),
        cluster=cluster,
    )
    run.warn_of_precision(estimate, tolerance, f"max_permutations={max_permutations}")
    if any(game.n_computed for game in cached):  # worker processes keep their own count
        estimate.info["n_utilities"] = sum(game.n_computed for game in cached)
    return estimate


def exact_by_columns(
    blocks: list[Game], members: list[NDArray[np.intp]], n_groups: int, run: Run
) -> Estimate:
    """Exact values, a few column coalitions at a time with all row coalitions: what nearest neighbours do best."""
    check_exact(blocks)
    values = np.zeros((n_groups, blocks[0].n_columns))
    with reporting(run.progress, "exact values of blocks") as report:
        for k, (game, present) in enumerate(zip(blocks, members, strict=True)):
            row_design = AllSubsets(game.n_rows, run.semivalues[0])
            column_design = AllSubsets(game.n_columns, run.semivalues[1])
            lists = column_design.coalitions
            for start in range(0, len(lists), _COLUMN_STEP):
                part = lists.slice(start, min(start + _COLUMN_STEP, len(lists)))
                utilities = game.utilities(row_design.coalitions, part)
                by_column = column_design.combine(np.ascontiguousarray(utilities.T), start).T
                values[present] += row_design.combine(by_column) / len(blocks)
                report((k + min(1.0, (start + _COLUMN_STEP) / len(lists))) / len(blocks), "")
    return Estimate.exact(values, n_utilities=sum(2 ** (game.n_rows + game.n_columns) for game in blocks))
