"""Values of blocks whose players are groups of rows and groups of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._estimation.exact import DesignBlocks
from shapley2d._estimation.monte_carlo import monte_carlo
from shapley2d._games.wrapped import CachedGame, GroupedGame
from shapley2d._methods.exact import check_exact
from shapley2d._methods.fixed_designs import value_designs
from shapley2d._methods.identity import open_checkpoint
from shapley2d._methods.knn.backend import backend_name, on_backend
from shapley2d._methods.mc import permutation_draws
from shapley2d._methods.model_games import model_games
from shapley2d._methods.models import is_built_in, is_knn
from shapley2d._methods.options import SAMPLING
from shapley2d._methods.registry import METHODS, game_methods
from shapley2d._methods.training_time import folds_in_time, seconds_left, training_seconds
from shapley2d._theory.designs import AllSubsets
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._knn.cuda.device import Device
    from shapley2d._methods.run import Run
    from shapley2d._ownership.grid import Grid
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game
    from shapley2d._theory.sums import BlockSums

MAX_AUTO_UTILITIES = {"model": 2**12, "knn": 2**16}
"""Utilities up to which ``method="auto"`` is exact: of a model, which trains for each, or of knn.

More of them make runs longer that sampling ends early; fewer give up exact values sooner.
"""

_COLUMN_STEP = 64  # column subsets whose knn utilities are one piece of work, and one checkpoint
_SAMPLING_NAMES = [option.name for option in SAMPLING]


class BlockEstimate(NamedTuple):
    """Values of blocks.

    Attributes
    ----------
    estimate : Estimate
    method : str
        The one that was used.
    problem : Problem
        With the folds that were used.
    """

    estimate: Estimate
    method: str
    problem: Problem


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

    Parameters
    ----------
    problem : Problem
    run : Run
    grid : Grid
        The groups of rows and of columns.
    sums : BlockSums or None
        Sums of blocks whose joint errors are wanted.
    method : str
    options : dict
        All of them, see :func:`~shapley2d._methods.players.settle_method`.
    """
    options = dict(options)
    backend = options.pop("backend")
    if not is_knn(options["model"]):
        if backend is not None:
            raise InputError(
                Setting("backend", backend),
                " is an option of ",
                Setting("model", "knn"),
                "; leave it out",
            )
        return _estimate(problem, run, grid, sums, method=method, options=options)
    if backend == "cuda" and options.get("cluster") is not None:
        raise InputError(
            Setting("backend", "cuda"),
            " does not work on a ",
            Setting("cluster"),
            ": leave one out",
        )
    # blocks are ranked exactly, pair by pair, which many cores do as fast: a GPU only on request
    return on_backend(
        backend or "auto",
        0.0,
        lambda device: _estimate(
            problem, run, grid, sums, method=method, options=options, device=device
        ),
    )


def _estimate(
    problem: Problem,
    run: Run,
    grid: Grid,
    sums: BlockSums | None,
    *,
    method: str,
    options: dict[str, Any],
    device: Device | None = None,
) -> BlockEstimate:
    settings = {name: value for name, value in options.items() if name not in _SAMPLING_NAMES}
    sampling = {name: value for name, value in options.items() if name in _SAMPLING_NAMES}
    uses_knn = is_knn(settings["model"])
    threads = -1 if run.n_jobs is None else run.n_jobs
    if sampling.get("cluster") is not None:
        threads = 1  # a worker of a cluster is one of many
    parts = model_games(problem, run, **settings, threads=threads, device=device)
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
            parts = model_games(problem, run, **settings, threads=threads, device=device)
            blocks, members = _block_games(parts.games, problem, grid)
    n_groups = grid.shape[0]
    known = {
        "problem": problem,
        "method": f"{chosen} of blocks",
        "rows": grid.rows.labels,
        "columns": grid.columns.labels,
        **settings,
    }
    if chosen == "mc":
        known["owners"] = None if sums is None else sums.weights
        path = sampling.pop("checkpoint")
        kept = open_checkpoint(path, run, blocks, n_rows=n_groups, **known)
        estimate = _sampled(
            blocks,
            members,
            n_groups,
            run,
            sums=sums,
            uses_knn=uses_knn,
            checkpoint=kept,
            **sampling,
        )
    else:
        given = {name: sampling.get(name) for name in ("checkpoint", "cluster")}
        estimate = _unsampled(chosen, blocks, members, n_groups, run, device, known, **given)
    where = {"backend": backend_name(device)} if uses_knn else {}
    return BlockEstimate(estimate.noting(**parts.info, **where), chosen, problem)


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
    *,
    sums: BlockSums | None,
    uses_knn: bool,
    max_permutations: int,
    tolerance: float,
    checkpoint: Any,
    cluster: Any,
) -> Estimate:
    """Monte Carlo in which every process computes a utility once; knn uses threads instead."""
    cached = [CachedGame(game) for game in blocks]
    estimate = monte_carlo(
        permutation_draws(cached, members, n_groups, run),
        tolerance=tolerance,
        max_draws=max_permutations,
        n_jobs=1 if uses_knn else run.n_jobs,
        progress=run.progress,
        title="Monte Carlo over blocks",
        sums=sums,
        checkpoint=checkpoint,
        cluster=cluster,
        limit=run.limit,
    )
    run.warn_of_precision(estimate, tolerance, "max_permutations", max_permutations)
    computed = sum(game.n_computed for game in cached)  # worker processes keep their own count
    return estimate.noting(n_utilities=computed) if computed else estimate


def _unsampled(
    method: str,
    blocks: list[Game],
    members: list[NDArray[np.intp]],
    n_groups: int,
    run: Run,
    device: Device | None,
    known: dict[str, Any],
    *,
    checkpoint: Any,
    cluster: Any,
) -> Estimate:
    """Values by a method that does not sample."""
    if method == "exact" and is_knn(known["model"]):
        known = {**known, "backend": backend_name(device)}
        return _exact_by_columns(blocks, members, n_groups, run, known, checkpoint, cluster)
    solve, takes = METHODS[method].solve_games, METHODS[method].game_options
    assert solve is not None
    if "checkpoint" not in takes:
        return solve(blocks, members, n_groups, run)
    return solve(
        blocks, members, n_groups, run, checkpoint=checkpoint, cluster=cluster, known=known
    )


def _exact_by_columns(
    blocks: list[Game],
    members: list[NDArray[np.intp]],
    n_groups: int,
    run: Run,
    known: dict[str, Any],
    checkpoint: Any,
    cluster: Any,
) -> Estimate:
    """Exact values, a few column subsets at a time with all row subsets, which suits knn."""
    check_exact(blocks)
    designs = [
        DesignBlocks(
            game,
            AllSubsets(game.n_rows, run.semivalues[0]),
            AllSubsets(game.n_columns, run.semivalues[1]),
            _COLUMN_STEP,
            by_columns=True,
        )
        for game in blocks
    ]
    return value_designs(
        designs,
        members,
        n_groups,
        run,
        title="exact values of blocks",
        known=known,
        checkpoint=checkpoint,
        cluster=cluster,
        n_jobs=1,  # nearest neighbours use threads
    )
