"""Estimators: they stream utilities through designs, keep means and errors, and know when to stop.

They know neither models nor data. Work is cut into numbered pieces whose results depend on the number alone and
which are added up in order, so that the worker count never changes a bit of the result.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from shapley2d.designs import AxisDesign, Permutation, combine_axes
from shapley2d.progress import reporting

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

    from numpy.typing import NDArray

    from shapley2d.games import Game
    from shapley2d.semivalues import Semivalue

_BATCH_S = 0.5  # a batch of draws lasts about this long, so that handing it over costs little
_MOST_BATCH = 64
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


class Moments:
    """Running mean and sum of squared deviations (Welford), of the cells and of their row and column sums.

    Parameters
    ----------
    sums : ndarray of shape (k, n, m), optional
        Weights of further sums of the cells, whose joint errors are kept too.
    """

    def __init__(self, sums: NDArray[np.float64] | None = None) -> None:
        self.count = 0
        self._parts: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
        self._sums = None if sums is None else sums.reshape(len(sums), -1)
        size = 0 if sums is None else len(sums)
        self._sums_mean, self._products = np.zeros(size), np.zeros((size, size))

    def add(self, values: NDArray[np.float64]) -> None:
        """Take in one draw."""
        parts = (values, values.sum(axis=1), values.sum(axis=0))
        if not self.count:
            self._parts = [(np.zeros_like(part), np.zeros_like(part)) for part in parts]
        self.count += 1
        for part, (mean, squares) in zip(parts, self._parts, strict=True):
            off = part - mean
            np.add(mean, off / self.count, out=mean)
            np.add(squares, off * (part - mean), out=squares)
        if self._sums is not None:
            sums = self._sums @ values.ravel()
            off = sums - self._sums_mean
            self._sums_mean += off / self.count
            self._products += np.outer(off, sums - self._sums_mean)

    def mean(self) -> NDArray[np.float64]:
        """Mean of the draws."""
        return self._parts[0][0]

    def stderr(self, part: int = 0) -> NDArray[np.float64]:
        """Standard error of the mean: of the cells (0), the row sums (1) or the column sums (2)."""
        squares = self._parts[part][1]
        if self.count < 2:
            return np.full_like(squares, np.inf)
        return np.asarray(np.sqrt(squares / (self.count * (self.count - 1))))

    def covariance(self) -> NDArray[np.float64] | None:
        """Covariance of the errors of the further sums."""
        if self._sums is None:
            return None
        if self.count < 2:
            return np.diag(np.full(len(self._sums), np.inf))
        both = self._products + self._products.T  # equal but for rounding
        return np.asarray(both / (2 * self.count * (self.count - 1)))


def convergence_ratio(values: NDArray[np.float64], stderr: NDArray[np.float64]) -> float:
    """Largest standard error relative to the spread of the values; what ``tolerance`` bounds.

    Examples
    --------
    >>> convergence_ratio(np.array([[0.0, 2.0]]), np.array([[0.1, 0.05]]))
    0.05
    """
    largest = float(stderr.max())
    if largest == 0:
        return 0.0
    spread = float(values.max() - values.min())
    return largest / spread if spread > 0 else np.inf


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
    tasks = (delayed(_block_utilities)(game, rows, columns, start, stop) for start, stop in blocks)
    with reporting(progress, title) as report:
        for (_, stop), part in zip(blocks, _run(tasks, n_jobs), strict=True):
            values += part
            report(stop / n_lines, f"{stop * width:,} of {n_lines * width:,} utilities")
    return values


def _block_utilities(
    game: Game, rows: AxisDesign, columns: AxisDesign, start: int, stop: int
) -> NDArray[np.float64]:
    with threadpool_limits(limits=1):
        utilities = game.utilities(rows.coalitions.slice(start, stop), columns.coalitions)
    return combine_axes(utilities, rows, columns, start)


def monte_carlo(
    draws: Draws,
    *,
    tolerance: float = 0.025,
    max_draws: int = 1000,
    n_jobs: int | None = None,
    progress: Any = False,
    title: str = "valuing",
    sums: NDArray[np.float64] | None = None,
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
        Worker processes, as in joblib. The result is the same, bit for bit, for any number.
    progress : {"auto", True, False} or callable
    title : str
    sums : ndarray of shape (k, n, m), optional
        Weights of sums of the values whose joint errors are wanted.

    Returns
    -------
    Estimate
        Its ``info`` says ``n_permutations``, ``converged`` and ``interrupted``: Ctrl-C ends the work and keeps
        what was computed.
    """
    moments = Moments(sums)
    history: list[tuple[int, float]] = []
    ratio = np.inf
    interrupted = False
    with reporting(progress, title) as report:
        results = _stream(draws, max_draws, n_jobs)
        try:
            for values in results:
                moments.add(values)
                if moments.count < min(_FEWEST_DRAWS, max_draws):
                    report(0.0, f"{moments.count} permutations")
                    continue
                ratio = convergence_ratio(moments.mean(), moments.stderr())
                if _worth_noting(moments.count):
                    history.append((moments.count, ratio))
                if ratio <= tolerance:
                    break
                needed = float(max_draws)
                if tolerance > 0:
                    needed = min(needed, moments.count * (ratio / tolerance) ** 2)
                note = f"error {ratio:.3f} of the spread, wanted {tolerance:g}; {moments.count} permutations"
                report(moments.count / needed, note)
        except KeyboardInterrupt:
            if moments.count < 2:
                raise
            interrupted = True
        finally:
            results.close()
    if not history or history[-1][0] != moments.count:
        history.append((moments.count, convergence_ratio(moments.mean(), moments.stderr())))
    info = {
        "n_permutations": moments.count,
        "converged": bool(ratio <= tolerance),
        "interrupted": interrupted,
        "ratio": history[-1][1],
    }
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


def _stream(draws: Draws, max_draws: int, n_jobs: int | None) -> Generator[NDArray[np.float64], None, None]:
    """Draws 0, 1, 2, ... in order, computed by the workers in batches that last about half a second."""
    if effective_n_jobs(n_jobs) == 1:
        with threadpool_limits(limits=1):
            for number in range(max_draws):
                yield draws(number)  # one by one, so that Ctrl-C loses a single draw
        return
    pace = {"batch": 1}

    def tasks() -> Iterator[Any]:
        start = 0
        while start < max_draws:
            stop = min(start + pace["batch"], max_draws)
            yield delayed(_draw_batch)(draws, start, stop)
            start = stop

    for batch, seconds in _run(tasks(), n_jobs):
        per_draw = max(seconds / len(batch), 1e-6)
        pace["batch"] = int(np.clip(_BATCH_S / per_draw, 1, _MOST_BATCH))
        yield from batch


def _draw_batch(draws: Draws, start: int, stop: int) -> tuple[list[NDArray[np.float64]], float]:
    begin = time.perf_counter()
    with threadpool_limits(limits=1):  # the same sums on every worker, and no more threads than cores
        batch = [draws(number) for number in range(start, stop)]
    return batch, time.perf_counter() - begin


def _run(tasks: Iterable[Any], n_jobs: int | None) -> Iterator[Any]:
    """Results of tasks in their order, computed here or by worker processes."""
    if effective_n_jobs(n_jobs) == 1:
        for function, args, kwargs in tasks:
            yield function(*args, **kwargs)
    else:
        yield from Parallel(n_jobs=n_jobs, return_as="generator", pre_dispatch="2*n_jobs")(tasks)
