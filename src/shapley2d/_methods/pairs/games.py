"""Games of rows and columns as games of one axis: the other one is contracted exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from joblib import effective_n_jobs

from shapley2d._base.progress import Pace, reporting
from shapley2d._base.streams import seed_sequence
from shapley2d._estimation.estimate import Estimate
from shapley2d._estimation.workers import ordered_results
from shapley2d._knn.columns.pair_fit import FEW_PER_PLAYER, MAX_SUBSETS, few_subsets
from shapley2d._methods.pairs.sampling import PairEstimate, estimate_pairs
from shapley2d._theory.coalitions import MaskCoalitions
from shapley2d._theory.designs import AllSubsets
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._methods.run import Run
    from shapley2d._theory.game import Game
    from shapley2d._theory.semivalues import Semivalue
    from shapley2d._theory.sums import BlockSums

    Floats = NDArray[np.float64]

MAX_EXACT = 10
"""Players of the exact axis, at most: all their subsets are evaluated with each of the others'."""

MAX_SAMPLED = 1024
"""Players of the axis that is sampled: its regressions take the third power of their number."""

_PIECE = 4  # coalitions of the sampled axis that a worker is handed at a time, at most


def solve_pairs(
    games: Sequence[Game],
    rows: list[NDArray[np.intp]],
    n_rows: int,
    run: Run,
    *,
    n_subsets: int | None = None,
    tolerance: float,
    max_coalitions: int = MAX_SUBSETS,
    n_jobs: int | None = None,
    sums: BlockSums | None = None,
    limit: tuple[str, int] | None = None,
) -> Estimate:
    """Values of games by pairs on the axis with more players, the mean over the games.

    Parameters
    ----------
    games : sequence of Game
    rows : list of ndarray
        The rows of the result behind the rows of each game; a row that is not there adds nothing.
    n_rows : int
    run : Run
    n_subsets : int, optional
        Coalitions of the sampled axis; doubled until the tolerance is met by default.
    tolerance : float
    max_coalitions : int
        Where doubling ends.
    n_jobs : int, optional
        Workers; those of the run by default.
    sums : BlockSums, optional
        Sums whose joint errors are wanted; those of the run by default.
    limit : (str, int), optional
        The option that sets ``max_coalitions``, for the warning.
    """
    axis = _Axis(
        list(games), rows, n_rows, run.semivalues, run.n_jobs if n_jobs is None else n_jobs
    )
    check_pairs(n_rows, games[0].n_columns, n_subsets)
    pace = Pace()
    with reporting(run.progress, "pairs of subsets") as report:

        def update(done: int, planned: int, ratio: float) -> None:
            known = "" if not np.isfinite(ratio) else f"error {ratio:.3f} of the spread; "
            left = None if run.limit is None else max(run.limit.left(), 0.0)
            report(done / planned, f"{known}{done:,} subsets", left)
            pace.tick()
            if run.limit is not None and done < planned:
                run.limit.check(pace.seconds() or 0.0)

        found = estimate_pairs(
            axis.utilities,
            axis.n_players,
            n_subsets=n_subsets,
            max_coalitions=max_coalitions,
            tolerance=0.0 if n_subsets else tolerance,
            semivalue=axis.semivalue,
            seed=int(seed_sequence(run.seed, "owner pairs").generate_state(1, np.uint64)[0]),
            progress=update,
        )
    estimate = _estimate(found, axis, run.sums if sums is None else sums, tolerance)
    if n_subsets is None or found.interrupted:
        option, stopped_at = limit or ("n_subsets", found.n_subsets)
        run.warn_of_precision(estimate, tolerance, option, stopped_at)
    return estimate


def check_pairs(n_rows: int, n_columns: int, n_subsets: int | None = None) -> None:
    """Refuse games with too many players on either axis, and too few subsets for them.

    Below two subsets to a player the errors are larger than the differences between players (in
    games of teams of three, 9 to 40 players); with three they are 0.6 of these.
    """
    few, many = sorted((n_rows, n_columns))
    if few > MAX_EXACT or many > MAX_SAMPLED:
        raise InputError(
            Setting("method", "pairs"),
            " evaluates all subsets of the shorter axis and samples the longer one: "
            f"{n_rows} rows x {n_columns} columns are more than the {MAX_EXACT} and "
            f"{MAX_SAMPLED:,} that it can take: use ",
            Setting("method", "mc"),
        )
    if n_subsets is not None and few_subsets(n_subsets, many):
        raise InputError(
            Setting("n_subsets", n_subsets),
            f" is too few for {many} players: errors would be about as large as the values; use ",
            Setting("n_subsets", min(FEW_PER_PLAYER * many, 2**many)),
            " or more",
        )


