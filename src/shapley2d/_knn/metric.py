"""How far apart two entries of a column are, as integers that add up exactly.

A distance over columns of numbers and categories is a sum over columns, as in Gower (1971,
doi:10.2307/2528823).

``metric="auto"``
    Columns count alike, whatever they hold.

    - *Numbers and dates*: measured from the median in units of the interquartile range (the normal
      distribution's, so that a unit is a standard deviation there; of the median deviation of the
      entries that deviate at all where that range is empty, as in a column of mostly zeros), cut at
      three units so that a heavy tail cannot drown the rest, squared, and scaled so that two random
      training rows are 1 apart on average.
    - *Categories and booleans*: 0 if equal, 1 if not. A category that training never shows differs
      from all.
    - *Missing entries*: as far from any entry, missing or not, as two random training rows are on
      average.

``metric="sqeuclidean"``
    Squared differences of the raw numbers, as in the paper. A missing entry is twice the variance
    of the column away from any other.

    Where columns of very different ranges lie on no common grid, they share one resolution, a part
    of the largest range. A column that is too small for it would vanish; then columns are divided
    by scale, and the distance is a number with a digit per scale: smaller columns decide between
    rows that are equally far in the larger ones, which is all that they could do in floating point
    either, and where they are alone they count in full.

All of this comes from the training rows; a validation row is coded by itself.

A column whose numbers lie on a grid (whole numbers, cents, standardised counts: see
:mod:`shapley2d._knn.grid`) is counted in steps of that grid. What a step counts is a fraction, from
sums of whole numbers, and :mod:`shapley2d._knn.whole_weights` finds whole numbers that compare as
those fractions do, so that distances that are equal tie and others keep their order. Where the cut
of ``"auto"`` falls between two numbers of the grid, it is at the outer one. Numbers on no grid are
rounded as finely as 62 bits allow.

To add a metric, write a function that codes two tables and add it to ``METRICS``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.in_threads import map_columns
from shapley2d._base.robust import NORMAL_IQR, centre_and_spread
from shapley2d._base.warnings import warn
from shapley2d._base.words import one_of
from shapley2d._knn.distances import CodedColumn, IntegerColumns, pack
from shapley2d._knn.grid import Grid, find_grid, present, sorted_sum
from shapley2d._knn.measured import ROOM, NominalColumn, NumberColumn, Scale, find_scale
from shapley2d.exceptions import InputError, InputWarning, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._tables.table import Column, Table

_CUT = 3.0  # robust standard deviations at which numbers are cut: 0.3 % of a normal column
_NOTICED = 1e-3  # share of distinct numbers that count as equal: warn beyond it
_MOST_STEPS = 2.0**30  # of a column: squares of steps must leave room for weights
_A_LITTLE = 1 + 1e-9  # so that rounding does not decide whether a number is within the window
_FAR = 2.0**44  # steps; what is farther out will be cut

# Of metric="sqeuclidean". Room is kept for validation entries up to a range beyond the training
# entries; they are cut there if there is no more.
_BEYOND = 1
_SIMPLE = 1000  # largest denominator of the ratio of two steps
_SAME_STEP = 2.0**-44  # relative error of a step that was found by rounding
# Where columns of very different ranges share 62 bits:
_FEWEST_LEVELS = 2.0**12  # a column with fewer places would nearly vanish
_MOST_SCALES = 3  # 20 bits each
_LARGE_RATIO = 2.0**12  # between the ranges of two columns, for a cut between scales


def integer_columns(
    train: Table, valid: Table, metric: str = "auto", *, tells: bool = True
) -> IntegerColumns:
    """Code a training and a validation table for integer distances.

    Parameters
    ----------
    train, valid : Table
        Tables with the same columns (see :func:`shapley2d._tables.kinds.match_columns`).
    metric : {"auto", "sqeuclidean"}
    tells : bool
        Whether to look for columns that lose digits and warn of them: once for all folds.

    Returns
    -------
    IntegerColumns

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> table = as_table([[1.5, 3], [2.0, 4]])
    >>> columns = integer_columns(table, table, "sqeuclidean")
    >>> (columns.distances(0, np.array([True, True])) / columns.unit).tolist()
    [0.0, 1.25]
    """
    if metric not in METRICS:
        raise InputError(Setting("metric", metric), f" is not known: use {one_of(tuple(METRICS))}")
    check_metric(metric, train)
    columns = METRICS[metric].code(train, valid)
    if tells and metric == "auto":
        _tell_of_lost_digits(train, columns)
    return columns


def check_metric(metric: str, table: Table) -> None:
    """Refuse text where the metric takes the differences of numbers."""
    if METRICS[metric].takes_text:
        return
    for column in table.columns:
        if column.kind == "category":
            raise InputError(
                Setting("metric", metric),
                f" takes numbers only, but column {column.name!r} holds text: use ",
                Setting("metric", "auto"),
                " or drop the column",
            )


class Metric(NamedTuple):
    """How a training and a validation table are coded."""

    code: Callable[[Table, Table], IntegerColumns]
    takes_text: bool


def _auto(train: Table, valid: Table) -> IntegerColumns:
    """Code tables so that all columns count alike."""
    pairs = list(zip(train.columns, valid.columns, strict=True))
    measured = map_columns(
        lambda pair: (_nominal if pair[0].kind in ("category", "boolean") else _robust)(*pair),
        pairs,
        train.n_rows,
    )
    scale = find_scale(measured)
    return pack([column.coded(scale) for column in measured], scale.unit)


def _nominal(train: Column, valid: Column) -> NominalColumn:
    codes = train.entries[~np.isnan(train.entries)].astype(np.intp)
    counts = np.bincount(codes) if codes.size else np.array([], dtype=np.intp)
    # the chance that two random training rows differ
    alike = sum(int(count) ** 2 for count in counts)
    missing = 1 - Fraction(alike, codes.size**2) if codes.size else Fraction(1)
    return NominalColumn(train.name, train.entries, valid.entries, missing)


def _robust(train: Column, valid: Column) -> NumberColumn:
    """Numbers cut at three units, at the scale at which two random rows are 1 apart."""
    there = present(train.entries)
    column = NumberColumn(train.name, train.entries, valid.entries, cuts=True)
    if not there.size or there[0] == there[-1]:
        return column
    centre, spread = centre_and_spread(there)
    reach = _CUT * spread
    # one absurd number must not coarsen all others, so what lies well beyond the cut has no part in
    # the grid
    window = (centre - 2 * reach * _A_LITTLE, centre + 2 * reach * _A_LITTLE)
    grid = find_grid(np.unique(there[(there >= window[0]) & (there <= window[1])]), _MOST_STEPS)
    if grid is None:
        lowest, highest = centre - reach, centre + reach
        places = (np.clip(there, lowest, highest) - centre) / reach
        mean = sorted_sum(places) / places.size
        variance = sorted_sum((places - mean) ** 2) / places.size
        return replace(
            column,
            grid=Grid(centre, reach, Fraction(reach), 1, 0.0),
            is_whole=False,
            weight=1 / (2 * Fraction(variance)),
            missing=Fraction(1),
            lowest=lowest,
            highest=highest,
            farthest=2.0,
        )
    steps = np.clip(grid.places(there), -_FAR, _FAR).astype(np.int64)
    # cut at the nearest numbers of the grid beyond three units
    middle, unit = _exact_middle(steps)
    lowest, highest = math.floor(middle - unit), math.ceil(middle + unit)
    steps = np.clip(steps, lowest, highest)
    return replace(
        column,
        grid=grid,
        weight=1 / (2 * variance_of_whole(steps)),
        missing=Fraction(1),
        lowest=float(lowest),
        highest=float(highest),
        # validation entries reach up to the cut, if there is room; as far as a range beyond anyway
        farthest=float(
            max(
                min(highest, 2 * steps[-1] - steps[0]) - steps[0],
                steps[-1] - max(lowest, 2 * steps[0] - steps[-1]),
            )
        ),
    )


def _exact_middle(steps: NDArray[np.int64]) -> tuple[Fraction, Fraction]:
    """The median of sorted whole numbers and three robust standard deviations, in fractions.

    Examples
    --------
    >>> _exact_middle(np.array([0, 0, 0, 0, 0, 0, 0, 0, 1, 4]))
    (Fraction(0, 1), Fraction(15, 2))
    """

    def quarter(k: int) -> Fraction:
        place, rest = divmod((steps.size - 1) * k, 4)
        here, there = int(steps[place]), int(steps[min(place + 1, steps.size - 1)])
        return here + Fraction((there - here) * rest, 4)

    low, centre, high = quarter(1), quarter(2), quarter(3)
    if low != high:
        return centre, int(_CUT) * (high - low) / Fraction(NORMAL_IQR)
    off = np.sort(np.abs(2 * steps - int(2 * centre)))
    off = off[off > 0]
    half = (off.size - 1) // 2, off.size // 2
    return centre, int(_CUT) * Fraction(int(off[half[0]]) + int(off[half[1]]), 4)


def variance_of_whole(numbers: NDArray[np.int64]) -> Fraction:
    """The variance of whole numbers below 2^45 in size, exactly.

    Examples
    --------
    >>> variance_of_whole(np.array([0, 1, 1]))
    Fraction(2, 9)
    """
    numbers = numbers - numbers.min()
    # in two digits, whose products do not overflow when they are added up
    high, low = numbers >> 23, numbers & (2**23 - 1)
    size = numbers.size
    total = int(numbers.sum())
    squares = (int(high @ high) << 46) + (int(high @ low) << 24) + int(low @ low)
    return Fraction(size * squares - total**2, size**2)


def _tell_of_lost_digits(train: Table, columns: IntegerColumns) -> None:
    def loses(j: int) -> bool:
        numbers = _n_distinct(present(columns.unrounded[j].train))
        codes = _n_distinct(np.sort(columns.train[j][columns.train[j] != columns.missing_code]))
        return numbers - codes > _NOTICED * numbers

    looked = [j for j, true in columns.unrounded.items() if not true.nominal]
    found = map_columns(loses, looked, train.n_rows)
    names = [repr(train.columns[j].name) for j, lost in zip(looked, found, strict=True) if lost]
    if not names:
        return
    one, first = len(names) == 1, names[0]
    warn(
        InputWarning(
            f"{f'column {first} has' if one else f'columns {_few(names)} have'} numbers that "
            "differ by less than distances can resolve, next to others that are far apart: those "
            f"count as equal. Round {'it' if one else 'them'}, or transform "
            f"{'it (its logarithm, its ranks)' if one else 'them (logarithms, ranks)'}"
        )
    )


def _few(names: list[str]) -> str:
    """Some names in words.

    Examples
    --------
    >>> _few(["a", "b"]), _few(list("abcde"))
    ('a and b', 'a, b, c and 2 more')
    """
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} more"]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _n_distinct(ordered: NDArray[np.generic]) -> int:
    """How many different numbers there are in a sorted array."""
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + 1 if ordered.size else 0


def _raw(train: Table, valid: Table) -> IntegerColumns:
    """Code tables of numbers for squared Euclidean distances."""
    columns = [_plain(t, v) for t, v in zip(train.columns, valid.columns, strict=True)]
    columns = _with_common_steps(columns)
    scale = find_scale(columns)
    coded = [column.coded(scale) for column in columns]
    starved = [
        column
        for column, code in zip(columns, coded, strict=True)
        if column.weight and not code.exact and _levels(column, scale) < _FEWEST_LEVELS
    ]
    if starved:
        coded = _by_scale(columns, starved, scale)
    return pack(coded, scale.unit)


def _plain(train: Column, valid: Column) -> NumberColumn:
    """Numbers as they are."""
    there = np.unique(present(train.entries))
    column = NumberColumn(train.name, train.entries, valid.entries, cuts=False)
    gaps = bool(np.isnan(train.entries).any())
    if not there.size or (there.size == 1 and not gaps):
        return column
    grid = find_grid(there, _MOST_STEPS)
    present_entries = present(train.entries)
    if grid is None:
        low, extent = float(there[0]), float(there[-1] - there[0]) or 1.0
        grid = Grid(low + extent / 2, extent, Fraction(extent), 1, 0.0)
        places = (present_entries - grid.origin) / extent
        mean = sorted_sum(places) / places.size
        variance = Fraction(sorted_sum((places - mean) ** 2) / places.size)
        whole, steps = False, 1.0
    else:
        codes = grid.places(present_entries).astype(np.int64)
        variance, whole, steps = variance_of_whole(codes), True, float(codes[-1]) or 1.0
    weight = grid.exact_step**2
    return replace(
        column,
        grid=grid,
        is_whole=whole,
        weight=weight,
        missing=2 * variance * weight,
        farthest=steps * (1 + _BEYOND),
    )


def _with_common_steps(columns: list[NumberColumn]) -> list[NumberColumn]:
    """Steps found by rounding, as simple multiples of another column's if they are nearly that."""
    known = [c for c in columns if c.is_whole and c.weight]
    known.sort(key=lambda c: (Fraction(c.grid.step) == c.grid.exact_step, -c.grid.step))
    if not known:
        return columns
    one = known[0].grid.exact_step
    common = []
    for column in columns:
        step = column.grid.exact_step
        ratio = step / one
        simple = max(ratio, 1 / ratio).limit_denominator(_SIMPLE)
        simple = simple if ratio >= 1 else 1 / simple
        rounded = column.is_whole and column.weight and step == Fraction(column.grid.step)
        if rounded and abs(simple / ratio - 1) < _SAME_STEP:
            exact = one * simple
            column = replace(  # noqa: PLW2901
                column,
                grid=column.grid._replace(exact_step=exact),
                weight=exact**2,
                missing=column.missing / column.weight * exact**2,
            )
        common.append(column)
    return common


