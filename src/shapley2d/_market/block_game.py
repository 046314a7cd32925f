"""Values of blocks whose players are groups of rows and groups of columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._methods.identity import open_checkpoint
from shapley2d._methods.options import SAMPLING
from shapley2d._methods.registry import METHODS, game_methods
from shapley2d._models.by_name import is_built_in, is_knn
from shapley2d._models.model_games import model_games
from shapley2d._models.monte_carlo import sample_games
from shapley2d._models.training_time import folds_in_time, seconds_left, training_seconds
from shapley2d._models.wrapped import CachedGame, GroupedGame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._market.grid import Grid
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game
    from shapley2d._theory.sums import BlockSums

MAX_AUTO_UTILITIES = {"model": 2**12, "knn": 2**16}
"""Utilities up to which ``method="auto"`` is exact: of a model, which trains for each, or of knn.

More of them make runs longer that sampling ends early; fewer give up exact values sooner.
"""

_SAMPLING_NAMES = [option.name for option in SAMPLING]


class BlockEstimate(NamedTuple):
    """Values of blocks."""

    estimate: Estimate
    method: str  # as chosen
    problem: Problem  # with the folds that were used


def estimate_blocks(
    problem: Problem,
    run: Run,
    grid: Grid,
    sums: BlockSums | None,
    *,
    method: str,
    options: dict[str, Any],
) -> BlockEstimate:
    """Values of the blocks, the method that was used, and the folds that there was time for.

    ``sums`` are sums of blocks whose joint errors are wanted; ``options`` are complete, see
    :func:`~shapley2d._market.players.settle_method`.
    """
    settings = {name: value for name, value in options.items() if name not in _SAMPLING_NAMES}
    sampling = {name: value for name, value in options.items() if name in _SAMPLING_NAMES}
    uses_knn = is_knn(settings["model"])
    threads = -1 if run.n_jobs is None else run.n_jobs
    if sampling.get("cluster") is not None:
        threads = 1  # a worker of a cluster is one of many
    parts = model_games(problem, run, **settings, threads=threads)
    blocks, members = _block_games(parts.games, problem, grid)
    slow = run.limit is not None and not is_built_in(settings["model"])
    training_s = training_seconds(blocks[0]) if slow else 0.0
    chosen = method
    if method not in game_methods():
        utilities = sum(2 ** (game.n_rows + game.n_columns) for game in blocks)
        affordable = utilities <= MAX_AUTO_UTILITIES["knn" if uses_knn else "model"]
        in_time = utilities * training_s <= seconds_left(run)
        chosen = "exact" if affordable and in_time else "mc"
    if chosen == "mc":
        fewer = folds_in_time(problem, run, blocks[0], training_s)
        if len(fewer.splits) < len(problem.splits):
            problem = fewer
            parts = model_games(problem, run, **settings, threads=threads)
            blocks, members = _block_games(parts.games, problem, grid)
    if uses_knn:  # by threads
        run = replace(run, n_jobs=1)
    known = {
        "problem": problem,
        "method": f"{chosen} of blocks",
        "rows": grid.rows.labels,
        "columns": grid.columns.labels,
        **settings,
    }
    games = blocks, members, grid.shape[0]
    if chosen == "mc":
        known["owners"] = None if sums is None else sums.weights
        path = sampling.pop("checkpoint")
        kept = open_checkpoint(path, run, blocks, n_rows=grid.shape[0], **known)
        estimate = _sampled(*games, replace(run, sums=sums), checkpoint=kept, **sampling)
    else:
        solve = METHODS[chosen].solve_games
        assert solve is not None
        given = {name: sampling.get(name) for name in ("checkpoint", "cluster")}
        by_columns = {"by_columns": True} if chosen == "exact" and uses_knn else {}
        estimate = solve(*games, run, known=known, **given, **by_columns)
    return BlockEstimate(estimate.noting(**parts.info), chosen, problem)


def _block_games(
    games: Sequence[Game], problem: Problem, grid: Grid
) -> tuple[list[Game], list[NDArray[np.intp]]]:
    """Games over the groups that train in each split; groups without rows there are left out."""
    blocks: list[Game] = []
    members = []
    for game, split in zip(games, problem.splits, strict=True):
        present, labels = np.unique(grid.rows.labels[split.rows], return_inverse=True)
        blocks.append(GroupedGame(game, labels, grid.columns.labels))
        members.append(present)
    return blocks, members


def _sampled(
    blocks: list[Game],
    members: list[NDArray[np.intp]],
    n_groups: int,
    run: Run,
    **options: Any,
) -> Estimate:
    """Monte Carlo values of blocks; every process computes a utility once."""
    cached = [CachedGame(game) for game in blocks]
    estimate = sample_games(cached, members, n_groups, run, **options)
    computed = sum(game.n_computed for game in cached)  # worker processes keep their own count
    return estimate.noting(n_utilities=computed) if computed else estimate
