"""The run: which draws value a game of contributors, added up until they are precise enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs

from shapley2d._base.in_threads import map_in_threads
from shapley2d._base.progress import now, reporting
from shapley2d._base.warnings import warn
from shapley2d._base.words import counted
from shapley2d._estimation.old_total import LEAST_ERROR, Total
from shapley2d._estimation.old_workers import ordered_results
from shapley2d._estimation.rounds import add_rounds
from shapley2d._estimation.set_draws import AllSets, Orders, scored_sets
from shapley2d._methods.identity import checkpoint_of
from shapley2d._theory.semivalues import size_probabilities
from shapley2d.exceptions import InputError, PrecisionWarning, Setting

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._fragments.game import FragmentGame
    from shapley2d._fragments.method import Design
    from shapley2d._methods.run import Run

MOST_PLAYERS = 14
"""Contributors and columns together of which all sets are trained: 16,384 trainings."""

MOST_CONTRIBUTORS = 12
"""The same of contributors alone: 4,096 trainings."""

MOST_FORCED = 20
"""The same where all sets are asked for: a million trainings."""


@dataclass(frozen=True)
class Found:
    """Values (contributors, groups of columns, 1 + lines), what orders leave open, and sets."""

    values: Floats
    order_variances: Floats  # (n, m + 1): of cells, and of row sums
    column_variances: Floats
    order_dof: float
    sets: Bools
    scores: Floats  # of sets: score, its standard error, that of what they lose
    whole: Floats
    alone: Floats  # (n, 1 + lines)
    without: Floats
    how: str
    n_orders: int
    n_trained: int
    info: dict[str, Any]


def estimate_game(
    game: FragmentGame,
    run: Run,
    design: Design,
    *,
    tolerance: float,
    most: int,
    compiled: bool,
    identity: dict[str, Any],
) -> Found:
    """Value the players of a game, by all sets where these are few and else by random orders.

    ``compiled``: whether draws are, and run in threads; otherwise in processes.
    """
    n, m = game.n_rows, game.n_columns
    players, semivalues = n + (m if m > 1 else 0), run.semivalues
    threads = int(effective_n_jobs(-1 if compiled and run.n_jobs is None else run.n_jobs))
    everybody, all_columns = np.ones(n, dtype=bool), np.ones(m, dtype=bool)
    whole = game.utility(everybody, all_columns)
    begin = now()  # the first training loads compiled code
    game.utility(np.arange(n) > 0, all_columns)
    each_s = (now() - begin) / threads
    # a run with a checkpoint goes on where the time is up, so no call of it has to fit
    limit = run.limit if run.checkpoint is None else None
    if design == "auto":
        few = players <= MOST_PLAYERS and n <= MOST_CONTRIBUTORS
        in_time = few and (limit is None or 2**players * each_s <= limit.left())
        design = "all sets" if in_time else "orders"
    if design == "all sets" and players > MOST_FORCED:
        raise InputError(
            Setting("method", "exact"), f" takes all sets of {counted(n, 'contributor')}"
            f"{f' and {m} columns' if m > 1 else ''}, which are too many: "
            "use MonteCarlo, which samples orders",
        )  # fmt: skip
    if limit is not None:
        needed_s = each_s * (2**players if design == "all sets" else LEAST_ERROR * n * m)
        if needed_s > limit.at_latest().left():
            raise limit.refuse(needed_s)
    ends = None
    if design == "all sets":
        draws: Any = AllSets(game, semivalues)
        total = Total((n, m, whole.size), draws.count, orders=False)
    else:
        draws = Orders(game, semivalues, run.seed)
        if m == 1 and n > 2:
            first, last = (n * size_probabilities(semivalues[0], n)[k] for k in (0, -1))
            ends = np.stack([first * _alone(game), last * (whole - _without(game))])[:, :, None]
        total = Total((n, m, whole.size), most, orders=True, ends=ends, tolerance=tolerance)
    checkpoint = None
    if run.checkpoint is not None:
        asked = {"design": design, "tolerance": tolerance} if design == "orders" else {}
        checkpoint = checkpoint_of(
            run, identity | asked, method="fragments", unit="draws",
            max_bytes=64 * total.sum.size + 10**8,
        )  # fmt: skip
        checkpoint.load(total.restore)
    resumed = total.count
    here = compiled and run.cluster is None
    if here:
        latest = None if run.limit is None else run.limit.at_latest()
        results = map_in_threads(draws, range(resumed, total.most), threads, limit=latest)
    else:
        results = ordered_results(
            draws, resumed, total.most, n_jobs=run.n_jobs, cluster=run.cluster
        )
    with reporting(run.progress, "valuing contributors") as report:
        stop = add_rounds(results, total, report=report, limit=run.limit, checkpoint=checkpoint)
    values = total.values(whole if semivalues == ("shapley", "shapley") else None)
    sets, scores = np.concatenate(total.sets), np.concatenate(total.scores)
    if design == "orders":
        more = _more_sets(game, values[:, :, 0].sum(axis=1))
        sets, scores = np.concatenate([sets, more[0]]), np.concatenate([scores, more[1]])
    _, first_seen = np.unique(np.packbits(sets, axis=1), axis=0, return_index=True)
    kept = np.sort(first_seen[sets[first_seen].any(axis=1)])
    alone, without = _alone(game), _without(game)
    info = {"stopped": stop, "interrupted": stop == "interrupted", "time_up": stop == "time_up"}
    found = Found(
        values, total.variances(), total.column_variances(), total.dof, sets[kept], scores[kept],
        whole, alone, without, design, total.count if design == "orders" else 0,
        game.n_trained if here else len(kept) * (2**m - 1 if design == "all sets" else m),
        {**({"resumed_at": resumed} if resumed else {}), **info},
    )  # fmt: skip
    if stop == "interrupted":
        warn(
            PrecisionWarning(
                f"interrupted after {counted(total.count, 'random order')}: intervals are wider "
                "than asked"
            )
        )
    return found


def _alone(game: FragmentGame) -> Floats:
    every = np.ones(game.n_columns, dtype=bool)
    return np.stack([game.utility(mask, every) for mask in np.eye(game.n_rows, dtype=bool)])


def _without(game: FragmentGame) -> Floats:
    every = np.ones(game.n_columns, dtype=bool)
    return np.stack([game.utility(mask, every) for mask in ~np.eye(game.n_rows, dtype=bool)])


def _more_sets(game: FragmentGame, values: Floats) -> tuple[Bools, Floats]:
    """Each alone, all but one, and the most valuable of every number: whom one would sign."""
    n, every = game.n_rows, np.ones(game.n_columns, dtype=bool)
    rank = np.argsort(np.argsort(-values, kind="stable"))
    nested = rank < np.arange(1, n + 1)[:, None]
    sets = np.concatenate([np.eye(n, dtype=bool), ~np.eye(n, dtype=bool), nested])
    return scored_sets(game, sets, np.stack([game.utility(mask, every) for mask in sets]))
