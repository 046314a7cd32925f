"""What bins change in the values, estimated and taken out by exact ranks on a sample.

In the fast form near rows are ranked and all others binned. The difference from ranking all rows is a mean over all
validation rows and column coalitions, so that its mean over a random sample of both estimates it without bias, with a
standard error. Bins are good: mostly that mean is noise, far above the difference itself, and adding it would only do
harm. How large the differences of all cells are together, though, is known well, from products of the sample's
independent parts. So the sample's mean is added with the weight that makes the squared error smallest (the part of its
mean square that is no noise), and the variance that stays, at the upper end of what the sample leaves possible, is
added to that of the values. Which cells it falls on the sample is too small to say: rows that are near to many
validation rows have the large values and the large differences, so half of it is spread evenly and half like the
squares of the values.

Where all rows are binned, a larger sample with near rows ranked comes between: that takes little time, and what is then
left to a sample of exact ranks is small.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.precision import convergence_ratio
from shapley2d._base.streams import generator

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._knn.rows import RowValues

    Weights = tuple[NDArray[np.float64], NDArray[np.float64]]

SAMPLE = 64
"""Column coalitions of the sample, before it grows."""

MAX_SAMPLE = 1024
"""Where doubling the sample ends, if it is not too large for the memory before."""

SAMPLE_ROWS = 8
"""Validation rows for each of them."""

FINER_ROWS = 128
"""The same where near rows are ranked, which takes less time; fewer in large tables."""

_FINER_WORK = 2**24  # rows times validation rows
_FEW = 2  # exact ranks are so many times fewer where near rows are ranked first

_STORE_BYTES = 2**28


def correct_bins(
    estimate: Estimate,
    binned: list[RowValues],
    ranked: list[RowValues],
    rows: list[NDArray[np.intp]],
    weights: Weights,
    seed: int,
    report: Callable[[float, str], None] = lambda *_: None,
    *,
    wanted: float = math.inf,
    most: int = SAMPLE,
) -> Estimate:
    """Take the errors of bins out of an estimate as far as a sample knows them, and add the rest to its errors.

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
    wanted : float
        The standard error that bins may leave: the sample that is ranked exactly is doubled until it is met.
    most : int
        Coalitions that the sample may have after doubling.
    """
    n, m = estimate.values.shape
    values = estimate.values.copy()
    parts = [estimate.stderr**2, estimate.row_stderr**2, estimate.column_stderr**2]
    total = float(estimate.total_stderr or 0.0) ** 2
    left = np.zeros((n, m))
    for k, (coarse, exact, where) in enumerate(zip(binned, ranked, rows, strict=True)):
        if not coarse.is_binned:
            continue
        share = 1.0 / len(binned)
        finer = coarse.finer()
        steps = [(coarse, exact, SAMPLE, SAMPLE_ROWS)]
        if finer is not None:
            many = int(np.clip(_FINER_WORK // coarse.n_rows, SAMPLE_ROWS, FINER_ROWS))
            steps = [(coarse, finer, SAMPLE, many), (finer, exact, SAMPLE // _FEW, SAMPLE_ROWS)]
        for step, (worse, better, count, rows_each) in enumerate(steps):
            random = generator(seed, "bin sample", k, step)
            told = partial(
                _report_part, report, (k + step / len(steps)) / len(binned), len(binned) * len(steps)
            )
            room = most if better is exact else SAMPLE
            # a row is in most splits, whose errors are independent
            enough = wanted * math.sqrt(len(binned))
            sample = _grown(
                worse, better, weights, random, (count, rows_each), told, room, enough, estimate.values[where]
            )
            known, unknown = sample.shrinkage
            values[where] += share * known * sample.mean
            factor = share**2 * unknown
            left[where] += factor * like_squares(sample.variances[0], estimate.values[where])
            parts[1][where] += factor * like_squares(sample.variances[1], estimate.values[where].sum(axis=1))
            parts[2] += factor * sample.variances[2]
            total += factor * float(sample.variances[3])
    parts[0] += left
    cells, row_sums, column_sums = (np.sqrt(part) for part in parts)
    info = {**estimate.info, "form_stderr": math.sqrt(float(left.max()))}
    if "ratio" in info:
        info["ratio"] = convergence_ratio(values, cells, estimate.dof)
    return replace(
        estimate,
        values=values,
        stderr=cells,
        row_stderr=row_sums,
        column_stderr=column_sums,
        total_stderr=None if estimate.total_stderr is None else math.sqrt(total),
        info=info,
    )


def like_squares(variances: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Numbers with the mean of the variances, one half of it even and the other like the squares of the values.

    Examples
    --------
    >>> like_squares(np.array([0.0, 4.0]), np.array([1.0, -3.0]))
    array([1.2, 2.8])
    """
    squares = values**2
    mean = float(squares.mean())
    shape = 0.5 + 0.5 * squares / mean if mean > 0.0 else np.ones_like(squares)
    return np.asarray(float(variances.mean()) * shape)


