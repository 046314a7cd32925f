"""How far entries are from their predicted distribution, and what that distribution expects.

Two stories compete to explain an entry. It belongs to its row: drawn from what the forest expects
there. Or it is an error: half the time another entry of the column, such as a swap, half the time
anything, that is any category alike or a number from a wide distribution with heavy tails. Their
log-likelihood ratio is part of the score.

Numbers are compared by kernel densities, on a scale that draws far ones together: asinh of the
distance from the median in robust standard deviations. A number that many rows share has a
probability mass instead, as a category has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.robust import NORMAL_IQR, centre_and_spread
from shapley2d._inspection.cells import EMPTY, NO_ALTERNATIVE, Expected
from shapley2d._inspection.columns.finding import RARE
from shapley2d._inspection.forests import FLOOR_MIXED, chances, mixed, row_chunks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._inspection.binning import BinnedColumn
    from shapley2d._inspection.kernels.forest import Forest

_WIDE = 3.0
"""Half width of the Cauchy distribution of numbers that may be anything, on the asinh scale."""

_NARROWEST = 0.01  # least distance of two kernels, on the asinh scale

_ALTERNATIVES = 3  # likeliest categories that are kept
_LEAST = float(np.finfo(np.float64).tiny)  # of a density whose logarithm is taken


@dataclass(frozen=True)
class Deviation:
    """How far the entries of a column are off, and what was expected; arrays of shape (n,).

    ``surprise`` is the negative log-likelihood of the entry, ``stories`` the log-likelihood ratio
    of an error and of belonging to the row, ``distance`` the logarithm of how many spreads a number
    is off.
    """

    surprise: Floats
    stories: Floats
    distance: Floats
    expected: Expected


def deviation(
    column: BinnedColumn,
    forest: Forest | None,
    codes: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    *,
    plain: bool = False,
) -> Deviation:
    """Judge all entries of a column, some rows at a time.

    ``seen`` tells which trees have learned from each row. ``plain`` takes the surprise at a
    category itself, not only what exceeds the usual one.
    """
    if forest is None and column.is_category:
        return _unpredicted(column, plain=plain)
    scale = Scale.of(column) if not column.is_category and column.filled > 1 else None
    pieces = []
    for rows in row_chunks(column.bins.size, column.n_bins):
        predicted = chances(column, forest, codes[rows], seen[rows])
        predicted /= predicted.sum(axis=1, keepdims=True)
        pieces.append(_judge(column, scale, predicted, rows, plain=plain))
    joined: Deviation = _joined(pieces)
    return joined


def _unpredicted(column: BinnedColumn, *, plain: bool) -> Deviation:
    """A column of categories that nothing predicts, such as a key: each row has its shares.

    The entry itself is what is expected.
    """
    n = column.bins.size
    shares = mixed(column.shares, column.shares, column.known)
    shares /= shares.sum()
    own = np.where(column.bins < 0, FLOOR_MIXED / (column.known + 1), shares[column.bins])
    surprise = -np.log(own)
    if not plain:
        surprise = np.maximum(0.0, surprise - _entropy(shares[None])[0])
    usual = _category(column, shares[None])
    repeated = (np.repeat(getattr(usual, name), n, axis=0) for name in ("alternatives", "chances"))
    expected = Expected(column.values.copy(), None, None, *repeated)
    stories = category_stories(column, own, column.bins)
    if column.is_free:  # that a remark is there is no evidence against it
        surprise[column.bins < column.filled] = stories[column.bins < column.filled] = 0.0
    return Deviation(surprise, stories, np.zeros(n), expected)


def _judge(
    column: BinnedColumn, scale: Scale | None, predicted: Floats, rows: slice, *, plain: bool
) -> Deviation:
    """Compare the entries of some rows with their predicted distributions."""
    bins, values = column.bins[rows], column.values[rows]
    stray, empty = bins < 0, bins == column.filled
    own = predicted[np.arange(bins.size), bins.clip(0)]
    # what has no bin is never predicted: as unlikely as FLOOR_MIXED makes an unseen bin
    own = np.where(stray, FLOOR_MIXED / (column.known + 1), own)
    surprise = -np.log(own)
    stories = category_stories(column, own, bins)
    if not column.is_category:  # text among numbers
        stories = np.where(stray & np.isnan(values), surprise, stories)
    distance = np.zeros(bins.size)
    if column.is_category:
        if not plain:
            surprise = np.maximum(0.0, surprise - _entropy(predicted))
    elif column.has_empty:
        nothing = predicted[:, -1]
        usual = _entropy(np.column_stack([nothing, 1 - nothing]))
        surprise = np.where(empty, np.maximum(0.0, surprise - usual), surprise)
    if scale is not None:
        there = np.flatnonzero(~np.isnan(values))
        if not (column.graded and column.filled <= 2):
            stories[there] = number_stories(
                column, scale, values[there], bins[there], predicted[there]
            )
        # a wide bin that is expected makes no entry of it far off
        distance[there] = (1 - own[there]) * _distance(
            column, values[there], predicted[there, : column.filled]
        )
    expected = _category(column, predicted) if column.is_category else _number(column, predicted)
    return Deviation(surprise, stories, distance, expected)


def _entropy(predicted: Floats) -> Floats:
    """The entropy of every row's distribution: its mean negative log-likelihood."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = predicted * np.log(predicted)
    return np.asarray(-np.where(predicted > 0, terms, 0.0).sum(axis=1))


