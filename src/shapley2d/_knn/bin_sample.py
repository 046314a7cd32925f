"""Differences between two forms of row values on a sample of column subsets and validation rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.in_threads import map_in_threads

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.row_values import RowValues
    from shapley2d._theory.sums import BlockSums

    Weights = tuple[NDArray[np.float64], NDArray[np.float64]]

MAX_SAMPLE = 1024
"""Where doubling the sample ends, if it is not too large for the memory before."""

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


def most_stored(most: int, n_rows: int) -> int:
    """Subsets that a sample may have, within what may be kept of their differences."""
    return min(most, MAX_SAMPLE, _STORE_BYTES // (n_rows * np.dtype(np.float32).itemsize))


class BinSample(NamedTuple):
    """What subsets count for every column, differences of rows under them, and variances.

    ``of_all`` has the sums of the differences over all rows: 0 to rounding where rows share what
    there is to share, which single precision would not show. Variances of cells and of row sums are
    means over all of them, and ``row_square`` is the mean square of the differences of row sums, at
    most; ``known`` is the part of the mean to take out, ``unknown`` the part of its variance that
    is left then.
    """

    counted: NDArray[np.float64]
    differences: NDArray[np.float32]
    of_all: NDArray[np.float64]
    cell_variance: float
    row_variance: float
    row_square: float
    column_variances: NDArray[np.float64]
    total_variance: float
    known: float
    unknown: float

    @property
    def row_left(self) -> float:
        """The variance that is left in row sums, where all columns may count alike.

        These can have more of the differences than cells. Neither of two estimates is good where
        few differences are large: it is the wider one.
        """
        taken = self.known**2 * self.row_variance + (1 - self.known) ** 2 * self.row_square
        return max(self.unknown * self.row_variance, _LONG_TAIL**2 * taken)

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
        """Covariance of the errors of the mean in further sums of the cells of these rows."""
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


def grown_sample(
    binned: RowValues,
    ranked: RowValues,
    weights: Weights,
    random: np.random.Generator,
    start: tuple[int, int],
    report: Callable[[float], None],
    most: int,
    wanted: float,
) -> BinSample:
    """A sample, doubled until it leaves the wanted variance of a cell or is as large as allowed.

    ``start``: column subsets at first, and validation rows for each.
    """
    count, rows_each = start
    most = most_stored(most, binned.n_rows)
    differences = np.empty((count, binned.n_rows), dtype=np.float32)
    counted, of_all = _draw(binned, ranked, weights, random, rows_each, differences, report)
    sample = judge_sample(counted, differences, of_all)
    while sample.unknown * sample.cell_variance > wanted and 2 * count <= most:
        # the first half is freed before the second is written: no more is held than at the end
        larger = np.empty((2 * count, binned.n_rows), dtype=np.float32)
        larger[:count] = differences
        differences = larger
        del sample
        more = _draw(binned, ranked, weights, random, rows_each, differences[count:], report)
        counted = np.concatenate([counted, more[0]])
        of_all = np.concatenate([of_all, more[1]])
        sample = judge_sample(counted, differences, of_all)
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
    # threads have coalitions each, not rows of one
    alone = ranked.on_one_thread(), binned.on_one_thread()

    def draw(k: int) -> None:
        exact, fast = (phi.values(coalitions[k : k + 1], valid=some[k])[0] for phi in alone)
        differences[k] = exact - fast
        of_all[k] = (exact - fast).sum()

    drawn = map_in_threads(draw, range(count), binned.n_threads)
    for done, _ in enumerate(drawn, start=1):
        report(done / count)
    return counted, of_all


def judge_sample(
    counted: NDArray[np.float64], differences: NDArray[np.float32], of_all: NDArray[np.float64]
) -> BinSample:
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
    return BinSample(
        counted,
        differences,
        of_all,
        noise_of_mean(products) / (n * counted.shape[1]),
        noise_of_mean(of_sums) / n,
        _square_at_most(of_sums) / n,
        np.asarray(columns.var(axis=0) / (count - 1)),
        float((of_all * together).var() / (count - 1)),
        known,
        _LONG_TAIL**2 * unknown,
    )


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
    """Mean square at the upper end of what the lines leave possible."""
    apart = products - np.diag(np.diag(products))
    pairs = len(products) * (len(products) - 1)
    return _square(products) + _DOUBTS * math.sqrt(2.0 * float(np.sum(apart**2))) / pairs
