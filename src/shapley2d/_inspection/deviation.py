"""How far entries are from what their row makes one expect, and what that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._inspection.findings import Expected
from shapley2d._inspection.forests import chances, mixed, row_chunks
from shapley2d._inspection.recipe import ALTERNATIVES, CHUNK_CELLS, RANGE
from shapley2d._inspection.stories import Scale, category_stories, number_stories

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._inspection.coding import Coded
    from shapley2d._inspection.forests import Bags
    from shapley2d._kernels.forest import Forest

_EMPTY, _NONE = -2, -1  # among the alternatives
_SCALE = 2.7  # two halves of a normal distribution, each 1.35 standard deviations long


@dataclass(frozen=True)
class Deviation:
    """How far the entries of a column are off, and what was expected; arrays of shape (n,)."""

    surprise: NDArray[np.float64]
    stories: NDArray[np.float64]
    distance: NDArray[np.float64]
    expected: Expected


def deviation(
    coded: Coded,
    forest: Forest | None,
    codes: NDArray[np.uint8],
    bags: Bags,
    *,
    plain: bool = False,
) -> Deviation:
    """Judge all entries of a column, some rows at a time.

    Parameters
    ----------
    coded : Coded
    forest : Forest or None
    codes : ndarray of shape (n, p)
    bags : Bags
    plain : bool
        Whether the surprise at a category is taken as it is, not above what is usual in its place.
    """
    if forest is None and coded.is_category:
        return _unpredicted(coded, plain=plain)
    scale = Scale.of(coded) if not coded.is_category and coded.filled > 1 else None
    size = max(1, min(CHUNK_CELLS // max(1, coded.n_bins), coded.bins.size))
    pieces = []
    for rows in row_chunks(coded.bins.size, size):
        predicted = chances(coded, forest, codes[rows], bags.seen[rows])
        predicted /= predicted.sum(axis=1, keepdims=True)
        pieces.append(_judge(coded, scale, predicted, rows, plain=plain))
    return _joined(pieces)


def _unpredicted(coded: Coded, *, plain: bool) -> Deviation:
    """A column of categories that nothing predicts, such as a key: the same is likely in every row.

    An entry is expected to be what it is, for want of anything better.
    """
    shares = mixed(coded.shares, coded.shares, coded.bins.size)
    shares /= shares.sum()
    own = shares[coded.bins]
    surprise = -np.log(own)
    if not plain:
        surprise = np.maximum(0.0, surprise - _entropy(shares[None])[0])
    alike = _category(coded, shares[None])
    n = coded.bins.size
    expected = Expected(
        coded.values.copy(),
        alternatives=None
        if alike.alternatives is None
        else np.repeat(alike.alternatives, n, axis=0),
        chances=None if alike.chances is None else np.repeat(alike.chances, n, axis=0),
    )
    return Deviation(surprise, category_stories(coded, own, coded.bins), np.zeros(n), expected)


def _judge(
    coded: Coded, scale: Scale | None, predicted: NDArray[np.float64], rows: slice, *, plain: bool
) -> Deviation:
    bins, values = coded.bins[rows], coded.values[rows]
    stray, empty = bins < 0, bins == coded.filled
    own = predicted[np.arange(bins.size), bins.clip(0)]
    own = np.where(
        stray, 0.1 / (coded.bins.size + 1), own
    )  # a kind of entry that is never predicted
    surprise = -np.log(own)
    stories = np.where(stray, surprise, category_stories(coded, own, bins.clip(0)))
    distance = np.zeros(bins.size)
    if coded.is_category:
        if not plain:
            surprise = np.maximum(0.0, surprise - _entropy(predicted))
    elif coded.has_empty:
        nothing = predicted[:, -1]
        usual = _entropy(np.column_stack([nothing, 1 - nothing]))
        surprise = np.where(empty, np.maximum(0.0, surprise - usual), surprise)
    if scale is not None:
        there = np.flatnonzero(~stray & ~empty)
        if not (coded.graded and coded.filled <= 2):
            stories[there] = number_stories(
                coded, scale, values[there], bins[there], predicted[there]
            )
        # a wide bin that is expected makes no entry of it far off
        distance[there] = (1 - own[there]) * _distance(
            coded, values[there], predicted[there, : coded.filled]
        )
    expected = _category(coded, predicted) if coded.is_category else _number(coded, predicted)
    return Deviation(surprise, stories, distance, expected)


def _entropy(predicted: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = predicted * np.log(predicted)
    return np.asarray(-np.where(predicted > 0, terms, 0.0).sum(axis=1))


def _distance(
    coded: Coded, values: NDArray[np.float64], predicted: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How many spreads a number is from the middle of the shortest stretch that holds half of what is expected."""
    middle, length = shortest_half(predicted, coded.centres)
    spread = (length + _own_half(coded.ordered)) / _SCALE
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        off = np.abs(values - middle) / spread
    return np.asarray(np.log1p(np.where(spread > 0, off, 0.0).clip(max=1e100)))