def _distance(column: BinnedColumn, values: Floats, predicted: Floats) -> Floats:
    """The log of how many spreads a number is from the middle of what is expected.

    Middle and spread are those of the shortest half of the distribution (the shorth, Andrews et al.
    1972), the spread averaged with the column's own.
    """
    middle, length = shortest_half(predicted, column.centres)
    spread = (length + _own_half(column.ordered)) / (2 * NORMAL_IQR)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        off = np.abs(values - middle) / spread
    return np.asarray(np.log1p(np.nan_to_num(np.where(spread > 0, off, 0.0))))


def _own_half(ordered: Floats) -> float:
    """Length of the shortest stretch that holds half of a column; a normal one's where it is 0."""
    half = ordered.size // 2
    shortest = float((ordered[half:] - ordered[: ordered.size - half]).min())
    return shortest or NORMAL_IQR * centre_and_spread(ordered)[1]


def shortest_half(predicted: Floats, centres: Floats) -> tuple[Floats, Floats]:
    """Middle and length of the shortest stretch between bins that holds half, in every row."""
    upto = np.cumsum(predicted, axis=1)
    upto /= upto[:, -1:]
    length, middle = np.full(len(upto), np.inf), np.full(len(upto), centres[0])
    before = np.zeros(len(upto))
    for first in range(centres.size):
        end = (upto < (before + 0.5 - 1e-9)[:, None]).sum(axis=1)
        reach = np.where(
            end < centres.size, centres[end.clip(max=centres.size - 1)] - centres[first], np.inf
        )
        shorter = reach < length
        length = np.where(shorter, reach, length)
        middle = np.where(shorter, centres[first] + reach / 2, middle)
        before = upto[:, first]
    return middle, length


def _number(column: BinnedColumn, predicted: Floats) -> Expected:
    """The median and the range of what is expected; NaN where the cell is likelier empty."""
    if not column.filled:
        nothing = np.full(len(predicted), np.nan)
        return Expected(nothing, nothing.copy(), nothing.copy())
    upto = np.cumsum(predicted[:, : column.filled], axis=1)
    low, entry, high = (_quantile(column, upto, q) for q in (0.1, 0.5, 0.9))
    if column.has_empty:
        entry = np.where(predicted[:, -1] > 0.5, np.nan, entry)
    return Expected(entry, low, high)


def _quantile(column: BinnedColumn, upto: Floats, q: float) -> Floats:
    """The entry of the column at a quantile of what is expected."""
    goal = q * upto[:, -1]
    at = (upto < goal[:, None]).sum(axis=1).clip(max=column.filled - 1)
    rows = np.arange(len(upto))
    before = np.where(at > 0, upto[rows, at - 1], 0.0)
    inside = (goal - before) / (upto[rows, at] - before)
    counts = column.starts[at + 1] - column.starts[at]
    place = column.starts[at] + np.minimum((inside * counts).astype(np.int64), counts - 1)
    return np.asarray(column.ordered[place])


def _category(column: BinnedColumn, predicted: Floats) -> Expected:
    k = min(_ALTERNATIVES, column.n_bins)
    likeliest = _largest(predicted, k)
    alternatives = np.full((len(predicted), _ALTERNATIVES), NO_ALTERNATIVE, dtype=np.int32)
    likelihood = np.zeros((len(predicted), _ALTERNATIVES), dtype=np.float32)
    names = np.append(column.distinct, np.nan)  # the bin of empty cells comes last
    entries = names[likeliest]
    alternatives[:, :k] = np.where(np.isnan(entries), EMPTY, entries)
    likelihood[:, :k] = np.take_along_axis(predicted, likeliest, axis=1)
    return Expected(entries[:, 0], None, None, alternatives, likelihood)


