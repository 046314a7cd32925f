"""What bins change in the values, estimated and taken out by exact ranks on a sample.

In the fast form near rows are ranked and all others binned. The difference from ranking all rows is
a mean over all validation rows and column subsets. One subset is known in full: under all columns
every validation row is ranked exactly, because sums of rows depend on that subset alone (Shapley)
and no sample of it would know them. For the others, the mean over a random sample of both estimates
the difference without bias, with a standard error. Bins are good: mostly that mean is noise, far
above the difference itself, and adding it would only do harm. How large the differences of all
cells are together, though, is known well, from products of the sample's independent parts. So the
sample's mean is added with the weight that makes the squared error smallest (the part of its mean
square that is no noise), and the variance that stays, at the upper end of what the sample leaves
possible, is added to that of the values. Which cells it falls on the sample is too small to say, so
it is spread evenly, and wide enough for the few cells that have more of it.

Where all rows are binned, a larger sample with near rows ranked comes between: that takes little
time, and what is then left to a sample of exact ranks is small.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.defaults import TOLERANCE
from shapley2d._base.in_threads import map_in_threads
from shapley2d._base.precision import convergence_ratio
from shapley2d._base.progress import reporting
from shapley2d._base.streams import generator
from shapley2d._base.warnings import warn
from shapley2d._methods.knn.choices import SAMPLE, SAMPLE_ROWS
from shapley2d.exceptions import PrecisionWarning, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._knn.row_values import RowValues
    from shapley2d._methods.knn.game import SplitGame
    from shapley2d._theory.sums import BlockSums

    Weights = tuple[NDArray[np.float64], NDArray[np.float64]]

MAX_SAMPLE = 1024
"""Where doubling the sample ends, if it is not too large for the memory before."""

FINER_ROWS = 128
"""The same where near rows are ranked, which takes less time; fewer in large tables."""

_FINER_WORK = 2**24  # rows times validation rows
_FEW = 2  # times fewer exact ranks where near rows are ranked first

SPREAD_SHARE = 1e-3
"""An error of this part of the spread of the values is never worth more work."""

SAMPLE_COST = 4.0
"""Ranking a subset exactly takes four to five times as long (``benchmarks/knn.py kernel``)."""

FORM_SHARE = 0.25
"""Errors of bins may be this share of those of sampled subsets: together 3 % larger."""

_STORE_BYTES = 2**28
_BLOCK = 2**20  # numbers of a sample that are taken at a time

_DOUBTS = 2.0
"""Standard errors above its estimate at which the mean square of the differences is taken."""

_LONG_TAIL = 1.25
"""What makes errors wide enough for cells that have more of the differences than others.

