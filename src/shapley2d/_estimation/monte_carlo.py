"""Monte Carlo: the mean of independent draws, until the errors are small enough.

The estimator knows neither models nor data. Draws are numbered, depend on the number alone and are
added up in order, so that the worker count never changes a bit of the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.progress import Pace, reporting
from shapley2d._estimation.estimate import Estimate
from shapley2d._estimation.moments import Moments
from shapley2d._estimation.workers import ordered_results

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._estimation.checkpoint import Checkpoint
    from shapley2d._estimation.draws import Draws
    from shapley2d._theory.sums import BlockSums

MIN_DRAWS = 10
"""A standard error from fewer is not to be trusted."""


def monte_carlo(
    draws: Draws,
    *,
    tolerance: float,
    max_draws: int,
    n_jobs: int | None = None,
    progress: Any = False,
    title: str = "valuing",
    sums: BlockSums | None = None,
    checkpoint: Checkpoint | None = None,
    cluster: Any = None,
) -> Estimate:
    """Mean of independent draws, until the errors are small enough.

    Parameters
    ----------
    draws : Draws
        Numbered draws of the values.
    tolerance : float
        Stop when the largest standard error is at most this part of the spread of the values. Draws
        that are all alike are no convergence: then stop when at most this part of all orders can
        differ (119 draws for 0.025).
    max_draws : int
        Stop there in any case.
    n_jobs : int or None
        Workers, as in joblib. The result is the same, bit for bit, for any number.
    progress : {"auto", True, False} or callable
    title : str
    sums : BlockSums, optional
        Sums of the values whose joint errors are wanted.
    checkpoint : Checkpoint, optional
        Where to go on from, and where to keep what is done.
    cluster : str or distributed.Client, optional
        A Dask cluster to draw on.

    Returns
    -------
    Estimate
        Its ``info`` says ``n_permutations``, ``converged`` and ``interrupted``: Ctrl-C ends the
        work and keeps what was computed. A ``caveat`` says where all draws were alike.
    """
    state = MonteCarloState(Moments(sums), tolerance, max_draws)
    resumed = state.resume(checkpoint)
    interrupted = False
    results = ordered_results(draws, resumed, max_draws, n_jobs=n_jobs, cluster=cluster)
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


class MonteCarloState:
    """The state of a Monte Carlo run: moments, history, and when to stop."""

    def __init__(self, moments: Moments, tolerance: float, max_draws: int) -> None:
        self.moments = moments
        self._tolerance = tolerance
        self._max_draws = max_draws
        self._history: list[tuple[int, float]] = []
        self._ratio = np.inf
        self._pace = Pace()

    def resume(self, checkpoint: Checkpoint | None) -> int:
        """Restore what an earlier run has left, and return its number of draws."""
        if checkpoint is None:
            return 0
        saved = checkpoint.load(lambda one: self.moments.restore(one.count, one.arrays))
        if saved is not None:
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
        if count < min(MIN_DRAWS, self._max_draws):
            return
        self._ratio = self.moments.ratio()
        if (
            count >= MIN_DRAWS
            and _worth_noting(count)
            and (not self._history or self._history[-1][0] < count)
        ):
            self._history.append((count, self._ratio))

    def finished(self) -> bool:
        return self._ratio <= self._tolerance or self.moments.count >= self._max_draws

    def needed(self) -> float:
        """Draws in all, by extrapolation: errors shrink with the root of their number."""
        if self._tolerance == 0:
            return float(self._max_draws)
        power = 2 if self.moments.varied else 1
        steps = self._ratio / self._tolerance
        if steps >= (self._max_draws / max(1, self.moments.count)) ** (
            1 / power
        ):  # before its square is too large
            return float(self._max_draws)
        return self.moments.count * float(steps**power)

    def fraction(self) -> float:
        if not np.isfinite(self._ratio):
            return 0.0
        return min(1.0, self.moments.count / self.needed()) if self.needed() > 0 else 1.0

    def seconds_left(self) -> float | None:
        pace = self._pace.seconds()
        if pace is None or not np.isfinite(self._ratio):
            return None
        return pace * max(0.0, self.needed() - self.moments.count)

    def note(self) -> str:
        count = f"{self.moments.count} permutations"
        if not np.isfinite(self._ratio):
            return count
        if not self.moments.varied:
            return f"all alike so far; {count}"
        if self._tolerance == 0:
            return f"error {self._ratio:.3f} of the spread; {self.moments.count} of {self._max_draws} permutations"
        return f"error {self._ratio:.3f} of the spread, wanted {self._tolerance:g}; {count}"

    def estimate(self, *, interrupted: bool, resumed_at: int) -> Estimate:
        moments = self.moments
        history = list(self._history)
        if not history or history[-1][0] != moments.count:
            history.append((moments.count, moments.ratio()))
        info: dict[str, Any] = {
            "n_permutations": moments.count,
            "converged": bool(self._ratio <= self._tolerance),
            "interrupted": interrupted,
            "ratio": history[-1][1],
        }
        if moments.count > 1 and not moments.varied:
            info["caveat"] = f"no variation seen in {moments.count} draws"
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
            dof=moments.dof,
        )


def _worth_noting(count: int) -> bool:
    """Early draws one by one, later ones ever more sparsely: some 20 points per doubling."""
    return count % (1 << max(0, count.bit_length() - 5)) == 0