def _largest(predicted: Floats, k: int) -> Ints:
    """Positions of the k largest in every row, the largest and of equals the first one first."""
    left, found = predicted.copy(), np.empty((len(predicted), k), dtype=np.intp)
    for place in range(k):
        found[:, place] = left.argmax(axis=1)
        left[np.arange(len(left)), found[:, place]] = -1.0
    return found


def _joined(pieces: list[Any]) -> Any:
    """Deviations, or what they expect, one below the other."""
    first = pieces[0]
    if first is None or len(pieces) == 1:
        return first
    if isinstance(first, np.ndarray):
        return np.concatenate(pieces)
    return type(first)(*(_joined([vars(one)[name] for one in pieces]) for name in vars(first)))


@dataclass(frozen=True)
class Scale:
    """Kernels at the bins of a column of numbers, on the asinh scale.

    Each bin has a position and a width; ``atoms`` are those of one number that many rows share.
    """

    middle: float
    spread: float
    positions: Floats
    widths: Floats
    atoms: Bools

    @classmethod
    def of(cls, column: BinnedColumn) -> Scale:
        entries, centres = column.ordered, column.centres
        middle, spread = centre_and_spread(entries)
        positions = squash(centres, middle, spread)
        gaps = np.diff(positions)
        # every kernel is as wide as the gap to its nearer neighbour
        nearest = np.minimum(np.append(gaps, np.inf), np.insert(gaps, 0, np.inf))
        if centres.size > 2:
            nearest[0], nearest[-1] = gaps[:2].min(), gaps[-2:].min()
        counts = np.diff(column.starts)
        single = column.ordered[column.starts[:-1]] == column.ordered[column.starts[1:] - 1]
        return cls(
            middle,
            spread,
            positions,
            (0.25 if column.graded else 0.5) * np.maximum(nearest, _NARROWEST),
            single & (counts >= RARE * entries.size),
        )


def squash(entries: Floats, middle: float, spread: float) -> Floats:
    """Distances from the middle in spreads, with far ones drawn together."""
    with np.errstate(over="ignore"):
        return np.asarray(np.arcsinh(np.nan_to_num((entries - middle) / spread)))


def category_stories(column: BinnedColumn, own: Floats, bins: NDArray[np.int32]) -> Floats:
    """Log-likelihood of an error minus that of belonging, for bins without order.

    ``own`` is the predicted chance of each entry's bin.
    """
    error = 0.5 * np.where(bins < 0, 0.0, column.shares[bins]) + 0.5 / (column.n_bins + 1)
    return np.asarray(np.log(error) - np.log(own))


def number_stories(
    column: BinnedColumn, scale: Scale, values: Floats, bins: NDArray[np.int32], chances: Floats
) -> Floats:
    """Log-likelihood of an error minus that of belonging, for numbers in some rows."""
    rows = np.arange(values.size)
    place = squash(values, scale.middle, scale.spread)
    near = logistic_density((place[:, None] - scale.positions) / scale.widths) / scale.widths
    filled = column.filled
    belongs = np.einsum("ij,ij->i", chances[:, :filled], near)
    # einsum, as BLAS may round otherwise on other machines
    another = np.einsum("ij,j->i", near, column.shares[:filled])
    anything = 1 / (np.pi * _WIDE * (1 + (place / _WIDE) ** 2))
    mass = 1.0 / (column.n_bins + 1)
    new = bins < 0  # numbers without a bin, near which others may have one
    if new.any():
        nearest = np.abs(place[new, None] - scale.positions).argmin(axis=1)
        bins = bins.copy()
        bins[new] = nearest
    # a new number beside one that many rows share is not that number
    atom = scale.atoms[bins] & (values == column.centres[bins])
    if column.graded and scale.atoms.any():
        # few values, most of them frequent: the others have the mass of their kernel within a step
        step = 2 * scale.widths[bins]
        belongs, another = belongs * step, another * step
        anything = np.minimum(anything * step, mass)
    belongs = np.where(atom, chances[rows, bins], belongs)
    another = np.where(atom, column.shares[bins], another)
    if not column.graded:
        anything = np.where(atom, mass, anything)
    error = 0.5 * another + 0.5 * anything
    return np.asarray(np.log(error + _LEAST) - np.log(belongs + _LEAST))


def logistic_density(distance: Floats) -> Floats:
    fallen = np.exp(-np.abs(distance))
    return np.asarray(fallen / (1 + fallen) ** 2)