These are means of few large differences each, so more of them lie far out than with normal errors.
With both numbers 0.1 to 0.5 % of the cells were off by more than three errors, in tables of 1,200
to 3,000 rows and 5 to 7 columns with numbers, grids, categories, gaps or a skew, in either task;
with 1 and 1, and errors like the squares of the values, it was 1 to 4 %. Errors are then overstated
by 1.5 to 2.1 on average.
"""


def corrected(estimate: Estimate, game: SplitGame, tolerance: float = TOLERANCE) -> Estimate:
    """The estimate without the errors of bins, as far as a sample of exact rankings knows them."""
    if not game.is_binned:
        return estimate
    run = game.run
    spread = float(np.ptp(estimate.values))
    wanted = max(SPREAD_SHARE * spread, FORM_SHARE * float(estimate.stderr.max()))
    most = 0  # on a GPU no more subsets than at first
    if game.device is None:
        n_valid, n_splits = game.problem.n_valid, len(game.parts)
        most = most_ranked_exactly(n_valid, estimate.info["n_subsets"], n_splits)
    with reporting(run.progress, "ranking a sample exactly") as report:
        estimate = correct_bins(
            estimate,
            game.parts,
            [part.ranked() for part in game.parts],
            game.rows,
            game.column_weights(),
            run.seed,
            report,
            every_row=estimate.info["n_valid_used"] == game.problem.n_valid,
            sums=run.sums,
            wanted=wanted,
            most=most,
        )
    left, spread = estimate.info["form_stderr"], float(np.ptp(estimate.values))
    if left > max(tolerance, SPREAD_SHARE) * spread:
        warn(
            PrecisionWarning(
                f"bins leave a standard error of up to {left / max(spread, 1e-300):.3g} of the "
                "spread of the values, more than wanted: use ",
                Setting("form", "exact"),
                *([] if game.device is None else [" or ", Setting("backend", "cpu")]),
            )
        )
    return estimate


def left_for_sampling(game: SplitGame, tolerance: float) -> float:
    """The tolerance less what bins may have of it."""
    return tolerance / math.hypot(1.0, FORM_SHARE) if game.is_binned else tolerance


def most_ranked_exactly(n_valid: int, n_subsets: int, n_splits: int) -> int:
    """Subsets that may be ranked exactly, to judge bins, without taking much of the time."""
    return int(n_valid * n_subsets / (SAMPLE_COST * SAMPLE_ROWS * n_splits))


def most_stored(most: int, n_rows: int) -> int:
    """The same, within what may be kept of them."""
    return min(most, MAX_SAMPLE, _STORE_BYTES // (n_rows * np.dtype(np.float32).itemsize))


def correct_bins(
    estimate: Estimate,
    binned: list[RowValues],
    ranked: list[RowValues],
    rows: list[NDArray[np.intp]],
    weights: Weights,
    seed: int,
    report: Callable[[float, str], None] = lambda *_: None,
    *,
    every_row: bool = True,
    sums: BlockSums | None = None,
    wanted: float = math.inf,
    most: int = SAMPLE,
) -> Estimate:
    """Take the errors of bins out of an estimate as far as known, and add the rest to its errors.

    Parameters
    ----------
    estimate : Estimate
    binned, ranked : list of RowValues
        Those that the estimate was made from, one per split, and the same with all rows ranked.
    rows : list of ndarray
        The rows of the table that are in each split.
    weights : tuple of two ndarrays of shape (m + 1,)
        What coalitions of every size count for the columns in them, and for the others.
    seed : int
    report : callable
        Told the share done.
    every_row : bool
        Whether the estimate has used all validation rows. If not, all columns are one more subset
        of the sample: which rows were used matters far more to sums of rows.
    sums : BlockSums, optional
        Further sums of the cells, whose joint errors the estimate has.
    wanted : float
        The standard error that bins may leave: the sample that is ranked exactly is doubled until
        it is met.
    most : int
        Coalitions that the sample may have after doubling.
    """
    values, share = estimate.values.copy(), 1.0 / len(binned)
    cell_variance = np.zeros(len(values))  # the same for all cells of a row
    row_variance, column_variance = estimate.row_stderr**2, estimate.column_stderr**2
    total = float(estimate.total_stderr or 0.0) ** 2
    covariance = None if estimate.covariance is None else estimate.covariance.copy()
    for k, (coarse, exact, where) in enumerate(zip(binned, ranked, rows, strict=True)):
        if not coarse.is_binned:
            continue
        left = tuple(weight.copy() for weight in weights)
        left[0][0] = left[1][0] = 0.0  # without columns all rows tie in either form
        if every_row:
            everything = np.ones((1, coarse.n_columns), dtype=np.bool_)
            sure, fast = (phi.values(everything, valid=slice(None))[0] for phi in (exact, coarse))
            values[where] += share * left[0][-1] * (sure - fast)[:, None]
            left[0][-1] = left[1][-1] = 0.0
        if not any(weight.any() for weight in left):
            continue
        finer = coarse.finer()
        steps = [(coarse, exact, SAMPLE, SAMPLE_ROWS)]
        if finer is not None:
            many = int(np.clip(_FINER_WORK // coarse.n_rows, SAMPLE_ROWS, FINER_ROWS))
            steps = [(coarse, finer, SAMPLE, many), (finer, exact, SAMPLE // _FEW, SAMPLE_ROWS)]
        for step, (worse, better, count, rows_each) in enumerate(steps):
            random = generator(seed, "bin sample", k, step)
            told = partial(
                _report_part,
                report,
                (k + step / len(steps)) / len(binned),
                len(binned) * len(steps),
            )
            room = most if better is exact else SAMPLE
            # a row is in most splits, whose errors are independent
            enough = wanted * math.sqrt(len(binned))
            sample = _grown(
                worse, better, (left[0], left[1]), random, (count, rows_each), told, room, enough**2
            )
            sample.add_mean(values, where, share * sample.known)
            factor = share**2 * sample.unknown
            cell_variance[where] += factor * sample.cell_variance
            row_variance[where] += share**2 * sample.row_variance
            column_variance += factor * sample.column_variances
            total += factor * sample.total_variance
            if covariance is not None and sums is not None:
                covariance += factor * sample.covariance(sums.take_rows(where))
    stderr = estimate.stderr**2
    stderr += cell_variance[:, None]
    np.sqrt(stderr, out=stderr)
    info = {**estimate.info, "form_stderr": math.sqrt(float(cell_variance.max()))}
    if "ratio" in info:
        info["ratio"] = convergence_ratio(values, stderr, estimate.dof)
    return replace(
        estimate,
        values=values,
        stderr=stderr,
        row_stderr=np.sqrt(row_variance),
        column_stderr=np.sqrt(column_variance),
        total_stderr=None if estimate.total_stderr is None else math.sqrt(total),
        covariance=covariance,
        info=info,
    )


def _report_part(
    report: Callable[[float, str], None], before: float, count: int, done: float
) -> None:
    report(before + done / count, "")


class _BinSample(NamedTuple):
    """What subsets count for every column, differences of rows under them, and variances.

    ``of_all`` has the sums of the differences over all rows: 0 to rounding where rows share what
    there is to share, which single precision would not show. Variances of cells and of row sums are
    means over all of them, that of row sums as it is left in the end; ``known`` is the part of the
    mean to take out, ``unknown`` the part of its variance that is left then.
    """

    counted: NDArray[np.float64]
    differences: NDArray[np.float32]
    of_all: NDArray[np.float64]
    cell_variance: float
    row_variance: float
    column_variances: NDArray[np.float64]
    total_variance: float
    known: float
    unknown: float

    def add_mean(self, values: NDArray[np.float64], rows: NDArray[np.intp], share: float) -> None:
        """Add a share of the mean difference of every cell to the values of some rows."""
        count, n = self.differences.shape
        counted = share / count * self.counted
        # what rounding to single precision has left out of a sum over rows, evenly
        rounding = (self.of_all - self.differences.sum(axis=1, dtype=np.float64)) / n
        size = max(_BLOCK // count, 1)
        for start in range(0, n, size):
            part = slice(start, start + size)
            lines = self.differences[:, part] + rounding[:, None]
            values[rows[part]] += lines.T @ counted

    def covariance(self, sums: BlockSums) -> NDArray[np.float64]:
        """Of the errors that the mean has in further sums of the cells of these rows."""
        of_rows = sums.by_row_group(self.differences.T)
        of_columns = np.zeros((len(self.counted), sums.weights.shape[2]))
        np.add.at(of_columns.T, sums.columns, self.counted.T)
        lines = np.array(
            [
                np.tensordot(sums.weights, np.outer(of_rows[:, k], of_columns[k]), axes=2)
                for k in range(len(of_columns))
            ]
        )
        lines -= lines.mean(axis=0)
        return np.asarray(lines.T @ lines / (len(lines) * (len(lines) - 1)))


def _grown(
    binned: RowValues,
    ranked: RowValues,
    weights: Weights,
    random: np.random.Generator,
    start: tuple[int, int],
    report: Callable[[float], None],
    most: int,
    wanted: float,
) -> _BinSample:
    """A sample, doubled until it leaves the wanted variance of a cell or is as large as allowed.

    ``start``: column subsets at first, and validation rows for each.
    """
    count, rows_each = start
    most = most_stored(most, binned.n_rows)
    differences = np.empty((count, binned.n_rows), dtype=np.float32)
    counted, of_all = _draw(binned, ranked, weights, random, rows_each, differences, report)
    sample = _judge(counted, differences, of_all)
    while sample.unknown * sample.cell_variance > wanted and 2 * count <= most:
        # the first half is freed before the second is written: no more is held than at the end
        larger = np.empty((2 * count, binned.n_rows), dtype=np.float32)
        larger[:count] = differences
        differences = larger
        del sample
        more = _draw(binned, ranked, weights, random, rows_each, differences[count:], report)
        counted = np.concatenate([counted, more[0]])
        of_all = np.concatenate([of_all, more[1]])
        sample = _judge(counted, differences, of_all)
        count *= 2
    return sample


def _draw(
    binned: RowValues,
    ranked: RowValues,
    weights: Weights,
    random: np.random.Generator,
    rows_each: int,
    differences: NDArray[np.float32],
    report: Callable[[float], None],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Write differences of rows under random subsets; what these count for columns, and sums."""
    m, count = binned.n_columns, len(differences)
    probabilities = size_probabilities(*weights)
    sizes = random.choice(m + 1, count, p=probabilities)
    coalitions = random.permuted(np.arange(m)[None, :] < sizes[:, None], axis=1)
    scale = np.array([math.comb(m, int(size)) for size in sizes]) / probabilities[sizes]
    counted = scale[:, None] * np.where(
        coalitions, weights[0][sizes][:, None], -weights[1][sizes][:, None]
    )
    of_all = np.empty(count)
    some = [
        random.choice(binned.n_valid, min(rows_each, binned.n_valid), replace=False)
        for _ in range(count)
    ]
    alone = (
        ranked.on_one_thread(),
        binned.on_one_thread(),
    )  # threads have coalitions each, not rows of one

    def draw(k: int) -> None:
        exact, fast = (phi.values(coalitions[k : k + 1], valid=some[k])[0] for phi in alone)
        differences[k] = exact - fast
        of_all[k] = (exact - fast).sum()

    drawn = map_in_threads(draw, range(count), binned.n_threads)
    for done, _ in enumerate(drawn, start=1):
        report(done / count)
    return counted, of_all


