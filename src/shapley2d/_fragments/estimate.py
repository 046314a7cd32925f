"""The run: all sets of contributors, or random orders, with the scores of sets on the way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.in_threads import count_threads
from shapley2d._base.progress import now
from shapley2d._base.words import counted
from shapley2d._estimation.run import run_draws
from shapley2d._estimation.total import PARTS
from shapley2d._methods.solve import checkpoint_of
from shapley2d._models.game_draws import AllSets, Orders
from shapley2d._theory.axes import nested, step_weights
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._estimation.draws import Draw
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._fragments.game import FragmentGame
    from shapley2d._fragments.method import Judging
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

MOST_PLAYERS = 14
"""Contributors and columns together of which all sets are trained: 16,384 trainings."""

MOST_CONTRIBUTORS = 12
"""The same of contributors alone: 4,096 trainings."""

MOST_FORCED = 20
"""The same where all sets are asked for: a million trainings."""

FIRST_ORDERS = 40
"""Orders before the errors are looked at: by 10 they are too small for some players in ten."""


@dataclass(frozen=True)
class Found:
    """Values of contributors, what other orders would change, and the sets that were scored.

    ``covariance`` (n, n): of the contributors' values.
    ``scores`` (sets, 3): of a set its score, the standard error, and that of what it loses.
    """

    estimate: Estimate
    covariance: Floats
    sets: Bools
    scores: Floats
    how: str
    n_orders: int
    n_trained: int


class ScoredSets(AllSets):
    """All sets, each with its score."""

    def __init__(self, game: FragmentGame, run: Run) -> None:
        super().__init__([game], [slice(None)], game.n_rows, run.semivalues)
        self.notes_kept = {"sets": game.n_rows, "scores": 3}

    def notes(self, k: int, rows: Bools, worth: Floats) -> dict[str, Any]:
        return scored_sets(self.games[k], rows, worth)


class ScoredOrders(Orders):
    """Random orders, with the scores of the sets along them.

    First places are worth most, so plain means are off by who came first how often. What everybody
    adds alone, and to all others, is known, and so about what on the places between. A draw takes
    that away, and gives its mean over all places back (a control variate).
    """

    judged = "rows"

    def __init__(self, game: FragmentGame, run: Run, most: int) -> None:
        asked = ([game], [slice(None)], game.n_rows, run.semivalues)
        super().__init__(*asked, seed=run.seed, most=most)
        self.first = FIRST_ORDERS
        self.notes_kept = {"sets": game.n_rows, "scores": 3, "rows": game.n_rows}
        (n, m), semivalues = self.shape, run.semivalues
        whole, every, one = (
            _scores(game, np.ones((1, n), dtype=bool))[0],
            np.eye(m) > 0,
            np.eye(n) > 0,
        )
        mine = _scores(game, one), whole - _scores(game, ~one)
        found = game.utilities(np.ones((1, n), dtype=bool), np.concatenate([every, ~every]))[0]
        of_columns = found[:m, :1], whole[:1] - found[m:, :1]
        # of a column as a share of all columns, which are hardly worth less than one of them
        shares = np.clip(_by_place(*of_columns, whole[0])[..., 0] / (whole[0] or 1.0), 0.0, 1.0)
        self._rows = _by_place(*mine, whole[0]) * step_weights(n, semivalues[0])[:, None]
        self._columns = shares * step_weights(m, semivalues[1])

    def __call__(self, number: int) -> Draw:
        draw = super().__call__(number)
        rows = draw.values[:, :-1, 0].sum(axis=1)
        return draw._replace(notes={**draw.notes, "rows": rows[None]})

    def placed(self, values: Floats, order: tuple[Ints, Ints]) -> Floats:
        (n, m), (rows, columns) = self.shape, order
        mine, shares, found = self._rows[rows], self._columns[columns], values.copy()
        usual = mine[range(n), range(n), None] * shares[range(m), range(m), None]
        found[:, :-1] += mine.mean(axis=1)[:, None] * shares.mean(axis=1)[:, None] - usual
        return np.asarray(found + (values.sum(axis=0) - found.sum(axis=0)) / n)

    def notes(self, k: int, rows: Bools, worth: Floats) -> dict[str, Any]:
        return scored_sets(self.games[k], rows, worth)


def _by_place(first: Floats, last: Floats, whole: float) -> Floats:
    """What every player adds on every place, about: (players, places, 1 + lines).

    Of all it falls from the first place to the last by one power of the places that are left, such
    that the sum over places, about (n - 1) / (power + 1) + 1/2 times the fall, makes up the whole.
    """
    n, fall = len(first), (first - last)[:, 0].mean()
    wanted = (whole - last[:, 0].sum()) / fall - 0.5 if fall else 0.0
    power = max((n - 1) / wanted - 1, 0.0) if wanted > 0 else 0.0
    left = (1 - np.arange(n) / max(n - 1, 1)) ** power
    return np.asarray(last[:, None] + (first - last)[:, None] * left[:, None])


def estimate_game(
    game: FragmentGame, run: Run, judging: Judging, problem: Problem | None = None, **known: Any
) -> Found:
    """Value the players of a game, by all sets where these are few and else by random orders.

    ``problem``, ``known``: what identifies the game in a checkpoint.
    """
    m, draws = game.n_columns, _draws(game, run, judging)
    how = "all sets" if draws.exact else "orders"
    estimate, total = run_draws(
        draws,
        tolerance=judging.tolerance,
        title="valuing contributors",
        n_jobs=run.n_jobs,
        cluster=run.cluster,
        progress=run.progress,
        limit=run.limit,
        checkpoint=checkpoint_of(judging, draws, run, problem, how=how, **known),
    )
    sets, scores = total.notes_of("sets").astype(bool), total.notes_of("scores")
    by_validation = total.means()[1:][PARTS["rows"]]
    covariance = by_validation.T @ by_validation
    if not draws.exact:
        by_draws = np.atleast_2d(np.cov(total.notes_of("rows"), rowvar=False)) / total.count
        np.fill_diagonal(by_draws, total.by_draws("rows"))
        covariance += by_draws
        run.warn_of_precision(estimate, judging.tolerance, draws.limit, judging.max_draws)
        more = _more_sets(game, estimate.values.sum(axis=1))
        sets = np.concatenate([sets, more["sets"]])
        scores = np.concatenate([scores, more["scores"]])
    _, first_seen = np.unique(np.packbits(sets, axis=1), axis=0, return_index=True)
    kept = np.sort(first_seen[sets[first_seen].any(axis=1)])
    here = game.compiled and run.cluster is None
    return Found(
        estimate, covariance,
        sets[kept], scores[kept], how, 0 if draws.exact else total.count,
        game.n_trained if here else len(kept) * (2**m - 1 if draws.exact else m),
    )  # fmt: skip


def _draws(game: FragmentGame, run: Run, judging: Judging) -> ScoredSets | ScoredOrders:
    """All sets or orders, as asked, or as there is time; a limit that is too short is refused."""
    n, m = game.n_rows, game.n_columns
    players, design = n + (m if m > 1 else 0), judging.design
    workers = count_threads(run.n_jobs)
    _scores(game, np.ones((1, n), dtype=bool))
    begin = now()  # the first training loads compiled code
    _scores(game, np.arange(n)[None] > 0)
    each_s = (now() - begin) / workers
    # a run with a checkpoint goes on where the time is up, so no call of it has to fit
    limit = run.limit if run.checkpoint is None else None
    if design == "auto":
        few = players <= MOST_PLAYERS and n <= MOST_CONTRIBUTORS
        in_time = few and (limit is None or 2**players * each_s <= limit.left())
        design = "all sets" if in_time else "orders"
    if design == "all sets" and players > MOST_FORCED:
        raise InputError(
            "method='exact' takes all sets of "
            f"{counted(n, 'contributor')}{f' and {m} columns' if m > 1 else ''}, which are "
            "too many: use MonteCarlo, which samples orders"
        )  # fmt: skip
    if design == "all sets":
        draws: ScoredSets | ScoredOrders = ScoredSets(game, run)
        needed_s = each_s * 2**players
    else:
        draws = ScoredOrders(game, run, judging.max_draws)
        needed_s = each_s * draws.least * n * m
    if limit is not None and needed_s > limit.at_latest().left():
        raise limit.refuse(needed_s)
    return draws


def scored_sets(game: Any, sets: Bools, worth: Floats) -> dict[str, Any]:
    """Sets of contributors under all columns: scores, their errors, and those of what they lose."""
    whole = _scores(game, np.ones((1, game.n_rows), dtype=bool))
    own, lost = ((one[:, 1:] ** 2).sum(axis=1) for one in (worth, whole - worth))
    return {"sets": sets, "scores": np.stack([worth[:, 0], np.sqrt(own), np.sqrt(lost)], axis=1)}


def _scores(game: Any, sets: Bools) -> Floats:
    """Scores of sets under all columns, with their error lines."""
    return np.asarray(game.utilities(sets, np.ones((1, game.n_columns), dtype=bool))[:, 0])


def _more_sets(game: FragmentGame, values: Floats) -> dict[str, Any]:
    """Each alone, all but one, and the most valuable of every number: whom one would sign."""
    best = nested(np.argsort(-values, kind="stable"))[1:]
    one = np.eye(game.n_rows, dtype=bool)
    sets = np.concatenate([one, ~one, best])
    return scored_sets(game, sets, _scores(game, sets))
