"""Values of blocks that join as wholes: the players are sets of rows and sets of columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._knn.method import KNN
from shapley2d._models.by_name import check_neighbours, is_built_in, knn_of
from shapley2d._models.exact import Exact
from shapley2d._models.monte_carlo import MonteCarlo
from shapley2d._models.training_time import folds_in_time, seconds_left, training_seconds
from shapley2d._models.wrapped import CachedGame, GroupedGame
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._market.grid import Grid
    from shapley2d._methods.method import Method
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game
    from shapley2d._theory.sums import BlockSums

MAX_AUTO_UTILITIES = {"model": 2**12, "knn": 2**16}
"""Utilities up to which all are evaluated: of a model, which trains for each, or of knn.

More of them make runs longer that sampling ends early; fewer give up exact values sooner.
"""


class BlockEstimate(NamedTuple):
    """Values of blocks."""

    estimate: Estimate
    method: Method  # as chosen: Exact or MonteCarlo
    problem: Problem  # with the folds that were used


def estimate_blocks(
    problem: Problem,
    run: Run,
    grid: Grid,
    sums: BlockSums | None,
    method: Method,
    *,
    as_before: bool = False,
) -> BlockEstimate:
    """Values of the blocks, the method that was used, and the folds that there was time for.

    Nearest neighbours and Monte Carlo evaluate all subsets of the blocks where these are few, and
    sample where they are many, unless what is given was chosen before (``as_before``). ``sums`` are
    sums of blocks whose joint errors are wanted.
    """
    asked = _sampler(method)
    knn = knn_of(asked.model)
    threads = -1 if run.n_jobs is None else run.n_jobs
    if run.cluster is not None:
        threads = 1  # a worker of a cluster is one of many
    parts = asked.games(problem, run, threads)
    blocks, members = _block_games(parts.games, problem, grid)
    slow = run.limit is not None and not is_built_in(asked.model)
    training_s = training_seconds(blocks[0]) if slow else 0.0
    chosen: Exact | MonteCarlo = asked
    if isinstance(asked, MonteCarlo) and not as_before:
        utilities = sum(2 ** (game.n_rows + game.n_columns) for game in blocks)
        affordable = utilities <= MAX_AUTO_UTILITIES["model" if knn is None else "knn"]
        if affordable and utilities * training_s <= seconds_left(run):
            chosen = Exact(asked.model, preprocess=asked.preprocess)
    if isinstance(chosen, MonteCarlo):
        fewer = folds_in_time(problem, run, blocks[0], training_s)
        if len(fewer.splits) < len(problem.splits):
            problem = fewer
            parts = asked.games(problem, run, threads)
            blocks, members = _block_games(parts.games, problem, grid)
    if knn is not None:  # by threads
        run = replace(run, n_jobs=1)
    known = {
        "problem": problem,
        "method": f"{chosen.name} of blocks",
        "rows": grid.rows.labels,
        "columns": grid.columns.labels,
        "model": chosen.model,
        "preprocess": chosen.preprocess,
    }
    if isinstance(chosen, Exact):
        estimate = chosen.solve_games(blocks, members, grid.shape[0], run, known)
    else:
        known["owners"] = None if sums is None else sums.weights
        cached = [CachedGame(game) for game in blocks]  # a process computes a utility once
        own = replace(run, sums=sums)
        estimate = chosen.solve_games(cached, members, grid.shape[0], own, known)
        computed = sum(game.n_computed for game in cached)  # worker processes keep their own count
        estimate = estimate.noting(n_utilities=computed) if computed else estimate
    return BlockEstimate(estimate.noting(**parts.info), chosen, problem)


def _sampler(method: Method) -> Exact | MonteCarlo:
    """The method that trains a model: nearest neighbours are a model of Monte Carlo."""
    if isinstance(method, KNN):
        check_neighbours(method, Setting("players", "blocks"))
        return MonteCarlo(method, tolerance=method.tolerance)
    assert isinstance(method, (Exact, MonteCarlo))
    if isinstance(method, MonteCarlo) and method.truncation is not None:
        raise InputError(
            Setting("truncation"), " does not go with ", Setting("players", "blocks"),
            ", whose subsets are few: leave it out",
        )  # fmt: skip
    return method


def _block_games(
    games: Sequence[Game], problem: Problem, grid: Grid
) -> tuple[list[Game], list[NDArray[np.intp]]]:
    """Games over the sets that train in each split; sets without rows there are left out."""
    blocks: list[Game] = []
    members = []
    for game, split in zip(games, problem.splits, strict=True):
        present, labels = np.unique(grid.rows.labels[split.rows], return_inverse=True)
        blocks.append(GroupedGame(game, labels, grid.columns.labels))
        members.append(present)
    return blocks, members