def _judge(
    counted: NDArray[np.float64], differences: NDArray[np.float32], of_all: NDArray[np.float64]
) -> _BinSample:
    """The variances of a sample's means, and how far to believe them."""
    together = counted.sum(axis=1)
    count, n = differences.shape
    # A line of differences has a row's difference times what the coalition counts for a column in
    # every cell.
    of_rows = (differences @ differences.T).astype(np.float64)
    products = of_rows * (counted @ counted.T)
    columns = of_all[:, None] * counted
    known, unknown = shrinkage(products)
    of_sums = of_rows * np.outer(together, together)
    # neither is known well where few differences are large: the wider one
    of_row = max(unknown * noise_of_mean(of_sums), _left_by(known, of_sums))
    return _BinSample(
        counted,
        differences,
        of_all,
        noise_of_mean(products) / (n * counted.shape[1]),
        _LONG_TAIL**2 * of_row / n,
        np.asarray(columns.var(axis=0) / (count - 1)),
        float((of_all * together).var() / (count - 1)),
        known,
        _LONG_TAIL**2 * unknown,
    )


def _left_by(known: float, products: NDArray[np.float64]) -> float:
    """The squared error left where a part of the mean of noisy lines is taken for what it is of.

    Sums of a row's cells have more of the differences than these by themselves, where all columns
    count alike.
    """
    square, noise = _square_at_most(products), noise_of_mean(products)
    return known**2 * noise + (1 - known) ** 2 * square