def _estimate(
    found: PairEstimate, axis: _Axis, sums: BlockSums | None, tolerance: float
) -> Estimate:
    """In rows and columns, with the errors of their sums."""
    values, stderr, spread = (
        axis.placed(found.values),
        axis.placed(found.stderr),
        axis.placed(found.spread),
    )
    efficient = axis.semivalue == "shapley"  # the sums over the sampled axis are then exact
    by_row, by_column = (np.sqrt(np.square(spread.sum(axis=k)).sum(axis=0)) for k in (2, 1))
    if efficient and axis.samples_rows:
        by_column = np.zeros_like(by_column)
    elif efficient:
        by_row = np.zeros_like(by_row)
    info = {
        "sampled": "rows" if axis.samples_rows else "columns",
        "n_subsets": found.n_subsets,
        "n_utilities": found.n_subsets * axis.per_coalition,
        "estimator": found.estimator,
        "converged": found.converged or found.history[-1][1] <= tolerance,
        "interrupted": found.interrupted,
        **({"time_up": True} if found.time_up else {}),
        "ratio": found.history[-1][1],
    }
    if few_subsets(found.n_subsets, axis.n_players):
        info["caveat"] = (
            f"{found.n_subsets} subsets are too few for {axis.n_players} players "
            "to trust the intervals"
        )
    covariance = None
    if sums is not None:
        of_sums = np.array([sums.of(deviation) for deviation in spread])
        covariance = of_sums.T @ of_sums
    return Estimate(
        values,
        stderr,
        by_row,
        by_column,
        info,
        list(found.history),
        covariance,
        dof=found.dof,
        total_stderr=0.0 if efficient else float(np.sqrt(np.square(spread.sum(axis=(1, 2))).sum())),
    )


class _Axis:
    """The axis with more players, as players of one game for every player of the other axis."""

    def __init__(
        self,
        games: list[Game],
        rows: list[NDArray[np.intp]],
        n_rows: int,
        semivalues: tuple[Semivalue, Semivalue],
        n_jobs: int | None,
    ) -> None:
        self._games, self._rows, self._n_rows, self._n_jobs = games, rows, n_rows, n_jobs
        self._n_columns = games[0].n_columns
        self.samples_rows = n_rows >= self._n_columns
        self.n_players = n_rows if self.samples_rows else self._n_columns
        self.semivalue, self._other = semivalues if self.samples_rows else semivalues[::-1]
        exact = (game.n_columns if self.samples_rows else game.n_rows for game in games)
        self.per_coalition = sum(2**count for count in exact)

    def utilities(self, coalitions: NDArray[np.bool_]) -> Floats:
        """Utilities of coalitions of the sampled axis, one column for every player of the other."""
        size = max(1, min(_PIECE, len(coalitions) // effective_n_jobs(self._n_jobs)))
        work = _Pieces(
            self._games, self._rows, self._n_rows, coalitions, self.samples_rows, self._other, size
        )
        pieces = ordered_results(work, 0, -(-len(coalitions) // size), n_jobs=self._n_jobs)
        try:
            return np.concatenate(list(pieces))
        finally:
            pieces.close()

    def placed(self, numbers: Floats) -> Floats:
        """Numbers of all players of both axes, (..., other, sampled), as rows and columns."""
        return np.ascontiguousarray(np.swapaxes(numbers, -1, -2)) if self.samples_rows else numbers


@dataclass
class _Pieces:
    """A few coalitions of the sampled axis at a time, with all coalitions of the other one."""

    games: list[Game]
    rows: list[NDArray[np.intp]]
    n_rows: int
    coalitions: NDArray[np.bool_]
    samples_rows: bool
    semivalue: Semivalue
    size: int

    def __call__(self, number: int) -> Floats:
        part = self.coalitions[number * self.size : (number + 1) * self.size]
        width = self.games[0].n_columns if self.samples_rows else self.n_rows
        mean = np.zeros((len(part), width))
        for game, present in zip(self.games, self.rows, strict=True):
            if self.samples_rows:
                design = AllSubsets(game.n_columns, self.semivalue)
                utilities = game.utilities(MaskCoalitions(part[:, present]), design.coalitions)
                mean += _one_by_one(design, utilities) / len(self.games)
            else:
                design = AllSubsets(game.n_rows, self.semivalue)
                utilities = game.utilities(design.coalitions, MaskCoalitions(part))
                mean[:, present] += _one_by_one(design, utilities.T) / len(self.games)
        return mean


def _one_by_one(design: AllSubsets, utilities: Floats) -> Floats:
    """Values from the utilities of every coalition: no bit depends on which others are there."""
    return np.array([design.combine(np.ascontiguousarray(line)) for line in utilities])