def _levels(column: NumberColumn, scale: Scale) -> float:
    """Between how many places the training entries of a column lie, in the code."""
    return column.farthest / (1 + _BEYOND) * math.sqrt(scale.unit * column.weight)


def _by_scale(
    columns: list[NumberColumn], starved: list[NumberColumn], scale: Scale
) -> list[CodedColumn]:
    """Code columns by the size of their numbers, so that small ones do not vanish.

    The distance is a number with a digit for each size: smaller columns decide between rows that
    are equally far in the larger ones.
    """
    largest = max(columns, key=_range)
    names = ", ".join(repr(column.name) for column in starved)
    warn(
        InputWarning(
            f"differences in {names} are too small to count beside those in "
            f"{largest.name!r} under ",
            Setting("metric", "sqeuclidean"),
            ": they decide only between rows that are equally far otherwise. Rescale the columns, "
            "or use ",
            Setting("metric", "auto"),
            ", under which all count alike",
        )
    )
    ordered = sorted(columns, key=_range)
    ranges = [_range(column) for column in ordered]
    ratios = {k: ranges[k] / ranges[k - 1] for k in range(1, len(ranges)) if ranges[k - 1]}
    cuts = sorted(ratios, key=lambda k: ratios[k], reverse=True)[: _MOST_SCALES - 1]
    cuts = sorted(k for k in cuts if ratios[k] >= _LARGE_RATIO or k == cuts[0])
    parts = [ordered[i:j] for i, j in zip([0, *cuts], [*cuts, len(ordered)], strict=True)]
    coded: dict[int, CodedColumn] = {}
    below = 1
    for part in parts:  # from the smallest on
        room = int(ROOM ** (1 / len(parts)))
        own = find_scale(part, room)
        for column in part:
            code = column.coded(own._replace(room=Fraction(0)))
            # what it stands for, in the unit of all
            factor = scale.unit / own.unit
            true = replace(
                code.true,
                weight=code.true.weight * factor,
                missing=code.true.missing * factor,
            )
            coded[id(column)] = replace(
                code,
                weight=code.weight * below,
                missing=code.missing * below,
                true=true,
                exact=False,
            )
        below *= room
    return [coded[id(column)] for column in columns]


def _range(column: NumberColumn) -> Fraction:
    return Fraction(column.farthest) * column.grid.exact_step if column.weight else Fraction(0)


METRICS = {"auto": Metric(_auto, takes_text=True), "sqeuclidean": Metric(_raw, takes_text=False)}