def noise_of_mean(products: NDArray[np.float64]) -> float:
    """The variance of the mean of independent lines, added up over their places.

    Parameters
    ----------
    products : ndarray of shape (s, s)
        Of every line with every other, summed over the places.

    Examples
    --------
    >>> lines = np.array([[1.0, 0.0], [3.0, 4.0]])
    >>> noise_of_mean(lines @ lines.T), float((lines.var(axis=0, ddof=1) / 2).sum())
    (5.0, 5.0)
    """
    count = len(products)
    return max(float(np.trace(products)) - float(products.sum()) / count, 0.0) / (
        count * (count - 1)
    )


def size_probabilities(
    weights_in: NDArray[np.float64], weights_out: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How often to draw coalitions of every size: as much as they count for a column.

    Examples
    --------
    >>> joining = np.array([1 / 3, 1 / 6, 1 / 3])  # Shapley weights of three columns
    >>> size_probabilities(np.append(0, joining), np.append(joining, 0)).round(3)
    array([0.167, 0.333, 0.333, 0.167])
    """
    m = len(weights_in) - 1
    sizes = np.arange(m + 1)
    ways = np.array([math.comb(m, size) for size in sizes], dtype=np.float64)
    counts = ways * (sizes * np.abs(weights_in) + (m - sizes) * np.abs(weights_out))
    return np.asarray(counts / counts.sum())


def shrinkage(products: NDArray[np.float64]) -> tuple[float, float]:
    """What part of the mean of noisy lines to take, and what part of its variance is then left.

    Parameters
    ----------
    products : ndarray of shape (s, s)
        Of every line with every other, summed over the cells.

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> noise, error = random.normal(size=(64, 1000)), random.normal(size=1000)
    >>> shrinkage(noise @ noise.T)[0] < 0.1  # nothing but noise
    True
    >>> shrinkage((noise + error) @ (noise + error).T)[0] > 0.9
    True
    """
    count = len(products)
    if count < 2:
        return 0.0, 1.0
    square, most, noise = _square(products), _square_at_most(products), noise_of_mean(products)
    if noise <= 0.0:
        return 1.0, 0.0
    return square / (square + noise), most / (most + noise)


def _square(products: NDArray[np.float64]) -> float:
    """Mean square of what noisy lines have in common, from products of different ones."""
    pairs = len(products) * (len(products) - 1)
    return max(float(products.sum() - np.trace(products)) / pairs, 0.0)


def _square_at_most(products: NDArray[np.float64]) -> float:
    """The same at the upper end of what the lines leave possible."""
    apart = products - np.diag(np.diag(products))
    pairs = len(products) * (len(products) - 1)
    return _square(products) + _DOUBTS * math.sqrt(2.0 * float(np.sum(apart**2))) / pairs
