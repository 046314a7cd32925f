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
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.defaults import TOLERANCE
from shapley2d._base.precision import convergence_ratio
from shapley2d._base.progress import reporting
from shapley2d._base.streams import generator
from shapley2d._base.warnings import warn
from shapley2d._knn.bin_sample import grown_sample
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

FINER_ROWS = 128
"""Validation rows per subset in the sample that ranks near rows; fewer in large tables."""

_FINER_WORK = 2**24  # rows times validation rows
_FEW = 2  # times fewer exact ranks where near rows are ranked first

SPREAD_SHARE = 1e-3
"""An error of this part of the spread of the values is never worth more work."""

SAMPLE_COST = 4.0
"""Ranking a subset exactly takes four to five times as long (``benchmarks/knn.py kernel``)."""

FORM_SHARE = 0.25
"""Errors of bins may be this share of those of sampled subsets: together 3 % larger."""


def corrected(estimate: Estimate, game: SplitGame, tolerance: float = TOLERANCE) -> Estimate:
    """The estimate without the errors of bins, as far as a sample of exact rankings knows them."""
    if not game.is_binned:
        return estimate
    run = game.run
    spread = float(np.ptp(estimate.values))
    wanted = max(SPREAD_SHARE * spread, FORM_SHARE * float(estimate.stderr.max()))
    most = 0  # on a GPU no more subsets than at first
    if game.device is None and not _is_late(game):
        n_valid, n_splits = game.problem.n_valid, len(game.parts)
        most = most_ranked_exactly(n_valid, estimate.info["n_subsets"], n_splits)
    weights = game.column_weights()
    walked = estimate.info["subsets"] == "all"
    with reporting(run.progress, "ranking a sample exactly") as report:
        estimate = correct_bins(
            estimate,
            [part.walked(*weights) if walked else part for part in game.parts],
            [part.ranked() for part in game.parts],
            game.rows,
            weights,
            run.seed,
            report,
            every_row=estimate.info["n_valid_used"] == game.problem.n_valid,
            sums=run.sums,
            wanted=wanted,
            most=most,
            start=first_sample(game),
        )
    left, spread = estimate.info["bin_stderr"], float(np.ptp(estimate.values))
    if left > max(tolerance, SPREAD_SHARE) * spread:
        warn(
            PrecisionWarning(
                f"bins leave a standard error of up to {left / max(spread, 1e-300):.3g} of the "
                "spread of the values, more than wanted",
                *([] if game.device is None else [": use ", Setting("backend", "cpu")]),
            )
        )
    return estimate


def _is_late(game: SplitGame) -> bool:
    """Whether a time limit leaves no room to double the sample, which may take as long as a run."""
    limit = game.run.limit
    return limit is not None and limit.left() < limit.seconds / 2


def first_sample(game: SplitGame) -> tuple[int, int]:
    """Subsets that are ranked exactly at first, and validation rows for each.

    Rounds of a time limit have few validation rows, which leave far larger errors than bins do: a
    small sample then only has to say that it is so.
    """
    return (SAMPLE // 4, 1) if game.options.round_rows else (SAMPLE, SAMPLE_ROWS)


def left_for_sampling(game: SplitGame, tolerance: float) -> float:
    """The tolerance less what bins may have of it."""
    return tolerance / math.hypot(1.0, FORM_SHARE) if game.is_binned else tolerance


def most_ranked_exactly(n_valid: int, n_subsets: int, n_splits: int) -> int:
    """Subsets that may be ranked exactly, to judge bins, without taking much of the time."""
    return int(n_valid * n_subsets / (SAMPLE_COST * SAMPLE_ROWS * n_splits))


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
    start: tuple[int, int] = (SAMPLE, SAMPLE_ROWS),
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
    start : (int, int)
        Coalitions that it has at first, and validation rows for each.
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
        steps = [(coarse, exact, *start)]
        if finer is not None:
            many = int(np.clip(_FINER_WORK // coarse.n_rows, SAMPLE_ROWS, FINER_ROWS))
            steps = [(coarse, finer, SAMPLE, many), (finer, exact, SAMPLE // _FEW, SAMPLE_ROWS)]
        for step, (worse, better, count, each) in enumerate(steps):
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
            sample = grown_sample(
                worse, better, (left[0], left[1]), random, (count, each), told, room, enough**2
            )
            sample.add_mean(values, where, share * sample.known)
            factor = share**2 * sample.unknown
            cell_variance[where] += factor * sample.cell_variance
            row_variance[where] += share**2 * sample.row_left
            column_variance += factor * sample.column_variances
            total += factor * sample.total_variance
            if covariance is not None and sums is not None:
                covariance += factor * sample.covariance(sums.take_rows(where))
    stderr = estimate.stderr**2
    stderr += cell_variance[:, None]
    np.sqrt(stderr, out=stderr)
    info = {**estimate.info, "bin_stderr": math.sqrt(float(cell_variance.max()))}
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
