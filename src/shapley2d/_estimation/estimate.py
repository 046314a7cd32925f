"""Estimators: they stream utilities through designs, keep means and errors, and know when to stop.

They know neither models nor data. Work is cut into numbered pieces whose results depend on the number alone and
which are added up in order, so that the worker count never changes a bit of the result.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from shapley2d._base.progress import Pace, reporting
from shapley2d._estimation.moments import Moments, convergence_ratio
from shapley2d._estimation.workers import in_order
from shapley2d._theory.designs import AxisDesign, Permutation, combine_axes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._estimation.checkpoint import Checkpoint
    from shapley2d._theory.game import Game
    from shapley2d._theory.semivalues import Semivalue

__all__ = [
    "Draws",
    "Estimate",
    "MeanDraws",
    "Moments",
    "PermutationDraws",
    "convergence_ratio",
    "evaluate_design",
    "monte_carlo",
]

_MOST_UTILITIES = 2**20  # utilities held at once by a pass over a design
_FEWEST_UTILITIES = 256  # utilities worth handing to a worker
_FEWEST_DRAWS = 10  # a standard error from fewer is not to be trusted


@dataclass
class Estimate:
    """Values with their standard errors, and how they came about.

    Attributes
    ----------
    values, stderr : ndarray of shape (n, m)
    row_stderr, column_stderr : ndarray of shape (n,) and (m,)
        Standard errors of the sums over a row and over a column; not what summing ``stderr`` would say, because
        the errors of the cells of a row hang together.
    info : dict
        Facts about the run for the result's record.
    history : list of (int, float)
        Convergence: draws, and the largest standard error relative to the spread of the values by then.
    covariance : ndarray or None
        Of the errors of the sums that were asked for.
    """

    values: NDArray[np.float64]
    stderr: NDArray[np.float64]
    row_stderr: NDArray[np.float64]
    column_stderr: NDArray[np.float64]
    info: dict[str, Any] = field(default_factory=dict)
    history: list[tuple[int, float]] = field(default_factory=list)
    covariance: NDArray[np.float64] | None = None

    @classmethod
    def exact(cls, values: NDArray[np.float64], **info: Any) -> Estimate:
        """Values without error."""
        n, m = values.shape
        return cls(values, np.zeros((n, m)), np.zeros(n), np.zeros(m), dict(info))


class Draws(Protocol):
    """Numbered independent draws of a matrix of values."""

    def __call__(self, number: int) -> NDArray[np.float64]:
        """Return draw ``number``, always the same for the same number."""


class PermutationDraws:
    """One random order of the rows and one of the columns per draw.

    Parameters
    ----------
    game : Game
    semivalues : (Semivalue, Semivalue)
        Of the rows and of the columns.
    seed : int
        With a draw's number, the seed of its random orders.
    """

    def __init__(self, game: Game, semivalues: tuple[Semivalue, Semivalue], seed: int) -> None:
        self.game = game
        self._semivalues = semivalues
        self._seed = seed

    def __call__(self, number: int) -> NDArray[np.float64]:
        random = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(number,)))
        rows = Permutation(random.permutation(self.game.n_rows), self._semivalues[0])
        columns = Permutation(random.permutation(self.game.n_columns), self._semivalues[1])
        return combine_axes(self.game.utilities(rows.coalitions, columns.coalitions), rows, columns)


class MeanDraws:
    """The mean of several games' draws, each over its own part of the rows: a draw of a cross-valuation.

    Parameters
    ----------
    draws : list of Draws
    rows : list of ndarray
        The rows of the whole table behind the rows of each game; the others get 0.
    n_rows : int
        Rows of the whole table.
    """

    def __init__(self, draws: list[Draws], rows: list[NDArray[np.intp]], n_rows: int) -> None:
        self._draws = draws
        self._rows = rows
        self._n_rows = n_rows

    def __call__(self, number: int) -> NDArray[np.float64]:
        mean: NDArray[np.float64] | None = None
        for draw, rows in zip(self._draws, self._rows, strict=True):
            values = draw(number) / len(self._draws)
            if mean is None:
                mean = np.zeros((self._n_rows, values.shape[1]))
            mean[rows] += values
        assert mean is not None
        return mean


def evaluate_design(
    game: Game,
    rows: AxisDesign,
    columns: AxisDesign,
    *,
    n_jobs: int | None = None,
    progress: Any = False,
    title: str = "valuing",
) -> NDArray[np.float64]:
    """Values of a deterministic pair of designs: every utility once, streamed in blocks of row coalitions."""
    n_lines, width = len(rows.coalitions), len(columns.coalitions)
    step = min(max(-(-n_lines // 200), -(-_FEWEST_UTILITIES // width)), max(1, _MOST_UTILITIES // width))
    blocks = [(start, min(start + step, n_lines)) for start in range(0, n_lines, step)]
    values = np.zeros((rows.n_players, columns.n_players))
    parts = in_order(_DesignBlocks(game, rows, columns, step), 0, len(blocks), n_jobs=n_jobs)
    with reporting(progress, title) as report, closing(parts):
        for (_, stop), part in zip(blocks, parts, strict=True):
            values += part
            report(stop / n_lines, f"{stop * width:,} of {n_lines * width:,} utilities")
    return values


@dataclass
class _DesignBlocks:
    """Blocks of row coalitions by number, contracted to their part of the values."""

    game: Game
    rows: AxisDesign
    columns: AxisDesign
    step: int

    def __call__(self, number: int) -> NDArray[np.float64]:
        start = number * self.step
        stop = min(start + self.step, len(self.rows.coalitions))
        utilities = self.game.utilities(self.rows.coalitions.slice(start, stop), self.columns.coalitions)
        return combine_axes(utilities, self.rows, self.columns, start)


def monte_carlo(
    draws: Draws,
    *,
    tolerance: float = 0.025,
    max_draws: int = 1000,
    n_jobs: int | None = None,
    progress: Any = False,
    title: str = "valuing",
    sums: NDArray[np.float64] | None = None,
    checkpoint: Checkpoint | None = None,
    cluster: Any = None,
) -> Estimate:
    """Mean of independent draws, until the errors are small enough.

    Parameters
    ----------
    draws : Draws
        Numbered draws of the values.
    tolerance : float
        Stop when the largest standard error is at most this part of the spread of the values.
    max_draws : int
        Stop there in any case.
    n_jobs : int or None
        Workers, as in joblib. The result is the same, bit for bit, for any number.
    progress : {"auto", True, False} or callable
    title : str
    sums : ndarray of shape (k, n, m), optional
        Weights of sums of the values whose joint errors are wanted.
    checkpoint : Checkpoint, optional
        Where to go on from, and where to keep what is done.
    cluster : str or distributed.Client, optional
        A Dask cluster to draw on.

    Returns
    -------
    Estimate
        Its ``info`` says ``n_permutations``, ``converged`` and ``interrupted``: Ctrl-C ends the work and keeps
        what was computed.
    """
    state = _Progress(Moments(sums), tolerance, max_draws)
    resumed = state.resume(checkpoint)
    interrupted = False
    results = in_order(draws, resumed, max_draws, n_jobs=n_jobs, cluster=cluster)
    with reporting(progress, title) as report:
        if resumed:
            report(state.fraction(), f"resumed at {resumed} permutations")
        try:
            while not state.finished():
                state.add(next(results))
                report(state.fraction(), state.note(), state.seconds_left())
                if checkpoint is not None and checkpoint.due():
                    state.save(checkpoint)
        except KeyboardInterrupt:
            if state.moments.count < 2:
                raise
            interrupted = True
        finally:
            results.close()
            if checkpoint is not None and state.moments.count > resumed:
                state.save(checkpoint)
    return state.estimate(interrupted=interrupted, resumed_at=resumed)


class _Progress:
    """How far Monte Carlo has come: moments, history, and when to stop."""

    def __init__(self, moments: Moments, tolerance: float, max_draws: int) -> None:
        self.moments = moments
        self._tolerance = tolerance
        self._max_draws = max_draws
        self._history: list[tuple[int, float]] = []
        self._ratio = np.inf
        self._pace = Pace()

    def resume(self, checkpoint: Checkpoint | None) -> int:
        """Take back what an earlier run has left, and return its number of draws."""
        saved = None if checkpoint is None else checkpoint.load()
        if saved is not None:
            self.moments.restore(saved.count, saved.arrays)
            self._history = list(saved.history)
            self._look()
        return self.moments.count

    def save(self, checkpoint: Checkpoint) -> None:
        checkpoint.save(self.moments.count, self.moments.arrays(), self._history)

    def add(self, values: NDArray[np.float64]) -> None:
        self.moments.add(values)
        self._pace.tick()
        self._look()

    def _look(self) -> None:
        count = self.moments.count
        if count < min(_FEWEST_DRAWS, self._max_draws):
            return
        self._ratio = convergence_ratio(self.moments.mean(), self.moments.stderr())
        if (
            count >= _FEWEST_DRAWS
            and _worth_noting(count)
            and (not self._history or self._history[-1][0] < count)
        ):
            self._history.append((count, self._ratio))

    def finished(self) -> bool:
        return self._ratio <= self._tolerance or self.moments.count >= self._max_draws

    def _needed(self) -> float:
        """Draws in all, as far as can be told: errors shrink with the root of their number."""
        if self._tolerance == 0:
            return float(self._max_draws)
        return min(float(self._max_draws), self.moments.count * (self._ratio / self._tolerance) ** 2)

    def fraction(self) -> float:
        if not np.isfinite(self._ratio):
            return 0.0
        return min(1.0, self.moments.count / self._needed()) if self._needed() > 0 else 1.0

    def seconds_left(self) -> float | None:
        pace = self._pace.seconds()
        if pace is None or not np.isfinite(self._ratio):
            return None
        return pace * max(0.0, self._needed() - self.moments.count)

    def note(self) -> str:
        count = f"{self.moments.count} permutations"
        if not np.isfinite(self._ratio):
            return count
        if self._tolerance == 0:
            return f"error {self._ratio:.3f} of the spread; {self.moments.count} of {self._max_draws} permutations"
        return f"error {self._ratio:.3f} of the spread, wanted {self._tolerance:g}; {count}"

    def estimate(self, *, interrupted: bool, resumed_at: int) -> Estimate:
        moments = self.moments
        history = list(self._history)
        if not history or history[-1][0] != moments.count:
            history.append((moments.count, convergence_ratio(moments.mean(), moments.stderr())))
        info = {
            "n_permutations": moments.count,
            "converged": bool(self._ratio <= self._tolerance),
            "interrupted": interrupted,
            "ratio": history[-1][1],
        }
        if resumed_at:
            info["resumed_at"] = resumed_at
        return Estimate(
            moments.mean(),
            moments.stderr(),
            moments.stderr(1),
            moments.stderr(2),
            info,
            history,
            moments.covariance(),
        )


def _worth_noting(count: int) -> bool:
    """Early draws one by one, later ones ever more sparsely: some 20 points per doubling."""
    return count % (1 << max(0, count.bit_length() - 5)) == 0
