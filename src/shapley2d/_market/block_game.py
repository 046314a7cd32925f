"""Values of known parties: sets of rows and sets of columns join as wholes, and a model judges."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._knn.method import KNN
from shapley2d._models.by_name import check_neighbours, is_built_in, knn_of
from shapley2d._models.exact import Exact
from shapley2d._models.monte_carlo import MonteCarlo
from shapley2d._models.training_time import folds_in_time, seconds_left, training_seconds
from shapley2d._models.wrapped import CachedGame, GroupedGame
from shapley2d._theory.coalitions import MaskCoalitions
from shapley2d._theory.game import count_replicates
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Floats, Ints
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

MAX_SHOWN = 12
"""Parties up to which each is valued alone and on top of the others: those that a page shows."""


def estimate_blocks(
    problem: Problem, run: Run, grid: Grid, method: Method, parts: list[Ints] | None
) -> tuple[Estimate, Floats | None, Method, Problem]:
    """Values of the blocks, replicates of them, the method that was used, and the folds.

    Nearest neighbours and Monte Carlo evaluate all subsets of the blocks where these are few, and
    sample where they are many. ``parts`` of the validation rows are left out in turn.
    """
    asked = _sampler(method)
    knn = knn_of(asked.model)
    threads = -1 if run.n_jobs is None else run.n_jobs
    if run.cluster is not None:
        threads = 1  # a worker of a cluster is one of many
    found = asked.games(problem, run, threads, parts)
    blocks, members = _block_games(found.games, problem, grid)
    slow = run.limit is not None and not is_built_in(asked.model)
    training_s = training_seconds(blocks[0]) if slow else 0.0
    chosen: Exact | MonteCarlo = asked
    if isinstance(asked, MonteCarlo):
        utilities = sum(2 ** (game.n_rows + game.n_columns) for game in blocks)
        affordable = utilities <= MAX_AUTO_UTILITIES["model" if knn is None else "knn"]
        if affordable and utilities * training_s <= seconds_left(run):
            chosen = Exact(asked.model, preprocess=asked.preprocess)
    if isinstance(chosen, MonteCarlo):
        fewer = folds_in_time(problem, run, blocks[0], training_s)
        if len(fewer.splits) < len(problem.splits):
            problem, parts = fewer, None if parts is None else parts[: len(fewer.splits)]
            found = asked.games(problem, run, threads, parts)
            blocks, members = _block_games(found.games, problem, grid)
    if knn is not None:  # by threads
        run = replace(run, n_jobs=1)
    known = {
        "problem": problem,
        "method": f"{chosen.name} of blocks",
        "rows": grid.rows.labels,
        "columns": grid.columns.labels,
        "model": chosen.model,
        "preprocess": chosen.preprocess,
        **({} if parts is None else {"valid_parts": int(parts[0].max()) + 1}),
    }
    if knn is None or isinstance(chosen, MonteCarlo):
        cached = [CachedGame(game) for game in blocks]  # a process computes a utility once
        blocks = list(cached)
    joining = _joining(blocks[0], run, training_s) if len(blocks) == 1 else {}
    copies = count_replicates(blocks[0])
    if isinstance(chosen, Exact):
        estimate = chosen.solve_games(blocks, members, grid.shape[0], run, known)
    else:
        known["owners"] = None if run.sums is None else run.sums.weights
        own = replace(run, sums=_beside(run.sums, copies))
        estimate = chosen.solve_games(blocks, members, grid.shape[0], own, known)
        computed = sum(game.n_computed for game in cached)  # worker processes keep their own count
        estimate = estimate.noting(n_utilities=computed) if computed else estimate
    estimate, replicates = _apart(estimate.noting(**joining, **found.info), copies)
    return estimate, replicates, chosen, problem


def _sampler(method: Method) -> Exact | MonteCarlo:
    """The method that trains a model: nearest neighbours are a model of Monte Carlo."""
    if isinstance(method, KNN):
        check_neighbours(method, Setting("parties", "known"))
        return MonteCarlo(method, tolerance=method.tolerance)
    assert isinstance(method, (Exact, MonteCarlo))
    if isinstance(method, MonteCarlo) and method.truncation is not None:
        raise InputError(
            Setting("truncation"), " does not go with ", Setting("parties", "known"),
            ", whose subsets are few: leave it out",
        )  # fmt: skip
    return method


def _block_games(
    games: Sequence[Game], problem: Problem, grid: Grid
) -> tuple[list[Game], list[Ints]]:
    """Games over the sets that train in each split; sets without rows there are left out."""
    blocks: list[Game] = []
    members = []
    for game, split in zip(games, problem.splits, strict=True):
        present, labels = np.unique(grid.rows.labels[split.rows], return_inverse=True)
        blocks.append(GroupedGame(game, labels, grid.columns.labels))
        members.append(present)
    return blocks, members


def _joining(game: Game, run: Run, training_s: float) -> dict[str, Any]:
    """The scores of each of a few sets of one axis, alone and of all others, if there is time."""
    players = max(game.n_rows, game.n_columns)
    few = 1 < players <= MAX_SHOWN and min(game.n_rows, game.n_columns) == 1
    if not few or 8 * players * training_s > seconds_left(run):
        return {}
    each = np.eye(players, dtype=bool)
    asked = MaskCoalitions(np.concatenate([each, ~each, np.ones((1, players), dtype=bool)]))
    whole = MaskCoalitions(np.ones((1, 1), dtype=bool))
    by_rows = game.n_columns == 1
    utilities = game.utilities(asked, whole) if by_rows else game.utilities(whole, asked)
    if isinstance(game, CachedGame):
        game.share()
    scores = utilities.reshape(2 * players + 1, -1)[:, 0].tolist()
    return {"alone": scores[:players], "without": scores[players:-1], "pooled": scores[-1]}


def _beside(sums: BlockSums | None, copies: int) -> BlockSums | None:
    """The same sums where replicates of the blocks stand beside them."""
    if sums is None or copies == 1:
        return sums
    weights = np.zeros((*sums.weights.shape[:2], copies * sums.weights.shape[2]))
    weights[:, :, : sums.weights.shape[2]] = sums.weights
    return type(sums).of_blocks(weights)


def _apart(estimate: Estimate, copies: int) -> tuple[Estimate, Floats | None]:
    """The estimate of the blocks, and their values in every replicate."""
    if copies == 1:
        return estimate, None
    values, *replicates = np.split(estimate.values, copies, axis=1)
    width = values.shape[1]
    alone = replace(
        estimate,
        values=values,
        stderr=estimate.stderr[:, :width],
        column_stderr=estimate.column_stderr[:width],
    )
    return alone, np.array(replicates)
