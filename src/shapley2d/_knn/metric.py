"""How far apart two entries of a column are.

A distance over columns of numbers and categories is a sum over columns, as in Gower (1971,
doi:10.2307/2528823). This module takes a training and a validation table and gives their entries as
numbers, with what a difference counts in every column; :mod:`shapley2d._knn.fixed_point` makes
distances of them.

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

All of this comes from the training rows; a validation row is coded by itself.

To add a metric, write a function that measures a column and add it to ``METRICS``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.in_threads import map_columns
from shapley2d._base.robust import centre_and_spread
from shapley2d._base.warnings import warn_input
from shapley2d._base.words import one_of
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.table import Column, Table


_CUT = 3.0  # robust standard deviations at which numbers are cut: 0.3 % of a normal column
_NOTICED = 1e-3  # share of distinct numbers that count as equal: warn beyond it
_FARTHEST = 2.0**400  # times the largest training entry, whose square has room
_SMALLEST = 2.0**-900  # that a squared difference counts: a column this small decides where alone


@dataclass(frozen=True)
class Columns:
    """A training and a validation table as numbers, and how their columns are measured.

    ``train`` (m, n): numbers, or codes of categories; NaN where missing.
    ``nominal`` (m,): whether a column holds categories.
    ``weight`` (m,): what a squared difference of numbers counts, or two different categories do.
    ``missing`` (m,): how far a missing entry is from any other.
    """

    train: Floats
    valid: Floats
    nominal: Bools
    weight: Floats
    missing: Floats

    def take(self, columns: Ints) -> Columns:
        """Some of the columns."""
        return Columns(*(one[columns] for one in vars(self).values()))

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return int(self.train.shape[1])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.train)

    @property
    def n_valid(self) -> int:
        """Number of validation rows."""
        return int(self.valid.shape[1])


def measure(train: Table, valid: Table, metric: str = "auto", *, tells: bool = True) -> Columns:
    """Measure the columns of a training and a validation table.

    ``train, valid``: tables with the same columns (see
        :func:`shapley2d._tables.kinds.match_columns`).
    ``tells``: whether to warn of columns whose differences are too small: once for all folds.

    >>> from shapley2d._tables.convert import as_table
    >>> table = as_table([[1.0, "a"], [2.0, "b"], [4.0, "b"]])
    >>> columns = measure(table, table)
    >>> apart = columns.weight[0] * (columns.train[0][:, None] - columns.train[0]) ** 2
    >>> bool(abs(apart.mean() - 1) < 1e-12), columns.missing.round(3)
    (True, array([1.   , 0.444]))
    """
    if metric not in METRICS:
        raise InputError(f"metric={metric!r} is not known: use {one_of(tuple(METRICS))}")
    check_metric(metric, train)
    pairs = list(zip(train.columns, valid.columns, strict=True))
    found = map_columns(lambda pair: METRICS[metric](*pair), pairs, train.n_rows)
    # squares of numbers like 1e160 have no room: the largest count about 1
    largest = max((one.exponent for one in found if one.weight), default=0)
    factors = np.array([2.0 ** max(2 * (one.exponent - largest), -1000) for one in found])
    columns = Columns(
        np.array([one.train for one in found]).reshape(len(found), train.n_rows),
        np.array([one.valid for one in found]).reshape(len(found), valid.n_rows),
        np.array([one.nominal for one in found], dtype=np.bool_),
        np.array([one.weight for one in found]) * np.maximum(factors, _SMALLEST),
        np.array([one.missing for one in found]) * factors,
    )
    if tells:
        _tell_of_small_differences(columns, [column.name for column in train.columns], metric)
    return columns


def check_metric(metric: str, table: Table) -> None:
    """Refuse text where the metric takes the differences of numbers."""
    if metric == "auto":
        return
    for column in table.columns:
        if column.kind == "category":
            raise InputError(
                f"metric={metric!r} takes numbers only, but column {column.name!r} holds text: use "
                "metric='auto' or drop the column"
            )


def varying_columns(table: Table) -> Bools:
    """Whether the entries of each column differ, a missing one from others.

    >>> from shapley2d._tables.convert import as_table
    >>> varying_columns(as_table([[1, "a", None, 0], [1, "b", None, 0]]))
    array([False,  True, False, False])
    """
    entries = [column.entries for column in table.columns]
    same = [(one == one[0]) | (np.isnan(one) & np.isnan(one[0])) for one in entries]
    return np.array([not one.all() for one in same], dtype=np.bool_)


class _Measured(NamedTuple):
    """One column: its entries, and what they count times ``4^exponent``."""

    train: Floats
    valid: Floats
    weight: float = 0.0
    missing: float = 0.0
    nominal: bool = False
    exponent: int = 0


def _alike(train: Column, valid: Column) -> _Measured:
    """A column that counts as any other."""
    if train.kind in ("category", "boolean"):
        codes = train.entries[~np.isnan(train.entries)].astype(np.intp)
        shares = np.bincount(codes) / max(codes.size, 1)
        # the chance that two random training rows differ
        missing = 1.0 - float(shares @ shares) if codes.size else 1.0
        return _Measured(train.entries, valid.entries, 1.0, missing, nominal=True)
    there = np.sort(train.entries[~np.isnan(train.entries)])
    if not there.size or there[0] == there[-1]:
        return _Measured(train.entries, valid.entries)
    # numbers like 5e-324 or 1e300 keep their digits in squares
    centre, spread = centre_and_spread(there)
    exponent = math.frexp(max(abs(centre), spread))[1]
    centre, reach = math.ldexp(centre, -exponent), _CUT * math.ldexp(spread, -exponent)

    def cut(entries: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return np.clip(np.ldexp(entries, -exponent), centre - reach, centre + reach)

    return _Measured(cut(train.entries), cut(valid.entries), 0.5 / _variance(cut(there)), 1.0)


def _raw(train: Column, valid: Column) -> _Measured:
    """Numbers as they are."""
    there = np.sort(train.entries[~np.isnan(train.entries)])
    if not there.size:
        return _Measured(train.entries, valid.entries)
    exponent = math.frexp(float(np.abs(there).max()))[1]
    with np.errstate(over="ignore"):
        entries, others = np.ldexp(train.entries, -exponent), np.ldexp(valid.entries, -exponent)
    others = np.clip(others, -_FARTHEST, _FARTHEST)
    variance = _variance(np.ldexp(there, -exponent))
    return _Measured(entries, others, 1.0, 2.0 * variance, exponent=exponent)


def _variance(ordered: Floats) -> float:
    """The variance of sorted numbers: the same for any order of the rows."""
    return float(np.square(ordered - ordered.mean()).mean())


def _tell_of_small_differences(columns: Columns, names: list[str], metric: str) -> None:
    """Warn of numbers that no distance can tell apart, alone or beside other columns."""
    resolved = 2.0**-40  # see :mod:`shapley2d._knn.fixed_point`

    def look(j: int) -> tuple[float, bool]:
        there = np.unique(columns.train[j][~np.isnan(columns.train[j])])
        if columns.nominal[j] or there.size < 2:
            return 0.0, False
        extent = float(there[-1] - there[0])
        lost = np.count_nonzero(np.diff(there) < resolved * extent)
        return float(columns.weight[j]) * extent**2, bool(lost > _NOTICED * there.size)

    found = map_columns(look, range(columns.n_columns), columns.n_rows)
    largest = max((extent for extent, _ in found), default=0.0)
    small = [
        repr(names[j]) for j, (extent, _) in enumerate(found) if 0 < extent < resolved * largest
    ]
    if small:
        first = names[[extent for extent, _ in found].index(largest)]
        warn_input(
            f"differences in {_few(small)} are too small to count beside those in {first!r} under "
            f"metric={metric!r}: they decide where that column is absent. Rescale the columns, or "
            "use metric='auto', under which all count alike"
        )
    lost = [repr(names[j]) for j, (_, loses) in enumerate(found) if loses]
    if lost:
        one = len(lost) == 1
        warn_input(
            f"{'column' if one else 'columns'} {_few(lost)} {'has' if one else 'have'} numbers "
            "that differ by less than distances can resolve, next to others that are far "
            f"apart: those count as equal. Round {'it' if one else 'them'}, or transform "
            f"{'it (its logarithm, its ranks)' if one else 'them (logarithms, ranks)'}"
        )


def _few(names: list[str]) -> str:
    """Some names in words.

    >>> _few(["a"]), _few(["a", "b"]), _few(list("abcde"))
    ('a', 'a and b', 'a, b, c and 2 more')
    """
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} more"]
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


METRICS: dict[str, Callable[[Column, Column], _Measured]] = {"auto": _alike, "sqeuclidean": _raw}
"""How every metric measures a column of a training and a validation table."""
