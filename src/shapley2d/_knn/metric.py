"""Column dissimilarities: how far apart two entries of a column are, as integers that add up exactly.

``metric="auto"``
    Columns count alike, whatever they hold.

    - *Numbers and dates*: measured from the median in units of the interquartile range (the normal
      distribution's, so that a unit is a standard deviation there; of the median deviation of the
      entries that deviate at all where that range is empty, as in a column of mostly zeros), cut at
      three units so that a heavy tail cannot drown the rest, squared, and scaled so that two random
      training rows are 1 apart on average.
    - *Categories and booleans*: 0 if equal, 1 if not. A category that training never shows differs from all.
    - *Missing entries*: as far from any entry, missing or not, as two random training rows are on average.

    The scale and the median come from the training rows.

``metric="sqeuclidean"``
    Squared differences of the raw numbers, as in the paper: :mod:`shapley2d._knn.raw_metric`.

Either way a column whose numbers lie on a grid (whole numbers, cents, standardised counts: see
:mod:`shapley2d._knn.grid`) is counted in steps of that grid, and its squared differences get a
whole weight, so that distances that are equal tie and others keep their order. Where the cut of
``"auto"`` falls between two numbers of the grid, it is at the outer one. Numbers on no grid are
rounded as finely as 62 bits allow, and what that can change is bounded
(:func:`shapley2d._knn.form.rounding_bound`).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.in_threads import map_columns
from shapley2d._base.warnings import warn
from shapley2d._base.words import one_of
from shapley2d._knn.coding import ROOM, Coded, Numbers, pack, present
from shapley2d._knn.raw_metric import raw_columns
from shapley2d.exceptions import InputError, InputWarning, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._knn.distances import IntegerColumns
    from shapley2d._tables.table import Column, Table

METRICS = ("auto", "sqeuclidean")

_CUT = 3.0  # deviations at which numbers are cut
_NORMAL_IQR = 1.3489795003921634  # interquartile range of a standard normal
_NOTICED = 1e-3  # share of different numbers that count as equal from which on it is said


def integer_columns(train: Table, valid: Table, metric: str = "auto") -> IntegerColumns:
    """Code a training and a validation table for integer distances.

    Parameters
    ----------
    train, valid : Table
        Tables with the same columns (see :func:`shapley2d._tables.kinds.match_columns`).
    metric : {"auto", "sqeuclidean"}

    Returns
    -------
    IntegerColumns

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> table = as_table([[1.5, 3], [2.0, 4]])
    >>> columns = integer_columns(table, table, "sqeuclidean")
    >>> columns.train.tolist(), columns.weight.tolist(), columns.unit
    ([[0, 1], [0, 1]], [1, 4], 4.0)
    """
    if metric == "auto":
        return _auto(train, valid)
    if metric == "sqeuclidean":
        return raw_columns(train, valid)
    raise InputError(Setting("metric", metric), f" is not known: use {one_of(METRICS)}")


class _Robust(Numbers):
    """Numbers cut at three units, and what a squared step counts so that two random rows are 1 apart."""

    def __init__(self, train: Column, valid: Column) -> None:
        self.scale = 0.0
        there = present(train.entries)
        if not there.size or there[0] == there[-1]:
            super().__init__(train, valid)
            return
        centre, reach = _middle(there)
        # one absurd number must not coarsen all others, so what lies well beyond the cut has no
        # part in the grid
        super().__init__(train, valid, centre - 2 * reach, centre + 2 * reach)
        there = present(self.train)
        centre, reach = _middle(there)
        lowest, highest = centre - reach, centre + reach
        if self.whole:  # cut at a number of the grid
            lowest, highest = math.floor(lowest + 1e-9), math.ceil(highest - 1e-9)
        self.train, self.valid = (
            np.clip(self.train, lowest, highest),
            np.clip(self.valid, lowest, highest),
        )
        self.scale = 1 / (2 * float(np.var(np.clip(there, lowest, highest))))
        both = present(np.concatenate([self.train, self.valid]))
        self.train, self.valid = self.train - both[0], self.valid - both[0]
        self.extent = float(both[-1] - both[0])


def _middle(entries: NDArray[np.float64]) -> tuple[float, float]:
    """The median of sorted numbers, and three robust standard deviations."""
    low, centre, high = np.percentile(entries, [25, 50, 75])
    off = np.abs(entries - centre)
    return float(centre), _CUT * float((high - low) / _NORMAL_IQR or np.median(off[off > 0]))


def _auto(train: Table, valid: Table) -> IntegerColumns:
    pairs = list(zip(train.columns, valid.columns, strict=True))
    robust = map_columns(
        lambda pair: None if pair[0].kind in ("category", "boolean") else _Robust(*pair),
        pairs,
        train.n_rows,
    )
    # the farthest that two entries of each column are apart decides the unit that there is room for
    most = math.fsum(1.0 if c is None else max(1.0, c.extent**2 * c.scale) for c in robust)
    unit = 2.0 ** math.floor(math.log2(ROOM / max(most, 1.0)) - 0.05)
    coded = []
    for (t, v), numbers in zip(pairs, robust, strict=True):
        if numbers is None:
            missing = round(unit * _mean_mismatch(t.entries))
            coded.append(Coded(t.entries, v.entries, round(unit), missing, nominal=True))
        else:
            missing = round(unit) if numbers.scale else 0
            coded.append(numbers.coded(math.sqrt(unit * numbers.scale), missing))
    columns = pack(coded, unit)
    _tell_of_lost_digits(train, columns)
    return columns


def _mean_mismatch(entries: NDArray[np.float64]) -> float:
    """Chance that two random training rows differ."""
    codes = entries[~np.isnan(entries)].astype(np.intp)
    if not codes.size:
        return 1.0
    counts = np.sort(np.bincount(codes))
    return 1.0 - float(np.sum((counts / codes.size) ** 2))


def _tell_of_lost_digits(train: Table, columns: IntegerColumns) -> None:
    for j, (entries, _) in columns.unrounded.items():
        numbers = np.unique(present(entries))
        if numbers.size - np.unique(np.rint(numbers)).size > _NOTICED * numbers.size:
            warn(
                InputWarning(
                    f"column {train.columns[j].name!r} has numbers that differ by less than distances can resolve, "
                    "next to others that are far apart: those count as equal. Round it, or transform it (its "
                    "logarithm, its ranks)"
                )
            )
