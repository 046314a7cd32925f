"""How each entry of a column fits what its row predicts, and what is expected there.

Two stories compete to explain an entry. It belongs to its row: drawn from what the forest expects
there. Or it is an error: half the time another entry of the column, such as a swap, half the time
anything, that is any category alike or a number from a wide distribution with heavy tails.

Numbers are compared by kernel densities, on a scale that draws far ones together: asinh of the
distance from the median in robust standard deviations. A number that many rows share has a
probability mass instead, as a category has.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.robust import NORMAL_IQR, centre_and_spread
from shapley2d._inspection.cells import EMPTY, NO_ALTERNATIVE, Expected
from shapley2d._inspection.columns.far import beyond_in_tail
from shapley2d._inspection.columns.finding import RARE
from shapley2d._inspection.forests import FLOOR_MIXED, chances, row_chunks

if TYPE_CHECKING:
    from collections.abc import Sequence

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
class Prediction:
    """What a forest says of the entries of a column; arrays of shape (n,).

    ``surprise`` is the negative log-likelihood of the entry, of categories above what is usual in
    such rows; ``rivalled`` how much likelier the likeliest entry is; ``stories`` the log-likelihood
    ratio of an error and of belonging to the row; ``distance`` the logarithm of how many spreads a
    number is off; ``doubt`` the entropy of what is predicted, ``whole`` that
    of the column; ``in_tail`` are numbers of which the column's own tail puts about one or more as
    far out, unless their row contradicts them.
    """

    surprise: Floats
    rivalled: Floats
    stories: Floats
    distance: Floats
    doubt: Floats
    expected: Expected
    whole: float
    in_tail: Bools


def predict(
    column: BinnedColumn,
    forest: Forest | None,
    codes: NDArray[np.uint8],
    seen: NDArray[np.uint64],
    *,
    plain: bool = False,
) -> Prediction:
    """Judge all entries of a column, some rows at a time.

    ``seen`` tells which trees have learned from each row. ``plain`` takes the surprise at a
    category itself, not what exceeds the usual one.
    """
    if forest is None and column.is_category:  # such as a key: all rows have the same shares
        shares = chances(column, None, codes[:1], seen[:1])
        return _judge(column, shares / shares.sum(), slice(None), plain=plain, alone=True)
    pieces = []
    for rows in row_chunks(column.bins.size, column.n_bins):
        predicted = chances(column, forest, codes[rows], seen[rows])
        predicted /= predicted.sum(axis=1, keepdims=True)
        pieces.append(_judge(column, predicted, rows, plain=plain))
    said: Prediction = joined(pieces)
    there = np.flatnonzero((column.bins >= 0) & ~np.isnan(column.values))
    if there.size and not column.is_category:
        beyond = beyond_in_tail(column.ordered, column.values[there])
        # forests tell the share of a bin in such rows up to a factor of two
        usual = 2 * beyond * np.exp(-said.surprise[there]) >= column.shares[column.bins[there]]
        said.in_tail[there] = np.isfinite(beyond) & usual
    return said


def _judge(
    column: BinnedColumn, predicted: Floats, rows: slice, *, plain: bool, alone: bool = False
) -> Prediction:
    """Compare the entries of some rows with their predicted distributions, one line for each row.

    Or one line for all, where each is judged ``alone``: the entry itself is what is expected then.
    """
    bins, values = column.bins[rows], column.values[rows]
    lines = 0 if alone else np.arange(bins.size)
    # what has no bin is never predicted: as unlikely as FLOOR_MIXED makes an unseen bin
    own = np.where(bins < 0, FLOOR_MIXED / (column.known + 1), predicted[lines, bins.clip(0)])
    doubt = np.broadcast_to(-(predicted * np.log(predicted)).sum(axis=1), bins.shape)
    surprise = -np.log(own)
    if column.is_category and not plain:
        surprise = surprise - doubt
    rivalled = np.log(np.broadcast_to(predicted.max(axis=1), bins.shape)) - np.log(own)
    error = 0.5 * np.where(bins < 0, 0.0, column.shares[bins]) + 0.5 / (column.n_bins + 1)
    stories, distance = np.log(error) - np.log(own), np.zeros(bins.size)
    if not column.is_category and column.filled > 1:
        there = np.flatnonzero(~np.isnan(values))
        of_numbers = predicted[there, : column.filled]
        if not (column.graded and column.filled <= 2):
            about = (values[there], bins[there], of_numbers, own[there])
            stories[there] = _number_stories(column, *about)
        # a wide bin that is expected makes no entry of it far off
        distance[there] = (1 - own[there]) * _distance(column, values[there], of_numbers)
    elif column.is_free:  # that a remark is there is no evidence against it
        stories[bins < column.filled] = surprise[bins < column.filled] = 0.0
    expected = _category(column, predicted) if column.is_category else _number(column, predicted)
    if alone:
        several: Any = expected.take(np.zeros(bins.size, dtype=np.intp))
        expected = replace(several, entries=values.copy())
    shares = column.shares[column.shares > 0]
    whole = float(-(shares * np.log(shares)).sum())
    in_tail = np.zeros(bins.size, dtype=bool)
    return Prediction(surprise, rivalled, stories, distance, doubt, expected, whole, in_tail)


def joined(pieces: Sequence[Any]) -> Any:
    """Predictions, or what they expect, one below the other."""
    first = pieces[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(pieces)
    if not is_dataclass(first):  # the same of all
        return first
    held: Any = first
    names = [one.name for one in fields(held)]
    return replace(held, **{name: joined([getattr(one, name) for one in pieces]) for name in names})


def _distance(column: BinnedColumn, values: Floats, predicted: Floats) -> Floats:
    """The log of how many spreads a number is from the middle of what is expected.

    The spread is the mean of the predicted one and the column's own.
    """
    upto = np.cumsum(predicted, axis=1)
    upto /= upto[:, -1:]
    last = column.filled - 1
    low, middle, high = (
        column.centres[(upto < q).sum(axis=1).clip(max=last)] for q in (0.25, 0.5, 0.75)
    )
    spread = ((high - low) / NORMAL_IQR + centre_and_spread(column.ordered)[1]) / 2
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        off = np.where(spread > 0, np.abs(values - middle) / spread, 0.0)
    return np.asarray(np.log1p(np.nan_to_num(off)))


def _number_stories(
    column: BinnedColumn,
    values: Floats,
    bins: NDArray[np.int32],
    predicted: Floats,
    own: Floats,
) -> Floats:
    """Log-likelihood of an error minus that of belonging, for numbers in some rows."""
    middle, spread = centre_and_spread(column.ordered)
    place, kernels = (_squashed(one, middle, spread) for one in (values, column.centres))
    gaps = np.maximum(np.diff(kernels), _NARROWEST)
    # every kernel is as wide as the gap to its nearer neighbour
    nearest = np.minimum(np.append(gaps, np.inf), np.insert(gaps, 0, np.inf))
    widths = (0.25 if column.graded else 0.5) * nearest
    near = _logistic_density((place[:, None] - kernels) / widths) / widths
    # einsum, as BLAS may round otherwise on other machines
    belongs = np.einsum("ij,ij->i", predicted, near)
    another = np.einsum("ij,j->i", near, column.shares[: column.filled])
    anything = 1 / (np.pi * _WIDE * (1 + (place / _WIDE) ** 2))
    single = column.ordered[column.starts[:-1]] == column.ordered[column.starts[1:] - 1]
    atoms = np.append(single & (np.diff(column.starts) >= RARE * column.ordered.size), False)
    atom = atoms[bins]  # one number that many rows share
    belongs = np.where(atom, own, belongs)
    another = np.where(atom, column.shares[bins], another)
    anything = np.where(atom, 1 / (column.n_bins + 1), anything)
    error = 0.5 * another + 0.5 * anything
    return np.asarray(np.log(error + _LEAST) - np.log(belongs + _LEAST))


def _squashed(entries: Floats, middle: float, spread: float) -> Floats:
    """Distances from the middle in spreads, with far ones drawn together."""
    with np.errstate(over="ignore"):
        return np.asarray(np.arcsinh(np.nan_to_num((entries - middle) / spread)))


def _logistic_density(distance: Floats) -> Floats:
    fallen = np.exp(-np.abs(distance))
    return np.asarray(fallen / (1 + fallen) ** 2)


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