def _own_half(ordered: NDArray[np.float64]) -> float:
    """The shortest stretch that holds half of a column; where it is a point, another measure of spread."""
    half = ordered.size // 2
    shortest = float((ordered[half:] - ordered[: ordered.size - half]).min())
    return shortest or float(np.subtract(*np.percentile(ordered, [75, 25]))) or float(ordered.std())


def shortest_half(
    predicted: NDArray[np.float64], centres: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Middle and length of the shortest stretch from one bin's centre to another's that holds half, in every row."""
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


def _number(coded: Coded, predicted: NDArray[np.float64]) -> Expected:
    """The median and the range of what is expected; nothing where the cell is likelier empty."""
    if not coded.filled:
        nothing = np.full(len(predicted), np.nan)
        return Expected(nothing, nothing.copy(), nothing.copy())
    upto = np.cumsum(predicted[:, : coded.filled], axis=1)
    low, entry, high = (_quantile(coded, upto, q) for q in (RANGE[0], 0.5, RANGE[1]))
    if coded.has_empty:
        entry = np.where(predicted[:, -1] > 0.5, np.nan, entry)
    return Expected(entry, low, high)


def _quantile(coded: Coded, upto: NDArray[np.float64], q: float) -> NDArray[np.float64]:
    """An entry of the column below which this share of the expected ones lie."""
    goal = q * upto[:, -1]
    at = (upto < goal[:, None]).sum(axis=1).clip(max=coded.filled - 1)
    rows = np.arange(len(upto))
    before = np.where(at > 0, upto[rows, at - 1], 0.0)
    inside = (goal - before) / (upto[rows, at] - before)
    counts = coded.starts[at + 1] - coded.starts[at]
    place = coded.starts[at] + np.minimum((inside * counts).astype(np.int64), counts - 1)
    return np.asarray(coded.ordered[place])


def _category(coded: Coded, predicted: NDArray[np.float64]) -> Expected:
    """The likeliest categories."""
    k = min(ALTERNATIVES, coded.n_bins)
    likeliest = (
        np.argsort(-predicted, axis=1, kind="stable")[:, :k]
        if coded.n_bins <= 64
        else _first(predicted, k)
    )
    alternatives = np.full((len(predicted), ALTERNATIVES), _NONE, dtype=np.int32)
    likelihood = np.zeros((len(predicted), ALTERNATIVES), dtype=np.float32)
    names = np.append(coded.distinct, np.nan)  # an empty cell is behind the others
    entries = names[likeliest]
    alternatives[:, :k] = np.where(np.isnan(entries), _EMPTY, entries)
    likelihood[:, :k] = np.take_along_axis(predicted, likeliest, axis=1)
    return Expected(entries[:, 0], None, None, alternatives, likelihood)


def _first(predicted: NDArray[np.float64], k: int) -> NDArray[np.intp]:
    """Positions of the k largest in every row, the largest first."""
    some = np.argpartition(-predicted, k, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(predicted, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)


def _joined(pieces: list[Deviation]) -> Deviation:
    if len(pieces) == 1:
        return pieces[0]

    def join(parts: list[Any]) -> Any:
        return None if parts[0] is None else np.concatenate(parts)

    off, names = (
        ("surprise", "stories", "distance"),
        ("entries", "low", "high", "alternatives", "chances"),
    )
    expected = {name: join([getattr(piece.expected, name) for piece in pieces]) for name in names}
    return Deviation(
        **{name: join([getattr(piece, name) for piece in pieces]) for name in off},
        expected=Expected(**expected),
    )