def _report_part(report: Callable[[float, str], None], before: float, count: int, done: float) -> None:
    report(before + done / count, "")


class _Sample(NamedTuple):
    """The mean difference of every cell, and the variances of it, of its row sums, column sums and total."""

    mean: NDArray[np.float64]
    variances: tuple[NDArray[np.float64], ...]
    shrinkage: tuple[float, float]


def _grown(
    binned: RowValues,
    ranked: RowValues,
    weights: Weights,
    random: np.random.Generator,
    start: tuple[int, int],
    report: Callable[[float], None],
    most: int,
    wanted: float,
    values: NDArray[np.float64],
) -> _Sample:
    """A sample that is doubled until it leaves the wanted error of the values, or is as large as it may be.

    It starts with so many column coalitions, and has so many validation rows for each.
    """
    count, rows_each = start
    most = min(most, MAX_SAMPLE, _STORE_BYTES // (binned.n_rows * np.dtype(np.float32).itemsize))
    counted, differences = _draw(binned, ranked, weights, random, rows_each, count, report)
    while True:
        sample = _judge(counted, differences)
        left = sample.shrinkage[1] * float(like_squares(sample.variances[0], values).max())
        if left <= wanted**2 or 2 * len(counted) > most:
            return sample
        more_counted, more = _draw(binned, ranked, weights, random, rows_each, len(counted), report)
        counted, differences = np.concatenate([counted, more_counted]), np.concatenate([differences, more])


def _draw(
    binned: RowValues,
    ranked: RowValues,
    weights: Weights,
    random: np.random.Generator,
    rows_each: int,
    count: int,
    report: Callable[[float], None],
) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
    """What random coalitions count for every column, and the differences of all rows on validation rows of each."""
    m = binned.n_columns
    probabilities = size_probabilities(*weights)
    sizes = random.choice(m + 1, count, p=probabilities)
    coalitions = random.permuted(np.arange(m)[None, :] < sizes[:, None], axis=1)
    scale = np.array([math.comb(m, int(size)) for size in sizes]) / probabilities[sizes]
    counted = scale[:, None] * np.where(coalitions, weights[0][sizes][:, None], -weights[1][sizes][:, None])
    differences = np.empty((count, binned.n_rows), dtype=np.float32)
    for k in range(count):
        rows = random.choice(binned.n_valid, min(rows_each, binned.n_valid), replace=False)
        one = coalitions[k : k + 1]
        differences[k] = (ranked.values(one, valid=rows) - binned.values(one, valid=rows))[0]
        report((k + 1) / count)
    return counted, differences


def _judge(counted: NDArray[np.float64], differences: NDArray[np.float32]) -> _Sample:
    """The means of a sample, their variances, and how far to believe them."""
    together, of_all = counted.sum(axis=1), differences.sum(axis=1, dtype=np.float64)
    mean, variance = _moments(differences, counted)
    variances = (
        variance,
        _moments(differences, together[:, None])[1][:, 0],
        _moments(of_all[:, None], counted)[1][0],
        _moments(of_all[:, None], together[:, None])[1][0, 0],
    )
    # A line of differences has a row's difference times what the coalition counts for a column in every cell.
    products = (differences @ differences.T).astype(np.float64) * (counted @ counted.T)
    return _Sample(mean, variances, shrinkage(products))


def _moments(
    left: NDArray[np.floating], right: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean of the products of every column of one with every column of the other, and the variance of that mean."""
    count = len(left)
    right = right.astype(left.dtype)
    mean = left.T @ right / count
    squares = (left**2).T @ right**2 / count
    return mean.astype(np.float64), np.maximum(squares - mean**2, 0.0).astype(np.float64) / (count - 1)


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
    """What part of the mean of independent noisy lines to take, and what part of its variance is then left.

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
    apart = products - np.diag(np.diag(products))
    pairs = count * (count - 1)
    square = max(float(apart.sum()) / pairs, 0.0)  # of the differences themselves
    doubt = math.sqrt(2.0 * float(np.sum(apart**2))) / pairs
    noise = (float(np.trace(products)) - float(products.sum()) / count) / pairs  # of the mean of the lines
    if noise <= 0.0:
        return 1.0, 0.0
    return square / (square + noise), (square + doubt) / (square + doubt + noise)
